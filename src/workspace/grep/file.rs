//! The search of one file for matching lines.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read};

use grep_matcher::{LineTerminator, Matcher};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::bounded::BoundedMatcher;
use super::pattern::LineMatcher;
use super::{GrepQuery, GrepWanted, LineMatch};
use crate::platform::files::read_exact_at;
use crate::text::{MAX_EXCERPT_LINE_CHARS, Position, count_chars, excerpt, to_u32};
use crate::workspace::WorkDeadline;
use crate::workspace::read::decode_utf16;
use crate::workspace::search::watched::{SearchInput, SearchReader, SearchedFile};

/// Files up to this size, in bytes, are read whole and searched in one piece; larger ones pass
/// through a small buffer.
const MAX_SLURPED_FILE_BYTES: u64 = 1 << 20;
/// The maximum memory, in bytes, of one line during its search, or of a file if matches reach over
/// line ends.
const MAX_GREP_HEAP_BYTES: usize = 64 << 20;
/// The maximum number of Unicode scalar values shown of a match over several lines.
const WHOLE_LINES: usize = 4_000;
/// The number of bytes at the start of a file in which a NUL byte makes it binary. A file with its
/// first NUL byte later is text up to there.
const BINARY_HEAD_BYTES: usize = 64 << 10;
/// The largest file in UTF-16, in bytes, that is decoded; in memory it takes three times as much.
const MAX_UTF16_FILE_BYTES: u64 = 16 << 20;

/// A searcher of files, one after the other: the state of one thread.
pub(super) struct GrepFileSearcher {
    matcher: LineMatcher,
    searcher: Searcher,
    buffer: Vec<u8>,
    wanted: GrepWanted,
    invert: bool,
    max: usize,
    until: WorkDeadline,
}

/// The result of searching one file.
#[derive(Default)]
pub(super) struct GrepFileOutcome {
    pub(super) count: usize,
    pub(super) lines: Vec<LineMatch>,
    pub(super) ending: GrepFileEnding,
    /// The number of lines that are too long for the pattern.
    pub(super) skipped_lines: usize,
    /// The offset of a NUL byte far from the start, behind which nothing was searched although
    /// there may be matches.
    pub(super) cut_at: Option<u64>,
}

/// The way in which the search of a file ended.
#[derive(Default)]
pub(super) enum GrepFileEnding {
    /// At its end, or with as many matches as are wanted.
    #[default]
    Whole,
    /// The file is not text: a NUL byte is near its start. No match in it is reported.
    Binary {
        /// The pattern is known to match in it.
        matched: bool,
    },
    /// The file could not be read, or is too large.
    Unsearchable,
    /// At the deadline.
    Late,
}

