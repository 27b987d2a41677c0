//! Reading a check's report from its SARIF log, so that logs of parts can be merged in every
//! format.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

use crate::lsp::model::Severity;
use crate::text::{LineColumn, Position, Range};
use crate::tools::answer::Verdict;

use super::report::{CheckReport, ReportedFile, ReportedFinding};

/// Restores the report that `log` was made from, as far as a log can represent it: related places
/// are lost, and a hint becomes information.
pub(crate) fn read(log: &Value) -> CheckReport<'_> {
    let runs = || each(&log["runs"]);
    let mut findings: Vec<ReportedFinding<'_>> =
        runs().flat_map(|run| each(&run["results"]).map(|result| finding(run, result))).collect();
    findings.sort_by(|one, other| (&one.path, one.range.start).cmp(&(&other.path, other.range.start)));
    let looked_at: Vec<Cow<'_, str>> = runs()
        .flat_map(|run| each(&run["artifacts"]))
        .filter_map(|artifact| path(&artifact["location"]))
        .collect();
    let notifications: Vec<&Value> = runs()
        .flat_map(|run| each(&run["invocations"]))
        .flat_map(|invocation| each(&invocation["toolExecutionNotifications"]))
        .collect();
    let incomplete: Vec<ReportedFile<'_>> =
        notifications.iter().filter_map(|notification| unjudged_file(notification)).collect();
    let notes = notifications.iter().filter(|notification| notification["level"] == "note");
    let mut notes: Vec<Cow<'_, str>> =
        notes.map(|notification| text(&notification["message"]).into()).collect();
    notes.sort();
    notes.dedup();
    let mut report = CheckReport::new(findings, looked_at, incomplete, Verdict::Complete);
    let verdict = Verdict::of_all(report.files.iter().map(|file| file.verdict));
    let failed = runs()
        .flat_map(|run| each(&run["invocations"]))
        .any(|invocation| invocation["executionSuccessful"] == false);
    report.verdict = match verdict {
        // A failed run that names no file as the reason is not clean.
        Verdict::Complete if failed && report.findings.is_empty() => Verdict::NoData,
        Verdict::Complete if failed => Verdict::Partial,
        verdict => verdict,
    };
    report.notes = notes;
    report
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(message: &Value) -> &str {
    message["text"].as_str().unwrap_or_default()
}

fn finding<'a>(run: &'a Value, result: &'a Value) -> ReportedFinding<'a> {
    let server = run["tool"]["driver"]["name"].as_str().unwrap_or_default();
    let place = &result["locations"][0]["physicalLocation"];
    let source = result["properties"]["source"].as_str();
    ReportedFinding {
        path: path(&place["artifactLocation"]).unwrap_or_default(),
        range: range(&place["region"]),
        severity: match result["level"].as_str() {
            Some("error") => Severity::Error,
            // The default level is a warning (3.27.10).
            Some("warning") | None => Severity::Warning,
            Some(_) => Severity::Information,
        },
        code: result["ruleId"].as_str().filter(|rule| *rule != server && Some(*rule) != source),
        source,
        server,
        message: text(&result["message"]),
        related: &[],
    }
}

/// Parses a notification about a file, as in our logs.
fn unjudged_file(notification: &Value) -> Option<ReportedFile<'_>> {
    let path = path(&notification["locations"][0]["physicalLocation"]["artifactLocation"])?;
    let verdict = Verdict::deserialize(&notification["properties"]["verdict"]).ok();
    let by_level = || if notification["level"] == "error" { Verdict::NoData } else { Verdict::Partial };
    Some(ReportedFile {
        path,
        verdict: verdict.unwrap_or_else(by_level),
        detail: notification["properties"]["detail"].as_str().map(Cow::Borrowed),
    })
}

/// Converts the URI of an `artifactLocation` to the path in diagnostics.
fn path(location: &Value) -> Option<Cow<'_, str>> {
    let uri = location["uri"].as_str()?;
    let encoded = match uri.strip_prefix("file://") {
        Some(path) => path,
        None if uri.contains("://") => return Some(uri.into()),
        None => uri,
    };
    Some(percent_decode_str(encoded).decode_utf8_lossy())
}

/// Parses a 1-based region; the defaults are those of 3.30.
fn range(region: &Value) -> Range {
    let number = |key: &str| region[key].as_u64().and_then(|number| u32::try_from(number).ok());
    let line = number("startLine").unwrap_or(1);
    let column = number("startColumn").unwrap_or(1);
    let position = |line, column| LineColumn { line, column }.position().unwrap_or(Position::new(0, 0));
    let start = position(line, column);
    let end = position(number("endLine").unwrap_or(line), number("endColumn").unwrap_or(column));
    Range::new(start, end)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::report::tests::{answer, file_verdict, item};
    use super::super::sarif;
    use super::*;

    #[test]
    fn sarif_log_gives_back_the_report_it_was_made_from() {
        let mut other = item("src/a b%1名.py", None);
        (other.server, other.severity, other.source) = ("ruff".into(), Severity::Error, Some("Ruff".into()));
        let findings = vec![item("/usr/lib/x y.py", Some("E1")), other, item("z.py", None)];
        let mut answer = answer(findings, &["clean.py", "half.py", "silent.py"], Verdict::Partial);
        answer.output.incomplete = vec![
            file_verdict("half.py", Verdict::Partial, "indexing"),
            file_verdict("silent.py", Verdict::NoData, ""),
        ];
        answer.notes = vec!["b.bin is not text".into()];
        let report = CheckReport::from(&answer);
        assert_eq!(read(&sarif::render(&report)), report);
    }

    #[test]
    fn failed_run_of_a_foreign_log_is_no_clean_check() {
        let log = json!({"version": "2.1.0", "runs": [{
            "tool": {"driver": {"name": "x"}},
            "invocations": [{"executionSuccessful": false}],
        }]});
        assert_eq!(read(&log).verdict, Verdict::NoData);
        assert_eq!(read(&json!({})).verdict, Verdict::Complete);
    }
}
