//! Questions to a session: synchronized documents, readiness, retries after a change of text, and a
//! deadline. Requests are those of lsp-types. Answers stay JSON, which is decoded element by
//! element: a malformed element is dropped without the others.

use std::time::Duration;

use lsp_types::request::{Request, SignatureHelpRequest};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::bounded_answer::{self, BoundedAnswer};
use super::live_session::Session;
use super::readiness::UnfinishedWork;
use super::request::{DependencyScope, DocumentRequest, WorkspaceRequest};
use crate::lsp::documents::open_documents::{Snapshot, SyncedDocument};
use crate::rpc::RequestError;
use crate::text::Encoding;
use crate::workspace::{ReadError, WorkspacePath};

/// The number of retries of a query whose file changed meanwhile.
pub(crate) const MAX_MOVING_FILE_RETRIES: usize = 4;
/// The pause before a server that has just seen a change gets the request again; it doubles each
/// time.
const MIN_MODIFIED_RETRY_DELAY: Duration = Duration::from_millis(5);
/// The longest such pause.
const MAX_MODIFIED_RETRY_DELAY: Duration = Duration::from_millis(200);
/// The pause before a not yet ready server gets the request again after an empty answer; it doubles
/// each time.
const EARLY_RETRY_DELAY: Duration = Duration::from_millis(250);
/// The longest such pause.
const MAX_EARLY_RETRY_DELAY: Duration = Duration::from_secs(2);

/// The reasons why a question to a session has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The server did not answer.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The answer would have been incomplete.
    #[error("it was still working: {0}")]
    Busy(UnfinishedWork),
    /// The place of the request no longer exists: its line is gone or has changed.
    #[error("{} has no such place any more", .0.path.display())]
    Unplaced(Box<Snapshot>),
    /// The file kept changing during the request.
    #[error("{path} kept changing during the request; try again when it no longer changes")]
    Moving {
        /// The file.
        path: String,
    },
}

impl AskError {
    /// Returns true if the server has ended.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self, Self::Request(RequestError::Closed { .. }))
    }
}

/// An answer, with its text and the unfinished work of the server.
#[derive(Debug, Clone)]
pub(crate) struct SessionAnswer<T> {
    /// The answer.
    pub(crate) value: T,
    /// The text it is about.
    pub(crate) snapshot: Snapshot,
    /// Unfinished work at the time of the answer, which may therefore be incomplete.
    pub(crate) unfinished_work: Option<UnfinishedWork>,
    /// The number of parts of the answer that could not be decoded and were left out.
    pub(crate) undecodable: usize,
    /// The number of parts that were not read, because there were too many or the deadline had
    /// passed.
    pub(crate) left_out: usize,
}

impl<T> SessionAnswer<T> {
    /// Replaces the value by the result of `change`.
    pub(crate) fn map<V>(self, change: impl FnOnce(T) -> V) -> SessionAnswer<V> {
        let Self { value, snapshot, unfinished_work, undecodable, left_out } = self;
        SessionAnswer { value: change(value), snapshot, unfinished_work, undecodable, left_out }
    }
}

/// A response, with the text that it is about.
struct Response<T> {
    value: Value,
    left_out: usize,
    text: T,
}

/// A request that may be sent several times.
trait Attempt: Sync {
    /// The text of the request.
    type Text: Send;

    /// Sends the request, and waits for the response. Fails if its text has changed meanwhile.
    fn send(&self) -> impl Future<Output = Result<Response<Self::Text>, AskError>> + Send;

    /// Returns true if `text` is still the present one.
    fn is_current(&self, text: &Self::Text) -> bool;

    /// The request's method, for the log.
    fn method(&self) -> &str;
}

/// A request about one document, each time with its present text.
struct DocumentAttempt<'a, P> {
    session: &'a Session,
    path: &'a WorkspacePath,
    request: &'a DocumentRequest<'a, P>,
    deadline: Instant,
    /// The document, if it was synchronized just now.
    opened: Mutex<Option<(SyncedDocument, Snapshot)>>,
}

