//! Answers of which several servers may know a part, and what they have in common.

use std::collections::{BTreeSet, HashSet};

use crate::lsp::edits::{Proposal, ProposalError, ProposedFile};
use crate::lsp::model::{FileRef, HierarchyNode, Location};
use crate::text::Range;
use crate::workspace::WorkspacePath;

/// Lines of files, counted from 0.
pub(crate) type ListedLines = BTreeSet<(WorkspacePath, u32)>;

/// An answer of which several servers may know a part.
pub(crate) trait MergeableAnswer: Sized + Send {
    /// What a server did not do with a file that is missing here.
    const OMITTED: &str = "did not list";
    /// Whether occurrences in comments and strings are worth a word.
    const SAYS_QUIET: bool = false;
    /// Whether a method of another type, which may have to have this name, is missing where it is not in the answer.
    const WANTS_DEFINITIONS: bool = false;
    /// The files that it names.
    fn files(&self) -> BTreeSet<WorkspacePath>;
    /// The lines of the uses that it names.
    fn lines(&self) -> ListedLines;
    /// Whether it is an answer, and no refusal.
    fn is_answer(&self) -> bool {
        true
    }
    /// Whether it names nothing beside what was asked about.
    fn has_no_other_places(&self) -> bool;
    /// Whether `other`, which was asked for at another place, is about the same symbol: both name one place.
    fn is_same_symbol(&self, other: &Self) -> bool;
    /// Adds what another server knows; the same place twice is one.
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
        self.as_ref().is_ok_and(|proposal| proposal.files.len() <= 1)
    }

    fn is_same_symbol(&self, other: &Self) -> bool {
        let (Ok(proposal), Ok(other)) = (self, other) else { return false };
        let same = |file: &ProposedFile| {
            other.files.iter().any(|others| others.path == file.path && others.after == file.after)
        };
        proposal.files.iter().any(same)
    }

    fn join(&mut self, other: Self) {
        let (Ok(proposal), Ok(other)) = (self, other) else { return };
        for file in other.files {
            if proposal.files.iter().all(|known| known.path != file.path) {
                proposal.files.push(file);
            }
        }
    }
}

/// The lines that an edit changes. Where it adds or takes lines, those after them count as changed.
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
