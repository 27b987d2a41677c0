//! `[editor]`: how editors share unsaved text.

use serde::Deserialize;

use super::super::schema::ConfigFieldType::Flag;
use super::super::schema::{ConfigField, plain};

pub(super) const EDITOR: &[ConfigField] = &[plain("share-overlays", Flag)];

/// How editors take part.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct EditorSettings {
    /// Whether agents and shells see an editor's unsaved text too when they ask about code (they do not).
    pub(crate) share_overlays: bool,
}
