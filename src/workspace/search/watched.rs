//! A reader for searches, with a deadline and counts that the searcher does not keep.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read};

use crate::workspace::WorkDeadline;

/// The file, and the facts collected while it was read.
pub(crate) struct SearchedFile<'f> {
    bytes: SearchInput<'f>,
    until: &'f WorkDeadline,
    timed_out: Cell<bool>,
    first_nul: Cell<Option<u64>>,
    /// Offsets of carriage returns without a line feed after them: line breaks that the searcher
    /// does not count.
    returns: RefCell<Vec<u64>>,
}

/// The source of the bytes.
pub(crate) enum SearchInput<'f> {
    /// The file on disk.
    File(&'f File),
    /// The text in its place, and the number of bytes read so far.
    Text(&'f [u8], Cell<usize>),
}

impl SearchInput<'_> {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => {
                let mut file = *file;
                file.read(buffer)
            }
            Self::Text(text, at) => {
                let read = (&text[at.get()..]).read(buffer)?;
                at.set(at.get() + read);
                Ok(read)
            }
        }
    }
}

impl<'f> SearchedFile<'f> {
    /// Creates a source of `bytes`, of which nothing is read yet.
    pub(crate) fn new(bytes: SearchInput<'f>, until: &'f WorkDeadline) -> Self {
        Self {
            bytes,
            until,
            timed_out: Cell::new(false),
            first_nul: Cell::new(None),
            returns: RefCell::default(),
        }
    }

    /// Returns true if the deadline ended the reading.
    pub(crate) fn timed_out(&self) -> bool {
        self.timed_out.get()
    }

    /// The offset of the NUL byte at which the reading ended.
    pub(crate) fn first_nul(&self) -> Option<u64> {
        self.first_nul.get()
    }

    /// Ends the reading if the deadline has passed.
    pub(crate) fn check_deadline(&self) {
        if self.until.is_over() {
            self.timed_out.set(true);
        }
    }

    /// Counts the carriage returns without a line feed that were read before `offset`; the byte
    /// order mark does not count.
    pub(crate) fn lone_returns(&self, offset: u64) -> u64 {
        self.returns.borrow().partition_point(|at| *at < offset) as u64
    }
}

/// Reads the file without its byte order mark, until the deadline or the first NUL byte.
pub(crate) struct SearchReader<'a> {
    source: &'a SearchedFile<'a>,
    at: u64,
    /// True if the last byte read was a carriage return.
    after_return: bool,
    begun: bool,
}

impl<'a> SearchReader<'a> {
    /// Creates a reader from the first byte.
    pub(crate) fn new(source: &'a SearchedFile<'a>) -> Self {
        Self { source, at: 0, after_return: false, begun: false }
    }

    fn note_returns(&mut self, chunk: &[u8]) {
        let Some(last) = chunk.last() else { return };
        let mut returns = self.source.returns.borrow_mut();
        if self.after_return && chunk[0] != b'\n' {
            returns.push(self.at - 1);
        }
        self.after_return = *last == b'\r';
        let is_lone = |index: &usize| chunk.get(index + 1).is_some_and(|next| *next != b'\n');
        returns.extend(memchr::memchr_iter(b'\r', chunk).filter(is_lone).map(|index| self.at + index as u64));
    }
}

impl Read for SearchReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.check_deadline();
        if self.source.timed_out() || self.source.first_nul().is_some() {
            return Ok(0);
        }
        let mut read = self.source.bytes.read(buffer)?;
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
        if let Some(nul) = memchr::memchr(0, &buffer[..read]) {
            self.source.first_nul.set(Some(self.at + nul as u64));
            read = nul;
        }
        self.note_returns(&buffer[..read]);
        self.at += read as u64;
        Ok(read)
    }
}
