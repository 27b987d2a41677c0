//! The sandbox of a command: readable and writable paths, enforced by Landlock.
//!
//! `lsp-tools __sandbox [--first] [--landlock [--no-tcp] FOLDER…] -- PROGRAM ARGS…` starts a new
//! session (so that it has no terminal for prompts), confines itself, and becomes the program. The
//! restrictions hold for the program and all its descendants:
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
//! - if the kernel allows it, its processes have a process namespace of their own
//!   (`platform/unix/namespace.rs`); the supervisor creates it before this process starts, and
//!   passes `--first` to its first process;
//! - with `--no-tcp`, no TCP connection is made or accepted. Other protocols stay open.
//!
//! The sandbox does not restrict reading, nor Unix sockets (a container engine's socket is a way
//! out), nor changes of the mode, owner, times or attributes of files outside that their user may
//! make: Landlock has no rule for these. A folder inside a writable one cannot be excluded from it.
//! Changes that a command makes to the project's own `.lsp-tools` have no effect:
//! [trust](crate::config::TrustStore) covers only the content that its owner has seen.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::sandbox_arguments::{Confinement, arguments};
use super::{Exit, Spawn, Spawner};
use crate::platform::file_sandbox;

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
    /// The system does not support it.
    #[error("{}", file_sandbox::REQUIREMENT)]
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

/// The restrictions that this machine can enforce on commands.
pub fn status() -> SandboxSupport {
    let kernel = file_sandbox::support();
    let files = if kernel.files { Ok(()) } else { Err(SandboxUnavailable::Kernel) };
    SandboxSupport { files, tcp: kernel.tcp, signals: kernel.signals }
}