impl GrepFileSearcher {
    pub(super) fn new(matcher: LineMatcher, query: &GrepQuery) -> Self {
        let (before, after) = match query.wanted {
            GrepWanted::Lines { before, after } => (before, after),
            GrepWanted::Files | GrepWanted::Counts => (0, 0),
        };
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(LineTerminator::crlf())
            .line_number(matches!(query.wanted, GrepWanted::Lines { .. }))
            .multi_line(query.pattern.multiline)
            .invert_match(query.pattern.invert)
            .before_context(before)
            .after_context(after)
            .bom_sniffing(false)
            // The input ends at the first NUL byte.
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(MAX_GREP_HEAP_BYTES));
        Self {
            matcher,
            searcher: builder.build(),
            buffer: Vec::new(),
            wanted: query.wanted,
            invert: query.pattern.invert,
            max: query.max.saturating_add(1),
            until: query.deadline.clone(),
        }
    }

    /// Searches `file`, which has `size` bytes.
    pub(super) fn search(&mut self, file: &File, size: u64) -> GrepFileOutcome {
        let is_utf16 = size > MAX_SLURPED_FILE_BYTES && starts_as_utf16(file);
        if is_utf16 && size > MAX_UTF16_FILE_BYTES {
            return GrepFileOutcome { ending: GrepFileEnding::Unsearchable, ..GrepFileOutcome::default() };
        }
        if size <= MAX_SLURPED_FILE_BYTES || is_utf16 {
            match read_whole(file, size as usize, &mut self.buffer) {
                Ok(Some(length)) => return self.search_whole(length),
                Ok(None) => {}
                Err(_) => {
                    return GrepFileOutcome {
                        ending: GrepFileEnding::Unsearchable,
                        ..GrepFileOutcome::default()
                    };
                }
            }
        }
        self.search_stream(file)
    }

    fn search_whole(&mut self, length: usize) -> GrepFileOutcome {
        let buffer = std::mem::take(&mut self.buffer);
        let content = &buffer[..length];
        let outcome = match decode_utf16(content) {
            Some(text) => self.search_slice(text.as_bytes()),
            None => self.search_slice(content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content)),
        };
        self.buffer = buffer;
        outcome
    }

    fn search_slice(&mut self, content: &[u8]) -> GrepFileOutcome {
        let nul = memchr::memchr(0, content);
        let (text, rest) = content.split_at(nul.unwrap_or(content.len()));
        let engine = BoundedMatcher::new(&self.matcher, &self.until);
        if text.len() < BINARY_HEAD_BYTES && !rest.is_empty() {
            let matched = engine.is_match(content).unwrap_or(false);
            return GrepFileOutcome {
                ending: GrepFileEnding::Binary { matched },
                ..GrepFileOutcome::default()
            };
        }
        let returns = OnceCell::new();
        let lone_returns = |before: u64| {
            let returns: &Vec<u64> = returns.get_or_init(|| lone_returns(text));
            returns.partition_point(|at| *at < before) as u64
        };
        let mut lines = LineMatchSink::new(&engine, self.wanted, self.invert, self.max, &lone_returns);
        let searched = self.searcher.search_slice(&engine, text, &mut lines);
        let mut outcome = lines.into_outcome(searched.is_ok());
        let hides_something = || outcome.count > 0 || engine.is_match(rest).unwrap_or(false);
        outcome.cut_at = nul.filter(|_| hides_something()).map(|at| at as u64);
        outcome
    }

    fn search_stream(&mut self, file: &File) -> GrepFileOutcome {
        let source = SearchedFile::new(SearchInput::File(file), &self.until);
        let lone_returns = |before: u64| source.lone_returns(before);
        let engine = BoundedMatcher::new(&self.matcher, &self.until);
        let mut lines = LineMatchSink::new(&engine, self.wanted, self.invert, self.max, &lone_returns);
        let searched = self.searcher.search_reader(&engine, SearchReader::new(&source), &mut lines);
        let mut outcome = lines.into_outcome(searched.is_ok());
        if source.timed_out() {
            outcome.ending = GrepFileEnding::Late;
        }
        outcome.cut_at = source.first_nul();
        if outcome.cut_at.is_some_and(|at| at < BINARY_HEAD_BYTES as u64) {
            let ending = GrepFileEnding::Binary { matched: outcome.count > 0 };
            return GrepFileOutcome { ending, ..GrepFileOutcome::default() };
        }
        outcome
    }
}

/// Returns true if `file` begins with the byte order mark of UTF-16. The position in the file
/// stays.
fn starts_as_utf16(file: &File) -> bool {
    let mut start = [0; 4];
    read_exact_at(file, &mut start, 0).is_ok() && decode_utf16(&start).is_some()
}

