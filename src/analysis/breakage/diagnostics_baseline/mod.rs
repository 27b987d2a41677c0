//! The comparison of diagnostics before and after an edit, of touched files and their dependents.
//!
//! A [`BreakageWatch`] names the files and takes their findings before the edit; `judge` takes
//! those after it, of files that the edit reaches indirectly as well (`transitive`), and
//! `comparison` makes the delta. For a difference between git trees, `new_findings` compares the
//! present state with an `earlier` one.

mod comparison;
mod earlier;
mod judge;
mod new_findings;
mod transitive;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::delta::DiagnosticsDelta;
use super::edit_judgement::DiagnosticsStatement;
use super::edited_text::EditedText;
use super::impact::{EditImpact, ImpactLimits, find_dependents, language_of};
use super::remedy;
use crate::analysis::answer::Verdict;
use crate::analysis::check::checked_files;
use crate::analysis::check::file_check::{FileCheckOptions, FindingsReuse, check_file};
use crate::analysis::check::file_report::FileReport;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::lsp::documents::view::View;
use crate::lsp::model::Severity;
use crate::text::{LineMap, words_in};
use crate::workspace::WorkspacePath;

pub(crate) use earlier::{Earlier, EarlierTree};
pub(crate) use judge::EditJudge;
pub(crate) use new_findings::NewFindings;

/// The longest time for diagnostics before an edit, and again after it, if the caller did not
/// request them.
const UNREQUESTED_DIAGNOSTICS_TIMEOUT: Duration = Duration::from_secs(3);
/// The timeout for checking a whole difference.
const DIFFERENCE_CHECK_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// The size of an edit, in files, up to which its files are always checked before it.
const MAX_FILES_CHECKED_BEFORE_EDIT: usize = 3;
/// The most files that are checked concurrently.
const MAX_CONCURRENT_BREAKAGE_CHECKS: usize = 8;

/// The extent of the check for new errors of an edit.
///
/// By default, the edited files and their direct users are checked, for at most 3 s before and
/// after, or half of the caller's own timeout. This costs a warm project some hundred milliseconds
/// and saves the agent a call that it would otherwise forget. A server that was started for the
/// check continues to start, and the answer says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakageMode {
    /// A short check, by default.
    Unsaid,
    /// A check by all servers, within the settings' deadline for diagnostics.
    Wanted,
    /// Like [`Self::Wanted`], for a difference between trees: no affected file is skipped to save
    /// time.
    Difference {
        /// The lowest severity of findings that count.
        floor: Severity,
        /// True if the answer store is not used.
        asks_anew: bool,
    },
    /// No check.
    Unwanted,
}

impl BreakageMode {
    /// The most files that are checked beside the edited ones.
    fn most_files(self) -> usize {
        match self {
            Self::Unsaid | Self::Unwanted => 12,
            Self::Wanted => 80,
            Self::Difference { .. } => 4_000,
        }
    }

    fn impact_limits(self) -> ImpactLimits {
        match self {
            Self::Difference { .. } => ImpactLimits::of_difference(self.most_files()),
            _ => ImpactLimits::of_edit(self.most_files()),
        }
    }
}

impl From<Option<bool>> for BreakageMode {
    fn from(given: Option<bool>) -> Self {
        match given {
            None => Self::Unsaid,
            Some(true) => Self::Wanted,
            Some(false) => Self::Unwanted,
        }
    }
}

/// A symbol that an edit renames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenamedSymbol {
    /// The old name.
    pub old: String,
    /// The new name.
    pub new: String,
}

/// The files whose findings an edit may change.
#[derive(Debug)]
pub(crate) struct BreakageWatch {
    subjects: Vec<LanguageFile>,
    mode: BreakageMode,
    impact: EditImpact,
    renamed: Option<RenamedSymbol>,
    /// The deadline of the check before the edit.
    until: Instant,
    /// The deadline of the check after the edit.
    ends: Instant,
}

