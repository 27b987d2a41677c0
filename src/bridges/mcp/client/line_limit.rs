//! A pipe with a limit on the length of lines.
//!
//! The transport drops a line that is too long, so its receiver would wait in vain. Here such a
//! line ends the connection, and all pending requests fail at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that ends at a line of more than `most` bytes.
#[derive(Debug)]
pub(super) struct LineLimit<R> {
    inner: R,
    most: usize,
    line: usize,
    exceeded: Arc<AtomicBool>,
}

impl<R> LineLimit<R> {
    /// Wraps `inner`. `exceeded` is set if a line was too long.
    pub(super) fn new(inner: R, most: usize, exceeded: Arc<AtomicBool>) -> Self {
        Self { inner, most, line: 0, exceeded }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineLimit<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.exceeded.load(Ordering::SeqCst) {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(context, buf))?;
        for part in buf.filled()[before..].split_inclusive(|byte| *byte == b'\n') {
            this.line += part.len();
            if this.line > this.most {
                this.exceeded.store(true, Ordering::SeqCst);
                buf.set_filled(before);
                return Poll::Ready(Ok(()));
            }
            if part.ends_with(b"\n") {
                this.line = 0;
            }
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn line_over_limit_ends_the_stream() {
        let exceeded = Arc::new(AtomicBool::new(false));
        let mut text = Vec::new();
        let short: &[u8] = b"1234\n12345\n\n123";
        LineLimit::new(short, 6, Arc::clone(&exceeded)).read_to_end(&mut text).await.unwrap();
        assert_eq!((text.as_slice(), exceeded.load(Ordering::SeqCst)), (short, false));
        text.clear();
        let parts: [&[u8]; 3] = [b"ok\n", b"123456", b"7\nnever\n"];
        let long = parts[0].chain(parts[1]).chain(parts[2]);
        LineLimit::new(long, 6, Arc::clone(&exceeded)).read_to_end(&mut text).await.unwrap();
        assert_eq!((text.as_slice(), exceeded.load(Ordering::SeqCst)), (&b"ok\n123456"[..], true));
    }
}
