//! `[daemon]`: the process that keeps servers warm.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

/// The conditions on which the daemon ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct DaemonSettings {
    /// The time without a client, in seconds, after which the daemon ends (1,800).
    #[schemars(range(min = 1, max = 604_800))]
    pub(crate) idle_stop_s: u64,
}

impl Default for DaemonSettings {
    fn default() -> Self {
        Self { idle_stop_s: 1_800 }
    }
}

impl DaemonSettings {
    /// The time without a client after which it ends.
    pub(crate) fn idle_stop(&self) -> Duration {
        Duration::from_secs(self.idle_stop_s)
    }
}
