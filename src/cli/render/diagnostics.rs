//! Diagnostics of files: code frames on a terminal, one line each in a pipe.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::analysis::answer::{DiagnosticItem, DiagnosticsOutput, Verdict};
use crate::lsp::model::Severity;
use crate::text::LineColumn;

use super::DisplayCapabilities;
use super::terminal::display::{BAD, BOLD, DIM, GOOD, INFO, WARN, count};
use super::terminal::{escape, frames};

/// The number of diagnostics of one kind in one file that get a code frame. The others share one
/// line.
const MAX_FRAMES_PER_KIND: usize = 3;
/// The number of line numbers in that line.
const LINES_NAMED: usize = 12;

/// Renders the diagnostics and their totals. `verdict` is the answer's: unchecked files are never
/// called clean. `read_line` returns the 0-based line of a file of the answer.
pub(crate) fn render(
    output: &DiagnosticsOutput,
    verdict: Verdict,
    display: &DisplayCapabilities,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> String {
    let mut out = String::new();
    let several =
        output.diagnostics.first().map(|item| &item.path) != output.diagnostics.last().map(|item| &item.path);
    for file in output.diagnostics.chunk_by(|one, other| one.path == other.path) {
        if !display.terminal {
            out.extend(file.iter().map(|item| diagnostic_line(item, display)));
            continue;
        }
        if several {
            out.push_str(&heading(file, display));
        }
        out.push_str(&file_frames(file, display, read_line));
    }
    out.push_str(&totals(output, verdict, display));
    out.push('\n');
    out
}

/// Formats `path:line:col: severity: message [code] (source)`, with related information indented
/// below.
pub(crate) fn diagnostic_line(item: &DiagnosticItem, display: &DisplayCapabilities) -> String {
    let severity = display.paint(style(item.severity), word(item.severity));
    let place = format!("{}:{}", escape::line(&item.path), LineColumn::from(item.range.start));
    let mut line = format!("{}: {severity}: {}", display.paint(BOLD, &place), escape::words(&item.message));
    if let Some(code) = &item.code {
        let _ = write!(line, " [{}]", escape::words(code));
    }
    let _ = writeln!(line, " ({})", escape::words(item.checker()));
    for related in &item.related {
        let at = LineColumn::from(related.place.range.start);
        let (path, message) = (escape::line(&related.place.path), escape::words(&related.message));
        let _ = writeln!(line, "    {path}:{at}: note: {message}");
    }
    line
}

fn heading(file: &[DiagnosticItem], display: &DisplayCapabilities) -> String {
    let path = file.first().map_or("", |item| item.path.as_str());
    let path = escape::line(path);
    let counts = by_severity(file.iter());
    format!("{} {}\n\n", display.paint(BOLD, &path), display.paint(DIM, &format!("({counts})")))
}

fn file_frames(
    file: &[DiagnosticItem],
    display: &DisplayCapabilities,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> String {
    let mut kinds: HashMap<String, Vec<&DiagnosticItem>> = HashMap::new();
    for item in file {
        kinds.entry(kind(item)).or_default().push(item);
    }
    let mut out = String::new();
    let mut shown: HashMap<String, usize> = HashMap::new();
    for item in file {
        let kind = kind(item);
        let all = kinds.get(&kind).map_or(&[][..], Vec::as_slice);
        let seen = shown.entry(kind).or_default();
        *seen += 1;
        // A line for a single further diagnostic would save nothing.
        if *seen <= MAX_FRAMES_PER_KIND || all.len() == MAX_FRAMES_PER_KIND + 1 {
            out.push_str(&frames::render(item, display, read_line));
            out.push('\n');
        }
        if *seen == MAX_FRAMES_PER_KIND && all.len() > MAX_FRAMES_PER_KIND + 1 {
            out.push_str(&repeated_note(&all[MAX_FRAMES_PER_KIND..], display));
        }
    }
    out
}

/// The key of a kind of diagnostics: equal messages apart from numbers.
fn kind(item: &DiagnosticItem) -> String {
    let mut words = format!("{:?} {:?} {:?} ", item.severity, item.source, item.code);
    let mut digits = false;
    for character in item.message.chars() {
        let digit = character.is_ascii_digit();
        if !(digit && digits) {
            words.push(if digit { '#' } else { character });
        }
        digits = digit;
    }
    words
}

fn repeated_note(rest: &[&DiagnosticItem], display: &DisplayCapabilities) -> String {
    let lines: BTreeSet<u32> = rest.iter().map(|item| LineColumn::from(item.range.start).line).collect();
    let named: Vec<String> = lines.iter().take(LINES_NAMED).map(u32::to_string).collect();
    let more = if lines.len() > LINES_NAMED { ", …" } else { "" };
    let what = rest.first().map(|item| item.code.as_deref().unwrap_or(&item.message)).unwrap_or_default();
    let what = escape::words(what);
    let line = if lines.len() == 1 { "line" } else { "lines" };
    let text = format!("… and {} more of this kind ({what}), {line} {}{more}", rest.len(), named.join(", "));
    format!("{}\n\n", display.paint(DIM, &text))
}

/// Formats the totals and the extent of the check in one line without a line break.
pub(crate) fn totals(output: &DiagnosticsOutput, verdict: Verdict, display: &DisplayCapabilities) -> String {
    let silent = output.incomplete.iter().filter(|file| file.verdict == Verdict::NoData).count();
    let checked = output.files.saturating_sub(silent + output.unchecked);
    let mut line = if output.diagnostics.is_empty() {
        match verdict {
            Verdict::Complete => display.paint(GOOD, "no problems"),
            Verdict::Partial if checked > 0 => "no problems found (incomplete)".to_owned(),
            Verdict::Hints if checked == 0 => "nothing was checked".to_owned(),
            Verdict::Hints => "no syntax errors; nothing else was checked".to_owned(),
            Verdict::Partial | Verdict::NoData => display.paint(WARN, "no answer; this does not mean clean"),
        }
    } else {
        let files = output.diagnostics.chunk_by(|one, other| one.path == other.path).count();
        format!("{} in {}", painted_counts(output, display), count(files, "file"))
    };
    let _ = write!(line, ", {} checked", count(checked, "file"));
    if silent > 0 {
        let _ = write!(line, ", {}", display.paint(WARN, &format!("{silent} without an answer")));
    }
    if output.has_more {
        let _ = write!(line, "; {} of {} shown", output.diagnostics.len(), output.count);
    }
    line
}

fn painted_counts(output: &DiagnosticsOutput, display: &DisplayCapabilities) -> String {
    let counts = severities(output.diagnostics.iter());
    let parts =
        counts.map(|(severity, number)| display.paint(style(severity), &count(number, word(severity))));
    parts.collect::<Vec<_>>().join(", ")
}

fn by_severity<'a>(items: impl Iterator<Item = &'a DiagnosticItem> + Clone) -> String {
    severities(items).map(|(severity, number)| count(number, word(severity))).collect::<Vec<_>>().join(", ")
}

fn severities<'a>(
    items: impl Iterator<Item = &'a DiagnosticItem> + Clone,
) -> impl Iterator<Item = (Severity, usize)> {
    let all = [Severity::Error, Severity::Warning, Severity::Information, Severity::Hint];
    all.into_iter()
        .map(move |severity| (severity, items.clone().filter(|item| item.severity == severity).count()))
        .filter(|(_, number)| *number > 0)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "info",
        Severity::Hint => "hint",
    }
}

