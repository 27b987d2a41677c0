//! Truncation of texts to a limit, with a note on how much is left out.

use std::borrow::Cow;

/// The part of the limit, at its end, in which the end of a line is searched for: ending there
/// costs at most that part.
const LINE_END_SEARCH_DIVISOR: usize = 8;
/// The longest fence that is repeated to close its block.
const MAX_CODE_FENCE_BYTES: usize = 40;

/// Returns `text`, or its beginning if it has more than `most` bytes, with the number of omitted
/// bytes. The cut is at the end of a line if one is near, and never within a character.
pub(crate) fn truncate_with_note(text: &str, most: usize) -> Cow<'_, str> {
    match truncation_prefix(text, most) {
        None => Cow::Borrowed(text),
        Some(kept) => Cow::Owned(format!("{kept}{}", truncation_note(kept, text.len() - kept.len()))),
    }
}

/// Returns `text`, or its first `max_chars` characters and `…` if it has more.
pub(crate) fn truncate_chars(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Like [`truncate_with_note`], for Markdown: an open code block is closed before the note. A code
/// block whose fence is longer than `MAX_CODE_FENCE_BYTES` is left out.
pub(crate) fn cut_markdown(text: &str, most: usize) -> Cow<'_, str> {
    let Some(kept) = truncation_prefix(text, most) else { return Cow::Borrowed(text) };
    let mut open: Option<(&str, usize)> = None;
    let mut next = 0;
    for line in kept.split_inclusive('\n') {
        let start = next;
        next += line.len();
        let line = line.trim_start();
        let fence = &line[..line.len() - line.trim_start_matches(['`', '~']).len()];
        match open {
            None if is_fence(fence) => open = Some((fence, start)),
            Some((begun, _)) if fence.starts_with(begun) && line.trim_end() == fence => open = None,
            _ => {}
        }
    }
    let (kept, open) = match open {
        Some((fence, start)) if fence.len() > MAX_CODE_FENCE_BYTES => (&kept[..start], None),
        _ => (kept, open),
    };
    let left = text.len() - kept.len();
    Cow::Owned(match open {
        Some((fence, _)) => format!("{}\n{fence}\n\n… ({left} more bytes)", kept.trim_end_matches('\n')),
        None => format!("{kept}{}", truncation_note(kept, left)),
    })
}

fn is_fence(fence: &str) -> bool {
    fence.len() >= 3 && (fence.bytes().all(|byte| byte == b'`') || fence.bytes().all(|byte| byte == b'~'))
}

fn truncation_prefix(text: &str, most: usize) -> Option<&str> {
    if text.len() <= most {
        return None;
    }
    let kept = &text[..text.floor_char_boundary(most)];
    let from = kept.floor_char_boundary(kept.len() - kept.len() / LINE_END_SEARCH_DIVISOR);
    Some(match kept[from..].rfind('\n') {
        Some(end) => &kept[..=from + end],
        None => kept,
    })
}

fn truncation_note(kept: &str, left: usize) -> String {
    let between = if kept.is_empty() || kept.ends_with('\n') { "" } else { " " };
    format!("{between}… ({left} more bytes)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_over_limit_ends_with_count_of_omitted_bytes() {
        assert!(matches!(truncate_with_note("abc", 3), Cow::Borrowed("abc")));
        assert_eq!(truncate_with_note("abcdef", 4), "abcd … (2 more bytes)");
        assert_eq!(truncate_with_note("ab\u{e9}\u{e9}", 3), "ab … (4 more bytes)");
        assert_eq!(truncate_with_note("\u{1f600}", 2), "… (4 more bytes)");
        let lines = "a line of text\n".repeat(10);
        let shown = truncate_with_note(&lines, 80);
        assert_eq!(shown, format!("{}… (75 more bytes)", "a line of text\n".repeat(5)));
    }

    #[test]
    fn cut_markdown_inside_code_block_closes_the_fence() {
        let code = format!("text\n```rust\n{}```\n", "let x = 1;\n".repeat(20));
        let shown = cut_markdown(&code, 100);
        assert!(shown.ends_with("let x = 1;\n```\n\n… (147 more bytes)"), "{shown}");
        let closed = format!("```\na\n```\n{}", "text ".repeat(50));
        assert!(!cut_markdown(&closed, 100).ends_with("```\n\n"));
        assert_eq!(cut_markdown(&closed, 100).matches("```").count(), 2);
        let plain = "x".repeat(50);
        assert_eq!(cut_markdown(&plain, 10), truncate_with_note(&plain, 10));
        let fence = format!("text\n{}\ncode\n", "`".repeat(1_000));
        assert_eq!(cut_markdown(&fence, 900), "text\n… (1006 more bytes)");
    }
}
