//! The shared support of integration tests: temporary projects, servers and processes.
//!
//! - [`Project`]: a temporary folder with files, and separate folders for settings, data, state and
//!   cache; its user's `servers.toml` makes the scripted server the one for `.scr` files.
//! - [`TestWorkspace`]: a runtime on such a project, whose tools are called by name;
//!   [`Project::opening`] opens it.
//! - [`scripted_server`]: the path of the scripted server, built once.
//! - [`scenarios`]: named faults, and parts of scenarios.
//! - [`ServerLog`]: the log of the scripted server.
//! - [`count_processes`], [`signal_processes`], [`wait_until`]: living processes, and waits with a
//!   deadline.
//! - [`mcp::Mcp`]: an MCP client with set behaviour.
//! - [`peers`]: real MCP servers and clients from npm and PyPI, installed once.
//! - [`write_executable`], [`copy_executable`]: programs that can run at once.
//! - [`real_servers`]: a prefix with real servers, installed once by the product's own installer.

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
