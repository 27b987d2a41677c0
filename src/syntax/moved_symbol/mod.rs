//! Changes of imports after the move of a top-level definition to another file, by syntax.
//!
//! [`complete_move`] completes a planned move. [`pair`] adds the imports of the moved text to its
//! new file (only Python: a server that moves symbols does that itself). [`users`] changes the
//! imports in the files that use the symbol. [`statements`] edits one statement, [`specs`] computes
//! the names of modules, [`names`] lists those that a file uses. An ambiguous import is not
//! changed: it is listed among the remaining places, with its candidates.

mod names;
mod pair;
mod specs;
mod statements;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use super::answer::HintError;
use super::grammar::Grammar;
use super::resolution::by_name::{occurrences, parse_all};
use super::resolution::imports::{ImportItem, SourceImport};
use super::resolution::modules;
use super::resolution::modules::Module;
use super::resolution::project::Project;
use super::resolution::source::ParsedSource;
use crate::config::Catalogue;
use crate::text::Position;
use crate::workspace::{SearchQuery, Workspace, WorkspacePath};

/// The maximum number of places that name the moved symbol in strings or documents.
const MAX_NAMING_TEXTS: usize = 2_000;
/// The maximum number of imports of one file that are changed.
const MAX_CHANGED_IMPORTS: usize = 100;

/// The move of a definition.
#[derive(Debug, Clone)]
pub(crate) struct MovedSymbol {
    /// Its name.
    pub(crate) name: String,
    /// Its old file.
    pub(crate) from: WorkspacePath,
    /// Its new file.
    pub(crate) to: WorkspacePath,
    /// Its text; `None` if a server has planned the move with the imports of the two files.
    pub(crate) block: Option<String>,
}

/// The texts of one file before and after the move.
#[derive(Debug, Clone)]
pub(crate) struct MovedText {
    /// The old text; `None` if there was no file.
    pub(crate) before: Option<String>,
    /// The new text.
    pub(crate) after: String,
}

/// The changed files of a move.
pub(crate) type MovedTexts = BTreeMap<WorkspacePath, MovedText>;

/// A place that the move leaves to its caller, in the new texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemainingPlace {
    /// The file.
    pub(crate) path: WorkspacePath,
    /// The start of the place.
    pub(crate) position: Position,
    /// Its line.
    pub(crate) line: String,
    /// The reason, in words.
    pub(crate) why: String,
}

/// Completes `texts`, the files of a move that are planned already. Returns the places that are
/// left, and whether there may be more; `None` if the imports of the language are not known here.
///
/// # Errors
/// [`HintError`] if the workspace cannot be searched.
pub(crate) fn complete_move(
    workspace: &Workspace,
    catalogue: &Catalogue,
    moved: &MovedSymbol,
    texts: &mut MovedTexts,
    deadline: Instant,
) -> Result<Option<(Vec<RemainingPlace>, bool)>, HintError> {
    let project = Project::new(workspace, catalogue, deadline);
    let language = project.language(&moved.from);
    let grammar = language.and_then(|language| Grammar::for_language(language, moved.from.extension()));
    let Some(grammar) = grammar.filter(|grammar| match grammar.key {
        "python" => true,
        // The server that planned the move has edited the two files.
        "javascript" | "typescript" | "tsx" => moved.block.is_none(),
        _ => false,
    }) else {
        return Ok(None);
    };
    let (hits, truncated, timed_out) = occurrences(&project, language, &moved.name)?;
    let is_user = |path: &&WorkspacePath| **path != moved.from && **path != moved.to;
    let mut users: BTreeSet<&WorkspacePath> = hits.iter().map(|hit| &hit.path).filter(is_user).collect();
    // A file that passes all names of the old one on may not contain the name.
    let stem = specs::module_parts(&moved.from).pop().unwrap_or_default();
    let (passing, passing_truncated, passing_timed_out) = occurrences(&project, language, &stem)?;
    let passing = passing.iter().filter(|hit| hit.line.contains('*'));
    users.extend(passing.map(|hit| &hit.path).filter(is_user));
    let users: Vec<&WorkspacePath> = users.into_iter().collect();
    let sources = parse_all(&project, &users);
    let is_exported = grammar.key != "python"
        || project.source(&moved.from).is_none_or(|old| names::is_exported(&old, &moved.name));
    let (roots, remaining) = (BTreeSet::new(), Vec::new());
    let mut work = SymbolMove { project: &project, moved, grammar, texts, is_exported, roots, remaining };
    if grammar.key == "python" {
        work.roots = work.import_roots(&sources);
    }
    if let Some(block) = &moved.block {
        work.complete_pair(block)?;
    }
    for source in &sources {
        work.update_user(source);
    }
    let mut is_cut = truncated || timed_out || passing_truncated || passing_timed_out;
    if grammar.key == "python" {
        is_cut |= work.find_naming_texts()?;
    }
    let mut remaining = work.remaining;
    remaining.sort_by(|one, other| (&one.path, one.position).cmp(&(&other.path, other.position)));
    remaining.dedup_by(|later, earlier| later.path == earlier.path && later.position == earlier.position);
    is_cut |= project.is_late() || sources.len() < users.len();
    Ok(Some((remaining, is_cut)))
}

