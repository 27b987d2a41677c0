//! The parts of an index, read one at a time: indexes of large projects do not fit into memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::time::Instant;

use prost::{DecodeError, Message};

use super::message::ScipMetadata;

/// The largest part, in bytes.
const MAX_PART_BYTES: u64 = 256 << 20;

/// A part of an index. Documents and symbols are decoded by the caller, who skips most of them.
#[derive(Debug)]
pub(crate) enum IndexPart {
    /// The origin; always the first part.
    Metadata(ScipMetadata),
    /// A [`ScipDocument`](super::message::ScipDocument).
    Document(Vec<u8>),
    /// A [`ScipSymbol`](super::message::ScipSymbol) that is defined elsewhere.
    ExternalSymbol(Vec<u8>),
}

/// The reason that an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    /// The time ended before everything was read.
    #[error("reading it takes too long")]
    Late,
    /// The content is no index.
    #[error("it is no SCIP index")]
    Foreign,
    /// A part is cut off or damaged.
    #[error("it is damaged: {0}")]
    Damaged(#[from] DecodeError),
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
}

/// Reads the parts of an index in their order.
#[derive(Debug)]
pub(crate) struct IndexReader {
    input: BufReader<File>,
    until: Instant,
    is_started: bool,
}

impl IndexReader {
    /// A reader of `file` that fails after `until`.
    pub(crate) fn new(file: File, until: Instant) -> Self {
        Self { input: BufReader::with_capacity(1 << 16, file), until, is_started: false }
    }

    fn read_part(&mut self) -> Result<Option<IndexPart>, IndexError> {
        loop {
            if Instant::now() > self.until {
                return Err(IndexError::Late);
            }
            if self.input.fill_buf()?.is_empty() {
                return if self.is_started { Ok(None) } else { Err(IndexError::Foreign) };
            }
            let key = self.read_number()?;
            // The field number and the wire type of Protocol Buffers.
            let part = match (key >> 3, key & 7) {
                (1, 2) => IndexPart::Metadata(ScipMetadata::decode(self.read_bytes()?.as_slice())?),
                (2, 2) if self.is_started => IndexPart::Document(self.read_bytes()?),
                (3, 2) if self.is_started => IndexPart::ExternalSymbol(self.read_bytes()?),
                (4.., 2) if self.is_started => {
                    self.read_bytes()?;
                    continue;
                }
                _ => return Err(IndexError::Foreign),
            };
            self.is_started = true;
            return Ok(Some(part));
        }
    }

    /// Reads a number of variable length.
    fn read_number(&mut self) -> Result<u64, IndexError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.input.read_exact(&mut byte)?;
            number |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(IndexError::Foreign)
    }

    /// Reads bytes after their number.
    fn read_bytes(&mut self) -> Result<Vec<u8>, IndexError> {
        let length = self.read_number()?;
        if length > MAX_PART_BYTES {
            return Err(IndexError::Foreign);
        }
        let mut bytes = Vec::new();
        // Memory grows with what is there, not with what the number claims.
        if (&mut self.input).take(length).read_to_end(&mut bytes)? as u64 == length {
            return Ok(bytes);
        }
        Err(IndexError::Read(io::ErrorKind::UnexpectedEof.into()))
    }
}

impl Iterator for IndexReader {
    type Item = Result<IndexPart, IndexError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_part().transpose()
    }
}
