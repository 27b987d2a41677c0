//! Pages of a file: some of its lines, read without holding the whole file in memory.

use std::fs::File;
use std::io::{self, Read};

use super::{FileStamp, MAX_FILE_READ_ATTEMPTS, ReadError, decode, stamp_of_regular};
use crate::workspace::{WorkDeadline, Workspace, WorkspacePath};

/// The number of bytes that are read at once.
const PAGE_READ_CHUNK_BYTES: usize = 64 * 1024;
/// Files up to this size, in bytes, are read to their end, so that their number of lines is known.
const MAX_COUNTED_FILE_BYTES: u64 = 32 << 20;
/// The number of bytes behind a cut in which the end of the line is searched for.
const MAX_LINE_TAIL_BYTES: u64 = 64 << 20;

/// The wanted lines of a file, and the limits on their size.
#[derive(Debug, Clone)]
pub(crate) struct PageQuery {
    /// 0-based number of the first line.
    pub(crate) first: u64,
    /// The maximum number of lines; at least one.
    pub(crate) max_lines: usize,
    /// No further line begins if the page would have more bytes than this.
    pub(crate) max_bytes: usize,
    /// The maximum number of bytes kept of a longer line.
    pub(crate) longest_line: usize,
    /// The time at which reading ends in any case.
    pub(crate) deadline: WorkDeadline,
}

/// Some lines of a file as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePage {
    /// The lines with their line breaks as in the file, without a byte order mark; `…` marks each
    /// cut.
    pub(crate) text: String,
    /// The number of these lines.
    pub(crate) lines: usize,
    /// True if the file continues behind them.
    pub(crate) has_more: bool,
    /// True if the page has fewer lines than requested because of its size or the deadline.
    pub(crate) ended_early: bool,
    /// The number of lines of the file; `None` if it was not read to its end. A line break at the
    /// end begins no line.
    pub(crate) total_lines: Option<u64>,
    /// The lines that were cut, with their lengths in bytes. A length is a minimum if the end of
    /// the line was not searched for.
    pub(crate) cut: Vec<CutLine>,
}

/// A line that is too long to be shown whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CutLine {
    /// 0-based.
    pub(crate) line: u64,
    /// Its length in bytes, without its line break.
    pub(crate) bytes: u64,
}

impl Workspace {
    /// Reads some lines of the file at `path`, with its state. Lines end at LF, CRLF or CR, as
    /// everywhere.
    ///
    /// # Errors
    /// [`ReadError`]; only the part that was read is known to be text. [`ReadError::Late`] if the
    /// deadline passed before the first line was reached.
    pub(crate) fn read_page(
        &self,
        path: &WorkspacePath,
        query: &PageQuery,
    ) -> Result<(FilePage, FileStamp), ReadError> {
        for _ in 0..MAX_FILE_READ_ATTEMPTS {
            // Checked before opening: opening a device can wake it.
            self.stamp(path)?;
            let (file, before) = self.open_regular(path.as_path())?;
            let mut pager = Pager::new(query, before.size <= MAX_COUNTED_FILE_BYTES);
            pager.read(&file, path)?;
            let after = stamp_of_regular(&file, || path.display())?;
            // A log that only grows still contains the part that was read.
            if before == after || (before.inode == after.inode && after.size > before.size) {
                return Ok((pager.finish(&|| path.display())?, before));
            }
        }
        Err(ReadError::Changing { path: path.display() })
    }

    /// Reads the first bytes of the regular file at `path`, at most `most`, and its stamp, to
    /// determine the kind of the file.
    ///
    /// # Errors
    /// [`ReadError`] if it is missing, leads out, or is not a regular file.
    pub(crate) fn read_head(
        &self,
        path: &WorkspacePath,
        most: usize,
    ) -> Result<(Vec<u8>, FileStamp), ReadError> {
        self.stamp(path)?;
        let (file, stamp) = self.open_regular(path.as_path())?;
        let mut head = Vec::new();
        let failed = |source| ReadError::Io { path: path.display(), source };
        file.take(most as u64).read_to_end(&mut head).map_err(failed)?;
        Ok((head, stamp))
    }
}

impl FilePage {
    /// Pages through a text that is not a file; `name` is its name in errors.
    ///
    /// # Errors
    /// None for a text in UTF-8.
    pub(crate) fn of_text(
        text: &str,
        query: &PageQuery,
        name: &dyn Fn() -> String,
    ) -> Result<Self, ReadError> {
        let mut pager = Pager::new(query, true);
        pager.feed(text.as_bytes());
        pager.mark_end();
        pager.finish(name)
    }
}

/// Reads through a file and keeps the requested lines.
struct Pager<'q> {
    query: &'q PageQuery,
    /// True to read on when the page is full, to count the lines of the file.
    counts: bool,
    text: Vec<u8>,
    lines: usize,
    cut: Vec<CutLine>,
    /// 0-based number of the line that is being read.
    line: u64,
    /// The kept part of the line; `length` is its length so far.
    kept: Vec<u8>,
    length: u64,
    is_full: bool,
    has_more: bool,
    ended_early: bool,
    at_end: bool,
    late: bool,
}

