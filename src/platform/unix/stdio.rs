//! Asynchronous stdin and stdout: pipes and sockets are read and written when the kernel reports
//! them as ready.
//!
//! Reading through a thread would cost two thread switches per message, and the thread could not be
//! ended.

use std::io;
use std::os::fd::AsFd;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// A readable stream.
pub(crate) type StdioReader = Box<dyn AsyncRead + Send + Unpin>;
/// A writable stream.
pub(crate) type StdioWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens this process's standard input. Must be called within a tokio runtime, once.
///
/// # Errors
/// The limit on file descriptors is reached.
pub(crate) fn input() -> io::Result<StdioReader> {
    let fd = io::stdin().as_fd().try_clone_to_owned()?;
    // Files and terminals do not support readiness events.
    Ok(match set_nonblocking(&fd).and_then(|()| pipe::Receiver::from_owned_fd_unchecked(fd)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    })
}

/// Opens this process's standard output. Must be called within a tokio runtime, once.
///
/// # Errors
/// Those of [`input`].
pub(crate) fn output() -> io::Result<StdioWriter> {
    let fd = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match set_nonblocking(&fd).and_then(|()| pipe::Sender::from_owned_fd_unchecked(fd)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    })
}

/// Replaces this process's standard output by one that discards all output.
///
/// # Errors
/// The system refuses.
pub(crate) fn close_output() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(null()?)?)
}

/// Replaces the three standard streams of this process by `/dev/null`.
///
/// # Errors
/// The system refuses.
pub(crate) fn close_all() -> io::Result<()> {
    let null = null()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(rustix::stdio::dup2_stderr(&null)?)
}

fn null() -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")
}

/// Detaches this process from its terminal, whose Ctrl-C is for another one.
pub(crate) fn leave_terminal() {
    // The leader of a session stays in it.
    let _leads_already = rustix::process::setsid();
}

/// Returns the width of the terminal at `stream` in columns; `None` if it is not a terminal.
pub(crate) fn terminal_width(stream: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Makes a pipe or socket non-blocking.
fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
    if !matches!(kind, rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?)
}
