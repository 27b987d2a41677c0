//! An entry of the answer store: the reports of one check on the files that the same servers check.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::analysis::answer::{DiagnosticItem, ServerState, ServerStatus, Verdict};
use crate::analysis::check::file_report::FileReport;
use crate::workspace::WorkspacePath;

/// The format version of entries.
pub(in crate::analysis::check) const ENTRY_FORM: u32 = 3;
/// The largest entry, in bytes.
pub(super) const MAX_ENTRY_BYTES: u64 = 16 << 20;
/// The age from which on an entry counts as absent, in seconds.
const MAX_ENTRY_AGE: u64 = 365 * 86_400;

/// The reports of a check as they are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis::check) struct ReportEntry {
    form: u32,
    /// Seconds since 1970.
    pub(in crate::analysis::check) written: u64,
    /// The name of the trusted writer of the shared store from whom it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::analysis::check) writer: Option<String>,
    /// By path.
    files: BTreeMap<String, StoredReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredReport {
    items: Vec<DiagnosticItem>,
    statuses: Vec<ServerStatus>,
}

impl ReportEntry {
    /// The entry of `reports`; `None` if one is not complete.
    pub(in crate::analysis::check) fn new<'a>(reports: impl Iterator<Item = &'a FileReport>) -> Option<Self> {
        let stored = |report: &FileReport| {
            Some((report.path.as_path().to_str()?.to_owned(), StoredReport::new(report)?))
        };
        let files: Option<BTreeMap<_, _>> = reports.map(stored).collect();
        Some(Self { form: ENTRY_FORM, written: now_seconds(), writer: None, files: files? })
    }

    /// Parses an entry; `None` if it is of another form, too old, or names a file by another path
    /// than its own.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let entry: Self = serde_json::from_str(text).ok()?;
        let is_usable = entry.form == ENTRY_FORM && entry.age()? < MAX_ENTRY_AGE;
        let is_own =
            |(path, report): (&String, &StoredReport)| report.items.iter().all(|item| item.path == *path);
        (is_usable && entry.files.iter().all(is_own)).then_some(entry)
    }

    /// The entry as JSON, if it is not too large.
    pub(in crate::analysis::check) fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok().filter(|text| text.len() as u64 <= MAX_ENTRY_BYTES)
    }

    /// The age in seconds; `None` if it was written in the future.
    pub(in crate::analysis::check) fn age(&self) -> Option<u64> {
        now_seconds().checked_sub(self.written)
    }

    /// The number of files.
    pub(in crate::analysis::check) fn len(&self) -> usize {
        self.files.len()
    }

    /// The report on a file.
    pub(in crate::analysis::check) fn report(&self, path: &WorkspacePath) -> Option<FileReport> {
        let stored = self.files.get(path.as_path().to_str()?)?.clone();
        Some(FileReport { items: stored.items, statuses: stored.statuses, ..FileReport::new(path.clone()) })
    }

    /// Returns true if there is a report on the file.
    pub(in crate::analysis::check) fn has(&self, path: &WorkspacePath) -> bool {
        path.as_path().to_str().is_some_and(|path| self.files.contains_key(path))
    }
}

impl StoredReport {
    /// A report in its stored form, if it is complete.
    fn new(report: &FileReport) -> Option<Self> {
        let is_ready = |status: &ServerStatus| status.state == ServerState::Ready && status.detail.is_none();
        let is_whole = report.verdict == Verdict::Complete
            && report.statuses.iter().all(is_ready)
            && report.background.is_empty()
            // A note may be about a server's run.
            && report.notes.is_empty()
            && !(report.secondary || report.unchecked || report.lacks_background);
        let statuses = report.statuses.iter().map(|status| ServerStatus { waited_ms: 0, ..status.clone() });
        is_whole.then(|| Self { items: report.items.clone(), statuses: statuses.collect() })
    }
}

/// The time now, in seconds since 1970.
fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
