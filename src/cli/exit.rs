//! The exit status of the process.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::answer::{
    Answer, CompletionsOutput, DiagnosticsOutput, HierarchyOutput, HoverOutput, LocationsOutput, ServerState,
    SignaturesOutput, SymbolsOutput, Verdict,
};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::reach::test_reach::output::TestReachOutput;
use crate::analysis::trees::changes::output::ChangesOutput;
use crate::lsp::model::Severity;
use crate::tools::api::result::{ResultType, ToolResult};
use crate::tools::language::explore::output::ExploreOutput;

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CliExitStatus {
    /// 0: answered.
    Answered,
    /// 1: answered, and the answer is "problems found" or "nothing there".
    Unpleasant,
    /// 2: wrong usage.
    Usage,
    /// 3: answered from text search, because the server is missing.
    Hints,
    /// 4: the server failed or did not answer in time, or we did.
    Failed,
    /// 5: denied.
    Denied,
    /// 130: interrupted.
    Interrupted,
}

impl CliExitStatus {
    /// The numeric status.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Answered => 0,
            Self::Unpleasant => 1,
            Self::Usage => 2,
            Self::Hints => 3,
            Self::Failed => 4,
            Self::Denied => 5,
            Self::Interrupted => 130,
        }
    }
}

impl From<CliExitStatus> for ExitCode {
    fn from(status: CliExitStatus) -> Self {
        Self::from(status.code())
    }
}

/// An output with success or failure.
pub(crate) trait GradedOutput {
    /// Returns true if a complete answer with this output means exit status 0: results were found,
    /// or a check found nothing.
    fn is_success(&self) -> bool;

    /// Returns true if a part of the question has no answer at all.
    fn has_unanswered(&self) -> bool {
        false
    }
}

impl GradedOutput for HoverOutput {
    fn is_success(&self) -> bool {
        !self.contents.trim().is_empty() || !self.candidates.is_empty()
    }
}

impl GradedOutput for ExploreOutput {
    fn is_success(&self) -> bool {
        true
    }
}

impl GradedOutput for TestReachOutput {
    fn is_success(&self) -> bool {
        !self.tests.is_empty()
    }
}

impl GradedOutput for LocationsOutput {
    fn is_success(&self) -> bool {
        !self.locations.is_empty()
    }
}

impl GradedOutput for SymbolsOutput {
    fn is_success(&self) -> bool {
        !self.symbols.is_empty()
    }
}

impl GradedOutput for HierarchyOutput {
    fn is_success(&self) -> bool {
        self.count > 0
    }
}

impl GradedOutput for SignaturesOutput {
    fn is_success(&self) -> bool {
        !self.signatures.is_empty()
    }
}

impl GradedOutput for CompletionsOutput {
    fn is_success(&self) -> bool {
        !self.items.is_empty()
    }
}

impl GradedOutput for DiagnosticsOutput {
    /// The entries beyond the limit may be more severe than the shown ones.
    fn is_success(&self) -> bool {
        !self.has_more && self.diagnostics.iter().all(|item| item.severity > Severity::Warning)
    }

    fn has_unanswered(&self) -> bool {
        self.incomplete.iter().any(|file| file.verdict == Verdict::NoData)
    }
}

impl GradedOutput for ChangesOutput {
    fn is_success(&self) -> bool {
        let merges = self.merge.as_ref().is_none_or(|merge| merge.conflicts.is_empty());
        merges && self.found.is_success()
    }

    fn has_unanswered(&self) -> bool {
        self.found.has_unanswered() || !self.unjudged.is_empty()
    }
}

/// Returns the status of an answer.
pub(crate) fn of_answer<T: GradedOutput>(answer: &Answer<T>) -> CliExitStatus {
    let pleasant = answer.output.is_success();
    match answer.verdict {
        Verdict::NoData => CliExitStatus::Failed,
        Verdict::Hints => match answer.server_status.state {
            ServerState::Missing | ServerState::Disabled | ServerState::Unsupported | ServerState::Ready => {
                CliExitStatus::Hints
            }
            ServerState::Indexing
            | ServerState::Starting
            | ServerState::Crashed
            | ServerState::Failed
            | ServerState::Timeout => CliExitStatus::Failed,
        },
        Verdict::Complete | Verdict::Partial if pleasant && answer.output.has_unanswered() => {
            CliExitStatus::Failed
        }
        Verdict::Complete | Verdict::Partial if pleasant => CliExitStatus::Answered,
        Verdict::Complete | Verdict::Partial => CliExitStatus::Unpleasant,
    }
}

