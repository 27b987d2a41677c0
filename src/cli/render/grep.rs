//! Matching lines in the format of ripgrep: grouped by file on a terminal, `path:line:text` in a
//! pipe.

use super::DisplayCapabilities;
use super::files::notes;
use super::terminal::display::{BAD, DIM, PLACE, count};
use super::terminal::escape;
use crate::cli::exit::CliExitStatus;
use crate::cli::paths::PathSpelling;
use crate::cli::reply::Reply;
use crate::tools::files::grep::{GrepMatch, GrepOutput};
use crate::tools::files::match_marks::MatchMark;
use crate::workspace::{LineMatcher, WorkDeadline};

/// Finds the matches in shown lines again, within a time limit.
pub(crate) struct Highlighter {
    pub(crate) matcher: LineMatcher,
    pub(crate) until: WorkDeadline,
}

/// Renders the matches. If context was requested (`gaps`), blocks that are not adjacent are
/// separated by `--`. The parts that `matcher` finds are highlighted.
pub(crate) fn render(
    found: &GrepOutput,
    gaps: bool,
    matcher: Option<&Highlighter>,
    paths: &PathSpelling,
    display: &DisplayCapabilities,
) -> Reply {
    let file = |path: &str| display.paint(PLACE, &escape::name(&paths.display_path(path), display));
    let out = match (&found.files, &found.counts) {
        (Some(files), _) => files.iter().map(|path| format!("{}\n", file(path))).collect(),
        (_, Some(counts)) => {
            counts.iter().map(|one| format!("{}:{}\n", file(&one.path), one.count)).collect()
        }
        (None, None) => lines(&found.matches, gaps, matcher, &file, display),
    };
    let unit = if found.files.is_some() { "file" } else { "match" };
    let number = if unit == "match" && found.count != 1 {
        format!("{} matches", found.count)
    } else {
        count(found.count, unit)
    };
    let left_out =
        found.has_more.then(|| format!("{number} shown; there are more: narrow the search, or raise -m"));
    let mut lines = notes(&found.notes, left_out);
    if found.count == 0 && !found.has_more {
        lines.push("nothing matches".to_owned());
    }
    let status = if found.count == 0 { CliExitStatus::Unpleasant } else { CliExitStatus::Answered };
    Reply { out, lines, status }
}

fn lines(
    matches: &[GrepMatch],
    gaps: bool,
    matcher: Option<&Highlighter>,
    file: &impl Fn(&str) -> String,
    display: &DisplayCapabilities,
) -> String {
    let mut out = String::new();
    for of_file in matches.chunk_by(|one, other| one.path == other.path) {
        let path = of_file.first().map_or_else(String::new, |one| file(&one.path));
        if display.terminal {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            out.push_str(&format!("{path}\n"));
        }
        let prefix = if display.terminal { None } else { Some(path.as_str()) };
        let mut last = None;
        for one in of_file {
            let first = one.line.saturating_sub(one.before.len() as u32);
            if gaps && last.is_some_and(|last| first > last + 1) {
                out.push_str("--\n");
            }
            last = Some(push(&mut out, one, first, prefix, matcher, display));
        }
    }
    out
}

/// Renders a match with its context. Returns the last rendered line number.
fn push(
    out: &mut String,
    one: &GrepMatch,
    first: u32,
    prefix: Option<&str>,
    matcher: Option<&Highlighter>,
    display: &DisplayCapabilities,
) -> u32 {
    let mut number = first;
    let mut put = |sign: char, text: &str| {
        let path = prefix.map_or_else(String::new, |path| format!("{path}{sign}"));
        out.push_str(&format!("{path}{}{sign}{text}\n", display.paint(NUMBER, &number.to_string())));
        number += 1;
    };
    for line in &one.before {
        put('-', &escape::content(line, display));
    }
    // The matches within a multi-line match are highlighted separately.
    let mut text = highlight_matches(&one.text, matcher, display);
    let mark = match one.mark {
        Some(MatchMark::Text) => "  (text)",
        Some(MatchMark::Added) => "  (added)",
        Some(MatchMark::Confirmed) | None => "",
    };
    if display.terminal && !mark.is_empty() {
        text.push_str(&display.paint(DIM, mark));
    }
    for line in text.split('\n') {
        put(':', line.trim_end_matches('\r'));
    }
    for line in &one.after {
        put('-', &escape::content(line, display));
    }
    number - 1
}

