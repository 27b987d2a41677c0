//! The lock that allows one transaction at a time on a workspace, across processes.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::platform::private;
use crate::workspace::edit::EditError;
use crate::workspace::edit::history::journal::journal_error;

/// The time for which a transaction waits for others.
const EDIT_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The first and the longest pause between attempts to take another process's lock: the system
/// offers no wait with a deadline.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// The queue of this process for one workspace; the lock file excludes the other processes.
#[derive(Debug, Default)]
pub(crate) struct EditLockQueue {
    is_locked: Mutex<bool>,
    freed: Condvar,
}

/// The right to change the workspace; released when dropped, or when the process ends.
#[derive(Debug)]
pub(crate) struct EditLockGuard<'a> {
    queue: &'a EditLockQueue,
    /// The locked file; closing it releases the lock.
    file: Option<File>,
}

impl EditLockQueue {
    /// Waits for its turn and for the lock on `file`, which is created if it does not exist.
    pub(crate) fn acquire(&self, file: &Path) -> Result<EditLockGuard<'_>, EditError> {
        let deadline = Instant::now() + EDIT_LOCK_TIMEOUT;
        let mut taken = self.is_locked.lock();
        self.freed.wait_while_for(&mut taken, |taken| *taken, EDIT_LOCK_TIMEOUT);
        if *taken {
            return Err(busy_error());
        }
        *taken = true;
        drop(taken);
        let mut held = EditLockGuard { queue: self, file: None };
        held.file = Some(acquire_file_lock(file, deadline)?);
        Ok(held)
    }
}

impl Drop for EditLockGuard<'_> {
    fn drop(&mut self) {
        // The file first, so that the next one in this process finds it free.
        self.file = None;
        *self.queue.is_locked.lock() = false;
        self.queue.freed.notify_one();
    }
}

fn acquire_file_lock(path: &Path, deadline: Instant) -> Result<File, EditError> {
    let mut options = private::open_options();
    options.read(true).write(true).create(true).truncate(false);
    let file = private::open(&options, path).map_err(|error| journal_error("open", path, error))?;
    let mut pause = FIRST_PAUSE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Err(busy_error()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
            Err(TryLockError::Error(error)) => return Err(journal_error("lock", path, error)),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn busy_error() -> EditError {
    EditError::Busy { seconds: EDIT_LOCK_TIMEOUT.as_secs() }
}
