//! Servers that answer for no file of a check, so that the other files need not wait for them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::stored_reports::ServerAtRoot;

/// The minimum number of unanswered files until a server may count as silent.
const MIN_SILENT_FILES: usize = 8;
/// The time without an answer until a server counts as silent, as a multiple of the limit per file.
const SILENCE_LIMITS: u32 = 3;
/// The shortest and the longest such time: a shorter one would fail slow servers, a longer one
/// would wait in vain.
const SILENCE: RangeInclusive<Duration> = Duration::from_secs(10)..=Duration::from_secs(45);

/// Records which servers have answered during one check.
#[derive(Debug, Default)]
pub(crate) struct ServerSilence {
    servers: Mutex<BTreeMap<ServerAtRoot, ServerRecord>>,
}

#[derive(Debug, Default)]
struct ServerRecord {
    /// True if it answered for a file.
    has_answered: bool,
    /// The number of files for which it did not answer in time.
    unanswered: usize,
    /// The time of the first request without an answer.
    silent_since: Option<Instant>,
}

impl ServerSilence {
    /// Records that `server` answered for a file.
    pub(super) fn record_answer(&self, server: &ServerAtRoot) {
        self.servers.lock().entry(server.clone()).or_default().has_answered = true;
    }

    /// Records that `server` did not answer for a file, and that nothing explains it.
    pub(super) fn record_silence(&self, server: &ServerAtRoot, asked: Instant) {
        let mut servers = self.servers.lock();
        let record = servers.entry(server.clone()).or_default();
        record.unanswered += 1;
        record.silent_since.get_or_insert(asked);
    }

    /// Returns true if `server` answered for a file.
    pub(super) fn has_answered(&self, server: &ServerAtRoot) -> bool {
        self.servers.lock().get(server).is_some_and(|record| record.has_answered)
    }

    /// The number of files for which `server` has not answered, if it counts as silent in a check
    /// that waits for `limit` per file.
    pub(super) fn unanswered(&self, server: &ServerAtRoot, limit: Duration) -> Option<usize> {
        let servers = self.servers.lock();
        let record = servers.get(server)?;
        let longest = limit.saturating_mul(SILENCE_LIMITS).clamp(*SILENCE.start(), *SILENCE.end());
        let is_long = record.silent_since.is_some_and(|since| since.elapsed() >= longest);
        let is_silent = !record.has_answered && record.unanswered >= MIN_SILENT_FILES && is_long;
        is_silent.then_some(record.unanswered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::WorkspacePath;

    const LIMIT: Duration = Duration::from_secs(1);

    #[test]
    fn server_is_silent_after_several_files_if_it_never_answered_in_that_root() {
        let silence = ServerSilence::default();
        let of = |root: &str| ("pyright".to_owned(), WorkspacePath::root().join(root).unwrap());
        let long_ago = Instant::now() - Duration::from_secs(20);
        for _ in 0..MIN_SILENT_FILES - 1 {
            silence.record_silence(&of("a"), long_ago);
        }
        assert_eq!(silence.unanswered(&of("a"), LIMIT), None);
        silence.record_silence(&of("a"), long_ago);
        assert_eq!(silence.unanswered(&of("a"), LIMIT), Some(MIN_SILENT_FILES));
        assert_eq!(silence.unanswered(&of("a"), Duration::from_secs(10)), None, "three limits are longer");
        assert_eq!(silence.unanswered(&of("b"), LIMIT), None, "another session");
        silence.record_answer(&of("b"));
        assert!(silence.has_answered(&of("b")) && !silence.has_answered(&of("a")));
        silence.record_answer(&of("a"));
        assert_eq!(silence.unanswered(&of("a"), LIMIT), None);
    }
}
