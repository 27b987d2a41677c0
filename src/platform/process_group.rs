//! A started process with all its descendants, which are ended together.
//!
//! On Unix it is a process group, whose leader may be a supervisor that ends the processes below
//! it. On Windows it is a job, which the system ends with the process that holds it.

#[cfg(unix)]
pub(crate) use unix::{ProcessGroup, spawn};
#[cfg(windows)]
pub(crate) use windows::{ProcessGroup, spawn};

/// Returns the signal that ended a process; `None` if none did.
pub(crate) fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(windows)]
    {
        let _ = status;
        None
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    use tokio::process::{Child, Command};

    use crate::platform::process_tree;

    /// The time in which processes that are killed must be gone.
    const FORCED_KILL_TIMEOUT: Duration = Duration::from_secs(1);

    /// A process that leads its group.
    #[derive(Debug, Clone)]
    pub(crate) struct ProcessGroup {
        leader: Pid,
        is_supervisor: bool,
    }

    /// Starts `command` as the leader of a group. `is_supervisor` is true for our own binary as one.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn spawn(
        mut command: Command,
        is_supervisor: bool,
    ) -> io::Result<(Child, Option<ProcessGroup>)> {
        let child = command.process_group(0).spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok((child, leader.map(|leader| ProcessGroup { leader, is_supervisor })))
    }

    impl ProcessGroup {
        /// The number of the process that was started.
        pub(crate) fn number(&self) -> i32 {
            self.leader.as_raw_nonzero().get()
        }

        /// Returns true if the process that was started is a supervisor, above the wanted one.
        pub(crate) fn is_supervised(&self) -> bool {
            self.is_supervisor
        }

        /// Asks the supervisor to end everything; without a supervisor, ends the process group.
        pub(crate) fn request_end(&self) {
            let sent = match self.is_supervisor {
                true => kill_process(self.leader, Signal::TERM),
                false => kill_process_group(self.leader, Signal::KILL),
            };
            if let Err(error) = sent {
                tracing::debug!("signal not sent: {error}");
            }
        }

        /// Kills the rest of the group after a signal has killed its leader, a supervisor.
        pub(crate) fn end_orphans(&self) {
            if self.is_supervisor {
                let _ignored = kill_process_group(self.leader, Signal::KILL);
            }
        }

        /// Ends the processes below a supervisor that does not end, for example because its command
        /// has stopped it. Returns the number of processes left.
        ///
        /// The supervisor itself is killed last: after its death, processes that left its group
        /// cannot be found.
        pub(crate) fn kill_tree(&self) -> usize {
            let begun = Instant::now();
            loop {
                let _ignored = kill_process(self.leader, Signal::CONT);
                let left = process_tree::living_descendants(self.number());
                if left.is_empty() {
                    let _ignored = kill_process_group(self.leader, Signal::KILL);
                    return 0;
                }
                if begun.elapsed() > FORCED_KILL_TIMEOUT {
                    return left.len();
                }
                for process in left.iter().filter_map(|pid| Pid::from_raw(*pid)) {
                    // The process may have ended in between.
                    let _ignored = kill_process(process, Signal::KILL);
                }
            }
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::sync::{Arc, OnceLock};

    use parking_lot::Mutex;
    use tokio::process::{Child, Command};
    use win32job::{ExtendedLimitInfo, Job};

    /// A process and its job.
    #[derive(Debug, Clone)]
    pub(crate) struct ProcessGroup {
        number: i32,
        /// `None` once its processes were ended.
        job: Arc<Mutex<Option<Job>>>,
    }

    /// Starts `command` in a job of its own. Children that it starts before it enters the job end
    /// with this process.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn spawn(mut command: Command, _: bool) -> io::Result<(Child, Option<ProcessGroup>)> {
        end_children_with_this_process();
        let job = ending_job()?;
        let mut child = command.kill_on_drop(true).spawn()?;
        let (Some(handle), Some(id)) = (child.raw_handle(), child.id()) else { return Ok((child, None)) };
        if let Err(error) = job.assign_process(handle as isize) {
            // A process that has ended by now cannot be put into a job, and needs none.
            return match child.try_wait()? {
                Some(_) => Ok((child, None)),
                None => Err(io::Error::other(error)),
            };
        }
        let job = Arc::new(Mutex::new(Some(job)));
        Ok((child, Some(ProcessGroup { number: id.cast_signed(), job })))
    }

    /// Returns a job whose processes end when its handle is closed.
    fn ending_job() -> io::Result<Job> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        Job::create_with_limit_info(&limits).map_err(io::Error::other)
    }

    /// Puts this process into a job with all that it will start. The handle is closed by the system
    /// when this process ends.
    fn end_children_with_this_process() {
        static OWN: OnceLock<Option<Job>> = OnceLock::new();
        OWN.get_or_init(|| {
            let own = ending_job().and_then(|job| {
                job.assign_current_process().map_err(io::Error::other)?;
                Ok(job)
            });
            own.inspect_err(|error| tracing::warn!("servers may survive this process: {error}")).ok()
        });
    }

    impl ProcessGroup {
        /// The number of the process that was started.
        pub(crate) fn number(&self) -> i32 {
            self.number
        }

        /// Returns true if the process that was started is a supervisor, above the wanted one.
        pub(crate) fn is_supervised(&self) -> bool {
            false
        }

        /// Ends all processes of the job.
        pub(crate) fn request_end(&self) {
            drop(self.job.lock().take());
        }

        /// Ends the remaining children of the process.
        pub(crate) fn end_orphans(&self) {
            self.request_end();
        }

        /// Ends all processes of the job, none of which can leave it. Returns the number of
        /// processes left.
        pub(crate) fn kill_tree(&self) -> usize {
            self.request_end();
            0
        }
    }
}
