//! The note about occurrences in the text that no server listed.

use std::collections::BTreeSet;

use super::mergeable_answer::MergeableAnswer;
use crate::analysis::items::named_places::{abbreviate_list, address_of};
use crate::syntax::{FurtherOccurrence, FurtherOccurrences, NotebookUse};
use crate::text::words::file_count_text;
use crate::workspace::WorkspacePath;

/// The most files that a note names.
const MAX_NAMED_OCCURRENCE_FILES: usize = 8;

/// A note on occurrences beside those listed by `server` and others, with the unsearched places and
/// advice. `None` if there are none.
pub(crate) fn further_occurrences_note<T: MergeableAnswer>(
    name: &str,
    occurrences: &FurtherOccurrences,
    server: &str,
    unknown: &BTreeSet<String>,
    advice: Option<&str>,
) -> Option<String> {
    let found = occurrences.files.len() + occurrences.unread;
    let place = |file: &FurtherOccurrence| address_of(&file.path, file.position);
    let mut parts = Vec::new();
    if found > 0 {
        let places = abbreviate(occurrences.files.iter().map(place), found);
        parts.push(format!(
            "also occurs in {} that {server} {}: {places}",
            file_count_text(found),
            T::OMITTED
        ));
    }
    if !occurrences.passed.is_empty() {
        let places = abbreviate(occurrences.passed.iter().map(place), occurrences.passed.len());
        parts.push(format!("is passed on as a value at {places}"));
    }
    if !occurrences.notebooks.is_empty() {
        let place = |found: &NotebookUse| format!("{} (cell {})", found.path.display(), found.cell);
        let places = abbreviate(occurrences.notebooks.iter().map(place), occurrences.notebooks.len());
        parts.push(format!("occurs in code of notebooks that {server} does not read: {places}"));
    }
    if T::SAYS_QUIET && !occurrences.quiet.is_empty() {
        let paths = abbreviate(occurrences.quiet.iter().map(WorkspacePath::display), occurrences.quiet.len());
        parts.push(format!("occurs in comments or strings of {paths}"));
    }
    if !unknown.is_empty() {
        parts.push(format!("was not resolved for {}", abbreviate(unknown.iter().cloned(), unknown.len())));
    }
    if occurrences.cut {
        parts.push("was not searched for in all files before the time limit".to_owned());
    }
    let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
    (!parts.is_empty()).then(|| format!("`{name}` {}{advice}", parts.join("; it ")))
}

fn abbreviate(all: impl Iterator<Item = String>, count: usize) -> String {
    abbreviate_list(all, count, MAX_NAMED_OCCURRENCE_FILES)
}
