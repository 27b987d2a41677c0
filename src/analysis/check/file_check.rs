//! The check of one file by each of its servers, or by its syntax tree if it has none.

use std::sync::Arc;

use tokio::time::Instant;

use super::file_report::FileReport;
use super::left_out_files::LeftOutFiles;
use super::notebook_check::{unread_status, unreadable_notebook, with_kernel_language};
use super::server_silence::ServerSilence;
use super::stored_reports::{ServerAtRoot, StoredReports};
use crate::analysis::answer::{DiagnosticItem, ServerState, ServerStatus, Verdict};
use crate::analysis::ask::fallback;
use crate::analysis::context::{Context, LanguageFile, from_read_error};
use crate::analysis::error::ToolError;
use crate::analysis::items::diagnostic_item::to_item;
use crate::config::spec::ServerSpec;
use crate::lsp::diagnostics::findings::{BackgroundFindings, DiagnosticsCompleteness, ServerFileDiagnostics};
use crate::lsp::documents::view::View;
use crate::lsp::model::Diagnostic;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::rpc::RequestError;
use crate::workspace::WorkspacePath;

/// A choice of earlier findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FindingsReuse {
    /// None.
    #[default]
    None,
    /// Those of a request just before, of all servers.
    Recent,
    /// Those of any age, of servers that learn of all changes from this program.
    Lasting,
}

/// Options of the check of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileCheckOptions {
    /// The texts that are checked.
    pub view: View,
    /// The deadline, if it is before that of the settings.
    pub until: Option<Instant>,
    /// The earlier findings that may be reused while nothing has changed.
    pub reuse: FindingsReuse,
    /// The files that some of the servers do not check.
    pub left_out: LeftOutFiles,
    /// The reports of an earlier check of an equal tree.
    pub stored: Arc<StoredReports>,
    /// The record of servers that answer for no file.
    pub silence: Arc<ServerSilence>,
}

impl FileCheckOptions {
    /// The deadline of the check of a file that begins now.
    pub(super) fn deadline(&self, context: &Context) -> Instant {
        let usual = context.deadline(context.config.settings.deadlines.diagnostics);
        self.until.map_or(usual, |until| until.min(usual))
    }

    /// The servers that check `subject`.
    pub(super) fn servers<'a>(
        &self,
        context: &'a Context,
        subject: &LanguageFile,
    ) -> Vec<(&'a str, &'a ServerSpec)> {
        let mut servers = context.servers_for(subject, |features| features.diagnostics);
        servers.retain(|(server, _)| !self.left_out.has(server, &subject.path));
        servers
    }

    /// Finds the stored reports for `subjects`; missing ones are stored later if `stores`.
    pub(crate) async fn find_stored(&mut self, context: &Context, subjects: &[LanguageFile], stores: bool) {
        if self.view.is_disk() {
            let subjects = subjects.iter().map(|subject| (subject, self.servers(context, subject)));
            self.stored = Arc::new(
                StoredReports::find(context, subjects, stores, self.until.map(Instant::into_std)).await,
            );
            self.stored.servers().for_each(|server| self.silence.record_answer(server));
        }
    }

    /// Records that a server did not answer for a file, unless it says that it is working.
    fn record_silence(&self, session: &Session, asked: Instant) {
        if session.unfinished_work().is_none() {
            self.silence.record_silence(&server_of(session), asked);
        }
    }

    /// The earlier findings of a server in a file that are reused.
    pub(super) fn kept_findings(
        &self,
        session: &Session,
        path: &WorkspacePath,
    ) -> Option<ServerFileDiagnostics> {
        match self.reuse {
            _ if !self.view.is_disk() => None,
            FindingsReuse::None => None,
            FindingsReuse::Recent => session.kept_diagnostics(path),
            FindingsReuse::Lasting => session.lasting_diagnostics(path),
        }
    }
}