/// Fills `buffer` with the content of `file`, which had `size` bytes, and returns its length.
/// `None` if it has grown beyond the limit.
fn read_whole(mut file: &File, size: usize, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let capacity = size.max(4096) + 1;
    if buffer.len() < capacity {
        buffer.resize(capacity.next_power_of_two(), 0);
    }
    let mut length = 0;
    loop {
        match file.read(&mut buffer[length..]) {
            Ok(read) => {
                length += read;
                // A regular file gives less than asked for at its end only.
                if read == 0 || (length >= size && size > 0 && length < buffer.len()) {
                    return Ok(Some(length));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if length == buffer.len() {
            io::Seek::rewind(&mut file)?;
            return Ok(None);
        }
    }
}

/// Offsets of carriage returns without a line feed after them: line breaks that the searcher does
/// not count.
fn lone_returns(content: &[u8]) -> Vec<u64> {
    let is_lone = |at: &usize| content.get(at + 1) != Some(&b'\n');
    memchr::memchr_iter(b'\r', content).filter(is_lone).map(|at| at as u64).collect()
}

/// The sink of the searcher's matches in one file.
struct LineMatchSink<'a> {
    engine: &'a BoundedMatcher<'a>,
    wanted: GrepWanted,
    invert: bool,
    max: usize,
    /// Counts the lone carriage returns before an offset.
    lone_returns: &'a dyn Fn(u64) -> u64,
    count: usize,
    lines: Vec<LineMatch>,
    before: Vec<String>,
}

impl<'a> LineMatchSink<'a> {
    fn new(
        engine: &'a BoundedMatcher<'a>,
        wanted: GrepWanted,
        invert: bool,
        max: usize,
        lone_returns: &'a dyn Fn(u64) -> u64,
    ) -> Self {
        Self { engine, wanted, invert, max, lone_returns, count: 0, lines: Vec::new(), before: Vec::new() }
    }

    fn into_outcome(self, is_finished: bool) -> GrepFileOutcome {
        let (ending, skipped_lines) = match is_finished {
            _ if self.engine.timed_out() => (GrepFileEnding::Late, self.engine.skipped()),
            true => (GrepFileEnding::Whole, self.engine.skipped()),
            false => {
                return GrepFileOutcome {
                    ending: GrepFileEnding::Unsearchable,
                    ..GrepFileOutcome::default()
                };
            }
        };
        GrepFileOutcome { count: self.count, lines: self.lines, ending, skipped_lines, cut_at: None }
    }

    /// Records the lines in `bytes`, which match and begin at the 0-based line `number`.
    fn add_match(&mut self, bytes: &[u8], number: u64) -> Result<(), io::Error> {
        let first = if self.invert { None } else { self.engine.find(bytes).map_err(io::Error::other)? };
        self.count += 1;
        let at = first.map_or(0, |found| found.start().min(bytes.len()));
        let text = without_break(bytes);
        let line_start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |index| index + 1);
        let line = to_u32(number + count_breaks(&bytes[..line_start]));
        let inner = count_breaks(text);
        let shown = if inner == 0 {
            excerpt(text, at.min(text.len()), MAX_EXCERPT_LINE_CHARS)
        } else {
            excerpt(text, at, WHOLE_LINES)
        };
        self.lines.push(LineMatch {
            start: Position::new(line, to_u32(count_chars(&bytes[line_start..at]))),
            end_line: to_u32(number + inner),
            text: shown,
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(())
    }

    /// Like [`add_match`](Self::add_match), for a line of the searcher that lone carriage returns
    /// divide.
    fn add_divided(&mut self, bytes: &[u8], mut number: u64) -> Result<(), io::Error> {
        for piece in without_break(bytes).split(|byte| *byte == b'\r') {
            if self.engine.is_match(piece).map_err(io::Error::other)? != self.invert {
                self.add_match(piece, number)?;
            }
            number += 1;
        }
        Ok(())
    }
}

impl Sink for LineMatchSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let GrepWanted::Lines { .. } = self.wanted else {
            self.count += 1;
            return Ok(self.wanted == GrepWanted::Counts);
        };
        let bytes = found.bytes();
        let offset = found.absolute_byte_offset();
        let before = (self.lone_returns)(offset);
        let number = found.line_number().unwrap_or(1).saturating_sub(1) + before;
        let is_divided = (self.lone_returns)(offset + bytes.len() as u64) > before;
        if is_divided && !searcher.multi_line_with_matcher(self.engine) {
            self.add_divided(bytes, number)?;
        } else {
            self.add_match(bytes, number)?;
        }
        Ok(self.count < self.max)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        let line = excerpt(without_break(found.bytes()), 0, MAX_EXCERPT_LINE_CHARS);
        match (found.kind(), self.lines.last_mut()) {
            (SinkContextKind::After, Some(last)) => last.after.push(line),
            _ => self.before.push(line),
        }
        Ok(true)
    }
}

fn without_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn count_breaks(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
