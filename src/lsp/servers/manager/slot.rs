//! One server for one root: started once for all callers, restarted after a crash with growing
//! pauses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{ManagerState, SessionUnavailable, SlotActivity, SlotKey, SlotStatus, launch};
use crate::lsp::servers::machine::StartTurn;
use crate::lsp::session::live_session::Session;
use crate::process::restart::RestartBackoff;
use crate::workspace::WorkspacePath;

/// The number of times that the start timeout doubles, once after each failed start.
const MAX_START_TIMEOUT_DOUBLINGS: u32 = 3;

type SessionStartResult = Option<Result<Arc<Session>, SessionUnavailable>>;

/// One server for one root.
#[derive(Debug)]
pub(super) struct ServerSlot {
    pub(crate) key: SlotKey,
    state: Mutex<SlotState>,
    /// The server's memory use once it had settled, or the expected one, in bytes; 0 if unknown.
    size: AtomicU64,
    /// The duration of its last start, in milliseconds.
    start_ms: AtomicU64,
}

#[derive(Debug, Default)]
struct SlotState {
    phase: SlotPhase,
    /// Its crashes, and its failed starts.
    backoff: RestartBackoff,
    /// Documents to open again after a restart.
    reopen: Vec<WorkspacePath>,
    /// The report of the last session's crash, until it is replaced.
    exit_report: Option<String>,
    starts: u32,
    /// The number of successive failed starts.
    failed_starts: u32,
}

#[derive(Debug, Default)]
enum SlotPhase {
    #[default]
    Idle,
    Starting {
        outcome: watch::Receiver<SessionStartResult>,
        /// The time at which the start began, independent of its present callers.
        since: Instant,
        turn: Arc<StartTurn>,
    },
    Running(Arc<Session>),
    Down {
        until: Instant,
        why: SessionUnavailable,
    },
}

/// The next action of a caller, decided under the lock.
enum SlotDecision {
    Have(Arc<Session>),
    Wait { outcome: watch::Receiver<SessionStartResult>, since: Instant, turn: Arc<StartTurn> },
    Refused(SessionUnavailable),
    Bury(Arc<Session>),
}

impl ServerSlot {
    pub(super) fn new(key: SlotKey) -> Self {
        Self { key, state: Mutex::default(), size: AtomicU64::default(), start_ms: AtomicU64::default() }
    }

    /// The server's memory use once it had settled, or the expected one, in bytes; 0 if unknown.
    pub(super) fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    /// Records the memory use of its server, in bytes.
    pub(super) fn set_size(&self, bytes: u64) {
        self.size.store(bytes, Ordering::Relaxed);
    }

    /// The duration of its last start, without the wait for its turn.
    pub(super) fn start_duration(&self) -> Duration {
        Duration::from_millis(self.start_ms.load(Ordering::Relaxed))
    }

    /// Returns the turn of the present start.
    pub(super) fn start_turn(&self) -> Option<Arc<StartTurn>> {
        match &self.state.lock().phase {
            SlotPhase::Starting { turn, .. } => Some(turn.clone()),
            _ => None,
        }
    }

    /// The running session, if there is one.
    pub(super) fn running_session(&self) -> Option<Arc<Session>> {
        match &self.state.lock().phase {
            SlotPhase::Running(session) if !session.is_closed() => Some(session.clone()),
            _ => None,
        }
    }

    /// Returns true if there is no server, and none is being started.
    pub(super) fn is_at_rest(&self) -> bool {
        match &self.state.lock().phase {
            SlotPhase::Idle | SlotPhase::Down { .. } => true,
            SlotPhase::Running(session) => session.is_closed(),
            SlotPhase::Starting { .. } => false,
        }
    }

    /// Returns its session, which may have crashed unnoticed, if it can serve other roots beside
    /// its own.
    pub(super) fn session_taking_folders(&self) -> Option<Arc<Session>> {
        match &self.state.lock().phase {
            SlotPhase::Running(session) if session.takes_more_folders() => Some(session.clone()),
            _ => None,
        }
    }

