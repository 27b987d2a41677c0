//! The current boot of the machine: its id, its clock, and the machine's memory.

use std::time::Duration;

/// True if the system is a Unix.
pub(crate) const IS_UNIX: bool = cfg!(unix);

/// Returns the id of the current boot; `None` if the system does not report it.
pub(crate) fn run_id() -> Option<String> {
    super::process_tree::read_text("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// Returns the time since a fixed moment, by a monotonic clock that all processes share.
#[cfg(unix)]
pub(crate) fn clock() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// Returns the time since 1970: on Windows the standard library has no monotonic clock that processes
/// share.
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
