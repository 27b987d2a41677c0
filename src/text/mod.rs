//! The lowest layer: text, positions, diffs and patches, without any input or output.
//!
//! Contents: document [`Buffer`]s (ropes), [`Position`]s and the three wire [`Encoding`]s, the
//! smallest [`TextChange`] between two buffers, the new places of lines ([`LineMap`]),
//! [`Identifier`]s under or beside a position, and the [`nearest_word`] to a wrong one; hidden
//! characters and markers for omitted text ([`words::hidden`], [`words::elision`]); bytes as digits
//! ([`hex()`]); hashes over several parts ([`PartsHasher`]); unified [`diff`]s, [`patch`]es, and
//! exact replacements ([`mod@replace`]); [`notebook`]s and their [`notebook_code`]; globs, within
//! limits ([`read_glob`]); words for a shell ([`shell_word()`]). Everything is pure: no file, no
//! process, no language server, no async. May use: nothing of this crate.
//!
//! Two types of position exist. [`Position`] counts Unicode scalar values and is used by every
//! layer above. [`EncodedPosition`] counts code units of a named encoding and is used by language
//! servers. Only a [`Buffer`] converts between them, because the conversion needs the text.

mod block_edit;
mod buffer;
mod change;
pub(crate) mod diff;
mod difference;
#[cfg(test)]
mod encoding_tests;
mod glob;
mod hex;
pub(crate) mod hexadecimal;
mod line_map;
mod lines;
mod moved_block;
pub(crate) mod notebook;
pub(crate) mod notebook_code;
mod parts_hasher;
pub(crate) mod patch;
mod position;
pub(crate) mod replace;
mod toml;
pub(crate) mod words;

pub(crate) use block_edit::{BlockEdit, CutBlock, cut_block, edit_block};
pub use buffer::Buffer;
pub use change::TextChange;
pub(crate) use glob::build_glob_set;
pub(crate) use glob::expand_braces;
pub(crate) use glob::glob_fault;
pub(crate) use glob::read_glob;
pub(crate) use hex::hex;
pub use line_map::LineMap;
pub(crate) use moved_block::{append_block, restore_spacing};
pub(crate) use parts_hasher::{PartsHash, PartsHasher};
pub use position::Position;
pub(crate) use position::{EncodedPosition, EncodedRange, Encoding, LineColumn, Range};
pub(crate) use toml::toml_fault;
pub(crate) use words::excerpt::{
    MAX_EXCERPT_LINE_CHARS, column_in_excerpt, count_chars, excerpt, line_excerpt, to_u32,
};
pub(crate) use words::hidden::hidden_characters;
pub use words::identifier::{Identifier, identifiers_on_line};
pub(crate) use words::identifier::{
    has_word, identifier_near, identifiers_in, is_identifier_char, replace_word, words_in,
};
pub(crate) use words::shell_word::{shell_bytes, shell_word};
pub(crate) use words::suggest::{nearest_word, quoted_list, suggestion};
pub(crate) use words::truncate::cut_markdown;
pub(crate) use words::truncate::{truncate_chars, truncate_with_note};
