//! Breakage of an edit: diagnostics of the touched files and their dependents, before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::answer::{ServerState, Verdict};
use super::context::{Context, LanguageFile};
use super::declaration_changes::DeclarationChanges;
use super::delta::{DiagnosticsDelta, FLOOR, FileComparison, compare, delta_item, shorten, shorten_gone};
use super::error::ToolError;
use super::impact::{EditImpact, EditedText, find_dependents, language_of, occurrences, related_endings};
use super::lsp_diagnostics::{DiagnosticsCheckOptions, FileReport, check_file};
use super::remedy;
use super::transitive_impact::{FileTextPair, Spread, SpreadOutcome};
use crate::config::spec::{ServerSpec, UncheckedAspect};
use crate::lsp::model::Severity;
use crate::lsp::view::View;
use crate::text::LineMap;
use crate::workspace::{WalkLimits, WorkspacePath};

/// How long an edit's answer waits for diagnostics that nobody asked for.
const UNREQUESTED_DIAGNOSTICS_TIMEOUT: Duration = Duration::from_secs(3);
/// How long it looks beyond the files that use what is edited, where it was asked to.
const TRANSITIVE_CHECK_TIMEOUT: Duration = Duration::from_secs(5);
/// The most other files that are checked: where the caller did not ask for it, and where it did.
const MOST_FILES: (usize, usize) = (12, 80);
/// The most steps from a user of the edited code to the users of that user.
const MAX_TRANSITIVE_CHECK_DEPTH: usize = 4;
/// The most files that a note names of those that were left out.
const MAX_NAMED_OMITTED_FILES: usize = 5;
/// The time limit for listing the files of the workspace.
const BREAKAGE_WALK_TIMEOUT: Duration = Duration::from_secs(1);
/// So many files are asked about at once.
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
    /// None.
    Unwanted,
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
            BreakageMode::Wanted => true,
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
        let most = if mode == BreakageMode::Unsaid { MOST_FILES.0 } else { MOST_FILES.1 };
        let deadline = Instant::now() + check_timeout(context, mode);
        let mut impact = find_dependents(context, edits, most, mode == BreakageMode::Unsaid, deadline).await;
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
        let old = edits.iter().filter_map(|edit| {
            let path = edit.renamed_from.as_ref().unwrap_or(&edit.path);
            Some((path.clone(), Arc::from(edit.before.as_deref()?)))
        });
        let old = context.view.with_texts(old);
        Baseline { subjects, before, mode: wish, impact: reach, old }
    }
}

