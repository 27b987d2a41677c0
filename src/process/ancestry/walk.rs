//! The walk from a process up to its ancestors, of which only confirmed steps count.

use std::time::Duration;

use super::Descent;
use crate::platform::process_tree::{self, Process, ProcessState};
use crate::process::SUPERVISE;
use crate::process::sandbox_arguments::ENTER;

/// The maximum length of a chain of ancestors.
const MAX_ANCESTRY_DEPTH: usize = 256;
/// The maximum number of walks for one answer. Parents that end by chance disturb one or two.
const MAX_ANCESTRY_WALK_ATTEMPTS: u32 = 16;
/// The number of ancestry walks without a pause before them.
///
/// A parent with many threads takes its time to end on a busy machine, and gives its children away
/// only after its last thread.
const IMMEDIATE_ANCESTRY_WALKS: u32 = 4;
/// The pause before each later walk; 120 ms in all.
const ANCESTRY_WALK_PAUSE: Duration = Duration::from_millis(10);

/// The source of process states.
pub(super) trait ProcessTable {
    fn process_state(&self, pid: i32) -> ProcessState;
    /// Returns true for a supervisor, and for the first process of a process namespace.
    fn keeps_commands(&self, pid: i32) -> bool;
    /// Waits for a parent that ends.
    fn pause(&self);
}

/// The processes that `/proc` lists.
pub(super) struct LinuxProcessTable;

impl ProcessTable for LinuxProcessTable {
    fn process_state(&self, pid: i32) -> ProcessState {
        Process::lookup(pid)
    }