/// Returns the status of a call by name.
pub(crate) fn of_result(result: &ToolResult) -> CliExitStatus {
    let word = |key: &str| result.value.get(key).and_then(Value::as_str);
    match result.kind {
        ResultType::Denied | ResultType::Rejected => CliExitStatus::Denied,
        ResultType::Timeout => CliExitStatus::Failed,
        ResultType::Failure if result.is_answer => CliExitStatus::Unpleasant,
        ResultType::Failure => {
            let code = result.value.get("code").and_then(|code| ErrorCode::deserialize(code).ok());
            // A failure without a code is an answer: a command that ended with its own status.
            code.map_or(CliExitStatus::Unpleasant, of_code)
        }
        // The edit was made; the verdict concerns only its diagnostics.
        ResultType::Success if result.value["diagnostics"].is_object() => CliExitStatus::Answered,
        ResultType::Success => match word("verdict") {
            Some("hints") => CliExitStatus::Hints,
            Some("no_data") => CliExitStatus::Failed,
            _ => CliExitStatus::Answered,
        },
    }
}

/// Returns the status of a failed call.
pub(crate) fn of_error(error: &ToolError) -> CliExitStatus {
    if error.is_answer { CliExitStatus::Unpleasant } else { of_code(error.code) }
}

fn of_code(code: ErrorCode) -> CliExitStatus {
    match code {
        ErrorCode::PatchMismatch | ErrorCode::Conflict => CliExitStatus::Unpleasant,
        ErrorCode::NotFound
        | ErrorCode::UnknownTool
        | ErrorCode::InvalidArgs
        | ErrorCode::OutsideWorkspace
        | ErrorCode::NotText
        | ErrorCode::TooLarge => CliExitStatus::Usage,
        ErrorCode::ServerMissing => CliExitStatus::Hints,
        ErrorCode::Timeout
        | ErrorCode::Cancelled
        | ErrorCode::ServerFailed
        | ErrorCode::Unsupported
        | ErrorCode::Internal => CliExitStatus::Failed,
        ErrorCode::Denied => CliExitStatus::Denied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::{DiagnosticItem, FileVerdict, ServerStatus};
    use crate::text::{Position, Range};

    fn answer<T>(output: T, verdict: Verdict, state: ServerState) -> Answer<T> {
        let server_status = ServerStatus {
            language: "python".into(),
            server: "pylsp".into(),
            state,
            detail: None,
            judge: None,
            install: None,
            hint: None,
            installer: None,
            waited_ms: 0,
        };
        let (resolved, servers, notes) = (None, Vec::new(), Vec::new());
        Answer { ok: true, output, resolved, server_status, servers, verdict, notes }
    }

    fn hover(contents: &str) -> HoverOutput {
        HoverOutput {
            contents: contents.into(),
            range: None,
            candidates: crate::analysis::items::place::Places::default(),
        }
    }

    #[test]
    fn exit_status_of_answer_follows_verdict_and_server_state() {
        use ServerState::{Crashed, Disabled, Indexing, Missing, Ready, Starting, Timeout, Unsupported};
        let cases = [
            ("text", Verdict::Complete, Ready, 0),
            ("", Verdict::Complete, Ready, 1),
            ("text", Verdict::Partial, Indexing, 0),
            ("", Verdict::Partial, Indexing, 1),
            ("text", Verdict::Hints, Missing, 3),
            ("", Verdict::Hints, Missing, 3),
            ("text", Verdict::Hints, Disabled, 3),
            ("text", Verdict::Hints, Unsupported, 3),
            ("text", Verdict::Hints, Crashed, 4),
            ("text", Verdict::Hints, Timeout, 4),
            ("text", Verdict::Hints, Starting, 4),
            ("", Verdict::NoData, Timeout, 4),
        ];
        for (contents, verdict, state, expected) in cases {
            let status = of_answer(&answer(hover(contents), verdict, state)).code();
            assert_eq!(status, expected, "{contents:?} {verdict:?} {state:?}");
        }
    }

    #[test]
    fn exit_status_of_check_is_zero_only_when_complete() {
        let output = |severity: Option<Severity>, silent: Option<Verdict>| DiagnosticsOutput {
            diagnostics: severity
                .map(|severity| DiagnosticItem {
                    path: "a.py".into(),
                    range: Range::empty(Position::new(0, 0)),
                    severity,
                    code: None,
                    source: None,
                    server: "pylsp".into(),
                    message: "bad".into(),
                    enclosing: None,
                    related: Vec::new(),
                })
                .into_iter()
                .collect(),
            count: 0,
            has_more: false,
            files: 2,
            unchecked: 0,
            incomplete: silent
                .map(|verdict| FileVerdict { path: "b.py".into(), verdict, detail: None })
                .into_iter()
                .collect(),
            looked_at: Vec::new(),
        };
        let cases = [
            (None, None, Verdict::Complete, 0),
            (Some(Severity::Hint), None, Verdict::Complete, 0),
            (Some(Severity::Information), None, Verdict::Complete, 0),
            (Some(Severity::Warning), None, Verdict::Complete, 1),
            (Some(Severity::Error), None, Verdict::Complete, 1),
            (None, Some(Verdict::NoData), Verdict::Partial, 4),
            (None, Some(Verdict::Partial), Verdict::Partial, 0),
            (Some(Severity::Error), Some(Verdict::NoData), Verdict::Partial, 1),
            (None, Some(Verdict::NoData), Verdict::NoData, 4),
        ];
        for (severity, silent, verdict, expected) in cases {
            let status = of_answer(&answer(output(severity, silent), verdict, ServerState::Ready)).code();
            assert_eq!(status, expected, "{severity:?} {silent:?} {verdict:?}");
        }
        let mut cut = output(None, None);
        cut.has_more = true;
        assert_eq!(of_answer(&answer(cut, Verdict::Complete, ServerState::Ready)).code(), 1);
    }

    #[test]
    fn exit_status_of_tool_call_follows_its_result() {
        use serde_json::json;
        let cases = [
            (json!({"path": "a"}), 0),
            (json!({"verdict": "hints"}), 3),
            (json!({"verdict": "no_data"}), 4),
            (json!({"verdict": "no_data", "diagnostics": {"verdict": "no_data", "reason": "starting"}}), 0),
            (json!({"ok": false, "exit_code": 124}), 1),
            (json!({"ok": false, "code": "invalid_args"}), 2),
            (json!({"ok": false, "code": "timeout"}), 4),
            (json!({"textResultForLlm": "no", "resultType": "rejected"}), 5),
        ];
        for (value, expected) in cases {
            assert_eq!(of_result(&ToolResult::from_value(value.clone())).code(), expected, "{value}");
        }
        let denied = ToolResult::from_error(&ToolError::new(ErrorCode::Denied, "no"));
        assert_eq!(of_result(&denied), CliExitStatus::Denied);
    }

    #[test]
    fn exit_status_is_defined_for_every_error_code() {
        let cases = [
            (ErrorCode::UnknownTool, 2),
            (ErrorCode::InvalidArgs, 2),
            (ErrorCode::OutsideWorkspace, 2),
            (ErrorCode::NotFound, 2),
            (ErrorCode::NotText, 2),
            (ErrorCode::TooLarge, 2),
            (ErrorCode::Conflict, 1),
            (ErrorCode::Denied, 5),
            (ErrorCode::Timeout, 4),
            (ErrorCode::Cancelled, 4),
            (ErrorCode::ServerMissing, 3),
            (ErrorCode::ServerFailed, 4),
            (ErrorCode::Unsupported, 4),
            (ErrorCode::Internal, 4),
        ];
        for (code, expected) in cases {
            assert_eq!(of_error(&ToolError::new(code, "x")).code(), expected, "{code:?}");
        }
        assert_eq!(of_error(&ToolError::nothing_found("no symbol is called x")), CliExitStatus::Unpleasant);
    }
}
