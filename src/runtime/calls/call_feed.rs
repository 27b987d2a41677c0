//! A feed of the last calls. Without a watcher it stores nothing, and each call costs one atomic
//! load.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::analysis::items::short_range::ShortRange;
use crate::policy::audit::AuditEntry;

/// The number of calls that the feed keeps, the newest first.
const MAX_FEED_CALLS: usize = 200;
/// The limit on paths, commands and hosts kept for one call, each.
const MAX_FEED_SUBJECTS: usize = 8;
/// The length limit of each of them, in characters.
const MAX_FEED_SUBJECT_CHARS: usize = 300;
/// The prefix length of a session id in the feed: long enough to tell sessions apart, too short to
/// impersonate one.
const MAX_FEED_SESSION_CHARS: usize = 8;
/// The number of new findings kept for one edit.
const MAX_FEED_NEW_FINDINGS: usize = 10;

/// The feed of one workspace's calls. Clones are cheap and share the same feed.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallFeed(Arc<CallFeedInner>);

#[derive(Debug, Default)]
struct CallFeedInner {
    watchers: AtomicUsize,
    ring: Mutex<CallFeedRing>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct CallFeedRing {
    next: u64,
    calls: VecDeque<FeedCall>,
}

/// One call, as the audit log has it in its final state, and the parts of its answer that people
/// look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FeedCall {
    /// A number that increases with each call.
    pub(crate) number: u64,
    /// True while the call runs.
    pub(crate) running: bool,
    /// The call. Its texts are shorter than in the audit log, and the session is a prefix.
    #[serde(flatten)]
    pub(crate) entry: AuditEntry,
    /// The parts of its answer; empty while the call runs.
    #[serde(flatten)]
    pub(crate) result: FeedResult,
}

/// A summary of how an edit changed the diagnostics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FeedDelta {
    /// The number of new findings.
    pub(crate) added: usize,
    /// The number of findings that disappeared.
    pub(crate) removed: usize,
    /// The number of unchanged findings.
    pub(crate) unchanged: u64,
    /// The number of errors in the checked files after the edit.
    pub(crate) errors: u64,
    /// The verdict of the comparison.
    pub(crate) verdict: Option<String>,
    /// The first new findings.
    pub(crate) first: Vec<FeedFinding>,
}

/// A finding that an edit introduced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FeedFinding {
    /// The file's path, relative to the workspace.
    pub(crate) path: String,
    /// The 1-based line.
    pub(crate) line: u64,
    /// The severity of the finding.
    pub(crate) severity: String,
    /// The message of the finding.
    pub(crate) message: String,
}

/// Makes the feed keep calls while it lives.
#[derive(Debug)]
pub(crate) struct CallFeedWatch(CallFeed);

impl Drop for CallFeedWatch {
    fn drop(&mut self) {
        let inner = &self.0.0;
        if inner.watchers.fetch_sub(1, Ordering::Relaxed) == 1 {
            inner.ring.lock().calls = VecDeque::new();
        }
    }
}

/// The handle that updates a call's entry in the feed.
#[derive(Debug)]
pub(super) struct FeedTicket {
    feed: CallFeed,
    number: u64,
    result: FeedResult,
}

/// The parts of an answer that the feed keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct FeedResult {
    /// The verdict of the answer, if the tool gives one.
    pub(crate) verdict: Option<String>,
    /// The id that undoes the call's edit.
    pub(crate) undo: Option<String>,
    /// The change of the diagnostics caused by that edit.
    pub(crate) delta: Option<FeedDelta>,
}

impl CallFeed {
    /// Records calls until the returned guard is dropped.
    pub(crate) fn watch(&self) -> CallFeedWatch {
        self.0.watchers.fetch_add(1, Ordering::Relaxed);
        CallFeedWatch(self.clone())
    }

    /// Wakes at each start and end of a call in the feed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The calls in the feed, the newest first.
    pub(crate) fn calls(&self) -> Vec<FeedCall> {
        self.0.ring.lock().calls.iter().rev().cloned().collect()
    }

    /// Records the start of a call. Returns `None` if the feed has no watcher.
    pub(super) fn begin(&self, entry: &AuditEntry) -> Option<FeedTicket> {
        if self.0.watchers.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut ring = self.0.ring.lock();
        let number = ring.next;
        ring.next += 1;
        if ring.calls.len() >= MAX_FEED_CALLS {
            ring.calls.pop_front();
        }
        let result = FeedResult::default();
        ring.calls.push_back(FeedCall { number, running: true, entry: shortened(entry), result });
        drop(ring);
        self.notify();
        Some(FeedTicket { feed: self.clone(), number, result: FeedResult::default() })
    }

    fn notify(&self) {
        self.0.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    fn update(&self, number: u64, change: impl FnOnce(&mut FeedCall)) {
        let mut ring = self.0.ring.lock();
        if let Some(call) = ring.calls.iter_mut().rev().find(|call| call.number == number) {
            change(call);
        }
        drop(ring);
        self.notify();
    }
}

impl FeedTicket {
    /// Records the subjects of the call once they are known.
    pub(super) fn subjects(&self, entry: &AuditEntry) {
        self.feed.update(self.number, |call| call.entry = shortened(entry));
    }

