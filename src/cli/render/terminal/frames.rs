//! One diagnostic as a code frame in the style of compilers.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::analysis::answer::DiagnosticItem;
use crate::lsp::model::Severity;
use crate::text::{LineColumn, Range};

use super::escape;
use super::source::RenderedSourceLine;
use crate::cli::render::DisplayCapabilities;

/// The number of lines of a range that are shown. Longer ranges show only their first line.
const MAX_FRAME_RANGE_LINES: u32 = 6;

/// A placeholder for a path until the frame is rendered.
///
/// The position that the crate derives from the shown line would be wrong after tabs or escapes,
/// which take several columns. The placeholder counts as unsafe, so no text in a frame can contain
/// it.
const PATH: char = '\u{FDD0}';

/// Renders the frame of `item`, with a line break at the end. `read_line` returns the 0-based line
/// of a file of the answer. If it returns `None`, the frame is only its heading and position.
pub(crate) fn render(
    item: &DiagnosticItem,
    display: &DisplayCapabilities,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> String {
    let mut title = level(item.severity).primary_title(headline(item));
    if let Some(code) = &item.code {
        title = title.id(escape::words(code));
    }
    let mut report = vec![place(Group::with_title(title), &item.path, &item.range, true, read_line)];
    let mut places = vec![address(&item.path, &item.range)];
    for related in &item.related {
        let (path, range) = (&related.place.path, &related.place.range);
        let title = Level::NOTE.secondary_title(escape::block(&related.message));
        report.push(place(Group::with_title(title), path, range, false, read_line));
        places.push(address(path, range));
    }
    let renderer = if display.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Unicode).term_width(display.width.max(40));
    let frame = with_places(&renderer.render(&report), &places);
    frame.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// Replaces each placeholder, with the line and column after it, by the next of `places`.
fn with_places(frame: &str, places: &[String]) -> String {
    let mut parts = frame.split(PATH);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (part, place) in parts.zip(places) {
        out.push_str(place);
        out.push_str(
            part.trim_start_matches(|character: char| character == ':' || character.is_ascii_digit()),
        );
    }
    out
}

fn address(path: &str, range: &Range) -> String {
    format!("{}:{}", escape::line(path), LineColumn::from(range.start))
}

fn headline(item: &DiagnosticItem) -> String {
    let message = escape::block(item.message.trim());
    let checker = escape::words(item.checker());
    match message.split_once('\n') {
        Some((first, rest)) => format!("{first} ({checker})\n{rest}"),
        None => format!("{message} ({checker})"),
    }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Information => Level::INFO,
        Severity::Hint => Level::HELP.with_name("hint"),
    }
}

/// Adds the position and, if the source is available, the lines to `group`.
fn place<'a>(
    group: Group<'a>,
    path: &str,
    range: &Range,
    primary: bool,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> Group<'a> {
    match snippet(range, primary, path, read_line) {
        Some(snippet) => group.element(snippet),
        None => group.element(Origin::path(PATH.to_string())),
    }
}

