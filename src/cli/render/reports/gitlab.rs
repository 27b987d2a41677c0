//! Diagnostics as a code quality report of GitLab (the part of Code Climate's format that GitLab
//! reads).

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::analysis::answer::Verdict;
use crate::lsp::model::Severity;
use crate::text::LineColumn;

use super::report::{CheckReport, ReportedFile, ReportedFinding};

/// The rule of entries for files without an answer.
const UNANSWERED_RULE: &str = "not-checked";

/// Renders the list of diagnostics. A file without an answer from any server gets an entry, since
/// GitLab shows only diagnostics and considers missing ones fixed.
///
/// Lines are 1-based. Paths are relative to the workspace, while GitLab expects them relative to
/// the repository.
pub(crate) fn render(report: &CheckReport<'_>) -> Value {
    let mut prints = Fingerprints::default();
    let found = report.findings.iter().map(|finding| {
        let lines = json!({
            "begin": LineColumn::from(finding.range.start).line,
            "end": LineColumn::from(finding.range.end).line,
        });
        json!({
            "description": description(finding),
            "check_name": finding.rule(),
            "fingerprint": prints.next(&[finding.server, &finding.path, finding.rule(), finding.message]),
            "severity": severity(finding.severity),
            "location": {"path": finding.path, "lines": lines},
        })
    });
    let mut entries: Vec<Value> = found.collect();
    let unanswered = report.files.iter().filter(|file| file.verdict == Verdict::NoData);
    entries.extend(unanswered.map(|file| unanswered_entry(file, &mut prints)));
    entries.into()
}

fn unanswered_entry(file: &ReportedFile<'_>, prints: &mut Fingerprints) -> Value {
    let reason = file.detail.as_deref().unwrap_or("no server answered");
    json!({
        "description": format!("not checked: {reason}"),
        "check_name": UNANSWERED_RULE,
        "fingerprint": prints.next(&["", &file.path, UNANSWERED_RULE, ""]),
        "severity": "info",
        "location": {"path": file.path, "lines": {"begin": 1, "end": 1}},
    })
}

/// Joins the message into one line, as GitLab shows it; the rule if the message is empty, since the
/// field must not be.
fn description(finding: &ReportedFinding<'_>) -> String {
    let text = finding.message.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { finding.rule().to_owned() } else { text }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Information | Severity::Hint => "info",
    }
}

/// Creates fingerprints that distinguish diagnostics and stay the same in the next report even if
/// lines move.
#[derive(Default)]
struct Fingerprints {
    /// The number of diagnostics with the same parts so far.
    seen: HashMap<String, usize>,
}

impl Fingerprints {
    /// Returns the fingerprint of the next diagnostic with these parts. Diagnostics with equal
    /// parts are distinguished by their order.
    fn next(&mut self, parts: &[&str]) -> String {
        // As JSON, adjacent parts stay distinct.
        let parts = json!(parts).to_string();
        let ordinal = self.seen.entry(parts.clone()).or_default();
        *ordinal += 1;
        let hash = Sha256::digest(format!("{parts}{ordinal}"));
        hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::{answer, file_verdict, item};
    use super::*;
    use crate::analysis::answer::DiagnosticItem;
    use crate::text::{Position, Range};

    fn at_line(line: u32, message: &str) -> DiagnosticItem {
        DiagnosticItem {
            range: Range::new(Position::new(line, 0), Position::new(line + 1, 2)),
            message: message.into(),
            ..item("src/a.py", Some("E1"))
        }
    }

    fn fingerprints(diagnostics: Vec<DiagnosticItem>) -> Vec<String> {
        let report = render(&CheckReport::from(&answer(diagnostics, &[], Verdict::Complete)));
        let of = |entry: &Value| entry["fingerprint"].as_str().unwrap_or_default().to_owned();
        report.as_array().into_iter().flatten().map(of).collect()
    }

    #[test]
    fn gitlab_finding_has_the_members_that_gitlab_reads() {
        let mut answer =
            answer(vec![at_line(4, "two\n  \"lines\"")], &["src/a.py", "b.py"], Verdict::Partial);
        answer.output.incomplete = vec![file_verdict("b.py", Verdict::NoData, "pylsp was silent")];
        let report = render(&CheckReport::from(&answer));
        assert_eq!(
            report,
            json!([
                {
                    "description": "two \"lines\"",
                    "check_name": "E1",
                    "fingerprint": report[0]["fingerprint"],
                    "severity": "minor",
                    "location": {"path": "src/a.py", "lines": {"begin": 5, "end": 6}},
                },
                {
                    "description": "not checked: pylsp was silent",
                    "check_name": "not-checked",
                    "fingerprint": report[1]["fingerprint"],
                    "severity": "info",
                    "location": {"path": "b.py", "lines": {"begin": 1, "end": 1}},
                },
            ])
        );
    }

    #[test]
    fn gitlab_description_of_an_empty_message_is_the_rule() {
        let report = render(&CheckReport::from(&answer(vec![at_line(1, "")], &[], Verdict::Complete)));
        assert_eq!(report[0]["description"], "E1");
    }

    #[test]
    fn gitlab_fingerprint_is_unique_and_survives_moved_lines() {
        let before = fingerprints(vec![at_line(1, "x"), at_line(2, "x"), at_line(3, "y")]);
        let after =
            fingerprints(vec![at_line(8, "new"), at_line(11, "x"), at_line(12, "x"), at_line(13, "y")]);
        assert_eq!(before, after[1..]);
        let unique: std::collections::BTreeSet<&String> = after.iter().collect();
        assert_eq!(unique.len(), after.len(), "{after:?}");
        assert!(after.iter().all(|print| print.len() == 32), "{after:?}");
    }

    #[test]
    fn gitlab_report_of_a_clean_check_is_an_empty_list() {
        assert_eq!(render(&CheckReport::from(&answer(Vec::new(), &["a.py"], Verdict::Complete))), json!([]));
    }
}
