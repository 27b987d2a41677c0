//! The regular-expression engine for one file, which stops at the deadline and refuses lines that
//! it could not finish in time.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use regex_automata::Input;
use regex_automata::hybrid::regex::Cache;

use super::pattern::LineMatcher;
use crate::workspace::WorkDeadline;

/// A search in one file with a [`LineMatcher`].
///
/// Every call of the engine begins with a check of the deadline. A call over more bytes than
/// [`LineMatcher::unwatched_bytes`] is first tried on the lazy DFA, which takes linear time or
/// gives up. If it gives up, only the slow engine is left, and the line is skipped and counted.
#[derive(Debug)]
pub(crate) struct BoundedMatcher<'a> {
    pattern: &'a LineMatcher,
    until: &'a WorkDeadline,
    cache: RefCell<Option<Cache>>,
    timed_out: Cell<bool>,
    skipped: Cell<usize>,
}

/// The error of a search that the deadline ended.
#[derive(Debug)]
pub(crate) struct SearchStopped;

impl fmt::Display for SearchStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time limit was reached")
    }
}

impl std::error::Error for SearchStopped {}

impl LineMatcher {
    /// Returns true if `line` contains a match; false if `until` is over before that is known.
    pub(crate) fn is_match(&self, line: &str, until: &WorkDeadline) -> bool {
        BoundedMatcher::new(self, until).is_match(line.as_bytes()).unwrap_or(false)
    }

    /// Returns the matches in `text`, in bytes, from left to right, until `until` is over; empty
    /// matches are left out.
    pub(crate) fn find_all(&self, text: &str, until: &WorkDeadline) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let each = |one: Match| {
            if !one.is_empty() && text.is_char_boundary(one.start()) && text.is_char_boundary(one.end()) {
                found.push(one.start()..one.end());
            }
            true
        };
        // Matches from before the deadline are still right.
        let _ = BoundedMatcher::new(self, until).find_iter(text.as_bytes(), each);
        found
    }
}

impl<'a> BoundedMatcher<'a> {
    /// A search that ends at `until`.
    pub(crate) fn new(pattern: &'a LineMatcher, until: &'a WorkDeadline) -> Self {
        Self { pattern, until, cache: RefCell::default(), timed_out: Cell::new(false), skipped: Cell::new(0) }
    }

    /// Returns true if the deadline ended the search.
    pub(crate) fn timed_out(&self) -> bool {
        self.timed_out.get()
    }

    /// The number of lines that were skipped because they are too long for the pattern.
    pub(crate) fn skipped(&self) -> usize {
        self.skipped.get()
    }

    /// Returns true if the engine may search `haystack` from `at` in one call.
    fn admits(&self, haystack: &[u8], at: usize) -> Result<bool, SearchStopped> {
        if self.until.is_over() {
            self.timed_out.set(true);
            return Err(SearchStopped);
        }
        if haystack.len() - at <= self.pattern.unwatched_bytes() {
            return Ok(true);
        }
        let mut cache = self.cache.borrow_mut();
        let cache = cache.get_or_insert_with(|| self.pattern.lazy.create_cache());
        let is_fast = self.pattern.lazy.try_search(cache, &Input::new(haystack).range(at..)).is_ok();
        if !is_fast {
            self.skipped.set(self.skipped.get() + 1);
        }
        Ok(is_fast)
    }

    /// Returns the end of the whole lines from `from` that one call may search; a longer line is
    /// searched alone.
    fn stretch_end(&self, haystack: &[u8], from: usize) -> usize {
        let reach = from.saturating_add(self.pattern.unwatched_bytes());
        if reach >= haystack.len() {
            return haystack.len();
        }
        let within = memchr::memrchr(b'\n', &haystack[from..reach]).map(|index| from + index + 1);
        let beyond = || memchr::memchr(b'\n', &haystack[reach..]).map(|index| reach + index + 1);
        within.or_else(beyond).unwrap_or(haystack.len())
    }
}

impl Matcher for BoundedMatcher<'_> {
    type Captures = NoCaptures;
    type Error = SearchStopped;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, SearchStopped> {
        if !self.admits(haystack, at)? {
            // In an inverted search, a skipped line must not count as one.
            return Ok(self.pattern.invert.then(|| Match::new(at, haystack.len())));
        }
        // The error type of this matcher has no values.
        Ok(self.pattern.regex.find_at(haystack, at).unwrap_or(None))
    }

    fn new_captures(&self) -> Result<NoCaptures, SearchStopped> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, SearchStopped> {
        if !self.admits(haystack, at)? {
            return Ok(self.pattern.invert.then_some(at));
        }
        Ok(self.pattern.regex.shortest_match_at(haystack, at).unwrap_or(None))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.pattern.regex.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.pattern.regex.line_terminator()
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, SearchStopped> {
        let mut from = 0;
        while from < haystack.len() {
            let end = self.stretch_end(haystack, from);
            let stretch = &haystack[from..end];
            let found = if self.admits(stretch, 0)? {
                self.pattern.regex.find_candidate_line(stretch).unwrap_or(None)
            } else {
                self.pattern.invert.then_some(LineMatchKind::Confirmed(0))
            };
            match found {
                Some(LineMatchKind::Confirmed(at)) => return Ok(Some(LineMatchKind::Confirmed(from + at))),
                Some(LineMatchKind::Candidate(at)) => return Ok(Some(LineMatchKind::Candidate(from + at))),
                None => from = end,
            }
        }
        Ok(None)
    }
}
