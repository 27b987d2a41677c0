//! Processes of servers and commands: started from one thread, supervised, measured, and ended with
//! their children.
//!
//! A server and its children must end with us, even if we are killed. So we start it through a
//! supervisor: our own binary, run with [`SUPERVISE`]. The supervisor asks the kernel for a signal
//! when we die and reaps everything that the server leaves behind ([`supervisor`]). The kernel ties
//! that signal to the *thread* that forked, so all processes are forked from one thread that never
//! ends ([`Spawner`]).
//!
//! A caller's own command (a shell's command line, not a server) can be restricted to writable
//! folders: [`sandbox`].
//!
//! Without a supervisor's program, a server is started in a process group of its own, which is
//! killed when its [`ServerProcess`] is dropped. If we are killed then, servers must notice the end
//! of their input themselves. Windows needs no supervisor: it ends the processes of a job with the
//! process that holds it.

pub(crate) mod ancestry;
pub(crate) mod environment;
mod exchange;
pub(crate) mod git;
mod lines;
mod oneshot;
mod pinned;
mod program_path;
pub(crate) mod restart;
pub(crate) mod sandbox;
pub(crate) mod sandbox_arguments;
#[cfg(supervised)]
pub(crate) mod sandbox_entry;
mod spawner;
#[cfg(supervised)]
pub(crate) mod supervisor;
mod writable;

use crate::platform::process_group::{ProcessGroup, signal_of};
use crate::platform::process_tree;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;

pub(crate) use crate::platform::is_program;
pub(crate) use environment::inherited_variables;
pub(crate) use exchange::{Exchange, ExchangeOutcome, exchange};
pub(crate) use oneshot::RunError;
pub use oneshot::{FinishedProgram, run};
pub(crate) use program_path::{ProgramPath, caller_path, find_on_path_of_child, user_folders};
use spawner::StdioMode;
pub use spawner::{Spawn, SpawnError, Spawner};
pub(crate) use writable::writable_paths;

/// The hidden first argument that makes our binary a supervisor.
pub(crate) const SUPERVISE: &str = "__supervise";

/// The number of lines of standard error that are kept.
const MAX_STDERR_TAIL_LINES: usize = 30;
/// The time in which a supervisor must end everything below it before we help.
const SUPERVISOR_GRACE_PERIOD: Duration = Duration::from_secs(2);

/// The exit of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

impl Exit {
    /// Converts the exit status. A supervisor reports a server's death by signal n as its own
    /// status 128 + n, as shells do.
    fn from_status(status: std::process::ExitStatus) -> Self {
        match (status.code(), signal_of(status)) {
            (Some(code), _) if (129..=192).contains(&code) => Self::Signal(code - 128),
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Code(-1),
        }
    }
}

/// A running server or command. Dropping it ends it and everything it started.
#[derive(Debug)]
pub struct ServerProcess {
    group: Option<ProcessGroup>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    /// The standard error of a command; a server's is read here.
    command_stderr: Option<ChildStderr>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    /// Answered when the server's standard error has been read.
    stderr_waiting: UnboundedSender<lines::ReadRequest>,
    exit: watch::Receiver<Option<Exit>>,
}

impl ServerProcess {
    /// Wraps a started child. `merged` is its standard output if its streams are one. Each line of
    /// a server's standard error also goes to `hearer`, if there is one.
    fn new(
        (mut child, group): (Child, Option<ProcessGroup>),
        streams: StdioMode,
        merged: Option<ChildStdout>,
        name: String,
        hearer: Option<UnboundedSender<String>>,
    ) -> Self {
        let stderr: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let (server_stderr, command_stderr) = match streams {
            StdioMode::Server => (child.stderr.take(), None),
            StdioMode::Command => (None, child.stderr.take()),
            StdioMode::Merged => (None, None),
        };
        let (stderr_waiting, waiting) = mpsc::unbounded_channel();
        let reader =
            server_stderr.map(|pipe| tokio::spawn(keep_lines((pipe, waiting), stderr.clone(), name, hearer)));
        let (stdin, stdout) = (child.stdin.take(), merged.or_else(|| child.stdout.take()));
        let (sender, exit) = watch::channel(None);
        let left_by = group.clone();
        // Ends when the process does, which dropping the `ServerProcess` sees to.
        tokio::spawn(async move {
            let status = child.wait().await;
            if let (Some(group), Ok(status)) = (&left_by, &status)
                && signal_of(*status).is_some()
            {
                group.end_orphans();
            }
            if let Some(reader) = reader {
                // The last output is in the pipe by now; a grandchild that keeps the pipe open is
                // not awaited.
                let _drained = tokio::time::timeout(Duration::from_millis(100), reader).await;
            }
            sender.send_replace(Some(status.map_or(Exit::Code(-1), Exit::from_status)));
        });
        Self { group, stdin, stdout, command_stderr, stderr, stderr_waiting, exit }
    }

