//! The spread of an edit beyond direct uses, to definitions whose interfaces change as a
//! consequence.
//!
//! The text shows which definitions enclose a use, and if their heads determine their interfaces.
//! For the others, the server's hovers before and after are compared. A type whose base or contract
//! changed looks the same, so every definition whose head names it counts as changed, and so do its
//! subtypes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::declaration_changes::{
    Declaration, DeclarationChanges, annotation, is_declared, is_type, visible_symbols,
};
use super::impact::{Occurrence, navigating_session, occurrences};
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::documents::view::View;
use crate::lsp::model::Symbol;
use crate::syntax;
use crate::text::{identifiers_in, words_in};
use crate::workspace::WorkspacePath;

/// The reason for missing uses after a search that was cut short.
pub(crate) const SEARCH_CUT: &str = "the time limit was reached before all files were searched";

/// The most definitions for which the server is asked.
const MAX_DOUBTFUL_DEFINITIONS: usize = 60;
/// The timeout for parsing one text.
const SPREAD_PARSE_TIMEOUT: Duration = Duration::from_millis(400);

/// A file's texts before and after an edit; equal if it is not edited.
#[derive(Debug, Clone)]
pub(crate) struct FileTextPair {
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
    /// True if the file is edited, or imports a name that the edit removed from it.
    pub is_near: bool,
}

/// The effect of an edit beyond the checked files.
#[derive(Debug)]
pub(crate) enum SpreadOutcome {
    /// All other files are unaffected.
    Same,
    /// The affected files.
    Files(BTreeSet<WorkspacePath>),
    /// The effect is unknown, with the reason.
    Unknown(String),
}

/// The spread of one language's edits.
#[derive(Debug, Clone)]
pub(crate) struct Spread<'a> {
    context: &'a Context,
    language: String,
    changed: DeclarationChanges,
    known: BTreeSet<Declaration>,
    comparison: AppearanceComparison,
}

/// A step of a spread whose definitions were measured after the edit. The server is asked about the
/// text before the edit later, since it analyses again after each change of the text.
#[derive(Debug)]
pub(crate) struct SpreadStep {
    /// The names that the text alone shows to have changed.
    certain: BTreeSet<String>,
    doubtful: BTreeSet<Declaration>,
    /// The other files that use a name of `certain` or `doubtful`.
    users: BTreeMap<WorkspacePath, Vec<Occurrence>>,
    /// The appearance of each of `doubtful`.
    appearances: Vec<Option<String>>,
}

/// A checked file with its outlines before and after an edit.
#[derive(Debug)]
struct OutlinedFile<'f> {
    path: &'f WorkspacePath,
    texts: &'f FileTextPair,
    before: Vec<Symbol>,
    after: Vec<Symbol>,
}

/// Compares the public interface of a definition before and after an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppearanceComparison {
    /// The server's hovers before and after are compared.
    Asked,
    /// A possible change counts as a change, because the server sees other files only as they are
    /// on disk.
    Assumed,
}

impl<'a> Spread<'a> {
    /// Starts with the declarations that the edits change.
    pub(crate) fn new(
        context: &'a Context,
        language: String,
        changed: &DeclarationChanges,
        comparison: AppearanceComparison,
    ) -> Self {
        Self { context, language, changed: changed.clone(), known: BTreeSet::new(), comparison }
    }

