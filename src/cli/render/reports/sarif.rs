//! Diagnostics as SARIF 2.1.0 (OASIS, *Static Analysis Results Interchange Format*).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::analysis::answer::Verdict;
use crate::lsp::model::Severity;
use crate::text::{LineColumn, Range};

use super::report::{CheckReport, ReportedFinding};

/// Renders the log: one run per server, since a run belongs to one tool. Without diagnostics it has
/// one run under our own name.
///
/// Lines and columns are 1-based, columns count Unicode scalar values (`columnKind`), the end
/// column is exclusive. Files of the workspace are relative to the base `SRCROOT`. Files without an
/// answer set their run's `executionSuccessful` to false. Every run lists all checked files, since
/// a server without diagnostics has no run.
pub(crate) fn render(report: &CheckReport<'_>) -> Value {
    let mut servers: BTreeMap<&str, Vec<&ReportedFinding<'_>>> = BTreeMap::new();
    for item in &report.findings {
        servers.entry(item.server).or_default().push(item);
    }
    if servers.is_empty() {
        servers.insert("lsp-tools", Vec::new());
    }
    let runs: Vec<Value> = servers.into_iter().map(|(server, items)| run(server, &items, report)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

fn run(server: &str, items: &[&ReportedFinding<'_>], report: &CheckReport<'_>) -> Value {
    let rules = SarifRules::new(items);
    json!({
        "tool": {"driver": {
            "name": server,
            "rules": rules.to_values(),
        }},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the workspace."}}},
        "invocations": [invocation(report)],
        "artifacts": report.files.iter().map(|file| looked_at(&file.path)).collect::<Vec<_>>(),
        "results": items.iter().map(|item| result(item, &rules)).collect::<Vec<_>>(),
    })
}

/// The rules of a run, each with its index.
struct SarifRules<'a>(BTreeMap<&'a str, usize>);

impl<'a> SarifRules<'a> {
    fn new(items: &[&ReportedFinding<'a>]) -> Self {
        let names: BTreeSet<&str> = items.iter().map(|item| item.rule()).collect();
        Self(names.into_iter().enumerate().map(|(index, name)| (name, index)).collect())
    }

    fn to_values(&self) -> Vec<Value> {
        self.0.keys().map(|name| json!({"id": name})).collect()
    }
}

fn invocation(report: &CheckReport<'_>) -> Value {
    let notifications: Vec<Value> = report
        .incomplete()
        .map(|file| {
            let level = if file.verdict == Verdict::NoData { "error" } else { "warning" };
            let text = match &file.detail {
                Some(detail) => format!("{}: not checked completely: {detail}", file.path),
                None => format!("{}: not checked whole", file.path),
            };
            json!({
                "level": level,
                "message": {"text": text},
                "locations": [{"physicalLocation": {"artifactLocation": artifact(&file.path)}}],
                "properties": {"verdict": file.verdict, "detail": file.detail},
            })
        })
        .chain(report.notes.iter().map(|note| json!({"level": "note", "message": {"text": note}})))
        .collect();
    json!({
        "executionSuccessful": report.is_answered(),
        "toolExecutionNotifications": notifications,
    })
}

/// Renders a result. It must name a rule (3.27.5).
fn result(item: &ReportedFinding<'_>, rules: &SarifRules<'_>) -> Value {
    let rule = item.rule();
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": rules.0.get(rule),
        "level": match item.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information | Severity::Hint => "note",
        },
        "message": {"text": item.message},
        "locations": [location(&item.path, &item.range)],
    });
    if let Some(source) = item.source {
        result["properties"] = json!({"source": source});
    }
    if !item.related.is_empty() {
        let related = item.related.iter().enumerate().map(|(id, related)| {
            let mut location = location(&related.place.path, &related.place.range);
            location["id"] = json!(id);
            location["message"] = json!({"text": related.message});
            location
        });
        result["relatedLocations"] = related.collect();
    }
    result
}

