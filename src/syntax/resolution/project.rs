//! The files of the workspace during one question: parsed when first needed, within one deadline.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::source::ParsedSource;
use crate::config::Catalogue;
use crate::syntax::grammar::Grammar;
use crate::syntax::parse::MAX_PARSED_FILE_BYTES;
use crate::workspace::{WalkLimits, Workspace, WorkspacePath};

/// The maximum number of files that are listed to find modules by their names.
const MAX_PROJECT_LISTED_FILES: usize = 50_000;

/// The largest manifest of a package that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The maximum number of files that one question parses.
const MAX_PROJECT_PARSED_FILES: usize = 400;

/// The workspace during one question.
pub(crate) struct Project<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) deadline: Instant,
    sources: RefCell<HashMap<WorkspacePath, Option<Arc<ParsedSource>>>>,
    files: OnceCell<Vec<WorkspacePath>>,
    crates: OnceCell<Vec<(String, WorkspacePath)>>,
}

impl<'a> Project<'a> {
    /// A view of `workspace` until `deadline`.
    pub(crate) fn new(workspace: &'a Workspace, catalogue: &'a Catalogue, deadline: Instant) -> Self {
        Self {
            workspace,
            catalogue,
            deadline,
            sources: RefCell::default(),
            files: OnceCell::new(),
            crates: OnceCell::new(),
        }
    }

    /// Returns true if the deadline has passed.
    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// The catalogue's key of the language of `path`, by its name or else by its first line.
    pub(crate) fn language(&self, path: &WorkspacePath) -> Option<&'a str> {
        self.catalogue.language_of_file(self.workspace, path)
    }

    /// Parses `path`; `None` if there is no such file, no grammar for it, or no time.
    pub(crate) fn source(&self, path: &WorkspacePath) -> Option<Arc<ParsedSource>> {
        if let Some(known) = self.sources.borrow().get(path) {
            return known.clone();
        }
        if self.sources.borrow().len() >= MAX_PROJECT_PARSED_FILES {
            return None;
        }
        let source = load(self.workspace, self.catalogue, path, self.deadline).map(Arc::new);
        self.sources.borrow_mut().insert(path.clone(), source.clone());
        source
    }

    /// Returns `path`, if it is parsed already.
    pub(crate) fn known(&self, path: &WorkspacePath) -> Option<Arc<ParsedSource>> {
        self.sources.borrow().get(path).cloned().flatten()
    }

    /// Stores a file that was parsed elsewhere.
    pub(super) fn cache_source(&self, source: Arc<ParsedSource>) -> Arc<ParsedSource> {
        self.sources
            .borrow_mut()
            .entry(source.path.clone())
            .or_insert_with(|| Some(source.clone()))
            .clone()
            .unwrap_or(source)
    }

    /// All files, listed once.
    pub(super) fn files(&self) -> &[WorkspacePath] {
        self.files.get_or_init(|| {
            let limits = WalkLimits { max_files: MAX_PROJECT_LISTED_FILES, deadline: self.deadline };
            self.workspace.files(&WorkspacePath::root(), &limits).files
        })
    }

    /// Rust's packages: the name that code uses, and the folder of the manifest.
    pub(super) fn crates(&self) -> &[(String, WorkspacePath)] {
        self.crates.get_or_init(|| {
            let manifests = self.files().iter().filter(|path| path.file_name() == Some("Cargo.toml"));
            manifests.filter_map(|path| Some((self.crate_name(path)?, path.parent()?))).collect()
        })
    }

    fn crate_name(&self, manifest: &WorkspacePath) -> Option<String> {
        let text = self.workspace.read_text_up_to(manifest, MAX_MANIFEST_BYTES).ok()?.text;
        let manifest: toml::Table = text.parse().ok()?;
        let named = |section: &str| manifest.get(section)?.get("name")?.as_str().map(str::to_owned);
        Some(named("lib").or_else(|| named("package"))?.replace('-', "_"))
    }

    /// The files whose path ends in `suffix` (with `/` between names), shortest path first.
    pub(super) fn files_ending_in(&self, suffix: &str) -> Vec<WorkspacePath> {
        let suffix = std::path::Path::new(suffix);
        let mut found: Vec<WorkspacePath> =
            self.files().iter().filter(|path| path.as_path().ends_with(suffix)).cloned().collect();
        found.sort_by_key(|path| path.as_path().components().count());
        found
    }
}

/// Reads and parses `path`.
pub(crate) fn load(
    workspace: &Workspace,
    catalogue: &Catalogue,
    path: &WorkspacePath,
    deadline: Instant,
) -> Option<ParsedSource> {
    let language = catalogue.language_of_file(workspace, path)?;
    let grammar = Grammar::for_language(language, path.extension())?;
    let text = workspace.read_text_up_to(path, MAX_PARSED_FILE_BYTES as u64).ok()?.text;
    ParsedSource::new(path.clone(), grammar, text, deadline).ok()
}
