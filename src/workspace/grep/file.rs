//! The search of one file for matching lines.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, Read};

use grep_matcher::{LineTerminator, Matcher};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::pattern::LineMatcher;
use super::{GrepQuery, GrepWanted, LineMatch};
use crate::text::Position;
use crate::workspace::WorkDeadline;
use crate::workspace::excerpt::{MAX_EXCERPT_LINE_CHARS, count_chars, excerpt, to_u32};
use crate::workspace::search::watched::{SearchInput, SearchReader, SearchedFile};

/// Files up to this size, in bytes, are read whole and searched in one piece; larger ones pass through a small buffer.
const MAX_SLURPED_FILE_BYTES: u64 = 1 << 20;
/// The most memory, in bytes, that one line may take while it is searched, or a file where matches reach over line ends.
const MAX_GREP_HEAP_BYTES: usize = 64 << 20;
/// Of a match over several lines, so many Unicode scalar values are shown.
const WHOLE_LINES: usize = 4_000;

/// Searches files one after the other: what one thread needs for it.
pub(super) struct GrepFileSearcher {
    matcher: LineMatcher,
    /// For what has been read whole.
    of_slices: Searcher,
    /// For what is read piece by piece.
    of_streams: Searcher,
    buffer: Vec<u8>,
    wanted: GrepWanted,
    invert: bool,
    max: usize,
    until: WorkDeadline,
}

/// What one file holds.
pub(super) struct GrepFileOutcome {
    pub(super) count: usize,
    pub(super) lines: Vec<LineMatch>,
    pub(super) ending: GrepFileEnding,
}

/// How searching it ended.
pub(super) enum GrepFileEnding {
    /// At its end, or with as many matches as are wanted.
    Whole,
    /// It is not text; there are no matches in it.
    Binary,
    /// It could not be read, or not be held.
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
            // UTF-16 is not read as text anywhere else either; its NUL bytes make it binary.
            .bom_sniffing(false)
            .heap_limit(Some(MAX_GREP_HEAP_BYTES));
        Self {
            matcher,
            // Only a file with a match need be looked through for NUL bytes; the sink does that.
            of_slices: builder.clone().binary_detection(BinaryDetection::none()).build(),
            of_streams: builder.binary_detection(BinaryDetection::quit(0)).build(),
            buffer: Vec::new(),
            wanted: query.wanted,
            invert: query.pattern.invert,
            max: query.max.saturating_add(1),
            until: query.deadline.clone(),
        }
    }

    /// What matches in `file`, which has `size` bytes.
    pub(super) fn search(&mut self, file: &File, size: u64) -> GrepFileOutcome {
        if size <= MAX_SLURPED_FILE_BYTES {
            match read_whole(file, size as usize, &mut self.buffer) {
                Ok(Some(length)) => return self.search_slice(length),
                Ok(None) => {}
                Err(_) => return GrepFileOutcome::empty(GrepFileEnding::Unsearchable),
            }
        }
        self.search_stream(file)
    }

    fn search_slice(&mut self, length: usize) -> GrepFileOutcome {
        let content = &self.buffer[..length];
        let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let is_binary = || memchr::memchr(0, content).is_some();
        let returns = OnceCell::new();
        let lone_returns = |before: u64| {
            let returns: &Vec<u64> = returns.get_or_init(|| lone_returns(content));
            returns.partition_point(|at| *at < before) as u64
        };
        let mut lines =
            LineMatchSink::new(&self.matcher, self.wanted, self.invert, self.max, &is_binary, &lone_returns);
        match self.of_slices.search_slice(&self.matcher.regex, content, &mut lines) {
            Ok(()) => lines.into_outcome(false),
            Err(_) => GrepFileOutcome::empty(GrepFileEnding::Unsearchable),
        }
    }

    fn search_stream(&mut self, file: &File) -> GrepFileOutcome {
        let source = SearchedFile::new(SearchInput::File(file), &self.until);
        let lone_returns = |before: u64| source.lone_returns(before);
        let mut lines =
            LineMatchSink::new(&self.matcher, self.wanted, self.invert, self.max, &|| false, &lone_returns);
        let searched =
            self.of_streams.search_reader(&self.matcher.regex, SearchReader::new(&source), &mut lines);
        match searched {
            _ if source.timed_out() => lines.into_outcome(true),
            Ok(()) => lines.into_outcome(false),
            Err(_) => GrepFileOutcome::empty(GrepFileEnding::Unsearchable),
        }
    }
}

