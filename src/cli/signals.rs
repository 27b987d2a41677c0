//! Signals that ask the process to stop.
//!
//! A process that is asked ends in order: it gives its answers up and ends its servers. For that it has to listen, and a thread that
//! waits for a file or a program that does not answer hears nothing. So one thread does nothing but watch that the process
//! ends all the same; what is supervised is then ended by its supervisors.

use std::future::pending;
use std::sync::Once;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::exit::CliExitStatus;
use crate::tools::error::{ErrorCode, ToolError};

/// A signal that nobody has taken up by then ends the process.
const UNHANDLED_SIGNAL_TIMEOUT: Duration = Duration::from_secs(4);
/// One that was taken up has ended it by then: longer than all that an orderly end may wait for.
const SIGNAL_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(40);
/// How much earlier than the watching thread another may have heard the same signal.
const DUPLICATE_SIGNAL_WINDOW: Duration = Duration::from_millis(200);

/// What has become of the signals so far.
static HEARD: Mutex<SignalHistory> = Mutex::new(SignalHistory { last: None, ends: None });

struct SignalHistory {
    /// When one was taken up last.
    last: Option<Instant>,
    /// When the process ends that was told to by one.
    ends: Option<Instant>,
}

impl SignalHistory {
    fn since(&self, arrived: Instant) -> bool {
        self.last.is_some_and(|last| last + DUPLICATE_SIGNAL_WINDOW >= arrived)
    }
}

/// Ctrl-C, SIGTERM and SIGHUP.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on; none of them ends the process by itself any more, unless nobody asks for the [`next`](Self::next).
    ///
    /// # Errors
    /// When the system refuses, which leaves no orderly way to be stopped.
    pub(super) fn listen() -> Result<Self, ToolError> {
        static WATCHED: Once = Once::new();
        let signals = Self::receive()?;
        if WATCHED.is_completed() {
            return Ok(signals);
        }
        // Made here and not in the thread, so that the watch also hears a signal that comes before its thread runs, while the caller
        // may be blocked.
        let watched = Self::receive()?;
        WATCHED.call_once(|| {
            let watch = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                match runtime.map(|runtime| runtime.block_on(watch(watched))) {
                    Ok(never) => match never {},
                    Err(error) => tracing::warn!("signals are not watched: {error}"),
                }
            };
            if let Err(error) = std::thread::Builder::new().name("signals".to_owned()).spawn(watch) {
                tracing::warn!("signals are not watched: {error}");
            }
        });
        Ok(signals)
    }

    fn receive() -> Result<Self, ToolError> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                ToolError::new(ErrorCode::Internal, format!("signals cannot be listened to: {error}"))
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next of them, after which the process ends. Cancel safe.
    pub(super) async fn next(&mut self) {
        self.arrival().await;
        let now = Instant::now();
        let mut heard = HEARD.lock();
        heard.last = Some(now);
        heard.ends.get_or_insert(now + SIGNAL_SHUTDOWN_TIMEOUT);
    }

    /// As [`next`](Self::next), where it ends only what is under way, and the process goes on.
    pub(super) async fn interrupt(&mut self) {
        self.arrival().await;
        HEARD.lock().last = Some(Instant::now());
    }

    async fn arrival(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Ends the process where a signal did not.
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
                    let heard = HEARD.lock();
                    (unheard.is_none_or(|arrived| heard.since(arrived)), heard.ends)
                };
                if !is_heard || ends.is_some_and(|ends| ends <= Instant::now()) {
                    // Nothing is told: what hangs may hold the log, or the terminal.
                    std::process::exit(i32::from(CliExitStatus::Interrupted.code()));
                }
                unheard = None;
            }
        }
    }
}
