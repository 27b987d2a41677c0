//! Retry advice for an answer that came before its server was ready, worded for the caller's entry
//! point.

use std::time::Duration;

/// The way in which a caller can wait longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetryAdvice {
    /// The caller calls tools, some of which take `timeout_ms`.
    #[default]
    Tool,
    /// The caller runs a command whose servers outlive it.
    Command,
    /// The caller runs a command that ends its servers.
    LoneCommand,
}

/// The suggested values of `--timeout`, in seconds.
const TIMEOUTS: [u64; 4] = [60, 120, 300, 600];

impl RetryAdvice {
    /// The advice after a wait of `waited`. If `takes_timeout`, the called tool has the argument
    /// `timeout_ms`.
    pub(crate) fn advice(self, waited: Duration, takes_timeout: bool) -> String {
        let longer = TIMEOUTS.into_iter().find(|longer| Duration::from_secs(*longer) > waited * 3 / 2);
        let option = longer.map(|longer| format!("wait longer with --timeout {longer}"));
        match self {
            Self::Tool if takes_timeout => {
                "the server continues: try again, or wait longer with `timeout_ms`".to_owned()
            }
            Self::Tool => "the server continues: try again in some seconds".to_owned(),
            Self::Command => match option {
                Some(option) => format!("the server continues: try again, or {option}"),
                None => "the server continues: try again".to_owned(),
            },
            Self::LoneCommand => {
                let ends = "without the daemon the server ends with this command, and the next one starts from nothing";
                match option {
                    Some(option) => format!("{ends}: use the daemon and try again, or {option}"),
                    None => format!("{ends}: use the daemon and try again"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_advice_fits_command_lone_command_or_tool_caller() {
        let seconds = Duration::from_secs;
        for (patience, waited, takes_timeout, expected) in [
            (RetryAdvice::Command, 10, false, "try again, or wait longer with --timeout 60"),
            (RetryAdvice::Command, 60, false, "try again, or wait longer with --timeout 120"),
            (RetryAdvice::Command, 500, false, "continues: try again"),
            (
                RetryAdvice::LoneCommand,
                10,
                false,
                "use the daemon and try again, or wait longer with --timeout 60",
            ),
            (RetryAdvice::Tool, 10, true, "try again, or wait longer with `timeout_ms`"),
            (RetryAdvice::Tool, 10, false, "try again in some seconds"),
        ] {
            let advice = patience.advice(seconds(waited), takes_timeout);
            assert!(advice.ends_with(expected), "{advice}");
        }
    }
}
