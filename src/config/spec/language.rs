//! Languages in the catalogue: the signs of their files, and their servers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::workspace::WorkspacePath;

/// One language: the signs of its files and the servers for it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Language {
    /// The name that people see ("C#"); the language's key if absent.
    pub name: String,
    /// File name extensions without the dot, compared without case.
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    /// Whole file names ("Makefile", ".bashrc"); one that ends in `.*` stands for any extension
    /// ("Dockerfile.*"), and `.*.` in one for any word between dots ("tsconfig.*.json").
    #[serde(default)]
    pub(crate) filenames: Vec<String>,
    /// Interpreters named by a first line that starts with `#!` ("python3").
    #[serde(default)]
    pub(crate) shebangs: Vec<String>,
    /// The language's `languageId` in LSP (3.17, *TextDocumentItem*); the language's key if absent.
    pub(crate) language_id: Option<String>,
    /// Extensions whose `languageId` differs (`tsx = "typescriptreact"`).
    #[serde(default)]
    pub(crate) language_ids: BTreeMap<String, String>,
    /// Globs of the files that define the built-in symbols. Calls of these are counted, and not
    /// listed.
    #[serde(default)]
    pub(crate) built_ins: Vec<String>,
    /// True for data, markup or prose, whose files define nothing that other code calls by name.
    #[serde(default)]
    pub(crate) data: bool,
    /// True if files of the language build or set up code in other languages.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) support: bool,
    /// Keys of the servers used by default; the first one navigates.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) servers: Vec<String>,
    /// Keys of the servers that replace `servers` if they are installed, the best first; those that
    /// do not navigate join the one that does.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) alternatives: Vec<String>,
    /// Keys of the servers that `lsp-tools install` installs for the language; `servers` if empty.
    #[serde(default)]
    #[schemars(extend("x-launch" = true))]
    pub(crate) install: Vec<String>,
    /// True if settings name the servers, so that the installed ones do not matter.
    #[serde(skip)]
    pub(crate) fixed: bool,
    /// The servers that run instead of `servers`, depending on the installed ones: those of the
    /// workspace, then those of packages with other versions of compilers, outer ones first.
    #[serde(skip)]
    pub(crate) chosen: Vec<(WorkspacePath, Vec<String>)>,
}

impl Language {
    /// Returns the file name endings of the language: its extensions, and "" if a script without an
    /// extension may belong to it.
    pub(crate) fn endings(&self) -> impl Iterator<Item = &str> {
        let bare = (!self.shebangs.is_empty()).then_some("");
        self.extensions.iter().map(String::as_str).chain(bare)
    }

    /// Returns true if `one` leads when both are installed and the project configures neither.
    pub(crate) fn prefers(&self, one: &str, other: &str) -> bool {
        let rank = |key: &str| self.alternatives.iter().position(|known| known == key).unwrap_or(usize::MAX);
        !self.fixed && rank(one) < rank(other)
    }

    /// Keys of the servers that run, the first one navigates.
    pub(crate) fn active_servers(&self) -> &[String] {
        self.active_servers_at(&WorkspacePath::root())
    }

    /// Like [`active_servers`](Self::active_servers), for a file or folder.
    pub(crate) fn active_servers_at(&self, path: &WorkspacePath) -> &[String] {
        let chosen = self.chosen.iter().rfind(|(folder, _)| path.starts_with(folder));
        chosen.map_or(&self.servers, |(_, keys)| keys)
    }
}
