//! The writing end of the pipe: whole messages in order, with a limit on queued ones.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

/// The number of queued messages above which input is not read, so that a client that does not read
/// gets no further work done.
const MAX_UNWRITTEN_MESSAGES: usize = 64;

/// The writing end of a pipe.
pub(super) struct Outlet<W> {
    /// `None` after closing.
    write: Mutex<Option<W>>,
    backlog: Arc<Backlog>,
    /// Aborts writes that the client does not read.
    closed: CancellationToken,
}

#[derive(Default)]
struct Backlog {
    waiting: AtomicUsize,
    less: Notify,
}

/// The slot of a queued message in the backlog.
pub(super) struct BacklogSlot(Arc<Backlog>);

impl Drop for BacklogSlot {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
        self.0.less.notify_waiters();
    }
}

impl<W: AsyncWrite + Unpin> Outlet<W> {
    pub(super) fn new(write: W, closed: CancellationToken) -> Self {
        Self { write: Mutex::new(Some(write)), backlog: Arc::default(), closed }
    }

    /// Counts a message until the returned slot is dropped.
    pub(super) fn count_waiting(&self) -> BacklogSlot {
        self.backlog.waiting.fetch_add(1, Ordering::AcqRel);
        BacklogSlot(Arc::clone(&self.backlog))
    }

    /// Waits until the number of queued messages is below the limit.
    pub(super) async fn wait_for_room(&self) {
        loop {
            let less = self.backlog.less.notified();
            if self.backlog.waiting.load(Ordering::Acquire) < MAX_UNWRITTEN_MESSAGES {
                return;
            }
            less.await;
        }
    }

    /// Writes one line.
    pub(super) async fn write(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message).map_err(io::Error::other)?;
        line.push(b'\n');
        let whole = async {
            let mut write = self.write.lock().await;
            let Some(write) = write.as_mut() else { return Err(closed()) };
            write.write_all(&line).await?;
            write.flush().await
        };
        tokio::select! {
            biased;
            written = whole => written,
            () = self.closed.cancelled() => Err(closed()),
        }
    }

    /// Closes the stream after the current write has completed or failed.
    pub(super) async fn close(&self) -> io::Result<()> {
        tokio::select! {
            biased;
            mut write = self.write.lock() => match write.take() {
                Some(mut write) => {
                    tokio::select! {
                        ended = write.shutdown() => ended,
                        () = self.closed.cancelled() => Ok(()),
                    }
                }
                None => Ok(()),
            },
            () = self.closed.cancelled() => Ok(()),
        }
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the client is gone")
}
