//! Breakage of an edit: diagnostics of the touched files and their dependents, before and after.

mod comparison;
mod earlier;
mod new_findings;
mod transitive;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::answer::Verdict;
use super::context::{Context, LanguageFile};
use super::delta::DiagnosticsDelta;
use super::edited_text::EditedText;
use super::error::ToolError;
use super::file_check::{FileCheckOptions, check_file};
use super::file_report::FileReport;
use super::impact::{EditImpact, ImpactLimits, find_dependents, language_of};
use super::lsp_diagnostics;
use super::remedy;
use crate::lsp::model::Severity;
use crate::lsp::view::View;
use crate::workspace::WorkspacePath;

pub(crate) use earlier::{Earlier, EarlierTree};
pub(crate) use new_findings::NewFindings;

/// How long an edit's answer waits for diagnostics that nobody asked for.
const UNREQUESTED_DIAGNOSTICS_TIMEOUT: Duration = Duration::from_secs(3);
/// How long the look at a whole difference may take.
const DIFFERENCE_CHECK_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// The most files that servers are asked about at once.
const MAX_CONCURRENT_BREAKAGE_CHECKS: usize = 8;

/// Whether an edit's answer tells what it broke.
///
/// Where the caller does not say, servers that run already are asked, for at most 3 s before and after: that costs a warm
/// project some hundred milliseconds and saves the agent the call that it would otherwise forget. No server is started for
/// it, since a cold start costs more than one edit is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakageMode {
    /// Servers that run already, in a short time.
    Unsaid,
    /// All servers, within the settings' deadline for diagnostics.
    Wanted,
    /// As wanted, and of a difference between trees: no file that it can concern is left out to save time. Only findings at least
    /// this severe are looked for.
    Difference(Severity),
    /// None.
    Unwanted,
}

impl BreakageMode {
    /// The most files that are checked beside the edited ones.
    fn most_files(self) -> usize {
        match self {
            Self::Unsaid | Self::Unwanted => 12,
            Self::Wanted => 80,
            Self::Difference(_) => 4_000,
        }
    }

