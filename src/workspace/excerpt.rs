//! Lines shortened for answers.

/// A line of more Unicode scalar values than this is cut around its hit.
pub(super) const MAX_EXCERPT_LINE_CHARS: usize = 400;

/// How much of a cut line is kept before the hit, in Unicode scalar values.
const EXCERPT_LEADING_CHARS: usize = 80;

/// `line` as text; where it has more than `longest` scalar values, a stretch around the byte offset `at`, with `…` where it
/// was cut. Bytes that are not UTF-8 become replacement characters.
pub(super) fn excerpt(line: &[u8], at: usize, longest: usize) -> String {
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

/// How many Unicode scalar values `bytes` shows as; bytes that are not UTF-8 show as replacement characters.
pub(super) fn count_chars(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => String::from_utf8_lossy(bytes).chars().count(),
    }
}

/// Lines and columns are `u32` in the protocol; what lies beyond is shown as the last one.
pub(super) fn to_u32(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}