impl<V: Serialize, P: Fn(&Snapshot, Encoding) -> Option<V> + Sync> DocumentAttempt<'_, P> {
    /// The params of the request in the text of `snapshot`.
    fn params(&self, snapshot: &Snapshot) -> Result<V, AskError> {
        let params = (self.request.params)(snapshot, self.session.capabilities.encoding);
        params.ok_or_else(|| AskError::Unplaced(Box::new(snapshot.clone())))
    }
}

impl<V: Serialize + Send, P: Fn(&Snapshot, Encoding) -> Option<V> + Sync> Attempt for DocumentAttempt<'_, P> {
    type Text = Snapshot;

    async fn send(&self) -> Result<Response<Snapshot>, AskError> {
        let opened = self.opened.lock().take();
        let (mut synced, snapshot) = match opened {
            Some(opened) => opened,
            None => self.session.sync_with_disk(self.path, self.deadline).await?,
        };
        let pending = self.session.connection.start(self.request.method, &self.params(&snapshot)?)?;
        if self.request.method == SignatureHelpRequest::METHOD
            && let Some(document) = synced.document()
        {
            document.asked_signature = self.session.state.spec.diagnostics.stale_after_signature;
        }
        drop(synced);
        let BoundedAnswer { value, left_out } =
            bounded_answer::bounded_answer(pending, self.deadline).await?;
        match self.is_current(&snapshot) {
            true => Ok(Response { value, left_out, text: snapshot }),
            false => Err(AskError::Moving { path: self.path.display() }),
        }
    }

    fn is_current(&self, snapshot: &Snapshot) -> bool {
        self.session.is_current(snapshot)
    }

    fn method(&self) -> &str {
        self.request.method
    }
}

/// A request that concerns no document.
struct WorkspaceAttempt<'a, V> {
    session: &'a Session,
    request: &'a WorkspaceRequest<'a, V>,
    deadline: Instant,
}

impl<V: Serialize + Sync> Attempt for WorkspaceAttempt<'_, V> {
    type Text = ();

    async fn send(&self) -> Result<Response<()>, AskError> {
        let pending = self.session.connection.start(self.request.method, &self.request.params)?;
        let BoundedAnswer { value, left_out } =
            bounded_answer::bounded_answer(pending, self.deadline).await?;
        Ok(Response { value, left_out, text: () })
    }

    fn is_current(&self, (): &()) -> bool {
        true
    }

    fn method(&self) -> &str {
        self.request.method
    }
}

/// A reason to send a request again.
enum RetryReason {
    /// The text has changed during the request.
    TextChanged,
    /// The server says that its content was modified. It names no moment at which it is done.
    ContentModified,
    /// Work that began after the check of readiness has ended.
    WorkEnded,
}

/// The retries that are left for each reason. Those after a modification of the content are limited
/// by the deadline alone, and each waits longer than the one before.
struct RetryBudget {
    text_changes: usize,
    ended_work: usize,
    next_modified_pause: Duration,
}

impl RetryBudget {
    fn new() -> Self {
        Self {
            text_changes: MAX_MOVING_FILE_RETRIES,
            ended_work: 1,
            next_modified_pause: MIN_MODIFIED_RETRY_DELAY,
        }
    }

    /// Takes one retry, and waits if the reason requires it; false if none is left.
    async fn take(&mut self, reason: &RetryReason, deadline: Instant) -> bool {
        match reason {
            RetryReason::TextChanged => take_one(&mut self.text_changes),
            RetryReason::WorkEnded => take_one(&mut self.ended_work),
            RetryReason::ContentModified => {
                let pause = self.next_modified_pause;
                self.next_modified_pause = (pause * 2).min(MAX_MODIFIED_RETRY_DELAY);
                let is_in_time = Instant::now() + pause < deadline;
                if is_in_time {
                    tokio::time::sleep(pause).await;
                }
                is_in_time
            }
        }
    }
}

