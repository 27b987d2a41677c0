//! File names in patches: quotes, timestamps, prefixes.

/// A file name in a patch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PatchPath {
    /// The name in the header, without quotes, escapes and timestamp.
    pub raw: String,
    /// The name without its apparent prefix (`a/`, `b/`, …). If no such file exists and one named
    /// `raw` does, `raw` is meant: a patch cannot distinguish a prefix from a folder. Not checked
    /// in any way: it may be absolute or climb out.
    pub clean: String,
}

impl PatchPath {
    /// A name that never has a prefix.
    pub(super) fn unprefixed(name: &str) -> Self {
        Self { raw: name.to_owned(), clean: name.to_owned() }
    }
}

/// One side of a `---`/`+++` pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatchSide {
    /// `/dev/null`, or the timestamp that `diff -N` writes for a missing file.
    Nothing,
    File(String),
}

/// Parses the text after `--- ` or `+++ `. Returns `None` if quotes or escapes are broken, or the
/// name is empty or not UTF-8.
pub(super) fn parse_side(text: &str) -> Option<PatchSide> {
    let text = text.trim_end_matches(['\n', '\r']);
    let (name, rest) = match text.strip_prefix('"') {
        Some(_) => unquote(text)?,
        None => split_timestamp(text),
    };
    if name == "/dev/null" {
        return Some(PatchSide::Nothing);
    }
    if name.is_empty() {
        return None;
    }
    let epoch = rest.trim_start();
    let absent = epoch.starts_with("1970-01-01 ") || epoch.starts_with("1969-12-31 ");
    Some(if absent && epoch.contains(":00:00") { PatchSide::Nothing } else { PatchSide::File(name) })
}

/// Splits the name from its end: a tab, or a date as `diff` writes it.
fn split_timestamp(text: &str) -> (String, &str) {
    if let Some((name, rest)) = text.split_once('\t') {
        return (name.to_owned(), rest);
    }
    for (at, _) in text.match_indices(' ') {
        if is_timestamp(&text[at + 1..]) {
            return (text[..at].trim_end().to_owned(), &text[at..]);
        }
    }
    (text.trim_end().to_owned(), "")
}

/// `2024-01-31 12:00:00`, with or without fraction and zone.
fn is_timestamp(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00 00:00:00";
    let bytes = text.as_bytes();
    bytes.len() >= SHAPE.len()
        && SHAPE.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => other == byte,
        })
        && bytes[SHAPE.len()..].iter().all(|byte| byte.is_ascii_digit() || b" .+-".contains(byte))
}

/// Parses a name in quotes, with C's escapes. Returns the text behind the closing quote too.
pub(super) fn unquote(text: &str) -> Option<(String, &str)> {
    let bytes = text.as_bytes();
    let mut name = Vec::new();
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some((String::from_utf8(name).ok()?, &text[at + 1..])),
            b'\\' => {
                let (byte, len) = decode_escape(&bytes[at + 1..])?;
                name.push(byte);
                at += 1 + len;
            }
            byte => {
                name.push(byte);
                at += 1;
            }
        }
    }
}

/// Returns the byte of an escape, and its length behind the backslash.
fn decode_escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let simple = match bytes.first()? {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' => b'"',
        b'\\' => b'\\',
        b'0'..=b'3' => {
            let digits = bytes.get(..3).filter(|digits| digits.iter().all(|d| (b'0'..=b'7').contains(d)))?;
            return Some((digits.iter().fold(0, |value, digit| value * 8 + (digit - b'0')), 3));
        }
        _ => return None,
    };
    Some((simple, 1))
}

/// Formats `name` as git writes it in a header: in quotes with escapes if it has control
/// characters, quotes or backslashes. Letters beyond ASCII stay as they are (git's
/// `core.quotePath=false`).
pub(crate) fn quote(name: &str) -> String {
    let special = |c: char| c.is_control() || matches!(c, '"' | '\\');
    if !name.contains(special) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The prefixes that git writes: of commits, index, working tree, objects, and for `--no-index`.
const PREFIXES: [&str; 8] = ["a", "b", "c", "i", "o", "w", "1", "2"];

/// Removes the prefixes from the two names of one file. Names that differ in their first folder
/// alone lose it. Equal names have none (`--no-prefix`). Different names lose a prefix that git
/// writes.
pub(super) fn clean_pair(old: &str, new: &str) -> (PatchPath, PatchPath) {
    let strip = |name: &str| known_prefix(name).map_or(name, |(_, rest)| rest).to_owned();
    let (old_clean, new_clean) = match (old.split_once('/'), new.split_once('/')) {
        _ if old == new => (old.to_owned(), new.to_owned()),
        (Some((_, left)), Some((_, right))) if left == right && !old.starts_with('/') => {
            (left.to_owned(), right.to_owned())
        }
        _ => (strip(old), strip(new)),
    };
    (PatchPath { raw: old.to_owned(), clean: old_clean }, PatchPath { raw: new.to_owned(), clean: new_clean })
}

/// Cleans a name whose other side is `/dev/null`.
pub(super) fn clean_single(name: &str) -> PatchPath {
    let clean = known_prefix(name).map_or(name, |(_, rest)| rest);
    PatchPath { raw: name.to_owned(), clean: clean.to_owned() }
}

fn known_prefix(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').filter(|(prefix, rest)| PREFIXES.contains(prefix) && !rest.is_empty())
}

/// Parses the two names behind `diff --git `, if they are unambiguous: quoted, or equal except for
/// a prefix.
pub(super) fn git_line(text: &str) -> Option<(String, String)> {
    // Two paths of the greatest length that systems have, with escapes.
    const MAX_GIT_LINE_BYTES: usize = 4 * 2 * 4096;
    let text = text.trim_end_matches(['\n', '\r']);
    if text.len() > MAX_GIT_LINE_BYTES {
        return None;
    }
    if text.starts_with('"') {
        let (old, rest) = unquote(text)?;
        return Some((old, whole_name(rest.strip_prefix(' ')?)?));
    }
    if text.ends_with('"') {
        let (old, _) = text.split_once(" \"")?;
        return Some((old.to_owned(), whole_name(&text[old.len() + 1..])?));
    }
    let behind_prefix = |name| str::split_once(name, '/').map(|(_, rest)| rest);
    let splits = || text.match_indices(' ').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let same = splits().find(|(old, new)| old == new);
    let prefixed =
        || splits().find(|(old, new)| behind_prefix(old).is_some_and(|r| Some(r) == behind_prefix(new)));
    let only = || (text.matches(' ').count() == 1).then(|| text.split_once(' ')).flatten();
    let (old, new) = same.or_else(prefixed).or_else(only)?;
    Some((old.to_owned(), new.to_owned()))
}

/// A whole name, quoted or not, as in `rename from`.
pub(super) fn whole_name(text: &str) -> Option<String> {
    let text = text.trim_end_matches(['\n', '\r']);
    match text.strip_prefix('"') {
        Some(_) => unquote(text).filter(|(_, rest)| rest.trim().is_empty()).map(|(name, _)| name),
        None => Some(text.to_owned()).filter(|name| !name.is_empty()),
    }
}
