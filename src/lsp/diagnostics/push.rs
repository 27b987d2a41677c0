//! Pushed diagnostics: `textDocument/publishDiagnostics`, accepted only for the current text.
//!
//! The *barrier* is a request sent right behind the text (`documentSymbol`, else `hover`): its
//! response, even an error, shows that the server has read everything before it. *Silence* is a
//! time without pushes: twice the longest delay measured for the server (`quiet-ms`), 500 ms if
//! none is given, 1 s for a server that was not measured. `PushWaitState::decide` takes the first
//! rule that fits the last push:
//!
//! 1. It has a version newer than ours: start over with the newer text; wait if the server has
//!    claimed versions that were never sent.
//! 2. It has our version and is empty, the server was not measured, and it is the first text of the
//!    document: take it after silence since the push, as findings of linters may follow.
//! 3. It has our version, it is not the known empty first push, and as many pushes have come as the
//!    catalogue expects: take it, after the server's sign of completion if there is one.
//! 4. It has no version and came after our text, the barrier is answered, the server was measured,
//!    all pushes owed to earlier texts have come, and it is not the empty first push: take it.
//! 5. It has our version, or has no version and came after our text: take it after barrier and
//!    silence.
//! 6. It is of an older text, and the server sends nothing if nothing changed
//!    (`silent-when-same`): take it after the barrier and the sign of completion, else after
//!    barrier and silence.
//! 7. There is no push, or it is of an older text: wait; at the deadline: `no_data`.
//!
//! If the barrier's response shows that the server skips the file (`skips`), nothing is awaited.
//!
//! An answer accepted after silence states this; for a server that was not measured it is
//! `partial`. An accepted push may contain findings from before the project was loaded. Such a push
//! is replaced by the next one from after that time, or stands after silence.

use std::time::Duration;

use futures::future::BoxFuture;
use lsp_types::request::{DocumentSymbolRequest, HoverRequest, Request};
use lsp_types::{
    DocumentSymbolParams, PartialResultParams, TextDocumentPositionParams, WorkDoneProgressParams,
};
use serde_json::Value;
use tokio::time::Instant;

use super::findings::{BackgroundFindings, DiagnosticsCompleteness, RawDiagnostics};
use crate::config::spec::{DiagnosticsRule, DiagnosticsSource};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::servers::project::project_membership::shows_outside;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::state::Pushes;
use crate::rpc::{PendingRequest, RequestError};
use crate::workspace::WorkspacePath;

/// The silence after a correct push of a server whose idle sign is expected and never came.
const UNSIGNALED_PUSH_QUIET_WINDOW: Duration = Duration::from_secs(3);

/// The number of times that a text is sent again to a server whose checker has failed on it.
const MAX_CHECK_RETRIES: u32 = 2;

/// The state at one moment of the wait for a push.
struct PushWaitState<'a> {
    rule: &'a DiagnosticsRule,
    snapshot: &'a Snapshot,
    pushes: &'a Pushes,
    /// True if the request sent right behind the text was answered: the server has read the text.
    barrier: bool,
    /// The time since the last push or barrier response.
    quiet: Duration,
    /// The time since the last push; zero if there is none.
    since_push: Duration,
    /// True if the server has sent its idle sign for the document since the text was sent.
    idle: bool,
    /// True if the server has claimed a version that was never sent.
    claims_unsent_version: bool,
    /// True if a request sent after the idle sign was answered: the work postponed by then is done
    /// as well.
    confirmed: bool,
}

/// The decision at one moment of the wait.
#[derive(Debug, PartialEq, Eq)]
enum PushDecision {
    /// The last push is for our text.
    Take,
    /// The last push is for our text, as far as silence can tell.
    TakeSilence,
    /// The last push is for our text if the server has postponed nothing. A further request, which
    /// it answers after that work, confirms this.
    Confirm,
    /// Not yet; decide again after this much silence, if nothing comes.
    Wait(Option<Duration>),
    /// Another caller sent a newer text: start over with it.
    Overtaken,
}

/// The response to a barrier.
pub(super) enum BarrierResponse {
    /// The server has read the text.
    Read,
    /// The server checks nothing in the file; with the reason.
    Skipped(String),
}

