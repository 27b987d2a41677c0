//! A shard of a check, computed identically on every machine that shares the work.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use parking_lot::Mutex;
use thiserror::Error;

/// The most shards.
const MAX_SHARDS: usize = 10_000;

/// A shard such as `2/5`: the second of five.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// The 0-based index.
    index: usize,
    of: usize,
}

/// The error for an invalid shard.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("give I/N, the part I of N, counted from 1 (1/4 to 4/4), N at most {MAX_SHARDS}")]
pub(crate) struct NoShard;

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (index, of) = text.split_once('/').ok_or(NoShard)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| NoShard);
        let (index, of) = (number(index)?, number(of)?);
        if (1..=of).contains(&index) && of <= MAX_SHARDS {
            Ok(Self { index: index - 1, of })
        } else {
            Err(NoShard)
        }
    }
}

impl Shard {
    /// The `files` (relative path, bytes) of this shard. Files are assigned in descending order of
    /// cost, each to the shard with the lowest load. With equal costs, all machines compute the
    /// same disjoint shards.
    pub(crate) fn assigned_files(self, files: &[(String, u64)], costs: &CheckCosts) -> BTreeSet<String> {
        let rate = costs.median_rate(files);
        let mut dear: Vec<(u64, &str)> = files
            .iter()
            .map(|(path, bytes)| (costs.expected_cost(path, *bytes, rate), path.as_str()))
            .collect();
        dear.sort_by_key(|(cost, path)| (Reverse(*cost), *path));
        let mut loads = vec![0_u64; self.of];
        let mut own = BTreeSet::new();
        for (cost, path) in dear {
            let lightest = (0..self.of).min_by_key(|&part| loads[part]).unwrap_or(0);
            loads[lightest] = loads[lightest].saturating_add(cost.max(1));
            if lightest == self.index {
                own.insert(path.to_owned());
            }
        }
        own
    }
}

/// The costs of checking files, in milliseconds by relative path: known from earlier runs, and
/// measured now.
#[derive(Debug, Default)]
pub(crate) struct CheckCosts {
    known: BTreeMap<String, u64>,
    measured: Mutex<BTreeMap<String, u64>>,
}

impl CheckCosts {
    /// Reads costs that an earlier check has written.
    ///
    /// # Errors
    /// If the text is not a JSON object of numbers.
    pub(crate) fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self { known: serde_json::from_str(text)?, measured: Mutex::default() })
    }

    /// The costs for the next check. A file with a known and a measured cost gets their mean, so
    /// that one slow start has limited effect.
    pub(crate) fn to_json(&self) -> String {
        let mut all = self.known.clone();
        for (path, now) in self.measured.lock().iter() {
            all.entry(path.clone()).and_modify(|known| *known = known.midpoint(*now)).or_insert(*now);
        }
        let map: serde_json::Map<String, serde_json::Value> =
            all.into_iter().map(|(path, cost)| (path, cost.into())).collect();
        serde_json::Value::Object(map).to_string()
    }

    /// Records the cost of a file.
    pub(crate) fn record(&self, path: String, milliseconds: u64) {
        self.measured.lock().insert(path, milliseconds);
    }

    /// The expected cost of bytes, as milliseconds per number of bytes: the median of the known
    /// files, because a few small files may be very slow. One millisecond per byte if none is
    /// known.
    fn median_rate(&self, files: &[(String, u64)]) -> (u64, u64) {
        let known = |(path, bytes): &(String, u64)| Some((*self.known.get(path)?, (*bytes).max(1)));
        let mut rates: Vec<(u64, u64)> = files.iter().filter_map(known).collect();
        let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
        rates.sort_by(|one, other| product(one.0, other.1).cmp(&product(other.0, one.1)));
        rates.get(rates.len().saturating_sub(1) / 2).copied().unwrap_or((1, 1))
    }

    /// The expected cost of `path`; for an unknown file, it depends on the size.
    fn expected_cost(&self, path: &str, bytes: u64, (time, size): (u64, u64)) -> u64 {
        self.known.get(path).copied().unwrap_or_else(|| bytes.saturating_mul(time) / size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(of: usize) -> impl Iterator<Item = Shard> {
        (0..of).map(move |index| Shard { index, of })
    }

    #[test]
    fn shard_index_is_one_based_and_malformed_shard_refused() {
        assert_eq!("2/5".parse(), Ok(Shard { index: 1, of: 5 }));
        for wrong in ["", "1", "0/3", "4/3", "-1/2", "1/0", "a/b", "1/2/3", "1/20000"] {
            assert_eq!(wrong.parse::<Shard>(), Err(NoShard), "{wrong}");
        }
    }

    #[test]
    fn shards_partition_files_with_balanced_size() {
        let files: Vec<(String, u64)> =
            (0..200).map(|n| (format!("src/{n}.py"), (n * n) % 977 + 1)).collect();
        let costs = CheckCosts::default();
        let parts: Vec<BTreeSet<String>> =
            shards(7).map(|shard| shard.assigned_files(&files, &costs)).collect();
        assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), files.len());
        assert_eq!(parts.iter().flatten().collect::<BTreeSet<_>>().len(), files.len());
        let bytes: BTreeMap<&str, u64> = files.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
        let weights: Vec<u64> =
            parts.iter().map(|part| part.iter().map(|path| bytes[path.as_str()]).sum()).collect();
        let (least, most) = (weights.iter().min().unwrap(), weights.iter().max().unwrap());
        assert!(most - least <= 977, "{weights:?}");
    }

    #[test]
    fn shard_weight_prefers_measured_cost_over_file_size() {
        let files = [("slow.py".to_owned(), 10), ("a.py".to_owned(), 1_000), ("b.py".to_owned(), 1_000)];
        let costs = CheckCosts::from_json(r#"{"slow.py": 5000, "a.py": 100}"#).unwrap();
        let parts: Vec<BTreeSet<String>> =
            shards(2).map(|shard| shard.assigned_files(&files, &costs)).collect();
        assert_eq!(parts[0], BTreeSet::from(["slow.py".to_owned()]), "{parts:?}");
        costs.record("a.py".to_owned(), 300);
        costs.record("c.py".to_owned(), 7);
        assert_eq!(costs.to_json(), r#"{"a.py":200,"c.py":7,"slow.py":5000}"#);
        assert!(CheckCosts::from_json("[1]").is_err());
    }
}
