//! What an edit breaks and mends: the diagnostics of the files it touches and of those that depend on them, before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::answer::Verdict;
use super::context::{Context, Subject};
use super::delta::{Compared, DiagnosticsDelta, compare, delta_item, shorten, shorten_gone};
use super::error::ToolError;
use super::impact::{EditedText, dependents, language_of};
use super::lsp_diagnostics::{FileReport, Look, check};
use crate::config::spec::{Server, Unchecked};
use crate::lsp::model::Severity;
use crate::lsp::view::View;
use crate::text::LineMap;
use crate::workspace::WorkspacePath;

/// How long an edit's answer waits for diagnostics that nobody asked for.
const UNASKED: Duration = Duration::from_secs(3);
/// So many files are asked about at once.
const AT_ONCE: usize = 8;

/// Whether an edit's answer tells what it broke.
///
/// Where the caller does not say, servers that run already are asked, for at most 3 s before and after: that costs a warm
/// project some hundred milliseconds and saves the agent the call that it would otherwise forget. No server is started for
/// it, since a cold start costs more than one edit is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Servers that run already, in a short time.
    Unsaid,
    /// All servers, within the settings' deadline for diagnostics.
    Wanted,
    /// None.
    Unwanted,
}

impl From<Option<bool>> for Wish {
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
pub struct Watch {
    subjects: Vec<Subject>,
    wish: Wish,
    cut: bool,
}

impl Watch {
    /// Whether there is somebody to ask about an edit of `paths`. Only a guess from their names: looking tells.
    pub fn is_likely<'a>(
        context: &Context,
        mut paths: impl Iterator<Item = &'a WorkspacePath>,
        wish: Wish,
    ) -> bool {
        match wish {
            Wish::Unwanted => false,
            Wish::Wanted => true,
            Wish::Unsaid => paths.any(|path| {
                let subject = Subject { path: path.clone(), language: language_of(context, path, None) };
                is_asked(context, &subject, wish)
            }),
        }
    }

    /// Those of `edits`, and those that depend on what they change. `None` where nobody wants to know, or nobody can tell.
    pub async fn of(context: &Context, edits: &[EditedText], wish: Wish) -> Option<Self> {
        if wish == Wish::Unwanted {
            return None;
        }
        let own = edits.iter().flat_map(|edit| {
            let old = edit.renamed_from.as_ref().map(|path| (path, edit.before.as_deref()));
            let text = edit.after.as_deref().or(edit.before.as_deref());
            [Some((&edit.path, text)), old].into_iter().flatten()
        });
        let mut subjects: Vec<Subject> = own
            .map(|(path, text)| Subject { path: path.clone(), language: language_of(context, path, text) })
            .filter(|subject| is_asked(context, subject, wish))
            .collect();
        if subjects.is_empty() {
            return None;
        }
        context.manager.refresh().await;
        let (others, cut) = dependents(context, edits).await;
        subjects.extend(others.into_iter().filter(|subject| is_asked(context, subject, wish)));
        Some(Self { subjects, wish, cut })
    }

    /// The files.
    pub fn paths(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.subjects.iter().map(|subject| &subject.path)
    }

    /// Looks at what is there before `edits` are made.
    pub async fn before(self, context: &Context, edits: &[EditedText]) -> Baseline {
        let Self { subjects, wish, cut } = self;
        let there = |subject: &&Subject| {
            // A file that the edit creates has no findings before it.
            !edits.iter().any(|edit| {
                edit.path == subject.path && (edit.before.is_none() || edit.renamed_from.is_some())
            })
        };
        let existing: Vec<Subject> = subjects.iter().filter(there).cloned().collect();
        let before = look(context, existing, &context.view, wish).await;
        Baseline { subjects, before, wish, cut }
    }
}

/// What was found before an edit.
#[derive(Debug)]
pub struct Baseline {
    subjects: Vec<Subject>,
    before: BTreeMap<WorkspacePath, FileReport>,
    wish: Wish,
    cut: bool,
}

impl Baseline {
    /// Looks at `subjects` as they are on disk, whatever the caller sees, before something that nobody can foresee.
    pub async fn of(context: &Context, subjects: Vec<Subject>) -> Self {
        let before = look(context, subjects.clone(), &View::disk(), Wish::Wanted).await;
        Self { subjects, before, wish: Wish::Wanted, cut: false }
    }

    /// Has one more file looked at afterwards, of which nothing is known before.
    pub fn add(&mut self, subject: Subject) {
        if !self.subjects.iter().any(|known| known.path == subject.path) {
            self.subjects.push(subject);
        }
    }

    /// What is different now that `edits` are made: on disk, or in `view` only.
    pub async fn compare(self, context: &Context, edits: &[EditedText], view: &View) -> DiagnosticsDelta {
        context.manager.refresh().await;
        let is_gone = |subject: &&Subject| {
            !edits.iter().any(|edit| {
                edit.renamed_from.as_ref() == Some(&subject.path)
                    || (edit.path == subject.path && edit.after.is_none())
            })
        };
        let left: Vec<Subject> = self.subjects.iter().filter(is_gone).cloned().collect();
        let after = look(context, left, view, self.wish).await;
        let mut delta = self.delta(edits, &after);
        say_what_nobody_checked(context, edits, &after, &mut delta);
        if edits.iter().any(|edit| view.unsaved(&edit.path).is_some()) {
            self.say_what_a_trial_cannot_show(context, edits, &mut delta);
        }
        delta
    }

