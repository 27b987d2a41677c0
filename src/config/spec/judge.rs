//! The package whose version decides a server's reports.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::catalogue::marker::ConfigMarker;

/// A compiler, checker or linter that a project may pin, and the versions of it that a server works
/// with.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct JudgeRule {
    /// The name of the tool, if it is not a package.
    pub(crate) name: Option<String>,
    /// The name of the tool's package on npm.
    pub(crate) npm: Option<String>,
    /// The name of the tool's package on PyPI.
    pub(crate) pip: Option<String>,
    /// The program of the tool on the server's PATH, if the server itself is not part of the tool's
    /// package.
    pub(crate) program: Option<String>,
    /// The first major version of the tool that the server works with.
    #[schemars(range(min = 0, max = 1_000))]
    pub(crate) from_major: Option<u64>,
    /// The first major version of the tool that the server no longer works with.
    #[schemars(range(min = 0, max = 1_000))]
    pub(crate) before_major: Option<u64>,
    /// True if the server loads the package that the project has installed.
    pub(crate) loads_installed: bool,
    /// Packages of npm that the server loads besides, by the name of the package of which a project
    /// pins the same version.
    pub(crate) companions: BTreeMap<String, String>,
    /// True if the version in the server's `serverInfo` (LSP 3.17) is that of the tool.
    pub(crate) in_server_info: bool,
    /// Project settings that state the version of the tool: in JSON a range of npm, elsewhere a
    /// specifier of PEP 440.
    pub(crate) required_by: Vec<ConfigMarker>,
    /// True if the settings of `required-by` state the oldest version.
    pub(crate) at_least: bool,
    /// The first version of the tool that reports settings of the project that its command line
    /// refuses.
    pub(crate) silent_before: Option<String>,
    /// The settings that versions before `silent-before` may refuse without a report.
    pub(crate) silent_about: Vec<ConfigMarker>,
    /// The newest release of each major version of the tool, in order. The newest in a project's
    /// range, or of all if the project states none, is the project's version.
    pub(crate) releases: Vec<String>,
}

impl JudgeRule {
    /// Its name.
    pub(crate) fn package(&self) -> &str {
        let name = self.name.as_deref().or(self.npm.as_deref());
        name.or(self.pip.as_deref()).unwrap_or_default()
    }
}
