//! Bounded lines from the byte stream of an MCP session.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The size limit of a line, in bytes, equal to that of rmcp's own clients.
pub(super) const MAX_PIPE_LINE_BYTES: usize = 16 << 20;
/// The number of bytes kept of both ends of an overlong line, to find its request id.
const OVERLONG_LINE_SAMPLE_BYTES: usize = 4096;
/// The size above which a buffer is released, in bytes.
const MAX_REUSED_BUFFER_BYTES: usize = 1 << 20;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PipeInputLine {
    /// The complete line.
    Whole(Vec<u8>),
    /// A line longer than [`MAX_PIPE_LINE_BYTES`], with its first and last bytes.
    TooLong {
        /// The first bytes.
        head: Vec<u8>,
        /// The last bytes.
        tail: Vec<u8>,
    },
}

/// The lines of a stream.
pub(super) struct PipeLineReader<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The head of an overlong line while its rest is skipped.
    skipping: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> PipeLineReader<R> {
    pub(super) fn new(read: R) -> Self {
        Self { read: BufReader::with_capacity(64 << 10, read), line: Vec::new(), skipping: None }
    }

    /// Returns the next line that is not blank. Returns `None` at the end; an incomplete last line
    /// is ignored. Cancel safe: read bytes are kept.
    pub(super) async fn next(&mut self) -> io::Result<Option<PipeInputLine>> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.map_or(available.len(), |end| end + 1);
            self.line.extend_from_slice(&available[..end.unwrap_or(taken)]);
            self.read.consume(taken);
            if self.skipping.is_some() {
                let surplus = self.line.len().saturating_sub(OVERLONG_LINE_SAMPLE_BYTES);
                self.line.drain(..surplus);
            } else if self.line.len() > MAX_PIPE_LINE_BYTES {
                let mut head = std::mem::take(&mut self.line);
                let tail = head[head.len() - OVERLONG_LINE_SAMPLE_BYTES..].to_vec();
                head.truncate(OVERLONG_LINE_SAMPLE_BYTES);
                head.shrink_to_fit();
                self.line = tail;
                self.skipping = Some(head);
            }
            if end.is_none() {
                continue;
            }
            let line = self.take_line();
            if let Some(line) = line {
                return Ok(Some(line));
            }
        }
    }

    fn take_line(&mut self) -> Option<PipeInputLine> {
        if let Some(head) = self.skipping.take() {
            return Some(PipeInputLine::TooLong { head, tail: std::mem::take(&mut self.line) });
        }
        if self.line.trim_ascii().is_empty() {
            self.line.clear();
            return None;
        }
        let line = if self.line.len() > MAX_REUSED_BUFFER_BYTES {
            std::mem::take(&mut self.line)
        } else {
            let line = self.line.clone();
            self.line.clear();
            line
        };
        Some(PipeInputLine::Whole(line))
    }
}