fn location(path: &str, range: &Range) -> Value {
    let (start, end) = (LineColumn::from(range.start), LineColumn::from(range.end));
    json!({"physicalLocation": {
        "artifactLocation": artifact(path),
        "region": {
            "startLine": start.line, "startColumn": start.column,
            "endLine": end.line, "endColumn": end.column,
        },
    }})
}

/// Renders an examined artifact (3.24), with or without diagnostics.
fn looked_at(path: &str) -> Value {
    json!({"location": artifact(path), "roles": ["analysisTarget"]})
}

/// Renders a file: relative to the root if it is in the workspace, otherwise as an absolute URI.
fn artifact(path: &str) -> Value {
    if path.starts_with('/') {
        json!({"uri": format!("file://{}", percent_encoded(path))})
    } else if path.contains("://") {
        // No path in the workspace has two slashes in a row, even below a folder `http:`.
        json!({"uri": path})
    } else {
        json!({"uri": percent_encoded(path), "uriBaseId": "SRCROOT"})
    }
}

/// Percent-encodes `path` except for the unreserved characters of RFC 3986, and `/`.
fn percent_encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for &byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::{answer, file_verdict, item};
    use super::*;
    use crate::analysis::answer::{Answer, DiagnosticsOutput, RelatedItem};
    use crate::analysis::items::place::Place;
    use crate::text::Position;

    fn log_of(answer: &Answer<DiagnosticsOutput>) -> Value {
        render(&CheckReport::from(answer))
    }

    #[test]
    fn sarif_result_references_its_rule_and_location() {
        let mut first = item("src/a b[1]名.py", Some("E2"));
        first.related = vec![RelatedItem {
            place: Place {
                path: "/usr/lib/x y.py".into(),
                enclosing: None,
                range: Range::empty(Position::new(0, 0)),
                text: None,
                why: None,
            },
            message: "here".into(),
        }];
        let items = vec![first, item("b.py", Some("E1")), item("http:/b.py", None)];
        let log = log_of(&answer(items, &[], Verdict::Complete));
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "pylsp");
        assert_eq!(run["tool"]["driver"]["rules"], json!([{"id": "E1"}, {"id": "E2"}, {"id": "pylsp"}]));
        assert_eq!(run["columnKind"], "unicodeCodePoints");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        assert_eq!(
            run["results"][0],
            json!({
                "level": "warning",
                "message": {"text": "bad"},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": "src/a%20b%5B1%5D%E5%90%8D.py", "uriBaseId": "SRCROOT"},
                    "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9},
                }}],
                "ruleId": "E2",
                "ruleIndex": 1,
                "properties": {"source": "pylsp"},
                "relatedLocations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": "file:///usr/lib/x%20y.py"},
                        "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
                    },
                    "id": 0,
                    "message": {"text": "here"},
                }],
            })
        );
        assert_eq!(run["results"][1]["ruleIndex"], 0);
        assert_eq!(run["results"][2]["ruleId"], "pylsp");
        assert_eq!(run["results"][2]["ruleIndex"], 2);
        let file = &run["results"][2]["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(*file, json!({"uri": "http%3A/b.py", "uriBaseId": "SRCROOT"}));
    }

    #[test]
    fn sarif_without_results_is_successful_only_when_complete() {
        let mut nothing = answer(Vec::new(), &["a.py"], Verdict::Complete);
        let log = log_of(&nothing);
        assert_eq!(log["runs"][0]["results"], json!([]));
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
        nothing.output.incomplete = vec![file_verdict("a.py", Verdict::NoData, "")];
        let log = log_of(&nothing);
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
        let notification = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
        assert_eq!(notification["message"]["text"], "a.py: not checked whole");
    }

    #[test]
    fn sarif_has_one_run_per_server() {
        let mut other = item("a.py", Some("F1"));
        other.server = "ruff".into();
        let log = log_of(&answer(vec![item("a.py", Some("E1")), other], &[], Verdict::Complete));
        let names: Vec<&Value> =
            log["runs"].as_array().into_iter().flatten().map(|run| &run["tool"]["driver"]["name"]).collect();
        assert_eq!(names, ["pylsp", "ruff"]);
    }
}
