//! Frames (LSP 3.17, *Base Protocol*): `Content-Length: N`, an empty line, N bytes of JSON.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

/// The largest accepted message, in bytes of its body.
pub(crate) const MAX_FRAME_BYTES: usize = 64 * 1024 * 1024;
/// The largest accepted header block, in bytes.
const MAX_HEADER_BYTES: usize = 8 * 1024;
/// The number of unreadable messages after which the conversation is ended.
const MAX_DROPPED_MESSAGES: u64 = 1_000;
/// The maximum size of an outgoing frame's header, in bytes: `Content-Length: ` with twenty digits.
const RESERVED_FRAME_HEADER_BYTES: usize = 40;

const LENGTH_HEADER: &[u8] = b"content-length";

/// An outgoing message: the header is written in front of the body when its length is known.
pub(super) struct OutgoingFrame {
    bytes: Vec<u8>,
}

impl OutgoingFrame {
    pub(super) fn new() -> Self {
        let mut bytes = Vec::with_capacity(256);
        bytes.resize(RESERVED_FRAME_HEADER_BYTES, 0);
        Self { bytes }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
        serde_json::to_writer(&mut self.bytes, value)
    }

    /// Bytes of the body so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - RESERVED_FRAME_HEADER_BYTES
    }

    pub(super) fn since(&self, start: usize) -> &[u8] {
        &self.bytes[RESERVED_FRAME_HEADER_BYTES + start..]
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.bytes.truncate(RESERVED_FRAME_HEADER_BYTES + len);
    }

    pub(super) fn body(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.since(0))
    }

    /// The whole frame, which begins at the returned offset.
    pub(super) fn finish(mut self) -> (Vec<u8>, usize) {
        let header = format!("Content-Length: {}\r\n\r\n", self.len());
        let start = RESERVED_FRAME_HEADER_BYTES - header.len();
        self.bytes[start..RESERVED_FRAME_HEADER_BYTES].copy_from_slice(header.as_bytes());
        (self.bytes, start)
    }
}

/// The receiver of the parts that [`FrameBuffer`] finds.
pub(super) trait FrameSink {
    /// Takes a body. Returns false if it is not a message.
    fn message(&mut self, body: &str) -> bool;
    /// Text between frames that is not blank.
    fn junk(&mut self, text: &str);
}

/// The bytes that a program printed and that are not parsed yet.
///
/// The parser finds well-formed messages between stray lines, under slightly malformed headers, and
/// behind a `Content-Length` that was too large.
#[derive(Default)]
pub(super) struct FrameBuffer {
    bytes: Vec<u8>,
    dropped: u64,
}

/// The result of a scan at the start of the buffered bytes.
enum FrameScan {
    /// A frame: its body's span.
    Frame(usize, usize),
    /// This many bytes belong to no frame.
    Junk(usize),
    /// More bytes are needed, at least this many if that is known.
    Incomplete(usize),
}

impl FrameBuffer {
    /// Returns the buffer for the next read, with room for up to `missing` bytes. The room is
    /// limited to 1 MiB, so a false length cannot reserve more.
    pub(super) fn reserve_room(&mut self, missing: usize) -> &mut Vec<u8> {
        self.bytes.reserve(missing.clamp(16 << 10, 1 << 20));
        &mut self.bytes
    }

    /// Passes every whole message to `sink`. Returns the number of bytes that the next one still
    /// lacks, 0 if none has begun.
    ///
    /// # Errors
    /// The data exceeds a limit.
    pub(super) fn drain(&mut self, sink: &mut impl FrameSink) -> io::Result<usize> {
        let mut at = 0;
        let missing = loop {
            match find(&self.bytes[at..])? {
                FrameScan::Frame(start, end) => at = self.take_frame(at + start, at + end, sink)?,
                FrameScan::Junk(len) => {
                    let junk = String::from_utf8_lossy(&self.bytes[at..at + len]);
                    if !junk.trim().is_empty() {
                        sink.junk(&junk);
                    }
                    at += len;
                }
                FrameScan::Incomplete(missing) => break missing,
            }
        };
        self.bytes.drain(..at);
        if self.bytes.is_empty() && self.bytes.capacity() > 1 << 20 {
            self.bytes = Vec::new();
        }
        Ok(missing)
    }

