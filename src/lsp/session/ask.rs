//! Questions to a session: synchronized documents, readiness, retries after a change of text, and a
//! deadline. Requests are those of lsp-types. Answers stay JSON, which is decoded element by
//! element: a malformed element is dropped without the others.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::bounded_answer::{self, BoundedAnswer};
use super::live_session::Session;
use super::readiness::UnfinishedWork;
use super::request::{DependencyScope, DocumentRequest, WorkspaceRequest};
use crate::lsp::documents::open_documents::{Snapshot, SyncedDocument};
use crate::rpc::{PendingRequest, RequestError};
use crate::text::Encoding;
use crate::workspace::{ReadError, WorkspacePath};

/// The number of retries of a query whose file changed meanwhile.
pub(crate) const MAX_MOVING_FILE_RETRIES: usize = 4;
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

/// The time at which a request is sent.
enum RequestTiming {
    /// Now, with the document just synchronized.
    At((SyncedDocument, Snapshot)),
    /// After the wait for the server, with its unfinished work.
    After(Option<UnfinishedWork>),
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

    /// Sends a request about `path`, synchronized with the disk. Repeats it if the file changed
    /// meanwhile or the server reports that its content was modified.
    pub(crate) async fn ask<V: Serialize>(
        &self,
        path: &WorkspacePath,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> V>,
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let _use_guard = self.mark_in_use();
        // The first document makes servers load the project, so it is opened before the readiness
        // check.
        let opened = self.sync_with_disk(path, deadline).await?;
        if self.unfinished_work().is_none() {
            return self.ask_until_current(path, request, deadline, RequestTiming::At(opened)).await;
        }
        drop(opened);
        let working = self.wait_ready(request.scope, readiness_deadline(deadline)).await;
        self.ask_until_current(path, request, deadline, RequestTiming::After(working)).await
    }

    /// Like [`ask`](Self::ask), with an early request once half of the time for the server's
    /// readiness has passed. A non-empty early response is the answer unless a better one arrives
    /// before the deadline.
    pub(super) async fn ask_early<V: Serialize>(
        &self,
        path: &WorkspacePath,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> V + Sync>,
        deadline: Instant,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let _use_guard = self.mark_in_use();
        let opened = self.sync_with_disk(path, deadline).await?;
        if self.unfinished_work().is_none() {
            return self.ask_until_current(path, request, deadline, RequestTiming::At(opened)).await;
        }
        drop(opened);
        let (until, from) = readiness_deadlines(deadline);
        let early = async {
            let early = self.ask_repeatedly(path, request, from, deadline).await;
            let working = self.unfinished_work().or(early.unfinished_work.clone());
            SessionAnswer { unfinished_work: working, ..early }
        };
        let late = |working| self.ask_until_current(path, request, deadline, RequestTiming::After(working));
        let is_better = |early: &SessionAnswer<Value>, late: &Result<SessionAnswer<Value>, AskError>| {
            self.is_current(&early.snapshot)
                && is_less_informative(late, |late| is_empty(&late.value) && late.unfinished_work.is_some())
        };
        // Three futures in one, for the first moments of a server; on the heap, they burden no
        // other question.
        Box::pin(self.ask_early_or_when_ready(request.scope, until, early, late, is_better)).await
    }