    fn keeps_commands(&self, pid: i32) -> bool {
        let words = process_tree::read_bytes(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let first = words.split(|byte| *byte == 0).nth(1);
        first.is_some_and(|word| word == SUPERVISE.as_bytes() || word == ENTER.as_bytes())
    }

    fn pause(&self) {
        // No event signals the end of another process's parent.
        std::thread::sleep(ANCESTRY_WALK_PAUSE);
    }
}

/// Walks up from `process` until a walk is confirmed.
pub(super) fn descent_in(table: &impl ProcessTable, process: &Process) -> Descent {
    for attempt in 0..MAX_ANCESTRY_WALK_ATTEMPTS {
        if attempt >= IMMEDIATE_ANCESTRY_WALKS {
            table.pause();
        }
        let Some(child) = living_process(table, process.pid).filter(|living| living.is_same(process)) else {
            return Descent::Unknown;
        };
        if let Some(descent) = walk_ancestors(table, process, child) {
            return descent;
        }
    }
    Descent::Unknown
}

/// Walks up once from `child`, which is `process` as it was seen a moment ago. Returns `None` if
/// the walk meets an impossible state.
fn walk_ancestors(table: &impl ProcessTable, process: &Process, mut child: Process) -> Option<Descent> {
    for _ in 0..MAX_ANCESTRY_DEPTH {
        if child.parent == 0 {
            // The first process, or one whose parent is outside of this container. Checks that it
            // was the same one all the time.
            return living_process(table, process.pid)
                .filter(|living| living.is_same(process))
                .map(|_| Descent::Free);
        }
        let parent = table.process_state(child.parent);
        let keeps_commands = table.keeps_commands(child.parent);
        // A child whose parent ends is given to another one, so this parent lived during the check.
        living_process(table, child.pid).filter(|again| *again == child)?;
        match parent {
            _ if keeps_commands => return Some(Descent::Supervised),
            // A hidden process belongs to another user, and our supervisors do not.
            ProcessState::Hidden => return Some(Descent::Free),
            ProcessState::Gone => return None,
            // Its number now belongs to another process.
            ProcessState::Living(parent) if parent.started > child.started => return None,
            ProcessState::Living(parent) => child = parent,
        }
    }
    None
}

fn living_process(table: &impl ProcessTable, pid: i32) -> Option<Process> {
    match table.process_state(pid) {
        ProcessState::Living(process) => Some(process),
        ProcessState::Hidden | ProcessState::Gone => None,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const SUPERVISOR: i32 = 50;

    /// Processes as a function of the number of reads.
    struct Scripted<F>(F, Cell<u32>);

    impl<F: Fn(u32, i32) -> ProcessState> ProcessTable for Scripted<F> {
        fn process_state(&self, pid: i32) -> ProcessState {
            self.1.set(self.1.get() + 1);
            (self.0)(self.1.get(), pid)
        }

        fn keeps_commands(&self, pid: i32) -> bool {
            pid == SUPERVISOR
        }

        fn pause(&self) {}
    }

    fn process(pid: i32, parent: i32) -> Process {
        // Later numbers are later processes, as a rule.
        Process { pid, parent, started: u64::try_from(pid).unwrap() }
    }

    fn descent_of(pid: i32, parent: i32, look: impl Fn(u32, i32) -> ProcessState) -> Descent {
        descent_in(&Scripted(look, Cell::new(0)), &process(pid, parent))
    }

    /// The chain 60 → 55 → 50, the supervisor, → 1.
    fn chain(pid: i32) -> ProcessState {
        match pid {
            1 => ProcessState::Living(process(1, 0)),
            SUPERVISOR => ProcessState::Living(process(SUPERVISOR, 1)),
            55 => ProcessState::Living(process(55, SUPERVISOR)),
            60 => ProcessState::Living(process(60, 55)),
            70 => ProcessState::Living(process(70, 1)),
            _ => ProcessState::Gone,
        }
    }

    #[test]
    fn parent_that_takes_its_time_to_end_is_waited_for() {
        struct Slow(Cell<u32>);
        impl ProcessTable for Slow {
            fn process_state(&self, pid: i32) -> ProcessState {
                let has_ended = self.0.get() >= 3;
                match pid {
                    100 if has_ended => ProcessState::Living(process(100, 1)),
                    100 => ProcessState::Living(process(100, 90)),
                    1 => ProcessState::Living(process(1, 0)),
                    _ => ProcessState::Gone,
                }
            }

            fn keeps_commands(&self, _: i32) -> bool {
                false
            }

            fn pause(&self) {
                self.0.set(self.0.get() + 1);
            }
        }
        assert_eq!(descent_in(&Slow(Cell::new(0)), &process(100, 90)), Descent::Free);
    }

    #[test]
    fn supervisor_among_ancestors_is_found_at_any_depth() {
        assert_eq!(descent_of(60, 55, |_, pid| chain(pid)), Descent::Supervised);
        assert_eq!(descent_of(55, SUPERVISOR, |_, pid| chain(pid)), Descent::Supervised);
        assert_eq!(descent_of(SUPERVISOR, 1, |_, pid| chain(pid)), Descent::Free);
        assert_eq!(descent_of(70, 1, |_, pid| chain(pid)), Descent::Free);
    }

    #[test]
    fn descent_with_parent_exiting_meanwhile_is_never_free() {
        // The process ends at any moment; its child is the supervisor's from then on.
        for end in 1..12 {
            let look = |now: u32, pid| match pid {
                55 if now >= end => ProcessState::Gone,
                60 if now >= end => ProcessState::Living(process(60, SUPERVISOR)),
                _ => chain(pid),
            };
            assert_eq!(descent_of(60, 55, look), Descent::Supervised, "{end}");
        }
        // Parents that have always ended when they are read.
        let look = |_, pid| if pid == 55 { ProcessState::Gone } else { chain(pid) };
        assert_eq!(descent_of(60, 55, look), Descent::Unknown);
    }

    #[test]
    fn descent_with_reused_pid_is_never_free() {
        // The parent's, by a process that started later; and the process's own.
        let younger = Process { pid: 55, parent: 1, started: 61 };
        let look = |_, pid| if pid == 55 { ProcessState::Living(younger) } else { chain(pid) };
        assert_eq!(descent_of(60, 55, look), Descent::Unknown);
        let other = Process { pid: 60, parent: 1, started: 99 };
        for since in 1..6 {
            let look =
                |now, pid| if pid == 60 && now >= since { ProcessState::Living(other) } else { chain(pid) };
            assert_ne!(descent_of(60, 55, look), Descent::Free, "{since}");
        }
        // A chain without an end.
        let look = |_, pid| ProcessState::Living(Process { pid, parent: pid + 1, started: 1 });
        assert_eq!(
            descent_in(&Scripted(look, Cell::new(0)), &Process { started: 1, ..process(60, 61) }),
            Descent::Unknown
        );
    }

    #[test]
    fn descent_below_hidden_process_of_another_user_is_free() {
        let look = |_, pid| if pid == 1 { ProcessState::Hidden } else { chain(pid) };
        assert_eq!(descent_of(70, 1, look), Descent::Free);
        assert_eq!(descent_of(60, 55, look), Descent::Supervised);
    }
}
