//! The sandbox of a command: readable and writable paths, enforced by Landlock.
//!
//! `lsp-tools __sandbox [--first] [--landlock [--no-tcp] FOLDER…] -- PROGRAM ARGS…` moves into a
//! session of its own (so that there is no terminal to ask a person at), confines itself, and
//! becomes the program. The kernel keeps the restrictions for the program and all its descendants,
//! without end:
//!
//! - files and folders are made, changed, moved and deleted only beneath the folders given. The
//!   real location of a file decides, not the link by which it is reached;
//! - no device is made;
//! - no process outside can be traced or inspected (`/proc/PID/environ`), nor, from Linux 6.12 on,
//!   signalled: neither the supervisor above it nor the process that started it. If the command can
//!   kill its supervisor, it dies with it, but processes that it moved to another session live on.
//!   From the same version on it reaches no abstract Unix socket outside;
//! - no privilege is gained (`no_new_privs`): `sudo` and the like do not work; of root's
//!   capabilities, only those remain that builds need;
//! - if the kernel allows it, its processes have a process namespace of their own ([`namespace`]);
//!   the supervisor creates it before this process starts, and passes `--first` to its first
//!   process;
//! - with `--no-tcp`, no TCP connection is made or accepted. Other protocols stay open.
//!
//! The sandbox does not restrict reading, nor Unix sockets (a container engine's socket is a way
//! out), nor changes of the mode, owner, times or attributes of files outside that their user may
//! make: Landlock has no rule for these. A folder inside a writable one cannot be excluded from it.
//! Changes that a command makes to the project's own `.lsp-tools` have no effect because of
//! [trust](crate::config::TrustStore), which holds for the content that its owner has seen.

#[cfg(unix)]
use crate::platform::processes::{CommandExt, getpid, setsid};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::platform::files::Errno;
use schemars::JsonSchema;
use serde::Serialize;

use super::sandbox_arguments::{Confinement, ENTER, SandboxArguments, arguments};
#[cfg(unix)]
use super::supervisor;
use super::{Exit, Spawn, Spawner};
use crate::platform::file_sandbox;
#[cfg(unix)]
use crate::platform::{namespace, parent_watch};

/// The exit status if the program was not started because it could not be confined.
const EXIT_NOT_CONFINED: i32 = 126;
/// The exit status if the program was not found, as in shells.
const EXIT_COMMAND_NOT_STARTED: i32 = 127;

/// The time limit of a command that does nothing.
const SANDBOX_PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The mechanism that limits a command to its folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Enforced {
    /// The kernel's Landlock.
    Landlock,
    /// Nothing.
    None,
}

/// The restrictions that this machine can enforce on commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The mechanism that restricts commands to their folders, or the reason why there is none.
    pub files: Result<(), SandboxUnavailable>,
    /// True if TCP can be blocked.
    pub tcp: bool,
    /// True if signals to processes outside and abstract Unix sockets can be blocked.
    pub signals: bool,
}

/// The reasons why commands cannot be restricted to their folders here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxUnavailable {
    /// The kernel does not support it.
    #[error(
        "the kernel has no Landlock of version 3 or newer (Linux 6.2, and `landlock` among its security modules)"
    )]
    Kernel,
    /// Our own binary, which confines itself before it becomes the command, was not found.
    #[error("the lsp-tools binary was not found beside the running program")]
    NoBinary,
}

/// Runs a confined command to find out whether confined commands get a process namespace here.
pub async fn supports_pid_namespace(spawner: &Spawner) -> bool {
    let Some(binary) = spawner.supervisor() else { return false };
    let confinement = Confinement { writable: vec!["/dev/null".into()], no_tcp: false };
    let is_child_of_the_first = ["/bin/sh", "-c", "test $PPID -eq 1"].map(OsStr::new);
    let args = arguments(Some(&confinement), &is_child_of_the_first);
    let (name, cwd) = ("bash".to_owned(), PathBuf::from("/"));
    let spawn = Spawn { name, program: binary.to_owned(), args, env: BTreeMap::new(), cwd, pins: Vec::new() };
    let Ok(process) = spawner.spawn_command(spawn).await else { return false };
    tokio::time::timeout(SANDBOX_PROBE_TIMEOUT, process.wait()).await == Ok(Exit::Code(0))
}

/// Confines this process and becomes the program that `args` name. Returns, with an exit status,
/// only if that fails, or for the first process of a namespace when it has ended.
#[cfg(unix)]
pub(crate) fn enter_sandbox(args: impl Iterator<Item = OsString>) -> i32 {
    let mut args = args;
    let SandboxArguments { confinement, is_first } = SandboxArguments::read(&mut args);
    let Some(program) = args.next() else {
        eprintln!("lsp-tools: {ENTER} was given no program");
        return EXIT_COMMAND_NOT_STARTED;
    };
    start_new_session();
    if is_first {
        // Outside a namespace, `/proc` belongs to all processes.
        let shown = if getpid().is_init() { namespace::show() } else { Err(Errno::PERM) };
        if let Err(error) = shown {
            eprintln!("lsp-tools: the command was not run, because its own /proc cannot be mounted: {error}");
            return EXIT_NOT_CONFINED;
        }
    }
    if let Some(confinement) = confinement
        && let Err(error) = file_sandbox::confine(&confinement.writable, confinement.no_tcp)
    {
        eprintln!(
            "lsp-tools: the command was not run, because it cannot be restricted to its folders: {error}"
        );
        return EXIT_NOT_CONFINED;
    }
    if is_first {
        return supervisor::run_as_first(program, args.collect());
    }
    let error = Command::new(&program).args(args).exec();
    eprintln!("{} cannot be started: {error}", program.display());
    EXIT_COMMAND_NOT_STARTED
}

/// Detaches from the terminal, and requests to be ended when the supervisor is killed.
#[cfg(unix)]
fn start_new_session() {
    // The call fails only for the leader of a group, which a supervised process is not.
    if let Err(error) = setsid() {
        eprintln!("lsp-tools: the command keeps its terminal: {error}");
    }
    if let Err(error) = parent_watch::die_with_parent() {
        eprintln!("lsp-tools: the command would outlive its supervisor: {error}");
    }
}

/// The restrictions that this machine can enforce on commands.
pub fn status() -> SandboxSupport {
    let kernel = file_sandbox::support();
    let files = if kernel.files { Ok(()) } else { Err(SandboxUnavailable::Kernel) };
    SandboxSupport { files, tcp: kernel.tcp, signals: kernel.signals }
}
