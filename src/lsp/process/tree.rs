//! What descends from a process, and how much memory it takes.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The living children of `pid`, oldest first; zombies are not alive.
pub fn children_of(pid: i32) -> Vec<i32> {
    let mut children: Vec<i32> =
        all().into_iter().filter(|(_, parent)| *parent == pid).map(|(pid, _)| pid).collect();
    children.sort_unstable();
    children
}

/// All living descendants of `pid`.
pub fn descendants_of(pid: i32) -> Vec<i32> {
    let mut below: HashMap<i32, Vec<i32>> = HashMap::new();
    for (child, parent) in all() {
        below.entry(parent).or_default().push(child);
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
    let page = rustix::param::page_size() as u64;
    let pages = |pid: i32| {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        statm.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    std::iter::once(pid).chain(descendants_of(pid)).filter_map(pages).sum::<u64>() * page
}

/// Every living process with its parent. Empty where there is no `/proc`.
fn all() -> Vec<(i32, i32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, living_parent(pid)?))).collect()
}

fn living_parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so the fields are counted from the last one.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}
