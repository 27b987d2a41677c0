//! The status of a daemon: its clients, calls and servers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clients::{ClientStatus, Clients};
use crate::process;
use crate::runtime::Runtime;
use crate::runtime::calls::call_stats::CallStatistics;
use crate::tools::language::servers::{ServerRow, ServerRunState, ServersOutput};

/// The status of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DaemonStatus {
    /// Always true.
    pub(crate) ok: bool,
    /// The daemon's process id.
    pub(crate) pid: u32,
    /// The daemon's version.
    pub(crate) version: String,
    /// The root of the daemon's workspace.
    pub(crate) workspace: String,
    /// The path of the daemon's socket.
    pub(crate) socket: String,
    /// The start time, in seconds since 1970.
    pub(crate) started_at: u64,
    /// The uptime in seconds.
    pub(crate) uptime_s: u64,
    /// The daemon's own resident memory, in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// The number of running calls.
    pub(crate) running: usize,
    /// The connected clients, except for the one that requests this status.
    pub(crate) clients: Vec<ClientStatus>,
    /// The statistics of calls, by tool or command.
    pub(crate) calls: Vec<CallStatistics>,
    /// The servers that are running or have failed.
    pub(crate) servers: Vec<ServerRow>,
    /// Notes that concern all servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// The daemon's data about itself.
pub(super) struct DaemonFacts<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) socket: PathBuf,
    pub(crate) started_at: u64,
    pub(crate) uptime: Duration,
}

/// Collects the complete status.
pub(super) async fn gather(about: DaemonFacts<'_>, clients: &Clients, runtime: &Runtime) -> DaemonStatus {
    let ServersOutput { mut servers, notes, .. } = runtime.servers().await;
    servers.retain(|row| {
        matches!(
            row.state,
            ServerRunState::Ready
                | ServerRunState::Indexing
                | ServerRunState::Starting
                | ServerRunState::Crashed
        )
    });
    DaemonStatus { servers, notes, ..describe(about, clients, runtime) }
}

/// Collects the status without the servers.
pub(super) fn describe(about: DaemonFacts<'_>, clients: &Clients, runtime: &Runtime) -> DaemonStatus {
    DaemonStatus {
        ok: true,
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: about.workspace.to_string_lossy().into_owned(),
        socket: about.socket.to_string_lossy().into_owned(),
        started_at: about.started_at,
        uptime_s: about.uptime.as_secs(),
        memory_bytes: process::own_resident_bytes(),
        running: runtime.tally().running(),
        clients: clients.status(),
        calls: runtime.tally().statistics(),
        servers: Vec::new(),
        notes: Vec::new(),
    }
}
