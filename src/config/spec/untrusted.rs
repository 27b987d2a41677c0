//! The start of a server in a project that is not trusted, and its disadvantages.

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
    /// Arguments after those of the command.
    pub(crate) args: Vec<String>,
    /// True to start it in the system's root folder, outside the project, instead of in its root.
    pub(crate) apart: bool,
    /// True to keep Node.js, in it and in its child processes, from loading code that lies in the
    /// workspace.
    pub(crate) node_guard: bool,
    /// Requests of LSP that it does not get, since its answers would come from code of the project.
    pub(crate) unasked: Vec<String>,
    /// Environment variables, merged over those of the server.
    pub(crate) env: BTreeMap<String, String>,
    /// Environment variables whose value is the first word that a program, with arguments, prints
    /// in the root. If there is no such program, they are not set; if it fails, the server is not
    /// started.
    pub(crate) env_from: BTreeMap<String, Vec<String>>,
    /// Settings, merged over those of the server.
    #[schemars(with = "AnyTable")]
    pub(crate) settings: toml::Table,
    /// `initializationOptions`, merged over those of the server.
    #[schemars(with = "AnyTable")]
    pub(crate) initialization_options: toml::Table,
    /// Files with which it is not started at all, because they would make it run code of the
    /// project anyway.
    pub refused_with: Vec<FileSign>,
    /// The conditions on which its findings may be less complete than in a trusted project.
    pub(crate) shortfall: Option<ShortfallRule>,
}

/// A program on PATH under the names of other programs; it runs the one behind it, if that is
/// installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ToolchainProxy {
    /// Its own name ("rustup").
    pub(crate) program: String,
    /// The variable that names its folder ("RUSTUP_HOME").
    pub(crate) variable: String,
    /// Its folder below the home folder, if the variable is not set (".rustup").
    pub(crate) folder: String,
    /// The folder of the programs behind it, relative to its folder; a `*` stands for any name
    /// ("toolchains/*/bin").
    pub(crate) behind: String,
}

/// A file of a project that is a sign of something. Without `keys` and `matches` its existence is
/// enough.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FileSign {
    /// The path, relative to a folder in which the server looks for it. One that begins with `*`
    /// stands for any name with that ending, regardless of the content.
    pub file: String,
    /// Dotted keys of TOML, `*` for any key, one of which it must have.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// A pattern of its text, if it is not TOML.
    pub(crate) matches: Option<RegexPattern>,
}

/// The loss of an untrusted start, and the projects that suffer it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ShortfallRule {
    /// The omitted work, as a sentence without its full stop.
    pub(crate) reason: String,
    /// The gap in its diagnostics in every project, as such a sentence; absent if there is no other
    /// gap.
    pub(crate) diagnostics: Option<String>,
    /// A program, with arguments, that is run in the root like the server; a failure counts as a
    /// sign. Empty if there is none.
    #[serde(default)]
    pub(crate) command: Vec<String>,
    /// Texts in the program's output of which one makes the loss matter.
    #[serde(default)]
    pub(crate) signs: Vec<String>,
    /// Files of which one makes the loss matter.
    #[serde(default)]
    pub(crate) files: Vec<FileSign>,
    /// Names of files that decide it: it is checked again when a file of that name changes,
    /// anywhere.
    #[serde(default)]
    pub(crate) depends_on: Vec<String>,
}
