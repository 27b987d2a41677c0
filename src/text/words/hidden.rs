//! Detection of characters that are invisible, or that change the order in which text is displayed.

/// A character that is invisible, or changes the display order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HiddenCharacter {
    /// The character itself.
    pub(crate) character: char,
    /// 0-based line.
    pub(crate) line: u32,
    /// 0-based, in Unicode scalar values.
    pub(crate) column: u32,
    /// The effect of the character.
    pub(crate) what: &'static str,
}

/// Returns the hidden characters of `text`, in order. Characters that join letters or emoji in
/// their proper use (Persian, family emoji) do not count.
pub(crate) fn hidden_characters(text: &str) -> impl Iterator<Item = HiddenCharacter> + '_ {
    let (mut line, mut column) = (0, 0);
    let mut before = None;
    let mut characters = text.chars().peekable();
    std::iter::from_fn(move || {
        loop {
            let character = characters.next()?;
            let here = (line, column);
            if character == '\n' {
                (line, column) = (line + 1, 0);
            } else {
                column += 1;
            }
            let what = what_it_hides(character, before, characters.peek().copied());
            before = Some(character);
            if let Some(what) = what {
                return Some(HiddenCharacter { character, line: here.0, column: here.1, what });
            }
        }
    })
}

fn what_it_hides(character: char, before: Option<char>, after: Option<char>) -> Option<&'static str> {
    let is_ascii = |neighbour: Option<char>| neighbour.is_none_or(|neighbour| neighbour.is_ascii());
    Some(match character {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "turns the direction of writing",
        '\u{200e}' | '\u{200f}' | '\u{061c}' => "marks the direction of writing",
        '\u{e0000}'..='\u{e007f}' => "is an invisible tag",
        '\u{e0100}'..='\u{e01ef}' => "is an invisible selector",
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' | '\u{3164}' | '\u{ffa0}' => {
            "has no width"
        }
        '\u{200c}' | '\u{200d}' if is_ascii(before) || is_ascii(after) => "has no width",
        '\u{2028}' | '\u{2029}' => "breaks the line for some programs only",
        '\r' if after != Some('\n') => "returns to the start of the line",
        '\t' | '\n' | '\r' | '\u{c}' => return None,
        control if control.is_control() => "is a control character",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u32, u32, u32)> {
        hidden_characters(text).map(|hidden| (hidden.character as u32, hidden.line, hidden.column)).collect()
    }

    #[test]
    fn hidden_unicode_and_control_characters_are_found_with_position() {
        assert_eq!(found("a\u{e0041}b\n\u{202e}"), [(0xe0041, 0, 1), (0x202e, 1, 0)]);
        assert_eq!(found("ad\u{200d}min\u{200b}"), [(0x200d, 0, 2), (0x200b, 0, 6)]);
        assert_eq!(found("x\u{1b}[31m\rback"), [(0x1b, 0, 1), (0x0d, 0, 6)]);
    }

    #[test]
    fn joiners_in_emoji_and_persian_text_are_not_hidden_characters() {
        for text in ["tab\tand\r\nlines\n", "می‌خواهم", "👩‍👩‍👧 ❤️", "e\u{301}", "שלום"]
        {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
