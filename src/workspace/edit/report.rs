//! The changes of a checked plan, file by file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ContentHash;
use super::change::{ChangedEntryKind, FileChange, FileOperation};
use super::check::{CheckedPlan, Removal};
use super::disk::inspect::SeenContent;
use super::history::record::{
    FileChangeSummary, LeafKind, RemovedItem, StructureStep, SummaryOperation, final_place, join_relative,
    rebase_path,
};
use super::overlay::{FileNode, PlanNode};
use super::text::text_of;
use crate::workspace::WorkspacePath;

/// The files that `checked` changes, by path, and the folders that it creates and removes.
#[derive(Debug)]
pub(super) struct PlanReport {
    pub(crate) files: Vec<FileChange>,
    pub(crate) created_dirs: Vec<WorkspacePath>,
    pub(crate) removed_dirs: Vec<WorkspacePath>,
}

pub(super) fn report(checked: &CheckedPlan) -> PlanReport {
    let mut report = PlanReportBuilder::default();
    for removal in &checked.removals {
        report.add_removal(removal);
    }
    for (place, node) in checked.overlay.nodes() {
        report.add_node(place, node);
    }
    let created_dirs = checked.structure.iter().enumerate().filter_map(|(index, step)| match step {
        StructureStep::MakeDir { path, .. } => Some(path_of(final_place(&checked.structure, index, path))),
        _ => None,
    });
    let created_dirs = created_dirs.collect();
    PlanReport {
        files: report.files.into_values().collect(),
        created_dirs,
        removed_dirs: report.removed_dirs,
    }
}

/// Shortens the changes for the history.
pub(super) fn summarize_changes(files: &[FileChange]) -> Vec<FileChangeSummary> {
    let one = |change: &FileChange| FileChangeSummary {
        path: change.path.as_path().to_owned(),
        operation: match &change.operation {
            FileOperation::Created => SummaryOperation::Created,
            FileOperation::Modified => SummaryOperation::Modified,
            FileOperation::Deleted => SummaryOperation::Deleted,
            FileOperation::Renamed { from } => SummaryOperation::RenamedFrom(from.as_path().to_owned()),
        },
    };
    files.iter().map(one).collect()
}

impl FileChangeSummary {
    /// Converts the summary for the history.
    pub(super) fn into_operation(self) -> (WorkspacePath, FileOperation) {
        let operation = match self.operation {
            SummaryOperation::Created => FileOperation::Created,
            SummaryOperation::Modified => FileOperation::Modified,
            SummaryOperation::Deleted => FileOperation::Deleted,
            SummaryOperation::RenamedFrom(from) => FileOperation::Renamed { from: path_of(from) },
        };
        (path_of(self.path), operation)
    }
}

pub(super) fn path_of(place: PathBuf) -> WorkspacePath {
    WorkspacePath::new(place)
}

#[derive(Default)]
struct PlanReportBuilder {
    files: BTreeMap<PathBuf, FileChange>,
    removed_dirs: Vec<WorkspacePath>,
}

impl PlanReportBuilder {
    fn add_removal(&mut self, removal: &Removal) {
        match &removal.what {
            RemovedItem::File { .. } => {
                let before = Some(removal.content.as_ref());
                self.add_deleted(removal.place.clone(), ChangedEntryKind::File, before.flatten());
            }
            RemovedItem::Emptied => self.removed_dirs.push(path_of(removal.place.clone())),
            RemovedItem::Link(_) => self.add_deleted(removal.place.clone(), ChangedEntryKind::Link, None),
            RemovedItem::Tree(leaves) => {
                let mut contents = removal.contents.iter();
                for leaf in leaves {
                    let place = join_relative(&removal.place, &leaf.path);
                    match &leaf.what {
                        LeafKind::Directory { .. } => self.removed_dirs.push(path_of(place)),
                        LeafKind::Link(_) => self.add_deleted(place, ChangedEntryKind::Link, None),
                        LeafKind::File { image, .. } => {
                            let content = contents.next().map(|bytes| seen_content(bytes, image.hash));
                            self.add_deleted(place, ChangedEntryKind::File, content.as_ref());
                        }
                    }
                }
            }
        }
    }

