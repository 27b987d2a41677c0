//! The connection state of a mounted server, with its restarts.

use std::sync::Arc;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::connect::MountConnection;
use super::unauthorized::Challenge;
use crate::process::restart::RestartBackoff;

/// What is going on.
#[derive(Debug, Default)]
pub(super) struct MountConnectionState {
    pub(super) connection: Option<Arc<MountConnection>>,
    /// Its ends, and its failed starts.
    pub(super) backoff: RestartBackoff,
    /// Why it is not running, where that is no choice.
    pub(super) error: Option<String>,
    /// What it wants of whoever it lets in, where that is why.
    pub(super) challenge: Option<Challenge>,
    /// When that was found out.
    pub(super) failed_at: Option<Instant>,
    /// The changes of its tools that have been looked at.
    pub(super) followed: u64,
    /// When it was asked for the last time.
    pub(super) used: Option<Instant>,
    /// The task that stops it when nobody needs it.
    pub(super) idle: Option<AbortHandle>,
}

impl MountConnectionState {
    /// Notes why it is not running; `counts` where it was, or was to be.
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