    /// Passes the frame whose body is `start..end` to `sink`. Returns the offset at which to
    /// continue.
    fn take_frame(&mut self, start: usize, end: usize, sink: &mut impl FrameSink) -> io::Result<usize> {
        let body = String::from_utf8_lossy(&self.bytes[start..end]);
        if sink.message(&body) {
            return Ok(end);
        }
        // A length that was a little too large has swallowed the beginning of the next header: go
        // on right behind the message itself. (Where bytes had to be replaced, its length is not
        // that of the bytes.)
        let first = matches!(body, Cow::Borrowed(_)).then(|| first_value(&body)).flatten();
        if let Some((message, length)) = first
            && sink.message(message)
        {
            return Ok(start + length);
        }
        sink.junk(&body);
        self.dropped += 1;
        if self.dropped > MAX_DROPPED_MESSAGES {
            return Err(invalid_data(format!(
                "more than {MAX_DROPPED_MESSAGES} messages that are not JSON-RPC"
            )));
        }
        // A length that was too large has swallowed the frames behind it: go on with the first of
        // them.
        let swallowed = position_of_length(&self.bytes[start..end]);
        Ok(swallowed.map_or(end, |offset| start + offset))
    }
}

/// Returns the JSON value at the start of a text, and its length.
fn first_value(text: &str) -> Option<(&str, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value.get(), values.byte_offset()))
}

fn invalid_data(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Returns the offset of the next `Content-Length`, compared without regard to case.
fn position_of_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(LENGTH_HEADER.len()).position(|window| window.eq_ignore_ascii_case(LENGTH_HEADER))
}

/// Searches for a frame at the start of `bytes`. Headers may come in any case, with or without a
/// space, ended by LF or CRLF, and after lines that a wrapper script or a stray `print` left on
/// standard output.
fn find(bytes: &[u8]) -> io::Result<FrameScan> {
    let Some(length_at) = position_of_length(bytes) else {
        // The last bytes may be the beginning of a header.
        let junk = bytes.len().saturating_sub(LENGTH_HEADER.len());
        return Ok(if junk > MAX_HEADER_BYTES { FrameScan::Junk(junk) } else { FrameScan::Incomplete(0) });
    };
    let Some((end_of_header, length)) = parse_header(&bytes[length_at..])? else {
        return Ok(FrameScan::Incomplete(0));
    };
    let Some(length) = length else { return Ok(FrameScan::Junk(length_at + LENGTH_HEADER.len())) };
    // Other headers of the same block may precede it.
    let junk = start_of_block(bytes, length_at);
    if junk > 0 {
        return Ok(FrameScan::Junk(junk));
    }
    if length > MAX_FRAME_BYTES {
        return Err(invalid_data(format!(
            "a message of {length} bytes, more than the limit of {MAX_FRAME_BYTES}"
        )));
    }
    let start = length_at + end_of_header;
    let end = start + length;
    Ok(if bytes.len() < end {
        FrameScan::Incomplete(end - bytes.len())
    } else {
        FrameScan::Frame(start, end)
    })
}

/// Returns the offset of the header block that holds the length. `Content-Type` may precede
/// `Content-Length`.
fn start_of_block(bytes: &[u8], length_at: usize) -> usize {
    const TYPE_HEADER: &[u8] = b"content-type";
    let before = &bytes[..length_at];
    match before.windows(TYPE_HEADER.len()).position(|window| window.eq_ignore_ascii_case(TYPE_HEADER)) {
        Some(start) if before[start..].iter().filter(|byte| **byte == b'\n').count() == 1 => start,
        _ => length_at,
    }
}

/// Returns the length of the header block at the start of `bytes` and the length that it announces.
/// The latter is `None` if it is not a number.
fn parse_header(bytes: &[u8]) -> io::Result<Option<(usize, Option<usize>)>> {
    let block = &bytes[..bytes.len().min(MAX_HEADER_BYTES)];
    let mut at = 0;
    let mut length = None;
    while let Some(line_len) = block[at..].iter().position(|byte| *byte == b'\n') {
        let line = block[at..at + line_len].trim_ascii();
        at += line_len + 1;
        if line.is_empty() {
            return Ok(Some((at, length)));
        }
        let text = String::from_utf8_lossy(line);
        let Some((name, value)) = text.split_once(':') else { return Ok(Some((at, None))) };
        if name.trim().eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
            if length.is_none() {
                return Ok(Some((at, None)));
            }
        }
    }
    if bytes.len() >= MAX_HEADER_BYTES {
        return Err(invalid_data(format!("a message header of more than {MAX_HEADER_BYTES} bytes")));
    }
    Ok(None)
}
