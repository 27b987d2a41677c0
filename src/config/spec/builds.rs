//! The rules for what builds tell a server, and for a project without a build.

use schemars::JsonSchema;
use serde::Deserialize;

use super::RegexPattern;

/// The file in which a project's builds record how files are compiled, and its possible folders.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BuildFile {
    /// Its name.
    pub(crate) name: String,
    /// Files in the root that have the same purpose, if builds leave none.
    #[serde(default)]
    pub(crate) instead: Vec<String>,
    /// The folders, relative to the root, that the server searches by itself.
    pub(crate) itself: Vec<String>,
    /// The folders of builds, relative to the root, in this order; a `*` stands for any part of one
    /// name.
    pub(crate) folders: Vec<String>,
    /// Files of CMake's presets, which name more folders.
    #[serde(default)]
    pub(crate) presets: Vec<String>,
    /// Dotted key of the initialization options that takes its folder.
    pub(crate) option: String,
    /// Extensions of files that need an entry in it, which is in the JSON Compilation Database
    /// Format.
    #[serde(default)]
    pub(crate) lists: Vec<String>,
}

impl BuildFile {
    /// Returns true if a file of this name needs an entry.
    pub(crate) fn covers(&self, name: &str) -> bool {
        name.rsplit_once('.').is_some_and(|(_, extension)| self.lists.iter().any(|own| own == extension))
    }
}

/// The folders that a server receives in its settings for a project without a build file: those in
/// which the packages of its files start.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct SourceRoots {
    /// Build files in the root, of which one is enough.
    pub(crate) unless: Vec<String>,
    /// The head of a file up to the name of its package, which is the first group, with dots.
    pub(crate) package: RegexPattern,
    /// Dotted key of the settings that takes the folders, relative to the root.
    pub(crate) setting: String,
}