fn snippet(
    range: &Range,
    primary: bool,
    path: &str,
    read_line: &impl Fn(&str, u32) -> Option<String>,
) -> Option<Snippet<'static, Annotation<'static>>> {
    let first = RenderedSourceLine::new(
        &read_line(path, range.start.line)?,
        range.start.character..range.end.character,
    );
    let one_line = range.end.line == range.start.line;
    let start = first.byte_span(range.start.character..range.start.character).start;
    let mut source = first.text.clone();
    // An empty range is shown as one character, as in editors.
    let mut end = match one_line {
        true => {
            first.byte_span(range.start.character..range.end.character.max(range.start.character + 1)).end
        }
        false => source.len(),
    };
    if !one_line && range.end.line - range.start.line < MAX_FRAME_RANGE_LINES {
        for line in range.start.line + 1..=range.end.line {
            // A range that ends before the first character of a line does not include it.
            if line == range.end.line && range.end.character == 0 {
                break;
            }
            let Some(text) = read_line(path, line) else { break };
            let shown = RenderedSourceLine::new(&text, 0..0);
            let covered = if line == range.end.line { range.end.character } else { u32::MAX };
            source.push('\n');
            end = source.len() + shown.byte_span(0..covered).end;
            source.push_str(&shown.text);
        }
    }
    let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let snippet = Snippet::source(source).path(PATH.to_string()).line_start(range.start.line as usize + 1);
    Some(snippet.annotation(kind.span(start..end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::RelatedItem;
    use crate::analysis::items::place::Place;
    use crate::text::Position;

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };

    fn item(start: (u32, u32), end: (u32, u32)) -> DiagnosticItem {
        DiagnosticItem {
            path: "src/app.py".into(),
            range: Range::new(Position::new(start.0, start.1), Position::new(end.0, end.1)),
            severity: Severity::Error,
            code: Some("E1".into()),
            source: Some("pyflakes".into()),
            server: "pylsp".into(),
            message: "undefined name 'nme'".into(),
            enclosing: None,
            related: Vec::new(),
        }
    }

    fn shown(item: &DiagnosticItem, lines: &[&str]) -> String {
        render(item, &TERMINAL, &|_, line| lines.get(line as usize).map(|line| (*line).to_owned()))
    }

    #[test]
    fn diagnostic_frame_underlines_a_name_on_a_line() {
        let expected = "\
error[E1]: undefined name 'nme' (pyflakes)
  ╭▸ src/app.py:2:12
  │
2 │     return nme
  ╰╴           ━━━
";
        assert_eq!(shown(&item((1, 11), (1, 14)), &["def f():", "    return nme"]), expected);
    }

    #[test]
    fn diagnostic_frame_aligns_underline_behind_tabs_and_wide_characters() {
        let expected = "\
error[E1]: undefined name 'nme' (pyflakes)
  ╭▸ src/app.py:1:6
  │
1 │     名 = 名前
  ╰╴         ━━━━
";
        assert_eq!(shown(&item((0, 5), (0, 7)), &["\t名 = 名前"]), expected);
    }

    #[test]
    fn diagnostic_frame_spans_several_lines_with_related_places() {
        let mut item = item((0, 4), (2, 1));
        item.message = "first\nsecond".into();
        item.related = vec![RelatedItem {
            place: Place {
                path: "b.py".into(),
                enclosing: None,
                range: Range::new(Position::new(1, 0), Position::new(1, 1)),
                text: None,
                why: None,
            },
            message: "see here".into(),
        }];
        let expected = "\
error[E1]: first (pyflakes)
           second
  ╭▸ src/app.py:1:5
  │
1 │   x = f(
  │ ┏━━━━━┛
2 │ ┃   1,
3 │ ┃ )
  │ ┗━┛
  ╰╴
note: see here
  ╭▸ b.py:2:1
  │
2 │   1,
  ╰╴─
";
        assert_eq!(shown(&item, &["x = f(", "  1,", ")"]), expected);
    }

    #[test]
    fn diagnostic_frame_without_source_shows_only_its_place() {
        let expected = "error[E1]: undefined name 'nme' (pyflakes)\n ─▸ src/app.py:5:3\n";
        assert_eq!(render(&item((4, 2), (4, 3)), &TERMINAL, &|_, _| None), expected);
    }

    #[test]
    fn diagnostic_frame_with_out_of_bounds_range_is_rendered() {
        for (start, end) in
            [((0, 900), (0, 901)), ((0, 2), (0, 2)), ((0, 0), (900, 0)), ((7, 0), (7, 1)), ((0, 1), (1, 0))]
        {
            let frame = shown(&item(start, end), &["a = 1", ""]);
            assert!(frame.contains(&format!("src/app.py:{}:{}\n", start.0 + 1, start.1 + 1)), "{frame}");
        }
    }

    #[test]
    fn diagnostic_frame_escapes_terminal_control_sequences() {
        let mut item = item((0, 0), (0, 1));
        item.path = "\x1b]52;c;eA==\x07.py".into();
        item.message = "\x1b[31mred\u{FDD0}:9:9".into();
        item.code = Some("\x1b[0m".into());
        let frame = shown(&item, &["\x1b[2Jx\u{202e}"]);
        assert!(!frame.contains(['\x1b', '\x07', '\u{202e}', '\u{FDD0}']), "{frame:?}");
        assert!(frame.contains("\\u{1b}]52;c;eA==\\u{7}.py:1:1"), "{frame}");
    }
}
