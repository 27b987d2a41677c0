//! Searching one file, and saying where in it the hits are.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkFinish, SinkMatch};

use super::{Hit, WorkspacePath};
use crate::text::{Position, Range};

/// A line of more Unicode scalar values than this is cut around its hit.
const WHOLE_LINE: usize = 400;
/// How much of a cut line is kept before the hit, in Unicode scalar values.
const KEPT_BEFORE: usize = 80;

/// How searching one file ended.
pub(super) enum Outcome {
    /// To its end, or to as many hits as were wanted.
    Searched(Vec<Hit>),
    /// Up to the deadline.
    TimedOut(Vec<Hit>),
    /// It has NUL bytes or could not be read: there are no hits in it.
    NotText,
}

/// The first `wanted` hits in `file`.
pub(super) fn search(
    file: File,
    path: &WorkspacePath,
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    wanted: usize,
    deadline: Instant,
) -> Outcome {
    let reader = Source { file, deadline, timed_out: Cell::new(false), returns: RefCell::default() };
    let mut reader = Watched { source: &reader, at: 0, after_return: false, begun: false };
    let source = reader.source;
    let mut hits = Collector { path, matcher, source, wanted, hits: Vec::new(), binary: false };
    let result = searcher.search_reader(matcher, &mut reader, &mut hits);
    match result {
        _ if source.timed_out.get() => Outcome::TimedOut(if hits.binary { Vec::new() } else { hits.hits }),
        Ok(()) if !hits.binary => Outcome::Searched(hits.hits),
        _ => Outcome::NotText,
    }
}

/// The file, and what was learnt of it while it was read.
struct Source {
    file: File,
    deadline: Instant,
    timed_out: Cell<bool>,
    /// Offsets of carriage returns without a line feed after them: line breaks that the searcher does not count.
    returns: RefCell<Vec<u64>>,
}

/// Reads the file without its byte order mark, until the deadline.
struct Watched<'a> {
    source: &'a Source,
    at: u64,
    /// The last byte read was a carriage return.
    after_return: bool,
    begun: bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.source.deadline {
            self.source.timed_out.set(true);
            return Ok(0);
        }
        let mut read = (&self.source.file).read(buffer)?;
        if !self.begun {
            self.begun = true;
            if buffer[..read].starts_with(b"\xef\xbb\xbf") {
                buffer.copy_within(3..read, 0);
                read -= 3;
                if read == 0 {
                    return self.read(buffer);
                }
            }
        }
        self.note_returns(&buffer[..read]);
        self.at += read as u64;
        Ok(read)
    }
}

impl Watched<'_> {
    fn note_returns(&mut self, chunk: &[u8]) {
        if chunk.is_empty() {
            return;
        }
        let mut returns = self.source.returns.borrow_mut();
        if self.after_return && chunk[0] != b'\n' {
            returns.push(self.at - 1);
        }
        self.after_return = chunk.last() == Some(&b'\r');
        if !chunk.contains(&b'\r') {
            return;
        }
        for (index, pair) in chunk.windows(2).enumerate() {
            if pair[0] == b'\r' && pair[1] != b'\n' {
                returns.push(self.at + index as u64);
            }
        }
    }
}

struct Collector<'a> {
    path: &'a WorkspacePath,
    matcher: &'a RegexMatcher,
    source: &'a Source,
    wanted: usize,
    hits: Vec<Hit>,
    binary: bool,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let number = found.line_number().unwrap_or(1).saturating_sub(1);
        let returns = self.source.returns.borrow();
        let before = returns.partition_point(|at| *at < found.absolute_byte_offset()) as u64;
        let mut line = Line::new(found.bytes(), to_u32(number + before));
        let mut more = true;
        let timed_out = &self.source.timed_out;
        self.matcher
            .find_iter(line.bytes, |hit| {
                let start = line.advance(hit.start());
                let shown = line.shown(hit.start());
                let end = line.advance(hit.end());
                self.hits.push(Hit { path: self.path.clone(), range: Range::new(start, end), line: shown });
                if self.hits.len().is_multiple_of(1024) && Instant::now() >= self.source.deadline {
                    timed_out.set(true);
                }
                more = self.hits.len() < self.wanted && !timed_out.get();
                more
            })
            .map_err(io::Error::other)?;
        Ok(more)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// What the searcher takes for one line (up to a line feed), walked from left to right; inside it, a lone carriage
/// return ends a line too.
struct Line<'b> {
    bytes: &'b [u8],
    position: Position,
    at: usize,
    /// Where the line that `at` is on begins.
    start: usize,
}

impl<'b> Line<'b> {
    fn new(bytes: &'b [u8], number: u32) -> Self {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Self { bytes, position: Position::new(number, 0), at: 0, start: 0 }
    }

    /// The position of the byte at `offset`, which is not before the last one asked for.
    fn advance(&mut self, offset: usize) -> Position {
        let mut rest = &self.bytes[self.at.min(offset)..offset];
        while let Some(index) = rest.iter().position(|byte| *byte == b'\r') {
            self.position = Position::new(self.position.line + 1, 0);
            rest = &rest[index + 1..];
            self.start = offset - rest.len();
        }
        self.position.character = self.position.character.saturating_add(to_u32(scalars(rest)));
        self.at = offset;
        self.position
    }

    /// The line that the byte offset `at`, the last one asked for, is on; cut around it if it is very long.
    fn shown(&self, at: usize) -> String {
        // A break further away than what is shown changes nothing; looking for it would cost a long line its length
        // for every hit in it.
        let near = &self.bytes[at..self.bytes.len().min(at + 8 * WHOLE_LINE)];
        let end = near.iter().position(|byte| *byte == b'\r').map_or(self.bytes.len(), |index| at + index);
        cut(&self.bytes[self.start..end], at - self.start)
    }
}

/// `line` as text; where it has more than [`WHOLE_LINE`] scalar values, a stretch around the byte offset `at`.
fn cut(line: &[u8], at: usize) -> String {
    // A scalar value has at most four bytes; a line that cannot be too long need not be counted.
    if line.len() <= WHOLE_LINE || (line.len() <= 4 * WHOLE_LINE && scalars(line) <= WHOLE_LINE) {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_boundary = |index: usize| line.get(index).is_none_or(|byte| byte & 0xC0 != 0x80);
    let mut from = at;
    for _ in 0..KEPT_BEFORE {
        from = (0..from).rev().find(|index| is_boundary(*index)).unwrap_or(0);
    }
    let mut to = from;
    for _ in 0..WHOLE_LINE {
        to = (to + 1..line.len()).find(|index| is_boundary(*index)).unwrap_or(line.len());
    }
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    shown.push_str(&String::from_utf8_lossy(&line[from..to]));
    if to < line.len() {
        shown.push('…');
    }
    shown
}

/// How many Unicode scalar values `bytes` shows as; bytes that are not UTF-8 show as replacement characters.
fn scalars(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => String::from_utf8_lossy(bytes).chars().count(),
    }
}

fn to_u32(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}
