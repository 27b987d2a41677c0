//! One request about one place to the server that navigates in its language. The server is found
//! and started, the request is repeated after a crash, and the server's state is always reported.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::named_place::ResolvedName;
use super::resolved_position::{self, ResolvedPosition};
use super::unanswered_question::UnansweredQuestion;
use crate::analysis::answer::{ServerState, ServerStatus, Verdict};
use crate::analysis::breakage::impact::files_mentioning;
use crate::analysis::context::{Context, LanguageFile, from_read_error};
use crate::analysis::doubt::{Doubt, with_doubts};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::target::{Target, path_of};
use crate::lsp::session::ask::{AskError, SessionAnswer};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::readiness::UnfinishedWork;
use crate::lsp::session::request::PlaceInText;
use crate::rpc::RequestError;
use crate::text::{Buffer, Position, identifier_near};
use crate::workspace::WorkspacePath;

/// The most files with a name that are opened for a server that only knows open files: if each must
/// be waited for, and if the server processes them in order.
const MAX_PREOPENED_FILES: usize = 40;
const MAX_ORDERED_PREOPENED_FILES: usize = 400;

/// The number of times that a place is looked up in a file that is being written.
const MAX_PLACE_LOOKUPS: usize = 2;

/// The outcome of a request.
#[derive(Debug)]
pub(crate) enum QuestionOutcome<T> {
    /// A server responded.
    Answered {
        /// The response.
        value: T,
        /// The number of results that were left out because of their number or a timeout.
        left_out: usize,
        /// The place that was asked about.
        place: ResolvedPosition,
        /// The session that responded.
        session: Arc<Session>,
        /// The status of that session's server.
        status: ServerStatus,
        /// The verdict on the response.
        verdict: Verdict,
        /// Further notes.
        notes: Vec<String>,
    },
    /// No server responded.
    Unanswered(UnansweredQuestion),
}

impl<T> QuestionOutcome<T> {
    /// The question for the text search, if the response is empty and the server counts the file to
    /// no project, so that it knows no other file.
    pub(crate) fn for_text(&self, is_empty: impl FnOnce(&T) -> bool) -> Option<UnansweredQuestion> {
        let Self::Answered { value, place, session, status, .. } = self else { return None };
        let is_blind = place.resolved.is_some() && session.exclusion(&place.path).is_some();
        (is_blind && is_empty(value)).then(|| UnansweredQuestion {
            subject: LanguageFile { path: place.path.clone(), language: Some(status.language.clone()) },
            place: place.clone(),
            status: status.clone(),
        })
    }
}

/// The properties of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanguageQuestion {
    /// The LSP method, which the server must support.
    pub method: &'static str,
    /// True if an empty response is complete even while the server is busy, because it depends on
    /// one file only.
    pub of_file: bool,
}

/// The request to a session about a place. The future is boxed, because that of an async closure
/// would not be known to be `Send`, and callers could not spawn their requests.
pub(crate) trait PositionRequest<T>:
    for<'a> Fn(&'a Session, &'a WorkspacePath, &'a dyn PlaceInText) -> PositionAnswerFuture<'a, T> + Sync
{
}

impl<T, F> PositionRequest<T> for F where
    F: for<'a> Fn(&'a Session, &'a WorkspacePath, &'a dyn PlaceInText) -> PositionAnswerFuture<'a, T> + Sync
{
}

/// The future of a session's response.
pub(crate) type PositionAnswerFuture<'a, T> = BoxFuture<'a, Result<SessionAnswer<T>, AskError>>;

impl Context {
    /// Sends the request `ask` to the session that navigates in the target's language.
    pub(crate) async fn question<T: Send>(
        &self,
        target: &Target,
        question: LanguageQuestion,
        deadline: Instant,
        ask: impl PositionRequest<T>,
    ) -> Result<QuestionOutcome<T>, ToolError> {
        let begun = Instant::now();
        let is_searched = matches!(target, Target::Name(_));
        let ResolvedName { target, overloads, namesakes } = self.resolve_bare_name(target).await?;
        // The search for a name has its own deadline.
        let deadline = deadline + begun.elapsed();
        let mut outcome = self.question_at(&target, question, deadline, &ask).await?;
        let (place, notes) = match &mut outcome {
            QuestionOutcome::Answered { place, notes, .. } => (place, Some(notes)),
            QuestionOutcome::Unanswered(UnansweredQuestion { place, .. }) => (place, None),
        };
        if let Some(resolved) = &mut place.resolved {
            resolved.searched = is_searched;
        }
        if is_searched {
            place.repeated_at.clear();
            (place.overloads, place.namesakes) = (overloads, namesakes);
            // If no server responded, the fallback adds the notes.
            if let Some(notes) = notes {
                notes.extend(place.notes());
            }
        }
        Ok(outcome)
    }

