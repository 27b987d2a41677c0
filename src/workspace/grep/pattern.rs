//! Compilation of a search pattern to a line matcher, or to an error with its place.

use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// What a pattern may grow to once it is compiled, in bytes; `(((a{0,100}){100}){100})` would not fit in any memory.
const MAX_COMPILED_PATTERN_BYTES: usize = 16 << 20;
/// What the states that are built while searching may take, in bytes per thread.
const MAX_PATTERN_DFA_BYTES: usize = 16 << 20;

/// What makes a line match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepPattern {
    /// A regular expression (the syntax of the crate `regex`; no look-around, no back-references), or plain text.
    pub text: String,
    /// `text` is plain text.
    pub fixed: bool,
    /// Whether upper and lower case differ.
    pub case: CaseMode,
    /// Only where no word character stands before or after.
    pub whole_word: bool,
    /// Matches may reach over line ends; `.` matches a line break only within `(?s:…)`.
    pub multiline: bool,
    /// The lines that do not match are wanted.
    pub invert: bool,
}

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaseMode {
    /// They differ.
    #[default]
    Sensitive,
    /// They are the same.
    Insensitive,
    /// They are the same unless the pattern has an upper-case letter.
    Smart,
}

/// Why a pattern is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing to look for.
    #[error("the pattern is empty; give the text to look for")]
    Empty,
    /// The regular expression is wrong.
    #[error("the pattern `{pattern}` is not a valid regular expression at character {at}: {problem}")]
    Syntax {
        /// As given.
        pattern: String,
        /// Where, 1-based, in Unicode scalar values.
        at: usize,
        /// What is wrong there.
        problem: String,
    },
    /// It asks for a line break where lines are matched one by one.
    #[error("the pattern `{pattern}` contains a line break, but lines are searched one by one")]
    LineBreak {
        /// As given, made printable.
        pattern: String,
    },
    /// It is too large once compiled.
    #[error("the pattern `{pattern}` is too large once compiled (more than {} MiB): its repetitions multiply", MAX_COMPILED_PATTERN_BYTES >> 20)]
    TooLarge {
        /// As given.
        pattern: String,
    },
    /// It cannot be used otherwise.
    #[error("the pattern `{pattern}` cannot be used: {problem}")]
    Unusable {
        /// As given.
        pattern: String,
        /// Why.
        problem: String,
    },
}

/// A pattern, compiled. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct LineMatcher {
    pub(super) regex: RegexMatcher,
}

impl LineMatcher {
    /// # Errors
    /// [`PatternError`].
    pub(crate) fn new(pattern: &GrepPattern) -> Result<Self, PatternError> {
        if pattern.text.is_empty() {
            return Err(PatternError::Empty);
        }
        let line_break = || PatternError::LineBreak { pattern: pattern.text.escape_debug().to_string() };
        if !pattern.multiline && pattern.fixed && pattern.text.contains(['\n', '\r']) {
            return Err(line_break());
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .fixed_strings(pattern.fixed)
            .word(pattern.whole_word)
            .case_insensitive(pattern.case == CaseMode::Insensitive)
            .case_smart(pattern.case == CaseMode::Smart)
            .multi_line(true)
            .size_limit(MAX_COMPILED_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_DFA_BYTES)
            .crlf(true);
        if pattern.multiline {
            builder.line_terminator(None);
        }
        match builder.build(&pattern.text) {
            Ok(regex) => Ok(Self { regex }),
            Err(error) => match error.kind() {
                grep_regex::ErrorKind::NotAllowed(_) => Err(line_break()),
                _ => Err(pattern_error(pattern, &error.to_string())),
            },
        }
    }

    /// Whether something in `line` matches.
    pub(crate) fn is_match(&self, line: &str) -> bool {
        // The error type of this matcher has no values.
        self.regex.is_match(line.as_bytes()).unwrap_or(false)
    }

    /// Where in `text` something matches, in bytes, from left to right; empty matches are left out.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let each = |one: grep_matcher::Match| {
            if !one.is_empty() && text.is_char_boundary(one.start()) && text.is_char_boundary(one.end()) {
                found.push(one.start()..one.end());
            }
            true
        };
        // The error type of this matcher has no values.
        let _ = self.regex.find_iter(text.as_bytes(), each);
        found
    }
}

/// What is wrong with a pattern that could not be compiled, and where.
fn pattern_error(pattern: &GrepPattern, message: &str) -> PatternError {
    let text = pattern.text.clone();
    let place = |offset: usize| text[..offset.min(text.len())].chars().count() + 1;
    match regex_syntax::ParserBuilder::new().utf8(false).multi_line(true).build().parse(&text) {
        Err(regex_syntax::Error::Parse(error)) if !pattern.fixed => PatternError::Syntax {
            at: place(error.span().start.offset),
            problem: error.kind().to_string(),
            pattern: text,
        },
        Err(regex_syntax::Error::Translate(error)) if !pattern.fixed => PatternError::Syntax {
            at: place(error.span().start.offset),
            problem: error.kind().to_string(),
            pattern: text,
        },
        _ if message.contains("size limit") => PatternError::TooLarge { pattern: text },
        _ => {
            let last = message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(message).trim();
            PatternError::Unusable { pattern: text, problem: last.trim_start_matches("error: ").to_owned() }
        }
    }
}