    /// Returns the session; it is started if needed, and awaited until `deadline`.
    pub(super) async fn session(
        self: &Arc<Self>,
        shared: &Arc<ManagerState>,
        deadline: Instant,
    ) -> Result<Arc<Session>, SessionUnavailable> {
        loop {
            match self.next(shared) {
                SlotDecision::Have(session) => return Ok(session),
                SlotDecision::Refused(reason) => return Err(reason),
                SlotDecision::Bury(session) => self.record_crash(&session).await,
                SlotDecision::Wait { mut outcome, since, turn } => {
                    return match tokio::time::timeout_at(deadline, outcome.wait_for(Option::is_some)).await {
                        Ok(Ok(result)) => result.clone().unwrap_or(Err(SessionUnavailable::Stopping)),
                        Ok(Err(_)) => Err(SessionUnavailable::Stopping),
                        Err(_) => Err(SessionUnavailable::Starting {
                            server: self.key.server.clone(),
                            so_far: since.elapsed(),
                            hold: turn.hold(),
                        }),
                    };
                }
            }
        }
    }

    /// Starts the server if it does not run, without waiting for it.
    pub(super) fn start_in_background(self: &Arc<Self>, shared: &Arc<ManagerState>) {
        if let SlotDecision::Refused(reason) = self.next(shared) {
            tracing::debug!(server = self.key.server, "not started: {reason}");
        }
    }

    fn next(self: &Arc<Self>, shared: &Arc<ManagerState>) -> SlotDecision {
        let mut state = self.state.lock();
        match &state.phase {
            SlotPhase::Running(session) if session.is_closed() => SlotDecision::Bury(session.clone()),
            SlotPhase::Running(session) => SlotDecision::Have(session.clone()),
            SlotPhase::Starting { outcome, since, turn } => {
                SlotDecision::Wait { outcome: outcome.clone(), since: *since, turn: turn.clone() }
            }
            SlotPhase::Down { until, why } if Instant::now() < *until => SlotDecision::Refused(why.clone()),
            SlotPhase::Idle | SlotPhase::Down { .. } if shared.stopping.is_cancelled() => {
                SlotDecision::Refused(SessionUnavailable::Stopping)
            }
            SlotPhase::Idle | SlotPhase::Down { .. } => {
                let (sender, outcome) = watch::channel(None);
                let since = Instant::now();
                let expected = Some(self.size()).filter(|size| *size > 0);
                let turn = StartTurn::new(shared.setup.machine.clone(), &self.key.server, expected);
                let turn = Arc::new(turn);
                state.phase = SlotPhase::Starting { outcome: outcome.clone(), since, turn: turn.clone() };
                let reopen = std::mem::take(&mut state.reopen);
                // The start continues when its first caller goes away, because others may wait for
                // it.
                tokio::spawn(self.clone().start(shared.clone(), reopen, sender, turn.clone()));
                SlotDecision::Wait { outcome, since, turn }
            }
        }
    }

    async fn start(
        self: Arc<Self>,
        shared: Arc<ManagerState>,
        reopen: Vec<WorkspacePath>,
        sender: watch::Sender<SessionStartResult>,
        turn: Arc<StartTurn>,
    ) {
        // A server that was too slow would be too slow again, and never start.
        let times = 1 << self.state.lock().failed_starts.min(MAX_START_TIMEOUT_DOUBLINGS);
        let SlotKey { server, root, .. } = &self.key;
        let watch = || shared.begin_watching();
        let launched = launch::launch(&shared.setup, server, root, times, &turn, &shared.stopping, watch);
        // A future of over 16 KB on Windows.
        let result = Box::pin(launched).await.map(Arc::new);
        self.set_size(turn.estimate());
        let took = u64::try_from(turn.took().as_millis()).unwrap_or(u64::MAX);
        self.start_ms.store(took, Ordering::Relaxed);
        let mut abandoned = None;
        {
            let mut state = self.state.lock();
            // A missing or forbidden server was not started.
            if matches!(result, Ok(_) | Err(SessionUnavailable::Failed { .. })) {
                state.starts += 1;
                state.failed_starts = if result.is_ok() { 0 } else { state.failed_starts + 1 };
            }
            match &result {
                Ok(session) if matches!(state.phase, SlotPhase::Starting { .. }) => {
                    if let Some(exit_report) = state.exit_report.take() {
                        session.set_previous_exit(exit_report);
                    }
                    state.phase = SlotPhase::Running(session.clone());
                }
                // The server was stopped during its start.
                Ok(session) => abandoned = Some(session.clone()),
                Err(reason) => state.record_failure(reason.clone()),
            }
        }
        if let Some(session) = abandoned {
            session.stop().await;
            sender.send_replace(Some(Err(SessionUnavailable::Stopping)));
            return;
        }
        if let Ok(session) = &result {
            for path in reopen {
                session.sync_if_readable(&path).await;
            }
        }
        sender.send_replace(Some(result));
    }

