//! Escaping of control characters and of characters that change the display order.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::cli::render::DisplayCapabilities;

/// Returns true if `character` must not reach a terminal unescaped: control characters (C0, C1),
/// line and paragraph separators, controls of writing direction, invisible tags, and noncharacters.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{FDD0}'..='\u{FDEF}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Escapes an unsafe character as `\t`, `\n`, `\r`, or its number.
pub(crate) fn push_escaped(out: &mut String, character: char) {
    match character {
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        _ => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", character as u32);
        }
    }
}

fn escape_except(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let bad = |character: char| is_unsafe(character) && !keep(character);
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if bad(character) {
            push_escaped(&mut out, character);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Escapes `text` for one line: every unsafe character, including line breaks and tabs.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape_except(text, |_| false)
}

/// Escapes `text` for several lines: line breaks stay (CRLF as LF), tabs become four spaces, the
/// rest is as in [`line()`].
pub(crate) fn block(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\t', "    ");
    escape_except(&text, |character| character == '\n').into_owned()
}

/// Escapes a file's `text` for a terminal as in [`line()`], but keeps line breaks (CRLF as LF) and
/// tabs. For other outputs it stays unchanged.
pub(crate) fn content<'a>(text: &'a str, display: &DisplayCapabilities) -> Cow<'a, str> {
    if !display.terminal {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    Cow::Owned(escape_except(&text, |character| matches!(character, '\n' | '\t')).into_owned())
}

/// Escapes a name or a line of a file for a terminal as in [`line()`]. For other outputs it stays
/// unchanged.
pub(crate) fn name<'a>(text: &'a str, display: &DisplayCapabilities) -> Cow<'a, str> {
    if display.terminal { line(text) } else { Cow::Borrowed(text) }
}

/// Escapes `text` as one line: line breaks and runs of blanks become one space, the rest is as in
/// [`line()`].
pub(crate) fn words(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line(&joined).into_owned()
}

/// Escapes unsafe characters within JSON strings; the value stays the same.
///
/// `json` must be valid JSON: outside of strings it has no such characters except line breaks,
/// which stay.
pub(crate) fn json(json: &str) -> Cow<'_, str> {
    let bad = |character: char| is_unsafe(character) && character != '\n';
    if !json.contains(bad) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if bad(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_escapes_control_and_invisible_characters() {
        assert_eq!(line("\x1b]52;c;eA==\x07"), "\\u{1b}]52;c;eA==\\u{7}");
        assert_eq!(line("a\u{202E}b\u{9b}31m\u{E0041}"), "a\\u{202e}b\\u{9b}31m\\u{e0041}");
        assert_eq!(line("one\ntwo\t\r"), "one\\ntwo\\t\\r");
        assert_eq!(line("naïve 名 👩‍👩‍👧"), "naïve 名 👩‍👩‍👧");
    }

    #[test]
    fn escaped_block_keeps_its_line_breaks() {
        assert_eq!(block("a\r\n\tb\x1b[2J\n"), "a\n    b\\u{1b}[2J\n");
        assert_eq!(words("  two\n  lines\x07 "), "two lines\\u{7}");
    }

    #[test]
    fn content_is_escaped_on_a_terminal_only() {
        let (text, terminal) =
            ("a\t\x1b[2J\r\n", DisplayCapabilities { terminal: true, ..DisplayCapabilities::PLAIN });
        assert_eq!(content(text, &DisplayCapabilities::PLAIN), text);
        assert_eq!(content(text, &terminal), "a\t\\u{1b}[2J\n");
        assert_eq!(name("a\tb", &DisplayCapabilities::PLAIN), "a\tb");
        assert_eq!(name("a\tb", &terminal), "a\\tb");
    }

    #[test]
    fn escaped_json_parses_to_the_same_value() {
        let value = serde_json::json!({"name": "a\u{9b}\u{202e}\u{7f}\u{E0041}\u{1b}名"});
        let written = value.to_string();
        let escaped = json(&written);
        assert!(escaped.chars().all(|character| !is_unsafe(character)), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).ok(), Some(value));
    }
}
