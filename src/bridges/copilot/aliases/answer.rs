//! The answer of an alias, and its error.

use std::path::PathBuf;

use crate::analysis::error::ToolError;

/// The answer of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasAnswer {
    /// The text for the model. For a failure it contains the reason and a next step.
    pub text: String,
    /// True if the call succeeded.
    pub ok: bool,
    /// Absolute paths of created, changed and removed files, for callers that sync documents.
    pub changed: Vec<PathBuf>,
}

impl AliasAnswer {
    pub(super) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), ok: true, changed: Vec::new() }
    }

    pub(super) fn failure(text: impl Into<String>) -> Self {
        Self { ok: false, ..Self::done(text) }
    }

    pub(super) fn with_changed(mut self, changed: Vec<PathBuf>) -> Self {
        self.changed = changed;
        self
    }
}

/// The error of a call.
#[derive(Debug)]
pub(super) struct AliasError {
    /// The reason and a next step.
    pub(crate) text: String,
    /// Files that were changed in spite of the error.
    pub(crate) changed: Vec<PathBuf>,
}

impl AliasError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), changed: Vec::new() }
    }
}

impl From<ToolError> for AliasError {
    fn from(error: ToolError) -> Self {
        let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::new(format!("{}{hint}", error.error))
    }
}

impl From<AliasError> for AliasAnswer {
    fn from(error: AliasError) -> Self {
        Self::failure(error.text).with_changed(error.changed)
    }
}
