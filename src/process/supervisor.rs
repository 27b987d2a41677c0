//! The process between us and a server: `lsp-tools __supervise PARENT LIFE [--pinned SHA256 FILE]…
//! PROGRAM ARGS…`. `LIFE` is how it notices the death of `PARENT` ([`parent_watch`]).
//!
//! The supervisor passes its own pipes on to the server and keeps none. It ends, with everything
//! below it, when the server ends, when it gets SIGTERM, and when its parent dies. On Linux, as a
//! child subreaper, it inherits all processes that the server leaves behind, also those in sessions
//! of their own. Elsewhere a process survives that has left the server's process group and whose
//! parent has ended.
//!
//! The processes below a supervisor are ended round by round: all that are found are killed, until
//! none is left. If the kernel allows it, a command of `bash` has a process namespace
//! ([`namespace`]). Between the command and its supervisor stands the first process of the
//! namespace ([`run_as_first`]), with which all others end.
//!
//! Trusted files of a project are compared with their hashes before the program starts, and the
//! program is started from the open file that was compared ([`pinned`]). After SIGTERM the
//! processes below have 300 ms, then they get SIGKILL. The exit status is the server's, or 128 + n
//! for signal n.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures::future::OptionFuture;

use super::pinned;
use super::sandbox_arguments::{ENTER, FIRST, LANDLOCK};
use crate::config::{FilePin, PinError};
use crate::platform::files::Errno;
use crate::platform::parent_watch::{self, GIVES_ORPHANS};
use crate::platform::processes::{
    CommandExt, Pid, Signal, SignalKind, SignalStream, WaitOptions, WaitStatus, getpid, getppid,
    kill_process, kill_process_group, signal, wait,
};
use crate::platform::{namespace, process_tree, stdio};

/// The time in which the processes below must end after SIGTERM.
const SIGTERM_GRACE_PERIOD: Duration = Duration::from_millis(300);
/// The additional time for the first process of a namespace, which gives the other processes the
/// normal time.
const INIT_EXTRA_GRACE_PERIOD: Duration = Duration::from_millis(100);
/// The exit status if the server could not be started, as in shells.
const EXIT_SERVER_NOT_STARTED: i32 = 127;

/// Runs as a supervisor and returns its exit status: the server's own, or 128 + n when signal n
/// ended it.
pub(crate) fn run(mut args: impl Iterator<Item = OsString>) -> i32 {
    let parent = args.next().and_then(|parent| parent.to_str()?.parse::<i32>().ok()).and_then(Pid::from_raw);
    let (Some(life), Some((pins, program))) = (args.next(), pinned::read(&mut args)) else {
        return EXIT_SERVER_NOT_STARTED;
    };
    let mut args: Vec<OsString> = args.collect();
    // While this process has one thread and no child.
    let below = match create_pid_namespace(&mut args) {
        true => DescendantScope::First,
        false if GIVES_ORPHANS => DescendantScope::Tree,
        false => DescendantScope::Group,
    };
    let order = ServerOrder { program, args, pins, below };
    run_supervisor(order, |order| async move {
        let died = match parent_watch::parent_death(&life) {
            Ok(died) => Some(died),
            Err(error) => {
                eprintln!("lsp-tools: the supervisor cannot watch its parent: {error}");
                None
            }
        };
        // The parent may have died before it was watched.
        if parent.is_none() || getppid() != parent {
            return EXIT_SERVER_NOT_STARTED;
        }
        supervise(order, OptionFuture::from(died)).await
    })
}

/// Creates a process namespace for a process that is about to be started with these arguments, if
/// it is confined and the kernel allows it. This process is its parent, and has no other child.
fn create_pid_namespace(arguments: &mut Vec<OsString>) -> bool {
    let is_confined = arguments.iter().take(2).eq([ENTER, LANDLOCK]);
    let given = is_confined && namespace::make().is_ok();
    if given {
        arguments.insert(1, FIRST.into());
    }
    given
}

/// Runs `program` as the first process of a namespace and returns its exit status, like [`run`].
/// When this process ends, the kernel ends all that are left.
pub(crate) fn run_as_first(program: OsString, args: Vec<OsString>) -> i32 {
    let order = ServerOrder { program, args, pins: Vec::new(), below: DescendantScope::All };
    run_supervisor(order, |order| supervise(order, OptionFuture::from(None::<std::future::Pending<()>>)))
}

/// The processes below, and the way to reach them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DescendantScope {
    /// All descendants, which are found one by one.
    Tree,
    /// The first process of a namespace, with which all others end.
    First,
    /// All others in the namespace of which this process is the first.
    All,
    /// All descendants that are found, and the process group of the server. A process that left
    /// the group, and whose parent has ended, survives.
    Group,
}

/// The server to start.
struct ServerOrder {
    program: OsString,
    args: Vec<OsString>,
    pins: Vec<FilePin>,
    below: DescendantScope,
}

impl DescendantScope {
    fn signal(self, server: Pid, signal: Signal) {
        let own = getpid();
        let sent = match self {
            Self::Tree => {
                process_tree::signal_below(own, signal);
                Ok(())
            }
            Self::First => kill_process(server, signal),
            // In this case the kernel reads "group 1" as all processes, which otherwise means every
            // process of this user.
            Self::All if own.is_init() => kill_process_group(Pid::INIT, signal),
            Self::All => Ok(()),
            // A command leads its group only once it has made a session.
            Self::Group => kill_process_group(server, signal).or_else(|_| kill_process(server, signal)),
        };
        // A process that has ended meanwhile needs none.
        let _ignored = sent;
    }