    /// The server's standard input; once. A command has none.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// The server's standard output; once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// A command's standard error; once. Of a server [`stderr_tail`](Self::stderr_tail) is kept
    /// instead.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.command_stderr.take()
    }

    /// The last lines of a server's standard error, oldest first, with control characters escaped.
    pub fn stderr_tail(&self) -> Vec<String> {
        self.stderr.lock().iter().cloned().collect()
    }

    /// Like [`stderr_tail`](Self::stderr_tail), with the lines that the server wrote before a
    /// message that was read from its standard output.
    pub(crate) async fn read_stderr(&self) -> Vec<String> {
        let (done, read) = tokio::sync::oneshot::channel();
        // After the end of the pipe, everything has been read.
        let _ended = self.stderr_waiting.send(done);
        let _ended = read.await;
        self.stderr_tail()
    }

    /// The server's own process id, below its supervisor; `None` when it is gone.
    pub fn pid(&self) -> Option<u32> {
        let group = self.living_group()?;
        let number = group.number();
        let server = if group.is_supervised() { process_tree::oldest_child_of(number)? } else { number };
        u32::try_from(server).ok()
    }

    /// The process at the top of its tree: its supervisor if it has one; `None` when it is gone.
    pub(crate) fn tree_root(&self) -> Option<i32> {
        self.living_group().map(ProcessGroup::number)
    }

    /// Resident memory of the server and all its descendants in bytes; pages shared between them
    /// count more than once.
    pub async fn tree_rss(&self) -> Option<u64> {
        let id = self.tree_root()?;
        // The measurement needs as many reads as there are processes.
        tokio::task::spawn_blocking(move || process_tree::resident_bytes(id)).await.ok()
    }

    fn living_group(&self) -> Option<&ProcessGroup> {
        self.group.as_ref().filter(|_| self.exit.borrow().is_none())
    }

    /// Waits until the process has ended. Any number of callers may wait.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Code(-1)),
            // The runtime is shutting down; the exit is not reported.
            Err(_) => Exit::Code(-1),
        }
    }

    /// Ends the process: waits `grace` for it to leave by itself, then ends everything in its tree.
    /// Returns within a few seconds, with the number of processes still alive; their supervisor
    /// goes on ending them.
    pub async fn terminate(&self, grace: Duration) -> usize {
        if tokio::time::timeout(grace, self.wait()).await.is_ok() {
            return 0;
        }
        self.request_end();
        if tokio::time::timeout(SUPERVISOR_GRACE_PERIOD, self.wait()).await.is_ok() {
            return 0;
        }
        let Some(group) = self.living_group().cloned() else { return 0 };
        let number = group.number();
        let left = tokio::task::spawn_blocking(move || group.kill_tree()).await.unwrap_or(0);
        if left > 0 {
            tracing::warn!("{left} processes below {number} cannot be ended");
            return left;
        }
        let _reaped = tokio::time::timeout(SUPERVISOR_GRACE_PERIOD, self.wait()).await;
        0
    }

    /// Asks that everything end.
    fn request_end(&self) {
        if let Some(group) = self.living_group() {
            group.request_end();
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.request_end();
    }
}

async fn keep_lines(
    (pipe, waiting): (ChildStderr, UnboundedReceiver<lines::ReadRequest>),
    lines: Arc<Mutex<VecDeque<String>>>,
    name: String,
    hearer: Option<UnboundedSender<String>>,
) {
    let keep = |text: String| {
        tracing::debug!(server = name, "{text}");
        if let Some(hearer) = &hearer {
            // The listener may have gone away.
            let _ignored = hearer.send(text.clone());
        }
        let mut lines = lines.lock();
        if lines.len() == MAX_STDERR_TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    };
    lines::each_line(pipe, keep, waiting).await;
}

/// Resident memory of this process alone, in bytes; `None` if the system does not report it.
pub(crate) fn own_resident_bytes() -> Option<u64> {
    process_tree::resident_bytes_of(i32::try_from(std::process::id()).ok()?)
}
