//! The descendants of a process and their memory, as sysinfo reads them.

use std::path::Path;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// A process as it was when it was read. Its id alone may belong to another process later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its id.
    pub(crate) pid: i32,
    /// Its parent's id; 0 if it has none.
    pub(crate) parent: i32,
    /// The time of its start, in seconds since 1970.
    pub(crate) started: u64,
}

impl Process {
    /// The process `pid`, if it lives and the system shows it.
    pub(crate) fn living(pid: i32) -> Option<Self> {
        let own = number(pid);
        let mut system = System::new();
        system.refresh_processes_specifics(
            ProcessesToUpdate::Some(&[own]),
            true,
            ProcessRefreshKind::nothing(),
        );
        let process = system.process(own)?;
        let parent = process.parent().map_or(0, |parent| parent.as_u32().cast_signed());
        Some(Self { pid, parent, started: process.start_time() })
    }
}

fn number(pid: i32) -> Pid {
    Pid::from_u32(pid.cast_unsigned())
}

fn all(kind: ProcessRefreshKind) -> System {
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
    system
}

/// Returns the time in seconds since 1970.
pub(crate) fn system_ticks() -> Option<u64> {
    Some(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_secs())
}

/// The living child of `pid` that was started first.
pub(crate) fn oldest_child_of(pid: i32) -> Option<i32> {
    let system = all(ProcessRefreshKind::nothing());
    let children = system.processes().values().filter(|process| process.parent() == Some(number(pid)));
    let oldest = children.min_by_key(|process| (process.start_time(), process.pid()))?;
    Some(oldest.pid().as_u32().cast_signed())
}

fn is_below(system: &System, pid: Pid, root: Pid) -> bool {
    /// Numbers of ended parents are given again, so a walk could run in a circle.
    const MOST_STEPS: usize = 64;
    let above = std::iter::successors(Some(pid), |pid| system.process(*pid)?.parent());
    above.take(MOST_STEPS).any(|pid| pid == root)
}

/// Resident memory of `pid` and all its descendants, in bytes.
pub(crate) fn resident_bytes(pid: i32) -> u64 {
    let system = all(ProcessRefreshKind::nothing().with_memory());
    let below = system.processes().values().filter(|process| is_below(&system, process.pid(), number(pid)));
    below.map(sysinfo::Process::memory).sum()
}

/// Resident memory of `pid` alone, in bytes.
pub(crate) fn resident_bytes_of(pid: i32) -> Option<u64> {
    let system = all(ProcessRefreshKind::nothing().with_memory());
    system.process(number(pid)).map(sysinfo::Process::memory)
}

/// Lists all processes.
pub(crate) fn all_pids() -> Vec<i32> {
    all(ProcessRefreshKind::nothing()).processes().keys().map(|pid| pid.as_u32().cast_signed()).collect()
}

/// Returns true if there is a process `pid`.
pub(crate) fn is_living(pid: i32) -> bool {
    Process::living(pid).is_some()
}

/// Returns the name of the program of the process `pid`; `None` if the system does not report it.
pub(crate) fn name_of(pid: i32) -> Option<String> {
    let system = all(ProcessRefreshKind::nothing());
    Some(system.process(number(pid))?.name().to_string_lossy().into_owned())
}

/// There are no files about processes.
pub(crate) fn read_text(_: impl AsRef<Path>) -> Option<String> {
    None
}