    /// Finds the definitions in `checked` that may look different now, and requests their
    /// appearance after the edit.
    pub(crate) async fn begin_step(
        &mut self,
        checked: &BTreeMap<WorkspacePath, FileTextPair>,
        view_after: &View,
        deadline: Instant,
    ) -> Result<SpreadStep, SpreadOutcome> {
        if let Some(reason) = self.changed.wide_reason.clone() {
            return Err(SpreadOutcome::Unknown(reason));
        }
        let files = self.outlined(checked);
        let searched = self.changed.names.clone();
        self.close(&files, self.comparison);
        let certain: BTreeSet<String> = self.changed.names.difference(&searched).cloned().collect();
        let doubtful: BTreeSet<Declaration> = match self.comparison {
            AppearanceComparison::Asked => self.changed.doubtful.difference(&self.known).cloned().collect(),
            AppearanceComparison::Assumed => BTreeSet::new(),
        };
        if certain.is_empty() && doubtful.is_empty() {
            return Err(SpreadOutcome::Same);
        }
        // The names that change if every doubtful definition looks different.
        let mut possible = self.clone();
        possible.close(&files, AppearanceComparison::Assumed);
        let possible: BTreeSet<String> = possible.changed.names.difference(&searched).cloned().collect();
        if possible.is_empty() {
            return Err(SpreadOutcome::Same);
        }
        let paths: BTreeSet<WorkspacePath> = checked.keys().cloned().collect();
        let (users, cut) = occurrences(self.context, &self.language, possible, &paths).await;
        if cut {
            return Err(SpreadOutcome::Unknown(SEARCH_CUT.to_owned()));
        }
        if users.is_empty() {
            return Err(SpreadOutcome::Same);
        }
        if doubtful.len() > MAX_DOUBTFUL_DEFINITIONS {
            let reason = format!("{} definitions use the changed ones", doubtful.len());
            return Err(SpreadOutcome::Unknown(reason));
        }
        let measured = self.appearances(&doubtful, view_after, |one| one.after, deadline).await;
        let appearances = measured.ok_or_else(late)?;
        Ok(SpreadStep { certain, doubtful, users, appearances })
    }

    /// Compares the definitions of `step` with their appearance before the edit, and returns the
    /// files that use different ones.
    pub(crate) async fn end_step(
        &mut self,
        step: SpreadStep,
        view_before: &View,
        deadline: Instant,
    ) -> SpreadOutcome {
        let SpreadStep { certain: mut different, doubtful, users, appearances } = step;
        let measured = self.appearances(&doubtful, view_before, |one| one.before, deadline).await;
        let Some(before) = measured else { return late() };
        for (one, (after, before)) in doubtful.iter().zip(appearances.into_iter().zip(before)) {
            let is_of_type = after.as_deref().is_some_and(|after| self.results_in_changed_type(after));
            if is_of_type {
                self.changed.types.insert(one.name.clone());
            }
            if is_of_type || after != before {
                different.insert(one.name.clone());
            }
        }
        self.known.extend(doubtful);
        if different.is_empty() {
            return SpreadOutcome::Same;
        }
        self.changed.names.extend(different.iter().cloned());
        let uses = |hits: &Vec<Occurrence>| hits.iter().any(|hit| different.contains(&hit.name));
        SpreadOutcome::Files(users.into_iter().filter(|(_, hits)| uses(hits)).map(|(path, _)| path).collect())
    }

    /// Returns true if the type in an appearance, or the result of a function, names a changed type.
    fn results_in_changed_type(&self, appearance: &str) -> bool {
        let result = appearance.rsplit_once("->").map_or(appearance, |(_, result)| result);
        words_in(result).any(|word| self.changed.types.contains(word))
    }

