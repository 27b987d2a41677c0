//! Markdown of hovers and documentation as text.

use std::rc::Rc;

use anstyle::Style;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use super::display::{BOLD, CODE, DIM};
use super::escape;
use super::table::{Cell, table};
use crate::cli::render::DisplayCapabilities;

/// The maximum width of wrapped text.
const MAX_MARKDOWN_COLUMNS: usize = 100;
/// The depth to which nested blocks get a prefix. Each line repeats the prefixes before it.
const MAX_MARKDOWN_BLOCK_DEPTH: usize = 12;
/// The length limit of a link's URL, in bytes. On a terminal each word of a link carries the URL.
const MAX_LINK_URL_BYTES: usize = 1_000;

/// Renders `markdown` as lines with line breaks and without trailing blanks; wrapped to the
/// terminal, never wrapped in a pipe.
///
/// Line breaks of the source and the indentation after them stay, since servers pass on
/// documentation in its author's layout. Only `http`, `https` and `mailto` links are links;
/// editors' own (`command:`) become text.
pub(crate) fn render(markdown: &str, display: &DisplayCapabilities) -> String {
    let mut page = MarkdownRenderer::new(display);
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    for (event, place) in parser.into_offset_iter() {
        let is_line_break = matches!(event, Event::SoftBreak | Event::HardBreak);
        page.event(event);
        if is_line_break && page.prefixes.is_empty() {
            page.push(indentation(&markdown[place.end..]));
        }
    }
    page.flush();
    page.out
}

/// A piece of text in one style.
#[derive(Debug, Clone)]
struct StyledSpan {
    text: String,
    style: Style,
    url: Option<Rc<str>>,
}

/// The prefix of the lines of a nested block.
#[derive(Debug, Clone)]
struct MarkdownBlockPrefix {
    /// The prefix of the block's first line only (a bullet), until it is used.
    first: Option<String>,
    rest: String,
}

struct MarkdownRenderer<'a> {
    display: &'a DisplayCapabilities,
    width: usize,
    out: String,
    /// True if a blank line is due before the next line.
    gap: bool,
    /// The text of the current block.
    inline: Vec<StyledSpan>,
    styles: Vec<Style>,
    url: Option<Rc<str>>,
    /// The start of the current link in `inline`.
    link: usize,
    prefixes: Vec<MarkdownBlockPrefix>,
    /// The number of open blocks beyond the depth limit.
    deeper: usize,
    lists: Vec<Option<u64>>,
    code: Option<String>,
    rows: Vec<Vec<String>>,
}

