//! The start of a server in an untrusted project, and the loss of completeness.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::RegexPattern;
use crate::config::schema::AnyTable;

/// The start of a server in an untrusted project, if its ordinary start would run code of the
/// project.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct UntrustedLaunch {
    /// Arguments that follow those of `command`.
    pub(crate) args: Vec<String>,
    /// True to start the server in the system's root folder, outside the project, instead of in its
    /// root.
    pub(crate) apart: bool,
    /// True to keep Node.js, in the server and in its child processes, from loading code that lies
    /// in the workspace.
    pub(crate) node_guard: bool,
    /// Methods of LSP requests that the server does not get, because it would run code of the
    /// project for its answers.
    pub(crate) unasked: Vec<String>,
    /// Environment variables, merged over those of the server.
    pub(crate) env: BTreeMap<String, String>,
    /// Environment variables whose value is the first word that a program, with arguments, prints
    /// in the root. If PATH has no such program, they are not set. If it fails, the server is not
    /// started.
    pub(crate) env_from: BTreeMap<String, Vec<String>>,
    /// Settings, merged over those of the server.
    #[schemars(with = "AnyTable")]
    pub(crate) settings: toml::Table,
    /// `initializationOptions`, merged over those of the server.
    #[schemars(with = "AnyTable")]
    pub(crate) initialization_options: toml::Table,
    /// Files with which the server is not started at all, because they would make it run code of
    /// the project anyway.
    pub refused_with: Vec<FileSign>,
    /// The conditions on which the server's answers may be less complete than in a trusted project.
    pub(crate) shortfall: Option<ShortfallRule>,
}

/// A program on PATH under the names of other programs; it runs the one behind it, if that is
/// installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ToolchainProxy {
    /// The proxy's own name ("rustup").
    pub(crate) program: String,
    /// The variable that names the proxy's folder ("RUSTUP_HOME").
    pub(crate) variable: String,
    /// The proxy's folder, relative to the home folder, if `variable` is not set (".rustup").
    pub(crate) folder: String,
    /// The folder of the real programs, relative to the proxy's folder; a `*` stands for any name
    /// ("toolchains/*/bin").
    pub(crate) behind: String,
}

/// A file of a project that is a sign of something. Without `keys` and `matches` its existence is
/// enough.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FileSign {
    /// The path of the file, relative to the server's root, a folder directly in the root, or one
    /// above it. A path that begins with `*` stands for any name with that ending, regardless of
    /// the content.
    pub file: String,
    /// Dotted TOML keys (`*` for any key), of which the file must have one.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// A regular expression for the file's text, if the file is not TOML.
    pub(crate) matches: Option<RegexPattern>,
}

/// The loss of an untrusted start, and the projects that suffer it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ShortfallRule {
    /// The omitted work, as a sentence without its full stop.
    pub(crate) reason: String,
    /// The part that diagnostics miss in every project, as a sentence without its full stop; absent
    /// if nothing more is missing.
    pub(crate) diagnostics: Option<String>,
    /// A program, with arguments, that is run in the root like the server; a failure counts as a
    /// sign. No program is run if empty.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// Texts in the output of `command`, of which one shows that the omitted work may matter.
    #[serde(default)]
    pub(crate) signs: Vec<String>,
    /// Files of which one shows that the omitted work may matter.
    #[serde(default)]
    pub(crate) files: Vec<FileSign>,
    /// File names whose change, in any folder, repeats this check.
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
}