    /// What only shows once an edit is written.
    fn say_what_a_trial_cannot_show(
        &self,
        context: &Context,
        edits: &[EditedText],
        delta: &mut DiagnosticsDelta,
    ) {
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
        if delta.verdict == Verdict::Complete && (vanishing || !blind.is_empty()) {
            delta.verdict = Verdict::Partial;
        }
    }

    fn delta(&self, edits: &[EditedText], after: &BTreeMap<WorkspacePath, FileReport>) -> DiagnosticsDelta {
        let (mut added, mut gone, mut unchanged) = (Vec::new(), Vec::new(), 0);
        let mut renamed_away = Vec::new();
        for (path, report) in after {
            let edit = edits.iter().find(|edit| edit.path == *path);
            let old = edit.and_then(|edit| edit.renamed_from.as_ref()).unwrap_or(path);
            renamed_away.push(old.clone());
            let lines =
                edit.and_then(|edit| Some(LineMap::between(edit.before.as_ref()?, edit.after.as_ref()?)));
            let before = self.before.get(old).map(|report| report.items.as_slice()).unwrap_or_default();
            let compared = Compared { before, after: &report.items, lines: &lines.unwrap_or_default() };
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
        let has_more = shorten(&mut added);
        let removed = gone.len();
        shorten_gone(&mut gone);
        let errors = after.values().flat_map(|report| &report.items);
        let errors = errors.filter(|item| item.severity == Severity::Error).count();
        let (verdict, mut notes) = self.verdict(after);
        if self.cut {
            notes.push("more files mention what changed; only the likeliest were looked at".to_owned());
        }
        let files = after.keys().map(WorkspacePath::display).collect();
        DiagnosticsDelta { added, removed, gone, unchanged, errors, has_more, verdict, files, notes }
    }

    /// Complete when every file was, both times; no data when none has any.
    fn verdict(&self, after: &BTreeMap<WorkspacePath, FileReport>) -> (Verdict, Vec<String>) {
        let reports: Vec<&FileReport> = self.before.values().chain(after.values()).collect();
        let all = |verdict: Verdict| reports.iter().all(|report| report.verdict == verdict);
        let any = |verdict: Verdict| reports.iter().any(|report| report.verdict == verdict);
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
            () if reports.is_empty() || any(Verdict::NoData) => Verdict::NoData,
            () if all(Verdict::Hints) => Verdict::Hints,
            () if all(Verdict::Complete) && !self.cut && !missing => Verdict::Complete,
            () => Verdict::Partial,
        };
        (verdict, notes)
    }
}

/// What the servers that found nothing wrong do not look at. Where a file moves or goes away, that is what it breaks.
fn say_what_nobody_checked(
    context: &Context,
    edits: &[EditedText],
    after: &BTreeMap<WorkspacePath, FileReport>,
    delta: &mut DiagnosticsDelta,
) {
    let specs = |report: &FileReport| -> Vec<(String, &Server)> {
        let keys = report.statuses.iter().map(|status| &status.server);
        keys.filter_map(|key| Some((key.clone(), context.catalogue().servers.get(key)?))).collect()
    };
    let (mut servers, mut unchecked) = (BTreeSet::new(), BTreeSet::new());
    for report in after.values() {
        let asked = specs(report);
        let Some((_, first)) = asked.first() else { continue };
        let by_none = |gap: &&Unchecked| asked.iter().all(|(_, spec)| spec.unchecked.contains(gap));
        let gaps: Vec<Unchecked> = first.unchecked.iter().filter(by_none).copied().collect();
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
    if vanishing && unchecked.contains(&Unchecked::Imports) && delta.verdict == Verdict::Complete {
        delta.verdict = Verdict::Partial;
    }
}

/// What `view` shows once `edits` are made and nothing of them is on disk. Files that go away stay as they are: no server can be
/// shown that a file is not there while it is.
pub fn tried(view: &View, edits: &[EditedText]) -> View {
    let texts = edits.iter().filter_map(|edit| Some((edit.path.clone(), Arc::from(edit.after.as_deref()?))));
    view.with(texts)
}

/// What `view` shows once `edits` are on disk: what was unsaved there was the text before them.
pub fn saved(view: &View, edits: &[EditedText]) -> View {
    view.only(|path, _| {
        !edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
    })
}

/// Whether some server is to be asked about a file. Without one only its syntax can be told, and only where that is wanted.
fn is_asked(context: &Context, subject: &Subject, wish: Wish) -> bool {
    let servers = context.servers_for(subject, |features| features.diagnostics);
    match wish {
        Wish::Unwanted => false,
        Wish::Wanted => subject.language.is_some(),
        Wish::Unsaid => {
            servers.iter().any(|(server, _)| context.manager.running(server, &subject.path).is_some())
        }
    }
}

/// What the servers say of `subjects` in `view`; a file that cannot be read is left out.
async fn look(
    context: &Context,
    subjects: Vec<Subject>,
    view: &View,
    wish: Wish,
) -> BTreeMap<WorkspacePath, FileReport> {
    let usual = context.config.settings.deadlines.diagnostics;
    let limit = if wish == Wish::Unsaid { UNASKED } else { context.timeout.unwrap_or(usual) };
    let look =
        Look { view: view.clone(), until: Some(Instant::now() + limit), running_only: wish == Wish::Unsaid };
    let reports: Vec<Result<FileReport, ToolError>> = futures::stream::iter(subjects)
        .map(|subject| check(context, subject, &look))
        .buffered(AT_ONCE)
        .collect()
        .await;
    let readable = reports
        .into_iter()
        .filter_map(|report| report.inspect_err(|error| tracing::debug!("not compared: {error}")).ok());
    readable.map(|report| (report.path.clone(), report)).collect()
}
