//! The queue of messages to the other side's input. A sender writes into the pipe itself; the
//! writer task writes the rest if the pipe is full.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use parking_lot::Mutex;
use tokio::io::AsyncWrite;
use tokio::sync::Notify;

use super::frame::OutgoingFrame;

/// The maximum number of unread responses. A program that sends requests and does not read must not
/// fill our memory.
const MAX_UNREAD_ANSWERS: usize = 1_000;

/// Frames in the order in which they were sent.
pub(super) struct Outbox {
    queue: Mutex<OutboxQueue>,
    /// Notified when frames are left for [`Outbox::write_rest`].
    left: Notify,
}

struct OutboxQueue {
    /// `None` once it is closed.
    pipe: Option<Pin<Box<dyn AsyncWrite + Send>>>,
    frames: VecDeque<QueuedFrame>,
    /// True while the writer task owns the pipe. No other task may write then: a pipe wakes only
    /// its last waiter.
    is_handed_over: bool,
    unread_answers: usize,
    /// The write error of the pipe, until it is reported.
    failure: Option<io::Error>,
}

struct QueuedFrame {
    bytes: Vec<u8>,
    /// The number of bytes that are already written, or that the header left unused.
    written: usize,
    is_answer: bool,
}

impl Outbox {
    pub(super) fn new(pipe: impl AsyncWrite + Send + 'static) -> Self {
        let queue = OutboxQueue {
            pipe: Some(Box::pin(pipe)),
            frames: VecDeque::new(),
            is_handed_over: false,
            unread_answers: 0,
            failure: None,
        };
        Self { queue: Mutex::new(queue), left: Notify::new() }
    }

    /// Sends a request or a notification. After the end the message is lost, and the caller of a
    /// request learns of the end.
    pub(super) fn send(&self, frame: OutgoingFrame) {
        self.enqueue(frame, false);
    }

    /// Sends a response.
    pub(super) fn answer(&self, frame: OutgoingFrame) {
        self.enqueue(frame, true);
    }

    fn enqueue(&self, frame: OutgoingFrame, is_answer: bool) {
        let (bytes, written) = frame.finish();
        let mut queue = self.queue.lock();
        if queue.pipe.is_none() || queue.failure.is_some() {
            return;
        }
        queue.unread_answers += usize::from(is_answer);
        if queue.unread_answers > MAX_UNREAD_ANSWERS {
            let what = format!("{MAX_UNREAD_ANSWERS} requests and read no answer");
            queue.failure = Some(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        queue.frames.push_back(QueuedFrame { bytes, written, is_answer });
        if !queue.is_handed_over {
            queue.is_handed_over = queue.poll_write(&mut Context::from_waker(Waker::noop())).is_pending();
        }
        if queue.is_handed_over || queue.failure.is_some() {
            self.left.notify_one();
        }
    }

    /// Writes the rest that the pipe did not take at once, until the pipe fails or is closed.
    /// Returns the reason.
    pub(super) async fn write_rest(&self) -> io::Error {
        loop {
            let written = std::future::poll_fn(|context| {
                let mut queue = self.queue.lock();
                queue.is_handed_over = queue.poll_write(context).is_pending();
                if let Some(failure) = queue.failure.take() {
                    return Poll::Ready(failure);
                }
                // Whether written or not, the next frame, or a failure recorded elsewhere, notifies
                // `left`.
                Poll::Pending
            });
            tokio::select! {
                biased;
                failure = written => return failure,
                () = self.left.notified() => {}
            }
        }
    }

    /// Closes the pipe at once; unwritten frames are lost.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.pipe = None;
        queue.frames.clear();
    }
}

impl OutboxQueue {
    /// Writes until nothing is left, or the pipe takes no more for now. A failure is recorded.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(pipe) = &mut self.pipe else { return Poll::Ready(()) };
        while let Some(frame) = self.frames.front_mut() {
            match ready!(pipe.as_mut().poll_write(context, &frame.bytes[frame.written..])) {
                Ok(0) => return self.fail(io::ErrorKind::WriteZero.into()),
                Ok(written) => frame.written += written,
                Err(error) => return self.fail(error),
            }
            if frame.written == frame.bytes.len() {
                self.unread_answers -= usize::from(frame.is_answer);
                self.frames.pop_front();
            }
        }
        match ready!(pipe.as_mut().poll_flush(context)) {
            Ok(()) => Poll::Ready(()),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: io::Error) -> Poll<()> {
        self.frames.clear();
        self.failure.get_or_insert(error);
        Poll::Ready(())
    }
}