/// A move while its texts are completed.
struct SymbolMove<'a> {
    project: &'a Project<'a>,
    moved: &'a MovedSymbol,
    grammar: &'static Grammar,
    texts: &'a mut MovedTexts,
    /// True if a wildcard import of the old file brings the symbol in.
    is_exported: bool,
    /// The folders that absolute imports of the old Python file begin at.
    roots: BTreeSet<Vec<String>>,
    remaining: Vec<RemainingPlace>,
}

impl SymbolMove<'_> {
    /// Parses the planned text of `path`.
    fn planned(&self, path: &WorkspacePath) -> Option<ParsedSource> {
        let text = self.texts.get(path)?.after.clone();
        ParsedSource::new(path.clone(), self.grammar, text, self.project.deadline).ok()
    }

    fn set(&mut self, path: &WorkspacePath, after: String) {
        if let Some(text) = self.texts.get_mut(path) {
            text.after = after;
        }
    }

    fn leave(&mut self, source: &ParsedSource, byte: usize, why: String) {
        let position = source.position(byte);
        let line = source.line_excerpt(position).unwrap_or_default();
        self.remaining.push(RemainingPlace { path: source.path.clone(), position, line, why });
    }

    /// Returns true if `file` means the old file by the module `spec`.
    fn is_old_file(&self, file: &ParsedSource, spec: &str) -> bool {
        self.is_module(file, spec, &self.moved.from)
    }

    /// Returns true if `file` means the file `target` by the module `spec`.
    fn is_module(&self, file: &ParsedSource, spec: &str, target: &WorkspacePath) -> bool {
        let found = modules::find(self.project, file.grammar.key, &file.path, spec);
        found == Some(Module::File(target.clone()))
    }

    /// Returns true if the folder is a package of Python with an `__init__.py`.
    fn is_package(&self, folder: &[String]) -> bool {
        let folder = WorkspacePath::root().join(&folder.join("/"));
        folder.is_ok_and(|folder| modules::is_package(self.project, &folder))
    }

    /// The dotted names of `target` below the known roots of absolute imports.
    fn absolute_names(&self, target: &WorkspacePath) -> BTreeSet<String> {
        self.roots.iter().filter_map(|root| specs::dotted(root, target)).collect()
    }

    /// The dotted name of `target`, if exactly one is known.
    fn absolute_name(&self, target: &WorkspacePath) -> Option<String> {
        let names = self.absolute_names(target);
        if names.len() == 1 { names.into_iter().next() } else { None }
    }

    fn is_symbol_import(&self, source: &ParsedSource, import: &SourceImport) -> bool {
        matches!(&import.item, ImportItem::Named(name) if *name == self.moved.name)
            && self.is_old_file(source, &import.module)
    }

    /// The new name of a module that `file` calls `spec`.
    fn new_spec(&self, file: &ParsedSource, spec: &str) -> Option<String> {
        let (key, from, to) = (file.grammar.key, &self.moved.from, &self.moved.to);
        let is_package = |folder: &[String]| self.is_package(folder);
        let found = specs::respelled(key, &file.path, spec, from, to, &is_package);
        let is_relative_python = key == "python" && spec.starts_with('.');
        found.or_else(|| if is_relative_python { self.absolute_name(to) } else { None })
    }

    fn reparsed(&self, source: &ParsedSource, text: String) -> Option<ParsedSource> {
        ParsedSource::new(source.path.clone(), source.grammar, text, self.project.deadline).ok()
    }

    /// Records strings, comments and documents that name the symbol with its old module. Returns
    /// true if there may be more.
    fn find_naming_texts(&mut self) -> Result<bool, HintError> {
        let Some(stem) = specs::module_parts(&self.moved.from).pop() else { return Ok(false) };
        let old = format!("{stem}.{}", self.moved.name);
        let found = self.project.workspace.search(&SearchQuery {
            pattern: old.clone(),
            literal: true,
            whole_word: true,
            case_insensitive: false,
            under: WorkspacePath::root(),
            extensions: None,
            max_hits: MAX_NAMING_TEXTS,
            deadline: self.project.deadline,
        })?;
        let why = format!("text with `{old}`");
        let paths: BTreeSet<WorkspacePath> = found.hits.iter().map(|hit| hit.path.clone()).collect();
        for path in paths {
            let source = match self.texts.contains_key(&path) {
                true => self.planned(&path).map(Arc::new),
                false => self.project.source(&path),
            };
            let Some(source) = source else {
                let hits = found.hits.iter().filter(|hit| hit.path == path);
                self.remaining.extend(hits.map(|hit| RemainingPlace {
                    path: path.clone(),
                    position: hit.range.start,
                    line: hit.line.clone(),
                    why: why.clone(),
                }));
                continue;
            };
            let places = source.text.match_indices(&old).map(|(byte, _)| byte);
            let places: Vec<usize> = places.filter(|byte| source.is_comment_or_string(*byte)).collect();
            places.into_iter().for_each(|byte| self.leave(&source, byte, why.clone()));
        }
        Ok(found.truncated || found.timed_out)
    }
}