/// Requests the diagnostics of one file from every server.
pub(crate) async fn check_file(
    context: &Context,
    subject: LanguageFile,
    options: &FileCheckOptions,
) -> Result<FileReport, ToolError> {
    if let Some(report) = options.stored.report(&subject.path) {
        return Ok(report);
    }
    let subject = with_kernel_language(context, subject);
    if subject.path.is_notebook() && subject.language.is_none() {
        return Ok(unreadable_notebook(context, &subject));
    }
    if options.view.unsaved(&subject.path).is_none() {
        context.must_be_text(&subject.path)?;
    }
    let deadline = options.deadline(context);
    let servers = options.servers(context, &subject);
    let requests =
        servers.iter().map(|(server, _)| check_with_server(context, server, &subject, options, deadline));
    let answers = futures::future::join_all(requests).await;
    let mut report = FileReport::new(subject.path.clone());
    let mut knowns = Vec::new();
    for answer in answers {
        match answer {
            Ok((status, fresh)) => {
                report.statuses.push(status);
                let items = |found: &[Diagnostic]| -> Vec<DiagnosticItem> {
                    found.iter().map(|item| to_item(context, &subject.path, item)).collect()
                };
                report.items.extend(items(&fresh.items));
                report.lacks_background |= matches!(fresh.background, BackgroundFindings::Missing(_));
                if let BackgroundFindings::Missing(own) | BackgroundFindings::Whole(own) = &fresh.background {
                    report.background.extend(items(own));
                }
                report.notes.extend(fresh.notes);
                knowns.push(fresh.known);
            }
            Err(MissingDiagnosticsReason::Server(status)) => {
                let reason = status.detail.clone().unwrap_or_default();
                let was_asked = !is_absent(&status) && status.state != ServerState::Unsupported;
                report.statuses.push(status);
                knowns.push(if !was_asked {
                    DiagnosticsCompleteness::Partial(reason)
                } else {
                    DiagnosticsCompleteness::NoData(reason)
                });
            }
            Err(MissingDiagnosticsReason::Us(error)) => return Err(error),
        }
    }
    let is_unchecked =
        report.statuses.iter().all(|status| is_absent(status) || status.state == ServerState::Unsupported);
    let is_absent_or_skipped =
        report.statuses.iter().all(is_absent) || knowns.iter().any(|known| known.is_skip());
    if is_unchecked && is_absent_or_skipped {
        return without_server(context, subject, &options.view, report).await;
    }
    (report.verdict, report.detail) = combine_completeness(&knowns);
    report.unchecked = subject.path.is_notebook() && is_unchecked;
    report.items.sort_by(|a, b| (a.range, a.severity, &a.message).cmp(&(b.range, b.severity, &b.message)));
    report.items.dedup_by(|a, b| a.range == b.range && a.message == b.message);
    Ok(report)
}

/// Returns true if the server is missing or not allowed to run, so it was never asked.
fn is_absent(status: &ServerStatus) -> bool {
    matches!(status.state, ServerState::Missing | ServerState::Disabled)
}

/// The combined verdict: complete if all are, no data if none has any, partial otherwise. Includes
/// the first reason.
fn combine_completeness(knowns: &[DiagnosticsCompleteness]) -> (Verdict, Option<String>) {
    let mut asked = knowns.iter().filter(|known| !known.is_skip());
    let reason = asked.clone().find_map(|known| known.reason().cloned());
    let none = asked.all(|known| matches!(known, DiagnosticsCompleteness::NoData(_)));
    let verdict = match (&reason, none) {
        (None, _) => Verdict::Complete,
        (Some(_), true) => Verdict::NoData,
        (Some(_), false) => Verdict::Partial,
    };
    (verdict, reason)
}

/// The reason that a server's findings are missing.
enum MissingDiagnosticsReason {
    /// The state of the server.
    Server(ServerStatus),
    /// An error of this program.
    Us(ToolError),
}

/// The findings of a server in a file as `view` shows it, including those of its background check
/// if the view is the disk.
async fn ask_for_findings(
    session: &Session,
    subject: &LanguageFile,
    view: &View,
    deadline: Instant,
) -> Result<ServerFileDiagnostics, AskError> {
    let path = &subject.path;
    if let (true, Some(language)) = (path.is_notebook(), &subject.language) {
        let _view_guard = session.enter_view(view, deadline).await?;
        return session.notebook_diagnostics(path, language, deadline).await;
    }
    loop {
        let is_checked = match view.is_disk() && session.has_background_check() {
            true => Box::pin(session.run_background_check(path, deadline)).await?,
            false => true,
        };
        let viewing = session.enter_view(view, deadline).await?;
        let found = session.diagnostics(path, deadline).await?;
        // A file that changes during the request needs another check.
        let is_due = session.owes_background_check();
        drop(viewing);
        if !is_due || !is_checked || Instant::now() >= deadline {
            return Ok(found);
        }
    }
}

