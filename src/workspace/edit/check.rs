//! The check of a plan, which turns it into steps before any of them is executed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::control::TouchKind;
use super::disk::atomic::temporary_name;
use super::disk::inspect::{FileMetadata, SeenContent};
use super::disk::locate::{FinalLinkMode, WorkspaceTree};
use super::disk::trees;
use super::disk::trees::{StoredContentRanges, TreeError};
use super::error::{Conflict, ConflictExpectation};
use super::guard::{self, WorkspaceGuard};
use super::history::record::{ContentWrite, LeafKind, RemovedItem, ReplacedFile, StructureStep};
use super::overlay::{DirectoryNode, DiskBase, FileNode, LinkNode, PlanNode, PlanOverlay};
use super::plan::{ModeChange, PlanOperation};
use super::refusal::{
    conflict_finding, contradiction_error, error_from_errno, refuse_amount, refuse_size,
    refuse_unreplaceable, too_large, tree_refused,
};
use super::{ContentHash, EditError, EditLimits, EditPlan, PathPrecondition};
use crate::platform::inode::InodeIdentity;
use crate::platform::paths::MAY_FOLD_CASE;
use crate::workspace::WorkspacePath;

/// The result of checking a plan.
#[derive(Debug)]
pub(super) struct CheckedPlan {
    pub(crate) structure: Vec<StructureStep>,
    pub(crate) puts: Vec<ContentWrite>,
    pub(crate) prunes: Vec<PathBuf>,
    pub(crate) images: StoredContentRanges,
    pub(crate) removals: Vec<Removal>,
    pub(crate) overlay: PlanOverlay,
}

/// An object that the plan removes, for the report.
#[derive(Debug)]
pub(super) struct Removal {
    /// The path on the disk before the plan.
    pub(crate) place: PathBuf,
    pub(crate) what: RemovedItem,
    /// The content, for a file.
    pub(crate) content: Option<SeenContent>,
    /// The contents of its files, for a folder, in the order of the entries.
    pub(crate) contents: Vec<Arc<[u8]>>,
}

/// Checks `plan` against the present state of the disk.
pub(super) fn check_plan(
    plan: &EditPlan,
    tree: WorkspaceTree,
    guard: &WorkspaceGuard,
    limits: &EditLimits,
) -> Result<CheckedPlan, EditError> {
    let mut check = PlanChecker {
        guard,
        by_owner: plan.by_owner,
        limits,
        overlay: PlanOverlay::new(tree, limits.file_bytes),
        structure: Vec::new(),
        prunes: Vec::new(),
        images: StoredContentRanges::default(),
        removals: Vec::new(),
        conflicts: Vec::new(),
    };
    for operation in &plan.operations {
        check.check_operation(operation)?;
    }
    if !check.conflicts.is_empty() {
        return Err(EditError::Conflict(check.conflicts));
    }
    guard::check_outcome(&mut check.overlay)?;
    check.finish()
}

struct PlanChecker<'a> {
    guard: &'a WorkspaceGuard,
    by_owner: bool,
    limits: &'a EditLimits,
    overlay: PlanOverlay,
    structure: Vec<StructureStep>,
    prunes: Vec<PathBuf>,
    images: StoredContentRanges,
    removals: Vec<Removal>,
    conflicts: Vec<Conflict>,
}

