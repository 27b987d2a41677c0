//! What an edit changed in the diagnostics: which are new, which are gone, which are as before.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::answer::{DiagnosticItem, Verdict};
use crate::lsp::model::Severity;
use crate::text::{LineMap, Range};

/// A finding that an edit brought or took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeltaItem {
    /// Relative to the workspace.
    pub path: String,
    /// Where: after the edit for one that it brought, before it for one that it took away.
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The server's key; "syntax" where no server was asked.
    pub server: String,
    /// What is wrong.
    pub message: String,
}

/// What an edit changed in the diagnostics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiagnosticsDelta {
    /// New ones, errors first.
    pub added: Vec<DeltaItem>,
    /// How many there were before and are gone.
    pub removed: usize,
    /// The first of those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<DeltaItem>,
    /// How many are as before, moved lines included.
    pub unchanged: usize,
    /// Errors in the files looked at, after the edit.
    pub errors: usize,
    /// `added` leaves some out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// `complete` where every server answered for every file, before and after; `no_data` is not "clean".
    pub verdict: Verdict,
    /// The files looked at.
    pub files: Vec<String>,
    /// Why not complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The most new findings that one answer names.
const MOST: usize = 20;
/// The most findings that are gone that one answer names.
const MOST_GONE: usize = 3;

/// One file before and after an edit.
pub struct Compared<'a> {
    /// What was found before.
    pub before: &'a [DiagnosticItem],
    /// What is found after.
    pub after: &'a [DiagnosticItem],
    /// Where the lines went.
    pub lines: &'a LineMap,
}

/// New findings, those that are gone, how many stayed.
pub fn compare(compared: &Compared<'_>) -> (Vec<DeltaItem>, Vec<DeltaItem>, usize) {
    // What is the same but for its place; of those, the ones whose line moved along belong together, then the rest.
    type Key<'a> = (&'a str, Option<&'a str>, Severity, &'a str);
    let mut left: BTreeMap<Key<'_>, Vec<(Option<u32>, &DiagnosticItem)>> = BTreeMap::new();
    for item in compared.before {
        let line = compared.lines.new_line(item.range.start.line);
        left.entry(key_of(item)).or_default().push((line, item));
    }
    let mut unchanged = 0;
    let mut unmatched = Vec::new();
    for item in compared.after {
        match left.get_mut(&key_of(item)) {
            Some(lines) => match lines.iter().position(|(line, _)| *line == Some(item.range.start.line)) {
                Some(index) => {
                    lines.swap_remove(index);
                    unchanged += 1;
                }
                None => unmatched.push(item),
            },
            None => unmatched.push(item),
        }
    }
    let mut added = Vec::new();
    for item in unmatched {
        // The line itself was edited, and the finding is still there: the edit did not bring it.
        let edited = left
            .get_mut(&key_of(item))
            .and_then(|lines| Some(lines.swap_remove(lines.iter().position(|(line, _)| line.is_none())?)));
        match edited {
            Some(_) => unchanged += 1,
            None => added.push(delta_item(item)),
        }
    }
    let gone = left.into_values().flatten().map(|(_, item)| delta_item(item)).collect();
    (added, gone, unchanged)
}

fn key_of(item: &DiagnosticItem) -> (&str, Option<&str>, Severity, &str) {
    (&item.server, item.code.as_deref(), item.severity, &item.message)
}

/// A finding as a delta has it.
pub fn delta_item(item: &DiagnosticItem) -> DeltaItem {
    DeltaItem {
        path: item.path.clone(),
        range: item.range,
        severity: item.severity,
        code: item.code.clone(),
        server: item.server.clone(),
        message: item.message.clone(),
    }
}

/// The first of those that are gone, errors first.
pub fn shorten_gone(gone: &mut Vec<DeltaItem>) {
    gone.sort_by(|a, b| (a.severity, &a.path, a.range).cmp(&(b.severity, &b.path, b.range)));
    gone.truncate(MOST_GONE);
}

/// Errors first, then by place; at most so many as one answer names. Whether some were left out.
pub fn shorten(added: &mut Vec<DeltaItem>) -> bool {
    added.sort_by(|a, b| (a.severity, &a.path, a.range).cmp(&(b.severity, &b.path, b.range)));
    let has_more = added.len() > MOST;
    added.truncate(MOST);
    has_more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Position;

    fn found(line: u32, message: &str) -> DiagnosticItem {
        DiagnosticItem {
            path: "a.py".into(),
            range: Range::empty(Position::new(line, 0)),
            severity: Severity::Error,
            code: None,
            source: None,
            server: "s".into(),
            message: message.into(),
            related: Vec::new(),
        }
    }

    fn delta(
        old: &str,
        new: &str,
        before: &[DiagnosticItem],
        after: &[DiagnosticItem],
    ) -> (Vec<u32>, usize, usize) {
        let lines = LineMap::between(old, new);
        let (added, gone, unchanged) = compare(&Compared { before, after, lines: &lines });
        (added.iter().map(|item| item.range.start.line).collect(), gone.len(), unchanged)
    }

    #[test]
    fn findings_that_moved_with_their_lines_are_not_new() {
        let (old, new) = ("a\nb\n", "x\ny\na\nb\n");
        let (before, after) = ([found(0, "m"), found(1, "m")], [found(2, "m"), found(3, "m")]);
        assert_eq!(delta(old, new, &before, &after), (vec![], 0, 2));
    }

    #[test]
    fn the_same_words_at_another_place_are_new() {
        let (old, new) = ("a\nb\n", "a\nb\nc\n");
        assert_eq!(delta(old, new, &[found(0, "m")], &[found(0, "m"), found(2, "m")]), (vec![2], 0, 1));
        assert_eq!(delta(old, new, &[found(0, "m")], &[found(2, "m")]), (vec![2], 1, 0));
    }

    #[test]
    fn a_finding_in_an_edited_line_that_is_still_there_is_not_new() {
        assert_eq!(delta("a = x\n", "b = x\n", &[found(0, "x?")], &[found(0, "x?")]), (vec![], 0, 1));
        assert_eq!(delta("a\n", "b\n", &[found(0, "x?")], &[found(0, "y?")]), (vec![0], 1, 0));
    }
}
