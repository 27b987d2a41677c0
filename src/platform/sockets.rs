//! Local sockets, by which programs of one user reach the daemon.
//!
//! On Unix a socket is a file. On Windows it is a named pipe, whose random name is in a file of the
//! user: only a process that can read the file finds the pipe, and only its
//! user can open it.

use std::fs::File;
use std::path::{Path, PathBuf};

#[cfg(unix)]
pub(crate) use unix::{LocalListener, LocalStream, OwnedReadHalf, OwnedWriteHalf};
#[cfg(windows)]
pub(crate) use windows::{LocalListener, LocalStream, OwnedReadHalf, OwnedWriteHalf};

/// The process at the other end of a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SocketUser {
    /// The number of its user, if that is another one than ours.
    pub(crate) foreign: Option<u32>,
    /// Its number, if the system reports it.
    pub(crate) pid: Option<i32>,
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::path::Path;

    use rustix::fs::Mode;
    use rustix::process::umask;
    pub(crate) use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
    use tokio::net::{UnixListener, UnixStream};

    use super::SocketUser;
    use crate::platform::files::{AsFd, BorrowedFd};
    use crate::platform::user;

    /// A socket that accepts connections.
    #[derive(Debug)]
    pub(crate) struct LocalListener(UnixListener);

    impl LocalListener {
        /// Listens at `path`, to which no other user can connect. Must be called within a tokio
        /// runtime, while no other thread creates files.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn bind(path: &Path) -> io::Result<Self> {
            let mask = umask(Mode::RWXG | Mode::RWXO);
            let bound = UnixListener::bind(path);
            umask(mask);
            Ok(Self(bound?))
        }

        /// Waits for the next connection.
        ///
        /// # Errors
        /// The system refuses, for example for lack of files.
        pub(crate) async fn accept(&self) -> io::Result<LocalStream> {
            Ok(LocalStream(self.0.accept().await?.0))
        }
    }

    /// A connection.
    #[derive(Debug)]
    pub(crate) struct LocalStream(UnixStream);

    impl LocalStream {
        /// Connects to the socket at `path`.
        ///
        /// # Errors
        /// `NotFound` or `ConnectionRefused` if no process listens.
        pub(crate) async fn connect(path: &Path) -> io::Result<Self> {
            Ok(Self(UnixStream::connect(path).await?))
        }

        /// Returns the process at the other end.
        ///
        /// # Errors
        /// The system does not tell it.
        pub(crate) fn peer(&self) -> io::Result<SocketUser> {
            let peer = self.0.peer_cred()?;
            let foreign = Some(peer.uid()).filter(|uid| *uid != user::own_id());
            Ok(SocketUser { foreign, pid: peer.pid() })
        }

        /// Splits the connection into its two directions.
        pub(crate) fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
            self.0.into_split()
        }
    }

    impl AsFd for LocalStream {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::fs;
    use std::io::{self, ErrorKind};
    use std::os::windows::io::AsHandle;
    use std::path::Path;

    use interprocess::os::windows::named_pipe::PipeListenerOptions;
    use interprocess::os::windows::named_pipe::pipe_mode::Bytes;
    use interprocess::os::windows::named_pipe::tokio::{
        DuplexPipeStream, PipeListener, RecvPipeStream, SendPipeStream,
    };
    use interprocess::os::windows::security_descriptor::SecurityDescriptor;
    use widestring::U16CString;

    use super::SocketUser;
    use crate::platform::files::{AsFd, BorrowedFd};
    use crate::platform::private;
    use crate::text::hex;

    /// The direction towards us.
    pub(crate) type OwnedReadHalf = RecvPipeStream<Bytes>;
    /// The direction from us.
    pub(crate) type OwnedWriteHalf = SendPipeStream<Bytes>;

    /// All rights for the owner and the system, none for others (SDDL).
    const OWNER_ALONE: &str = "D:P(A;;GA;;;OW)(A;;GA;;;SY)";
    /// The longest name of a pipe in a file.
    const MAX_NAME_BYTES: u64 = 256;
    /// The error of a pipe that no server has open, or all of whose servers are busy.
    const PIPE_BUSY: i32 = 231;

    /// A named pipe that accepts connections.
    #[derive(Debug)]
    pub(crate) struct LocalListener(PipeListener<Bytes, Bytes>);

    impl LocalListener {
        /// Listens at a new name, which it writes into the file at `path`. Must be called within a
        /// tokio runtime.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn bind(path: &Path) -> io::Result<Self> {
            let mut random = [0; 16];
            getrandom::fill(&mut random)?;
            let name = format!(r"\\.\pipe\lsp-tools-{}", hex(&random));
            let rights = U16CString::from_str(OWNER_ALONE).map_err(io::Error::other)?;
            let rights = SecurityDescriptor::deserialize(&rights)?;
            let listener = PipeListenerOptions::new()
                .path(name.as_str())
                .security_descriptor(Some(rights))
                .create_tokio_duplex::<Bytes>()?;
            private::write(path, name.as_bytes())?;
            Ok(Self(listener))
        }

        /// Waits for the next connection.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) async fn accept(&self) -> io::Result<LocalStream> {
            Ok(LocalStream(self.0.accept().await?))
        }
    }

    /// A connection.
    #[derive(Debug)]
    pub(crate) struct LocalStream(DuplexPipeStream<Bytes>);

    impl LocalStream {
        /// Connects to the pipe that the file at `path` names.
        ///
        /// # Errors
        /// `NotFound` if no process listens.
        pub(crate) async fn connect(path: &Path) -> io::Result<Self> {
            if fs::metadata(path)?.len() > MAX_NAME_BYTES {
                return Err(ErrorKind::InvalidData.into());
            }
            let name = fs::read_to_string(path)?;
            match DuplexPipeStream::connect_by_path(name.as_str()).await {
                Ok(stream) => Ok(Self(stream)),
                Err(error) if error.raw_os_error() == Some(PIPE_BUSY) => {
                    Err(ErrorKind::ConnectionRefused.into())
                }
                Err(error) => Err(error),
            }
        }

        /// Returns the process at the other end.
        ///
        /// # Errors
        /// The system does not tell it.
        pub(crate) fn peer(&self) -> io::Result<SocketUser> {
            Ok(SocketUser { foreign: None, pid: Some(self.0.peer_process_id()?.cast_signed()) })
        }

        /// Splits the connection into its two directions.
        pub(crate) fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
            self.0.split()
        }
    }

    impl AsFd for LocalStream {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_handle()
        }
    }
}

/// Returns the address of the socket `name` in the open `folder`, whose path is `path`, for this
/// process. On Linux it leads through the open folder, which also keeps it short. `None` if it is
/// too long.
pub(crate) fn address(folder: &File, name: &str, path: &Path) -> Option<PathBuf> {
    #[cfg(linux_kernel)]
    {
        let _ = path;
        Some(PathBuf::from(format!("/proc/self/fd/{}/{name}", std::os::fd::AsRawFd::as_raw_fd(folder))))
    }
    #[cfg(not(linux_kernel))]
    {
        /// The capacity of `sun_path`, including its zero byte (unix(7)).
        const MAX_SOCKET_PATH_BYTES: usize = 104;
        let _ = (folder, name);
        let is_short = cfg!(windows) || path.as_os_str().len() < MAX_SOCKET_PATH_BYTES;
        is_short.then(|| path.to_owned())
    }
}