impl BreakageWatch {
    /// The files of `edits`, and those that depend on changed declarations. Their servers are
    /// started.
    ///
    /// # Errors
    /// The statement that replaces a comparison, if diagnostics are unwanted or no server is
    /// available.
    pub(crate) async fn for_edits(
        context: &Context,
        edits: &[EditedText],
        mode: BreakageMode,
    ) -> Result<Self, DiagnosticsStatement> {
        if mode == BreakageMode::Unwanted {
            let reason = "not checked: the call set `diagnostics: false`";
            return Err(DiagnosticsStatement::no_data(reason.to_owned()));
        }
        let own = edits.iter().flat_map(|edit| {
            let old = edit.renamed_from.as_ref().map(|path| (path, edit.before.as_deref()));
            let text = edit.after.as_deref().or(edit.before.as_deref());
            [Some((&edit.path, text)), old].into_iter().flatten()
        });
        let mut subjects = Vec::new();
        let mut refused = None;
        for (path, text) in own {
            let subject = LanguageFile { path: path.clone(), language: language_of(context, path, text) };
            match judge::check_askable(context, &subject, mode) {
                Ok(()) => subjects.push(subject),
                Err(reason) => drop(refused.get_or_insert(reason)),
            }
        }
        if subjects.is_empty() {
            return Err(refused.unwrap_or_else(DiagnosticsStatement::unchanged));
        }
        context.manager.refresh().await;
        let limit = check_timeout(context, mode);
        let (until, ends) = (Instant::now() + limit, Instant::now() + 2 * limit);
        let mut impact = find_dependents(context, edits, mode.impact_limits(), until).await;
        let others = std::mem::take(&mut impact.files).into_iter();
        subjects.extend(others.filter(|subject| judge::check_askable(context, subject, mode).is_ok()));
        Ok(Self { subjects, mode, impact, renamed: None, until, ends })
    }

    /// Treats findings as equal if their messages differ only by the name of `renamed`.
    pub(crate) fn with_rename(mut self, renamed: Option<RenamedSymbol>) -> Self {
        self.renamed = renamed;
        self
    }

    /// The paths of the files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.subjects.iter().map(|subject| &subject.path)
    }

    /// Checks the state before `edits` are made. By default, users of changed declarations, and all
    /// files of a large edit, are checked only after the edit, and before it only if they then have
    /// findings.
    pub(crate) async fn take_baseline(self, context: &Context, edits: &[EditedText]) -> Baseline {
        let there = |subject: &&LanguageFile| {
            // A file that the edit creates has no earlier findings.
            !edits.iter().any(|edit| {
                edit.path == subject.path && (edit.before.is_none() || edit.renamed_from.is_some())
            })
        };
        let is_edited = |path: &WorkspacePath| {
            edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
        };
        let is_due = |subject: &&LanguageFile| {
            self.mode != BreakageMode::Unsaid
                || (is_edited(&subject.path) && edits.len() <= MAX_FILES_CHECKED_BEFORE_EDIT)
                || !judge::can_be_shown_later(context, subject)
                || judge::is_kept(context, subject)
        };
        let due: Vec<LanguageFile> = self.subjects.iter().filter(there).filter(is_due).cloned().collect();
        let before = check_files_until(context, due, &context.view, self.mode, self.until).await;
        Baseline { before, ..self.without_baseline(&context.view, edits) }
    }

    /// A comparison that shows the servers the texts before `edits`, over `view`, at the first use.
    pub(crate) fn without_baseline(self, view: &View, edits: &[EditedText]) -> Baseline {
        let Self { subjects, mode, impact, renamed, until: _, ends } = self;
        let earlier = Earlier::shown_over(view_before_edits(view, edits));
        Baseline { subjects, before: BTreeMap::new(), mode, impact, renamed, earlier, ends: Some(ends) }
    }
}

/// The findings before an edit.
#[derive(Debug)]
pub(crate) struct Baseline {
    subjects: Vec<LanguageFile>,
    before: BTreeMap<WorkspacePath, FileReport>,
    mode: BreakageMode,
    impact: EditImpact,
    renamed: Option<RenamedSymbol>,
    /// The state before the edit.
    earlier: Earlier,
    /// The deadline of the check after the edit, if it is known before.
    ends: Option<Instant>,
}

