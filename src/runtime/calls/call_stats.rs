//! Statistics of calls: counts and times by name, and running calls.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::lsp::session::latency::Latencies;

/// The number of distinct names that are counted separately.
const MAX_TALLIED_NAMES: usize = 500;
/// The name under which all further names are counted together.
const OTHERS: &str = "others";

/// Statistics of calls. Clones are cheap and share the same counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<TallyCounts>>);

#[derive(Debug, Default)]
struct TallyCounts {
    running: usize,
    by_name: BTreeMap<String, TallyEntry>,
    /// Counters of the sessions that have a listener.
    of_sessions: HashMap<String, Arc<AtomicU64>>,
}

/// Counts the calls of a session while it lives.
#[derive(Debug)]
pub(crate) struct SessionCallCountGuard {
    tally: Tally,
    session: String,
}

impl Drop for SessionCallCountGuard {
    fn drop(&mut self) {
        self.tally.0.lock().of_sessions.remove(&self.session);
    }
}

#[derive(Debug, Default)]
struct TallyEntry {
    calls: u64,
    times: Latencies,
}

/// Statistics of the calls under one name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallStatistics {
    /// The name of the tool or command.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The median time of recent calls, in milliseconds.
    pub median_ms: f64,
    /// The 99th percentile of the same times, in milliseconds.
    pub p99_ms: f64,
}

/// A running call, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct TalliedCall {
    tally: Tally,
    name: String,
    started: Instant,
}

impl Tally {
    /// Starts to measure a call of `name`.
    pub(crate) fn begin_call(&self, name: &str) -> TalliedCall {
        self.0.lock().running += 1;
        TalliedCall { tally: self.clone(), name: name.to_owned(), started: Instant::now() }
    }

    /// Starts to measure a call of `name` in `session`.
    pub(crate) fn begin_session_call(&self, name: &str, session: &str) -> TalliedCall {
        if let Some(calls) = self.0.lock().of_sessions.get(session) {
            calls.fetch_add(1, Ordering::Relaxed);
        }
        self.begin_call(name)
    }

    /// Adds one to `calls` for each call of `session`, until the returned guard is dropped.
    pub(crate) fn count(&self, session: &str, calls: Arc<AtomicU64>) -> SessionCallCountGuard {
        self.0.lock().of_sessions.insert(session.to_owned(), calls);
        SessionCallCountGuard { tally: self.clone(), session: session.to_owned() }
    }

    /// The number of calls running now.
    pub(crate) fn running(&self) -> usize {
        self.0.lock().running
    }

    /// Returns the statistics of all names in alphabetical order.
    pub(crate) fn statistics(&self) -> Vec<CallStatistics> {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
        let counts = self.0.lock();
        let rows = counts.by_name.iter().filter_map(|(name, count)| {
            let (median, p99) = count.times.median_and_p99()?;
            Some(CallStatistics {
                name: name.clone(),
                calls: count.calls,
                median_ms: milliseconds(median),
                p99_ms: milliseconds(p99),
            })
        });
        rows.collect()
    }
}

impl Drop for TalliedCall {
    fn drop(&mut self) {
        let mut counts = self.tally.0.lock();
        counts.running -= 1;
        let known = counts.by_name.len() < MAX_TALLIED_NAMES || counts.by_name.contains_key(&self.name);
        let name = if known { std::mem::take(&mut self.name) } else { OTHERS.to_owned() };
        let count = counts.by_name.entry(name).or_default();
        count.calls += 1;
        count.times.add(self.started.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tally_counts_calls_from_begin_to_drop() {
        let tally = Tally::default();
        let (first, second) = (tally.begin_call("read"), tally.begin_call("grep"));
        assert_eq!((tally.running(), tally.statistics().len()), (2, 0));
        drop(first);
        drop(tally.begin_call("read"));
        drop(second);
        let told: Vec<(String, u64)> =
            tally.statistics().into_iter().map(|count| (count.name, count.calls)).collect();
        assert_eq!((tally.running(), told), (0, vec![("grep".to_owned(), 1), ("read".to_owned(), 2)]));
    }

    #[test]
    fn tally_counts_calls_of_session_while_counter_is_held() {
        let tally = Tally::default();
        let calls = Arc::new(AtomicU64::new(0));
        drop(tally.begin_session_call("read", "one"));
        let counting = tally.count("one", calls.clone());
        drop(tally.begin_session_call("read", "one"));
        drop(tally.begin_session_call("grep", "other"));
        drop(counting);
        drop(tally.begin_session_call("read", "one"));
        assert_eq!((calls.load(Ordering::Relaxed), tally.statistics().len()), (1, 2));
        assert!(tally.0.lock().of_sessions.is_empty());
    }

    #[test]
    fn tally_of_unknown_tool_names_is_bounded() {
        let tally = Tally::default();
        for number in 0..2_000 {
            drop(tally.begin_call(&format!("made-up-{number}")));
        }
        let told = tally.statistics();
        assert_eq!(told.len(), MAX_TALLIED_NAMES + 1);
        assert_eq!(told.iter().map(|count| count.calls).sum::<u64>(), 2_000);
    }
}
