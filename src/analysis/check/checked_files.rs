//! The check of files: the diagnostics of one file, many files, or the whole workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::file_check::{FileCheckOptions, FindingsReuse, check_file};
use super::file_report::FileReport;
use super::left_out_files::{CheckScopes, LeftOutFiles};
use super::notebook_check::{unread_notes, with_kernel_language};
use super::opened_ahead::open_ahead;
use crate::analysis::answer::{Answer, DiagnosticsOutput, FileVerdict, ServerState, ServerStatus, Verdict};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::analysis::items::budget::ListBudget;
use crate::config::PrimaryLanguages;
use crate::lsp::model::Severity;
use crate::lsp::session::progress::ProgressEvent;
use crate::workspace::WorkspacePath;

/// The number of files that are checked concurrently.
const MAX_CONCURRENT_FILE_CHECKS: usize = 8;
/// The number of batches into which a check divides the documents that may be open at a server.
const BATCHES_OF_OPEN_DOCUMENTS: usize = 4;
/// The number of late files that are checked again concurrently. Fewer files at a time are less
/// likely to time out again.
const MAX_CONCURRENT_FILE_RECHECKS: usize = 2;
/// The number of consecutive timeouts in the second round after which the server counts as
/// unresponsive.
const MAX_CONSECUTIVE_LATE_CHECKS: usize = 4;

/// The default number of listed findings.
pub(crate) const DEFAULT_DIAGNOSTIC_LIMIT: usize = 100;

/// A request for the diagnostics of files.
#[derive(Debug, Clone, Default)]
pub(crate) struct CheckRequest {
    /// Files and folders; none for the workspace.
    pub(crate) paths: Vec<PathBuf>,
    /// The lowest severity of the listed findings; `information` by default.
    pub(crate) min_severity: Option<Severity>,
    /// The maximum number of listed findings.
    pub(crate) limit: Option<usize>,
    /// The maximum duration of the whole check.
    pub(crate) timeout: Option<Duration>,
    /// True if no stored reports are used.
    pub(crate) asks_anew: bool,
    /// A request about the same files that is sent before the check.
    pub(crate) first: Option<Arc<dyn BeforeCheck>>,
}

impl CheckRequest {
    /// The lowest severity of the listed findings.
    pub(crate) fn floor(&self) -> Severity {
        self.min_severity.unwrap_or(Severity::Information)
    }
}