impl Baseline {
    /// Checks `subjects` as they are on disk, regardless of the caller's view, before an operation
    /// with unknown effects.
    pub(crate) async fn capture(context: &Context, subjects: Vec<LanguageFile>) -> Self {
        let mode = BreakageMode::Wanted;
        let until = Instant::now() + check_timeout(context, mode);
        let before = check_files_until(context, subjects.clone(), &View::disk(), mode, until).await;
        let (impact, earlier) = (EditImpact::default(), Earlier::shown_over(View::disk()));
        Self { subjects, before, mode, impact, renamed: None, earlier, ends: None }
    }

    /// Adds a file for the check afterwards, without earlier findings.
    pub(crate) fn add(&mut self, subject: LanguageFile) {
        if !self.subjects.iter().any(|known| known.path == subject.path) {
            self.subjects.push(subject);
        }
    }

    /// The differences after `edits` are made: on disk, or in `view` only.
    pub(crate) async fn compare(
        mut self,
        context: &Context,
        edits: &[EditedText],
        view: &View,
    ) -> DiagnosticsDelta {
        context.manager.refresh().await;
        let until = self.ends.unwrap_or_else(|| Instant::now() + check_timeout(context, self.mode));
        let is_left = |subject: &&LanguageFile| !is_gone(edits, &subject.path);
        let left: Vec<LanguageFile> = self.subjects.iter().filter(is_left).cloned().collect();
        let mut after = check_files_until(context, left, view, self.mode, until).await;
        // Servers analyse again after each change of the text, so questions about the edited text
        // come first.
        let mut remedied = self.likely_new(edits, &after);
        remedy::add_remedies(context, &mut remedied, view).await;
        let spreads = self.begin_spread(context, edits, view, &after, until).await;
        self.look_back(context, edits, &mut after, until).await;
        let unknown = self.check_transitive(context, edits, spreads, view, &mut after, until).await;
        let mut delta = self.delta(edits, &after, unknown);
        remedy::copy_remedies(&remedied, &mut delta.added);
        comparison::add_unchecked_notes(context, edits, &after, &mut delta);
        if edits.iter().any(|edit| view.unsaved(&edit.path).is_some()) {
            self.add_dry_run_notes(context, edits, &mut delta);
        } else if delta.verdict == Verdict::Complete {
            let is_edited = |path: &WorkspacePath| {
                edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
            };
            for session in context.manager.sessions_for(&context.view) {
                session.carry_over_diagnostics(is_edited, |path| !after.contains_key(path));
            }
        }
        delta
    }
}

/// The `view` with the texts before `edits` over it.
pub(crate) fn view_before_edits(view: &View, edits: &[EditedText]) -> View {
    view.with_texts(edits.iter().filter_map(|edit| {
        let path = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        Some((path.clone(), Arc::from(edit.before.as_deref()?)))
    }))
}

/// The `view` with the texts after `edits` over it, while nothing of them is on disk. Deleted files
/// stay, because no server can be shown that an existing file is missing.
pub(crate) fn view_after_edits(view: &View, edits: &[EditedText]) -> View {
    let texts = edits.iter().filter_map(|edit| Some((edit.path.clone(), Arc::from(edit.after.as_deref()?))));
    view.with_texts(texts)
}

/// The part of `edits` that a trial shows. Lines that name a file by its future name keep their old
/// text, because servers would look for that file on disk.
pub(crate) fn edits_for_trial(edits: &[EditedText]) -> Vec<EditedText> {
    let moved = edits.iter().filter(|edit| edit.renamed_from.is_some());
    let names: BTreeSet<String> = moved.flat_map(|edit| module_names(&edit.path)).collect();
    let shown = |edit: &EditedText| match (&edit.before, &edit.after) {
        (Some(before), Some(after)) if edit.renamed_from.is_none() && !names.is_empty() => {
            EditedText { after: Some(without_names(before, after, &names)), ..edit.clone() }
        }
        _ => edit.clone(),
    };
    edits.iter().map(shown).collect()
}

