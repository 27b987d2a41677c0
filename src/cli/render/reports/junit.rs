//! A check as JUnit XML, which Jenkins, GitLab and others read: a test case for every file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::analysis::answer::Verdict;
use crate::lsp::model::Severity;
use crate::text::LineColumn;

use super::report::{CheckReport, ReportedFile, ReportedFinding};
use crate::cli::render::terminal::escape::{is_unsafe, push_escaped};

/// Renders one suite. A file passes if it was checked completely and has neither errors nor
/// warnings. It fails with those, is an error if no server answered, and is skipped if it was
/// checked partially or not at all.
///
/// All diagnostics of a file form one `failure`, since readers keep only the first. Those below the
/// severity of a warning become output.
pub(crate) fn render(report: &CheckReport<'_>) -> String {
    let mut findings: BTreeMap<&str, Vec<&ReportedFinding<'_>>> = BTreeMap::new();
    for finding in &report.findings {
        findings.entry(&finding.path).or_default().push(finding);
    }
    let cases = report.files.iter().map(|file| {
        let found = findings.get(file.path.as_ref()).map_or(&[][..], Vec::as_slice);
        JunitCase::new(file, found)
    });
    let cases: Vec<JunitCase<'_>> = cases.collect();
    let number = |kind: JunitOutcome| cases.iter().filter(|case| case.outcome == kind).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        number(JunitOutcome::Failure),
        number(JunitOutcome::Error)
    );
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let skipped = number(JunitOutcome::Skipped);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "<testsuites name=\"lsp-tools check\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"lsp-tools check\" {counts} skipped=\"{skipped}\">");
    for case in &cases {
        case.write(&mut out);
    }
    if !report.notes.is_empty() {
        let _ = writeln!(out, "    <system-out>{}</system-out>", escaped(&report.notes.join("\n")));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// The outcome of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JunitOutcome {
    Passed,
    /// The file has errors or warnings.
    Failure,
    /// No server answered for the file.
    Error,
    /// The file was checked partially, or by no server.
    Skipped,
}

/// One file.
struct JunitCase<'a> {
    path: &'a str,
    outcome: JunitOutcome,
    /// The outcome in one line.
    message: String,
    /// The evidence for the outcome, in lines.
    text: String,
    /// Other diagnostics and notes, in lines.
    output: String,
}

impl<'a> JunitCase<'a> {
    fn new(file: &'a ReportedFile<'_>, findings: &[&ReportedFinding<'_>]) -> Self {
        let (grave, slight): (Vec<&ReportedFinding<'_>>, Vec<&ReportedFinding<'_>>) =
            findings.iter().partition(|finding| finding.severity <= Severity::Warning);
        let reason = unjudged_reason(file);
        let mut output: Vec<String> = slight.into_iter().map(line).collect();
        let (outcome, message) = match (grave.is_empty(), &reason) {
            (false, _) => (JunitOutcome::Failure, counts(&grave)),
            (true, None) => (JunitOutcome::Passed, String::new()),
            (true, Some(reason)) if file.verdict == Verdict::NoData => (JunitOutcome::Error, reason.clone()),
            (true, Some(reason)) => (JunitOutcome::Skipped, reason.clone()),
        };
        if outcome == JunitOutcome::Failure {
            output.extend(reason);
        }
        let text = grave.into_iter().map(line).collect::<Vec<_>>().join("\n");
        Self { path: &file.path, outcome, message, text, output: output.join("\n") }
    }

    fn write(&self, out: &mut String) {
        let path = escaped(self.path);
        let _ = write!(out, "    <testcase name=\"{path}\" classname=\"lsp-tools.check\" file=\"{path}\"");
        let message = escaped(&self.message);
        let verdict = match self.outcome {
            JunitOutcome::Passed => String::new(),
            JunitOutcome::Failure => {
                format!("<failure message=\"{message}\" type=\"finding\">{}</failure>", escaped(&self.text))
            }
            JunitOutcome::Error => format!("<error message=\"{message}\" type=\"no answer\"></error>"),
            JunitOutcome::Skipped => format!("<skipped message=\"{message}\"></skipped>"),
        };
        let output = match self.output.as_str() {
            "" => String::new(),
            output => format!("<system-out>{}</system-out>", escaped(output)),
        };
        let _ = match (verdict + &output).as_str() {
            "" => writeln!(out, "/>"),
            inside => writeln!(out, ">{inside}</testcase>"),
        };
    }
}

/// Returns the reason why a file without diagnostics is not clean; `None` if it was checked
/// completely.
fn unjudged_reason(file: &ReportedFile<'_>) -> Option<String> {
    let what = match file.verdict {
        Verdict::Complete => return None,
        Verdict::Partial => "checked in part",
        Verdict::NoData => "not checked",
        Verdict::Hints => "checked by no server",
    };
    Some(match &file.detail {
        Some(detail) => format!("{what}: {detail}"),
        None => what.to_owned(),
    })
}

/// Formats `path:line:col: error: message [rule] (server)`, 1-based.
fn line(finding: &ReportedFinding<'_>) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "info",
        Severity::Hint => "hint",
    };
    let (path, place) = (&finding.path, LineColumn::from(finding.range.start));
    let (message, rule, server) = (finding.message, finding.rule(), finding.server);
    format!("{path}:{place}: {severity}: {message} [{rule}] ({server})")
}