fn style(severity: Severity) -> anstyle::Style {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => WARN,
        Severity::Information | Severity::Hint => INFO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::{FileVerdict, RelatedItem};
    use crate::analysis::items::place::Place;
    use crate::text::{Position, Range};

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };

    fn item(path: &str, line: u32, severity: Severity, message: &str) -> DiagnosticItem {
        DiagnosticItem {
            path: path.into(),
            range: Range::new(Position::new(line, 0), Position::new(line, 3)),
            severity,
            code: Some("F1".into()),
            source: None,
            server: "pylsp".into(),
            message: message.into(),
            enclosing: None,
            related: Vec::new(),
        }
    }

    fn output(diagnostics: Vec<DiagnosticItem>, files: usize) -> DiagnosticsOutput {
        let count = diagnostics.len();
        DiagnosticsOutput {
            diagnostics,
            count,
            has_more: false,
            files,
            unchecked: 0,
            incomplete: Vec::new(),
            looked_at: Vec::new(),
        }
    }

    fn shown(output: &DiagnosticsOutput, verdict: Verdict, display: &DisplayCapabilities) -> String {
        render(output, verdict, display, &|_, line| Some(format!("abc {line}")))
    }

    #[test]
    fn diagnostics_in_a_pipe_are_one_line_each() {
        let mut first = item("a.py", 0, Severity::Error, "bad\n  thing");
        first.related = vec![RelatedItem {
            place: Place {
                path: "b.py".into(),
                enclosing: None,
                range: Range::empty(Position::new(6, 1)),
                text: None,
                why: None,
            },
            message: "because".into(),
        }];
        let mut second = item("c.py", 4, Severity::Warning, "odd");
        (second.code, second.source) = (None, Some("pyflakes".into()));
        let expected = "a.py:1:1: error: bad thing [F1] (pylsp)\n    b.py:7:2: note: because\n\
                        c.py:5:1: warning: odd (pyflakes)\n1 error, 1 warning in 2 files, 3 files checked\n";
        assert_eq!(
            shown(&output(vec![first, second], 3), Verdict::Complete, &DisplayCapabilities::PLAIN),
            expected
        );
    }

    #[test]
    fn diagnostics_on_a_terminal_are_framed_under_their_file() {
        let two = output(
            vec![
                item("a.py", 0, Severity::Error, "bad"),
                item("b.py", 8, Severity::Hint, "could be shorter"),
            ],
            2,
        );
        let expected = "\
a.py (1 error)

error[F1]: bad (pylsp)
  ╭▸ a.py:1:1
  │
1 │ abc 0
  ╰╴━━━

b.py (1 hint)

hint[F1]: could be shorter (pylsp)
  ╭▸ b.py:9:1
  │
9 │ abc 8
  ╰╴━━━

1 error, 1 hint in 2 files, 2 files checked
";
        assert_eq!(shown(&two, Verdict::Complete, &TERMINAL), expected);
    }

    #[test]
    fn repeated_diagnostics_are_summarised_only_on_a_terminal() {
        let many: Vec<_> = (0..40)
            .map(|line| item("a.py", line, Severity::Warning, &format!("line too long ({} > 79)", line + 80)))
            .collect();
        let output = output(many, 1);
        let terminal = shown(&output, Verdict::Complete, &TERMINAL);
        assert_eq!(terminal.matches("warning[F1]").count(), 3, "{terminal}");
        let rest = "\n… and 37 more of this kind (F1), lines 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, …\n\n\
                    40 warnings in 1 file, 1 file checked\n";
        assert!(terminal.ends_with(rest), "{terminal}");
        let plain = shown(&output, Verdict::Complete, &DisplayCapabilities::PLAIN);
        assert_eq!(plain.matches("warning: line too long").count(), 40);
    }

    #[test]
    fn diagnostics_summary_is_clean_only_for_complete_verdict() {
        let mut silent = output(Vec::new(), 2);
        assert_eq!(
            shown(&silent, Verdict::Complete, &DisplayCapabilities::PLAIN),
            "no problems, 2 files checked\n"
        );
        assert_eq!(
            shown(&silent, Verdict::Hints, &DisplayCapabilities::PLAIN),
            "no syntax errors; nothing else was checked, 2 files checked\n"
        );
        silent.incomplete = vec![FileVerdict { path: "a.py".into(), verdict: Verdict::NoData, detail: None }];
        assert_eq!(
            shown(&silent, Verdict::Partial, &DisplayCapabilities::PLAIN),
            "no problems found (incomplete), 1 file checked, 1 without an answer\n"
        );
        silent.files = 1;
        assert_eq!(
            shown(&silent, Verdict::NoData, &DisplayCapabilities::PLAIN),
            "no answer; this does not mean clean, 0 files checked, 1 without an answer\n"
        );
    }

    #[test]
    fn diagnostics_over_limit_report_shown_and_total_count() {
        let mut cut = output(vec![item("a.py", 0, Severity::Error, "bad")], 1);
        (cut.count, cut.has_more) = (7, true);
        let shown = shown(&cut, Verdict::Complete, &DisplayCapabilities::PLAIN);
        assert!(shown.ends_with("1 error in 1 file, 1 file checked; 1 of 7 shown\n"), "{shown}");
    }

    #[test]
    fn diagnostics_escape_control_sequences_in_path_and_message() {
        let hostile = item("\x1b]0;t\x07.py", 0, Severity::Error, "\x1b[31mred\u{9b}");
        let shown = shown(&output(vec![hostile], 1), Verdict::Complete, &DisplayCapabilities::PLAIN);
        assert!(
            shown.starts_with("\\u{1b}]0;t\\u{7}.py:1:1: error: \\u{1b}[31mred\\u{9b} [F1] (pylsp)\n"),
            "{shown}"
        );
    }
}