    fn outlined<'f>(&self, checked: &'f BTreeMap<WorkspacePath, FileTextPair>) -> Vec<OutlinedFile<'f>> {
        let outline = |path: &WorkspacePath, text: &str| {
            syntax::symbols_in(&self.language, path, text, std::time::Instant::now() + SPREAD_PARSE_TIMEOUT)
        };
        let files = checked.iter().filter_map(|(path, texts)| {
            let (before, after) = (outline(path, &texts.before)?, outline(path, &texts.after)?);
            Some(OutlinedFile { path, texts, before, after })
        });
        files.collect()
    }

    /// Adds the definitions in `files` that the changed names affect: certain ones to the names,
    /// others to the doubtful ones, or to the names as well if they are assumed to change.
    fn close(&mut self, files: &[OutlinedFile<'_>], comparison: AppearanceComparison) {
        let size =
            |changed: &DeclarationChanges| (changed.names.len(), changed.types.len(), changed.doubtful.len());
        loop {
            let count = size(&self.changed);
            for file in files {
                self.close_file(file);
            }
            if comparison == AppearanceComparison::Assumed {
                self.changed.names.extend(self.changed.doubtful.iter().map(|one| one.name.clone()));
            }
            if count == size(&self.changed) {
                return;
            }
        }
    }

    fn close_file(&mut self, file: &OutlinedFile<'_>) {
        let (old, new) = (visible_symbols(&file.before), visible_symbols(&file.after));
        for (number, line) in (0_u32..).zip(file.texts.after.lines()) {
            let words = identifiers_in(line, number);
            let is_changed = |name: &str| {
                self.changed.names.contains(name)
                    || (file.texts.is_near && self.changed.imported.contains(name))
            };
            let used: Vec<&str> =
                words.iter().map(|word| word.name.as_str()).filter(|name| is_changed(name)).collect();
            if used.is_empty() {
                continue;
            }
            let uses_type = used.iter().any(|name| self.changed.types.contains(*name));
            let around = new
                .iter()
                .filter(|(_, known)| {
                    (known.symbol.range.start.line..=known.symbol.range.end.line).contains(&number)
                })
                .min_by_key(|(_, known)| known.symbol.range.end.line - known.symbol.range.start.line);
            let Some((key, known)) = around else {
                self.take_alias(&words, uses_type);
                continue;
            };
            let symbol = known.symbol;
            let is_own = |name: &&str| *name == symbol.name && symbol.selection.start.line == number;
            if used.iter().all(is_own) {
                continue;
            }
            let lines = symbol.detail.as_deref().map_or(1, |detail| detail.lines().count().max(1));
            let is_declaring = |declared: &str| words_in(declared).any(|word| used.contains(&word));
            let in_head = u32::try_from(lines).is_ok_and(|lines| number < symbol.range.start.line + lines)
                && annotation(&self.language, symbol).is_none_or(is_declaring);
            match () {
                () if is_type(symbol) && in_head => {
                    self.changed.names.insert(symbol.name.clone());
                    if uses_type {
                        self.changed.types.insert(symbol.name.clone());
                    }
                }
                () if is_type(symbol) => {}
                () if in_head && uses_type => {
                    self.changed.names.insert(known.user_name().to_owned());
                }
                () if !in_head && is_declared(&self.language, symbol) => {}
                () => {
                    let Some(was) = old.get(key) else { continue };
                    self.changed.doubtful.insert(Declaration {
                        path: file.path.clone(),
                        name: known.user_name().to_owned(),
                        before: was.symbol.selection.start,
                        after: symbol.selection.start,
                    });
                }
            }
        }
    }

    /// Adds the alias of an import to the changed names.
    fn take_alias(&mut self, words: &[crate::text::Identifier], is_of_type: bool) {
        for pair in words.windows(2).filter(|pair| pair[0].name == "as") {
            if is_of_type {
                self.changed.types.insert(pair[1].name.clone());
            }
            self.changed.names.insert(pair[1].name.clone());
        }
    }

    /// The server's hover for each definition.
    async fn appearances(
        &self,
        doubtful: &BTreeSet<Declaration>,
        view: &View,
        position: impl Fn(&Declaration) -> crate::text::Position,
        deadline: Instant,
    ) -> Option<Vec<Option<String>>> {
        let mut looks = Vec::with_capacity(doubtful.len());
        for one in doubtful {
            let subject = LanguageFile { path: one.path.clone(), language: Some(self.language.clone()) };
            let session = navigating_session(self.context, &subject, deadline).await?;
            let _view_guard = session.enter_view(view, deadline).await.ok()?;
            let hover = session.hover(&one.path, &position(one), deadline).await.ok()?;
            looks.push(hover.value.map(|hover| signature(&hover.contents).to_owned()));
        }
        Some(looks)
    }
}

fn late() -> SpreadOutcome {
    SpreadOutcome::Unknown("the users of the change could not be compared in time".to_owned())
}

/// The type in a hover: its first block of code.
fn signature(contents: &str) -> &str {
    let block = contents.split("```").nth(1);
    block.unwrap_or(contents)
}