impl<'q> Pager<'q> {
    fn new(query: &'q PageQuery, counts: bool) -> Self {
        Self {
            query,
            counts,
            text: Vec::new(),
            lines: 0,
            cut: Vec::new(),
            line: 0,
            kept: Vec::new(),
            length: 0,
            is_full: false,
            has_more: false,
            ended_early: false,
            at_end: false,
            late: false,
        }
    }

    /// Reads until the page is full and nothing more must be known, or until the end of the file or
    /// the deadline.
    fn read(&mut self, mut file: &File, path: &WorkspacePath) -> Result<(), ReadError> {
        let mut buffer = vec![0; PAGE_READ_CHUNK_BYTES];
        let (mut held, mut offset) = (0, 0_u64);
        while !self.is_done() {
            if self.query.deadline.is_over() {
                self.late = true;
                return Ok(());
            }
            let read = match file.read(&mut buffer[held..]) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(ReadError::Io { path: path.display(), source }),
            };
            let chunk = &buffer[..held + read];
            decode::check_chunk(chunk, offset, &|| path.display())?;
            let skipped = if offset == 0 { decode::mark_length(chunk) } else { 0 };
            // A carriage return at the very end may have its line feed in the next piece.
            let is_open = read > 0 && chunk.last() == Some(&b'\r');
            let whole = chunk.len() - usize::from(is_open);
            self.feed(&chunk[skipped.min(whole)..whole]);
            offset += whole as u64;
            if is_open {
                buffer[0] = b'\r';
            }
            held = usize::from(is_open);
            if read == 0 {
                self.mark_end();
                return Ok(());
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        (self.is_full && self.has_more && !self.counts)
            || (!self.is_full
                && self.is_wanted()
                && self.length > self.query.longest_line as u64 + MAX_LINE_TAIL_BYTES)
    }

    fn is_wanted(&self) -> bool {
        !self.is_full && self.line >= self.query.first
    }

    fn feed(&mut self, mut rest: &[u8]) {
        while !rest.is_empty() {
            self.has_more |= self.is_full;
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let content = &rest[..end.unwrap_or(rest.len())];
            self.length += content.len() as u64;
            if self.is_wanted() {
                let capacity = self.query.longest_line.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(&content[..content.len().min(capacity)]);
            }
            let Some(end) = end else { return };
            let is_pair = rest[end] == b'\r' && rest.get(end + 1) == Some(&b'\n');
            let next = end + 1 + usize::from(is_pair);
            self.end_line(&rest[end..next]);
            rest = &rest[next..];
        }
    }

    /// Ends the present line; `line_break` ends it.
    fn end_line(&mut self, line_break: &[u8]) {
        if self.is_wanted() {
            let is_cut = self.length > self.kept.len() as u64;
            if self.lines > 0 && self.text.len() + self.kept.len() + line_break.len() > self.query.max_bytes {
                (self.is_full, self.has_more, self.ended_early) = (true, true, true);
            } else {
                self.text.append(&mut self.kept);
                if is_cut {
                    cut_at_character(&mut self.text);
                    self.cut.push(CutLine { line: self.line, bytes: self.length });
                }
                self.text.extend_from_slice(line_break);
                self.lines += 1;
                self.is_full = self.lines >= self.query.max_lines;
            }
        }
        self.kept.clear();
        self.line += 1;
        self.length = 0;
    }

    /// Marks the end of the file.
    fn mark_end(&mut self) {
        if self.length > 0 {
            self.end_line(b"");
        }
        self.at_end = true;
    }

    fn finish(mut self, name: &dyn Fn() -> String) -> Result<FilePage, ReadError> {
        if self.late && self.lines == 0 && self.line < self.query.first {
            return Err(ReadError::Late { path: name(), line: self.line + 1 });
        }
        if !self.at_end && !self.is_full {
            // The page ends in the middle of a line, at the deadline or at the limit of the search
            // for its end.
            (self.has_more, self.ended_early) = (true, true);
            if self.is_wanted() && self.length > 0 {
                self.end_line(b"");
            }
        }
        let text = decode::decode_page(self.text, self.query.first, name)?;
        Ok(FilePage {
            text,
            lines: self.lines,
            has_more: self.has_more,
            ended_early: self.ended_early,
            total_lines: self.at_end.then_some(self.line),
            cut: self.cut,
        })
    }
}

/// Removes an incomplete character at the end, and marks the cut with `…`.
fn cut_at_character(text: &mut Vec<u8>) {
    let is_start = |byte: &u8| *byte & 0xC0 != 0x80;
    let tail = text.len().saturating_sub(4);
    if let Some(start) = text[tail..].iter().rposition(is_start).map(|index| tail + index)
        && std::str::from_utf8(&text[start..]).is_err_and(|error| error.error_len().is_none())
    {
        text.truncate(start);
    }
    text.extend_from_slice("…".as_bytes());
}

#[cfg(all(test, unix))]
mod tests;