    fn add_deleted(&mut self, place: PathBuf, kind: ChangedEntryKind, before: Option<&SeenContent>) {
        let change = file_change(path_of(place.clone()), FileOperation::Deleted, kind, before, None);
        self.files.insert(place, change);
    }

    fn add_node(&mut self, place: &Path, node: &PlanNode) {
        let (from, kind) = match node {
            PlanNode::File(file) => return self.add_file(place, file),
            PlanNode::Directory(folder) => {
                (folder.base.as_ref().map(|base| &base.place), ChangedEntryKind::Directory)
            }
            PlanNode::Link(link) => (link.base.as_ref().map(|base| &base.place), ChangedEntryKind::Link),
            PlanNode::Absent | PlanNode::Special(_) => return,
        };
        let operation = match (from, kind) {
            (Some(from), _) if from == place => return,
            // A file that only lies in a renamed folder is covered by the folder's entry.
            (Some(from), _) if self.lies_in_renamed(place, from) => return,
            (Some(from), _) => FileOperation::Renamed { from: path_of(from.clone()) },
            (None, ChangedEntryKind::Link) => FileOperation::Created,
            (None, _) => return,
        };
        self.files
            .insert(place.to_owned(), file_change(path_of(place.to_owned()), operation, kind, None, None));
    }

    fn add_file(&mut self, place: &Path, file: &FileNode) {
        let after = file.content.as_ref();
        let before = file.base.as_ref().and_then(|base| base.object.content.as_ref());
        let from = file.base.as_ref().map(|base| base.place.as_path());
        let moved = from.filter(|from| *from != place && !self.lies_in_renamed(place, from));
        let operation = match (moved, file.is_changed()) {
            (Some(from), _) => FileOperation::Renamed { from: path_of(from.to_owned()) },
            (None, false) => return,
            (None, true) if file.base.is_some() => FileOperation::Modified,
            (None, true) => match self.files.remove(place) {
                // Deleted and made again: another content in the same place.
                Some(old) if old.operation == FileOperation::Deleted => {
                    let after = file_change(
                        old.path.clone(),
                        FileOperation::Modified,
                        ChangedEntryKind::File,
                        None,
                        after,
                    );
                    let merged = FileChange { before_hash: old.before_hash, before: old.before, ..after };
                    self.files.insert(place.to_owned(), merged);
                    return;
                }
                _ => FileOperation::Created,
            },
        };
        let change = file_change(path_of(place.to_owned()), operation, ChangedEntryKind::File, before, after);
        self.files.insert(place.to_owned(), change);
    }

    /// Returns true if `place` differs from `from` only because a folder above it was renamed.
    /// Folders come before their content.
    fn lies_in_renamed(&self, place: &Path, from: &Path) -> bool {
        place.ancestors().skip(1).any(|above| match self.files.get(above).map(|change| &change.operation) {
            Some(FileOperation::Renamed { from: old }) => {
                rebase_path(place, above, old.as_path()).as_deref() == Some(from)
            }
            _ => false,
        })
    }
}

fn seen_content(bytes: &Arc<[u8]>, hash: ContentHash) -> SeenContent {
    SeenContent { bytes: Arc::clone(bytes), hash }
}

fn file_change(
    path: WorkspacePath,
    operation: FileOperation,
    kind: ChangedEntryKind,
    before: Option<&SeenContent>,
    after: Option<&SeenContent>,
) -> FileChange {
    let text = |content: Option<&SeenContent>| content.and_then(|content| text_of(&content.bytes));
    FileChange {
        path,
        operation,
        kind,
        before_hash: before.map(|content| content.hash),
        after_hash: after.map(|content| content.hash),
        before: text(before),
        after: text(after),
    }
}
