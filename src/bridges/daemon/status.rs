//! The status of a daemon: its clients, calls and servers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clients::{ClientStatus, Clients};
use crate::process;
use crate::runtime::Runtime;
use crate::runtime::call_stats::CallStatistics;
use crate::tools::servers::{ServerRow, ServerRunState, ServersOutput};

/// What is told of a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DaemonStatus {
    /// Always true.
    pub(crate) ok: bool,
    /// Its process.
    pub(crate) pid: u32,
    /// Its version.
    pub(crate) version: String,
    /// The root of its workspace.
    pub(crate) workspace: String,
    /// Its socket.
    pub(crate) socket: String,
    /// When it was started, in seconds since 1970.
    pub(crate) started_at: u64,
    /// For how many seconds it has run.
    pub(crate) uptime_s: u64,
    /// Its own resident memory, in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// How many calls run now.
    pub(crate) running: usize,
    /// Who is connected, but for whoever asks this.
    pub(crate) clients: Vec<ClientStatus>,
    /// What calls took, by tool or command.
    pub(crate) calls: Vec<CallStatistics>,
    /// The servers that run, or ran and failed.
    pub(crate) servers: Vec<ServerRow>,
    /// What concerns all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// What the daemon knows of itself.
pub(super) struct DaemonFacts<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) socket: PathBuf,
    pub(crate) started_at: u64,
    pub(crate) uptime: Duration,
}

/// Everything, as it is now.
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

/// The same without its servers.
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
