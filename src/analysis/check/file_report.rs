//! The diagnostics of one file, and the verdict on them.

use std::borrow::Cow;

use crate::analysis::answer::{DiagnosticItem, ServerState, ServerStatus, Verdict};
use crate::workspace::WorkspacePath;

/// One file's findings.
#[derive(Debug)]
pub(crate) struct FileReport {
    /// The file.
    pub path: WorkspacePath,
    /// The findings, sorted by position.
    pub items: Vec<DiagnosticItem>,
    /// The verdict on the findings.
    pub verdict: Verdict,
    /// The reason that the verdict is not complete.
    pub detail: Option<String>,
    /// The status of each server for the file's language with diagnostics.
    pub statuses: Vec<ServerStatus>,
    /// Further notes.
    pub notes: Vec<String>,
    /// True for a file of a secondary language that has no server and was not named. It does not
    /// count for the verdict.
    pub secondary: bool,
    /// True if neither a server nor a parser has checked the file.
    pub unchecked: bool,
    /// The findings that come from background checks of servers.
    pub background: Vec<DiagnosticItem>,
    /// True if such a check has not ended.
    pub lacks_background: bool,
}

impl FileReport {
    /// The report on a file without findings, complete.
    pub(crate) fn new(path: WorkspacePath) -> Self {
        Self {
            path,
            items: Vec::new(),
            verdict: Verdict::Complete,
            detail: None,
            statuses: Vec::new(),
            notes: Vec::new(),
            secondary: false,
            unchecked: false,
            background: Vec::new(),
            lacks_background: false,
        }
    }

    /// The findings that can be compared with those of `other`, another check of the file. If the
    /// background check of one of the two has not ended, findings of such checks are left out.
    pub(crate) fn comparable(&self, other: Option<&Self>) -> Cow<'_, [DiagnosticItem]> {
        if !self.lacks_background && other.is_none_or(|other| !other.lacks_background) {
            return Cow::Borrowed(&self.items);
        }
        let items = self.items.iter().filter(|item| !self.background.contains(item));
        Cow::Owned(items.cloned().collect())
    }

    /// All findings, including the background copies, mutably.
    pub(crate) fn all_items_mut(&mut self) -> impl Iterator<Item = &mut DiagnosticItem> {
        self.items.iter_mut().chain(&mut self.background)
    }

    /// Returns true if the project's settings exclude the file from the checks of all its servers.
    pub(crate) fn is_skipped(&self) -> bool {
        self.statuses.iter().all(|status| status.state == ServerState::Unsupported)
    }

    /// The servers that had no time to report everything.
    pub(crate) fn late_servers(&self) -> impl Iterator<Item = &ServerStatus> {
        let late = [ServerState::Timeout, ServerState::Starting, ServerState::Indexing];
        let statuses = self.statuses.iter().filter(|_| self.verdict != Verdict::Complete);
        statuses.filter(move |status| late.contains(&status.state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::model::Severity;

    fn report(native: &[&str], background: &[&str], lacks_background: bool) -> FileReport {
        let item = |message: &&str| DiagnosticItem {
            path: "a.rs".to_owned(),
            range: Default::default(),
            severity: Severity::Error,
            code: None,
            source: None,
            server: "rust-analyzer".to_owned(),
            message: (*message).to_owned(),
            enclosing: None,
            related: Vec::new(),
        };
        FileReport {
            items: native.iter().chain(background).map(item).collect(),
            background: background.iter().map(item).collect(),
            lacks_background,
            ..FileReport::new(WorkspacePath::root().join("a.rs").unwrap())
        }
    }

    #[test]
    fn findings_of_a_background_check_are_compared_where_both_looks_have_it() {
        let whole = report(&["syntax"], &["moved"], false);
        let cut = report(&["syntax"], &[], true);
        let messages = |report: &FileReport, other: Option<&FileReport>| -> Vec<String> {
            report.comparable(other).iter().map(|item| item.message.clone()).collect()
        };
        assert_eq!(messages(&whole, Some(&whole)), ["syntax", "moved"]);
        assert_eq!(messages(&whole, None), ["syntax", "moved"]);
        assert_eq!(messages(&whole, Some(&cut)), ["syntax"], "it may have been there before");
        let begun = report(&["syntax"], &["moved"], true);
        assert_eq!(messages(&begun, Some(&whole)), ["syntax"]);
    }
}
