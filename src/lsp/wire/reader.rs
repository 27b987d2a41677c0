//! From the server's standard output to async-lsp's main loop.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use futures::{AsyncBufRead, AsyncRead};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Direction, MAX_DROPPED, MAX_FRAME, MAX_HEADER, Parcel, Wire};

const READ_SIZE: usize = 16 * 1024;
const MARK: &[u8] = b"content-length";

/// Reads what the server prints and hands the loop nothing but well-formed frames with tickets for bodies.
pub(in crate::lsp) struct CleanReader<R> {
    inner: R,
    wire: Arc<Wire>,
    /// What the server printed, not understood yet.
    raw: Vec<u8>,
    /// Frames for the loop, given out up to `given`.
    clean: Vec<u8>,
    given: usize,
    ended: bool,
    /// What ends the conversation, once everything before it is given out.
    fatal: Option<io::Error>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What stands at the start of the bytes read so far.
enum Found {
    /// A frame: its body's span.
    Frame(usize, usize),
    /// This many bytes belong to no frame.
    Junk(usize),
    /// More bytes are needed, at least this many if that is known.
    Incomplete(usize),
}

impl<R> CleanReader<R> {
    pub fn new(inner: R, wire: Arc<Wire>) -> Self {
        Self { inner, wire, raw: Vec::new(), clean: Vec::new(), given: 0, ended: false, fatal: None }
    }

    /// Moves every whole frame from `raw` to `clean`; returns how many bytes the next one still misses.
    fn digest(&mut self) -> io::Result<usize> {
        self.answer_cancelled();
        let mut at = 0;
        let missing = loop {
            match find(&self.raw[at..])? {
                Found::Frame(start, end) => {
                    let (start, end) = (at + start, at + end);
                    at = self.accept(start, end)?;
                }
                Found::Junk(len) => {
                    self.skip(at, len);
                    at += len;
                }
                Found::Incomplete(missing) => break missing,
            }
        };
        self.raw.drain(..at);
        if self.raw.is_empty() && self.raw.capacity() > 1 << 20 {
            self.raw = Vec::new();
        }
        self.wire.missing.store(missing as u64, Ordering::Relaxed);
        Ok(missing)
    }

    /// Takes the frame whose body is `start..end` of `raw`; returns where to go on.
    fn accept(&mut self, start: usize, end: usize) -> io::Result<usize> {
        let body = String::from_utf8_lossy(&self.raw[start..end]);
        self.wire.trace(Direction::FromServer, &body);
        if let Some(understood) = translate(&self.wire, &body) {
            hand_over(&mut self.clean, understood);
            return Ok(end);
        }
        // A length that was a little too large has swallowed the beginning of the next header: go on right behind the
        // message itself. (Where bytes had to be replaced, its length is not that of the bytes.)
        let first = matches!(body, Cow::Borrowed(_)).then(|| first_value(&body)).flatten();
        if let Some((message, length)) = first
            && let Some(understood) = translate(&self.wire, message)
        {
            hand_over(&mut self.clean, understood);
            return Ok(start + length);
        }
        if self.wire.dropped.fetch_add(1, Ordering::Relaxed) >= MAX_DROPPED {
            return Err(invalid(format!("more than {MAX_DROPPED} messages that are not JSON-RPC")));
        }
        // A length that was too large has swallowed the frames behind it: go on with the first of them.
        let swallowed = position_of_mark(&self.raw[start..end]);
        Ok(swallowed.map_or(end, |offset| start + offset))
    }

    fn skip(&self, at: usize, len: usize) {
        self.wire.skipped.fetch_add(len as u64, Ordering::Relaxed);
        let junk = String::from_utf8_lossy(&self.raw[at..at + len]);
        if !junk.trim().is_empty() {
            tracing::debug!(junk = %junk.trim().chars().take(200).collect::<String>(), "not a message");
            self.wire.trace(Direction::Junk, &junk);
        }
    }

    /// Gives the loop an answer for each request that was cancelled.
    fn answer_cancelled(&mut self) {
        let mut state = self.wire.state.lock();
        while let Some(id) = state.made_up.pop_front() {
            let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#);
            self.clean
                .extend_from_slice(format!("Content-Length: {}\r\n\r\n{frame}", frame.len()).as_bytes());
        }
    }
}

/// The JSON value that a text begins with, and where it ends.
fn first_value(text: &str) -> Option<(&str, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value.get(), values.byte_offset()))
}

