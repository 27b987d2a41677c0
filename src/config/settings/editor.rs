//! `[editor]`: the sharing of an editor's unsaved text.

use schemars::JsonSchema;
use serde::Deserialize;

/// The integration of editors.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct EditorSettings {
    /// True to answer agents and shells with an editor's unsaved text as well (false if absent).
    pub(crate) share_overlays: bool,
}