impl<'a> MarkdownRenderer<'a> {
    fn new(display: &'a DisplayCapabilities) -> Self {
        let width = if display.terminal { display.width.clamp(20, MAX_MARKDOWN_COLUMNS) } else { usize::MAX };
        Self {
            display,
            width,
            out: String::new(),
            gap: false,
            inline: Vec::new(),
            styles: vec![Style::new()],
            url: None,
            link: 0,
            prefixes: Vec::new(),
            deeper: 0,
            lists: Vec::new(),
            code: None,
            rows: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push(&text),
            },
            Event::Code(code) => self.inline_code(&code),
            Event::InlineHtml(tag) | Event::Html(tag) if is_break(&tag) => self.push("\n"),
            Event::InlineHtml(text) | Event::Html(text) => self.push(&text),
            Event::SoftBreak | Event::HardBreak => self.push("\n"),
            Event::Rule => self.rule(),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.push(&text)
            }
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.push_style(Style::bold),
            Tag::Strong => self.push_style(Style::bold),
            Tag::Emphasis => self.push_style(Style::italic),
            Tag::Strikethrough => self.push_style(Style::strikethrough),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.url = is_linkable(&dest_url).then(|| Rc::from(dest_url.as_ref()));
                self.link = self.inline.len();
                self.push_style(if self.url.is_some() { Style::underline } else { |style| style });
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.settle_gap();
                let bar = self.display.paint(DIM, if self.display.terminal { "│" } else { ">" });
                self.push_block_prefix(MarkdownBlockPrefix { first: None, rest: format!("{bar} ") });
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Table(_) => {
                self.flush();
                self.rows.clear();
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.pop_style();
                self.flush();
                self.gap = true;
            }
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => self.pop_style(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.set_in();
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap |= self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                self.set_in();
            }
            TagEnd::TableCell => {
                let cell = self.inline.drain(..).map(|piece| piece.text).collect::<String>();
                if let Some(row) = self.rows.last_mut() {
                    row.push(escape::words(&cell));
                }
            }
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, change: impl Fn(Style) -> Style) {
        self.styles.push(change(self.style()));
    }

    fn pop_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn push(&mut self, text: &str) {
        let piece = StyledSpan { text: escape::block(text), style: self.style(), url: self.url.clone() };
        self.inline.push(piece);
    }

    fn inline_code(&mut self, code: &str) {
        if self.display.color {
            self.styles.push(CODE);
            self.push(code);
            self.pop_style();
        } else {
            self.push(&format!("`{code}`"));
        }
    }

    fn end_link(&mut self) {
        self.pop_style();
        let Some(url) = self.url.take() else { return };
        let clickable = self.display.terminal && self.display.color;
        let text: String = self.inline.iter().skip(self.link).map(|piece| piece.text.as_str()).collect();
        let bare = ["http://", "https://", "mailto:"].iter().find_map(|scheme| url.strip_prefix(scheme));
        if !clickable && text != *url && Some(text.as_str()) != bare {
            self.push(&format!(" ({url})"));
        }
    }

    fn item(&mut self) {
        self.flush();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number += 1;
                bullet
            }
            _ if self.display.terminal => "• ".to_owned(),
            _ => "- ".to_owned(),
        };
        let rest = " ".repeat(bullet.width());
        self.push_block_prefix(MarkdownBlockPrefix { first: Some(bullet), rest });
    }

    fn push_block_prefix(&mut self, prefix: MarkdownBlockPrefix) {
        if self.prefixes.len() < MAX_MARKDOWN_BLOCK_DEPTH {
            return self.prefixes.push(prefix);
        }
        self.deeper += 1;
        if let Some(bullet) = prefix.first {
            self.push(&bullet);
        }
    }

    fn set_in(&mut self) {
        match self.deeper {
            0 => drop(self.prefixes.pop()),
            _ => self.deeper -= 1,
        }
    }

    fn rule(&mut self) {
        self.flush();
        self.gap = true;
        let rule = if self.display.terminal { "─".repeat(self.width.min(40)) } else { "---".to_owned() };
        let rule = self.display.paint(DIM, &rule);
        self.line(&rule);
        self.gap = true;
    }

    fn end_code(&mut self) {
        let Some(code) = self.code.take() else { return };
        self.gap |= !self.out.is_empty() && self.prefixes.is_empty();
        for line in escape::block(code.trim_matches('\n')).lines() {
            let line = line.trim_end();
            let shown = if line.is_empty() {
                String::new()
            } else {
                format!("    {}", self.display.paint(CODE, line))
            };
            self.line(&shown);
        }
        self.gap = true;
    }

    fn end_table(&mut self) {
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        let header = rows.next().unwrap_or_default();
        let styled = std::iter::once(header.into_iter().map(|cell| Cell::new(cell, BOLD)).collect());
        let rows: Vec<Vec<Cell>> =
            styled.chain(rows.map(|row| row.into_iter().map(Cell::plain).collect())).collect();
        for line in table(&[], &rows, self.display).lines() {
            self.line(line);
        }
        self.gap = true;
    }

    /// Writes the current block.
    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.inline);
        if pieces.iter().all(|piece| piece.text.trim().is_empty()) {
            return;
        }
        let width =
            self.width.saturating_sub(self.prefixes.iter().map(|prefix| visible_width(&prefix.rest)).sum());
        for line in wrap(&pieces, width.max(10), self.display) {
            self.line(&line);
        }
    }

    fn settle_gap(&mut self) {
        if self.gap && !self.out.is_empty() {
            let blank: String = self.prefixes.iter().map(|prefix| prefix.rest.as_str()).collect();
            self.out.push_str(blank.trim_end());
            self.out.push('\n');
        }
        self.gap = false;
    }

    fn line(&mut self, text: &str) {
        self.settle_gap();
        let from = self.out.len();
        for prefix in &mut self.prefixes {
            self.out.push_str(&prefix.first.take().unwrap_or_else(|| prefix.rest.clone()));
        }
        self.out.push_str(text);
        let end = self.out.trim_end().len().max(from);
        self.out.truncate(end);
        self.out.push('\n');
    }
}

