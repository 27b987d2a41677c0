//! The turn of one start of a language server among all starts of a user's processes.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::hold::StartHold;
use super::ledger::MachineShare;
use super::snapshot::PassedOver;

/// The shortest interval between checks of a waiting start. It depends on other processes' files
/// and servers, for which the system offers no suitable event.
const TURN_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum interval, in multiples of the shortest.
const MAX_TURN_POLL_STEPS: u32 = 10;
/// The longest wait. A caller has an earlier deadline; a start without callers must not wait
/// without end.
const MAX_TURN_WAIT: Duration = Duration::from_secs(300);
/// The time after which a start that may begin and does not is passed over.
const DUE_START_PATIENCE: Duration = Duration::from_secs(2);

/// One start of a server. Until it is dropped the server counts as being started.
#[derive(Debug)]
pub(crate) struct StartTurn {
    share: Arc<MachineShare>,
    server: String,
    /// The memory use of the server's last run, in bytes.
    expected: Option<u64>,
    /// The estimated memory use of a server that has not run before, in bytes, once it is known.
    estimate: AtomicU64,
    /// Its number in the ledger, once it is entered.
    id: Mutex<Option<u64>>,
    hold: Mutex<Option<StartHold>>,
    /// The end of its wait.
    begun: OnceLock<Instant>,
    /// The process at the top of the server's tree; 0 before there is one.
    process: AtomicI32,
}

impl StartTurn {
    /// Creates the turn of `server`, which used `expected` bytes in its last run. Nothing is
    /// written before [`wait`](Self::wait).
    pub(crate) fn new(share: Arc<MachineShare>, server: &str, expected: Option<u64>) -> Self {
        Self {
            share,
            server: server.to_owned(),
            expected,
            estimate: AtomicU64::new(expected.unwrap_or(0)),
            id: Mutex::default(),
            hold: Mutex::default(),
            begun: OnceLock::new(),
            process: AtomicI32::new(0),
        }
    }

    /// Waits until the server may be started. Returns `false` if it must not be: `stopping` was
    /// cancelled, or it took too long.
    pub(crate) async fn wait(self: &Arc<Self>, stopping: &CancellationToken) -> bool {
        let until = Instant::now() + MAX_TURN_WAIT;
        let mut passed = PassedOver::default();
        loop {
            let turn = self.clone();
            // Reads and writes files, and waits for their lock.
            let looked = tokio::task::spawn_blocking(move || {
                let hold = turn.look(&mut passed);
                (hold, passed)
            });
            let Ok((hold, kept)) = looked.await else { return !stopping.is_cancelled() };
            passed = kept;
            let before = hold.as_ref().map(|hold| hold.before);
            *self.hold.lock() = hold;
            let Some(before) = before else {
                self.begun.get_or_init(Instant::now);
                return !stopping.is_cancelled();
            };
            // A start far behind in the queue looks less often.
            let steps = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1).min(MAX_TURN_POLL_STEPS);
            tokio::select! {
                () = stopping.cancelled() => return false,
                () = tokio::time::sleep_until(until) => return false,
                () = tokio::time::sleep(TURN_POLL_INTERVAL * steps) => {}
            }
        }
    }

    fn look(&self, passed: &mut PassedOver) -> Option<StartHold> {
        let mut id = self.id.lock();
        match *id {
            None => {
                let (own, estimate, hold) = self.share.enqueue(&self.server, self.expected);
                *id = Some(own);
                self.estimate.store(estimate, Ordering::Relaxed);
                if hold.is_some() {
                    // Its own process's idle servers may be in the way.
                    self.share.changed.notify_one();
                }
                hold
            }
            Some(own) => {
                let snapshot = self.share.snapshot();
                let due = snapshot.start_due(self.share.limits(), passed);
                passed.note_due(due.as_slice(), DUE_START_PATIENCE);
                self.share.try_begin(own, passed, &snapshot)
            }
        }
    }

    /// The reason for the delay, as long as the start is delayed.
    pub(crate) fn hold(&self) -> Option<String> {
        self.hold.lock().as_ref().map(ToString::to_string)
    }

    /// Returns the time since the start began; zero before its turn has come.
    pub(crate) fn took(&self) -> Duration {
        self.begun.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// The expected memory use of the server, in bytes.
    pub(crate) fn estimate(&self) -> u64 {
        self.estimate.load(Ordering::Relaxed)
    }

    /// Records the process at the top of the server's tree.
    pub(crate) fn set_process(&self, pid: i32) {
        self.process.store(pid, Ordering::Relaxed);
    }

    /// Returns its number in the ledger and the process at the top of the server's tree, if both
    /// exist.
    pub(crate) fn process(&self) -> Option<(u64, i32)> {
        let pid = Some(self.process.load(Ordering::Relaxed)).filter(|pid| *pid != 0)?;
        // A task that accesses the ledger holds the lock of the number; a process exists only after
        // the last such access.
        Some((self.id.try_lock().and_then(|id| *id)?, pid))
    }
}

impl Drop for StartTurn {
    fn drop(&mut self) {
        if let Some(id) = *self.id.get_mut() {
            self.share.end_start(id);
        }
    }
}