    /// Waits until answers of `scope` are complete, at most until `until`, and then asks `late`. If
    /// the time is up, the answer of `early` is used if it `is_better`, or comes first.
    async fn ask_early_or_when_ready<T, L: Future<Output = Result<T, AskError>>>(
        &self,
        scope: DependencyScope,
        until: Instant,
        early: impl Future<Output = T>,
        late: impl FnOnce(Option<UnfinishedWork>) -> L,
        is_better: impl Fn(&T, &Result<T, AskError>) -> bool,
    ) -> Result<T, AskError> {
        let mut early = std::pin::pin!(early);
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
                if is_better(&known, &late) { Ok(known) } else { late }
            }
            // The early request goes on beside the late one, since it may be answered in time.
            (Some(working), None) => tokio::select! {
                late = late(Some(working)) => late,
                known = early => Ok(known),
            },
        }
    }

    /// Repeats the request, from `from` on, until there is a non-empty answer about the present
    /// text.
    async fn ask_repeatedly<V: Serialize>(
        &self,
        path: &WorkspacePath,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> V + Sync>,
        from: Instant,
        deadline: Instant,
    ) -> SessionAnswer<Value> {
        tokio::time::sleep_until(from).await;
        let mut pause = EARLY_RETRY_DELAY;
        loop {
            let working = self.unfinished_work();
            let answer = async {
                let (synced, snapshot) = self.sync_with_disk(path, deadline).await?;
                let pending = self.send(request, &snapshot)?;
                drop(synced);
                let BoundedAnswer { value, left_out } =
                    bounded_answer::bounded_answer(pending, deadline).await?;
                Ok::<_, AskError>(SessionAnswer {
                    value,
                    snapshot,
                    unfinished_work: working,
                    undecodable: 0,
                    left_out,
                })
            };
            match answer.await {
                Ok(answer) if !is_empty(&answer.value) && self.is_current(&answer.snapshot) => return answer,
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(
                        server = self.server(),
                        method = request.method,
                        "asked too early: {error}"
                    );
                }
            }
            // The server gives no sign when it can answer.
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_EARLY_RETRY_DELAY);
        }
    }

    /// Sends the request, and repeats it if the answer is not about the present text or was given
    /// during work that has ended.
    async fn ask_until_current<V: Serialize>(
        &self,
        path: &WorkspacePath,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> V>,
        deadline: Instant,
        moment: RequestTiming,
    ) -> Result<SessionAnswer<Value>, AskError> {
        let (mut opened, mut working) = match moment {
            RequestTiming::At(opened) => (Some(opened), None),
            RequestTiming::After(working) => (None, working),
        };
        let mut pause = Duration::from_millis(5);
        let mut tries = 0;
        let mut asked_at_rest = false;
        loop {
            let started = Instant::now();
            let (synced, snapshot) = match opened.take() {
                Some(opened) => opened,
                None => self.sync_with_disk(path, deadline).await?,
            };
            let pending = self.send(request, &snapshot)?;
            drop(synced);
            match bounded_answer::bounded_answer(pending, deadline).await {
                Ok(BoundedAnswer { value, left_out }) if self.is_current(&snapshot) => {
                    self.note_latency(started.elapsed());
                    if self.must_ask_again(request.scope, deadline, &mut working, &mut asked_at_rest).await {
                        continue;
                    }
                    return Ok(SessionAnswer {
                        value,
                        snapshot,
                        unfinished_work: working,
                        undecodable: 0,
                        left_out,
                    });
                }
                Ok(_) if tries == MAX_MOVING_FILE_RETRIES => {
                    return Err(AskError::Moving { path: path.display() });
                }
                Ok(_) => tries += 1,
                Err(error) if error.is_transient() && Instant::now() + pause < deadline => {
                    // The server has just seen a change and names no moment at which it is done
                    // with it.
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_millis(200));
                }
                Err(error) => {
                    self.give_up_if_stuck(&error);
                    return Err(error.into());
                }
            }
        }
    }

    fn send<V: Serialize>(
        &self,
        request: &DocumentRequest<'_, impl Fn(&Snapshot, Encoding) -> V>,
        snapshot: &Snapshot,
    ) -> Result<PendingRequest<'_>, RequestError> {
        let params = (request.params)(snapshot, self.capabilities.encoding);
        self.connection.start(request.method, &params)
    }

    /// Sends a request that concerns no document.
    pub(crate) async fn ask_workspace(
        &self,
        request: WorkspaceRequest<'_, impl Serialize>,
        deadline: Instant,
    ) -> Result<(Value, Option<UnfinishedWork>), AskError> {
        let _use_guard = self.mark_in_use();
        self.reload_if_due(deadline).await;
        let working = self.wait_ready(DependencyScope::Project, readiness_deadline(deadline)).await;
        let (parts, working) = self.send_workspace_request(&request, deadline, working).await?;
        Ok((parts.value, working))
    }

    /// Like [`ask_workspace`](Self::ask_workspace), with early requests like
    /// [`ask_early`](Self::ask_early). Allowed only for requests that change nothing.
    pub(super) async fn ask_workspace_early(
        &self,
        request: WorkspaceRequest<'_, impl Serialize>,
        deadline: Instant,
    ) -> Result<(BoundedAnswer, Option<UnfinishedWork>), AskError> {
        let _use_guard = self.mark_in_use();
        self.reload_if_due(deadline).await;
        let (until, from) = readiness_deadlines(deadline);
        let early = async {
            tokio::time::sleep_until(from).await;
            let mut pause = EARLY_RETRY_DELAY;
            loop {
                let busy = self.unfinished_work();
                match self.request_parts(&request, deadline).await {
                    Ok(parts) if !is_empty(&parts.value) => return (parts, self.unfinished_work().or(busy)),
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(
                            server = self.server(),
                            method = request.method,
                            "asked too early: {error}"
                        );
                    }
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(MAX_EARLY_RETRY_DELAY);
            }
        };
        let late = |working| self.send_workspace_request(&request, deadline, working);
        let is_better = |_: &_, late: &_| {
            is_less_informative(late, |(parts, working): &(BoundedAnswer, Option<UnfinishedWork>)| {
                is_empty(&parts.value) && working.is_some()
            })
        };
        self.ask_early_or_when_ready(DependencyScope::Project, until, early, late, is_better).await
    }

    /// Sends a request that concerns no document to a server that is still `working`.
    async fn send_workspace_request(
        &self,
        request: &WorkspaceRequest<'_, impl Serialize>,
        deadline: Instant,
        mut working: Option<UnfinishedWork>,
    ) -> Result<(BoundedAnswer, Option<UnfinishedWork>), AskError> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(5);
        let mut asked_at_rest = false;
        loop {
            match self.request_parts(request, deadline).await {
                Ok(parts) => {
                    self.note_latency(started.elapsed());
                    if self
                        .must_ask_again(DependencyScope::Project, deadline, &mut working, &mut asked_at_rest)
                        .await
                    {
                        continue;
                    }
                    return Ok((parts, working));
                }
                Err(error) if error.is_transient() && Instant::now() + pause < deadline => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_millis(200));
                }
                Err(error) => {
                    self.give_up_if_stuck(&error);
                    return Err(error.into());
                }
            }
        }
    }

    async fn request_parts(
        &self,
        request: &WorkspaceRequest<'_, impl Serialize>,
        deadline: Instant,
    ) -> Result<BoundedAnswer, RequestError> {
        bounded_answer::bounded_answer(self.connection.start(request.method, &request.params)?, deadline)
            .await
    }

    /// Checks, after a response, for work that began after the readiness check: its start is sent
    /// before the response. Such work is awaited once. Returns true if it has ended and a complete
    /// answer is possible.
    async fn must_ask_again(
        &self,
        scope: DependencyScope,
        deadline: Instant,
        working: &mut Option<UnfinishedWork>,
        asked_at_rest: &mut bool,
    ) -> bool {
        if working.is_some() {
            return false;
        }
        *working = self.unfinished_work();
        if *asked_at_rest || !self.is_unsettled(scope) {
            return false;
        }
        *asked_at_rest = true;
        *working = self.wait_ready(scope, readiness_deadline(deadline)).await;
        working.is_none()
    }

    pub(crate) fn note_latency(&self, time: Duration) {
        self.latencies.lock().add(time);
    }

    /// Ends the conversation with a server that stopped in the middle of a message, because nothing
    /// after it can be parsed.
    pub(super) fn give_up_if_stuck(&self, error: &RequestError) {
        let missing = self.connection.missing_bytes();
        if missing > 0 && matches!(error, RequestError::Timeout { .. }) {
            tracing::warn!(server = self.server(), missing, "ended: its last message was cut short");
            self.connection.close(&format!(
                "it was ended because it stopped {missing} bytes before the end of a message"
            ));
        }
    }
}

/// Returns true if a non-empty early answer is better than `late`: `late` is an error of the
/// request, or `is_less` holds for it.
fn is_less_informative<T>(late: &Result<T, AskError>, is_less: impl Fn(&T) -> bool) -> bool {
    match late {
        Ok(late) => is_less(late),
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
