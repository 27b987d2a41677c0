//! Memory that servers use beyond the budget while none of them may be stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The result of the last measurement of the servers' memory.
#[derive(Debug, Default)]
pub(super) struct MemoryOverrun {
    /// The memory use of all servers together, in bytes; 0 if it is within the budget.
    used: AtomicU64,
    /// True if an answer has reported it.
    reported: AtomicBool,
}

/// Servers use more memory than the settings allow for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OverBudget {
    /// The memory use of all servers together, in bytes.
    pub(crate) used: u64,
    /// The budget, in bytes.
    pub(crate) budget: u64,
}

impl MemoryOverrun {
    /// Records the memory use of all servers.
    pub(super) fn record_usage(&self, used: u64, budget: u64) {
        let over = used > budget;
        self.used.store(if over { used } else { 0 }, Ordering::Relaxed);
        if !over {
            self.reported.store(false, Ordering::Relaxed);
        }
    }

    /// Returns the excess over the budget, if it is exceeded.
    pub(super) fn state(&self, budget: u64) -> Option<OverBudget> {
        match self.used.load(Ordering::Relaxed) {
            0 => None,
            used => Some(OverBudget { used, budget }),
        }
    }

    /// Returns the state once, until the use was within the budget again.
    pub(super) fn report_once(&self, budget: u64) -> Option<OverBudget> {
        let over = self.state(budget)?;
        (!self.reported.swap(true, Ordering::Relaxed)).then_some(over)
    }
}

impl OverBudget {
    /// Returns a sufficient budget, in MiB: half as much again as is used, in whole GiB.
    fn suggested_budget_mib(&self) -> u64 {
        ((self.used >> 20) * 3 / 2).div_ceil(1024) * 1024
    }
}

impl std::fmt::Display for OverBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "language servers use {} MiB, above the budget of {} MiB; servers in use are not stopped. To raise the budget, write into lsp-tools.toml: servers.memory-budget-mb = {}",
            self.used >> 20,
            self.budget >> 20,
            self.suggested_budget_mib()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_overrun_is_reported_once_until_back_within_budget() {
        let (budget, overdraft) = (4 << 30, MemoryOverrun::default());
        assert_eq!(overdraft.state(budget), None);
        overdraft.record_usage(4_260 << 20, budget);
        let over = overdraft.report_once(budget).expect("over the budget");
        assert_eq!(
            over.to_string(),
            "language servers use 4260 MiB, above the budget of 4096 MiB; servers in use are not stopped. \
             To raise the budget, write into lsp-tools.toml: servers.memory-budget-mb = 7168"
        );
        assert_eq!((overdraft.report_once(budget), overdraft.state(budget)), (None, Some(over)));
        overdraft.record_usage(budget, budget);
        assert_eq!(overdraft.state(budget), None);
        overdraft.record_usage(budget + 1, budget);
        assert!(overdraft.report_once(budget).is_some());
    }
}
