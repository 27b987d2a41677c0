//! The difference between diagnostics before and after an edit: new, gone, unchanged.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delta_item::DeltaItem;
use super::remedy;
use crate::analysis::answer::{DiagnosticItem, ServerState, Verdict};
use crate::analysis::items::short_range;
use crate::analysis::items::short_range::ShortRange;
use crate::lsp::model::Severity;
use crate::text::{LineMap, Position, words_in};

/// The diagnostics before and after an edit, compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DiagnosticsDelta {
    /// New errors and warnings, errors first.
    pub added: Vec<DeltaItem>,
    /// Further new findings, shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<MoreItems>,
    /// True if `added` and `more` omit some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// The number of new information and hint diagnostics and marks of unused code, which are not
    /// listed.
    #[serde(default, skip_serializing_if = "crate::analysis::answer::is_zero")]
    pub hints: usize,
    /// The number of findings that are gone.
    pub removed: usize,
    /// The first findings that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<DeltaItem>,
    /// The number of unchanged findings, moved lines included.
    pub unchanged: usize,
    /// The number of errors in the checked files after the edit.
    pub errors: usize,
    /// `complete` if every server answered for every affected file; `no_data` is not "clean".
    pub verdict: Verdict,
    /// The state of the server that did not answer in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ServerState>,
    /// The checked files.
    pub files: Vec<String>,
    /// The reasons, if not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// New findings of one kind in one file, given by position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MoreItems {
    /// Relative to the workspace.
    pub path: String,
    /// The rule's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Their start positions.
    #[serde(with = "short_range::positions")]
    #[schemars(with = "Vec<ShortRange>")]
    pub at: Vec<Position>,
}

/// The lowest severity that is listed. Less severe findings, such as unused parameters, are only
/// counted.
pub(crate) const FLOOR: Severity = Severity::Warning;
/// The maximum number of new findings that one answer shows in full.
const MAX_DETAILED_NEW_FINDINGS: usize = 20;
/// The maximum number of removed findings that one answer names.
const MAX_LISTED_GONE_FINDINGS: usize = 3;
/// The maximum number of further errors that one answer summarizes.
const MAX_SUMMARIZED_NEW_ERRORS: usize = 200;

/// One file before and after an edit.
pub(crate) struct FileComparison<'a> {
    /// The findings before the edit.
    pub before: &'a [DiagnosticItem],
    /// The findings after the edit.
    pub after: &'a [DiagnosticItem],
    /// The mapping of lines.
    pub lines: &'a LineMap,
}

/// The identity of a finding without its position: server, rule, severity, message.
type FindingKey<'a> = (&'a str, Option<&'a str>, Severity, &'a str);

/// Findings before an edit without a match after it, and the lines that they would have now.
type UnmatchedFindings<'a> = BTreeMap<FindingKey<'a>, Vec<(Option<u32>, &'a DiagnosticItem)>>;

/// New findings, removed findings, and the number of unchanged ones.
pub(crate) fn compare<'a>(
    compared: &FileComparison<'a>,
) -> (Vec<&'a DiagnosticItem>, Vec<&'a DiagnosticItem>, usize) {
    // Among findings that differ only in position, those whose line moved along are matched first,
    // then the rest.
    let mut left: UnmatchedFindings<'_> = BTreeMap::new();
    for item in compared.before {
        let line = compared.lines.new_line(item.range.start.line);
        left.entry(key_of(item)).or_default().push((line, item));
    }
    let mut unchanged = 0;
    let mut unmatched = Vec::new();
    let mut places: BTreeMap<_, Vec<Vec<&str>>> = BTreeMap::new();
    for item in compared.after {
        if item.code.is_some() {
            let (server, rule, severity, message) = key_of(item);
            let here = places.entry((item.range, server, rule, severity)).or_default();
            let words = sorted_words(message);
            if here.contains(&words) {
                continue;
            }
            here.push(words);
        }
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
        // The line itself was edited and still has the finding, so the edit did not introduce it.
        let edited = left
            .get_mut(&key_of(item))
            .and_then(|lines| Some(lines.swap_remove(lines.iter().position(|(line, _)| line.is_none())?)));
        match edited.map(drop).or_else(|| match_reworded(&mut left, item)) {
            Some(()) => unchanged += 1,
            None => added.push(item),
        }
    }
    let gone = left.into_values().flatten().map(|(_, item)| item).collect();
    (added, gone, unchanged)
}

/// The words of a message, sorted. A checker that evaluates an expression several times may report a
/// finding again with the members of a type in another order.
fn sorted_words(message: &str) -> Vec<&str> {
    let mut words: Vec<&str> = words_in(message).collect();
    words.sort_unstable();
    words
}

/// Matches a finding of the same rule on the same line with another message, as after a rename of a
/// type. The edit did not introduce it.
fn match_reworded(left: &mut UnmatchedFindings<'_>, item: &DiagnosticItem) -> Option<()> {
    let (server, code, severity, _) = key_of(item);
    let rule = code?;
    let mut same = left.iter_mut().filter(|(key, _)| (key.0, key.1, key.2) == (server, Some(rule), severity));
    same.find_map(|(_, lines)| {
        let index = lines.iter().position(|(line, _)| *line == Some(item.range.start.line))?;
        lines.swap_remove(index);
        Some(())
    })
}

