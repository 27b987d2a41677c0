//! `[edits]`: how files are changed.

use std::time::Duration;

use serde::Deserialize;

use crate::config::schema::Shape::{Choice, Number};
use crate::config::schema::{Field, plain};
use crate::workspace::edit::{Host, LeaseOptions, Leasing};

/// The words of `[edits]`.
pub(super) const EDITS: &[Field] =
    &[plain("leasing", Choice(&["auto", "always", "never"])), plain("stale-s", Number(2, 86_400))];

/// How files are changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct EditSettings {
    /// Whether one host at a time edits the workspace: `auto` (the default: where its file system is one that several hosts can
    /// mount), `always` or `never`.
    pub(crate) leasing: Leasing,
    /// Seconds after which another host may edit it where nothing more is heard of the one that did (60).
    pub(crate) stale_s: u64,
}

impl Default for EditSettings {
    fn default() -> Self {
        Self { leasing: Leasing::Auto, stale_s: 60 }
    }
}

impl EditSettings {
    /// How this host takes a workspace for editing.
    pub(crate) fn lease(&self) -> LeaseOptions {
        LeaseOptions { leasing: self.leasing, stale: Duration::from_secs(self.stale_s), host: Host::this() }
    }
}