fn take_one(left: &mut usize) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left
}

impl Session {
    /// Returns true if a later answer of `scope` would be more complete than one given now.
    fn is_unsettled(&self, scope: DependencyScope) -> bool {
        self.unfinished_work().is_some_and(|busy| scope == DependencyScope::Project || !busy.files_are_right)
    }

    /// Waits until answers of `scope` are complete, at most until `deadline`; returns the
    /// unfinished work.
    pub(crate) async fn wait_ready(
        &self,
        scope: DependencyScope,
        deadline: Instant,
    ) -> Option<UnfinishedWork> {
        let mut changes = self.state.listen();
        loop {
            let work = self.unfinished_work()?;
            if scope == DependencyScope::File && work.files_are_right {
                return Some(work);
            }
            let rule = &self.state.spec.readiness;
            let change =
                self.state.with_readiness(|readiness| readiness.next_change(rule)).map(Instant::from_std);
            let until =
                change.filter(|change| *change > Instant::now()).map_or(deadline, |at| at.min(deadline));
            tokio::select! {
                outcome = changes.changed() => if outcome.is_err() { return Some(work) },
                _ = self.connection.wait_closed() => return Some(work),
                () = tokio::time::sleep_until(until) => if Instant::now() >= deadline { return Some(work) },
            }
        }
    }

    /// Sends a request about `path`, synchronized with the disk, once the server is ready.
    pub(crate) async fn ask<V: Serialize + Send>(
        &self,
        path: &WorkspacePath,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> Option<V> + Sync>,
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let _use_guard = self.mark_in_use();
        let (attempt, is_ready) = self.attempt(path, request, deadline).await?;
        let asked = self.send_when_ready(&attempt, is_ready, request.scope, deadline).await;
        asked.map(into_session_answer)
    }

    /// Like [`ask`](Self::ask), with an early request once half of the time for the server's
    /// readiness has passed. A non-empty early response is the answer unless a better one arrives
    /// before the deadline.
    pub(super) async fn ask_early<V: Serialize + Send>(
        &self,
        path: &WorkspacePath,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> Option<V> + Sync>,
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let _use_guard = self.mark_in_use();
        let (attempt, is_ready) = self.attempt(path, request, deadline).await?;
        let asked = self.send_early(&attempt, is_ready, request.scope, deadline).await;
        asked.map(into_session_answer)
    }

