//! The audit record of one call, written at its end in every case.

use std::time::Instant;

use serde_json::Value;

use super::call_feed::{CallFeed, FeedTicket};
use crate::analysis::error::ToolError;
use crate::policy::audit::{AuditEntry, AuditLog, AuditedApproval, timestamp, truncate_text};
use crate::policy::grants::origin;
use crate::policy::request::{CallSubjects, Effect, PolicyDecision, PolicyVerdict};
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::Caller;
use crate::tools::api::trace;

/// The audit entry of one call, written when this is dropped.
pub(crate) struct CallRecorder<'a> {
    audit: Option<&'a AuditLog>,
    feed: Option<FeedTicket>,
    started: Instant,
    entry: AuditEntry,
}

impl<'a> CallRecorder<'a> {
    pub(crate) fn new(audit: Option<&'a AuditLog>, caller: &Caller, tool: &str, arguments: &Value) -> Self {
        let entry = AuditEntry {
            time: timestamp(),
            session: truncate_text(&caller.session),
            agent: caller.agent.as_deref().map(truncate_text),
            // Matches the form that `TraceContext` demands, so it needs no truncation.
            trace: audit.and_then(|_| trace::current()).map(|trace| trace.traceparent),
            tool: truncate_text(tool),
            effect: None,
            decision: None,
            rule: None,
            approval: None,
            hook: None,
            paths: Vec::new(),
            commands: Vec::new(),
            hosts: Vec::new(),
            duration_ms: 0,
            bytes_in: if audit.is_some() { json_size(arguments) } else { 0 },
            bytes_out: 0,
            // The value that remains if the call is dropped before its end.
            outcome: "cancelled".to_owned(),
        };
        Self { audit, feed: None, started: Instant::now(), entry }
    }

    /// Shows the call to the watchers of `feed`.
    pub(super) fn shown_in(mut self, feed: &CallFeed, arguments: &Value) -> Self {
        self.feed = feed.begin(&self.entry);
        if self.feed.is_some() && self.audit.is_none() {
            self.entry.bytes_in = json_size(arguments);
        }
        self
    }

    pub(crate) fn record_subjects(&mut self, effect: Effect, subjects: &CallSubjects) {
        self.entry.effect = Some(effect);
        self.entry.paths = subjects.paths.iter().map(|path| truncate_text(&path.display())).collect();
        self.entry.commands = subjects.commands.iter().map(|command| truncate_text(command)).collect();
        self.entry.hosts = subjects.urls.iter().map(|url| truncate_text(&origin(url))).collect();
        if let Some(feed) = &self.feed {
            feed.subjects(&self.entry);
        }
    }

    /// Records the decision, unless an earlier one was stricter: hooks and changed arguments cause
    /// further decisions.
    pub(crate) fn record_decision(&mut self, decision: &PolicyDecision) {
        if self.entry.decision.is_none_or(|before| before <= decision.verdict) {
            self.entry.decision = Some(decision.verdict);
            self.entry.rule = decision.rule.clone();
        }
    }

    pub(super) fn record_approval(&mut self, approved: AuditedApproval) {
        self.entry.approval = Some(approved);
    }

    pub(super) fn record_hook(&mut self, name: &str, verdict: Option<PolicyVerdict>) {
        self.entry.hook = Some(truncate_text(name));
        if let Some(verdict) = verdict {
            self.entry.decision = Some(verdict);
        }
    }

    /// Records the decision on a foreign action. Its outcome is unknown, because its host carries
    /// it out.
    pub(super) fn record_authorization(&mut self, allowed: bool) {
        self.entry.outcome = if allowed { "left to its host" } else { "denied" }.to_owned();
    }

    /// Records an action that no tool carries out, which has no answer to measure.
    pub(crate) fn record_action(&mut self, error: Option<&ToolError>) {
        let code = error.map(|error| serde_json::to_value(error.code).unwrap_or_default());
        self.entry.outcome = match &code {
            None => "ok".to_owned(),
            Some(code) => truncate_text(code.as_str().unwrap_or("failure")),
        };
    }

    pub(super) fn record_result(&mut self, result: &ToolResult) {
        if self.audit.is_none() && self.feed.is_none() {
            return;
        }
        if let Some(feed) = &mut self.feed {
            feed.answer(&result.value);
        }
        self.entry.bytes_out = result.text.as_ref().map_or_else(|| json_size(&result.value), String::len);
        let code = result.value.get("code").and_then(Value::as_str);
        self.entry.outcome = match (result.ok(), code) {
            (true, _) => "ok".to_owned(),
            (false, Some(code)) => truncate_text(code),
            (false, None) => "failure".to_owned(),
        };
    }
}

impl Drop for CallRecorder<'_> {
    fn drop(&mut self) {
        self.entry.duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(feed) = self.feed.take() {
            feed.end(&self.entry);
        }
        if let Some(audit) = self.audit {
            audit.add(&self.entry);
        }
    }
}

/// Returns the size of a value as JSON without serializing it into memory.
fn json_size(value: &Value) -> usize {
    struct RecordSizeCounter(usize);
    impl std::io::Write for RecordSizeCounter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = RecordSizeCounter(0);
    // A `Value` can always be written, and counting cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
