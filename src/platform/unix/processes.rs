//! Processes and signals of Unix, for supervisors and sandboxes, which other systems do not have.

pub(crate) use std::os::unix::process::CommandExt;

pub(crate) use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, kill_process_group, setsid, wait,
};
pub(crate) use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};

#[cfg(test)]
pub(crate) use {rustix::process::geteuid, std::os::unix::process::parent_id};
