//! The count of a server's requests to pull diagnostics again (LSP 3.17, *Diagnostics Refresh*).

use std::time::Duration;

use tokio::time::Instant;

/// The time in which a server may still react to a change by such requests.
const REACTION_TIME: Duration = Duration::from_secs(10);

/// Counts the requests that may be about other findings.
#[derive(Debug)]
pub(crate) struct Refreshes {
    count: u64,
    /// The time of the start, or of the last change of which the server was notified.
    last_change: Instant,
}

impl Refreshes {
    /// No requests of a server that starts at `now`.
    pub(crate) fn new(now: Instant) -> Self {
        Self { count: 0, last_change: now }
    }

    /// The number of the counted requests.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Records a change of files or texts of which the server is notified.
    pub(crate) fn note_change(&mut self, now: Instant) {
        self.last_change = now;
    }

    /// Counts a request. If findings change only after changes (`keeps_findings`), a later request
    /// announces nothing: Pyright sends one whenever documents were opened or closed.
    pub(crate) fn add(&mut self, keeps_findings: bool, now: Instant) {
        if !keeps_findings || now.duration_since(self.last_change) < REACTION_TIME {
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_long_after_the_last_change_counts_only_if_findings_change_by_themselves() {
        let start = Instant::now();
        let counted = |keeps_findings: bool, change: Duration, request: Duration| {
            let mut refreshes = Refreshes::new(start);
            refreshes.note_change(start + change);
            refreshes.add(keeps_findings, start + change + request);
            refreshes.count() == 1
        };
        assert!(counted(true, Duration::ZERO, Duration::from_secs(1)));
        assert!(!counted(true, Duration::ZERO, REACTION_TIME));
        assert!(counted(true, REACTION_TIME, Duration::from_secs(1)), "the change is the last one");
        assert!(counted(false, Duration::ZERO, REACTION_TIME));
    }
}
