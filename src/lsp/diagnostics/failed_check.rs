//! Findings by which a server says that one of its checkers has failed. They are not told as findings in the text.

use std::sync::Arc;

use serde_json::Value;

use super::findings::{DiagnosticsCompleteness, RawDiagnostics};
use crate::config::spec::FailedCheck;
use crate::lsp::session::Session;

impl FailedCheck {
    /// Whether `item`, an LSP 3.17 *Diagnostic*, says it.
    fn is_told_by(&self, item: &Value) -> bool {
        item["source"].as_str() == Some(&self.source)
            && item["message"].as_str().is_some_and(|message| self.matches.is_in(message))
    }
}

impl Session {
    /// The rule by which `item` says that a checker has failed.
    pub(super) fn told_failure(&self, item: &Value) -> Option<&FailedCheck> {
        self.state.spec.diagnostics.failed_checks.iter().find(|rule| rule.is_told_by(item))
    }

    pub(super) fn has_failed_check(&self, raw: &RawDiagnostics) -> bool {
        raw.items.iter().any(|item| self.told_failure(item).is_some())
    }

    /// Leaves out of `raw` what says only that a checker has failed; what that would have found is missing then.
    pub(super) fn without_failed_checks(&self, mut raw: RawDiagnostics) -> RawDiagnostics {
        let failure = raw.items.iter().find(|item| self.told_failure(item).is_some());
        let Some(failure) = failure.map(|item| [&item["source"], &item["message"]]) else { return raw };
        let [checker, said] = failure.map(|text| text.as_str().unwrap_or_default());
        let why = format!(
            "{}: {checker} failed on this text, however often it was given to it (`{said}`), so its findings are missing",
            self.server()
        );
        if raw.known == DiagnosticsCompleteness::Complete {
            raw.known = DiagnosticsCompleteness::Partial(why);
        }
        let is_about_text = |item: &&Value| self.told_failure(item).is_none();
        raw.items = Arc::new(raw.items.iter().filter(is_about_text).cloned().collect());
        raw
    }
}