/// Style of line numbers.
const NUMBER: anstyle::Style = anstyle::AnsiColor::Green.on_default();

fn highlight_matches(text: &str, matcher: Option<&Highlighter>, display: &DisplayCapabilities) -> String {
    let Some(Highlighter { matcher, until }) = matcher else {
        return escape::content(text, display).into_owned();
    };
    let (mut out, mut at) = (String::new(), 0);
    for found in matcher.find_all(text, until) {
        out.push_str(&escape::content(&text[at..found.start], display));
        let inside = escape::content(&text[found.clone()], display);
        let inside: Vec<String> = inside.split('\n').map(|line| display.paint(BAD, line)).collect();
        out.push_str(&inside.join("\n"));
        at = found.end;
    }
    out.push_str(&escape::content(&text[at..], display));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{CaseMode, GrepPattern};
    use serde_json::json;

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };

    fn found() -> GrepOutput {
        let answer = json!({"count": 3, "has_more": false, "matches": [
            {"path": "a.py", "line": 3, "column": 1, "text": "def f():\u{1b}[2J", "before": ["", "x"], "after": ["y"]},
            {"path": "a.py", "line": 9, "column": 1, "text": "f()", "before": ["z"], "mark": "text"},
            {"path": "b.py", "line": 1, "column": 1, "text": "f"},
        ]});
        serde_json::from_value(answer).unwrap()
    }

    fn shown(gaps: bool, display: &DisplayCapabilities) -> Reply {
        render(&found(), gaps, None, &PathSpelling::Inside(Vec::new()), display)
    }

    #[test]
    fn grep_lines_in_a_pipe_name_their_file() {
        let expected =
            "a.py-1-\na.py-2-x\na.py:3:def f():\u{1b}[2J\na.py-4-y\n--\na.py-8-z\na.py:9:f()\nb.py:1:f\n";
        assert_eq!(shown(true, &DisplayCapabilities::PLAIN).out, expected);
    }

    #[test]
    fn grep_lines_on_a_terminal_are_grouped_by_file() {
        let expected = "a.py\n1-\n2-x\n3:def f():\\u{1b}[2J\n4-y\n--\n8-z\n9:f()  (text)\n\nb.py\n1:f\n";
        assert_eq!(shown(true, &TERMINAL).out, expected);
    }

    #[test]
    fn grep_highlights_every_occurrence_in_a_line() {
        let pattern = GrepPattern {
            text: "g+".into(),
            fixed: false,
            case: CaseMode::Sensitive,
            whole_word: false,
            multiline: false,
            invert: false,
        };
        let until = WorkDeadline::new(std::time::Instant::now() + std::time::Duration::from_secs(60));
        let matcher = Highlighter { matcher: LineMatcher::new(&pattern).unwrap(), until };
        let display = DisplayCapabilities { color: true, ..TERMINAL };
        let text = highlight_matches("名gg\u{1b}g", Some(&matcher), &display);
        assert_eq!(text, "名\x1b[1m\x1b[31mgg\x1b[0m\\u{1b}\x1b[1m\x1b[31mg\x1b[0m");
    }

    #[test]
    fn grep_without_matches_has_exit_status_1() {
        let none: GrepOutput =
            serde_json::from_value(json!({"count": 0, "matches": [], "has_more": false})).unwrap();
        let reply =
            render(&none, false, None, &PathSpelling::Inside(Vec::new()), &DisplayCapabilities::PLAIN);
        assert_eq!((reply.out.as_str(), reply.status), ("", CliExitStatus::Unpleasant));
    }
}
