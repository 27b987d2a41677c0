//! What integration tests share: projects in temporary folders, the scripted server, real servers, processes.
//!
//! - [`Project`]: a temporary folder with files, beside it folders of its own for settings, data, state and cache, and a
//!   user's `servers.toml` that makes the scripted server the one for `.scr` files.
//! - [`TestWorkspace`]: a runtime that is open on such a project, whose tools are called by name; [`Project::opening`] is where each begins.
//! - [`scripted_server`]: the path of the scripted server, built once.
//! - [`scenarios`]: the faults by name, and parts of scenarios.
//! - [`ServerLog`]: what the scripted server noted.
//! - [`count_processes`], [`signal_processes`], [`wait_until`]: what still lives, and waiting for it with a deadline.
//! - [`mcp::Mcp`]: an MCP client that does as it is told.
//! - [`peers`]: real MCP servers and clients of npm and PyPI, installed once.
//! - [`write_executable`], [`copy_executable`]: programs that may run at once.
//! - [`real_servers`]: a prefix with real servers, installed once through the product's own installer.

mod executable;
mod fingerprint;
mod log;
pub mod loopback;
pub mod mcp;
pub mod peers;
mod processes;
mod project;
pub mod scenarios;
mod servers;
mod skipped;
mod uv;
mod workspace;

#[path = "../../bench/support/raw_client.rs"]
pub mod raw_client;

pub use executable::{copy_executable, write_executable};
pub use fingerprint::fingerprint;
pub use log::ServerLog;
pub use processes::{Marker, count_processes, processes, signal_processes, wait_until};
pub use project::{Project, SCRIPTED, copy_folder};
pub use servers::{real_servers, scripted_copilot, scripted_server, server_program};
pub use skipped::skipped;
pub use uv::uv;
pub use workspace::{TestWorkspace, TestWorkspaceBuilder, failure_of, start_of};
