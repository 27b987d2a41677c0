//! What servers find in one file, and how far that can be relied on.

use std::borrow::Cow;

use super::answer::{DiagnosticItem, ServerState, ServerStatus, Verdict};
use crate::workspace::WorkspacePath;

/// One file's findings.
#[derive(Debug)]
pub(crate) struct FileReport {
    /// The file.
    pub path: WorkspacePath,
    /// Sorted by position.
    pub items: Vec<DiagnosticItem>,
    /// How far to rely on them.
    pub verdict: Verdict,
    /// Why not complete.
    pub detail: Option<String>,
    /// Each server that speaks the file's language and gives diagnostics.
    pub statuses: Vec<ServerStatus>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// True for a file of a secondary language that has no server and was not named. It does not
    /// count for the verdict.
    pub secondary: bool,
    /// Neither a server nor a parser has looked at it.
    pub unchecked: bool,
    /// Those of the findings that come from checks which servers run in the background.
    pub background: Vec<DiagnosticItem>,
    /// Such a check has not ended.
    pub lacks_background: bool,
}

impl FileReport {
    /// Its findings that can be compared with those of another look at the file: where the background check of one of the two has not
    /// ended, what such a check found in the other is neither new nor gone.
    pub(crate) fn comparable(&self, other: Option<&Self>) -> Cow<'_, [DiagnosticItem]> {
        if !self.lacks_background && other.is_none_or(|other| !other.lacks_background) {
            return Cow::Borrowed(&self.items);
        }
        let items = self.items.iter().filter(|item| !self.background.contains(item));
        Cow::Owned(items.cloned().collect())
    }

    /// Every copy of its findings.
    pub(crate) fn all_items_mut(&mut self) -> impl Iterator<Item = &mut DiagnosticItem> {
        self.items.iter_mut().chain(&mut self.background)
    }

    /// Whether a server had no time to say all.
    pub(crate) fn ran_out_of_time(&self) -> bool {
        let late = [ServerState::Timeout, ServerState::Starting, ServerState::Indexing];
        self.verdict != Verdict::Complete && self.statuses.iter().any(|status| late.contains(&status.state))
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
            path: WorkspacePath::root().join("a.rs").unwrap(),
            items: native.iter().chain(background).map(item).collect(),
            verdict: Verdict::Complete,
            detail: None,
            statuses: Vec::new(),
            notes: Vec::new(),
            secondary: false,
            unchecked: false,
            background: background.iter().map(item).collect(),
            lacks_background,
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
