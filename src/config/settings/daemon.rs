//! `[daemon]`: the process that keeps servers warm.

use std::time::Duration;

use serde::Deserialize;

use crate::config::schema::ConfigFieldType::Number;
use crate::config::schema::{ConfigField, plain};

/// The keys of `[daemon]`.
pub(super) const DAEMON: &[ConfigField] = &[plain("idle-stop-s", Number(1, 604_800))];

/// The conditions on which the daemon ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct DaemonSettings {
    /// Seconds without a client after which it ends (1800).
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
