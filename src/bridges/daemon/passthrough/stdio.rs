//! Asynchronous stdin and stdout: pipes and sockets are read and written when the kernel says that they are ready. Reading
//! through a thread would cost each message two hand-overs, and the thread could not be ended.

use std::io;
use std::os::fd::AsFd;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// Something to read from.
pub(crate) type StdioReader = Box<dyn AsyncRead + Send + Unpin>;
/// Something to write to.
pub(crate) type StdioWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// This process's standard input. Must be called within a tokio runtime, once.
///
/// # Errors
/// When there are no more file descriptors.
pub(crate) fn input() -> io::Result<StdioReader> {
    let fd = io::stdin().as_fd().try_clone_to_owned()?;
    // Files and terminals cannot be waited for in this way.
    Ok(match set_nonblocking(&fd).and_then(|()| pipe::Receiver::from_owned_fd_unchecked(fd)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    })
}

/// This process's standard output. Must be called within a tokio runtime, once.
///
/// # Errors
/// As [`input`].
pub(crate) fn output() -> io::Result<StdioWriter> {
    let fd = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(match set_nonblocking(&fd).and_then(|()| pipe::Sender::from_owned_fd_unchecked(fd)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    })
}

/// Makes a pipe or socket say that it is not ready instead of waiting.
fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode);
    if !matches!(kind, rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?)
}