    /// Like [`Self::question`], about a place in a file.
    async fn question_at<T: Send>(
        &self,
        target: &Target,
        question: LanguageQuestion,
        deadline: Instant,
        ask: &impl PositionRequest<T>,
    ) -> Result<QuestionOutcome<T>, ToolError> {
        let subject = &self.question_file(self.path(path_of(target)?)?)?;
        self.manager.refresh().await;
        let started = Instant::now();
        let asking = PlaceQuestion { subject, target, question, deadline, started };
        let servers = self.servers_for(subject, |features| features.navigation);
        let mut servers: VecDeque<&str> = servers.into_iter().map(|(key, _)| key).collect();
        let mut status = self.no_server(subject, started);
        let (mut is_first, mut substitution) = (true, None);
        while let Some(server) = servers.pop_front() {
            let reason = match self.ask_server(asking, server, ask).await {
                Ok(mut answered) => {
                    if let QuestionOutcome::Answered { notes, .. } = &mut answered {
                        notes.extend(substitution);
                    }
                    return Ok(answered);
                }
                Err(MissingAnswer::Question(error)) => return Err(error),
                Err(MissingAnswer::Server(reason)) => reason,
            };
            if reason.state == ServerState::Unsupported && substitution.is_none() && servers.is_empty() {
                let other = self.substitute_server(server, subject, question.method);
                if let Some((other, note)) = other {
                    servers.push_back(other);
                    substitution = Some(note);
                }
            }
            if is_first || status.state == ServerState::Missing {
                status = reason;
            }
            is_first = false;
        }
        let text = self.text(&subject.path)?;
        let place = self.place_from_text(subject, &text, target).await?;
        Ok(QuestionOutcome::Unanswered(UnansweredQuestion { subject: subject.clone(), place, status }))
    }

    /// Sends the request to one server, and repeats it once if the server ends meanwhile: a crash
    /// is often caused by a single file.
    async fn ask_server<T: Send>(
        &self,
        asking: PlaceQuestion<'_>,
        server: &str,
        ask: &impl PositionRequest<T>,
    ) -> Result<QuestionOutcome<T>, MissingAnswer> {
        let PlaceQuestion { subject, deadline, .. } = asking;
        let mut session = self.session(server, subject, deadline).await?;
        let mut answer = self.ask_session(asking, &session, ask).await;
        let has_crashed = matches!(&answer, Err(QuestionFailure::Session(error)) if error.is_closed());
        if has_crashed {
            session = self.session(server, subject, deadline).await?;
            answer = self.ask_session(asking, &session, ask).await;
        }
        match answer {
            Ok(placed) => Ok(self.outcome_of(asking, session, placed, has_crashed).await),
            Err(failure) => Err(self.missing_answer(asking, &session, failure).await),
        }
    }

    /// The outcome of an answer of `session`.
    async fn outcome_of<T>(
        &self,
        asking: PlaceQuestion<'_>,
        session: Arc<Session>,
        PlacedAnswer { place, asked, unopened }: PlacedAnswer<T>,
        has_crashed: bool,
    ) -> QuestionOutcome<T> {
        let PlaceQuestion { subject, question, deadline, started, .. } = asking;
        session.find_limits(&subject.path, deadline).await;
        let working = asked.unfinished_work.as_ref();
        let (status, verdict) = self.status_and_verdict(&session, subject, question, working, started);
        let mut notes = Vec::from_iter(session.restart_note(has_crashed));
        notes.extend(place.notes());
        notes.extend(self.manager.over_budget_news().map(|over| over.to_string()));
        let SessionAnswer { value, undecodable, left_out, .. } = asked;
        let mut doubts = Vec::from_iter(unopened);
        let server = || session.server().to_owned();
        doubts.extend((undecodable > 0).then(|| Doubt::Undecodable { server: server(), items: undecodable }));
        doubts.extend((left_out > 0).then(|| Doubt::Omitted { server: server(), items: left_out }));
        notes.extend(doubts.iter().map(Doubt::to_string));
        let verdict = with_doubts(verdict, &doubts);
        QuestionOutcome::Answered { value, left_out, place, session, status, verdict, notes }
    }