/// What was found before an edit.
#[derive(Debug)]
pub(crate) struct Baseline {
    subjects: Vec<LanguageFile>,
    before: BTreeMap<WorkspacePath, FileReport>,
    mode: BreakageMode,
    impact: EditImpact,
    /// What was seen before.
    old: View,
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
            old: View::disk(),
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
        let is_gone = |subject: &&LanguageFile| {
            !edits.iter().any(|edit| {
                edit.renamed_from.as_ref() == Some(&subject.path)
                    || (edit.path == subject.path && edit.after.is_none())
            })
        };
        let left: Vec<LanguageFile> = self.subjects.iter().filter(is_gone).cloned().collect();
        let mut after = check_files(context, left, view, self.mode).await;
        let unknown = self.check_transitive(context, edits, view, &mut after).await;
        let mut delta = self.delta(edits, &after, unknown);
        remedy::add_remedies(context, &mut delta.added, view).await;
        add_unchecked_notes(context, edits, &after, &mut delta);
        if edits.iter().any(|edit| view.unsaved(&edit.path).is_some()) {
            self.add_dry_run_notes(context, edits, &mut delta);
        }
        delta
    }

    /// Looks at more files while something in those that were looked at looks different to others. Why that may not be all.
    async fn check_transitive(
        &mut self,
        context: &Context,
        edits: &[EditedText],
        view: &View,
        after: &mut BTreeMap<WorkspacePath, FileReport>,
    ) -> Option<String> {
        let until = Instant::now() + check_timeout(context, self.mode).min(TRANSITIVE_CHECK_TIMEOUT);
        let running_only = self.mode == BreakageMode::Unsaid;
        // What a trial shows over the disk is what is there before it.
        let is_trial = edits.iter().any(|edit| view.unsaved(&edit.path).is_some());
        let old = if is_trial { context.view.clone() } else { self.old.clone() };
        let mut unknown = None;
        for (language, changed) in std::mem::take(&mut self.impact.changed) {
            if !self.checks_across_files(context, &language, after) {
                continue;
            }
            let mut spread = Spread::new(context, &language, &changed);
            for step in 0.. {
                let checked = text_pairs(context, edits, after.keys());
                let beyond = match spread.spread_step(&checked, (&old, view), running_only, until).await {
                    SpreadOutcome::Same => break,
                    SpreadOutcome::Files(files) => files,
                    SpreadOutcome::Unknown(why) => {
                        let (rest, all) = remaining_files(context, &language, after, &changed).await;
                        let is_wanted =
                            self.mode == BreakageMode::Wanted || rest.len() + after.len() <= MOST_FILES.0;
                        let subjects = if is_wanted { rest } else { Vec::new() };
                        let told = self.check_more_files(context, subjects, (&old, view), until, after).await;
                        if !(is_wanted && all && told) {
                            unknown.get_or_insert(why);
                        }
                        break;
                    }
                };
                let subjects: Vec<LanguageFile> =
                    beyond.into_iter().filter_map(|path| context.language_file(path).ok()).collect();
                let too_many =
                    subjects.len() + after.len() > MOST_FILES.1 || step == MAX_TRANSITIVE_CHECK_DEPTH;
                if too_many || !self.check_more_files(context, subjects, (&old, view), until, after).await {
                    unknown.get_or_insert("more files use what looks different now".to_owned());
                    break;
                }
            }
        }
        unknown
    }

    /// Whether the servers that answered check files against each other, so that an edit of one concerns another.
    fn checks_across_files(
        &self,
        context: &Context,
        language: &str,
        after: &BTreeMap<WorkspacePath, FileReport>,
    ) -> bool {
        let servers = context.catalogue().servers_for(language);
        let answered = |server: &str| {
            after.values().flat_map(|report| &report.statuses).any(|status| {
                status.server == server && matches!(status.state, ServerState::Ready | ServerState::Indexing)
            })
        };
        servers.iter().any(|(key, server)| server.diagnostics.sees_unsaved && answered(key))
    }

    /// Adds `subjects` to `after`, and to what is known before as far as something is found in them. Whether all of them told.
    async fn check_more_files(
        &mut self,
        context: &Context,
        subjects: Vec<LanguageFile>,
        (old, new): (&View, &View),
        until: Instant,
        after: &mut BTreeMap<WorkspacePath, FileReport>,
    ) -> bool {
        let count = subjects.len();
        let found = check_files_until(context, subjects.clone(), new, self.mode, until).await;
        let is_all = found.len() == count && found.values().all(|report| report.verdict == Verdict::Complete);
        // Without findings after it, nothing is new, and it is not worth having the server look at the old text again.
        let with_findings: Vec<LanguageFile> = subjects
            .into_iter()
            .filter(|subject| found.get(&subject.path).is_some_and(|report| !report.items.is_empty()))
            .collect();
        let wanted = with_findings.len();
        let before = check_files_until(context, with_findings, old, self.mode, until).await;
        let is_known =
            before.len() == wanted && before.values().all(|report| report.verdict == Verdict::Complete);
        for (path, report) in found {
            if report.items.is_empty()
                || before.get(&path).is_some_and(|known| known.verdict != Verdict::NoData)
            {
                after.insert(path, report);
            }
        }
        self.before.extend(before);
        is_all && is_known
    }

    /// What only shows once an edit is written.
    fn add_dry_run_notes(&self, context: &Context, edits: &[EditedText], delta: &mut DiagnosticsDelta) {
        let others =
            self.subjects.iter().filter(|subject| !edits.iter().any(|edit| edit.path == subject.path));
        let blind: BTreeSet<&str> = others
            .flat_map(|subject| context.servers_for(subject, |features| features.diagnostics))
            .filter(|(_, server)| !server.diagnostics.sees_unsaved)
            .map(|(key, _)| key)
            .collect();
        if !blind.is_empty() {
            let names: Vec<&str> = blind.iter().copied().collect();
            delta.notes.push(format!(
                "{} may read other files from disk: what the edit breaks in them may only show once it is written",
                names.join(", ")
            ));
        }
        let vanishing = edits.iter().any(|edit| edit.renamed_from.is_some() || edit.after.is_none());
        if vanishing {
            // No server can be shown that a file is gone while it is there.
            delta
                .notes
                .push("what misses a file that goes away or moves is only seen once it has".to_owned());
        }
        let is_in_new_folder = |edit: &EditedText| {
            let above = edit.path.parent();
            edit.before.is_none() && above.is_some_and(|above| !context.workspace.exists(&above))
        };
        let new_folder = edits.iter().any(is_in_new_folder);
        if new_folder {
            // Servers look a module up on the disk before they look at what they have open.
            delta.notes.push("servers may miss a new file in a folder that is not there yet".to_owned());
        }
        if delta.verdict == Verdict::Complete && (vanishing || new_folder || !blind.is_empty()) {
            delta.verdict = Verdict::Partial;
        }
    }

    fn delta(
        &self,
        edits: &[EditedText],
        after: &BTreeMap<WorkspacePath, FileReport>,
        unknown: Option<String>,
    ) -> DiagnosticsDelta {
        let (mut added, mut gone, mut unchanged) = (Vec::new(), Vec::new(), 0);
        let mut renamed_away = Vec::new();
        for (path, report) in after {
            let edit = edits.iter().find(|edit| edit.path == *path);
            let old = edit.and_then(|edit| edit.renamed_from.as_ref()).unwrap_or(path);
            renamed_away.push(old.clone());
            if self.before.get(old).is_some_and(|before| before.verdict == Verdict::NoData) {
                // What was there before is not known: it would all seem new.
                continue;
            }
            let lines =
                edit.and_then(|edit| Some(LineMap::between(edit.before.as_ref()?, edit.after.as_ref()?)));
            let before = self.before.get(old).map(|report| report.items.as_slice()).unwrap_or_default();
            let compared = FileComparison { before, after: &report.items, lines: &lines.unwrap_or_default() };
            let (new, lost, stayed) = compare(&compared);
            added.extend(new);
            gone.extend(lost);
            unchanged += stayed;
        }
        for (path, report) in &self.before {
            if !renamed_away.contains(path) {
                gone.extend(report.items.iter().map(delta_item));
            }
        }
        let hints = added.iter().filter(|item| item.severity > FLOOR).count();
        added.retain(|item| item.severity <= FLOOR);
        let (more, has_more) = shorten(&mut added);
        gone.retain(|item| item.severity <= FLOOR);
        let removed = gone.len();
        shorten_gone(&mut gone);
        let errors = after.values().flat_map(|report| &report.items);
        let errors = errors.filter(|item| item.severity == Severity::Error).count();
        let (mut verdict, mut notes) = self.verdict(edits, after);
        let left_out = &self.impact.left_out;
        if !left_out.is_empty() {
            let named: Vec<String> =
                left_out.iter().take(MAX_NAMED_OMITTED_FILES).map(WorkspacePath::display).collect();
            let rest = if left_out.len() > MAX_NAMED_OMITTED_FILES { ", …" } else { "" };
            notes.push(format!(
                "{} more files use what changed and were not looked at: {}{rest}",
                left_out.len(),
                named.join(", ")
            ));
        }
        if self.impact.cut {
            notes.push("the time was up before all files were searched for what changed".to_owned());
        }
        let is_cut = self.impact.cut || !left_out.is_empty() || unknown.is_some();
        notes.extend(unknown.map(|why| format!("{why}: files that were not looked at may break as well")));
        if verdict == Verdict::Complete && is_cut {
            verdict = Verdict::Partial;
        }
        let files = after.keys().map(WorkspacePath::display).collect();
        DiagnosticsDelta {
            added,
            more,
            has_more,
            hints,
            removed,
            gone,
            unchanged,
            errors,
            verdict,
            files,
            notes,
        }
    }

    /// Complete when every file was, both times; no data when none has any, or what is edited has none.
    fn verdict(
        &self,
        edits: &[EditedText],
        after: &BTreeMap<WorkspacePath, FileReport>,
    ) -> (Verdict, Vec<String>) {
        let reports: Vec<&FileReport> = self.before.values().chain(after.values()).collect();
        let all = |verdict: Verdict| reports.iter().all(|report| report.verdict == verdict);
        let is_edited = |path: &WorkspacePath| {
            edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
        };
        let silent = |report: &&&FileReport| report.verdict == Verdict::NoData && is_edited(&report.path);
        let mut notes: Vec<String> = reports
            .iter()
            .filter(|report| report.verdict != Verdict::Complete)
            .filter_map(|report| Some(format!("{}: {}", report.path.display(), report.detail.as_ref()?)))
            .collect();
        notes.sort();
        notes.dedup();
        notes.truncate(3);
        let missing =
            self.subjects.len() > reports.iter().map(|report| &report.path).collect::<BTreeSet<_>>().len();
        let verdict = match () {
            () if all(Verdict::NoData) || reports.iter().any(|report| silent(&report)) => Verdict::NoData,
            () if all(Verdict::Hints) => Verdict::Hints,
            () if all(Verdict::Complete) && !missing => Verdict::Complete,
            () => Verdict::Partial,
        };
        (verdict, notes)
    }
}

