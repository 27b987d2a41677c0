//! Words and excerpts of a text: identifiers, shell words, suggestions, shortened lines.

pub(crate) mod age;
pub(crate) mod elision;
pub(crate) mod excerpt;
pub(crate) mod hidden;
pub(crate) mod identifier;
pub(crate) mod shell_word;
pub(crate) mod suggest;
pub(crate) mod truncate;
