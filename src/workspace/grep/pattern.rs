//! Compilation of a search pattern to a line matcher, or to an error with its place.

use std::sync::Arc;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_automata::hybrid::{BuildError, dfa, regex as lazy};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

/// The maximum size of a compiled pattern, in bytes; `(((a{0,100}){100}){100})` would not fit in
/// any memory.
const MAX_COMPILED_PATTERN_BYTES: usize = 16 << 20;
/// The maximum size of the states that are built during a search, in bytes per thread.
const MAX_PATTERN_DFA_BYTES: usize = 16 << 20;
/// The maximum work of one call of the engine, in states of the compiled pattern times bytes
/// searched. The slowest engine takes about ten nanoseconds for each, so this is a fraction of a
/// second.
const MAX_UNWATCHED_STEPS: usize = 1 << 26;

/// The condition for a matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepPattern {
    /// A regular expression (the syntax of the crate `regex`; no look-around, no back-references),
    /// or plain text.
    pub text: String,
    /// True if `text` is plain text.
    pub fixed: bool,
    /// The treatment of upper and lower case.
    pub case: CaseMode,
    /// True to match only whole words.
    pub whole_word: bool,
    /// True if matches may reach over line ends; `.` matches a line break only within `(?s:…)`.
    pub multiline: bool,
    /// True to search for the lines that do not match.
    pub invert: bool,
}

/// The treatment of upper and lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaseMode {
    /// Case is significant.
    #[default]
    Sensitive,
    /// Case is ignored.
    Insensitive,
    /// Case is ignored unless the pattern has an upper-case letter.
    Smart,
}

/// The reasons why a pattern is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The pattern is empty.
    #[error("the pattern is empty; give the text to look for")]
    Empty,
    /// The regular expression is not valid.
    #[error("the pattern `{pattern}` is not a valid regular expression at character {at}: {problem}")]
    Syntax {
        /// The pattern as given.
        pattern: String,
        /// The position of the error, 1-based, in Unicode scalar values.
        at: usize,
        /// The error there.
        problem: String,
    },
    /// The pattern contains a line break, and lines are matched one by one.
    #[error("the pattern `{pattern}` contains a line break, but lines are searched one by one")]
    LineBreak {
        /// The pattern as given, with control characters escaped.
        pattern: String,
    },
    /// The pattern is too large once compiled.
    #[error("the pattern `{pattern}` is too large once compiled (more than {} MiB): its repetitions multiply", MAX_COMPILED_PATTERN_BYTES >> 20)]
    TooLarge {
        /// The pattern as given.
        pattern: String,
    },
    /// The pattern cannot be used for another reason.
    #[error("the pattern `{pattern}` cannot be used: {problem}")]
    Unusable {
        /// The pattern as given.
        pattern: String,
        /// The reason.
        problem: String,
    },
}

/// A pattern, compiled. Cheap to clone. A [`BoundedMatcher`](super::BoundedMatcher) searches with
/// it.
#[derive(Debug, Clone)]
pub(crate) struct LineMatcher {
    pub(super) regex: RegexMatcher,
    /// The pattern in the form of an engine that gives up if it cannot be fast.
    pub(super) lazy: Arc<lazy::Regex>,
    pub(super) invert: bool,
}

impl LineMatcher {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`PatternError`].
    pub(crate) fn new(pattern: &GrepPattern) -> Result<Self, PatternError> {
        if pattern.text.is_empty() {
            return Err(PatternError::Empty);
        }
        let line_break = || PatternError::LineBreak { pattern: escape_controls(&pattern.text) };
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
        let regex = builder.build(&pattern.text).map_err(|error| match error.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => line_break(),
            _ => pattern_error(pattern, &error.to_string()),
        })?;
        let lazy = lazy_regex(pattern).map_err(|error| pattern_error(pattern, &error.to_string()))?;
        Ok(Self { regex, lazy: Arc::new(lazy), invert: pattern.invert })
    }

    /// The number of bytes that the engine may search in one call, for any speed of the pattern.
    pub(super) fn unwatched_bytes(&self) -> usize {
        MAX_UNWATCHED_STEPS / self.lazy.forward().get_nfa().states().len().max(1)
    }
}

/// Builds the engine that shows whether a long line can be searched in linear time. It measures
/// effort, and its matches are not used, so the bounds of whole words and a pattern's smart case
/// are left out.
fn lazy_regex(pattern: &GrepPattern) -> Result<lazy::Regex, Box<BuildError>> {
    let text = if pattern.fixed { regex_syntax::escape(&pattern.text) } else { pattern.text.clone() };
    let syntax = syntax::Config::new().utf8(false).multi_line(true).crlf(true);
    let size = thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_COMPILED_PATTERN_BYTES));
    let states = dfa::Config::new()
        .unicode_word_boundary(true)
        .cache_capacity(MAX_PATTERN_DFA_BYTES)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(3))
        .minimum_bytes_per_state(Some(10));
    lazy::Regex::builder()
        .syntax(syntax.case_insensitive(pattern.case != CaseMode::Sensitive))
        .thompson(size)
        .dfa(states)
        .build(&text)
        .map_err(Box::new)
}

/// Escapes line breaks and other control characters in `pattern`.
fn escape_controls(pattern: &str) -> String {
    let escape = |character: char| match character.is_control() {
        true => character.escape_default().to_string(),
        false => character.to_string(),
    };
    pattern.chars().map(escape).collect()
}

/// Describes the error of a pattern that could not be compiled, with its position.
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
