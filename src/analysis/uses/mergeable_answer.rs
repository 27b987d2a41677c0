//! Answers to which several servers may contribute, and their common operations.

use std::collections::{BTreeSet, HashSet};

use crate::lsp::documents::edits::{Proposal, ProposalError, ProposedFile};
use crate::lsp::model::{FileRef, HierarchyNode, Location};
use crate::text::Range;
use crate::workspace::WorkspacePath;

/// Lines of files, counted from 0.
pub(crate) type ListedLines = BTreeSet<(WorkspacePath, u32)>;

/// An answer to which several servers may contribute.
pub(crate) trait MergeableAnswer: Sized + Send {
    /// The verb phrase for files with the name that no server included in its answer.
    const OMITTED: &str = "did not list";
    /// True if occurrences in comments and strings are worth a note.
    const SAYS_QUIET: bool = false;
    /// True if an answer without a method of the same name in another type is incomplete, because
    /// the method may belong to it.
    const WANTS_DEFINITIONS: bool = false;
    /// The files in the answer.
    fn files(&self) -> BTreeSet<WorkspacePath>;
    /// The lines of the uses in the answer.
    fn lines(&self) -> ListedLines;
    /// Returns true if this is an answer and not a refusal.
    fn is_answer(&self) -> bool {
        true
    }
    /// Returns true if the answer contains only the requested place.
    fn has_no_other_places(&self) -> bool;
    /// Returns true if `other`, the answer for another place, is about the same symbol: both
    /// contain a common place.
    fn is_same_symbol(&self, other: &Self) -> bool;
    /// Adds another server's answer without duplicates.
    fn join(&mut self, other: Self);
}

impl MergeableAnswer for Vec<Location> {
    fn files(&self) -> BTreeSet<WorkspacePath> {
        self.iter().filter_map(|location| inside_path(&location.file)).collect()
    }

    fn lines(&self) -> ListedLines {
        let line = |location: &Location| Some((inside_path(&location.file)?, location.range.start.line));
        self.iter().filter_map(line).collect()
    }

    fn has_no_other_places(&self) -> bool {
        self.len() <= 1
    }

    fn is_same_symbol(&self, other: &Self) -> bool {
        let known: HashSet<_> = self.iter().map(identity).collect();
        other.iter().any(|location| known.contains(&identity(location)))
    }

    fn join(&mut self, other: Self) {
        let mut known: HashSet<_> =
            self.iter().map(|location| (location.file.clone(), location.range)).collect();
        self.extend(
            other.into_iter().filter(|location| known.insert((location.file.clone(), location.range))),
        );
    }
}

impl MergeableAnswer for Vec<HierarchyNode> {
    fn files(&self) -> BTreeSet<WorkspacePath> {
        self.iter()
            .flat_map(|node| inside_path(&node.location.file).into_iter().chain(node.children.files()))
            .collect()
    }

    fn lines(&self) -> ListedLines {
        // The calls by a caller are in its own file.
        let own = |node: &HierarchyNode| -> ListedLines {
            let starts = node.sites.iter().chain([&node.location.range]).map(|range| range.start.line);
            let path = inside_path(&node.location.file);
            starts.filter_map(|line| Some((path.clone()?, line))).collect()
        };
        self.iter().flat_map(|node| own(node).into_iter().chain(node.children.lines())).collect()
    }

    fn has_no_other_places(&self) -> bool {
        self.iter().all(|node| node.children.is_empty())
    }

    fn is_same_symbol(&self, other: &Self) -> bool {
        self.iter().any(|known| other.iter().any(|node| is_same(&known.location, &node.location)))
    }

    fn join(&mut self, other: Self) {
        for node in other {
            match self.iter_mut().find(|known| is_same(&known.location, &node.location)) {
                Some(known) => known.children.join(node.children),
                None => self.push(node),
            }
        }
    }
}

impl MergeableAnswer for Result<Proposal, ProposalError> {
    const OMITTED: &str = "does not change";
    const SAYS_QUIET: bool = true;
    const WANTS_DEFINITIONS: bool = true;

    fn files(&self) -> BTreeSet<WorkspacePath> {
        let files = self.iter().flat_map(|proposal| &proposal.files);
        files.flat_map(|file| file.renamed_from.iter().chain([&file.path])).cloned().collect()
    }

    fn lines(&self) -> ListedLines {
        self.iter().flat_map(|proposal| &proposal.files).flat_map(changed_lines).collect()
    }

    fn is_answer(&self) -> bool {
        self.is_ok()
    }

    fn has_no_other_places(&self) -> bool {
        self.as_ref().is_ok_and(|proposal| proposal.files.len() <= 1 && proposal.folders.is_empty())
    }

    fn is_same_symbol(&self, other: &Self) -> bool {
        let (Ok(proposal), Ok(other)) = (self, other) else { return false };
        let same = |file: &ProposedFile| {
            other.files.iter().any(|others| others.path == file.path && others.after == file.after)
        };
        proposal.files.iter().any(same)
    }

    fn join(&mut self, other: Self) {
        if let (Ok(proposal), Ok(other)) = (self, other) {
            proposal.extend_with_missing(other);
        }
    }
}

/// The lines that an edit changes. If it adds or removes lines, all later lines count as changed.
fn changed_lines(file: &ProposedFile) -> ListedLines {
    let texts = file
        .before
        .as_deref()
        .unwrap_or_default()
        .lines()
        .zip(file.after.as_deref().unwrap_or_default().lines());
    let changed = (0..).zip(texts).filter(|(_, (before, after))| before != after);
    changed.map(|(line, _)| (file.path.clone(), line)).collect()
}

fn identity(location: &Location) -> (&FileRef, Range) {
    (&location.file, location.range)
}

fn is_same(a: &Location, b: &Location) -> bool {
    a.file == b.file && a.range == b.range
}

fn inside_path(file: &FileRef) -> Option<WorkspacePath> {
    match file {
        FileRef::Inside(path) => Some(path.clone()),
        FileRef::Outside(_) | FileRef::Virtual(_) => None,
    }
}
