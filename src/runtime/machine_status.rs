//! What language servers use of the machine: the status over all processes of the user.

use serde::{Deserialize, Serialize};

use crate::config::{Config, ConfigOverrides, Folders, TrustStore};
use crate::lsp::machine::{MachineLimits, read_ledger};
use crate::tools::error::{ErrorCode, ToolError};

/// What all of a user's processes use together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachineStatus {
    /// Resident memory of all language servers with their children, in bytes.
    pub(crate) memory_bytes: u64,
    /// What they may use together, in bytes, by the user's settings.
    pub(crate) budget_bytes: u64,
    /// How many run.
    pub(crate) servers: usize,
    /// How many are being started.
    pub(crate) starting: usize,
    /// How many may be at once.
    pub(crate) starting_limit: usize,
    /// How many wait to be started.
    pub(crate) waiting: usize,
    /// Those that have any.
    pub(crate) processes: Vec<ProcessShare>,
}

/// What one process uses, a daemon as a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessShare {
    /// The process.
    pub(crate) pid: u32,
    /// The root of its workspace.
    pub(crate) workspace: String,
    /// Resident memory of its language servers with their children, in bytes.
    pub(crate) memory_bytes: u64,
    /// How many run.
    pub(crate) servers: usize,
    /// How many are being started.
    pub(crate) starting: usize,
    /// How many wait to be started.
    pub(crate) waiting: usize,
}

/// The status as the processes last told it, less than two seconds ago as a rule.
///
/// # Errors
/// Where the ledger or the user's settings cannot be read.
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
