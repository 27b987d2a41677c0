//! Files that were inspected, and whether they are still the same.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::workspace::{FileStamp, MissingPaths};

/// Files and folders in the state in which they were inspected; some do not exist.
#[derive(Debug)]
pub(super) struct InspectedFiles {
    /// The stamps of those that exist.
    stamps: BTreeMap<PathBuf, FileStamp>,
    /// Those that do not exist.
    missing: MissingPaths,
    /// True if every later change is sure to show in the stamps.
    settled: bool,
}

impl InspectedFiles {
    /// Records the present state of `paths`.
    pub(super) fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut missing = Vec::new();
        let mut stamps = BTreeMap::new();
        for path in paths {
            match FileStamp::from_path(&path) {
                Some(stamp) => drop(stamps.insert(path, stamp)),
                None => missing.push(path),
            }
        }
        let now = SystemTime::now();
        let settled = stamps.values().all(|stamp| stamp.is_settled(now));
        Self { stamps, missing: MissingPaths::new(missing), settled }
    }

    /// Returns true if all are unchanged since. Takes microseconds.
    pub(super) fn are_unchanged(&mut self) -> bool {
        self.settled
            && self.stamps.iter().all(|(path, before)| FileStamp::from_path(path).as_ref() == Some(before))
            && self.missing.are_missing()
    }
}