/// Gives the loop what was understood.
fn hand_over(clean: &mut Vec<u8>, understood: Translated) {
    if let Translated::Frame(frame) = understood {
        clean.extend_from_slice(format!("Content-Length: {}\r\n\r\n", frame.len()).as_bytes());
        clean.extend_from_slice(frame.as_bytes());
    }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Where the next `Content-Length` begins, in any case of letters.
fn position_of_mark(bytes: &[u8]) -> Option<usize> {
    bytes.windows(MARK.len()).position(|window| window.eq_ignore_ascii_case(MARK))
}

/// Looks for a frame at the start of `bytes`. Headers may come in any case, with or without a space, ended by LF or
/// CRLF, and after lines that a wrapper script or a stray `print` left on standard output.
fn find(bytes: &[u8]) -> io::Result<Found> {
    let Some(mark) = position_of_mark(bytes) else {
        // The last bytes may be the beginning of a header.
        let junk = bytes.len().saturating_sub(MARK.len());
        return Ok(if junk > MAX_HEADER { Found::Junk(junk) } else { Found::Incomplete(0) });
    };
    let Some((end_of_header, length)) = header(&bytes[mark..])? else { return Ok(Found::Incomplete(0)) };
    let Some(length) = length else { return Ok(Found::Junk(mark + MARK.len())) };
    // Other headers of the same block may stand before it.
    let junk = start_of_block(bytes, mark);
    if junk > 0 {
        return Ok(Found::Junk(junk));
    }
    if length > MAX_FRAME {
        return Err(invalid(format!("a message of {length} bytes, more than the limit of {MAX_FRAME}")));
    }
    let start = mark + end_of_header;
    let end = start + length;
    Ok(if bytes.len() < end { Found::Incomplete(end - bytes.len()) } else { Found::Frame(start, end) })
}

/// Where the header block that holds the mark begins: `Content-Type` may stand before `Content-Length`.
fn start_of_block(bytes: &[u8], mark: usize) -> usize {
    const TYPE: &[u8] = b"content-type";
    let before = &bytes[..mark];
    match before.windows(TYPE.len()).position(|window| window.eq_ignore_ascii_case(TYPE)) {
        Some(start) if before[start..].iter().filter(|byte| **byte == b'\n').count() == 1 => start,
        _ => mark,
    }
}

/// The length of the header block at the start of `bytes` and the length it announces; the latter is `None` where
/// it is no number.
fn header(bytes: &[u8]) -> io::Result<Option<(usize, Option<usize>)>> {
    let block = &bytes[..bytes.len().min(MAX_HEADER)];
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
    if bytes.len() >= MAX_HEADER {
        return Err(invalid(format!("a message header of more than {MAX_HEADER} bytes")));
    }
    Ok(None)
}

/// What the loop gets for a message that was understood.
enum Translated {
    Frame(String),
    /// The late answer to a cancelled request, a second answer, or one to an id we never used: for nobody.
    Nothing,
}

/// What the loop gets for a message; `None` where it cannot be understood.
fn translate(wire: &Wire, body: &str) -> Option<Translated> {
    let message: Message<'_> = serde_json::from_str(body).ok()?;
    let Some(method) = message.method else { return response(wire, &message) };
    let params = wire.leave(Parcel::Body(message.params.map_or_else(null, ToOwned::to_owned)));
    let method = serde_json::Value::from(method.as_ref());
    Some(Translated::Frame(match message.id {
        None => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
        Some(theirs) => {
            let mut state = wire.state.lock();
            state.next_theirs = state.next_theirs.wrapping_add(1);
            let id = state.next_theirs;
            state.theirs.insert(id, theirs.to_owned());
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
        }
    }))
}

fn response(wire: &Wire, message: &Message<'_>) -> Option<Translated> {
    // Some servers answer with the id as a string.
    let id: i64 = message.id?.get().trim_matches('"').parse().ok()?;
    {
        let mut state = wire.state.lock();
        let Some(token) = state.pending.remove(&id) else {
            tracing::debug!(id, "an answer to a request that is not waiting");
            return Some(Translated::Nothing);
        };
        state.ids.remove(&token);
    }
    let ticket = wire.leave(match message.error {
        Some(error) => Parcel::Error(error.to_owned()),
        None => Parcel::Body(message.result.map_or_else(null, ToOwned::to_owned)),
    });
    Some(Translated::Frame(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ticket}}}"#)))
}

fn null() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}

impl<R: AsyncRead + Unpin> AsyncBufRead for CleanReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        this.wire.reader.register(context.waker());
        while this.given >= this.clean.len() {
            this.clean.clear();
            this.given = 0;
            if let Some(error) = this.fatal.take() {
                return Poll::Ready(Err(error));
            }
            let missing = match this.digest() {
                Ok(missing) => missing,
                Err(error) => {
                    this.fatal = Some(error);
                    continue;
                }
            };
            if !this.clean.is_empty() || this.ended {
                break;
            }
            // Room grows with what has arrived, so a length that lies reserves nothing.
            let room = missing.clamp(READ_SIZE, 1 << 20);
            let filled = this.raw.len();
            this.raw.resize(filled + room, 0);
            let read = Pin::new(&mut this.inner).poll_read(context, &mut this.raw[filled..]);
            this.raw.truncate(filled + if let Poll::Ready(Ok(read)) = &read { *read } else { 0 });
            if ready!(read)? == 0 {
                this.ended = true;
            }
        }
        Poll::Ready(Ok(&this.clean[this.given..]))
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        self.given += amount;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for CleanReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(context))?;
        let len = bytes.len().min(into.len());
        into[..len].copy_from_slice(&bytes[..len]);
        self.consume(len);
        Poll::Ready(Ok(len))
    }
}
