//! Findings of a server that are not shown.
//!
//! There are two kinds: findings by which it reports that one of its checkers has failed, and
//! findings that the catalogue leaves out.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::findings::{DiagnosticsCompleteness, RawDiagnostics};
use crate::config::spec::{FailedCheck, LeftOutFinding};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::live_session::Session;
use crate::lsp::uri;
use crate::workspace::WorkspacePath;

impl FailedCheck {
    /// Returns true if `item`, an LSP 3.17 *Diagnostic*, reports the failure.
    fn is_told_by(&self, item: &Value) -> bool {
        item["source"].as_str() == Some(&self.source)
            && item["message"].as_str().is_some_and(|message| self.matches.is_in(message))
    }
}

impl LeftOutFinding {
    fn has(&self, path: &WorkspacePath, source: Option<&str>, message: &str) -> bool {
        let is_own = |extension: &str| self.only_in.iter().any(|own| own == extension);
        source == Some(&self.source)
            && self.matches.is_in(message)
            && (self.only_in.is_empty() || path.extension().is_some_and(is_own))
    }
}

impl Session {
    /// Returns true if the catalogue leaves out findings of `source` with this message in `path`.
    pub(super) fn leaves_out(&self, path: &WorkspacePath, source: Option<&str>, message: &str) -> bool {
        self.state.spec.diagnostics.left_out.iter().any(|rule| rule.has(path, source, message))
    }

    /// Returns true if `item` is about the text, and does not report the failure of a checker.
    pub(super) fn is_about_text(&self, item: &Value) -> bool {
        !self.state.spec.diagnostics.failed_checks.iter().any(|rule| rule.is_told_by(item))
    }

    pub(super) fn has_failed_check(&self, raw: &RawDiagnostics) -> bool {
        !raw.items.iter().all(|item| self.is_about_text(item))
    }

    /// Records the failures to check documents that the server reported on standard error before its
    /// last push.
    pub(super) async fn read_failed_checks(&self, snapshot: &Snapshot, deadline: Instant) {
        let Some(pattern) = &self.state.spec.diagnostics.failures_on_stderr else { return };
        // Separates the push from later messages, so that the pipes are read in this order.
        let _passed = self.pass_barrier(snapshot, deadline).await;
        let lines = timeout_at(deadline, self.read_stderr()).await;
        for line in lines.unwrap_or_else(|_| self.stderr_tail()) {
            let Some((uri, reason)) = pattern.two_groups(&line) else { continue };
            let path = uri::to_path(uri).and_then(|path| self.workspace.workspace_path(&path));
            if let Some(path) = path {
                self.state.record_failed_check(path, reason.to_owned());
            }
        }
    }

    /// Removes the findings that only report the failure of a checker; that checker's findings are
    /// missing then.
    pub(super) fn without_failed_checks(&self, mut raw: RawDiagnostics) -> RawDiagnostics {
        let failure = raw.items.iter().find(|item| !self.is_about_text(item));
        let Some(failure) = failure.map(|item| [&item["source"], &item["message"]]) else { return raw };
        let [checker, message] = failure.map(|text| text.as_str().unwrap_or_default());
        let reason = format!(
            "{}: {checker} failed on this text in every attempt (`{message}`), so its findings are missing",
            self.server()
        );
        if raw.known == DiagnosticsCompleteness::Complete {
            raw.known = DiagnosticsCompleteness::Partial(reason);
        }
        raw.items = Arc::new(raw.items.iter().filter(|item| self.is_about_text(item)).cloned().collect());
        raw
    }
}
