//! The check whether a process descends from one of our supervisors, as commands of `bash`,
//! language servers, hooks and runners do. Our servers refuse such processes, because they would
//! escape their sandbox, rules and agent's rights.
//!
//! They cannot leave their supervisor, because orphans become its children. But they choose when
//! their processes end, so a walk up may find a parent gone, or another process under its number.
//! Only confirmed steps count. If a step cannot be confirmed, the walk starts again; if that fails
//! too, the result is [`Descent::Unknown`].

use crate::platform::files::AsFd;
use crate::platform::peer::PeerHandle;

use crate::platform::process_tree::Process;

/// Processes can be followed to their supervisors.
#[cfg(linux_kernel)]
mod walk;

/// The result of a search for supervisors among a process's ancestors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descent {
    /// None of them is one of our supervisors.
    Free,
    /// One of them is.
    Supervised,
    /// The ancestors cannot be determined, or the process is gone.
    Unknown,
}

/// Searches the ancestors of `process` for a supervisor. Reads `/proc`, a few files for each
/// ancestor.
#[cfg(linux_kernel)]
pub(crate) fn descent(process: &Process) -> Descent {
    walk::descent_in(&walk::LinuxProcessTable, process)
}

/// Elsewhere there is no sandbox that a process could lead out of.
#[cfg(not(linux_kernel))]
pub(crate) fn descent(_: &Process) -> Descent {
    Descent::Free
}

/// The process at the other end of a Unix socket: the one that connected, or the one that began to
/// listen.
#[derive(Debug)]
pub(crate) struct SocketPeer {
    pid: Option<i32>,
    handle: PeerHandle,
}

impl SocketPeer {
    /// The process at the other end of `socket`; `pid` is its number there.
    pub(crate) fn from_socket(socket: &impl AsFd, pid: Option<i32>) -> Self {
        Self { pid, handle: PeerHandle::from_socket(socket) }
    }

    /// Searches the ancestors of a process that was connected at `connected`
    /// ([`system_ticks`](crate::platform::process_tree::system_ticks)) or before.
    pub(crate) fn descent(&self, connected: Option<u64>) -> Descent {
        if !cfg!(linux_kernel) {
            return Descent::Free;
        }
        match (self.pid.and_then(Process::living), connected) {
            // One that started later is another process under the same number.
            (Some(process), Some(connected)) if process.started <= connected => {
                let descent = descent(&process);
                // As long as the process lives, no other process has its number.
                if self.handle.is_gone() { Descent::Unknown } else { descent }
            }
            _ => Descent::Unknown,
        }
    }
}

/// Returns true if this process certainly has no supervisor among its ancestors.
pub(crate) fn is_unsupervised() -> bool {
    if !cfg!(linux_kernel) {
        return true;
    }
    let own = i32::try_from(std::process::id()).ok().and_then(Process::living);
    own.is_some_and(|own| descent(&own) == Descent::Free)
}

#[cfg(all(test, linux_kernel))]
mod tests {
    use super::*;
    use crate::platform::process_tree::{self, ProcessState};

    /// The listener has ended, and another process has its number: this one, as the worst case.
    #[test]
    fn socket_peer_of_exited_listener_has_unknown_descent() {
        use std::os::unix::net::UnixStream;
        use std::process::{Command, Stdio};
        const LISTEN: &str = "import os, socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\nif os.fork() == 0:\n    \
                              s.listen()\n    print(flush=True)\n    sys.stdin.read()\n    os._exit(0)\nos.wait()\nsys.stdin.read()";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let own = i32::try_from(std::process::id()).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(folder.path().join("own")).unwrap();
        let ours = UnixStream::connect(folder.path().join("own")).unwrap();
        assert_eq!(
            SocketPeer::from_socket(&ours, Some(own)).descent(process_tree::system_ticks()),
            Descent::Free
        );
        drop(listener);
        let mut python = Command::new("python3");
        python.args(["-c", LISTEN]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = python.spawn().unwrap();
        let mut line = String::new();
        let mut said = std::io::BufReader::new(python.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        let stream = UnixStream::connect(&path).unwrap();
        let peer = SocketPeer::from_socket(&stream, Some(own));
        assert_eq!(peer.descent(process_tree::system_ticks()), Descent::Free, "it lives");
        drop(python.stdin.take());
        python.wait().unwrap();
        assert_eq!(peer.descent(process_tree::system_ticks()), Descent::Unknown);
        assert_eq!(
            SocketPeer::from_socket(&stream, Some(own)).descent(process_tree::system_ticks()),
            Descent::Unknown
        );
    }

    #[test]
    fn descent_of_test_process_is_free() {
        let own = i32::try_from(std::process::id()).unwrap();
        let ProcessState::Living(own) = Process::lookup(own) else { panic!("this process lives") };
        assert_eq!(Some(own.parent), i32::try_from(crate::platform::processes::parent_id()).ok());
        assert_eq!(descent(&own), Descent::Free);
        assert!(is_unsupervised());
        assert_eq!(Process::lookup(i32::MAX), ProcessState::Gone);
    }
}