/// A request about files that a caller in this process sends before they are checked.
pub(crate) trait BeforeCheck: std::fmt::Debug + Send + Sync {
    /// Sends the request. The files are those of the check, which the rules allow.
    fn ask<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// Returns the diagnostics of the files that `request` names.
pub(crate) async fn check(
    context: &Context,
    request: &CheckRequest,
) -> Result<Answer<DiagnosticsOutput>, ToolError> {
    let (mut subjects, named) = subjects(context, &request.paths)?;
    let left_out = leave_out(context, request, &mut subjects, &named);
    let languages = subjects.iter().filter_map(|subject| subject.language.as_deref());
    let primary = PrimaryLanguages::of_files(context.catalogue(), languages);
    let is_needed = |subject: &&LanguageFile| {
        named.contains(&subject.path)
            || subject.language.as_ref().is_none_or(|language| primary.has(language))
    };
    context.prepare_for(subjects.iter().filter(is_needed)).await?;
    context.manager.refresh().await;
    if let Some(first) = &request.first {
        first.ask(context).await?;
    }
    let begun = Instant::now();
    let until = request.timeout.map(|timeout| begun + timeout);
    let mut options = FileCheckOptions {
        view: context.view.clone(),
        until,
        reuse: match request.first {
            Some(_) => FindingsReuse::Recent,
            None => FindingsReuse::Lasting,
        },
        left_out,
        ..FileCheckOptions::default()
    };
    let is_root = |path: &PathBuf| context.path(path).is_ok_and(|path| path.is_root());
    let is_whole = request.paths.iter().all(is_root);
    // A digest costs more than the check of a few files.
    let is_worthwhile = is_whole || context.config.settings.answer_store.is_some();
    if is_worthwhile && !request.asks_anew {
        options.find_stored(context, &subjects, is_whole).await;
    }
    let checked = check_files(context, (subjects, &named), &options).await?;
    let DiagnosedFiles { reports, mut unread } = checked;
    let mut reports: Vec<FileReport> = reports.into_values().collect();
    set_secondary(&primary, &named, &mut reports);
    if is_whole {
        options.stored.save(context, &reports).await;
    }
    let mut answer = answer(context, request, reports);
    unread.sort();
    answer.notes.extend(unread);
    answer.notes.extend(options.stored.notes(begun.elapsed()));
    answer.notes.extend(options.left_out.notes());
    answer.notes.extend(context.manager.over_budget_news().map(|over| over.to_string()));
    Ok(answer)
}

/// The files of a check of the whole workspace, and its options.
pub(super) fn whole_check(context: &Context) -> Result<(Vec<LanguageFile>, FileCheckOptions), ToolError> {
    let (mut subjects, named) = subjects(context, &[])?;
    let left_out = leave_out(context, &CheckRequest::default(), &mut subjects, &named);
    Ok((subjects, FileCheckOptions { left_out, ..FileCheckOptions::default() }))
}

/// Checks many files, of which some were given by name. Files that timed out while their server
/// answered for others are checked again.
///
/// # Errors
/// If a file given by name cannot be read.
pub(crate) async fn check_files(
    context: &Context,
    (subjects, named): (Vec<LanguageFile>, &BTreeSet<WorkspacePath>),
    options: &FileCheckOptions,
) -> Result<DiagnosedFiles, ToolError> {
    let total = subjects.len();
    let mut checked = DiagnosedFiles::default();
    let mut left = subjects;
    let mut at_once = MAX_CONCURRENT_FILE_CHECKS;
    loop {
        let requested = left.len();
        let mut late = checked.add(context, (left, named), options, (at_once, total)).await?;
        let has_progressed = late.len() < requested;
        // Where the server answered for other files, or was still starting, the late files waited
        // for their turn and get the whole deadline again.
        late.retain(|LanguageFile { path, .. }| {
            let has_answered = |ServerStatus { server, .. }: &ServerStatus| {
                options.silence.has_answered(&(server.clone(), context.manager.root(server, path)))
            };
            let mut late = checked.reports[path].late_servers();
            late.any(|status| status.state != ServerState::Timeout || has_answered(status))
        });
        let goes_on = has_progressed && options.until.is_none_or(|until| Instant::now() < until);
        if late.is_empty() || !goes_on {
            return Ok(checked);
        }
        (left, at_once) = (late, MAX_CONCURRENT_FILE_RECHECKS);
    }
}

/// The results of the files so far.
#[derive(Default)]
pub(crate) struct DiagnosedFiles {
    /// The reports, by path.
    pub reports: BTreeMap<WorkspacePath, FileReport>,
    /// The reasons that some files were not checked at all.
    unread: Vec<String>,
}

impl DiagnosedFiles {
    /// Checks files, of which some were given by name, `at_once` at a time, and reports the
    /// progress out of `total`. Returns the files that timed out.
    async fn add(
        &mut self,
        context: &Context,
        (subjects, named): (Vec<LanguageFile>, &BTreeSet<WorkspacePath>),
        options: &FileCheckOptions,
        (at_once, total): (usize, usize),
    ) -> Result<Vec<LanguageFile>, ToolError> {
        let mut late: Vec<LanguageFile> = Vec::new();
        let mut in_a_row = 0;
        let again = at_once == MAX_CONCURRENT_FILE_RECHECKS;
        let mut rest: BTreeMap<WorkspacePath, LanguageFile> =
            subjects.iter().map(|subject| (subject.path.clone(), subject.clone())).collect();
        // Each language has its own queue, so that a slow server delays no other.
        let mut queues: BTreeMap<Option<String>, Vec<LanguageFile>> = BTreeMap::new();
        for subject in subjects {
            queues.entry(subject.language.clone()).or_default().push(subject);
        }
        let check = |subject: LanguageFile| async {
            let report = check_file(context, subject.clone(), options).await;
            (subject, report)
        };
        let queues = queues.into_values().map(|queue| {
            let batches = batches_of(context, queue, at_once);
            let opened = futures::stream::iter(batches).then(|batch| async {
                open_ahead(context, &batch, options).await;
                batch
            });
            let checked = opened.flat_map(|batch| {
                futures::stream::iter(batch.into_iter().map(check)).buffer_unordered(at_once)
            });
            Box::pin(checked)
        });
        let mut running = futures::stream::select_all(queues);
        while let Some((subject, report)) = running.next().await {
            rest.remove(&subject.path);
            match report {
                Ok(report) => {
                    let was_late = report.late_servers().next().is_some();
                    in_a_row = if was_late { in_a_row + 1 } else { 0 };
                    self.reports.insert(subject.path.clone(), report);
                    if was_late {
                        late.push(subject);
                    }
                }
                // A file of a folder that is not text or was deleted does not fail the check of the
                // others.
                Err(error) if !named.contains(&subject.path) => {
                    self.unread.push(format!("{}; it was not checked", error.error));
                }
                Err(error) => return Err(error),
            }
            let done = self.reports.len() + self.unread.len();
            context.send_progress(ProgressEvent::FilesChecked { done, total });
            if again && in_a_row >= MAX_CONSECUTIVE_LATE_CHECKS {
                late.extend(rest.into_values());
                break;
            }
        }
        Ok(late)
    }
}

/// Divides files into batches, the first of `at_once` files: their checks start the servers.
fn batches_of(context: &Context, mut files: Vec<LanguageFile>, at_once: usize) -> Vec<Vec<LanguageFile>> {
    let size = context.config.settings.servers.max_open_documents / BATCHES_OF_OPEN_DOCUMENTS;
    let rest = files.split_off(at_once.min(files.len()));
    let rest = rest.chunks(size.max(at_once)).map(<[_]>::to_vec);
    std::iter::once(files).chain(rest).collect()
}

/// The files to check, and those of them given by name. A file given by name must exist and be
/// text. Folders contribute notebooks, and files of languages with a server.
fn subjects(
    context: &Context,
    paths: &[PathBuf],
) -> Result<(Vec<LanguageFile>, BTreeSet<WorkspacePath>), ToolError> {
    let mut found: Vec<LanguageFile> = Vec::new();
    let mut folders = Vec::new();
    if paths.is_empty() {
        folders.push(WorkspacePath::root());
    }
    for given in paths {
        let path = context.path(given)?;
        if context.workspace.absolute(&path).is_dir() {
            folders.push(path)
        } else {
            found.push(with_kernel_language(context, context.language_file_unchecked(path)?))
        }
    }
    let named = found.iter().map(|subject| subject.path.clone()).collect();
    for folder in folders {
        let has_server = |subject: &LanguageFile| {
            subject.path.is_notebook()
                || !context.servers_for(subject, |features| features.diagnostics).is_empty()
        };
        let files = context.source_files(&folder)?.into_iter();
        found.extend(files.map(|file| with_kernel_language(context, file)).filter(has_server));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Ok((found, named))
}

/// Removes files not given by name that their project's settings exclude from every check. Returns
/// the files that some servers do not check.
fn leave_out(
    context: &Context,
    request: &CheckRequest,
    subjects: &mut Vec<LanguageFile>,
    named: &BTreeSet<WorkspacePath>,
) -> LeftOutFiles {
    let folders: Vec<WorkspacePath> =
        request.paths.iter().filter_map(|path| context.path(path).ok()).collect();
    let mut scopes = CheckScopes::new(context, folders);
    subjects.retain(|subject| named.contains(&subject.path) || !scopes.leaves_out(subject));
    scopes.left_out
}

/// Marks files of secondary languages that have no server, except those given by name.
pub(crate) fn set_secondary(
    primary: &PrimaryLanguages,
    named: &BTreeSet<WorkspacePath>,
    reports: &mut [FileReport],
) {
    let may_be_secondary =
        |report: &&mut FileReport| !named.contains(&report.path) && !report.path.is_notebook();
    for report in reports.iter_mut().filter(may_be_secondary) {
        let is_primary = report.statuses.first().is_none_or(|status| primary.has(&status.language));
        report.secondary = report.verdict == Verdict::Hints && (!is_primary || report.is_skipped());
    }
}

/// The combined answer of `reports`.
pub(crate) fn answer(
    context: &Context,
    request: &CheckRequest,
    reports: Vec<FileReport>,
) -> Answer<DiagnosticsOutput> {
    let floor = request.floor();
    let limit = request.limit.unwrap_or(DEFAULT_DIAGNOSTIC_LIMIT);
    let unchecked = reports.iter().filter(|report| report.unchecked).count();
    let looked_at: Vec<String> = reports.iter().map(|report| report.path.display()).collect();
    let judged = |report: &&FileReport| !report.secondary;
    let verdict = Verdict::of_all(reports.iter().filter(judged).map(|report| report.verdict));
    let incomplete: Vec<FileVerdict> = reports
        .iter()
        .filter(judged)
        .filter(|report| report.verdict != Verdict::Complete)
        .map(|report| FileVerdict {
            path: report.path.display(),
            verdict: report.verdict,
            detail: report.detail.clone(),
        })
        .collect();
    let (mut statuses, mut notes, mut diagnostics) = (Vec::new(), unchecked_notes(&reports), Vec::new());
    notes.extend(unread_notes(&reports));
    // The reason of a verdict is not repeated here.
    let is_said = |note: &String| {
        incomplete.iter().any(|file| file.detail.as_ref().is_some_and(|reason| note.ends_with(reason)))
    };
    notes.extend(context.set_up_notes_of(&reports).into_iter().filter(|note| !is_said(note)));
    for report in reports {
        let is_skipped = report.secondary && report.is_skipped();
        // A server that does not check the file is named in a note, unless it lowers the verdict.
        let is_counted = |status: &ServerStatus| {
            !report.secondary && (status.state != ServerState::Unsupported || status.detail == report.detail)
        };
        for status in report.statuses.into_iter().filter(is_counted) {
            merge_status(&mut statuses, status);
        }
        if !is_skipped {
            notes.extend(report.notes);
            diagnostics.extend(report.items.into_iter().filter(|item| item.severity <= floor));
        }
    }
    notes.sort();
    notes.dedup();
    let count = diagnostics.len();
    let diagnostics = ListBudget::for_list(context, limit).fill(diagnostics, limit);
    let server_status = worst_status(&statuses).unwrap_or_else(|| ServerStatus {
        language: "unknown".to_owned(),
        server: String::new(),
        state: ServerState::Missing,
        detail: Some("there are no files of a language with a server".to_owned()),
        judge: None,
        install: None,
        hint: None,
        installer: None,
        waited_ms: 0,
    });
    let servers = if statuses.len() > 1 { statuses } else { Vec::new() };
    let (has_more, files) = (count > diagnostics.len(), looked_at.len());
    let output = DiagnosticsOutput { diagnostics, count, has_more, files, unchecked, incomplete, looked_at };
    Answer { ok: true, output, resolved: None, server_status, servers, verdict, notes }
}

/// Notes on files that no server has checked, counted by language.
fn unchecked_notes(reports: &[FileReport]) -> Vec<String> {
    let without_server = || reports.iter().filter(|report| !report.is_skipped());
    let unchecked = without_server().filter(|report| report.unchecked && report.verdict == Verdict::Hints);
    let parsed = without_server().filter(|report| report.secondary && !report.unchecked);
    let notes = [
        count_note(unchecked.collect(), "not checked: no server and no parser"),
        count_note(parsed.collect(), "checked for syntax errors only: no server"),
    ];
    notes.into_iter().flatten().collect()
}

fn count_note(files: Vec<&FileReport>, reason: &str) -> Option<String> {
    match files.as_slice() {
        [] => None,
        [one] => Some(format!("{} was {reason}", one.path.display())),
        several => {
            let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
            for report in several {
                let language = report.statuses.first().map_or("unknown", |status| status.language.as_str());
                *languages.entry(language).or_default() += 1;
            }
            let counts = languages.iter().map(|(language, files)| format!("{language} {files}"));
            let counts = counts.collect::<Vec<_>>().join(", ");
            Some(format!("{} files were {reason} ({counts})", several.len()))
        }
    }
}

/// Merges statuses of the same server and state, and keeps the longest wait and the first detail.
fn merge_status(statuses: &mut Vec<ServerStatus>, status: ServerStatus) {
    let same = |known: &&mut ServerStatus| {
        known.server == status.server
            && known.state == status.state
            && known.language == status.language
            && (!known.server.is_empty() || known.detail == status.detail)
    };
    match statuses.iter_mut().find(same) {
        Some(known) => {
            known.waited_ms = known.waited_ms.max(status.waited_ms);
            known.detail = known.detail.take().or(status.detail);
        }
        None => statuses.push(status),
    }
}

/// The most important status: the one that makes the answer incomplete.
fn worst_status(statuses: &[ServerStatus]) -> Option<ServerStatus> {
    let rank = |status: &&ServerStatus| match status.state {
        ServerState::Ready => 0,
        ServerState::Indexing => 1,
        ServerState::Unsupported => 2,
        ServerState::Disabled => 3,
        ServerState::Missing => 4,
        ServerState::Starting => 5,
        ServerState::Timeout => 6,
        ServerState::Failed => 7,
        ServerState::Crashed => 8,
    };
    statuses.iter().max_by_key(rank).cloned()
}
