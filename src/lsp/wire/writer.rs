//! From async-lsp's main loop to the server's standard input.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::AsyncWrite;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Direction, Parcel, Wire};

/// Takes the loop's frames, replaces each by the message it stands for, and writes that to the server.
pub(in crate::lsp) struct FrameWriter<W> {
    inner: W,
    wire: Arc<Wire>,
    /// What the loop wrote and is not a whole frame yet.
    taken: Vec<u8>,
    /// What the server has still to get, from `sent` on.
    outgoing: Vec<u8>,
    sent: usize,
}

/// What the loop writes: a request or notification whose method is a ticket, or an answer of ours.
#[derive(Deserialize)]
struct StandIn<'a> {
    id: Option<i64>,
    method: Option<&'a str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<W> FrameWriter<W> {
    pub fn new(inner: W, wire: Arc<Wire>) -> Self {
        Self { inner, wire, taken: Vec::new(), outgoing: Vec::new(), sent: 0 }
    }

    /// Turns every whole frame in `taken` into its real message.
    fn translate(&mut self) -> io::Result<()> {
        while let Some((start, end)) = whole_frame(&self.taken)? {
            let message = real_message(&self.wire, &self.taken[start..end])?;
            self.taken.drain(..end);
            if let Some(message) = message {
                self.wire.trace(Direction::ToServer, &message);
                self.outgoing
                    .extend_from_slice(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes());
                self.outgoing.extend_from_slice(message.as_bytes());
            }
        }
        Ok(())
    }
}

/// The span of the body of the first frame, once it is all there. The loop writes its header in one fixed form.
fn whole_frame(bytes: &[u8]) -> io::Result<Option<(usize, usize)>> {
    let Some(header) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let length = std::str::from_utf8(&bytes[..header])
        .ok()
        .and_then(|text| text.strip_prefix("Content-Length: "))
        .and_then(|digits| digits.parse::<usize>().ok())
        .ok_or_else(|| io::Error::other("the main loop wrote a header that is not understood"))?;
    let start = header + 4;
    Ok((bytes.len() >= start + length).then_some((start, start + length)))
}

/// The message that a frame of the loop stands for; `None` where there is nothing to send any more.
fn real_message(wire: &Wire, stand_in: &[u8]) -> io::Result<Option<String>> {
    let stand_in: StandIn<'_> = serde_json::from_slice(stand_in)?;
    let Some(ticket) = stand_in.method else { return Ok(answer(wire, &stand_in)) };
    let parcel = ticket.parse().ok().and_then(|ticket| wire.take(ticket));
    Ok(match (parcel, stand_in.id) {
        (Some(Parcel::Request { token, method, params }), Some(id)) => {
            let mut state = wire.state.lock();
            state.pending.insert(id, token);
            state.ids.insert(token, id);
            Some(message(Some(&id.to_string()), &method, &params))
        }
        (Some(Parcel::Notification { method, params }), None) => Some(message(None, &method, &params)),
        (Some(Parcel::Cancel { token }), None) => cancel(wire, token),
        _ => return Err(io::Error::other("the main loop wrote a message that nobody sent")),
    })
}

fn message(id: Option<&str>, method: &str, params: &RawValue) -> String {
    let method = serde_json::Value::from(method);
    let mut text = String::with_capacity(params.get().len() + 96);
    text.push_str(r#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        text.push_str(&format!(r#""id":{id},"#));
    }
    text.push_str(&format!(r#""method":{method}"#));
    if params.get() != "null" {
        text.push_str(r#","params":"#);
        text.push_str(params.get());
    }
    text.push('}');
    text
}

/// Our answer to a request of the server, under the id that the server gave.
fn answer(wire: &Wire, stand_in: &StandIn<'_>) -> Option<String> {
    let id = wire.state.lock().theirs.remove(&i32::try_from(stand_in.id?).ok()?)?;
    Some(match stand_in.error {
        Some(error) => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
        None => {
            let result = stand_in.result.map_or("null", RawValue::get);
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
        }
    })
}

/// `$/cancelRequest` (LSP 3.17, *Cancellation Support*) for a request that is still unanswered. The loop is given an
/// answer at once, so that it keeps no entry for a server that never replies.
fn cancel(wire: &Wire, token: u64) -> Option<String> {
    let id = {
        let mut state = wire.state.lock();
        let id = state.ids.remove(&token)?;
        state.pending.remove(&id);
        state.made_up.push_back(id);
        id
    };
    wire.reader.wake();
    Some(format!(r#"{{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":{id}}}}}"#))
}

impl<W: AsyncWrite + Unpin> AsyncWrite for FrameWriter<W> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.taken.extend_from_slice(bytes);
        self.translate()?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.sent < this.outgoing.len() {
            let written = ready!(Pin::new(&mut this.inner).poll_write(context, &this.outgoing[this.sent..]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            this.sent += written;
        }
        this.outgoing.clear();
        this.sent = 0;
        // One large document must not keep its memory for the session's whole life.
        if this.outgoing.capacity() > 1 << 20 {
            this.outgoing = Vec::new();
        }
        Pin::new(&mut this.inner).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Pin::new(&mut self.inner).poll_close(context)
    }
}
