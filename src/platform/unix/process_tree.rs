//! The descendants of a process, and their memory.
//!
//! Processes come and go during a walk, some of them on purpose. So nothing here waits until no new
//! ones appear: every walk has a time limit.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// The buffer size for files of `/proc`; most of them are shorter.
const PROC_FILE_BYTES: usize = 4 << 10;

/// The maximum time of a walk; one over ten thousand processes takes a tenth of it.
const PROCESS_WALK_TIMEOUT: Duration = Duration::from_millis(500);

/// A process as it was when it was read. Its id alone may belong to another process later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its id.
    pub(crate) pid: i32,
    /// Its parent's id; 0 if the parent is outside of this container.
    pub(crate) parent: i32,
    /// The time of its start, in clock ticks since the system started.
    pub(crate) started: u64,
}

/// The state of a process as this user sees it.
#[cfg_attr(not(linux_kernel), allow(dead_code, reason = "elsewhere there is no sandbox to lead out of"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessState {
    /// The process lives.
    Living(Process),
    /// The process lives, and the system hides it because it is another user's.
    Hidden,
    /// The process has ended.
    Gone,
}

impl Process {
    /// Reads the state of the process `pid`.
    #[cfg_attr(not(linux_kernel), allow(dead_code, reason = "elsewhere there is no sandbox to lead out of"))]
    pub(crate) fn lookup(pid: i32) -> ProcessState {
        if let Some(process) = read_process(pid) {
            return ProcessState::Living(process);
        }
        match Pid::from_raw(pid).map(test_kill_process) {
            Some(Err(Errno::PERM)) if !std::path::Path::new(&format!("/proc/{pid}")).exists() => {
                ProcessState::Hidden
            }
            _ => ProcessState::Gone,
        }
    }

    /// The process `pid`, if it lives and the system shows it.
    pub(crate) fn living(pid: i32) -> Option<Self> {
        read_process(pid)
    }