/// The words by which others may name the file at `path`: its own name, and that of its folder.
fn module_names(path: &WorkspacePath) -> Vec<String> {
    let stem =
        |path: &WorkspacePath| path.as_path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
    [stem(path), path.parent().as_ref().and_then(stem)].into_iter().flatten().collect()
}

/// `after` with the lines of `before` in place of lines that contain one of `names`.
fn without_names(before: &str, after: &str, names: &BTreeSet<String>) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let lines = LineMap::between(before, after);
    let (mut shown, mut next) = (String::with_capacity(after.len()), 0);
    for (was, is) in lines.old_ranges().zip(lines.new_ranges()) {
        let (was, is) = (was.start as usize..was.end as usize, is.start as usize..is.end as usize);
        shown.extend(new[next..is.start].iter().copied());
        next = is.end;
        let names_one = new[is.clone()].iter().any(|line| words_in(line).any(|word| names.contains(word)));
        shown.extend(if names_one { &old[was] } else { &new[is] }.iter().copied());
    }
    shown.extend(new[next..].iter().copied());
    shown
}

/// The `view` once `edits` are on disk: unsaved texts of the edited files are dropped.
pub(crate) fn view_after_save(view: &View, edits: &[EditedText]) -> View {
    view.filtered(|path, _| {
        !edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
    })
}

/// Returns true if `edits` leave no file at `path`.
fn is_gone(edits: &[EditedText], path: &WorkspacePath) -> bool {
    let comes = edits.iter().any(|edit| edit.path == *path && edit.after.is_some());
    let goes = |edit: &EditedText| {
        edit.renamed_from.as_ref() == Some(path) || (edit.path == *path && edit.after.is_none())
    };
    !comes && edits.iter().any(goes)
}

/// Returns true if a server checked the file, so that missing findings mean that there are none.
fn was_looked_at(report: &FileReport) -> bool {
    matches!(report.verdict, Verdict::Complete | Verdict::Partial)
}

/// The longest time for the check before an edit, and again for the one after it.
fn check_timeout(context: &Context, mode: BreakageMode) -> Duration {
    let usual = context.config.settings.deadlines.diagnostics;
    match mode {
        BreakageMode::Unsaid => context.timeout.map_or(UNREQUESTED_DIAGNOSTICS_TIMEOUT, |limit| limit / 2),
        // Each file has the usual deadline to itself.
        BreakageMode::Difference { .. } => DIFFERENCE_CHECK_TIMEOUT,
        BreakageMode::Wanted | BreakageMode::Unwanted => context.timeout.unwrap_or(usual),
    }
}

/// The servers' findings in `subjects` in `view`; unreadable files are left out.
async fn check_files_until(
    context: &Context,
    subjects: Vec<LanguageFile>,
    view: &View,
    mode: BreakageMode,
    until: Instant,
) -> BTreeMap<WorkspacePath, FileReport> {
    let mut options = FileCheckOptions {
        view: view.clone(),
        until: Some(until),
        reuse: FindingsReuse::Recent,
        ..FileCheckOptions::default()
    };
    if let BreakageMode::Difference { asks_anew, .. } = mode {
        if !asks_anew {
            options.find_stored(context, &subjects, false).await;
        }
        let none_named = BTreeSet::new();
        let checked = checked_files::check_files(context, (subjects, &none_named), &options).await;
        return checked.map(|checked| checked.reports).unwrap_or_default();
    }
    let reports: Vec<Result<FileReport, ToolError>> = futures::stream::iter(subjects)
        .map(|subject| check_file(context, subject, &options))
        .buffered(MAX_CONCURRENT_BREAKAGE_CHECKS)
        .collect()
        .await;
    let readable = reports
        .into_iter()
        .filter_map(|report| report.inspect_err(|error| tracing::debug!("not compared: {error}")).ok());
    readable.map(|report| (report.path.clone(), report)).collect()
}
