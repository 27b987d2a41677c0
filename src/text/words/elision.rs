//! Detection of lines such as `// ...existing code...`, by which models mark omitted text. Written
//! to a file, such a line would replace the text that it stands for.

/// The words between the dots.
const WORDS: &str = "existing code";

/// Returns the 1-based line of a marker in `after`, if `before` has fewer of them.
pub(crate) fn new_marker(before: &str, after: &str) -> Option<usize> {
    let old: Vec<&str> = markers(before).map(|(_, line)| line).collect();
    let new: Vec<(usize, &str)> = markers(after).collect();
    if new.len() <= old.len() {
        return None;
    }
    let added = new.iter().find(|(_, line)| !old.contains(line)).or(new.last());
    added.map(|(at, _)| at + 1)
}

fn markers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().map(str::trim).enumerate().filter(|(_, line)| is_marker(line))
}

/// Returns true if a line contains only the marker and the characters that make it a comment.
fn is_marker(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let Some((before, after)) = line.split_once(WORDS) else { return false };
    let dots = |text: &str| text.ends_with("...") || text.ends_with('…');
    let opens = dots(before.trim_end());
    let after = after.trim_start();
    let closes = after.starts_with("...") || after.starts_with('…');
    let bare = |text: &str| !text.contains(char::is_alphanumeric);
    opens && closes && bare(before) && bare(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elision_marker_must_be_a_comment_on_its_own_line() {
        for line in [
            "// ...existing code...",
            "    # ... existing code ...",
            "<!-- ...existing code... -->",
            "{/* … Existing code … */}",
            "-- ...existing code...",
            "...existing code...",
        ] {
            assert!(is_marker(line.trim()), "{line}");
        }
        for line in [
            "// existing code",
            "x = 1  # ...existing code...",
            "// ...existing codec...",
            "print('...existing code...')",
        ] {
            assert!(!is_marker(line), "{line}");
        }
    }

    #[test]
    fn elision_marker_of_old_text_is_not_reported_as_new() {
        let marked = "a\n// ...existing code...\nb\n";
        assert_eq!(new_marker("a\nb\n", marked), Some(2));
        assert_eq!(new_marker(marked, marked), None);
        assert_eq!(new_marker(marked, "c\na\n  // ...existing code...\n"), None);
        assert_eq!(new_marker(marked, &format!("{marked}# ...existing code...\n")), Some(4));
        assert_eq!(new_marker(marked, &format!("{marked}{marked}")), Some(5));
    }
}
