//! Parsing within bounds of size and time.

use std::ops::ControlFlow;
use std::time::Instant;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::grammar::Grammar;

/// Larger files, in bytes, are not parsed.
pub(crate) const MAX_PARSED_FILE_BYTES: usize = 4 * 1024 * 1024;

/// The reasons why a text has no syntax tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    /// The text is larger than [`MAX_PARSED_FILE_BYTES`].
    #[error(
        "the text has {bytes} bytes, more than the {MAX_PARSED_FILE_BYTES} that are parsed; split the file or ask a language server"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The deadline passed first.
    #[error("parsing did not end in time; allow more time or ask a language server")]
    TimedOut,
    /// The grammar was made for another version of the parser.
    #[error("the grammar for {language} does not fit the parser: {problem}; please report this bug")]
    Grammar {
        /// The grammar's key.
        language: &'static str,
        /// The error of the parser.
        problem: String,
    },
}

/// Parses `text` to a syntax tree.
///
/// # Errors
/// [`ParseError`] if the text is too large or the deadline passes first.
pub(super) fn parse(grammar: &Grammar, text: &str, deadline: Instant) -> Result<Tree, ParseError> {
    if text.len() > MAX_PARSED_FILE_BYTES {
        return Err(ParseError::TooLarge { bytes: text.len() });
    }
    let mut parser = Parser::new();
    parser
        .set_language(&grammar.language())
        .map_err(|problem| ParseError::Grammar { language: grammar.key, problem: problem.to_string() })?;
    let mut is_late = |_: &tree_sitter::ParseState| {
        if Instant::now() >= deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut is_late);
    parser
        .parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
        .ok_or(ParseError::TimedOut)
}