/// Sends a request to one server, and repeats it once if the server exits meanwhile.
async fn check_with_server(
    context: &Context,
    server: &str,
    subject: &LanguageFile,
    options: &FileCheckOptions,
    deadline: Instant,
) -> Result<(ServerStatus, ServerFileDiagnostics), MissingDiagnosticsReason> {
    let started = Instant::now();
    let mut has_crashed = false;
    loop {
        let session = context.session(server, subject, deadline).await;
        let session =
            session.map_err(|status| MissingDiagnosticsReason::Server(with_timeout(context, status)))?;
        if let Some(status) = unread_status(context, &session, subject) {
            return Err(MissingDiagnosticsReason::Server(status));
        }
        if let Some(fresh) = options.kept_findings(&session, &subject.path) {
            options.silence.record_answer(&server_of(&session));
            return Ok((answered_status(context, (server, &session), subject, &fresh, started), fresh));
        }
        let limit = deadline.saturating_duration_since(started);
        if let Some(files) = options.silence.unanswered(&server_of(&session), limit) {
            let mut status = context.status(server, subject, ServerState::Timeout, started);
            let why = session.diagnostics_shortfall_clause(&subject.path);
            status.detail =
                Some(format!("not asked, because {server} answered for none of {files} files{why}"));
            return Err(MissingDiagnosticsReason::Server(status));
        }
        match ask_for_findings(&session, subject, &options.view, deadline).await {
            Ok(mut fresh) => {
                let mut status = answered_status(context, (server, &session), subject, &fresh, started);
                match fresh.known {
                    DiagnosticsCompleteness::NoData(_) => options.record_silence(&session, started),
                    _ => options.silence.record_answer(&server_of(&session)),
                }
                if fresh.known.lacks_findings()
                    && let Some(busy) = session.unfinished_work()
                {
                    context.note_busy(&mut status, &busy, true);
                }
                fresh.notes.extend(session.restart_note(has_crashed));
                return Ok((status, fresh));
            }
            Err(AskError::Read(error)) => return Err(MissingDiagnosticsReason::Us(from_read_error(error))),
            Err(error) if error.is_closed() && !has_crashed => has_crashed = true,
            Err(error) => {
                if matches!(error, AskError::Request(RequestError::Timeout { .. })) {
                    options.record_silence(&session, started);
                }
                let status = context.failed_status(&session, subject, &error, started).await;
                return Err(MissingDiagnosticsReason::Server(with_timeout(context, status)));
            }
        }
    }
}

/// The server of a session, with its root.
fn server_of(session: &Session) -> ServerAtRoot {
    (session.server().to_owned(), session.root.clone())
}

/// The status of a server with its findings.
fn answered_status(
    context: &Context,
    (server, session): (&str, &Session),
    subject: &LanguageFile,
    fresh: &ServerFileDiagnostics,
    started: Instant,
) -> ServerStatus {
    let (state, detail) = match &fresh.known {
        DiagnosticsCompleteness::Complete => (ServerState::Ready, None),
        DiagnosticsCompleteness::Partial(why) if session.is_lasting_lack(&subject.path, why) => {
            (ServerState::Ready, Some(why))
        }
        DiagnosticsCompleteness::Partial(why) => (ServerState::Indexing, Some(why)),
        DiagnosticsCompleteness::NoData(why) => (ServerState::Timeout, Some(why)),
        DiagnosticsCompleteness::Skipped(why) => (ServerState::Unsupported, Some(why)),
    };
    let mut status = context.status(server, subject, state, started);
    status.judge = session.judge().map(str::to_owned);
    status.detail = detail.cloned();
    status
}

/// Adds the advice to wait longer, in terms of this tool's argument.
fn with_timeout(context: &Context, mut status: ServerStatus) -> ServerStatus {
    if status.hint.is_some() {
        status.hint = Some(context.retry_advice(&status, true));
    }
    status
}

async fn without_server(
    context: &Context,
    subject: LanguageFile,
    view: &View,
    mut report: FileReport,
) -> Result<FileReport, ToolError> {
    if report.statuses.is_empty() {
        report.statuses.push(context.no_server(&subject, Instant::now()));
    }
    // A notebook's text is not in the language of its code.
    let syntax = match subject.path.is_notebook() {
        true => None,
        false => fallback::syntax_errors(context, &subject, view).await?,
    };
    match syntax {
        Some((items, notes)) => (report.items, report.notes) = (items, notes),
        None => report.unchecked = true,
    }
    report.verdict = Verdict::Hints;
    report.detail = report.statuses[0].detail.clone();
    Ok(report)
}
