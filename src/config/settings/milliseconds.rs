//! Durations that settings give in milliseconds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A positive whole number of milliseconds, at most `MAX`; the check of the keys ensures the range.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Milliseconds<const MAX: u64>(#[schemars(range(min = 1, max = MAX))] u64);

impl<const MAX: u64> Milliseconds<MAX> {
    /// Reads such a number as a duration.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        <Self as Deserialize>::deserialize(deserializer).map(|Self(number)| Duration::from_millis(number))
    }
}