    fn grace(self) -> Duration {
        if self == Self::First {
            SIGTERM_GRACE_PERIOD + INIT_EXTRA_GRACE_PERIOD
        } else {
            SIGTERM_GRACE_PERIOD
        }
    }
}

fn run_supervisor<F: Future<Output = i32>>(order: ServerOrder, run: impl FnOnce(ServerOrder) -> F) -> i32 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    match runtime {
        Ok(runtime) => runtime.block_on(run(order)),
        Err(error) => {
            eprintln!("lsp-tools: the supervisor cannot run: {error}");
            EXIT_SERVER_NOT_STARTED
        }
    }
}

/// Starts the server and returns its exit status, or ends it when `orphaned` has a value.
async fn supervise(order: ServerOrder, orphaned: OptionFuture<impl Future<Output = ()>>) -> i32 {
    let below = order.below;
    let mut orphaned = std::pin::pin!(orphaned);
    let (Ok(mut stop), Ok(mut child_ended)) = (signal(SignalKind::terminate()), signal(SignalKind::child()))
    else {
        return EXIT_SERVER_NOT_STARTED;
    };
    let id = match start(order) {
        Ok(Some(id)) => id,
        Ok(None) => return EXIT_SERVER_NOT_STARTED,
        Err(error) => {
            eprintln!("{error}");
            return EXIT_SERVER_NOT_STARTED;
        }
    };
    // So that the server alone holds its pipes, and they end with it.
    if let Err(error) = stdio::close_all() {
        eprintln!("lsp-tools: the supervisor keeps the server's pipes open: {error}");
    }
    let mut server = SupervisedProcess { id, below, status: None, found: Vec::new() };
    while server.status.is_none() {
        tokio::select! {
            // Processes that the server left behind are reaped too, so that they do not accumulate
            // over the days.
            _ = child_ended.recv() => {
                server.reap_ended();
            }
            _ = stop.recv() => break,
            Some(()) = &mut orphaned => break,
        }
    }
    terminate_all(&mut server, &mut child_ended).await;
    kill_all(&mut server);
    server.status.unwrap_or(EXIT_SERVER_NOT_STARTED)
}

/// The reasons why the program does not run.
#[derive(Debug, thiserror::Error)]
enum NotStarted {
    #[error(transparent)]
    Untrusted(#[from] PinError),
    #[error("{} cannot be started: {source}", program.display())]
    Refused { program: OsString, source: io::Error },
}

fn start(order: ServerOrder) -> Result<Option<Pid>, NotStarted> {
    let ServerOrder { program, args, pins, below } = order;
    let (mut command, held) = pinned::command(Path::new(&program), &pins)?;
    // A command makes a session, which the leader of a group cannot.
    if below == DescendantScope::Group && args.first().is_none_or(|word| word != ENTER) {
        command.process_group(0);
    }
    let spawned = command.args(args).stdin(Stdio::inherit()).spawn();
    let child = spawned.map_err(|source| NotStarted::Refused { program, source })?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let (Err(error), Some(id)) = (held.check_started(), id) {
        // With all that it has started meanwhile.
        kill_all(&mut SupervisedProcess { id, below, status: None, found: Vec::new() });
        return Err(error.into());
    }
    Ok(id)
}

/// The process that is supervised.
struct SupervisedProcess {
    id: Pid,
    below: DescendantScope,
    status: Option<i32>,
    /// The descendants that were found before the server was ended, for [`DescendantScope::Group`]:
    /// those of an ended process are not found any more.
    found: Vec<Pid>,
}

impl SupervisedProcess {
    /// Reaps ended children. Returns true if anything below still lives: every living descendant is
    /// our child or below one.
    fn reap_ended(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((id, status))) => self.record_exit(id, status),
                Ok(None) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn record_exit(&mut self, id: Pid, status: WaitStatus) {
        if id == self.id {
            self.status = status.exit_status().or_else(|| Some(128 + status.terminating_signal()?));
        }
    }
}

/// Sends SIGTERM to all below, and waits a short time for them to end.
async fn terminate_all(server: &mut SupervisedProcess, child_ended: &mut SignalStream) {
    if !server.reap_ended() {
        return;
    }
    if server.below == DescendantScope::Group {
        let own = getpid().as_raw_nonzero().get();
        server.found = process_tree::descendants_of(own).into_iter().filter_map(Pid::from_raw).collect();
    }
    server.below.signal(server.id, Signal::TERM);
    let grace = server.below.grace();
    let all_ended = async {
        // Each end of a child is reported; deeper descendants become our children when their
        // parents end.
        while server.reap_ended() {
            child_ended.recv().await;
        }
    };
    // Processes left at the end of the grace period are killed next.
    let _some_left = tokio::time::timeout(grace, all_ended).await;
}

/// Sends SIGKILL to all processes below until none is left.
///
/// Except in a [`DescendantScope::Group`], each killed process hands its children to us, so waiting
/// for children until there are none waits for the whole tree. A process that forks and ends again
/// and again is caught between two of its steps sooner or later. Our starter does not wait for that
/// without limit, and we stay until it is done.
fn kill_all(server: &mut SupervisedProcess) {
    while server.reap_ended() {
        server.below.signal(server.id, Signal::KILL);
        // Only one is reaped at a time, because its children become visible when it is gone.
        if let Ok(Some((id, status))) = wait(WaitOptions::empty()) {
            server.record_exit(id, status);
        }
    }
    if server.below == DescendantScope::Group {
        // The children of an ended server are not our children. An empty group is not an error.
        let _ignored = kill_process_group(server.id, Signal::KILL);
        for process in &server.found {
            // It may have ended; numbers are given again only after thousands of others.
            let _ignored = kill_process(*process, Signal::KILL);
        }
    }
}
