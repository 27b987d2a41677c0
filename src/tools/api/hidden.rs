//! Escaping of invisible characters in manifests and descriptions. A model would read text in them
//! that a person who reads the manifest does not see.

use std::borrow::Cow;

use serde_json::Value;

/// `text` with hidden characters replaced by their code points.
pub(crate) fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// The longest text that an approval request shows, in characters.
const MAX_APPROVAL_TEXT_CHARS: usize = 2_000;

/// `text` in one line of limited length, with every invisible character replaced by its code point,
/// so that approvers see everything that they approve.
pub(crate) fn approval_text(text: &str) -> Cow<'_, str> {
    let unseen = |character: char| character.is_control() || is_hidden(character);
    let long = text.chars().nth(MAX_APPROVAL_TEXT_CHARS).is_some();
    if !long && !text.chars().any(unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for character in text.chars().take(MAX_APPROVAL_TEXT_CHARS) {
        match character {
            character if unseen(character) => shown.extend(character.escape_unicode()),
            character => shown.push(character),
        }
    }
    if long {
        shown.push_str(" … (cut off)");
    }
    Cow::Owned(shown)
}

/// Escapes every text of a schema, except keys, which a call must spell exactly.
pub(crate) fn escape_all(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = escape_hidden(text) {
                *text = shown;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(escape_all),
        Value::Object(map) => map.iter_mut().for_each(|(_, part)| escape_all(part)),
        _ => {}
    }
}

/// Returns true for control characters except line breaks and tabs, and for direction marks,
/// zero-width characters, tags and fillers.
pub(crate) fn is_hidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}'
            | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_text_escapes_hidden_characters_and_marks_cut_off() {
        assert_eq!(approval_text("plain ü"), "plain ü");
        assert_eq!(approval_text("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\u{a}");
        assert_eq!(approval_text("a\u{202e}b"), "a\\u{202e}b");
        // Fillers and soft hyphens are invisible too, and some programs drop them.
        assert_eq!(approval_text("r\u{ad}m \u{115f}-rf"), "r\\u{ad}m \\u{115f}-rf");
        let long = approval_text(&"x".repeat(5000)).into_owned();
        assert!(long.ends_with(" … (cut off)") && long.len() < 2100);
    }

    #[test]
    fn escaped_shows_bidi_tag_and_zero_width_characters() {
        assert_eq!(escape_hidden("a\u{202e}b\u{e0041}c\u{200b}"), "a\\u{202e}b\\u{e0041}c\\u{200b}");
        assert!(matches!(escape_hidden("größe\n名"), Cow::Borrowed(_)));
    }
}