    /// The reason that `session` gave no answer.
    async fn missing_answer(
        &self,
        asking: PlaceQuestion<'_>,
        session: &Session,
        failure: QuestionFailure,
    ) -> MissingAnswer {
        let PlaceQuestion { subject, question, started, .. } = asking;
        match failure {
            QuestionFailure::NotOffered => MissingAnswer::Server(self.unsupported_status(
                session.server(),
                subject,
                question.method,
                started,
            )),
            QuestionFailure::Place(error) => MissingAnswer::Question(error),
            QuestionFailure::Session(AskError::Read(error)) => {
                MissingAnswer::Question(from_read_error(error))
            }
            QuestionFailure::Session(error @ AskError::Moving { .. }) => {
                MissingAnswer::Question(ToolError::new(ErrorCode::Conflict, error.to_string()))
            }
            QuestionFailure::Session(error) => {
                MissingAnswer::Server(self.failed_status(session, subject, &error, started).await)
            }
        }
    }

    /// Sends the request to one session, with the place in the text that is sent. The place is
    /// looked up again if the text is no longer the one with the outline, or that of a proposal.
    async fn ask_session<T: Send>(
        &self,
        asking: PlaceQuestion<'_>,
        session: &Session,
        ask: &impl PositionRequest<T>,
    ) -> Result<PlacedAnswer<T>, QuestionFailure> {
        let PlaceQuestion { subject, target, question, deadline, .. } = asking;
        let path = &subject.path;
        let _view_guard = session.enter_view(&self.view, deadline).await?;
        let language_id = session.language_id_of(path).await.map_err(AskError::Read)?;
        if !session.offers(question.method, path, &language_id)
            && !session.wait_for_registration(question.method, path, &language_id, deadline).await
        {
            return Err(QuestionFailure::NotOffered);
        }
        let mut left = MAX_PLACE_LOOKUPS;
        loop {
            let place = match target {
                Target::NameInFile { name, .. } => {
                    let outline = session.document_symbols(path, deadline).await?;
                    let found = self.named_symbol(subject, &outline, name).await?;
                    AskedPlace::InOutline(Box::new((found, outline.snapshot.buffer)))
                }
                _ => AskedPlace::InText(path, target),
            };
            let unopened = match !question.of_file && session.knows_open_files(path) {
                true => self.open_files_with_name(asking, session, &place).await?,
                false => None,
            };
            match ask(session, path, &place).await {
                Ok(asked) => {
                    let place = place.resolved(&asked.snapshot.buffer)?;
                    return Ok(PlacedAnswer { place, asked, unopened });
                }
                Err(AskError::Unplaced(snapshot)) => {
                    left -= 1;
                    match place.resolved(&snapshot.buffer) {
                        Err(error @ QuestionFailure::Place(_)) => return Err(error),
                        _ if left == 0 => return Err(AskError::Moving { path: path.display() }.into()),
                        _ => {}
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Opens the files with the name at `place`, for a server that only knows open files. Returns a
    /// doubt if there are more.
    async fn open_files_with_name(
        &self,
        PlaceQuestion { subject, deadline, .. }: PlaceQuestion<'_>,
        session: &Session,
        place: &AskedPlace<'_>,
    ) -> Result<Option<Doubt>, QuestionFailure> {
        let (synced, snapshot) = session.sync(&subject.path).await.map_err(AskError::Read)?;
        drop(synced);
        let Some(position) = place.position_in(&snapshot.buffer) else { return Ok(None) };
        let name = identifier_near(&snapshot.buffer, position).map(|name| name.name);
        let name = name.as_deref().unwrap_or_default();
        Ok(self.open_mentioning_files(session, subject, name, deadline).await)
    }

    /// Opens the files that mention `name`, for a server that only knows open files. Returns a doubt
    /// if there are more.
    pub(crate) async fn open_mentioning_files(
        &self,
        session: &Session,
        subject: &LanguageFile,
        name: &str,
        deadline: Instant,
    ) -> Option<Doubt> {
        if name.is_empty() {
            return None;
        }
        let (paths, cut) = files_mentioning(self, subject, name).await;
        let most = if session.reads_in_order() { MAX_ORDERED_PREOPENED_FILES } else { MAX_PREOPENED_FILES };
        let mut left = paths.iter().take(most);
        loop {
            let some: Vec<_> =
                left.by_ref().take(4).map(|path| session.ensure_open(path, deadline)).collect();
            if some.is_empty() {
                break;
            }
            // A file that the server cannot read is not of its language.
            for outcome in futures::future::join_all(some).await {
                if let Err(error) = outcome {
                    tracing::debug!("not opened: {error}");
                }
            }
        }
        let reason = match (paths.len() > most, cut) {
            (false, false) => return None,
            (true, _) => format!("only {most} of {} were opened in it", paths.len()),
            (false, true) => "some were not found within the time limit".to_owned(),
        };
        Some(Doubt::Unopened { server: session.server().to_owned(), name: name.to_owned(), reason })
    }

    /// The status and verdict of a response.
    fn status_and_verdict(
        &self,
        session: &Session,
        subject: &LanguageFile,
        question: LanguageQuestion,
        working: Option<&UnfinishedWork>,
        started: Instant,
    ) -> (ServerStatus, Verdict) {
        let mut status = self.status(session.server(), subject, ServerState::Ready, started);
        let shortfall = session.shortfall_reason(&subject.path).or_else(|| session.exclusion(&subject.path));
        let Some(busy) = working else {
            let verdict = if shortfall.is_some() { Verdict::Partial } else { Verdict::Complete };
            status.detail = shortfall;
            return (status, verdict);
        };
        self.note_busy(&mut status, busy, false);
        let waits_for_nothing = question.of_file && busy.files_are_right;
        if waits_for_nothing {
            // A retry would not improve the answer.
            status.hint = None;
            status.detail = shortfall.clone().or(status.detail);
        }
        let whole = waits_for_nothing && shortfall.is_none();
        (status, if whole { Verdict::Complete } else { Verdict::Partial })
    }

    /// The status of a session that did not respond.
    pub(crate) async fn failed_status(
        &self,
        session: &Session,
        subject: &LanguageFile,
        error: &AskError,
        started: Instant,
    ) -> ServerStatus {
        let server = session.server();
        let message = || format!("{server}: {error}");
        let (state, detail) = match error {
            AskError::Request(RequestError::Timeout { .. }) => (ServerState::Timeout, message()),
            AskError::Request(RequestError::Closed { .. }) => {
                (ServerState::Crashed, format!("{server} failed: {}", session.exit_report().await))
            }
            AskError::Request(error) if error.is_unsupported() => (ServerState::Unsupported, message()),
            AskError::Busy(_) => (ServerState::Indexing, message()),
            AskError::Moving { .. } | AskError::Unplaced(_) => (ServerState::Timeout, message()),
            AskError::Request(_) | AskError::Read(_) => (ServerState::Failed, message()),
        };
        let mut status = self.status(server, subject, state, started);
        status.detail = Some(detail);
        if state == ServerState::Timeout
            && let Some(busy) = session.unfinished_work()
        {
            self.note_busy(&mut status, &busy, false);
        }
        status
    }
}

/// A response, with the place that it is about.
struct PlacedAnswer<T> {
    place: ResolvedPosition,
    asked: SessionAnswer<T>,
    /// The doubt about files that were not opened in the server.
    unopened: Option<Doubt>,
}

/// A question about a place in a file.
#[derive(Clone, Copy)]
struct PlaceQuestion<'a> {
    subject: &'a LanguageFile,
    target: &'a Target,
    question: LanguageQuestion,
    deadline: Instant,
    started: Instant,
}

/// The place of a question, in each text of its file.
enum AskedPlace<'a> {
    /// The target as it resolves in the text.
    InText(&'a WorkspacePath, &'a Target),
    /// The place of a name according to the outline of this text.
    InOutline(Box<(ResolvedPosition, Buffer)>),
}

impl AskedPlace<'_> {
    /// The place in `buffer`.
    fn resolved(&self, buffer: &Buffer) -> Result<ResolvedPosition, QuestionFailure> {
        match self {
            Self::InText(path, target) => Ok(resolved_position::in_text(path, buffer, target)?),
            Self::InOutline(found) if found.1 == *buffer => Ok(found.0.clone()),
            Self::InOutline(found) => {
                Err(QuestionFailure::Session(AskError::Moving { path: found.0.path.display() }))
            }
        }
    }
}

impl PlaceInText for AskedPlace<'_> {
    fn position_in(&self, buffer: &Buffer) -> Option<Position> {
        self.resolved(buffer).ok().map(|place| place.position)
    }
}

/// The reason that a session did not respond.
enum QuestionFailure {
    NotOffered,
    /// The file has no such place.
    Place(ToolError),
    Session(AskError),
}

impl From<ToolError> for QuestionFailure {
    fn from(error: ToolError) -> Self {
        Self::Place(error)
    }
}

impl From<AskError> for QuestionFailure {
    fn from(error: AskError) -> Self {
        Self::Session(error)
    }
}

/// The reason that a server gave no answer.
enum MissingAnswer {
    /// The state of the server; another may answer.
    Server(ServerStatus),
    /// An error of the question itself.
    Question(ToolError),
}

impl From<ServerStatus> for MissingAnswer {
    fn from(status: ServerStatus) -> Self {
        Self::Server(status)
    }
}
