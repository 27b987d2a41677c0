//! Places with their source lines: definitions, references and similar answers.

use crate::analysis::answer::LocationsOutput;
use crate::analysis::items::place::Place;
use crate::text::{LineColumn, Range, column_in_excerpt};

use super::DisplayCapabilities;
use super::terminal::display::{BOLD, DIM, MATCH, PLACE, count};
use super::terminal::escape;
use super::terminal::source::RenderedSourceLine;

/// Renders the places: in a pipe `path:line:col: source line`, one per line; on a terminal grouped
/// by file, with counts. Returns an empty text if there are none.
pub(crate) fn render(output: &LocationsOutput, what: &str, display: &DisplayCapabilities) -> String {
    if output.locations.is_empty() {
        return String::new();
    }
    let ranked = output.locations.iter().any(|place| place.why.is_some());
    if !display.terminal || ranked {
        return output.locations.iter().map(|place| plain_line(place, display)).collect();
    }
    if let [only] = &*output.locations {
        return single_location(only, display);
    }
    let mut out = String::new();
    let mut files = 0;
    for group in output.locations.chunk_by(|one, other| one.path == other.path) {
        if files > 0 {
            out.push('\n');
        }
        files += 1;
        out.push_str(&group_lines(group, display));
    }
    let more = if output.has_more { format!(", {} shown", output.locations.len()) } else { String::new() };
    let total = format!("{} in {}{more}", count(output.count, what), count(files, "file"));
    format!("{out}\n{}\n", display.paint(DIM, &total))
}

/// Formats `path:line:col: source line  (reason of its rank)`.
pub(crate) fn plain_line(place: &Place, display: &DisplayCapabilities) -> String {
    let mut line = address(&place.path, &place.range, display);
    if let Some(text) = &place.text {
        line.push_str(": ");
        line.push_str(&source_line(text, &place.range, display));
    }
    if let Some(reason) = &place.why {
        line.push_str(&display.paint(DIM, &format!("  ({})", escape::words(reason))));
    }
    line.push('\n');
    line
}

/// Formats `path:line:col`, 1-based, in the style of positions.
pub(crate) fn address(path: &str, range: &Range, display: &DisplayCapabilities) -> String {
    display.paint(PLACE, &format!("{}:{}", escape::line(path), LineColumn::from(range.start)))
}

/// Renders the source line without indentation, with the part within `range` highlighted.
pub(crate) fn source_line(text: &str, range: &Range, display: &DisplayCapabilities) -> String {
    let start = column_in_excerpt(text, range.start.character);
    let length = range.end.character.saturating_sub(range.start.character);
    let end = if range.end.line == range.start.line { start + length } else { u32::MAX };
    let covered = start..end;
    let shown = RenderedSourceLine::new(text, covered.clone()).trim_start();
    let span = shown.byte_span(covered);
    let (before, rest) = shown.text.split_at(span.start);
    let (inside, after) = rest.split_at(span.end - span.start);
    format!("{before}{}{after}", display.paint(MATCH, inside))
}

fn single_location(place: &Place, display: &DisplayCapabilities) -> String {
    let mut out = address(&place.path, &place.range, display);
    out.push('\n');
    if let Some(text) = &place.text {
        out.push_str(&format!("    {}\n", source_line(text, &place.range, display)));
    }
    out
}

fn group_lines(group: &[Place], display: &DisplayCapabilities) -> String {
    let path = group.first().map_or("", |place| place.path.as_str());
    let mut out = display.paint(BOLD, &escape::line(path));
    out.push_str(&display.paint(DIM, &format!("  {}", group.len())));
    out.push('\n');
    let places: Vec<String> =
        group.iter().map(|place| LineColumn::from(place.range.start).to_string()).collect();
    let widest = places.iter().map(String::len).max().unwrap_or(0);
    for (place, at) in group.iter().zip(places) {
        out.push_str(&display.paint(PLACE, &format!("{at:>width$}", width = widest + 2)));
        if let Some(text) = &place.text {
            out.push_str("  ");
            out.push_str(&source_line(text, &place.range, display));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Position;

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };

    fn place(path: &str, line: u32, from: u32, to: u32, text: &str) -> Place {
        Place {
            path: path.into(),
            enclosing: None,
            range: Range::new(Position::new(line, from), Position::new(line, to)),
            text: Some(text.into()),
            why: None,
        }
    }

    fn output(locations: Vec<Place>) -> LocationsOutput {
        LocationsOutput { count: locations.len(), locations: locations.into(), ..LocationsOutput::default() }
    }

    fn three() -> LocationsOutput {
        output(vec![
            place("src/app.py", 2, 4, 9, "def greet(name):"),
            place("src/app.py", 99, 7, 12, "\tprint(greet('名'))"),
            place("src/b.py", 0, 16, 21, "from app import greet"),
        ])
    }

    #[test]
    fn locations_in_a_pipe_are_one_line_each() {
        let expected = "src/app.py:3:5: def greet(name):\nsrc/app.py:100:8: print(greet('名'))\n\
                        src/b.py:1:17: from app import greet\n";
        assert_eq!(render(&three(), "reference", &DisplayCapabilities::PLAIN), expected);
    }

    #[test]
    fn locations_on_a_terminal_are_grouped_by_file() {
        let expected = "src/app.py  2\n    3:5  def greet(name):\n  100:8  print(greet('名'))\n\n\
                        src/b.py  1\n  1:17  from app import greet\n\n3 references in 2 files\n";
        assert_eq!(render(&three(), "reference", &TERMINAL), expected);
    }

    #[test]
    fn location_on_a_colour_terminal_highlights_the_name() {
        let one = output(vec![place("a.py", 2, 5, 10, "\tdef greet(name):")]);
        let display = DisplayCapabilities { color: true, ..TERMINAL };
        let expected = "\x1b[35ma.py:3:6\x1b[0m\n    def \x1b[1m\x1b[4m\x1b[32mgreet\x1b[0m(name):\n";
        assert_eq!(render(&one, "definition", &display), expected);
    }

    #[test]
    fn locations_escape_control_sequences_in_path_and_text() {
        let one = output(vec![place("\x1b]52;c;eA==\x07.py", 0, 0, 1, "a\x1b[2J\u{202e}")]);
        assert_eq!(
            render(&one, "definition", &DisplayCapabilities::PLAIN),
            "\\u{1b}]52;c;eA==\\u{7}.py:1:1: a\\u{1b}[2J\\u{202e}\n"
        );
    }

    #[test]
    fn location_without_text_or_with_odd_range_is_rendered() {
        let mut odd = place("a.py", 0, 500, 900, "short");
        let shown = render(&output(vec![odd.clone()]), "definition", &DisplayCapabilities::PLAIN);
        assert_eq!(shown, "a.py:1:501: short\n");
        odd.text = None;
        assert_eq!(render(&output(vec![odd]), "definition", &DisplayCapabilities::PLAIN), "a.py:1:501\n");
    }
}
