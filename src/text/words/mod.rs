//! Words and excerpts of a text: identifiers, shell words, suggestions, shortened lines.

pub(crate) mod age;
pub(crate) mod elision;
pub(crate) mod excerpt;
pub(crate) mod hidden;
pub(crate) mod identifier;
pub(crate) mod shell_word;
pub(crate) mod suggest;
pub(crate) mod truncate;

/// "1 file", "2 files".
pub(crate) fn file_count_text(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
