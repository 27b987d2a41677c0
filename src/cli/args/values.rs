//! The values of arguments that several commands take: numbers, levels and durations.

use std::time::Duration;

/// The limit on the depth of a tree.
const MAX_CLI_TREE_DEPTH: usize = 20;
/// The maximum time limit: a day.
const MAX_CLI_TIMEOUT_SECONDS: f64 = 86_400.0;

/// Parses a number greater than 0.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("it must be a whole number, at least 1".to_owned()),
    }
}

/// Parses a number of tree levels.
pub(super) fn levels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=MAX_CLI_TREE_DEPTH) => Ok(number),
        _ => Err(format!("it must be a whole number from 1 to {MAX_CLI_TREE_DEPTH}")),
    }
}

/// Parses a duration: seconds, as `10`, `1.5` or `2s`, or milliseconds, as `500ms`.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 0.001),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.parse::<f64>().map_err(|_| "give seconds (10, 1.5) or milliseconds (500ms)")? * unit;
    if seconds > 0.0 && seconds <= MAX_CLI_TIMEOUT_SECONDS {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("it must be more than 0 and at most a day (86400)".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_without_unit_is_seconds_and_invalid_one_refused() {
        let cases = [("10", 10_000), ("1.5", 1_500), ("500ms", 500), ("2s", 2_000)];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "0", "-1", "nan", "inf", "1e9", "ten", "5m"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
