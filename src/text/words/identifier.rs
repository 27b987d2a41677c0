//! Identifiers in a text, and the one under or beside a position.

use crate::text::{Buffer, Position, Range};

/// An identifier with its place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// The name itself.
    pub name: String,
    /// The range of the identifier.
    pub range: Range,
}

/// Returns true if `character` may be part of an identifier: letters and digits of any script, `_`
/// and `$`.
pub(crate) fn is_identifier_char(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric() || is_combining_mark(character)
}

/// Returns true for combining marks, which continue a name (`e` + U+0301); `char::is_alphanumeric`
/// does not count them.
fn is_combining_mark(character: char) -> bool {
    matches!(character as u32, 0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F)
}

/// The words of `text`, from left to right; numbers are words, too.
pub(crate) fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_identifier_char(character)).filter(|word| !word.is_empty())
}

/// Returns true if `text` contains `word` as a whole word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    words_in(text).any(|found| found == word)
}

/// Replaces `old` by `new` in `text`, wherever it is a whole word.
pub(crate) fn replace_word(text: &str, old: &str, new: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_identifier_char) {
        let end = rest[start..].find(|character| !is_identifier_char(character));
        let end = end.map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        replaced.push_str(&rest[..start]);
        replaced.push_str(if word == old { new } else { word });
        rest = &rest[end..];
    }
    replaced.push_str(rest);
    replaced
}

/// All identifiers of the 0-based `line`, from left to right; numbers do not count.
pub fn identifiers_on_line(buffer: &Buffer, line: u32) -> Vec<Identifier> {
    buffer.line(line).map_or_else(Vec::new, |text| identifiers_in(&text, line))
}

/// All identifiers of `text`, which is the 0-based `line`, from left to right; numbers do not
/// count.
pub(crate) fn identifiers_in(text: &str, line: u32) -> Vec<Identifier> {
    let mut found = Vec::new();
    let mut start: Option<(u32, usize)> = None;
    let mut column = 0;
    for (byte, character) in text.char_indices() {
        match (is_identifier_char(character), start) {
            (true, None) => start = Some((column, byte)),
            (false, Some((from, from_byte))) => {
                push_identifier(&mut found, line, from, column, &text[from_byte..byte]);
                start = None;
            }
            _ => {}
        }
        column += 1;
    }
    if let Some((from, from_byte)) = start {
        push_identifier(&mut found, line, from, column, &text[from_byte..]);
    }
    found
}

fn push_identifier(found: &mut Vec<Identifier>, line: u32, from: u32, to: u32, name: &str) {
    if name.starts_with(|first: char| first.is_numeric()) {
        return;
    }
    let range = Range { start: Position { line, character: from }, end: Position { line, character: to } };
    found.push(Identifier { name: name.to_owned(), range });
}

/// Returns the identifier at `position`, or else the nearest on the same line (the one before it if
/// two are equally near); `None` if the line has none.
///
/// A position at a name's end belongs to that name, as in editors.
pub(crate) fn identifier_near(buffer: &Buffer, position: Position) -> Option<Identifier> {
    let distance = |name: &Identifier| {
        let (start, end) = (name.range.start.character, name.range.end.character);
        if position.character < start {
            start - position.character
        } else {
            position.character.saturating_sub(end)
        }
    };
    let mut names = identifiers_on_line(buffer, position.line);
    // A position between two touching names cannot be; between `a` and `(b` the name that starts
    // here wins.
    if let Some(at) = names.iter().position(|name| {
        name.range.start.character <= position.character && position.character < name.range.end.character
    }) {
        return Some(names.swap_remove(at));
    }
    names.into_iter().min_by_key(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(text: &str, line: u32, character: u32) -> Option<String> {
        identifier_near(&Buffer::new(text), Position { line, character }).map(|found| found.name)
    }

    #[test]
    fn replaced_word_leaves_longer_words_as_they_are() {
        let message = "No parameter named \"price\" (prices, price_of): price";
        let expected = "No parameter named \"cost\" (prices, price_of): cost";
        assert_eq!(replace_word(message, "price", "cost"), expected);
        assert_eq!(replace_word("größe é", "größe", "maß"), "maß é");
        assert_eq!(replace_word("", "a", "b"), "");
    }

    #[test]
    fn position_in_or_beside_identifier_finds_the_identifier() {
        let text = "let greeting = hello(world)";
        assert_eq!(near(text, 0, 4).as_deref(), Some("greeting"));
        assert_eq!(near(text, 0, 12).as_deref(), Some("greeting"));
        assert_eq!(near(text, 0, 20).as_deref(), Some("hello"));
        assert_eq!(near(text, 0, 21).as_deref(), Some("world"));
        assert_eq!(near(text, 0, 400).as_deref(), Some("world"));
    }

    #[test]
    fn identifier_with_any_script_and_combining_marks_is_one_word() {
        assert_eq!(near("x = cafe\u{301}名 + 1", 0, 6).as_deref(), Some("cafe\u{301}名"));
        assert_eq!(near("🦀🦀 = crab", 0, 0).as_deref(), Some("crab"));
    }

    #[test]
    fn word_is_found_whole_and_not_in_longer_words() {
        assert_eq!(
            words_in("class Cart(Basket, id=7):").collect::<Vec<_>>(),
            ["class", "Cart", "Basket", "id", "7"]
        );
        assert!(has_word("List<Cart>", "Cart"));
        assert!(!has_word("Carts Shop$Cart", "Cart"));
    }

    #[test]
    fn identifier_is_not_found_in_numbers_and_empty_lines() {
        assert_eq!(near("123 + 45", 0, 1), None);
        assert_eq!(near("", 0, 0), None);
        assert_eq!(near("a", 7, 0), None);
    }
}
