//! This run of the machine: its name, its clock, and its memory.

use std::time::Duration;

/// Returns the name of this run, which another run of the same machine does not have; `None` if the
/// system does not report it.
pub(crate) fn run_id() -> Option<String> {
    super::process_tree::read_text("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// Returns the time since some moment of this run, by a clock that all processes share and that
/// cannot be set.
#[cfg(unix)]
pub(crate) fn clock() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// Returns the time since 1970. Windows has a clock of the run as well, but none that the standard
/// library shares between processes.
#[cfg(windows)]
pub(crate) fn clock() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

/// Returns the memory of the machine in bytes; `None` if the system does not report it.
pub(crate) fn memory() -> Option<u64> {
    let text = super::process_tree::read_text("/proc/meminfo")?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}
