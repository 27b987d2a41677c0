//! What is going on with a mounted server: its connection, and how often it ended, which decides when it may be started again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::connect::MountConnection;
use super::unauthorized::Challenge;

/// A server that ends so often within [`WINDOW`] is not started again until that is over.
const MOST_ENDS: usize = 5;
/// The time within which ends count.
pub(super) const WINDOW: Duration = Duration::from_secs(180);
/// Before the second, third, … start after an end; the first one after an end comes at once.
const PAUSES: [Duration; MOST_ENDS] =
    [Duration::ZERO, Duration::ZERO, Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// What is going on.
#[derive(Debug, Default)]
pub(super) struct MountConnectionState {
    pub(super) connection: Option<Arc<MountConnection>>,
    /// When it ended or did not start, of late.
    ends: VecDeque<Instant>,
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
    pub(super) fn failed(&mut self, error: String, counts: bool) {
        let now = Instant::now();
        self.error = Some(error);
        self.challenge = None;
        self.failed_at = Some(now);
        if counts {
            self.ends.push_back(now);
        }
    }

    /// When it may be started; `Err` with the moment where that is too far off to wait for.
    pub(super) fn may_start(&mut self) -> Result<Instant, Instant> {
        let now = Instant::now();
        self.ends.retain(|end| now - *end < WINDOW);
        match (self.ends.front(), self.ends.back(), PAUSES.get(self.ends.len())) {
            (Some(first), _, None) => Err(*first + WINDOW),
            (_, Some(last), Some(pause)) => Ok(*last + *pause),
            _ => Ok(now),
        }
    }

    /// How often it ended of late.
    pub(super) fn ended(&self) -> usize {
        self.ends.len()
    }

    /// Whether it ended so often that it is left alone.
    pub(super) fn is_given_up(&self) -> bool {
        self.ends.len() >= MOST_ENDS
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep_until;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_keeps_ending_is_left_alone_for_a_while() {
        let mut live = MountConnectionState::default();
        let mut waits = Vec::new();
        while let Ok(moment) = live.may_start() {
            waits.push(moment.saturating_duration_since(Instant::now()).as_secs());
            sleep_until(moment).await;
            live.failed("it ended".to_owned(), true);
        }
        assert_eq!(waits, [0, 0, 1, 2, 4]);
        let again = live.may_start().unwrap_err();
        assert!(again - Instant::now() > Duration::from_secs(150));
        sleep_until(again).await;
        assert!(live.may_start().is_ok());
        // What could never have started is no end.
        let before = live.ends.len();
        live.failed("its program is not there".to_owned(), false);
        assert_eq!(live.ends.len(), before);
    }
}