fn counts(findings: &[&ReportedFinding<'_>]) -> String {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let parts = [(errors, "error"), (findings.len() - errors, "warning")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    parts
        .map(|(number, what)| crate::cli::render::terminal::display::count(number, what))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Escapes `text` for an element or an attribute in double quotes. XML 1.0 (2.2) excludes most
/// control characters in any form. These, and characters that change the display order, are shown
/// by their numbers.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Unescaped, an attribute would contain spaces instead (3.3.3).
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => push_escaped(&mut out, character),
            hidden if is_unsafe(hidden) => push_escaped(&mut out, hidden),
            plain => out.push(plain),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::{answer, file_verdict, item};
    use super::*;
    use crate::analysis::answer::DiagnosticItem;

    fn found(path: &str, severity: Severity, message: &str) -> DiagnosticItem {
        DiagnosticItem { severity, message: message.into(), ..item(path, Some("E1")) }
    }

    #[test]
    fn junit_has_a_case_for_every_file_and_passes_only_what_was_judged_whole() {
        let diagnostics = vec![
            found("bad.py", Severity::Error, "one"),
            found("bad.py", Severity::Warning, "two"),
            found("hinted.py", Severity::Hint, "slight"),
        ];
        let files = ["bad.py", "hinted.py", "half.py", "silent.py", "unserved.py"];
        let mut answer = answer(diagnostics, &files, Verdict::Partial);
        answer.output.incomplete = vec![
            file_verdict("half.py", Verdict::Partial, "still indexing"),
            file_verdict("silent.py", Verdict::NoData, ""),
            file_verdict("unserved.py", Verdict::Hints, "pylsp is not installed"),
        ];
        answer.notes = vec!["b.bin is not text; it was not checked".into()];
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"lsp-tools check\" tests=\"5\" failures=\"1\" errors=\"1\">
  <testsuite name=\"lsp-tools check\" tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"2\">
    <testcase name=\"bad.py\" classname=\"lsp-tools.check\" file=\"bad.py\"><failure message=\"1 error, 1 warning\" type=\"finding\">\
bad.py:3:5: error: one [E1] (pylsp)&#10;bad.py:3:5: warning: two [E1] (pylsp)</failure></testcase>
    <testcase name=\"half.py\" classname=\"lsp-tools.check\" file=\"half.py\"><skipped message=\"checked in part: still indexing\"></skipped></testcase>
    <testcase name=\"hinted.py\" classname=\"lsp-tools.check\" file=\"hinted.py\"><system-out>hinted.py:3:5: hint: slight [E1] (pylsp)</system-out></testcase>
    <testcase name=\"silent.py\" classname=\"lsp-tools.check\" file=\"silent.py\"><error message=\"not checked\" type=\"no answer\"></error></testcase>
    <testcase name=\"unserved.py\" classname=\"lsp-tools.check\" file=\"unserved.py\"><skipped message=\"checked by no server: pylsp is not installed\"></skipped></testcase>
    <system-out>b.bin is not text; it was not checked</system-out>
  </testsuite>
</testsuites>
";
        assert_eq!(render(&CheckReport::from(&answer)), expected);
    }

    #[test]
    fn junit_text_cannot_leave_its_place() {
        let hostile = "\"/></testcase>&amp;]]>\u{1b}[31m\u{0}\u{ffff}\r\n\u{9b}名";
        assert_eq!(
            escaped(hostile),
            "&quot;/&gt;&lt;/testcase&gt;&amp;amp;]]&gt;\\u{1b}[31m\\u{0}\\u{ffff}&#13;&#10;\\u{9b}名"
        );
    }
}
