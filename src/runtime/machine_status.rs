//! The machine's usage by language servers, over all processes of the user.

use serde::{Deserialize, Serialize};

use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::{Config, ConfigOverrides, Folders, TrustStore};
use crate::lsp::servers::machine::{MachineLimits, read_ledger};

/// The total usage of all processes of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachineStatus {
    /// The resident memory of all language servers and their children, in bytes.
    pub(crate) memory_bytes: u64,
    /// The memory budget for all processes together, in bytes, from the user's settings.
    pub(crate) budget_bytes: u64,
    /// The number of running servers.
    pub(crate) servers: usize,
    /// The number of servers being started.
    pub(crate) starting: usize,
    /// The limit on simultaneous starts.
    pub(crate) starting_limit: usize,
    /// The number of servers waiting to be started.
    pub(crate) waiting: usize,
    /// The processes that have language servers.
    pub(crate) processes: Vec<ProcessShare>,
}

/// The usage of one process, typically a daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessShare {
    /// The process id.
    pub(crate) pid: u32,
    /// The root of its workspace.
    pub(crate) workspace: String,
    /// The resident memory of its language servers and their children, in bytes.
    pub(crate) memory_bytes: u64,
    /// The number of running servers.
    pub(crate) servers: usize,
    /// The number of servers being started.
    pub(crate) starting: usize,
    /// The number of servers waiting to be started.
    pub(crate) waiting: usize,
}

/// Returns the status last recorded by the processes, usually less than two seconds old.
///
/// # Errors
/// The ledger or the user's settings cannot be read.
pub(crate) fn machine_status(folders: &Folders) -> Result<MachineStatus, ToolError> {
    let failed = |error: &dyn std::error::Error| ToolError::new(ErrorCode::Internal, error.to_string());
    let trust = TrustStore::open(folders).map_err(|error| failed(&error))?;
    let config = Config::load(folders, None, &ConfigOverrides::default(), &trust);
    let limits = MachineLimits::new(&config.map_err(|error| failed(&error))?.settings.servers);
    let ledger = read_ledger(folders).map_err(|error| failed(&error))?;
    let processes = ledger.parts().map(|(record, alone)| ProcessShare {
        pid: record.pid,
        workspace: record.workspace.clone(),
        memory_bytes: alone.used(),
        servers: alone.running(),
        starting: alone.starting(),
        waiting: alone.waiting(),
    });
    Ok(MachineStatus {
        memory_bytes: ledger.used(),
        budget_bytes: limits.memory,
        servers: ledger.running(),
        starting: ledger.starting(),
        starting_limit: limits.starts,
        waiting: ledger.waiting(),
        processes: processes.collect(),
    })
}
