//! Source lines shortened for answers, around the relevant place.

/// A line of more Unicode scalar values than this is cut around its hit.
pub(crate) const MAX_EXCERPT_LINE_CHARS: usize = 400;

/// The number of Unicode scalar values kept before the hit in a cut line.
const EXCERPT_LEADING_CHARS: usize = 80;

/// Returns `line` as text. If it has more than `longest` scalar values, returns an excerpt around
/// the byte offset `at`, with `…` at each cut. Bytes that are not UTF-8 become replacement
/// characters.
pub(crate) fn excerpt(line: &[u8], at: usize, longest: usize) -> String {
    // A scalar value has at most four bytes; a line that cannot be too long need not be counted.
    if line.len() <= longest || (line.len() <= 4 * longest && count_chars(line) <= longest) {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_boundary = |index: usize| line.get(index).is_none_or(|byte| byte & 0xC0 != 0x80);
    let mut from = at;
    for _ in 0..EXCERPT_LEADING_CHARS {
        from = (0..from).rev().find(|index| is_boundary(*index)).unwrap_or(0);
    }
    let mut to = from;
    for _ in 0..longest {
        to = (to + 1..line.len()).find(|index| is_boundary(*index)).unwrap_or(line.len());
    }
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    shown.push_str(&String::from_utf8_lossy(&line[from..to]));
    if to < line.len() {
        shown.push('…');
    }
    shown
}

/// Shortens `line` for an answer about its 0-based `character`: cut around it, with `…`, if it is
/// very long.
pub(crate) fn line_excerpt(line: &str, character: u32) -> String {
    let at = line.char_indices().nth(character as usize).map_or(line.len(), |(at, _)| at);
    excerpt(line.as_bytes(), at, MAX_EXCERPT_LINE_CHARS)
}

/// The place in `text`, a [`line_excerpt`] about `character`, that shows `character`.
pub(crate) fn column_in_excerpt(text: &str, character: u32) -> u32 {
    let leading = to_u32(EXCERPT_LEADING_CHARS);
    if character > leading && text.starts_with('…') { leading + 1 } else { character }
}

/// Counts the Unicode scalar values of `bytes` when displayed. Bytes that are not UTF-8 count as
/// replacement characters.
pub(crate) fn count_chars(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => String::from_utf8_lossy(bytes).chars().count(),
    }
}

/// Converts a line or column to the protocol's `u32`; larger values become the maximum.
pub(crate) fn to_u32(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_in_excerpt_leads_to_the_same_character() {
        let long = format!("{}name{}", "é".repeat(10_000), ";".repeat(10_000));
        for (line, character) in [("a name", 2), ("… name", 2), (long.as_str(), 10_000), (long.as_str(), 3)]
        {
            let shown = line_excerpt(line, character);
            let column = column_in_excerpt(&shown, character) as usize;
            assert_eq!(shown.chars().nth(column), line.chars().nth(character as usize), "{shown}");
            assert!(shown.chars().count() <= MAX_EXCERPT_LINE_CHARS + 2);
            assert_eq!(line_excerpt(&shown, column as u32).trim_matches('…'), shown.trim_matches('…'));
        }
    }
}
