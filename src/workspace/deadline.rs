//! The end of unfinished work: its deadline, or the drop of its caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The deadline of a piece of work, which can also be cancelled. Clones share both.
#[derive(Debug, Clone)]
pub struct WorkDeadline {
    deadline: Instant,
    given_up: Arc<AtomicBool>,
}

/// A guard that ends the work when it is dropped.
#[derive(Debug)]
pub(crate) struct GiveUp(Arc<AtomicBool>);

impl WorkDeadline {
    /// Creates a deadline that can be cancelled.
    pub fn new(deadline: Instant) -> Self {
        Self { deadline, given_up: Arc::default() }
    }

    /// Returns true if the work must end.
    pub(crate) fn is_over(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Returns a guard that cancels the work when it is dropped. Work on another thread does not
    /// notice otherwise that the future waiting for it is gone.
    pub(crate) fn cancel_on_drop(&self) -> GiveUp {
        GiveUp(Arc::clone(&self.given_up))
    }
}

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
