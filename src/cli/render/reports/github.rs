//! Diagnostics as annotations of GitHub Actions: workflow commands on stdout.

use std::fmt::Write as _;

use crate::lsp::model::Severity;
use crate::text::LineColumn;

use super::report::{CheckReport, ReportedFinding};
use crate::cli::render::terminal::escape::is_unsafe;

/// Renders one `::error file=…::message` line per diagnostic (`warning` or `notice` for lower
/// severities).
pub(crate) fn render(report: &CheckReport<'_>) -> String {
    report.findings.iter().map(annotation).collect()
}

fn annotation(item: &ReportedFinding<'_>) -> String {
    let command = match item.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "notice",
    };
    let (start, end) = (LineColumn::from(item.range.start), LineColumn::from(item.range.end));
    let mut out =
        format!("::{command} file={},line={},col={}", property(&item.path), start.line, start.column);
    let _ = write!(out, ",endLine={}", end.line);
    // GitHub rejects columns of a range over several lines. Its endColumn is inclusive.
    if start.line == end.line {
        let _ = write!(out, ",endColumn={}", end.column.saturating_sub(1).max(start.column));
    }
    let title = match (item.source, item.code) {
        (Some(source), Some(code)) => format!("{source} {code}"),
        _ => item.rule().to_owned(),
    };
    let _ = writeln!(out, ",title={}::{}", property(&title), data(item.message));
    out
}

/// Escapes the message of a workflow command: `%` and line breaks.
fn data(text: &str) -> String {
    encode(text, |_| false)
}

/// Escapes a property's value: also `:` and `,`, which would end it.
fn property(text: &str) -> String {
    encode(text, |character| matches!(character, ':' | ','))
}

fn encode(text: &str, also: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '\r' | '\n') || also(character) {
            let _ = write!(out, "%{:02X}", character as u32);
        } else if is_unsafe(character) && character != '\t' {
            crate::cli::render::terminal::escape::push_escaped(&mut out, character);
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::{DiagnosticItem, Verdict};
    use crate::text::{Position, Range};

    fn item(severity: Severity, end: (u32, u32)) -> DiagnosticItem {
        DiagnosticItem {
            range: Range::new(Position::new(2, 4), Position::new(end.0, end.1)),
            severity,
            source: Some("flake:8".into()),
            message: "100% bad: x, y\r\n::error::no\x1b[0m".into(),
            ..super::super::report::tests::item("src/a,b:c.py", Some("E1"))
        }
    }

    #[test]
    fn github_annotation_escapes_property_and_message_values() {
        let message = "::100%25 bad: x, y%0D%0A::error::no\\u{1b}[0m\n";
        let expected = format!(
            "::error file=src/a%2Cb%3Ac.py,line=3,col=5,endLine=3,endColumn=8,title=flake%3A8 E1{message}\
             ::notice file=src/a%2Cb%3Ac.py,line=3,col=5,endLine=5,title=flake%3A8 E1{message}\
             ::warning file=src/a%2Cb%3Ac.py,line=3,col=5,endLine=3,endColumn=5,title=flake%3A8 E1{message}"
        );
        let diagnostics = vec![
            item(Severity::Error, (2, 8)),
            item(Severity::Hint, (4, 1)),
            item(Severity::Warning, (2, 4)),
        ];
        let answer = super::super::report::tests::answer(diagnostics, &[], Verdict::Complete);
        assert_eq!(render(&CheckReport::from(&answer)), expected);
    }
}
