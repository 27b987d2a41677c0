//! What descends from a process, and how much memory it takes.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The living child of `pid` that was started first; zombies are not alive.
pub fn oldest_child_of(pid: i32) -> Option<i32> {
    let children = all().into_iter().filter(|process| process.parent == pid);
    children.min_by_key(|child| (child.started, child.pid)).map(|child| child.pid)
}

/// All living descendants of `pid`.
pub fn descendants_of(pid: i32) -> Vec<i32> {
    let mut below: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in all() {
        below.entry(process.parent).or_default().push(process.pid);
    }
    let mut found = Vec::new();
    let mut next = vec![pid];
    while let Some(pid) = next.pop() {
        let children = below.remove(&pid).unwrap_or_default();
        found.extend(&children);
        next.extend(children);
    }
    found
}

/// Sends `signal` to all living descendants of `root`.
pub fn signal_below(root: Pid, signal: Signal) {
    for pid in descendants_of(root.as_raw_nonzero().get()).into_iter().filter_map(Pid::from_raw) {
        // It may have ended in between.
        let _gone = kill_process(pid, signal);
    }
}

/// Resident memory of `pid` and all its descendants, in bytes.
pub fn resident_bytes(pid: i32) -> u64 {
    std::iter::once(pid).chain(descendants_of(pid)).filter_map(resident_bytes_of).sum()
}

/// Resident memory of `pid` alone, in bytes.
pub fn resident_bytes_of(pid: i32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

struct Process {
    pid: i32,
    parent: i32,
    /// In clock ticks since the system started. Process ids are used again, so they do not tell who came first.
    started: u64,
}

/// Every living process. Empty where there is no `/proc`.
fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(living).collect()
}

fn living(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
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
    fn a_child_is_known_by_its_parent_and_its_time() {
        let own = i32::try_from(std::process::id()).unwrap();
        let mut first = Command::new("sleep").arg("60").spawn().unwrap();
        let started = |pid: u32| living(i32::try_from(pid).unwrap()).unwrap();
        let told = started(first.id());
        let boot = fs::read_to_string("/proc/uptime").unwrap();
        let uptime: f64 = boot.split_whitespace().next().unwrap().parse().unwrap();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(told.parent, own);
        assert!((uptime - told.started as f64 / ticks).abs() < 30.0, "{} of {uptime}", told.started);
        assert!(descendants_of(own).contains(&told.pid));
        first.kill().unwrap();
        first.wait().unwrap();
        assert!(!descendants_of(own).contains(&told.pid));
    }
}