    /// Records the parts of the answer that the feed shows beside its size.
    pub(super) fn answer(&mut self, value: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let delta = value.get("diagnostics").filter(|delta| delta.get("unchanged").is_some());
        let verdict = value.get("verdict").or_else(|| delta.and_then(|delta| delta.get("verdict")));
        self.result = FeedResult {
            verdict: verdict.and_then(text),
            undo: value.get("undo").and_then(text),
            delta: delta.map(short_delta),
        };
    }

    /// Records the end of the call.
    pub(super) fn end(self, entry: &AuditEntry) {
        self.feed.update(self.number, |call| {
            (call.running, call.entry, call.result) = (false, shortened(entry), self.result);
        });
    }
}

/// Returns the entry with the texts that the feed keeps.
fn shortened(entry: &AuditEntry) -> AuditEntry {
    let short = |texts: &[String]| -> Vec<String> {
        let cut = |text: &String| text.chars().take(MAX_FEED_SUBJECT_CHARS).collect();
        texts.iter().take(MAX_FEED_SUBJECTS).map(cut).collect()
    };
    AuditEntry {
        session: entry.session.chars().take(MAX_FEED_SESSION_CHARS).collect(),
        paths: short(&entry.paths),
        commands: short(&entry.commands),
        hosts: short(&entry.hosts),
        ..entry.clone()
    }
}

/// Parses the 0-based line of a finding.
fn line_of(item: &Value) -> Option<u64> {
    let ShortRange(range) = ShortRange::parse(item["at"].as_str()?)?;
    Some(range.start.line.into())
}

/// Summarizes the field `diagnostics` of an edit's answer.
fn short_delta(delta: &Value) -> FeedDelta {
    let added = delta["added"].as_array().map(Vec::as_slice).unwrap_or_default();
    let more = delta["more"].as_array().map(Vec::as_slice).unwrap_or_default();
    let further: usize = more.iter().map(|more| more["at"].as_array().map_or(0, Vec::len)).sum();
    let text =
        |value: &Value| value.as_str().unwrap_or_default().chars().take(MAX_FEED_SUBJECT_CHARS).collect();
    let finding = |item: &Value| FeedFinding {
        path: text(&item["path"]),
        line: line_of(item).unwrap_or(0) + 1,
        severity: text(&item["severity"]),
        message: text(&item["message"]),
    };
    FeedDelta {
        added: added.len() + further,
        removed: delta["removed"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0),
        unchanged: delta["unchanged"].as_u64().unwrap_or(0),
        errors: delta["errors"].as_u64().unwrap_or(0),
        verdict: delta["verdict"].as_str().map(str::to_owned),
        first: added.iter().take(MAX_FEED_NEW_FINDINGS).map(finding).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::audit::timestamp;

    fn entry(tool: &str) -> AuditEntry {
        AuditEntry {
            time: timestamp(),
            session: "0123456789abcdef".into(),
            agent: None,
            trace: None,
            tool: tool.into(),
            effect: None,
            decision: None,
            rule: None,
            approval: None,
            hook: None,
            paths: vec!["a".into()],
            commands: Vec::new(),
            hosts: Vec::new(),
            duration_ms: 0,
            bytes_in: 2,
            bytes_out: 3,
            outcome: "ok".into(),
        }
    }

    #[test]
    fn call_feed_keeps_calls_only_while_watched_and_so_many() {
        let feed = CallFeed::default();
        assert!(feed.begin(&entry("read")).is_none());
        let watch = feed.watch();
        let mut ticket = feed.begin(&entry("edit")).expect("a ticket");
        assert_eq!((feed.calls().len(), feed.calls()[0].running), (1, true));
        let added = json!({"path": "a.py", "at": "4:1", "severity": "error", "message": "no"});
        ticket.answer(&json!({"ok": true, "undo": "e1", "diagnostics":
            {"added": [added], "removed": 2, "unchanged": 1, "errors": 1, "verdict": "complete"}}));
        ticket.end(&entry("edit"));
        let call = feed.calls().remove(0);
        assert_eq!(
            (call.running, call.entry.session.as_str(), call.result.undo.as_deref()),
            (false, "01234567", Some("e1"))
        );
        let delta = call.result.delta.expect("a delta");
        assert_eq!((delta.added, delta.removed, delta.first[0].line), (1, 2, 4));
        assert_eq!(call.result.verdict.as_deref(), Some("complete"));
        for _ in 0..MAX_FEED_CALLS * 2 {
            drop(feed.begin(&entry("read")));
        }
        assert_eq!(feed.calls().len(), MAX_FEED_CALLS);
        drop(watch);
        assert!(feed.calls().is_empty() && feed.begin(&entry("read")).is_none());
    }
}
