//! `[edits]`: the lease of a workspace that several hosts mount.

use std::time::Duration;

use serde::Deserialize;

use crate::config::schema::ConfigFieldType::{Choice, Number};
use crate::config::schema::{ConfigField, plain};
use crate::workspace::edit::{LeaseHost, LeaseMode, LeaseOptions};

/// The words of `[edits]`.
pub(super) const EDITS: &[ConfigField] =
    &[plain("leasing", Choice(&["auto", "always", "never"])), plain("stale-s", Number(2, 86_400))];

/// How files are changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct EditSettings {
    /// Whether one host at a time edits the workspace: `auto` (the default: where its file system is one that several hosts can
    /// mount), `always` or `never`.
    pub(crate) leasing: LeaseMode,
    /// Seconds after which another host may edit it where nothing more is heard of the one that did (60).
    pub(crate) stale_s: u64,
}

impl Default for EditSettings {
    fn default() -> Self {
        Self { leasing: LeaseMode::Auto, stale_s: 60 }
    }
}

impl EditSettings {
    /// How this host takes a workspace for editing.
    pub(crate) fn lease(&self) -> LeaseOptions {
        LeaseOptions {
            leasing: self.leasing,
            stale: Duration::from_secs(self.stale_s),
            host: LeaseHost::current(),
        }
    }
}
