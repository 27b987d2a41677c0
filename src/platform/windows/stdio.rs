//! Asynchronous stdin and stdout through threads: Windows does not report when a stream is ready.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::platform::files::AsFd;

/// A readable stream.
pub(crate) type StdioReader = Box<dyn AsyncRead + Send + Unpin>;
/// A writable stream.
pub(crate) type StdioWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens this process's standard input.
pub(crate) fn input() -> io::Result<StdioReader> {
    Ok(Box::new(tokio::io::stdin()))
}

/// Opens this process's standard output.
pub(crate) fn output() -> io::Result<StdioWriter> {
    Ok(Box::new(tokio::io::stdout()))
}

/// Does nothing: a parent reads one line, and does not wait for the end.
pub(crate) fn close_output() -> io::Result<()> {
    Ok(())
}

/// Does nothing: a daemon is started without a console.
pub(crate) fn leave_terminal() {}

/// Returns the width of the console at `stream` in columns; `None` if it is not a console.
pub(crate) fn terminal_width(stream: &impl AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(stream.as_fd()).map(|(width, _)| usize::from(width.0))
}