impl GrepFileOutcome {
    fn empty(ending: GrepFileEnding) -> Self {
        Self { count: 0, lines: Vec::new(), ending }
    }
}

/// Fills `buffer` with what `file`, which had `size` bytes, holds, and says how much that is; `None` where it has grown
/// beyond what is read whole.
fn read_whole(mut file: &File, size: usize, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let room = size.max(4096) + 1;
    if buffer.len() < room {
        buffer.resize(room.next_power_of_two(), 0);
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

/// Offsets of carriage returns without a line feed after them: line breaks that the searcher does not count.
fn lone_returns(content: &[u8]) -> Vec<u64> {
    let is_lone = |at: &usize| content.get(at + 1) != Some(&b'\n');
    memchr::memchr_iter(b'\r', content).filter(is_lone).map(|at| at as u64).collect()
}

/// Takes what the searcher finds in one file.
struct LineMatchSink<'a> {
    matcher: &'a LineMatcher,
    wanted: GrepWanted,
    invert: bool,
    max: usize,
    /// Whether the file is no text, where the searcher does not tell.
    is_binary: &'a dyn Fn() -> bool,
    /// How many lone carriage returns stand before an offset.
    lone_returns: &'a dyn Fn(u64) -> u64,
    count: usize,
    lines: Vec<LineMatch>,
    before: Vec<String>,
    binary: bool,
}

impl<'a> LineMatchSink<'a> {
    fn new(
        matcher: &'a LineMatcher,
        wanted: GrepWanted,
        invert: bool,
        max: usize,
        is_binary: &'a dyn Fn() -> bool,
        lone_returns: &'a dyn Fn(u64) -> u64,
    ) -> Self {
        Self {
            matcher,
            wanted,
            invert,
            max,
            is_binary,
            lone_returns,
            count: 0,
            lines: Vec::new(),
            before: Vec::new(),
            binary: false,
        }
    }

    fn into_outcome(self, late: bool) -> GrepFileOutcome {
        if self.binary {
            return GrepFileOutcome::empty(GrepFileEnding::Binary);
        }
        let ending = if late { GrepFileEnding::Late } else { GrepFileEnding::Whole };
        GrepFileOutcome { count: self.count, lines: self.lines, ending }
    }

    /// Notes the lines in `bytes`, which match and begin at the 0-based line `number`.
    fn add_match(&mut self, bytes: &[u8], number: u64) {
        self.count += 1;
        let first = if self.invert { None } else { self.matcher.regex.find(bytes).ok().flatten() };
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
    }

    /// As [`add_match`](Self::add_match) where lone carriage returns divide what the searcher takes for one line.
    fn note_divided(&mut self, bytes: &[u8], mut number: u64) {
        for piece in without_break(bytes).split(|byte| *byte == b'\r') {
            if self.matcher.regex.is_match(piece).unwrap_or(false) != self.invert {
                self.add_match(piece, number);
            }
            number += 1;
        }
    }
}

impl Sink for LineMatchSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.count == 0 && (self.is_binary)() {
            self.binary = true;
            return Ok(false);
        }
        let GrepWanted::Lines { .. } = self.wanted else {
            self.count += 1;
            return Ok(self.wanted == GrepWanted::Counts);
        };
        let bytes = found.bytes();
        let offset = found.absolute_byte_offset();
        let before = (self.lone_returns)(offset);
        let number = found.line_number().unwrap_or(1).saturating_sub(1) + before;
        let is_divided = (self.lone_returns)(offset + bytes.len() as u64) > before;
        if is_divided && !searcher.multi_line_with_matcher(&self.matcher.regex) {
            self.note_divided(bytes, number);
        } else {
            self.add_match(bytes, number);
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

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

fn without_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn count_breaks(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
