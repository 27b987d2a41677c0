//! Real language servers on demand, for programs and agents that ask about code.
//!
//! A [`Runtime`] answers questions about one workspace. It starts the language server of a file
//! when the first question needs it and keeps it in sync with the disk. An answer has plain types
//! of this crate: the output, the servers that it comes from, and a verdict on its completeness.
//!
//! ```no_run
//! use lsp_tools::{Runtime, RuntimeOptions, Target, Verdict};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cwd = std::env::current_dir()?;
//! let runtime = Runtime::open(RuntimeOptions { cwd, ..Default::default() })?;
//! let greeter = Target::NameInFile { path: "src/app.py".into(), name: "Greeter.greet".into() };
//! let answer = runtime.hover(greeter).await?;
//! match answer.verdict {
//!     Verdict::Complete => println!("{}", answer.output.contents),
//!     other => println!("{other:?}: {:?}", answer.server_status),
//! }
//! runtime.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! Agents call tools by name with JSON through [`Runtime::call`], which applies rules and hooks.
//! [`Runtime::definitions`] returns the list for a model, and [`Runtime::add_tool`] adds a custom
//! [`Tool`].
//!
//! Servers end with the process that uses this crate, even if it is killed. This requires the
//! `lsp-tools` binary as their supervisor, beside the running program or at
//! [`RuntimeOptions::supervisor`].
//!
//! # The map
//!
//! The crate is a stack of layers; each uses only the layers below it.
//!
//! | layer | contents |
//! |---|---|
//! | [`text`] | ropes, positions in three encodings, diffs, patches, names in a text; pure |
//! | [`platform`] | operations that differ between operating systems |
//! | [`workspace`] | the only code that touches the user's files: reading, searching, editing |
//! | [`config`] | the catalogue of servers, the settings in layers, access of callers, trust |
//! | [`process`] | programs: started from one thread, supervised, confined, ended; git |
//! | [`rpc`] | JSON-RPC with another process: frames, and requests with deadlines |
//! | [`lsp`] | language servers: sessions, documents, views, diagnostics, and their manager |
//! | [`syntax`] | answers from the text alone: syntax trees, imports, ranked candidates |
//! | [`analysis`] | answers from servers and text together: checks, uses, impact, reach, verdicts |
//! | [`policy`] | rules on calls, approval, hooks, the audit log |
//! | [`tools`] | one file per tool, and their framework: registry, schemas, results |
//! | [`runtime`] | the object that every door opens; the path of one call |
//! | [`bridges`] | the doors for programs: MCP in both directions, the shared daemon, editors |
//! | [`cli`] | the door for people and scripts: commands, and the rendering of answers |
//!
//! The features `mcp`, `editor`, `copilot`, `daemon` and `view` are the doors. The default, `cli`,
//! is the program with all of them. An embedder takes the crate with `default-features = false`.
//!
//! The layers are private. An embedder needs the names below and the outputs in [`answer`]: no type
//! of an LSP crate appears in any of them.

#![warn(missing_docs)]
// The documentation is built with private items: it is also the map for the crate's developers.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(unsafe_code)]
#![cfg_attr(feature = "cli", warn(unreachable_pub))]
// A build without some doors leaves the items that only they call unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

mod analysis;
#[cfg(any(feature = "copilot", feature = "daemon", feature = "editor", feature = "mcp", feature = "view"))]
mod bridges;
#[cfg(feature = "cli")]
mod cli;
mod config;
mod lsp;
mod platform;
mod policy;
mod process;
mod rpc;
mod runtime;
mod syntax;
mod text;
mod tools;
mod workspace;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod internals;

#[cfg(any(all(test, unix, feature = "cli"), feature = "fuzzing"))]
#[doc(hidden)]
#[allow(
    unreachable_pub,
    reason = "what the program of fuzzing gets is public, and nothing else can reach them"
)]
#[path = "../fuzz/targets/mod.rs"]
pub mod fuzz_targets;
#[cfg(all(test, unix, feature = "cli"))]
mod fuzz_tests;

#[cfg(test)]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the integration tests have it too, and need more of it, public"
)]
#[path = "../tests/support/executable.rs"]
mod executable;
#[cfg(test)]
#[allow(unreachable_pub, reason = "the integration tests have it too, and need it public")]
#[path = "../tests/support/skipped.rs"]
mod skipped;

pub use analysis::answer::{self, Answer, ServerState, Verdict};
pub use analysis::context::Context;
pub use analysis::error::{ErrorCode, ToolError};
pub use analysis::target::Target;
#[cfg(feature = "cli")]
pub use cli::main as cli_main;
pub use config::Folders;
pub use policy::approval::{Approval, ApprovalRequest, Approver, NobodyToAsk};
pub use runtime::calls::call::CallRequest;
pub use runtime::{Client, Runtime, RuntimeOptions};
pub use text::Position;
pub use tools::api::result::{ResultType, ToolResult};
pub use tools::api::schema::Schema;
pub use tools::api::tool::{Call, Caller, Card, Tool};
pub use tools::language::trust::TrustRequest;
