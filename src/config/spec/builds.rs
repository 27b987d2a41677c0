//! The rules for build files that servers read, and for projects without a build.

use schemars::JsonSchema;
use serde::Deserialize;

use super::RegexPattern;

/// The file in which a project's builds record how files are compiled, and its possible folders.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BuildFile {
    /// The name of the file.
    pub(crate) name: String,
    /// Files in the root that have the same purpose, if builds leave no such file.
    #[serde(default)]
    pub(crate) instead: Vec<String>,
    /// Folders, relative to the root, where the server finds the file by itself.
    pub(crate) itself: Vec<String>,
    /// The folders of builds, relative to the root, in the order of the search; a `*` stands for
    /// any part of one name. Of several folders of one pattern the one with the newest file counts.
    pub(crate) folders: Vec<String>,
    /// Files of CMake's presets, whose build folders are searched before `folders`.
    #[serde(default)]
    pub(crate) presets: Vec<String>,
    /// The dotted key of the initialization options that takes the folder of the file.
    pub(crate) option: String,
    /// Extensions of the files that need an entry in the build file (JSON Compilation Database
    /// Format).
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
    /// Build files; if the root has one, the rule does not apply.
    pub(crate) unless: Vec<String>,
    /// A regular expression for the start of a file; its first group is the dotted package name.
    pub(crate) package: RegexPattern,
    /// The dotted key of the server's settings that takes the folders, relative to the root.
    pub(crate) setting: String,
}