impl PushWaitState<'_> {
    fn decide(&self) -> PushDecision {
        let pushed = self.pushes.count > self.snapshot.pushes_before;
        match self.pushes.version {
            Some(version) if version > self.snapshot.version && self.claims_unsent_version => {
                PushDecision::Wait(None)
            }
            Some(version) if version > self.snapshot.version => PushDecision::Overtaken,
            Some(version) if version == self.snapshot.version && !self.is_noise() && self.is_last() => {
                match self.time_for_another_push() {
                    Some(left) => PushDecision::Wait(Some(left)),
                    None => self.decide_by_idle_sign(),
                }
            }
            None if pushed
                && self.barrier
                && !self.snapshot.owed
                && self.rule.is_measured()
                && !self.is_noise() =>
            {
                PushDecision::Take
            }
            None if pushed => self.decide_by_quiet(),
            Some(version) if version == self.snapshot.version => self.decide_by_quiet(),
            // No push for this text: the last findings still hold if the server sends nothing when
            // nothing changed.
            _ if self.rule.silent_when_same && self.pushes.count > 0 && !self.snapshot.forced => {
                if self.barrier && self.idle { PushDecision::Take } else { self.decide_by_quiet() }
            }
            _ => PushDecision::Wait(None),
        }
    }

    /// Decides for a server with an idle sign, which may push for one version more than once.
    ///
    /// clangd first checks with the headers as it knew them, then with those that the text includes
    /// now, and sends the idle sign for some moments in between. The second check has certainly
    /// been postponed once it has begun to read the headers, and its push comes before the response
    /// to any later request.
    fn decide_by_idle_sign(&self) -> PushDecision {
        let Some(sign) = &self.rule.idle else { return PushDecision::Take };
        let worked = sign.work.is_none() || self.pushes.worked > self.snapshot.worked_before;
        let done = self.pushes.idle > self.pushes.idle_at_push && !self.pushes.busy;
        match (done, worked) {
            (true, true) if self.confirmed => PushDecision::Take,
            (true, true) => PushDecision::Confirm,
            // A version of the server may give no such sign.
            (true, false) => self.decide_unsignaled(),
            (false, _) if self.pushes.idle == 0 => self.decide_unsignaled(),
            (false, _) => PushDecision::Wait(None),
        }
    }

    fn decide_unsignaled(&self) -> PushDecision {
        match self.quiet >= UNSIGNALED_PUSH_QUIET_WINDOW {
            true => PushDecision::TakeSilence,
            false => PushDecision::Wait(Some(UNSIGNALED_PUSH_QUIET_WINDOW.saturating_sub(self.quiet))),
        }
    }

    /// Returns true for the first, empty push of a server whose first push has no meaning.
    fn is_noise(&self) -> bool {
        self.rule.first_empty_is_noise
            && self.snapshot.version == 1
            && self.pushes.count == self.snapshot.pushes_before + 1
            && self.pushes.items.is_empty()
    }

    /// The time that a server that was not measured still has for findings after an empty push for
    /// the first text of a document; `None` if its last push counts.
    fn time_for_another_push(&self) -> Option<Duration> {
        let is_first = self.snapshot.version == 1 && self.pushes.items.is_empty();
        let left = self.rule.quiet_time().saturating_sub(self.since_push);
        (is_first && !self.rule.is_measured() && !left.is_zero()).then_some(left)
    }

    /// Returns true if the server has sent as many pushes for the version as the rule expects.
    fn is_last(&self) -> bool {
        self.pushes.of_version >= self.rule.pushes_per_version
    }

    fn decide_by_quiet(&self) -> PushDecision {
        let needed = self.rule.quiet_time();
        match self.barrier && self.quiet >= needed {
            true => PushDecision::TakeSilence,
            false => PushDecision::Wait(self.barrier.then(|| needed.saturating_sub(self.quiet))),
        }
    }
}

