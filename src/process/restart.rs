//! The rule for restarting a program that ended: at once after its first end, then with growing
//! pauses, then after a window. Language servers, mounted MCP servers and the Copilot language
//! server follow this one rule.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Ends within this time count together.
pub(crate) const RESTART_WINDOW: Duration = Duration::from_secs(180);
/// The pauses after the first, second, … end within the window; after one end more the program
/// stays down.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// The ends of one program, and its failed starts.
#[derive(Debug, Default)]
pub(crate) struct RestartBackoff {
    ends: VecDeque<Instant>,
}

impl RestartBackoff {
    /// Records that the program ended, or that its start failed.
    pub(crate) fn record_end(&mut self) {
        self.ends.push_back(Instant::now());
    }

    /// Clears all ends: the program has shown that it works.
    pub(crate) fn reset(&mut self) {
        self.ends.clear();
    }

    /// The number of recent exits.
    pub(crate) fn recent_exits(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the program has ended too often to be restarted.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.ends.len() > PAUSES.len()
    }

    /// Returns the time at which the program may be started, which may be in the past.
    ///
    /// # Errors
    /// The end of the window, if the program ended too often in it.
    pub(crate) fn next_start(&mut self) -> Result<Instant, Instant> {
        let now = Instant::now();
        self.ends.retain(|end| now - *end < RESTART_WINDOW);
        let (Some(first), Some(last)) = (self.ends.front(), self.ends.back()) else { return Ok(now) };
        PAUSES.get(self.ends.len() - 1).map(|pause| *last + *pause).ok_or(*first + RESTART_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep_until};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn restart_backoff_grows_and_ends_with_its_window() {
        let mut backoff = RestartBackoff::default();
        let mut waits = Vec::new();
        while let Ok(moment) = backoff.next_start() {
            waits.push(moment.saturating_duration_since(Instant::now()).as_secs());
            sleep_until(moment).await;
            backoff.record_end();
        }
        assert_eq!(waits, [0, 0, 1, 2, 4]);
        assert!(backoff.is_exhausted());
        let again = backoff.next_start().unwrap_err();
        assert!(again - Instant::now() > Duration::from_secs(150));
        sleep_until(again).await;
        assert!(backoff.next_start().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn restart_backoff_is_cleared_by_reset_and_elapsed_window() {
        let mut backoff = RestartBackoff::default();
        (0..3).for_each(|_| backoff.record_end());
        assert!(backoff.next_start().unwrap() > Instant::now());
        backoff.reset();
        assert_eq!((backoff.next_start(), backoff.recent_exits()), (Ok(Instant::now()), 0));
        backoff.record_end();
        advance(RESTART_WINDOW).await;
        assert_eq!((backoff.next_start(), backoff.recent_exits()), (Ok(Instant::now()), 0));
    }
}