    /// Records the crash of `session` and decides when the server may be restarted.
    async fn record_crash(&self, session: &Arc<Session>) {
        let detail = session.exit_report().await;
        session.stop().await;
        tracing::warn!(server = self.key.server, "{detail}");
        let mut state = self.state.lock();
        if !matches!(&state.phase, SlotPhase::Running(current) if Arc::ptr_eq(current, session)) {
            return;
        }
        state.reopen = session.open_paths();
        state.exit_report = Some(detail.clone());
        let reason = SessionUnavailable::Failed { server: self.key.server.clone(), detail };
        state.record_failure(reason);
    }

    pub(super) fn status(&self) -> SlotStatus {
        let state = self.state.lock();
        let run = match &state.phase {
            SlotPhase::Idle => SlotActivity::Resting,
            SlotPhase::Starting { since, turn, .. } => {
                SlotActivity::Starting { so_far: since.elapsed(), hold: turn.hold() }
            }
            SlotPhase::Running(session) => match session.closed_reason() {
                Some(why) => SlotActivity::Failed { why, last: Some(session.clone()) },
                None => SlotActivity::Running(session.clone()),
            },
            SlotPhase::Down { why: why @ SessionUnavailable::Failed { .. }, .. } => {
                SlotActivity::Failed { why: why.to_string(), last: None }
            }
            SlotPhase::Down { why: SessionUnavailable::Disabled { reason }, .. } => {
                SlotActivity::Disabled { reason: reason.clone() }
            }
            // The missing program may have been installed since; only a new search can tell.
            SlotPhase::Down { .. } => SlotActivity::Resting,
        };
        SlotStatus {
            server: self.key.server.clone(),
            root: self.key.root.clone(),
            run,
            restarts: state.starts.saturating_sub(1),
        }
    }

    /// Takes the session out if it has been idle for `longest`; the next question starts a new one.
    pub(super) fn take_idle(&self, longest: Duration) -> Option<Arc<Session>> {
        let mut state = self.state.lock();
        match &state.phase {
            // A crashed session stays, so that the next caller gets its report.
            SlotPhase::Running(session)
                if !session.is_closed()
                    && session.idle_for() >= longest
                    && Arc::strong_count(session) == 1 =>
            {
                match std::mem::take(&mut state.phase) {
                    SlotPhase::Running(session) => Some(session),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Ends the server; waits for a start in progress to notice.
    pub(super) async fn stop(&self) {
        let phase = std::mem::take(&mut self.state.lock().phase);
        match phase {
            SlotPhase::Running(session) => session.stop().await,
            SlotPhase::Starting { mut outcome, .. } => {
                // The guard is not held across the wait below: it locks the channel, and its holder
                // cannot be sent to other threads.
                let result = outcome.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
                if let Some(Ok(session)) = result {
                    session.stop().await;
                }
            }
            SlotPhase::Idle | SlotPhase::Down { .. } => {}
        }
    }
}

impl SlotState {
    /// Records that the server ended, or failed to start. A missing program is not a failed start:
    /// it may be installed at any moment, and a search for it is cheap.
    fn record_failure(&mut self, why: SessionUnavailable) {
        let SessionUnavailable::Failed { server, detail } = why else {
            self.phase = SlotPhase::Down { until: Instant::now(), why };
            return;
        };
        self.backoff.record_end();
        let until = self.backoff.next_start().unwrap_or_else(|exhausted| exhausted);
        let pause = until.saturating_duration_since(Instant::now());
        let detail = match pause.as_secs_f64().ceil() {
            0.0 => detail,
            seconds => format!("{detail}; next attempt in {seconds} s"),
        };
        self.phase = SlotPhase::Down { until, why: SessionUnavailable::Failed { server, detail } };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::restart::RESTART_WINDOW;

    #[tokio::test(start_paused = true)]
    async fn server_restart_delay_grows_with_repeated_crashes() {
        let why = || SessionUnavailable::Failed { server: "s".into(), detail: "d".into() };
        let mut state = SlotState::default();
        let mut pauses = Vec::new();
        for _ in 0..6 {
            state.record_failure(why());
            let SlotPhase::Down { until, .. } = &state.phase else { panic!("not down") };
            pauses.push(until.duration_since(Instant::now()).as_secs());
        }
        assert_eq!(pauses, [0, 1, 2, 4, 180, 180]);
        tokio::time::advance(RESTART_WINDOW).await;
        state.record_failure(why());
        assert!(matches!(&state.phase, SlotPhase::Down { until, .. } if *until <= Instant::now()));
    }
}