    fn impact_limits(self) -> ImpactLimits {
        match self {
            Self::Difference(_) => ImpactLimits::of_difference(self.most_files()),
            _ => ImpactLimits::of_edit(self.most_files(), self == Self::Unsaid),
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

/// The files whose findings an edit may change.
#[derive(Debug)]
pub(crate) struct BreakageWatch {
    subjects: Vec<LanguageFile>,
    mode: BreakageMode,
    impact: EditImpact,
}

impl BreakageWatch {
    /// Whether there is somebody to ask about an edit of `paths`. Only a guess from their names: looking tells.
    pub(crate) fn is_likely<'a>(
        context: &Context,
        mut paths: impl Iterator<Item = &'a WorkspacePath>,
        mode: BreakageMode,
    ) -> bool {
        match mode {
            BreakageMode::Unwanted => false,
            BreakageMode::Wanted | BreakageMode::Difference(_) => true,
            BreakageMode::Unsaid => paths.any(|path| {
                let subject = LanguageFile { path: path.clone(), language: language_of(context, path, None) };
                is_asked(context, &subject, mode)
            }),
        }
    }

    /// Those of `edits`, and those that depend on what they change. `None` where nobody wants to know, or nobody can tell.
    pub(crate) async fn for_edits(
        context: &Context,
        edits: &[EditedText],
        mode: BreakageMode,
    ) -> Option<Self> {
        if mode == BreakageMode::Unwanted {
            return None;
        }
        let own = edits.iter().flat_map(|edit| {
            let old = edit.renamed_from.as_ref().map(|path| (path, edit.before.as_deref()));
            let text = edit.after.as_deref().or(edit.before.as_deref());
            [Some((&edit.path, text)), old].into_iter().flatten()
        });
        let mut subjects: Vec<LanguageFile> = own
            .map(|(path, text)| LanguageFile {
                path: path.clone(),
                language: language_of(context, path, text),
            })
            .filter(|subject| is_asked(context, subject, mode))
            .collect();
        if subjects.is_empty() {
            return None;
        }
        context.manager.refresh().await;
        let deadline = Instant::now() + check_timeout(context, mode);
        let mut impact = find_dependents(context, edits, mode.impact_limits(), deadline).await;
        let others = std::mem::take(&mut impact.files).into_iter();
        subjects.extend(others.filter(|subject| is_asked(context, subject, mode)));
        Some(Self { subjects, mode, impact })
    }

    /// The files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.subjects.iter().map(|subject| &subject.path)
    }

    /// Looks at what is there before `edits` are made.
    pub(crate) async fn take_baseline(self, context: &Context, edits: &[EditedText]) -> Baseline {
        let Self { subjects, mode: wish, impact: reach } = self;
        let there = |subject: &&LanguageFile| {
            // A file that the edit creates has no findings before it.
            !edits.iter().any(|edit| {
                edit.path == subject.path && (edit.before.is_none() || edit.renamed_from.is_some())
            })
        };
        let existing: Vec<LanguageFile> = subjects.iter().filter(there).cloned().collect();
        let before = check_files(context, existing, &context.view, wish).await;
        let old = view_before_edits(&context.view, edits);
        Baseline { subjects, before, mode: wish, impact: reach, earlier: Earlier::shown_over(old) }
    }
}

/// What was found before an edit.
#[derive(Debug)]
pub(crate) struct Baseline {
    subjects: Vec<LanguageFile>,
    before: BTreeMap<WorkspacePath, FileReport>,
    mode: BreakageMode,
    impact: EditImpact,
    /// What was there before.
    earlier: Earlier,
}

impl Baseline {
    /// Looks at `subjects` as they are on disk, whatever the caller sees, before something that nobody can foresee.
    pub(crate) async fn capture(context: &Context, subjects: Vec<LanguageFile>) -> Self {
        let before = check_files(context, subjects.clone(), &View::disk(), BreakageMode::Wanted).await;
        Self {
            subjects,
            before,
            mode: BreakageMode::Wanted,
            impact: EditImpact::default(),
            earlier: Earlier::shown_over(View::disk()),
        }
    }

    /// Has one more file looked at afterwards, of which nothing is known before.
    pub(crate) fn add(&mut self, subject: LanguageFile) {
        if !self.subjects.iter().any(|known| known.path == subject.path) {
            self.subjects.push(subject);
        }
    }

