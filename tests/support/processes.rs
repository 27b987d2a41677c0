//! Living processes, and waits with a deadline.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A marker that no other test has in its arguments; processes that still have it at the end are
/// killed.
pub struct Marker(String);

impl Marker {
    /// A new marker.
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self(format!("marker-{}-{}-end", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The marker as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of processes with the marker.
    pub fn living(&self) -> usize {
        count_processes(&self.0)
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        signal_processes(&self.0, Signal::KILL);
    }
}

/// The number of living processes, other than this one, with `marker` in their arguments. Zombies
/// do not count: they wait for a parent that reaps them, which pid 1 of a container may never do.
pub fn count_processes(marker: &str) -> usize {
    processes(marker).len()
}

/// Sends a signal to the processes that [`count_processes`] counts.
pub fn signal_processes(marker: &str, signal: Signal) {
    for pid in processes(marker).into_iter().filter_map(Pid::from_raw) {
        // A process that has already ended needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// The process ids that [`count_processes`] counts.
pub fn processes(marker: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    pids.filter(|pid| *pid != std::process::id().cast_signed() && bears(*pid, marker) && lives(*pid))
        .collect()
}

fn bears(pid: i32, marker: &str) -> bool {
    fs::read(format!("/proc/{pid}/cmdline"))
        .is_ok_and(|arguments| String::from_utf8_lossy(&arguments).contains(marker))
}

/// Returns true if the state in `/proc/PID/stat` is that of a running process; the name before it
/// may contain anything.
fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits until `condition` holds.
///
/// # Panics
/// With `what`, if `condition` does not hold within `deadline`.
#[track_caller]
pub fn wait_until(what: &str, deadline: Duration, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + deadline;
    while !condition() {
        assert!(Instant::now() < end, "not within {deadline:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
