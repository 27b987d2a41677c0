//! The servers that answer for no file of a check, so that the other files need not wait for them.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The number of files without an answer after which a server may count as silent.
const MIN_SILENT_FILES: usize = 8;
/// The time without an answer after which a server counts as silent.
const MAX_SILENCE: Duration = Duration::from_secs(45);
/// The same, as a multiple of the time limit of a file.
const MAX_SILENCE_LIMITS: u32 = 3;

/// What the servers answered during one check.
#[derive(Debug, Default)]
pub(crate) struct ServerSilence {
    servers: Mutex<BTreeMap<String, HeardServer>>,
}

#[derive(Debug, Default)]
struct HeardServer {
    /// True if it answered for a file.
    has_answered: bool,
    /// The files for which it did not answer in time.
    unanswered: usize,
    /// The time of the first request that is known to have had no answer.
    silent_since: Option<Instant>,
}

impl ServerSilence {
    /// Records that `server` answered for a file.
    pub(super) fn record_answer(&self, server: &str) {
        self.servers.lock().entry(server.to_owned()).or_default().has_answered = true;
    }

    /// Records that `server` did not answer for a file, and that nothing explains it.
    pub(super) fn record_silence(&self, server: &str, asked: Instant) {
        let mut servers = self.servers.lock();
        let heard = servers.entry(server.to_owned()).or_default();
        heard.unanswered += 1;
        heard.silent_since.get_or_insert(asked);
    }

    /// True if `server` answered for a file.
    pub(super) fn has_answered(&self, server: &str) -> bool {
        self.servers.lock().get(server).is_some_and(|heard| heard.has_answered)
    }

    /// The number of files for which `server` has not answered, if it counts as silent in a check
    /// that waits for `limit` per file.
    pub(super) fn unanswered(&self, server: &str, limit: Duration) -> Option<usize> {
        let servers = self.servers.lock();
        let heard = servers.get(server)?;
        let longest = MAX_SILENCE.min(limit.saturating_mul(MAX_SILENCE_LIMITS));
        let is_long = heard.silent_since.is_some_and(|since| since.elapsed() >= longest);
        let is_silent = !heard.has_answered && heard.unanswered >= MIN_SILENT_FILES && is_long;
        is_silent.then_some(heard.unanswered)
    }
}
