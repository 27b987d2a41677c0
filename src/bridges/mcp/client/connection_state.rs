//! The connection state of a mounted server, with its restarts.

use std::sync::Arc;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::connect::MountConnection;
use super::unauthorized::Challenge;
use crate::process::restart::RestartBackoff;

/// The state of one mounted server.
#[derive(Debug, Default)]
pub(super) struct MountConnectionState {
    pub(super) connection: Option<Arc<MountConnection>>,
    /// The backoff after exits and failed starts.
    pub(super) backoff: RestartBackoff,
    /// The reason why the server is not running, unless it is stopped by design.
    pub(super) error: Option<String>,
    /// The server's challenge, if it requires authorization.
    pub(super) challenge: Option<Challenge>,
    /// The time of the failure.
    pub(super) failed_at: Option<Instant>,
    /// The number of handled change notifications.
    pub(super) followed: u64,
    /// The time of the last use.
    pub(super) used: Option<Instant>,
    /// The task that stops the idle server.
    pub(super) idle: Option<AbortHandle>,
}

impl MountConnectionState {
    /// Records a failure. `counts` adds it to the backoff.
    pub(super) fn record_failure(&mut self, error: String, counts: bool) {
        let now = Instant::now();
        self.error = Some(error);
        self.challenge = None;
        self.failed_at = Some(now);
        if counts {
            self.backoff.record_end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn mounted_server_that_could_not_start_has_not_ended() {
        let mut live = MountConnectionState::default();
        live.record_failure("it ended".to_owned(), true);
        live.record_failure("its program is not there".to_owned(), false);
        assert_eq!(live.backoff.recent_exits(), 1);
    }
}
