//! The spread of an edit beyond the uses of what it changes, to definitions that look different in
//! their turn.
//!
//! The text shows which definitions enclose a use, and if their heads determine their interfaces.
//! For the others, the server's hovers before and after are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::declaration_changes::{Declaration, DeclarationChanges, is_declared, is_type, visible_symbols};
use super::impact::{Occurrence, navigating_session, occurrences};
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::documents::view::View;
use crate::lsp::model::Symbol;
use crate::syntax;
use crate::text::identifiers_in;
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
#[derive(Debug)]
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
    doubtful: BTreeSet<Declaration>,
    /// The other files that use a name of `doubtful`.
    users: BTreeMap<WorkspacePath, Vec<Occurrence>>,
    /// The appearance of each of `doubtful`; empty if none is asked for.
    appearances: Vec<Option<String>>,
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
        let mut doubtful = self.changed.doubtful.clone();
        self.add_dependents(checked, &mut doubtful).map_err(SpreadOutcome::Unknown)?;
        if let Some(reason) = self.changed.wide_reason.clone() {
            return Err(SpreadOutcome::Unknown(reason));
        }
        let paths: BTreeSet<WorkspacePath> = checked.keys().cloned().collect();
        let names: BTreeSet<String> = doubtful.iter().map(|one| one.name.clone()).collect();
        let new: BTreeSet<String> = names.difference(&self.changed.names).cloned().collect();
        if new.is_empty() {
            return Err(SpreadOutcome::Same);
        }
        let (users, cut) = occurrences(self.context, &self.language, new, &paths).await;
        if cut {
            return Err(SpreadOutcome::Unknown(SEARCH_CUT.to_owned()));
        }
        if users.is_empty() {
            return Err(SpreadOutcome::Same);
        }
        doubtful.retain(|one| !self.known.contains(one));
        let appearances = match self.comparison {
            AppearanceComparison::Assumed => Vec::new(),
            AppearanceComparison::Asked if doubtful.len() > MAX_DOUBTFUL_DEFINITIONS => {
                let reason = format!("{} definitions use the changed ones", doubtful.len());
                return Err(SpreadOutcome::Unknown(reason));
            }
            AppearanceComparison::Asked => {
                let measured = self.appearances(&doubtful, view_after, |one| one.after, deadline).await;
                measured.ok_or_else(late)?
            }
        };
        Ok(SpreadStep { doubtful, users, appearances })
    }

    /// Compares the definitions of `step` with their appearance before the edit, and returns the
    /// files that use different ones.
    pub(crate) async fn end_step(
        &mut self,
        step: SpreadStep,
        view_before: &View,
        deadline: Instant,
    ) -> SpreadOutcome {
        let SpreadStep { doubtful, users, appearances } = step;
        let different: BTreeSet<String> = match self.comparison {
            AppearanceComparison::Assumed => doubtful.iter().map(|one| one.name.clone()).collect(),
            AppearanceComparison::Asked => {
                let measured = self.appearances(&doubtful, view_before, |one| one.before, deadline).await;
                let Some(before) = measured else { return late() };
                let compared = doubtful.iter().zip(appearances.into_iter().zip(before));
                compared
                    .filter(|(_, (after, before))| after != before)
                    .map(|(one, _)| one.name.clone())
                    .collect()
            }
        };
        self.known.extend(doubtful);
        self.changed.names.extend(different.iter().cloned());
        let uses = |hits: &Vec<Occurrence>| hits.iter().any(|hit| different.contains(&hit.name));
        let files: BTreeSet<WorkspacePath> =
            users.into_iter().filter(|(_, hits)| uses(hits)).map(|(path, _)| path).collect();
        if files.is_empty() { SpreadOutcome::Same } else { SpreadOutcome::Files(files) }
    }

    /// Adds to `doubtful` the definitions in the checked files that use a changed one.
    fn add_dependents(
        &mut self,
        checked: &BTreeMap<WorkspacePath, FileTextPair>,
        doubtful: &mut BTreeSet<Declaration>,
    ) -> Result<(), String> {
        let mut files = Vec::new();
        for (path, texts) in checked {
            let outline = |text| {
                syntax::symbols_in(
                    &self.language,
                    path,
                    text,
                    std::time::Instant::now() + SPREAD_PARSE_TIMEOUT,
                )
            };
            if let (Some(before), Some(after)) = (outline(&texts.before), outline(&texts.after)) {
                files.push((path, texts, before, after));
            }
        }
        loop {
            let count = (doubtful.len(), self.changed.names.len());
            let mut seeds = self.changed.names.clone();
            seeds.extend(doubtful.iter().map(|one| one.name.clone()));
            for (path, texts, before, after) in &files {
                let mut seeds = seeds.clone();
                if texts.is_near {
                    seeds.extend(self.changed.imported.iter().cloned());
                }
                self.close_file(path, texts, before, after, &seeds, doubtful)?;
            }
            if count == (doubtful.len(), self.changed.names.len()) {
                return Ok(());
            }
        }
    }

    fn close_file(
        &mut self,
        path: &WorkspacePath,
        texts: &FileTextPair,
        before: &[Symbol],
        after: &[Symbol],
        seeds: &BTreeSet<String>,
        doubtful: &mut BTreeSet<Declaration>,
    ) -> Result<(), String> {
        let (old, new) = (visible_symbols(before), visible_symbols(after));
        for (number, line) in (0_u32..).zip(texts.after.lines()) {
            let words = identifiers_in(line, number);
            let used: Vec<&str> =
                words.iter().map(|word| word.name.as_str()).filter(|name| seeds.contains(*name)).collect();
            if used.is_empty() {
                continue;
            }
            let around = new
                .iter()
                .filter(|(_, known)| {
                    (known.symbol.range.start.line..=known.symbol.range.end.line).contains(&number)
                })
                .min_by_key(|(_, known)| known.symbol.range.end.line - known.symbol.range.start.line);
            let Some((key, known)) = around else {
                self.take_alias(&words);
                continue;
            };
            let symbol = known.symbol;
            let is_own = |name: &&str| *name == symbol.name && symbol.selection.start.line == number;
            if used.iter().all(is_own) {
                continue;
            }
            let head = symbol.detail.as_deref().map_or(1, |detail| detail.lines().count().max(1));
            let in_head = u32::try_from(head).is_ok_and(|head| number < symbol.range.start.line + head);
            if is_type(symbol) {
                if in_head {
                    return Err(format!("`{}` inherits from a changed type", symbol.name));
                }
                continue;
            }
            if !in_head && is_declared(&self.language, symbol) {
                continue;
            }
            let Some(was) = old.get(key) else { continue };
            doubtful.insert(Declaration {
                path: path.clone(),
                name: symbol.name.clone(),
                before: was.symbol.selection.start,
                after: symbol.selection.start,
            });
        }
        Ok(())
    }

    /// Adds the alias of an import to the changed names.
    fn take_alias(&mut self, words: &[crate::text::Identifier]) {
        let alias = words.windows(2).filter(|pair| pair[0].name == "as").map(|pair| pair[1].name.clone());
        self.changed.names.extend(alias);
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
