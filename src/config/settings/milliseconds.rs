//! Durations that settings give in milliseconds.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// Reads a whole number of milliseconds.
pub(super) fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}
