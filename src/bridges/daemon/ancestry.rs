//! What the daemon has started cannot command it: commands of `bash`, language servers, hooks and runners of tasks all
//! descend from one of our supervisors, which they cannot leave (orphans become its children). Through the daemon they
//! would be free of the sandbox, the rules and the agent's rights that they run under.

use std::fs;

use crate::lsp::process::SUPERVISE;

/// No chain of processes is longer.
const LONGEST: usize = 256;

/// Whether the process `pid` descends from one of our supervisors; `None` where the process is gone, so that nobody knows.
#[cfg(target_os = "linux")]
pub fn is_supervised(pid: i32) -> Option<bool> {
    let mut next = parent_of(pid)?;
    for _ in 0..LONGEST {
        // What cannot be seen is another user's; our supervisors are this user's.
        if next <= 1 || is_supervisor(next) {
            return Some(next > 1);
        }
        match parent_of(next) {
            Some(parent) => next = parent,
            None => return Some(false),
        }
    }
    None
}

/// Elsewhere there are no supervisors.
#[cfg(not(target_os = "linux"))]
pub fn is_supervised(_pid: i32) -> Option<bool> {
    Some(false)
}

/// Whether this process does.
pub fn am_supervised() -> bool {
    i32::try_from(std::process::id()).ok().and_then(is_supervised).unwrap_or(true)
}

fn is_supervisor(pid: i32) -> bool {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).nth(1) == Some(SUPERVISE.as_bytes())
}

/// The fourth field of `/proc/PID/stat` (proc_pid_stat(5)); the second, in parentheses, may hold anything.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_not_supervised_and_its_parent_is_found() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(parent_of(own), i32::try_from(std::os::unix::process::parent_id()).ok());
        assert_eq!(is_supervised(own), Some(false));
        assert_eq!(is_supervised(i32::MAX), None);
    }
}