    /// What is different now that `edits` are made: on disk, or in `view` only.
    pub(crate) async fn compare(
        mut self,
        context: &Context,
        edits: &[EditedText],
        view: &View,
    ) -> DiagnosticsDelta {
        context.manager.refresh().await;
        let is_left = |subject: &&LanguageFile| !is_gone(edits, &subject.path);
        let left: Vec<LanguageFile> = self.subjects.iter().filter(is_left).cloned().collect();
        let mut after = check_files(context, left, view, self.mode).await;
        let unknown = self.check_transitive(context, edits, view, &mut after).await;
        let mut delta = self.delta(edits, &after, unknown);
        remedy::add_remedies(context, &mut delta.added, view).await;
        comparison::add_unchecked_notes(context, edits, &after, &mut delta);
        if edits.iter().any(|edit| view.unsaved(&edit.path).is_some()) {
            self.add_dry_run_notes(context, edits, &mut delta);
        }
        delta
    }
}

/// What `view` shows with the texts before `edits` over it.
pub(crate) fn view_before_edits(view: &View, edits: &[EditedText]) -> View {
    view.with_texts(edits.iter().filter_map(|edit| {
        let path = edit.renamed_from.as_ref().unwrap_or(&edit.path);
        Some((path.clone(), Arc::from(edit.before.as_deref()?)))
    }))
}

/// What `view` shows once `edits` are made and nothing of them is on disk. Files that go away stay as they are: no server can be
/// shown that a file is not there while it is.
pub(crate) fn view_after_edits(view: &View, edits: &[EditedText]) -> View {
    let texts = edits.iter().filter_map(|edit| Some((edit.path.clone(), Arc::from(edit.after.as_deref()?))));
    view.with_texts(texts)
}

/// What `view` shows once `edits` are on disk: what was unsaved there was the text before them.
pub(crate) fn view_after_save(view: &View, edits: &[EditedText]) -> View {
    view.filtered(|path, _| {
        !edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
    })
}

/// Whether there is no file at `path` any more once `edits` are made.
fn is_gone(edits: &[EditedText], path: &WorkspacePath) -> bool {
    let comes = edits.iter().any(|edit| edit.path == *path && edit.after.is_some());
    let goes = |edit: &EditedText| {
        edit.renamed_from.as_ref() == Some(path) || (edit.path == *path && edit.after.is_none())
    };
    !comes && edits.iter().any(goes)
}

/// Whether some server is to be asked about a file. Without one only its syntax can be told, and only where that is wanted.
fn is_asked(context: &Context, subject: &LanguageFile, mode: BreakageMode) -> bool {
    let servers = context.servers_for(subject, |features| features.diagnostics);
    match mode {
        BreakageMode::Unwanted => false,
        BreakageMode::Wanted => subject.language.is_some(),
        BreakageMode::Difference(_) => !servers.is_empty(),
        BreakageMode::Unsaid => {
            servers.iter().any(|(server, _)| context.manager.running_session(server, &subject.path).is_some())
        }
    }
}

/// Whether a server looked at the file, so that what it did not find was not there.
fn was_looked_at(report: &FileReport) -> bool {
    matches!(report.verdict, Verdict::Complete | Verdict::Partial)
}

/// How long one look takes at most.
fn check_timeout(context: &Context, mode: BreakageMode) -> Duration {
    let usual = context.config.settings.deadlines.diagnostics;
    match mode {
        BreakageMode::Unsaid => UNREQUESTED_DIAGNOSTICS_TIMEOUT,
        // Each file has the usual deadline to itself.
        BreakageMode::Difference(_) => DIFFERENCE_CHECK_TIMEOUT,
        BreakageMode::Wanted | BreakageMode::Unwanted => context.timeout.unwrap_or(usual),
    }
}

/// What the servers say of `subjects` in `view`; a file that cannot be read is left out.
async fn check_files(
    context: &Context,
    subjects: Vec<LanguageFile>,
    view: &View,
    mode: BreakageMode,
) -> BTreeMap<WorkspacePath, FileReport> {
    check_files_until(context, subjects, view, mode, Instant::now() + check_timeout(context, mode)).await
}

async fn check_files_until(
    context: &Context,
    subjects: Vec<LanguageFile>,
    view: &View,
    mode: BreakageMode,
    until: Instant,
) -> BTreeMap<WorkspacePath, FileReport> {
    let look = FileCheckOptions {
        view: view.clone(),
        until: Some(until),
        running_only: mode == BreakageMode::Unsaid,
        may_be_kept: true,
        ..FileCheckOptions::default()
    };
    if let BreakageMode::Difference(_) = mode {
        let none_named = BTreeSet::new();
        let checked = lsp_diagnostics::check_files(context, None, (subjects, &none_named), &look).await;
        return checked.map(|checked| checked.reports).unwrap_or_default();
    }
    let reports: Vec<Result<FileReport, ToolError>> = futures::stream::iter(subjects)
        .map(|subject| check_file(context, subject, &look))
        .buffered(MAX_CONCURRENT_BREAKAGE_CHECKS)
        .collect()
        .await;
    let readable = reports
        .into_iter()
        .filter_map(|report| report.inspect_err(|error| tracing::debug!("not compared: {error}")).ok());
    readable.map(|report| (report.path.clone(), report)).collect()
}