impl Session {
    /// Waits for a push for the text on disk. A checker that has failed on the text gets it again.
    pub(crate) async fn pushed_diagnostics(
        &self,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<RawDiagnostics, AskError> {
        let mut raw = self.push_for_text(path, false, deadline).await?;
        for _ in 0..MAX_CHECK_RETRIES {
            if !self.has_failed_check(&raw) || Instant::now() >= deadline {
                break;
            }
            let again = self.push_for_text(path, true, deadline).await?;
            let silent = matches!(again.known, DiagnosticsCompleteness::NoData(_));
            if silent && again.snapshot.buffer == raw.snapshot.buffer {
                // The earlier findings for the same text hold.
                break;
            }
            raw = again;
        }
        Ok(self.without_failed_checks(raw))
    }

    /// Waits for a push for the text on disk. With `resend`, the text is sent again first.
    async fn push_for_text(
        &self,
        path: &WorkspacePath,
        mut resend: bool,
        deadline: Instant,
    ) -> Result<RawDiagnostics, AskError> {
        loop {
            let (mut synced, mut snapshot) = self.sync(path).await?;
            let is_due = std::mem::take(&mut resend);
            if let Some(document) = synced.document()
                && (is_due || document.epoch != self.state.epoch())
            {
                self.resend_text(document);
                snapshot = document.snapshot();
            }
            let pushes = self.state.pushes(path);
            // No other caller sends while the document is held, so there is no newer version than
            // this one.
            let lies = pushes.version.is_some_and(|version| version > snapshot.version);
            let barrier = match pushes.version {
                Some(version) if version == snapshot.version => None,
                _ => Some(self.start_barrier(&snapshot)?),
            };
            drop(synced);
            let mut barrier = std::pin::pin!(async {
                match barrier {
                    Some(barrier) => self.wait_for_barrier(barrier, deadline).await,
                    None => BarrierResponse::Read,
                }
            });
            if let Some(raw) = self.listen_for_push(path, snapshot, lies, barrier.as_mut(), deadline).await? {
                return Ok(raw);
            }
        }
    }

    /// Waits for the push for `snapshot`; `None` if a newer text has overtaken it.
    pub(super) async fn listen_for_push(
        &self,
        path: &WorkspacePath,
        snapshot: Snapshot,
        lies: bool,
        mut barrier: std::pin::Pin<&mut impl Future<Output = BarrierResponse>>,
        deadline: Instant,
    ) -> Result<Option<RawDiagnostics>, AskError> {
        let rule = &self.state.spec.diagnostics;
        let started = Instant::now();
        let mut last_event = started;
        let mut passed = false;
        let mut seen = (0, 0, false);
        let mut confirmation: Option<BoxFuture<'_, BarrierResponse>> = None;
        let mut confirmed = false;
        let mut changes = self.state.listen();
        loop {
            let pushes = self.state.pushes(path);
            let now = (pushes.count, pushes.idle, pushes.busy);
            if now != seen {
                (seen, last_event) = (now, Instant::now());
            }
            let moment = PushWaitState {
                rule,
                snapshot: &snapshot,
                pushes: &pushes,
                barrier: passed,
                quiet: last_event.elapsed(),
                since_push: pushes.pushed_at.map_or(Duration::ZERO, |at| at.elapsed()),
                idle: pushes.idle > snapshot.idle_before,
                claims_unsent_version: lies,
                confirmed,
            };
            if passed && pushes.count == snapshot.pushes_before && self.state.is_silent() {
                return Ok(Some(self.no_push_diagnostics(snapshot, started.elapsed())));
            }
            let decision = moment.decide();
            let wait = match decision {
                PushDecision::Overtaken => return Ok(None),
                PushDecision::Take | PushDecision::TakeSilence => {
                    if !self.is_current(&snapshot) {
                        return Ok(None);
                    }
                    let silence = (decision == PushDecision::TakeSilence).then(|| started.elapsed());
                    return Ok(Some(self.accept_push(snapshot, pushes, silence, deadline).await));
                }
                PushDecision::Confirm => {
                    if confirmation.is_none() {
                        let request = self.start_barrier(&snapshot)?;
                        confirmation = Some(Box::pin(self.wait_for_barrier(request, deadline)));
                    }
                    None
                }
                PushDecision::Wait(wait) => wait,
            };
            let until = wait.map_or(deadline, |wait| deadline.min(Instant::now() + wait));
            tokio::select! {
                response = barrier.as_mut(), if !passed => {
                    // If it refuses the configuration, it responds the same before it says so.
                    if let BarrierResponse::Skipped(reason) = response
                        && self.wait_for_idle(deadline).await.is_none()
                        && !self.state.is_silent()
                        && self.state.push_count(path) == snapshot.pushes_before
                    {
                        let known = DiagnosticsCompleteness::Skipped(reason);
                        return Ok(Some(RawDiagnostics::without_findings(snapshot, known)));
                    }
                    passed = true;
                    last_event = Instant::now();
                }
                _ = wait_for(&mut confirmation), if !confirmed => confirmed = true,
                _ = changes.changed() => {}
                reason = self.connection.wait_closed() => {
                    return Err(RequestError::Closed { reason }.into());
                }
                () = tokio::time::sleep_until(until) => if Instant::now() >= deadline {
                    return Ok(Some(self.no_push_diagnostics(snapshot, started.elapsed())));
                }
            }
        }
    }

    fn no_push_diagnostics(&self, snapshot: Snapshot, waited: Duration) -> RawDiagnostics {
        let known = DiagnosticsCompleteness::NoData(match self.unfinished_work() {
            Some(busy) => {
                format!(
                    "{}; it has not published diagnostics for this text yet",
                    busy.sentence(self.server())
                )
            }
            None => {
                let why = self.diagnostics_shortfall_clause(&snapshot.path);
                let within = match self.state.is_silent() {
                    true => String::new(),
                    false => format!(" within {} ms", waited.as_millis().max(1)),
                };
                format!("{} published no diagnostics for this text{within}{why}", self.server())
            }
        });
        RawDiagnostics::without_findings(snapshot, known)
    }

    /// Accepts the findings for our text; waits for the end of indexing, which may bring others.
    async fn accept_push(
        &self,
        snapshot: Snapshot,
        pushes: Pushes,
        silence: Option<Duration>,
        deadline: Instant,
    ) -> RawDiagnostics {
        self.read_failed_checks(&snapshot, deadline).await;
        let rule = &self.state.spec.diagnostics;
        let mut notes = Vec::new();
        let mut known = DiagnosticsCompleteness::Complete;
        if let Some(waited) = silence {
            let reason = match pushes.version == Some(snapshot.version) {
                true => "may report more about this text",
                false => "does not state the version of the text its diagnostics belong to",
            };
            let note = format!(
                "{} {reason}; accepted after {} ms without further pushes",
                self.server(),
                waited.as_millis()
            );
            if rule.source == DiagnosticsSource::Auto {
                known = DiagnosticsCompleteness::Partial(note);
            } else {
                notes.push(note);
            }
        }
        let (mut items, mut left_out) = (pushes.items, pushes.left_out);
        if pushes.is_early || self.wait_for_idle(Instant::now()).await.is_some() {
            match self.wait_for_idle(deadline).await {
                Some(work) => known = DiagnosticsCompleteness::Partial(work.sentence(self.server())),
                // The server sends the findings of the meantime right after it is done.
                None if self.wait_for_later_push(&snapshot.path, pushes.count, deadline).await => {}
                None => {
                    let reason = format!("{} may report more about this text", self.server());
                    known = DiagnosticsCompleteness::Partial(reason);
                }
            }
            let later = self.state.pushes(&snapshot.path);
            if later.version.is_none_or(|version| version == snapshot.version) {
                (items, left_out) = (later.items, later.left_out);
            }
        }
        if left_out > 0 && known == DiagnosticsCompleteness::Complete {
            known = DiagnosticsCompleteness::Partial(self.too_much(left_out));
        }
        RawDiagnostics { items, snapshot, known, notes, background: BackgroundFindings::None }
    }

    /// Waits for a push beyond the first `count` for `path` that is not early, for at most the time
    /// for which a server with findings is silent; false if the deadline came first.
    async fn wait_for_later_push(&self, path: &WorkspacePath, mut count: u64, deadline: Instant) -> bool {
        loop {
            let until = Instant::now() + self.state.spec.diagnostics.quiet_time();
            let has_more = || self.state.push_count(path) > count;
            if !self.wait_until(deadline.min(until), has_more).await {
                if until <= deadline {
                    self.state.settle_push(path, count);
                }
                return until <= deadline;
            }
            let pushes = self.state.pushes(path);
            if !pushes.is_early {
                return true;
            }
            count = pushes.count;
        }
    }

    /// Sends a request and waits for its response, which comes after all earlier messages of the
    /// server; false at the deadline.
    pub(crate) async fn pass_barrier(
        &self,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<bool, AskError> {
        match self.start_barrier(snapshot)?.answer::<Value>(deadline).await {
            Err(error @ RequestError::Closed { .. }) => Err(error.into()),
            Err(RequestError::Timeout { .. }) => Ok(false),
            // An error is an answer too.
            _ => Ok(true),
        }
    }

    /// Sends a request whose response shows that the server has read everything before it.
    pub(super) fn start_barrier(&self, snapshot: &Snapshot) -> Result<PendingRequest<'_>, RequestError> {
        if let Some(rule) = &self.state.spec.diagnostics.skips {
            let path = self.workspace.absolute(&snapshot.path);
            let params = rule.params_for(snapshot.uri.as_str(), &path.to_string_lossy());
            return self.connection.start(&rule.method, &params);
        }
        let text_document = snapshot.identifier();
        if self.capabilities.announces(DocumentSymbolRequest::METHOD) {
            let params = DocumentSymbolParams {
                text_document,
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
            };
            return self.connection.start(DocumentSymbolRequest::METHOD, &params);
        }
        let start = TextDocumentPositionParams { text_document, position: lsp_types::Position::default() };
        self.connection.start(HoverRequest::METHOD, &start)
    }

    /// Waits for the response of a barrier. An error counts as well: it comes after our text.
    pub(super) async fn wait_for_barrier(
        &self,
        barrier: PendingRequest<'_>,
        deadline: Instant,
    ) -> BarrierResponse {
        let answer = barrier.answer::<Value>(deadline).await;
        let rule = self.state.spec.diagnostics.skips.as_ref();
        match rule.filter(|rule| matches!(shows_outside(rule, &answer), Ok(true))) {
            Some(rule) => BarrierResponse::Skipped(format!("{} {}", self.server(), rule.reason)),
            None => BarrierResponse::Read,
        }
    }
}

/// Waits for the future, or forever if there is none.
async fn wait_for(future: &mut Option<BoxFuture<'_, BarrierResponse>>) -> BarrierResponse {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "push_tests.rs"]
mod tests;