fn key_of(item: &DiagnosticItem) -> (&str, Option<&str>, Severity, &str) {
    (&item.server, item.code.as_deref(), item.severity, &item.message)
}

/// A finding in the form of a delta.
pub(crate) fn delta_item(item: &DiagnosticItem) -> DeltaItem {
    DeltaItem {
        path: item.path.clone(),
        range: item.range,
        severity: item.severity,
        code: item.code.clone(),
        server: item.server.clone(),
        message: item.message.clone(),
        help: remedy::related_places(item),
    }
}

/// Keeps the first of the removed findings, errors first.
pub(crate) fn shorten_gone(gone: &mut Vec<DeltaItem>) {
    gone.sort_by(|a, b| (a.severity, &a.path, a.range).cmp(&(b.severity, &b.path, b.range)));
    gone.truncate(MAX_LISTED_GONE_FINDINGS);
    gone.iter_mut().for_each(|item| item.help.clear());
}

/// Sorts findings by severity and place, and keeps as many as one answer shows in full. Returns a
/// summary of further errors, and true if some findings were left out altogether.
pub(crate) fn shorten(added: &mut Vec<DeltaItem>) -> (Vec<MoreItems>, bool) {
    added.sort_by(|a, b| (a.severity, &a.path, a.range).cmp(&(b.severity, &b.path, b.range)));
    let beyond = added.split_off(added.len().min(MAX_DETAILED_NEW_FINDINGS));
    let mut more: Vec<MoreItems> = Vec::new();
    let errors = beyond.iter().filter(|item| item.severity == Severity::Error);
    for item in errors.take(MAX_SUMMARIZED_NEW_ERRORS) {
        let start = item.range.start;
        match more.iter_mut().find(|known| known.path == item.path && known.code == item.code) {
            Some(known) => known.at.push(start),
            None => {
                more.push(MoreItems { path: item.path.clone(), code: item.code.clone(), at: vec![start] })
            }
        }
    }
    let listed: usize = more.iter().map(|known| known.at.len()).sum();
    (more, listed < beyond.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Position, Range};

    fn found(line: u32, message: &str) -> DiagnosticItem {
        DiagnosticItem {
            path: "a.py".into(),
            range: Range::empty(Position::new(line, 0)),
            severity: Severity::Error,
            code: None,
            source: None,
            server: "s".into(),
            message: message.into(),
            enclosing: None,
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
        let (added, gone, unchanged) = compare(&FileComparison { before, after, lines: &lines });
        (added.iter().map(|item| item.range.start.line).collect(), gone.len(), unchanged)
    }

    #[test]
    fn diagnostics_moved_with_their_lines_are_not_new() {
        let (old, new) = ("a\nb\n", "x\ny\na\nb\n");
        let (before, after) = ([found(0, "m"), found(1, "m")], [found(2, "m"), found(3, "m")]);
        assert_eq!(delta(old, new, &before, &after), (vec![], 0, 2));
    }

    #[test]
    fn diagnostic_with_same_message_at_another_line_is_new() {
        let (old, new) = ("a\nb\n", "a\nb\nc\n");
        assert_eq!(delta(old, new, &[found(0, "m")], &[found(0, "m"), found(2, "m")]), (vec![2], 0, 1));
        assert_eq!(delta(old, new, &[found(0, "m")], &[found(2, "m")]), (vec![2], 1, 0));
    }

    #[test]
    fn diagnostic_with_same_code_and_line_is_not_new() {
        let with_rule =
            |line, message: &str| DiagnosticItem { code: Some("rule".into()), ..found(line, message) };
        let (before, after) = ([with_rule(0, "Key")], [with_rule(1, "ZzKey"), with_rule(0, "Key")]);
        assert_eq!(delta("a\n", "x\na\n", &before, &after), (vec![0], 0, 1));
        assert_eq!(delta("a\n", "x\na\n", &[found(0, "Key")], &[found(1, "ZzKey")]), (vec![1], 1, 0));
    }

    #[test]
    fn diagnostic_repeated_with_its_words_in_another_order_counts_once() {
        let of_rule = |message: &str| DiagnosticItem { code: Some("rule".into()), ..found(0, message) };
        let [one, again, other] = ["`A | B`?", "`B | A`?", "`A | C`?"].map(of_rule);
        let after = [one.clone(), again.clone(), other.clone()];
        assert_eq!(delta("a\n", "a\n", &[other], &after), (vec![0], 0, 1));
        assert_eq!(delta("a\n", "a\n", &[again], &after[..2]), (vec![], 0, 1));
    }

    #[test]
    fn unchanged_diagnostic_in_edited_line_is_not_new() {
        assert_eq!(delta("a = x\n", "b = x\n", &[found(0, "x?")], &[found(0, "x?")]), (vec![], 0, 1));
        assert_eq!(delta("a\n", "b\n", &[found(0, "x?")], &[found(0, "y?")]), (vec![0], 1, 0));
    }
}
