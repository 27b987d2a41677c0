//! Being asked to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::tools::error::{ErrorCode, ToolError};

/// Ctrl-C, SIGTERM and SIGHUP.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on; none of them ends the process by itself any more.
    ///
    /// # Errors
    /// When the system refuses, which leaves no orderly way to be stopped.
    pub fn listen() -> Result<Self, ToolError> {
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

    /// Waits for the next of them. Cancel safe.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