/// Returns the leading blanks of `text`.
fn indentation(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

fn visible_width(prefix: &str) -> usize {
    anstream::adapter::strip_str(prefix).to_string().width()
}

fn is_break(tag: &str) -> bool {
    let tag = tag.trim().trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    tag.trim().eq_ignore_ascii_case("br")
}

fn is_linkable(url: &str) -> bool {
    url.len() <= MAX_LINK_URL_BYTES
        && ["http://", "https://", "mailto:"].iter().any(|scheme| url.starts_with(scheme))
        && !url.chars().any(|character| character == ' ' || escape::is_unsafe(character))
}

/// A word in one or several styles.
type StyledWord = Vec<StyledSpan>;

/// Wraps `pieces` into lines no wider than `width`, unless a word is longer.
fn wrap(pieces: &[StyledSpan], width: usize, display: &DisplayCapabilities) -> Vec<String> {
    let mut lines = Vec::new();
    for words in logical_lines(pieces) {
        let mut line = String::new();
        let mut used = 0;
        for (blanks, word) in words {
            let wide: usize = word.iter().map(|piece| piece.text.width()).sum();
            if used > 0 && used + blanks + wide > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else {
                line.extend(std::iter::repeat_n(' ', blanks));
                used += blanks;
            }
            used += wide;
            for piece in &word {
                let text = display.paint(piece.style, &piece.text);
                line.push_str(&piece.url.as_ref().map_or(text.clone(), |url| display.link(&text, url)));
            }
        }
        lines.push(line);
    }
    lines
}

/// Splits the text into source lines of words, each with the number of blanks before it.
fn logical_lines(pieces: &[StyledSpan]) -> Vec<Vec<(usize, StyledWord)>> {
    let mut lines: Vec<Vec<(usize, StyledWord)>> = vec![Vec::new()];
    let mut blanks = 0;
    let mut joined = false;
    for piece in pieces {
        for part in piece.text.split_inclusive([' ', '\n']) {
            let word = part.trim_end_matches([' ', '\n']);
            if !word.is_empty() {
                let piece = StyledSpan { text: word.to_owned(), style: piece.style, url: piece.url.clone() };
                match lines.last_mut() {
                    Some(line) if joined && !line.is_empty() => {
                        if let Some((_, last)) = line.last_mut() {
                            last.push(piece);
                        }
                    }
                    Some(line) => line.push((std::mem::take(&mut blanks), vec![piece])),
                    None => {}
                }
                joined = true;
            }
            match part.as_bytes().last() {
                Some(b' ') => (blanks, joined) = (blanks + 1, false),
                Some(b'\n') => {
                    lines.push(Vec::new());
                    (blanks, joined) = (0, false);
                }
                _ => {}
            }
        }
    }
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: true, width: 30 };

    const PAGE: &str = "```python\ndef greet(name: str) -> str\n```\n\n---\n# Greets\n\nSays *hello* to **`name`**, \
see [docs](https://example.org/a) or [go](command:x).\n\n- one\n- two\n  1. deep\n\n> quoted\n\n| a | b |\n|---|---|\n| 名前 | c |\n";

    #[test]
    fn markdown_in_a_pipe_is_plain_text() {
        let expected = "    def greet(name: str) -> str\n\n---\n\nGreets\n\nSays hello to `name`, see docs \
(https://example.org/a) or go.\n\n- one\n- two\n  1. deep\n\n> quoted\n\na     b\n名前  c\n";
        assert_eq!(render(PAGE, &DisplayCapabilities::PLAIN), expected);
    }

    #[test]
    fn markdown_on_a_terminal_is_wrapped_and_styled() {
        let expected = concat!(
            "    \x1b[36mdef greet(name: str) -> str\x1b[0m\n\n",
            "\x1b[2m──────────────────────────────\x1b[0m\n\n",
            "\x1b[1mGreets\x1b[0m\n\n",
            "Says \x1b[3mhello\x1b[0m to \x1b[36mname\x1b[0m, see \x1b]8;;https://example.org/a\x1b\\\x1b[4mdocs\x1b[0m\x1b]8;;\x1b\\\n",
            "or go.\n\n",
            "• one\n• two\n  1. deep\n\n",
            "\x1b[2m│\x1b[0m quoted\n\n",
            "\x1b[1ma\x1b[0m     \x1b[1mb\x1b[0m\n名前  c\n",
        );
        assert_eq!(render(PAGE, &TERMINAL), expected);
    }

    #[test]
    fn markdown_escapes_terminal_control_sequences() {
        let hostile =
            "\x1b]52;c;eA==\x07 [x](https://a/\x1b[2J) `\x1b[31m`\n\n```\n\x1b]0;t\x07\n```\n<b\x1b>";
        let shown = render(hostile, &DisplayCapabilities { terminal: true, color: false, width: 80 });
        assert!(!shown.contains(['\x1b', '\x07']), "{shown:?}");
        assert!(shown.contains("\\u{1b}]52;c;eA==\\u{7}"), "{shown}");
    }

    #[test]
    fn markdown_links_in_a_pipe_show_url_unless_text_does() {
        let links = "[guide](https://a.org/guide), <https://a.org>, [a.org/x](https://a.org/x), [two *words*](http://b)";
        let expected = "guide (https://a.org/guide), https://a.org, a.org/x, two words (http://b)\n";
        assert_eq!(render(links, &DisplayCapabilities::PLAIN), expected);
    }

    #[test]
    fn markdown_of_hostile_shape_renders_in_linear_time() {
        let shapes: [(&str, String); 8] = [
            ("words", "w ".repeat(400_000)),
            ("lines", "a line\n".repeat(60_000)),
            ("links", "[a](https://b) ".repeat(20_000)),
            ("links side by side", "[a](https://b)".repeat(20_000)),
            ("quotes in quotes", format!("{}a\n{}", "> ".repeat(5_000), "lazy\n".repeat(5_000))),
            ("lists in lists", (0..200).map(|deep| format!("{}- a\n", "  ".repeat(deep))).collect()),
            ("a wide cell", format!("|a|b|\n|-|-|\n|{}|b|\n{}", "w".repeat(20_000), "|a|b|\n".repeat(5_000))),
            ("a link of many words", format!("[{}](https://{})", "w ".repeat(5_000), "u".repeat(5_000))),
        ];
        // In a debug build they take a second or two together; quadratic work would take hours.
        let begun = std::time::Instant::now();
        for (shape, page) in shapes {
            for display in [DisplayCapabilities::PLAIN, TERMINAL] {
                let shown = render(&page, &display);
                assert!(shown.len() < 60 * page.len(), "{shape}: {} of {}", shown.len(), page.len());
            }
        }
        assert!(begun.elapsed() < std::time::Duration::from_secs(120), "{:?}", begun.elapsed());
    }

    #[test]
    fn deeply_nested_markdown_list_is_rendered_completely() {
        let page = format!(
            "{}- deep\n",
            (0..20).map(|deep| format!("{}- a\n", "  ".repeat(deep))).collect::<String>()
        );
        let shown = render(&page, &DisplayCapabilities::PLAIN);
        assert_eq!(shown.matches("- a").count(), 20, "{shown}");
        assert!(shown.contains("- deep"), "{shown}");
    }

    #[test]
    fn markdown_keeps_source_line_breaks_and_trims_blank_ends() {
        assert_eq!(
            render("one  \ntwo\nthree<br>four", &DisplayCapabilities::PLAIN),
            "one\ntwo\nthree\nfour\n"
        );
        assert_eq!(
            render(
                "Args:\n    one: first\n\t two\n\n> quoted\n>   more\n\n- item\n  more",
                &DisplayCapabilities::PLAIN
            ),
            "Args:\n    one: first\n     two\n\n> quoted\n> more\n\n- item\n  more\n"
        );
        assert_eq!(render("", &DisplayCapabilities::PLAIN), "");
        assert_eq!(render("```\n\na\n\n  b\n\n```", &DisplayCapabilities::PLAIN), "    a\n\n      b\n");
    }
}
