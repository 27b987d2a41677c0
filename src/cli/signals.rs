//! Signals that stop the process.
//!
//! On a signal the process cancels its work and ends its servers in order. It must be able to
//! receive the signal for that, and a thread blocked by a file or program cannot. So a dedicated
//! thread ensures that the process exits in any case; supervised processes are then ended by their
//! supervisors.

use std::future::pending;
use std::sync::Once;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

use super::exit::CliExitStatus;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::platform::signals::EndRequests;

/// The time after which an unhandled signal ends the process.
const UNHANDLED_SIGNAL_TIMEOUT: Duration = Duration::from_secs(4);
/// The time after which a handled signal ends the process, longer than all waits of an orderly
/// shutdown.
const SIGNAL_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(40);
/// The time by which another thread may have received the same signal before the watching thread.
const DUPLICATE_SIGNAL_WINDOW: Duration = Duration::from_millis(200);

/// The history of signals so far.
static HEARD: Mutex<SignalHistory> = Mutex::new(SignalHistory { last: None, ends: None });

struct SignalHistory {
    /// The time of the last handled signal.
    last: Option<Instant>,
    /// The deadline for the exit after a signal.
    ends: Option<Instant>,
}

impl SignalHistory {
    fn since(&self, arrived: Instant) -> bool {
        self.last.is_some_and(|last| last + DUPLICATE_SIGNAL_WINDOW >= arrived)
    }
}

/// The listener for signals that stop the process.
#[derive(Debug)]
pub(super) struct Signals(EndRequests);

impl Signals {
    /// Starts to listen. From now on none of the signals ends the process by itself, unless
    /// [`next`](Self::next) is not awaited.
    ///
    /// # Errors
    /// The system refuses, so that an orderly shutdown would be impossible.
    pub(super) fn listen() -> Result<Self, ToolError> {
        static WATCHED: Once = Once::new();
        let signals = Self::receive()?;
        if WATCHED.is_completed() {
            return Ok(signals);
        }
        // Created here and not in the thread, so that the watch also receives a signal that arrives
        // before its thread runs, while the caller may be blocked.
        let watched = Self::receive()?;
        WATCHED.call_once(|| {
            let watch = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                match runtime.map(|runtime| runtime.block_on(watch(watched))) {
                    Ok(never) => match never {},
                    Err(error) => tracing::warn!("signals are not handled: {error}"),
                }
            };
            if let Err(error) = std::thread::Builder::new().name("signals".to_owned()).spawn(watch) {
                tracing::warn!("signals are not handled: {error}");
            }
        });
        Ok(signals)
    }

    fn receive() -> Result<Self, ToolError> {
        EndRequests::listen().map(Self).map_err(|error| {
            ToolError::new(ErrorCode::Internal, format!("signals cannot be listened to: {error}"))
        })
    }

    /// Waits for the next signal, after which the process exits. Cancel safe.
    pub(super) async fn next(&mut self) {
        self.arrival().await;
        let now = Instant::now();
        let mut received = HEARD.lock();
        received.last = Some(now);
        received.ends.get_or_insert(now + SIGNAL_SHUTDOWN_TIMEOUT);
    }

    /// Like [`next`](Self::next), for a signal that cancels only the current work; the process
    /// continues.
    pub(super) async fn interrupt(&mut self) {
        self.arrival().await;
        HEARD.lock().last = Some(Instant::now());
    }

    async fn arrival(&mut self) {
        self.0.next().await;
    }
}

/// Ends the process if a signal was not handled in time.
async fn watch(mut signals: Signals) -> std::convert::Infallible {
    let mut unheard: Option<Instant> = None;
    loop {
        let ends = HEARD.lock().ends;
        let until = unheard.map(|arrived| arrived + UNHANDLED_SIGNAL_TIMEOUT).into_iter().chain(ends).min();
        let time = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = signals.arrival() => {
                if unheard.is_none_or(|arrived| HEARD.lock().since(arrived)) {
                    unheard = Some(Instant::now());
                }
            }
            () = time => {
                let (is_heard, ends) = {
                    let received = HEARD.lock();
                    (unheard.is_none_or(|arrived| received.since(arrived)), received.ends)
                };
                if !is_heard || ends.is_some_and(|ends| ends <= Instant::now()) {
                    // Prints and logs nothing, since the blocked code may hold the log or the
                    // terminal.
                    std::process::exit(i32::from(CliExitStatus::Interrupted.code()));
                }
                unheard = None;
            }
        }
    }
}
