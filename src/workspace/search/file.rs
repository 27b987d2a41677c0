//! The search of one file for the places of hits.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkMatch};

use super::watched::{SearchInput, SearchReader, SearchedFile};
use super::{Hit, WorkspacePath};
use crate::text::excerpt;
use crate::text::{MAX_EXCERPT_LINE_CHARS, Position, Range, count_chars, to_u32};
use crate::workspace::grep::BoundedMatcher;
use crate::workspace::{LineMatcher, WorkDeadline};

/// The result of searching one file.
pub(super) enum SearchFileOutcome {
    /// The file was searched to its end, or to the wanted number of hits.
    Searched {
        hits: Vec<Hit>,
        /// True if lines were skipped because they are too long for the pattern.
        has_gaps: bool,
    },
    /// The file was searched up to the deadline.
    TimedOut(Vec<Hit>),
    /// The file has NUL bytes: there are no hits in it.
    NotText,
    /// The file could not be read, or has a line that is too long to hold.
    Unsearchable,
}

/// The first `wanted` hits in `bytes`.
pub(super) fn search(
    bytes: SearchInput<'_>,
    path: &WorkspacePath,
    searcher: &mut Searcher,
    matcher: &LineMatcher,
    wanted: usize,
    until: &WorkDeadline,
) -> SearchFileOutcome {
    let source = SearchedFile::new(bytes, until);
    let engine = BoundedMatcher::new(matcher, until);
    let mut sink = SearchHitSink { path, engine: &engine, source: &source, wanted, hits: Vec::new() };
    let result = searcher.search_reader(&engine, SearchReader::new(&source), &mut sink);
    match result {
        _ if source.first_nul().is_some() => SearchFileOutcome::NotText,
        _ if source.timed_out() || engine.timed_out() => SearchFileOutcome::TimedOut(sink.hits),
        Ok(()) => SearchFileOutcome::Searched { hits: sink.hits, has_gaps: engine.skipped() > 0 },
        Err(_) => SearchFileOutcome::Unsearchable,
    }
}

struct SearchHitSink<'a> {
    path: &'a WorkspacePath,
    engine: &'a BoundedMatcher<'a>,
    source: &'a SearchedFile<'a>,
    wanted: usize,
    hits: Vec<Hit>,
}

impl Sink for SearchHitSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let number = found.line_number().unwrap_or(1).saturating_sub(1);
        let before = self.source.lone_returns(found.absolute_byte_offset());
        let mut line = SearchLineCursor::new(found.bytes(), to_u32(number + before));
        let mut more = true;
        let source = self.source;
        self.engine
            .find_iter(line.bytes, |hit| {
                let start = line.advance(hit.start());
                let shown = line.line_excerpt(hit.start());
                let end = line.advance(hit.end());
                self.hits.push(Hit { path: self.path.clone(), range: Range::new(start, end), line: shown });
                if self.hits.len().is_multiple_of(1024) {
                    source.check_deadline();
                }
                more = self.hits.len() < self.wanted && !source.timed_out();
                more
            })
            .map_err(io::Error::other)?;
        Ok(more)
    }
}

/// A cursor over one line of the searcher (up to a line feed), moved from left to right. A lone
/// carriage return inside it ends a line too.
struct SearchLineCursor<'b> {
    bytes: &'b [u8],
    position: Position,
    at: usize,
    /// The start of the line that contains `at`.
    start: usize,
}

impl<'b> SearchLineCursor<'b> {
    fn new(bytes: &'b [u8], number: u32) -> Self {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Self { bytes, position: Position::new(number, 0), at: 0, start: 0 }
    }

    /// Returns the position of the byte at `offset`, which is not before the last one.
    fn advance(&mut self, offset: usize) -> Position {
        let mut rest = &self.bytes[self.at.min(offset)..offset];
        while let Some(index) = rest.iter().position(|byte| *byte == b'\r') {
            self.position = Position::new(self.position.line + 1, 0);
            rest = &rest[index + 1..];
            self.start = offset - rest.len();
        }
        self.position.character = self.position.character.saturating_add(to_u32(count_chars(rest)));
        self.at = offset;
        self.position
    }

    /// Returns the line of the byte offset `at`, the last one; cut around it if it is very long.
    fn line_excerpt(&self, at: usize) -> String {
        // A line break beyond the shown part changes nothing. A search for it would read the whole
        // of a long line for every hit.
        let near = &self.bytes[at..self.bytes.len().min(at + 8 * MAX_EXCERPT_LINE_CHARS)];
        let end = near.iter().position(|byte| *byte == b'\r').map_or(self.bytes.len(), |index| at + index);
        excerpt(&self.bytes[self.start..end], at - self.start, MAX_EXCERPT_LINE_CHARS)
    }
}
