//! Latencies of a server: median and 99th percentile.

use std::time::Duration;

/// The number of last answers that are recorded.
const MAX_LATENCY_SAMPLES: usize = 256;

/// The times of the last answers.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    times: Vec<Duration>,
    next: usize,
}

impl Latencies {
    /// Records one more answer's time.
    pub(crate) fn add(&mut self, time: Duration) {
        if self.times.len() < MAX_LATENCY_SAMPLES {
            self.times.push(time);
        } else {
            self.times[self.next] = time;
        }
        self.next = (self.next + 1) % MAX_LATENCY_SAMPLES;
    }

    /// Median and 99th percentile; `None` before the first answer.
    pub(crate) fn median_and_p99(&self) -> Option<(Duration, Duration)> {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        let at = |part: usize| {
            sorted.get((sorted.len() * part / 100).min(sorted.len().saturating_sub(1))).copied()
        };
        Some((at(50)?, at(99)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_over_capacity_forget_the_oldest() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.median_and_p99(), None);
        for millis in 0..1000 {
            latencies.add(Duration::from_millis(millis));
        }
        let (median, p99) = latencies.median_and_p99().unwrap();
        assert_eq!((median.as_millis(), p99.as_millis()), (872, 997));
    }
}
