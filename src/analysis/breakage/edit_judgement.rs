//! The judgement of an edit: its verdict, and the added and removed diagnostics or the reason for
//! their absence.
//!
//! Every answer of an edit holds one, so no tool can leave it out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delta::DiagnosticsDelta;
use super::delta_item::DeltaItem;
use crate::analysis::answer::{ServerState, Verdict};
use crate::lsp::model::Severity;

/// The effect of an edit on the diagnostics, with the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct EditJudgement {
    /// The reliability of `diagnostics`; `no_data` is not "clean".
    pub verdict: Verdict,
    /// The diagnostics added and removed.
    pub diagnostics: EditDiagnostics,
}

/// The diagnostics of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum EditDiagnostics {
    /// The comparison of before and after.
    Compared(Box<DiagnosticsDelta>),
    /// The reason why there is no comparison.
    Stated(DiagnosticsStatement),
}

/// The reason why an edit was not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DiagnosticsStatement {
    /// `no_data` if a server must still be asked, `hints` if there is no server, `complete` if
    /// nothing changed.
    pub verdict: Verdict,
    /// The state of the server that did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ServerState>,
    /// The reason in one sentence.
    pub reason: String,
}

impl EditJudgement {
    /// The difference, if there is one.
    pub(crate) fn delta(&self) -> Option<&DiagnosticsDelta> {
        match &self.diagnostics {
            EditDiagnostics::Compared(delta) => Some(delta),
            EditDiagnostics::Stated(_) => None,
        }
    }

    /// Returns true if the edits caused errors.
    pub(crate) fn has_new_errors(&self) -> bool {
        let is_error = |finding: &DeltaItem| finding.severity == Severity::Error;
        self.delta().is_some_and(|delta| delta.added.iter().any(is_error))
    }

    /// The mutable difference, if there is one.
    pub(crate) fn delta_mut(&mut self) -> Option<&mut DiagnosticsDelta> {
        match &mut self.diagnostics {
            EditDiagnostics::Compared(delta) => Some(delta),
            EditDiagnostics::Stated(_) => None,
        }
    }

    /// Turns `complete` into `partial`.
    pub(crate) fn lower_to_partial(&mut self) {
        self.verdict.lower();
        if let EditDiagnostics::Compared(delta) = &mut self.diagnostics {
            delta.verdict.lower();
        }
    }
}

impl DiagnosticsStatement {
    /// The judgement of an edit that no server has checked.
    pub(crate) fn no_data(reason: String) -> Self {
        Self { verdict: Verdict::NoData, state: None, reason }
    }

    /// The judgement of an edit that no server can check.
    pub(crate) fn hints(reason: String) -> Self {
        Self { verdict: Verdict::Hints, state: None, reason }
    }

    /// The judgement of an edit that leaves every file unchanged.
    pub(crate) fn unchanged() -> Self {
        let reason = "no file changed, so nothing is broken".to_owned();
        Self { verdict: Verdict::Complete, state: None, reason }
    }
}

impl From<DiagnosticsStatement> for EditJudgement {
    fn from(statement: DiagnosticsStatement) -> Self {
        Self { verdict: statement.verdict, diagnostics: EditDiagnostics::Stated(statement) }
    }
}

impl From<DiagnosticsDelta> for EditJudgement {
    /// Converts a delta without any data into a statement, because an empty list of new errors
    /// would read as "clean".
    fn from(delta: DiagnosticsDelta) -> Self {
        if delta.verdict != Verdict::NoData || !delta.added.is_empty() {
            return Self { verdict: delta.verdict, diagnostics: EditDiagnostics::Compared(Box::new(delta)) };
        }
        let reason = delta.notes.into_iter().next();
        let reason = reason.unwrap_or_else(|| "not checked: no server gave diagnostics in time".to_owned());
        DiagnosticsStatement { verdict: Verdict::NoData, state: delta.state, reason }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(verdict: Verdict, notes: &[&str]) -> DiagnosticsDelta {
        DiagnosticsDelta {
            added: Vec::new(),
            more: Vec::new(),
            has_more: false,
            hints: 0,
            removed: 0,
            gone: Vec::new(),
            unchanged: 0,
            errors: 0,
            verdict,
            state: Some(ServerState::Starting),
            files: Vec::new(),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        }
    }

    #[test]
    fn delta_without_data_becomes_a_statement_without_lists() {
        let judgement = EditJudgement::from(delta(Verdict::NoData, &["not checked yet: s is starting"]));
        let value = serde_json::to_value(&judgement).unwrap();
        let told = serde_json::json!({
            "verdict": "no_data", "state": "starting", "reason": "not checked yet: s is starting",
        });
        assert_eq!(value, serde_json::json!({"verdict": "no_data", "diagnostics": told}));
        assert_eq!(serde_json::from_value::<EditJudgement>(value).unwrap(), judgement);
    }

    #[test]
    fn lowered_judgement_has_one_verdict_in_both_places() {
        let mut judgement = EditJudgement::from(delta(Verdict::Complete, &[]));
        judgement.lower_to_partial();
        let verdicts = (judgement.verdict, judgement.delta().map(|delta| delta.verdict));
        assert_eq!(verdicts, (Verdict::Partial, Some(Verdict::Partial)));
    }
}
