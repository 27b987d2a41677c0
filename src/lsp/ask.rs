//! Asking a session: about documents that are in step with the disk, when the server is ready for the question, again when
//! the text moved meanwhile, and never beyond a deadline.

use std::sync::PoisonError;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::connection::RequestError;
use super::documents::Snapshot;
use super::readiness::Ready;
use super::session::Session;
use crate::text::Encoding;
use crate::workspace::{ReadError, WorkspacePath};

/// How often a query is repeated because its file changed meanwhile.
const MOVING_FILE_TRIES: usize = 4;

/// Why a question to a session has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The server did not answer.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The file went on changing while it was asked about.
    #[error("{path} kept changing while it was asked about; ask again when it is at rest")]
    Moving {
        /// The file.
        path: String,
    },
}

impl AskError {
    /// Whether the server is gone.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Request(RequestError::Closed { .. }))
    }
}

/// How much of the project an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The file and what it imports: asked as soon as the server can answer at all.
    File,
    /// The whole project: asked when the index is at rest, as far as the deadline allows.
    Project,
}

/// An answer, the text it is about, and what the server was still doing.
#[derive(Debug, Clone)]
pub struct Asked<T> {
    /// The answer.
    pub value: T,
    /// The text it is about.
    pub snapshot: Snapshot,
    /// Work that was going on when it was given: it may be incomplete.
    pub working: Option<String>,
    /// How many parts of it could not be understood and were left out.
    pub odd: usize,
}

impl Session {
    /// Whether an answer of `scope` given now is worth less than one given later.
    fn is_unsettled(&self, scope: Scope) -> bool {
        match self.readiness() {
            Ready::Yes => false,
            Ready::Working(_) => scope == Scope::Project,
            Ready::No(_) => true,
        }
    }

    /// Waits until answers of `scope` are whole, at most until `deadline`; returns what is still going on.
    pub async fn wait_ready(&self, scope: Scope, deadline: Instant) -> Option<String> {
        let mut bell = self.state.listen();
        loop {
            let work = match (self.readiness(), scope) {
                (Ready::Yes, _) => return None,
                (Ready::Working(work), Scope::File) => return Some(work),
                (Ready::Working(work) | Ready::No(work), _) => work,
            };
            let rule = &self.state.spec.readiness;
            let change = self.state.readiness(|readiness| readiness.next_change(rule)).map(Instant::from_std);
            let until =
                change.filter(|change| *change > Instant::now()).map_or(deadline, |at| at.min(deadline));
            tokio::select! {
                rung = bell.changed() => if rung.is_err() { return Some(work) },
                _ = self.connection.wait_closed() => return Some(work),
                () = tokio::time::sleep_until(until) => if Instant::now() >= deadline { return Some(work) },
            }
        }
    }

    /// Asks `method` about `path`, in step with the disk, and again when the file changed meanwhile or the server says
    /// that its content was modified. `params` makes the request from the text as it is sent.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        path: &WorkspacePath,
        method: &str,
        scope: Scope,
        deadline: Instant,
        params: impl Fn(&Snapshot, Encoding) -> Value,
    ) -> Result<Asked<T>, AskError> {
        let _in_use = self.use_now();
        // The first document makes servers load the project, so it is opened before readiness is looked at.
        let mut opened = Some(self.sync(path).await?);
        let mut working = None;
        if self.readiness() != Ready::Yes {
            opened = None;
            working = self.wait_ready(scope, before(deadline)).await;
        }
        let mut pause = Duration::from_millis(5);
        let mut tries = 0;
        let mut asked_at_rest = false;
        loop {
            let started = Instant::now();
            let (synced, snapshot) = match opened.take() {
                Some(opened) => opened,
                None => self.sync(path).await?,
            };
            let pending = self.connection.start(method, &params(&snapshot, self.capabilities.encoding))?;
            drop(synced);
            match pending.answer::<T>(deadline).await {
                Ok(value) if self.is_current(&snapshot) => {
                    self.note_latency(started.elapsed());
                    if self.must_ask_again(scope, deadline, &mut working, &mut asked_at_rest).await {
                        continue;
                    }
                    return Ok(Asked { value, snapshot, working, odd: 0 });
                }
                Ok(_) if tries == MOVING_FILE_TRIES => return Err(AskError::Moving { path: path.display() }),
                Ok(_) => tries += 1,
                Err(error) if error.is_transient() && Instant::now() + pause < deadline => {
                    // The server has just seen a change and names no moment at which it is done with it.
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

    /// Asks `method`, which concerns no document.
    pub async fn ask_workspace<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<(T, Option<String>), AskError> {
        let _in_use = self.use_now();
        let mut working = self.wait_ready(Scope::Project, before(deadline)).await;
        let started = Instant::now();
        let mut pause = Duration::from_millis(5);
        let mut asked_at_rest = false;
        loop {
            match self.connection.request(method, params, deadline).await {
                Ok(value) => {
                    self.note_latency(started.elapsed());
                    if self.must_ask_again(Scope::Project, deadline, &mut working, &mut asked_at_rest).await {
                        continue;
                    }
                    return Ok((value, working));
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

    /// Looks, when an answer has come, for work that began after the question was weighed: it is on the wire before the
    /// answer. Once, such work is waited for; true when it has ended and the answer can be had whole.
    async fn must_ask_again(
        &self,
        scope: Scope,
        deadline: Instant,
        working: &mut Option<String>,
        asked_at_rest: &mut bool,
    ) -> bool {
        if working.is_some() {
            return false;
        }
        *working = self.working();
        if *asked_at_rest || !self.is_unsettled(scope) {
            return false;
        }
        *asked_at_rest = true;
        *working = self.wait_ready(scope, before(deadline)).await;
        working.is_none()
    }

    pub(super) fn note_latency(&self, time: Duration) {
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).add(time);
    }

    /// A server that stops in the middle of a message will never be understood again.
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

/// Leaves time for the request itself within `deadline` when readiness is waited for.
fn before(deadline: Instant) -> Instant {
    let left = deadline.saturating_duration_since(Instant::now());
    deadline - (left / 5).min(Duration::from_secs(2))
}
