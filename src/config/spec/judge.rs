//! The package whose version decides a server's reports.

use serde::Deserialize;

use crate::config::marker::ConfigMarker;

/// A compiler, checker or linter that a project may pin, and the versions of it that a server works
/// with.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct JudgeRule {
    /// The package on npm.
    pub(crate) npm: Option<String>,
    /// The package on PyPI.
    pub(crate) pip: Option<String>,
    /// The first major version that the server works with.
    pub(crate) from_major: Option<u64>,
    /// The first major version that the server no longer works with.
    pub(crate) before_major: Option<u64>,
    /// True if the server gives the version of the package with its name (LSP 3.17, `serverInfo`).
    pub(crate) in_server_info: bool,
    /// Settings of the project that state the version they are for, as a specifier of PEP 440.
    pub(crate) required_by: Vec<ConfigMarker>,
}

impl JudgeRule {
    /// The name of the package.
    pub(crate) fn package(&self) -> &str {
        self.npm.as_deref().or(self.pip.as_deref()).unwrap_or_default()
    }
}
