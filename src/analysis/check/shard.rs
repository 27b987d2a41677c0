//! A shard of a check, computed identically on every machine that shares the work.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::str::FromStr;

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
    /// size, each to the shard with the fewest bytes. All machines compute the same disjoint
    /// shards.
    pub(crate) fn assigned_files(self, files: &[(String, u64)]) -> BTreeSet<String> {
        let mut by_size: Vec<(u64, &str)> =
            files.iter().map(|(path, bytes)| (*bytes, path.as_str())).collect();
        by_size.sort_by_key(|(bytes, path)| (Reverse(*bytes), *path));
        let mut loads = vec![0_u64; self.of];
        let mut own = BTreeSet::new();
        for (bytes, path) in by_size {
            let lightest = (0..self.of).min_by_key(|&part| loads[part]).unwrap_or(0);
            loads[lightest] = loads[lightest].saturating_add(bytes.max(1));
            if lightest == self.index {
                own.insert(path.to_owned());
            }
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
        let parts: Vec<BTreeSet<String>> = shards(7).map(|shard| shard.assigned_files(&files)).collect();
        assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), files.len());
        assert_eq!(parts.iter().flatten().collect::<BTreeSet<_>>().len(), files.len());
        let bytes: BTreeMap<&str, u64> = files.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
        let weights: Vec<u64> =
            parts.iter().map(|part| part.iter().map(|path| bytes[path.as_str()]).sum()).collect();
        let (least, most) = (weights.iter().min().unwrap(), weights.iter().max().unwrap());
        assert!(most - least <= 977, "{weights:?}");
    }
}
