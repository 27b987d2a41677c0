//! The answer of an alias, and the error of one that did not do what it was asked.

use std::path::PathBuf;

use crate::tools::error::ToolError;

/// What a call comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasAnswer {
    /// What the model reads; of a failure, what was wrong and what to do.
    pub text: String,
    /// Whether it did what it was asked.
    pub ok: bool,
    /// Absolute paths of the files that it made, changed or took away, for whoever keeps documents in step.
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

/// Why a call did not do what it was asked.
#[derive(Debug)]
pub(super) struct AliasError {
    /// What was wrong, and what to do.
    pub(crate) text: String,
    /// Files that were changed all the same.
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
