//! `[servers]`: the resource limits of running servers, in one workspace and on the whole machine.
//!
//! Limits that all workspaces share come only from the user's own settings: a project must not
//! claim the whole machine.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

use crate::config::layer::{Layer, LayerOrigin};

/// The keys that all of a user's workspaces share.
const MACHINE_SHARES: [&str; 2] = ["machine-memory-budget-mb", "machine-starts"];

/// The resource limits of running servers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    /// The time without a request, in seconds, after which a server is stopped (600).
    #[schemars(range(min = 1, max = 86_400))]
    pub(crate) idle_stop_s: u64,
    /// The resident memory of a workspace's servers and their children together, in MiB, above
    /// which the least recently used server is stopped (4,096). A server that is the only one, or
    /// was used within the last minute, is not stopped.
    #[schemars(range(min = 64, max = 1 << 20))]
    pub(crate) memory_budget_mb: u64,
    /// The number of documents that one server has open at a time (256).
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) max_open_documents: usize,
    /// The resident memory of the servers, and their children, of all the user's workspaces
    /// together, in MiB, above which the least recently used server of any workspace is stopped.
    /// The default is half of the machine's memory, at least 4,096. This key counts only in the
    /// user's own file.
    #[schemars(range(min = 64, max = 1 << 24))]
    pub(crate) machine_memory_budget_mb: Option<u64>,
    /// The number of servers, of all the user's workspaces, that start at the same time. The
    /// default is the number of cores, at least 2. This key counts only in the user's own file.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) machine_starts: Option<usize>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            idle_stop_s: 600,
            memory_budget_mb: 4_096,
            max_open_documents: 256,
            machine_memory_budget_mb: None,
            machine_starts: None,
        }
    }
}

impl ServerSettings {
    /// The time without a question after which a server is stopped.
    pub(crate) fn idle_stop(&self) -> Duration {
        Duration::from_secs(self.idle_stop_s)
    }

    /// The memory budget of the workspace, in bytes.
    pub(crate) fn memory_budget(&self) -> u64 {
        self.memory_budget_mb.saturating_mul(1 << 20)
    }
}

/// Removes a project's settings for the machine; returns a sentence if there were any.
pub(super) fn strip_project_shares(layer: &Layer, table: &mut Table) -> Option<String> {
    if !matches!(layer.origin, LayerOrigin::Project { .. }) {
        return None;
    }
    let servers = table.get_mut("servers")?.as_table_mut()?;
    let taken: Vec<String> = MACHINE_SHARES
        .into_iter()
        .filter(|key| servers.remove(*key).is_some())
        .map(|key| format!("`servers.{key}`"))
        .collect();
    (!taken.is_empty()).then(|| {
        format!(
            "{} of `{}` {} ignored: only the user's own settings set the machine's limits",
            taken.join(" and "),
            layer.file,
            if taken.len() == 1 { "is" } else { "are" }
        )
    })
}