    /// The attempt at a request about `path`, and whether the server is ready for it. The document
    /// is opened before the check of readiness, because the first one makes servers load the
    /// project.
    async fn attempt<'a, V: Serialize + Send, P: Fn(&Snapshot, Encoding) -> Option<V> + Sync>(
        &'a self,
        path: &'a WorkspacePath,
        request: &'a DocumentRequest<'a, P>,
        deadline: Instant,
    ) -> Result<(DocumentAttempt<'a, P>, bool), AskError> {
        let opened = self.sync_with_disk(path, deadline).await?;
        let attempt = DocumentAttempt { session: self, path, request, deadline, opened: Mutex::default() };
        let is_ready = self.unfinished_work().is_none();
        // While the server is working, other questions may change the document.
        match is_ready {
            true => *attempt.opened.lock() = Some(opened),
            false => drop(attempt.params(&opened.1)?),
        }
        Ok((attempt, is_ready))
    }

    /// Sends a request that concerns no document, once the server is ready.
    pub(crate) async fn ask_workspace(
        &self,
        request: WorkspaceRequest<'_, impl Serialize + Sync>,
        deadline: Instant,
    ) -> Result<(Value, Option<UnfinishedWork>), AskError> {
        let _use_guard = self.mark_in_use();
        self.reload_if_due(deadline).await;
        let attempt = WorkspaceAttempt { session: self, request: &request, deadline };
        let is_ready = self.unfinished_work().is_none();
        let asked = self.send_when_ready(&attempt, is_ready, DependencyScope::Project, deadline).await;
        asked.map(|(response, working)| (response.value, working))
    }

    /// Like [`ask_workspace`](Self::ask_workspace), with early requests like
    /// [`ask_early`](Self::ask_early). Allowed only for requests that change nothing.
    pub(super) async fn ask_workspace_early(
        &self,
        request: WorkspaceRequest<'_, impl Serialize + Sync>,
        deadline: Instant,
    ) -> Result<(BoundedAnswer, Option<UnfinishedWork>), AskError> {
        let _use_guard = self.mark_in_use();
        self.reload_if_due(deadline).await;
        let attempt = WorkspaceAttempt { session: self, request: &request, deadline };
        let is_ready = self.unfinished_work().is_none();
        let (Response { value, left_out, .. }, working) =
            self.send_early(&attempt, is_ready, DependencyScope::Project, deadline).await?;
        Ok((BoundedAnswer { value, left_out }, working))
    }

    /// Sends `attempt` once answers of `scope` are complete, or when there is just time for the
    /// request itself.
    async fn send_when_ready<A: Attempt>(
        &self,
        attempt: &A,
        is_ready: bool,
        scope: DependencyScope,
        deadline: Instant,
    ) -> Result<(Response<A::Text>, Option<UnfinishedWork>), AskError> {
        let working = match is_ready {
            true => None,
            false => self.wait_ready(scope, readiness_deadline(deadline)).await,
        };
        self.send_until_current(attempt, scope, working, deadline).await
    }

    /// Like [`send_when_ready`](Self::send_when_ready). If the server is not ready by half of that
    /// time, it is asked early as well, and that answer is used if it is better or comes first.
    async fn send_early<A: Attempt>(
        &self,
        attempt: &A,
        is_ready: bool,
        scope: DependencyScope,
        deadline: Instant,
    ) -> Result<(Response<A::Text>, Option<UnfinishedWork>), AskError> {
        let late = |working| self.send_until_current(attempt, scope, working, deadline);
        if is_ready {
            return late(None).await;
        }
        // Three futures in one, for the first moments of a server; on the heap, they burden no
        // other question.
        Box::pin(async {
            let (until, from) = readiness_deadlines(deadline);
            let mut early = std::pin::pin!(self.send_until_answered(attempt, from));
            let mut waiting = std::pin::pin!(self.wait_ready(scope, until));
            let (working, known) = tokio::select! {
                biased;
                working = waiting.as_mut() => (working, None),
                known = early.as_mut() => (waiting.await, Some(known)),
            };
            match (working, known) {
                (None, _) => late(None).await,
                (Some(working), Some(known)) => {
                    let late = late(Some(working)).await;
                    let is_better = attempt.is_current(&known.0.text) && is_less_informative(&late);
                    if is_better { Ok(known) } else { late }
                }
                // The early request continues beside the late one, since it may be answered in
                // time.
                (Some(working), None) => tokio::select! {
                    late = late(Some(working)) => late,
                    known = early => Ok(known),
                },
            }
        })
        .await
    }

    /// Sends `attempt` again and again, from `from` on, until there is a non-empty answer about the
    /// present text. The server gives no sign when it can answer.
    async fn send_until_answered<A: Attempt>(
        &self,
        attempt: &A,
        from: Instant,
    ) -> (Response<A::Text>, Option<UnfinishedWork>) {
        tokio::time::sleep_until(from).await;
        let mut pause = EARLY_RETRY_DELAY;
        loop {
            let working = self.unfinished_work();
            match attempt.send().await {
                Ok(response) if !is_empty(&response.value) => {
                    return (response, self.unfinished_work().or(working));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(
                        server = self.server(),
                        method = attempt.method(),
                        "asked too early: {error}"
                    );
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_EARLY_RETRY_DELAY);
        }
    }

    /// Sends `attempt` to a server with unfinished work `working`, and again for each
    /// [`RetryReason`], as often as its budget allows.
    async fn send_until_current<A: Attempt>(
        &self,
        attempt: &A,
        scope: DependencyScope,
        mut working: Option<UnfinishedWork>,
        deadline: Instant,
    ) -> Result<(Response<A::Text>, Option<UnfinishedWork>), AskError> {
        let mut budget = RetryBudget::new();
        loop {
            let started = Instant::now();
            let (reason, outcome) = match attempt.send().await {
                Ok(response) => {
                    self.note_latency(started.elapsed());
                    if working.is_some() {
                        return Ok((response, working));
                    }
                    // The start of work is sent before the response.
                    working = self.unfinished_work();
                    if budget.ended_work == 0 || !self.is_unsettled(scope) {
                        return Ok((response, working));
                    }
                    working = self.wait_ready(scope, readiness_deadline(deadline)).await;
                    if working.is_some() {
                        return Ok((response, working));
                    }
                    (RetryReason::WorkEnded, Ok((response, None)))
                }
                Err(moving @ AskError::Moving { .. }) => (RetryReason::TextChanged, Err(moving)),
                Err(AskError::Request(error)) if error.is_transient() => {
                    (RetryReason::ContentModified, Err(AskError::Request(error)))
                }
                Err(error) => {
                    self.give_up_if_stuck(&error);
                    return Err(error);
                }
            };
            if !budget.take(&reason, deadline).await {
                return outcome;
            }
        }
    }

    pub(crate) fn note_latency(&self, time: Duration) {
        self.latencies.lock().add(time);
    }

    /// Ends the conversation with a server that stopped in the middle of a message, because nothing
    /// after it can be parsed.
    pub(super) fn give_up_if_stuck(&self, error: &AskError) {
        let missing = self.connection.missing_bytes();
        if missing > 0 && matches!(error, AskError::Request(RequestError::Timeout { .. })) {
            tracing::warn!(server = self.server(), missing, "ended: its last message was cut short");
            self.connection.close(&format!(
                "it was ended because it stopped {missing} bytes before the end of a message"
            ));
        }
    }
}

