//! The reason why the start of a language server is delayed: memory, the number of starts, or
//! starts before it.

/// The limit that delays a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoldCause {
    /// The maximum number of servers is being started.
    Starts {
        /// The maximum number.
        limit: usize,
    },
    /// Servers use the whole memory budget of the machine.
    Memory {
        /// The budget, in bytes.
        budget: u64,
    },
    /// Other starts come first.
    Turn,
}

/// The reason why a start is delayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StartHold {
    /// The limit that delays it.
    pub(crate) cause: HoldCause,
    /// The number of starts before it.
    pub(crate) before: usize,
}

impl std::fmt::Display for StartHold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.cause {
            HoldCause::Starts { limit } => {
                write!(f, "{limit} language servers are starting on this machine, the limit")?;
            }
            HoldCause::Memory { budget } => {
                write!(
                    f,
                    "language servers in use fill this machine's memory budget of {} MiB (servers.machine-memory-budget-mb)",
                    budget >> 20
                )?;
            }
            HoldCause::Turn => f.write_str("other language servers of this machine are started first")?,
        }
        match self.before {
            0 => Ok(()),
            1 => f.write_str("; one start comes before it"),
            many => write!(f, "; {many} starts come before it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hold_says_what_is_lacking_and_who_comes_before() {
        let starts = StartHold { cause: HoldCause::Starts { limit: 2 }, before: 3 };
        assert_eq!(
            starts.to_string(),
            "2 language servers are starting on this machine, the limit; 3 starts come before it"
        );
        let memory = StartHold { cause: HoldCause::Memory { budget: 64 << 20 }, before: 0 };
        assert!(
            memory.to_string().ends_with("budget of 64 MiB (servers.machine-memory-budget-mb)"),
            "{memory}"
        );
    }
}
