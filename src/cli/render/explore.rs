//! A symbol with its context: heading, documentation, source with line numbers, and lists.

use crate::lsp::model::Severity;
use crate::tools::language::explore::output::{ExploreFinding, ExploreItem, ExploreList, ExploreOutput};

use crate::text::{LineColumn, Range};

use super::terminal::display::{BOLD, DIM, KIND, PLACE};
use super::terminal::{escape, markdown};
use super::{DisplayCapabilities, locations};

/// The mark between the two parts of an elided source.
const ELISION: char = '⋯';
/// The heading of diagnostics, which are in one file.
const ERRORS: &str = "Errors";

/// Renders the whole answer. Empty parts are left out, except for callers and tests, since their
/// absence is informative.
pub(crate) fn render(output: &ExploreOutput, display: &DisplayCapabilities) -> String {
    let mut out = String::new();
    if let Some(kind) = &output.kind {
        out.push_str(&display.paint(KIND, &escape::words(kind)));
        out.push(' ');
    }
    let place = locations::address(&output.path, &Range::empty(output.name_start), display);
    out.push_str(&format!("{}  {place}\n", display.paint(BOLD, &escape::words(&output.symbol))));
    let about = markdown::render(&output.about, display);
    if !about.is_empty() {
        out.push_str(&format!("\n{about}"));
    }
    if let Some(body) = &output.body {
        out.push_str(&format!("\n{}", numbered(body, &output.range, display)));
    }
    if !output.errors.items.is_empty() {
        out.push_str(&section(ERRORS, &output.errors, display));
        out.extend(output.errors.items.iter().map(|item| finding(item, &output.path, display)));
    }
    let lists = [
        ("Used by", &output.callers, true),
        ("Implementations", &output.implementations, false),
        ("Tests", &output.tests, true),
        ("Callees", &output.callees, false),
    ];
    for (title, list, always) in lists {
        if always || list.count > 0 {
            out.push_str(&section(title, list, display));
            out.extend(list.items.iter().map(|found| item(found, display)));
        }
    }
    out
}

/// Formats a section, such as `Used by (12 of 57; more with --budget, fewer with --only)`.
fn section<T>(title: &str, list: &ExploreList<T>, display: &DisplayCapabilities) -> String {
    let shown = list.items.len();
    let count = match list.count {
        0 => "none found".to_owned(),
        all if shown < all && title == ERRORS => format!("{shown} of {all}; more with --budget"),
        all if shown < all => format!("{shown} of {all}; more with --budget, fewer with --only"),
        all => all.to_string(),
    };
    format!("\n{} {}\n", display.paint(BOLD, title), display.paint(DIM, &format!("({count})")))
}

/// Formats an item, such as `  src/app.py:12:5, 40:9  method Cart.total  (7 places)  self.sum()`.
fn item(item: &ExploreItem, display: &DisplayCapabilities) -> String {
    let starts: Vec<String> = item.at.iter().map(|start| LineColumn::from(*start).to_string()).collect();
    let place = format!("{}:{}", escape::line(&item.path), starts.join(", "));
    let mut line = format!("  {}", display.paint(PLACE, &place));
    if let Some(symbol) = &item.symbol {
        let kind = item.kind.as_deref().map(escape::words).unwrap_or_default();
        line.push_str(&format!("  {} {}", display.paint(KIND, &kind), escape::words(symbol)));
    }
    if item.places > item.at.len() {
        line.push_str(&display.paint(DIM, &format!("  ({} places)", item.places)));
    }
    if let Some(text) = &item.text {
        line.push_str(&display.paint(DIM, &format!("  {}", escape::line(text))));
    }
    line.push('\n');
    line
}

fn finding(finding: &ExploreFinding, path: &str, display: &DisplayCapabilities) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information => "information",
        Severity::Hint => "hint",
    };
    let code = finding.code.as_deref().map(|code| format!(" [{}]", escape::words(code))).unwrap_or_default();
    let place = format!("{}:{}", escape::line(path), LineColumn::from(finding.at));
    format!("  {}  {severity}: {}{code}\n", display.paint(PLACE, &place), escape::words(&finding.message))
}

/// Renders the source with line numbers, which continue correctly after elided lines.
fn numbered(body: &str, range: &Range, display: &DisplayCapabilities) -> String {
    let width = (u64::from(range.end.line) + 1).to_string().len();
    let mut number = u64::from(range.start.line) + 1;
    let mut out = String::new();
    for line in body.lines() {
        if let Some(left_out) = elided_lines(line) {
            number += left_out;
            out.push_str(&display.paint(DIM, &format!("{:>width$} {}\n", "", escape::line(line))));
            continue;
        }
        let line = format!("{} {}", display.paint(DIM, &format!("{number:>width$}")), escape::line(line));
        out.push_str(line.trim_end());
        out.push('\n');
        number += 1;
    }
    out
}

fn elided_lines(line: &str) -> Option<u64> {
    let words = line.strip_prefix(ELISION)?.strip_suffix(ELISION)?;
    words.trim().strip_suffix(" lines left out")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Position;

    fn output() -> ExploreOutput {
        let caller = ExploreItem {
            path: "src/a.py".into(),
            symbol: Some("main".into()),
            kind: Some("function".into()),
            at: vec![Position::new(1, 0), Position::new(4, 8)],
            places: 9,
            text: Some("greet('x')".into()),
        };
        let finding = ExploreFinding {
            at: Position::new(12, 3),
            severity: Severity::Error,
            code: Some("call-arg".into()),
            message: "wrong\x1b[2J".into(),
        };
        ExploreOutput {
            symbol: "Greeter.greet".into(),
            kind: Some("method".into()),
            path: "src/app.py".into(),
            name_start: Position::new(8, 8),
            range: Range::new(Position::new(8, 4), Position::new(99, 0)),
            about: "Greets.".into(),
            body: Some("    def greet(self):\n⋯ 90 lines left out ⋯\n        return 1".into()),
            errors: ExploreList { count: 1, items: vec![finding], ..ExploreList::default() },
            callers: ExploreList { count: 3, items: vec![caller], ..ExploreList::default() },
            implementations: ExploreList::default(),
            tests: ExploreList::default(),
            callees: ExploreList::default(),
        }
    }

    #[test]
    fn explore_answer_is_rendered_with_1_based_lines_and_escapes() {
        let expected = "method Greeter.greet  src/app.py:9:9\n\nGreets.\n\n  9     def greet(self):\n    ⋯ 90 lines left out ⋯\n\
                        100         return 1\n\nErrors (1)\n  src/app.py:13:4  error: wrong\\u{1b}[2J [call-arg]\n\n\
                        Used by (1 of 3; more with --budget, fewer with --only)\n  src/a.py:2:1, 5:9  function main  (9 places)  greet('x')\n\nTests (none found)\n";
        assert_eq!(render(&output(), &DisplayCapabilities::PLAIN), expected);
    }
}