    /// Returns true if `other` is the same process, seen at another time.
    #[cfg_attr(not(linux_kernel), allow(dead_code, reason = "elsewhere there is no sandbox to lead out of"))]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

/// Returns the time in clock ticks since the system started; `None` if the system does not report
/// it.
pub(crate) fn system_ticks() -> Option<u64> {
    let uptime = read_text("/proc/uptime")?;
    // Seconds with two places, rounded down.
    let (seconds, hundredths) = uptime.split_whitespace().next()?.split_once('.')?;
    let hundredths = seconds.parse::<u64>().ok()? * 100 + hundredths.parse::<u64>().ok()?;
    Some(hundredths * rustix::param::clock_ticks_per_second() / 100)
}

/// The living child of `pid` that was started first; zombies are not alive.
pub(crate) fn oldest_child_of(pid: i32) -> Option<i32> {
    let children = list_children(pid).unwrap_or_else(|| ChildLookup::from_process_table().children_of(pid));
    let living = children.into_iter().filter_map(read_process).filter(|child| child.parent == pid);
    living.min_by_key(|child| (child.started, child.pid)).map(|child| child.pid)
}

/// All descendants of `pid`, zombies among them, as far as they are found in bounded time.
pub(crate) fn descendants_of(pid: i32) -> Vec<i32> {
    let begun = Instant::now();
    let mut below = ChildLookup::new(pid);
    let mut found = Vec::new();
    let mut next = vec![pid];
    while let Some(pid) = next.pop()
        && begun.elapsed() < PROCESS_WALK_TIMEOUT
    {
        let children = below.children_of(pid);
        found.extend(&children);
        next.extend(children);
    }
    found
}

/// All descendants of `pid` that live and are found.
pub(crate) fn living_descendants(pid: i32) -> Vec<i32> {
    let mut found = descendants_of(pid);
    // Elsewhere only the living are listed.
    found.retain(|pid| !cfg!(target_os = "linux") || read_process(*pid).is_some());
    found
}

/// Sends `signal` to all descendants of `root` that are found.
pub(crate) fn signal_below(root: Pid, signal: Signal) {
    for pid in descendants_of(root.as_raw_nonzero().get()).into_iter().filter_map(Pid::from_raw) {
        // The process may have ended in between.
        let _ignored = kill_process(pid, signal);
    }
}

/// Resident memory of `pid` and all its descendants, in bytes.
pub(crate) fn resident_bytes(pid: i32) -> u64 {
    std::iter::once(pid).chain(descendants_of(pid)).filter_map(resident_bytes_of).sum()
}

/// Resident memory of `pid` alone, in bytes.
pub(crate) fn resident_bytes_of(pid: i32) -> Option<u64> {
    let statm = read_text(format!("/proc/{pid}/statm"))?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Returns true if there is a process `pid`.
pub(crate) fn is_living(pid: i32) -> bool {
    // Another user's process may not be signalled.
    Pid::from_raw(pid).is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

/// Returns the name of the program of the process `pid`; `None` if the system does not report it.
pub(crate) fn name_of(pid: i32) -> Option<String> {
    Some(read_text(format!("/proc/{pid}/comm"))?.trim_end().to_owned())
}

/// Lists all processes. Empty if there is no `/proc`.
pub(crate) fn all_pids() -> Vec<i32> {
    let begun = Instant::now();
    // Reads names alone, which is faster than processes are made, and with a time limit in case it
    // is not.
    let entries = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .take_while(|_| begun.elapsed() < PROCESS_WALK_TIMEOUT);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).collect()
}

/// The ids of all living processes, each with that of its parent.
#[cfg(target_os = "linux")]
fn parents() -> Vec<(i32, i32)> {
    let living = all_pids().into_iter().filter_map(read_process);
    living.map(|process| (process.pid, process.parent)).collect()
}

/// The ids of all living processes, each with that of its parent, as ps(1) lists them.
#[cfg(not(target_os = "linux"))]
fn parents() -> Vec<(i32, i32)> {
    parents_by_ps()
}

/// Empty if there is no ps(1).
#[cfg(any(test, not(target_os = "linux")))]
fn parents_by_ps() -> Vec<(i32, i32)> {
    use std::process::{Command, Stdio};
    let mut ps = Command::new("/bin/ps");
    ps.args(["-A", "-o", "pid=", "-o", "ppid=", "-o", "stat="]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(ps) = ps.stdout(Stdio::piped()).spawn() else { return Vec::new() };
    let own = i32::try_from(ps.id()).ok();
    let text = ps.wait_with_output().map(|listed| listed.stdout).unwrap_or_default();
    let pair = |line: &str| {
        let mut fields = line.split_whitespace();
        let (pid, parent) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let lives = Some(pid) != own && !fields.next()?.starts_with('Z');
        lives.then_some((pid, parent))
    };
    String::from_utf8_lossy(&text).lines().filter_map(pair).collect()
}

/// The source of child processes: the kernel's own lists if it keeps them, else one listing of all
/// processes.
enum ChildLookup {
    Lists,
    Seen(HashMap<i32, Vec<i32>>),
}

impl ChildLookup {
    fn new(root: i32) -> Self {
        if list_children(root).is_some() { Self::Lists } else { Self::from_process_table() }
    }

    fn from_process_table() -> Self {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for (pid, parent) in parents() {
            children.entry(parent).or_default().push(pid);
        }
        Self::Seen(children)
    }

    fn children_of(&mut self, pid: i32) -> Vec<i32> {
        match self {
            Self::Lists => list_children(pid).unwrap_or_default(),
            Self::Seen(children) => children.remove(&pid).unwrap_or_default(),
        }
    }
}

/// The children of `pid`, zombies among them, as the kernel lists them (`CONFIG_PROC_CHILDREN`), by
/// the threads that started them.
fn list_children(pid: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let children = fs::read_to_string(thread.path().join("children")).ok()?;
        found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Some(found)
}

/// Reads a file of `/proc`, whose length is not announced. The buffer is large enough to read most
/// of them in one call.
pub(crate) fn read_bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(PROC_FILE_BYTES);
    // `File` would ask for the length once more.
    File::open(path)?.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the text of a file of `/proc`; `None` if it cannot be read.
pub(crate) fn read_text(path: impl AsRef<Path>) -> Option<String> {
    String::from_utf8(read_bytes(path).ok()?).ok()
}

fn read_process(pid: i32) -> Option<Process> {
    let stat = read_text(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold anything, so the fields are counted from the last one.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    // Field 22 of proc_pid_stat(5), counted from 1; the parent is field 4.
    let started = fields.nth(17)?.parse().ok()?;
    Some(Process { pid, parent, started })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn process_tree_lists_child_until_it_is_killed() {
        let own = i32::try_from(std::process::id()).unwrap();
        let before = system_ticks().unwrap();
        let mut first = Command::new("sleep").arg("60").spawn().unwrap();
        let told = read_process(i32::try_from(first.id()).unwrap()).unwrap();
        assert_eq!(told.parent, own);
        assert!((before..=system_ticks().unwrap()).contains(&told.started), "{before} {}", told.started);
        assert!(descendants_of(own).contains(&told.pid));
        assert!(all_pids().contains(&told.pid));
        first.kill().unwrap();
        first.wait().unwrap();
        assert!(!descendants_of(own).contains(&told.pid));
        assert_eq!(Process::lookup(told.pid), ProcessState::Gone);
    }

    #[test]
    fn process_children_without_kernel_list_are_the_same() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 61 & echo; wait"]);
        let mut child = shell.stdout(std::process::Stdio::piped()).spawn().unwrap();
        // Its first line shows that its own child has started.
        std::io::BufRead::read_line(
            &mut std::io::BufReader::new(child.stdout.take().unwrap()),
            &mut String::new(),
        )
        .unwrap();
        let root = i32::try_from(child.id()).unwrap();
        let mut seen = ChildLookup::from_process_table();
        assert!(seen.children_of(own).contains(&root));
        let below = seen.children_of(root);
        let by_ps: Vec<i32> =
            parents_by_ps().into_iter().filter(|(_, parent)| *parent == root).map(|(pid, _)| pid).collect();
        assert_eq!(below, by_ps);
        assert_eq!((below.len(), below), (1, list_children(root).unwrap()));
        signal_below(Pid::from_raw(root).unwrap(), Signal::KILL);
        child.wait().unwrap();
    }
}