/// The answer about a document.
fn into_session_answer(
    (response, unfinished_work): (Response<Snapshot>, Option<UnfinishedWork>),
) -> SessionAnswer<Value> {
    let Response { value, left_out, text: snapshot } = response;
    SessionAnswer { value, snapshot, unfinished_work, undecodable: 0, left_out }
}

/// Returns true if a non-empty early answer is better than `late`: an error of the request, or an
/// empty answer of a busy server.
fn is_less_informative<T>(late: &Result<(Response<T>, Option<UnfinishedWork>), AskError>) -> bool {
    match late {
        Ok((late, working)) => is_empty(&late.value) && working.is_some(),
        Err(AskError::Request(error)) => !matches!(error, RequestError::Closed { .. }),
        Err(_) => false,
    }
}

/// Returns true if an answer is empty.
pub(super) fn is_empty(answer: &Value) -> bool {
    match answer {
        Value::Null => true,
        Value::Array(found) => found.is_empty(),
        _ => false,
    }
}

/// Returns the time until which readiness is awaited, and the time from which early requests are
/// sent. A request keeps some servers from reading on, so they have half of the time to themselves.
fn readiness_deadlines(deadline: Instant) -> (Instant, Instant) {
    let (now, until) = (Instant::now(), readiness_deadline(deadline));
    (until, now + until.saturating_duration_since(now) / 2)
}

/// Returns the deadline of the wait for readiness, which leaves time for the request itself within
/// `deadline`.
pub(crate) fn readiness_deadline(deadline: Instant) -> Instant {
    let left = deadline.saturating_duration_since(Instant::now());
    deadline - (left / 5).min(Duration::from_secs(2))
}
