//! Language servers: started on demand, synchronized with the disk, asked with deadlines.
//!
//! Contents:
//!
//! - [`session`]: one initialized server over a [`Peer`](crate::rpc::Peer).
//! - [`ask`]: requests to it; [`operations`] and [`hierarchy`]: the kinds of requests.
//! - `documents`: its open documents; `document_sync`: their synchronization with the disk;
//!   `open_notebook`: notebooks, open for one check.
//! - [`user_messages`]: its messages to the user.
//! - [`readiness`] and [`diagnostics`]: the completeness of its answers.
//! - [`relay`]: an editor's own requests, passed through.
//! - [`manager`]: all sessions of a workspace; it shares the machine with other processes by
//!   [`machine`].
//! - [`locate`], [`interpreters`], [`server_choice`]: the search for servers and the programs that
//!   run them, and the choice among a language's servers.
//! - [`python`], [`judge`]: environments, and the versions that projects pin.
//! - `project_membership`: files that a project leaves out.
//! - `node_guard`: keeps Node.js from loading a project's code.
//! - [`install`], [`health`]: installation into a private prefix, and checks of found servers.
//!
//! May use: `text`, `workspace`, `config`, `process`, `rpc`. Nothing above names a type of an LSP
//! crate: answers are in the terms of [`model`].
//!
//! Data flow: a tool asks the manager for a session and the session for an answer. The session
//! compares the file with the disk, sends the change and the request together, and decodes the
//! answer with the very text it was asked about.

pub(crate) mod ask;
mod background_check;
mod bounded_answer;
mod capabilities;
mod check_runs;
pub(crate) mod check_scope;
mod compile_commands;
mod configuration_complaint;
mod decode;
pub(crate) mod diagnostics;
pub(crate) mod diagnostics_invalidation;
mod document_sync;
pub(crate) mod documents;
pub(crate) mod edits;
mod first_answers;
mod generated_file;
pub(crate) mod health;
pub(crate) mod hierarchy;
mod incomplete_answers;
pub(crate) mod install;
pub(crate) mod interpreters;
pub(crate) mod judge;
mod known_memberships;
pub(crate) mod latency;
pub(crate) mod locate;
pub(crate) mod machine;
pub(crate) mod manager;
pub(crate) mod model;
mod node_guard;
mod open_notebook;
pub(crate) mod operations;
mod package_folders;
pub(crate) mod progress;
mod project_coverage;
mod project_membership;
pub(crate) mod python;
pub(crate) mod readiness;
pub(crate) mod relay;
mod reload;
pub(crate) mod request;
pub(crate) mod semantic_tokens;
pub(crate) mod server_choice;
mod server_handler;
pub(crate) mod session;
mod shortfall;
pub(crate) mod snippet;
mod state;
mod unseen_changes;
pub(crate) mod uri;
pub(crate) mod user_messages;
pub(crate) mod view;
mod view_switch;