impl PlanChecker<'_> {
    fn check_operation(&mut self, operation: &PlanOperation) -> Result<(), EditError> {
        match operation {
            PlanOperation::Write { path, content, expected, mode } => {
                self.write(path, content, *expected, *mode)
            }
            PlanOperation::Delete { path, expected, recursive } => self.delete(path, *expected, *recursive),
            PlanOperation::Rename { from, to, expected, overwrite } => {
                self.rename(from, to, *expected, *overwrite)
            }
            PlanOperation::CreateDir { path, mode } => self.create_dir(path, *mode),
            PlanOperation::Restore { path, content, metadata } => self.restore(path, content, metadata),
            PlanOperation::RestoreLink { path, target } => self.restore_link(path, target),
            PlanOperation::Prune { path } => self.prune(path),
        }
    }

    fn write(
        &mut self,
        path: &WorkspacePath,
        content: &Arc<[u8]>,
        expected: PathPrecondition,
        mode: ModeChange,
    ) -> Result<(), EditError> {
        let place = self.resolve_place(path, FinalLinkMode::Follow, TouchKind::Content)?;
        let node = self.node_at(&place, path)?;
        if !self.is_expected(path, expected, &node)? {
            return Ok(());
        }
        refuse_size(path, content.len() as u64, self.limits)?;
        let mut file = match node {
            PlanNode::File(file) => *file,
            PlanNode::Absent => FileNode { base: None, content: None, metadata: None, executable: false },
            PlanNode::Directory(_) => return Err(EditError::Directory { path: path.display() }),
            PlanNode::Link(_) => {
                return Err(contradiction_error(path, "it is written to and is a link that the plan makes"));
            }
            PlanNode::Special(kind) => return Err(EditError::Special { path: path.display(), kind }),
        };
        refuse_unreplaceable(path, &file, self.limits)?;
        self.ensure_parents(&place, path)?;
        let hash = ContentHash::compute(content);
        file.content = Some(SeenContent { bytes: Arc::clone(content), hash });
        apply_mode(&mut file, mode);
        self.overlay.set_node(&place, PlanNode::File(Box::new(file)));
        Ok(())
    }

    fn restore(
        &mut self,
        path: &WorkspacePath,
        content: &Arc<[u8]>,
        metadata: &FileMetadata,
    ) -> Result<(), EditError> {
        let place = self.resolve_place(path, FinalLinkMode::Keep, TouchKind::Content)?;
        let node = self.node_at(&place, path)?;
        if !self.is_expected(path, PathPrecondition::Absent, &node)? {
            return Ok(());
        }
        self.ensure_parents(&place, path)?;
        let content = Some(SeenContent { bytes: Arc::clone(content), hash: ContentHash::compute(content) });
        let metadata = Some(metadata.clone());
        self.overlay.set_node(
            &place,
            PlanNode::File(Box::new(FileNode { base: None, content, metadata, executable: false })),
        );
        Ok(())
    }

    fn restore_link(&mut self, path: &WorkspacePath, target: &[u8]) -> Result<(), EditError> {
        let place = self.resolve_place(path, FinalLinkMode::Keep, TouchKind::Content)?;
        let node = self.node_at(&place, path)?;
        if !self.is_expected(path, PathPrecondition::Absent, &node)? {
            return Ok(());
        }
        self.ensure_parents(&place, path)?;
        self.structure.push(StructureStep::MakeLink { path: place.clone(), target: target.to_vec() });
        self.overlay.set_node(&place, PlanNode::Link(LinkNode { base: None }));
        Ok(())
    }

    fn delete(
        &mut self,
        path: &WorkspacePath,
        expected: PathPrecondition,
        recursive: bool,
    ) -> Result<(), EditError> {
        let place = self.resolve_place(path, FinalLinkMode::Keep, TouchKind::Content)?;
        let node = self.node_at(&place, path)?;
        if matches!(node, PlanNode::Absent) && expected == PathPrecondition::Any {
            return Err(EditError::NotFound { path: path.display() });
        }
        if !self.is_expected(path, expected, &node)? {
            return Ok(());
        }
        self.remove(path, &place, node, recursive)
    }

    fn remove(
        &mut self,
        path: &WorkspacePath,
        place: &Path,
        node: PlanNode,
        recursive: bool,
    ) -> Result<(), EditError> {
        let removal = match node {
            PlanNode::Absent => return Ok(()),
            PlanNode::Special(kind) => return Err(EditError::Special { path: path.display(), kind }),
            PlanNode::Directory(folder) => Some(self.removed_tree(path, place, folder, recursive)?),
            PlanNode::Link(LinkNode { base }) => {
                let base = base.ok_or_else(|| {
                    contradiction_error(path, "it is a link that the plan makes and deletes")
                })?;
                let what = RemovedItem::Link(base.object.target);
                Some((base.object.identity, new_removal(base.place, what, None)))
            }
            // A file that the plan itself would have made is just not made.
            PlanNode::File(file) => match file.base {
                None => None,
                Some(base) => {
                    let Some(content) = base.object.content else {
                        return Err(too_large(path, &base.object, self.limits));
                    };
                    let image = self.images.store(&content.bytes, content.hash);
                    let what = RemovedItem::File { image, metadata: base.object.metadata };
                    Some((base.object.identity, new_removal(base.place, what, Some(content))))
                }
            },
        };
        refuse_amount(path, self.images.length, self.limits)?;
        if let Some((identity, removal)) = removal {
            let (path, what) = (place.to_owned(), removal.what.clone());
            self.structure.push(StructureStep::Remove { path, spare: temporary_name(), identity, what });
            self.removals.push(removal);
        }
        self.overlay.clear(place);
        Ok(())
    }

    fn removed_tree(
        &mut self,
        path: &WorkspacePath,
        place: &Path,
        folder: DirectoryNode,
        recursive: bool,
    ) -> Result<(InodeIdentity, Removal), EditError> {
        let base = folder
            .base
            .ok_or_else(|| contradiction_error(path, "it is a folder that the plan makes and deletes"))?;
        let changed = |(below, node): (&PathBuf, &PlanNode)| {
            below.starts_with(place) && matches!(node, PlanNode::File(file) if file.is_changed())
        };
        let below = |step: &StructureStep| match step {
            StructureStep::MakeDir { path, .. }
            | StructureStep::MakeLink { path, .. }
            | StructureStep::Remove { path, .. } => path.starts_with(place),
            StructureStep::Move { .. } => false,
        };
        if self.overlay.has_moved_below(place)
            || self.overlay.nodes().any(changed)
            || self.structure.iter().any(below)
        {
            return Err(contradiction_error(
                path,
                "the folder is deleted after something in it was changed; delete it alone",
            ));
        }
        let first = self.images.contents.len();
        let (parent, name) =
            self.overlay.tree.folder_of(&base.place).map_err(|errno| error_from_errno(path, errno))?;
        let leaves = trees::list_tree(&parent, name, self.limits, &mut self.images)
            .map_err(|error| tree_refused(self.limits, path, error))?;
        if !recursive && leaves.len() > 1 {
            return Err(EditError::NotEmpty { path: path.display() });
        }
        for leaf in &leaves {
            let touch = match leaf.what {
                LeafKind::Directory { .. } => TouchKind::Whole,
                LeafKind::File { .. } | LeafKind::Link(_) => TouchKind::Content,
            };
            self.guard.check(&place.join(&leaf.path), touch, path)?;
        }
        let contents = self.images.contents[first..].to_vec();
        let removal = Removal { contents, ..new_removal(base.place, RemovedItem::Tree(leaves), None) };
        Ok((base.object, removal))
    }

    /// Removes at once a folder that the plan has emptied, with the files moved aside in it, to
    /// free its name.
    fn remove_emptied(&mut self, place: &Path, base: DiskBase<InodeIdentity>) {
        self.prunes.retain(|prune| prune != place);
        let (path, what) = (place.to_owned(), RemovedItem::Emptied);
        self.structure.push(StructureStep::Remove {
            path,
            spare: temporary_name(),
            identity: base.object,
            what,
        });
        self.removals.push(new_removal(base.place, RemovedItem::Emptied, None));
        self.overlay.clear(place);
    }

    fn rename(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        expected: PathPrecondition,
        overwrite: bool,
    ) -> Result<(), EditError> {
        let source = self.resolve_place(from, FinalLinkMode::Keep, TouchKind::Whole)?;
        let target = self.resolve_place(to, FinalLinkMode::Keep, TouchKind::Whole)?;
        let node = self.node_at(&source, from)?;
        if matches!(node, PlanNode::Absent) && expected == PathPrecondition::Any {
            return Err(EditError::NotFound { path: from.display() });
        }
        if !self.is_expected(from, expected, &node)? || source == target {
            return Ok(());
        }
        if target.starts_with(&source) {
            return Err(contradiction_error(to, "a folder cannot be moved into itself"));
        }
        match self.node_at(&target, to)? {
            PlanNode::Absent => {}
            there if is_same_in_another_case((&source, &node), (&target, &there)) => {}
            PlanNode::Directory(DirectoryNode { base: Some(base) }) if self.prunes.contains(&target) => {
                self.remove_emptied(&target, base);
            }
            PlanNode::Directory(_) => return Err(EditError::Exists { path: to.display() }),
            PlanNode::Special(kind) => return Err(EditError::Special { path: to.display(), kind }),
            PlanNode::File(_) | PlanNode::Link(_) if !overwrite => {
                return Err(EditError::Exists { path: to.display() });
            }
            old @ (PlanNode::File(_) | PlanNode::Link(_)) => self.remove(to, &target, old, false)?,
        }
        self.ensure_parents(&target, to)?;
        self.plan_move(from, &source, &target, &node)?;
        self.overlay.rename(&source, &target);
        Ok(())
    }

    /// Plans the step that moves an existing object; a file that the plan creates is created in its
    /// new place at once.
    fn plan_move(
        &mut self,
        from: &WorkspacePath,
        source: &Path,
        target: &Path,
        node: &PlanNode,
    ) -> Result<(), EditError> {
        let (identity, hash) = match node {
            PlanNode::Absent => return Ok(()),
            PlanNode::Special(kind) => return Err(EditError::Special { path: from.display(), kind }),
            PlanNode::File(file) => match &file.base {
                None => return Ok(()),
                Some(base) => {
                    (Some(base.object.identity), base.object.content.as_ref().map(|content| content.hash))
                }
            },
            PlanNode::Link(link) => (link.base.as_ref().map(|base| base.object.identity), None),
            PlanNode::Directory(folder) => {
                if let Some(base) = &folder.base {
                    self.refuse_control_below(from, source, target, &base.place)?;
                }
                (folder.base.as_ref().map(|base| base.object), None)
            }
        };
        let (from, to) = (source.to_owned(), target.to_owned());
        self.structure.push(StructureStep::Move { from, to, identity, hash });
        Ok(())
    }

    fn refuse_control_below(
        &self,
        given: &WorkspacePath,
        source: &Path,
        target: &Path,
        disk: &Path,
    ) -> Result<(), EditError> {
        let (parent, name) =
            self.overlay.tree.folder_of(disk).map_err(|errno| error_from_errno(given, errno))?;
        let below = trees::names_below(&parent, name, self.limits.moved_entries)
            .map_err(|error| tree_refused(self.limits, given, error))?;
        for path in below {
            self.guard.check(&source.join(&path), TouchKind::Whole, given)?;
            self.guard.check(&target.join(&path), TouchKind::Whole, given)?;
        }
        Ok(())
    }

    fn create_dir(&mut self, path: &WorkspacePath, mode: Option<u32>) -> Result<(), EditError> {
        let place = self.resolve_place(path, FinalLinkMode::Follow, TouchKind::Content)?;
        match self.node_at(&place, path)? {
            PlanNode::Directory(_) => Ok(()),
            PlanNode::File(_) | PlanNode::Link(_) => Err(EditError::Exists { path: path.display() }),
            PlanNode::Special(kind) => Err(EditError::Special { path: path.display(), kind }),
            PlanNode::Absent => {
                self.ensure_parents(&place, path)?;
                self.make_dir(place, mode);
                Ok(())
            }
        }
    }

    fn prune(&mut self, path: &WorkspacePath) -> Result<(), EditError> {
        let place = self.resolve_place(path, FinalLinkMode::Keep, TouchKind::Content)?;
        if matches!(self.node_at(&place, path)?, PlanNode::Directory(_)) {
            self.prunes.push(place);
        }
        Ok(())
    }

    /// Ensures the folders above `place`, and creates the missing ones.
    fn ensure_parents(&mut self, place: &Path, given: &WorkspacePath) -> Result<(), EditError> {
        let mut missing = Vec::new();
        for folder in place.ancestors().skip(1) {
            match self.node_at(folder, given)? {
                PlanNode::Directory(_) => break,
                PlanNode::Absent => missing.push(folder.to_owned()),
                _ => return Err(EditError::NotADirectory { path: given.display() }),
            }
        }
        for folder in missing.into_iter().rev() {
            self.make_dir(folder, None);
        }
        Ok(())
    }

    fn make_dir(&mut self, place: PathBuf, mode: Option<u32>) {
        self.overlay.set_node(&place, PlanNode::Directory(DirectoryNode { base: None }));
        self.structure.push(StructureStep::MakeDir { path: place, mode });
    }

    /// Resolves the real place of `path`, if it may be edited.
    fn resolve_place(
        &self,
        path: &WorkspacePath,
        last: FinalLinkMode,
        touch: TouchKind,
    ) -> Result<PathBuf, EditError> {
        if path.is_root() {
            return Err(EditError::Directory { path: path.display() });
        }
        if !self.by_owner {
            self.guard.check(path.as_path(), touch, path)?;
        }
        let place =
            self.overlay.resolve_path(path.as_path(), last).map_err(|errno| error_from_errno(path, errno))?;
        if place.as_os_str().is_empty() {
            return Err(EditError::Directory { path: path.display() });
        }
        if !(self.by_owner && place == path.as_path()) {
            self.guard.check(&place, touch, path)?;
        }
        self.guard.check_place(&self.overlay.tree, &place, path)?;
        Ok(place)
    }

    fn node_at(&mut self, place: &Path, given: &WorkspacePath) -> Result<PlanNode, EditError> {
        self.overlay.node_at(place).map_err(|errno| error_from_errno(given, errno))
    }

    /// Returns true if `node` is in the state that the caller expects; otherwise records a
    /// conflict.
    fn is_expected(
        &mut self,
        path: &WorkspacePath,
        expected: PathPrecondition,
        node: &PlanNode,
    ) -> Result<bool, EditError> {
        let content = match node {
            PlanNode::File(file) => file.content.as_ref(),
            _ => None,
        };
        let (as_expected, belief) = match expected {
            PathPrecondition::Any => return Ok(true),
            PathPrecondition::Absent => (matches!(node, PlanNode::Absent), ConflictExpectation::Absent),
            PathPrecondition::Hash(hash) => {
                (content.is_some_and(|content| content.hash == hash), ConflictExpectation::Content(hash))
            }
        };
        if !as_expected {
            self.conflicts.push(Conflict {
                path: path.clone(),
                expected: belief,
                found: conflict_finding(node),
            });
        }
        Ok(as_expected)
    }

    /// Collects the new contents: all files whose content or metadata the plan has changed.
    fn finish(mut self) -> Result<CheckedPlan, EditError> {
        let mut puts = Vec::new();
        for (place, node) in self.overlay.nodes() {
            let PlanNode::File(file) = node else { continue };
            let Some(content) = file.content.as_ref().filter(|_| file.is_changed()) else { continue };
            let before = file.base.as_ref().and_then(|base| {
                let old = base.object.content.as_ref()?;
                let image = self.images.store(&old.bytes, old.hash);
                let (identity, metadata) = (base.object.identity, base.object.metadata.clone());
                Some(ReplacedFile { identity, image, metadata })
            });
            puts.push(ContentWrite {
                path: place.clone(),
                temp: temporary_name(),
                before,
                after: content.hash,
                metadata: file.metadata.clone(),
                executable: file.executable,
                content: Arc::clone(&content.bytes),
            });
        }
        if let Some(put) = puts.last() {
            refuse_amount(&WorkspacePath::new(put.path.clone()), self.images.length, self.limits)?;
        }
        if let Some(put) = puts.get(self.limits.transaction_files) {
            return Err(tree_refused(self.limits, &WorkspacePath::new(put.path.clone()), TreeError::TooMany));
        }
        let Self { structure, prunes, images, removals, overlay, .. } = self;
        Ok(CheckedPlan { structure, puts, prunes, images, removals, overlay })
    }
}

fn new_removal(place: PathBuf, what: RemovedItem, content: Option<SeenContent>) -> Removal {
    Removal { place, what, content, contents: Vec::new() }
}

fn apply_mode(file: &mut FileNode, change: ModeChange) {
    let of = |mode: u32| match change {
        ModeChange::Keep => mode,
        ModeChange::Exactly(mode) => mode,
        // Every user who may read the file may execute it.
        ModeChange::Executable(true) => mode | (mode & 0o444) >> 2,
        ModeChange::Executable(false) => mode & !0o111,
    };
    match &mut file.metadata {
        Some(metadata) => metadata.mode = of(metadata.mode),
        None => file.executable = change == ModeChange::Executable(true),
    }
}

/// Returns true if both places are the same object, in a file system that ignores case.
fn is_same_in_another_case(one: (&Path, &PlanNode), other: (&Path, &PlanNode)) -> bool {
    let folded = |place: &Path| place.to_string_lossy().to_lowercase();
    MAY_FOLD_CASE
        && folded(one.0) == folded(other.0)
        && one.1.identity().is_some_and(|identity| Some(identity) == other.1.identity())
}