/// What the servers that found nothing wrong do not look at. Where a file moves or goes away, that is what it breaks.
fn add_unchecked_notes(
    context: &Context,
    edits: &[EditedText],
    after: &BTreeMap<WorkspacePath, FileReport>,
    delta: &mut DiagnosticsDelta,
) {
    let specs = |report: &FileReport| -> Vec<(String, &ServerSpec)> {
        let keys = report.statuses.iter().map(|status| &status.server);
        keys.filter_map(|key| Some((key.clone(), context.catalogue().servers.get(key)?))).collect()
    };
    let (mut servers, mut unchecked) = (BTreeSet::new(), BTreeSet::new());
    for report in after.values() {
        let asked = specs(report);
        let Some((_, first)) = asked.first() else { continue };
        let by_none = |gap: &&UncheckedAspect| asked.iter().all(|(_, spec)| spec.unchecked.contains(gap));
        let gaps: Vec<UncheckedAspect> = first.unchecked.iter().filter(by_none).copied().collect();
        if !gaps.is_empty() {
            unchecked.extend(gaps);
            servers.extend(asked.into_iter().map(|(key, _)| key));
        }
    }
    if unchecked.is_empty() || !delta.added.is_empty() {
        return;
    }
    let names: Vec<&str> = servers.iter().map(String::as_str).collect();
    let gaps: Vec<&str> = unchecked.iter().map(|gap| gap.name()).collect();
    let (names, do_not) = (names.join(" and "), if names.len() == 1 { "does not" } else { "do not" });
    delta.notes.push(format!("{names} {do_not} check {}", gaps.join(" or ")));
    let vanishing = edits.iter().any(|edit| edit.renamed_from.is_some() || edit.after.is_none());
    if vanishing && unchecked.contains(&UncheckedAspect::Imports) && delta.verdict == Verdict::Complete {
        delta.verdict = Verdict::Partial;
    }
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

/// Whether some server is to be asked about a file. Without one only its syntax can be told, and only where that is wanted.
fn is_asked(context: &Context, subject: &LanguageFile, mode: BreakageMode) -> bool {
    let servers = context.servers_for(subject, |features| features.diagnostics);
    match mode {
        BreakageMode::Unwanted => false,
        BreakageMode::Wanted => subject.language.is_some(),
        BreakageMode::Unsaid => {
            servers.iter().any(|(server, _)| context.manager.running_session(server, &subject.path).is_some())
        }
    }
}

/// How long one look takes at most.
fn check_timeout(context: &Context, mode: BreakageMode) -> Duration {
    let usual = context.config.settings.deadlines.diagnostics;
    if mode == BreakageMode::Unsaid {
        UNREQUESTED_DIAGNOSTICS_TIMEOUT
    } else {
        context.timeout.unwrap_or(usual)
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
    let look = DiagnosticsCheckOptions {
        view: view.clone(),
        until: Some(until),
        running_only: mode == BreakageMode::Unsaid,
        may_be_kept: true,
    };
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

/// The texts of the files that were looked at, before and after `edits`.
fn text_pairs<'p>(
    context: &Context,
    edits: &[EditedText],
    paths: impl Iterator<Item = &'p WorkspacePath>,
) -> BTreeMap<WorkspacePath, FileTextPair> {
    let text = |path: &WorkspacePath| match edits.iter().find(|edit| edit.path == *path) {
        Some(edit) => Some(FileTextPair {
            before: edit.before.clone().unwrap_or_default(),
            after: edit.after.clone().unwrap_or_default(),
            is_near: true,
        }),
        None => {
            let text = context.text(path).ok()?.to_string();
            Some(FileTextPair { before: text.clone(), after: text, is_near: false })
        }
    };
    paths.filter_map(|path| Some((path.clone(), text(path)?))).collect()
}

/// The files of the language, and of those that its server speaks as well, that were not looked at, those that name an edited
/// module first; and whether that is all of them.
async fn remaining_files(
    context: &Context,
    language: &str,
    looked_at: &BTreeMap<WorkspacePath, FileReport>,
    changed: &DeclarationChanges,
) -> (Vec<LanguageFile>, bool) {
    let endings = related_endings(context, language);
    let without: BTreeSet<WorkspacePath> = looked_at.keys().cloned().collect();
    let (near, cut) = occurrences(context, language, changed.modules.clone(), &without).await;
    let limits = WalkLimits {
        max_files: context.config.settings.limits.walk_files,
        deadline: std::time::Instant::now() + BREAKAGE_WALK_TIMEOUT,
    };
    let (workspace, root) = (context.workspace.clone(), WorkspacePath::root());
    let walk = tokio::task::spawn_blocking(move || workspace.files(&root, &limits)).await;
    let Ok(walk) = walk else { return (Vec::new(), false) };
    let speaks =
        |path: &WorkspacePath| path.extension().is_some_and(|is| endings.iter().any(|one| one == is));
    let mut files: Vec<WorkspacePath> =
        walk.files.into_iter().filter(|path| speaks(path) && !without.contains(path)).collect();
    files.sort_by_key(|path| std::cmp::Reverse(near.get(path).map_or(0, Vec::len)));
    let all = !cut && !walk.truncated && files.len() <= MOST_FILES.1;
    files.truncate(MOST_FILES.1);
    (files.into_iter().filter_map(|path| context.language_file(path).ok()).collect(), all)
}
