//! `[editor]`: the sharing of an editor's unsaved text.

use serde::Deserialize;

use super::super::schema::ConfigFieldType::Flag;
use super::super::schema::{ConfigField, plain};

pub(super) const EDITOR: &[ConfigField] = &[plain("share-overlays", Flag)];

/// The integration of editors.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct EditorSettings {
    /// True to answer questions of agents and shells with an editor's unsaved text as well (the
    /// default is false).
    pub(crate) share_overlays: bool,
}
