//! Statistics of time samples.

use std::time::Duration;

/// A series of durations.
#[derive(Debug, Default, Clone)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value below which the share `part` (0 to 1) of the samples lies; zero if there are no
    /// samples.
    pub fn quantile(&self, part: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * part).round() as usize).copied().unwrap_or_default()
    }

    pub fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

/// A duration in microseconds.
pub fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A duration in milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
