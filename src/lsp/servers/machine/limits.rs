//! The limits of language servers on the machine: memory, and the number of simultaneous starts.

use crate::config::ServerSettings;
use crate::platform::machine;

/// The default minimum of memory for servers of all workspaces together, in bytes: the amount of
/// one workspace.
const MIN_DEFAULT_MEMORY_BYTES: u64 = 4 << 30;
/// The default minimum of simultaneous starts.
const MIN_DEFAULT_STARTS: usize = 2;

/// The limits for the servers of all of a user's processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MachineLimits {
    /// Resident memory, in bytes.
    pub(crate) memory: u64,
    /// The number of simultaneous starts.
    pub(crate) starts: usize,
}

impl MachineLimits {
    /// Takes the limits from the settings, with defaults for the size of this machine.
    pub(crate) fn new(settings: &ServerSettings) -> Self {
        let named = settings.machine_memory_budget_mb.map(|mib| mib.saturating_mul(1 << 20));
        let starts = || std::thread::available_parallelism().map_or(0, usize::from).max(MIN_DEFAULT_STARTS);
        Self {
            memory: named
                .unwrap_or_else(|| (machine::memory().unwrap_or(0) / 2).max(MIN_DEFAULT_MEMORY_BYTES)),
            starts: settings.machine_starts.unwrap_or_else(starts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_limits_default_to_half_of_memory_and_follow_settings() {
        let usual = MachineLimits::new(&ServerSettings::default());
        assert!(usual.memory >= MIN_DEFAULT_MEMORY_BYTES && usual.starts >= 2, "{usual:?}");
        #[cfg(linux_kernel)]
        assert_eq!(usual.memory, (machine::memory().unwrap() / 2).max(MIN_DEFAULT_MEMORY_BYTES));
        let settings = ServerSettings {
            machine_memory_budget_mb: Some(100),
            machine_starts: Some(1),
            ..ServerSettings::default()
        };
        assert_eq!(MachineLimits::new(&settings), MachineLimits { memory: 100 << 20, starts: 1 });
    }
}
