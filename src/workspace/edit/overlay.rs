//! The workspace after a plan, computed step by step without changing the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::platform::files::Errno;
use crate::platform::inode::InodeIdentity;

use super::disk::inspect::{FileMetadata, SeenContent, SeenFile, SeenLink, SeenObject, inspect_object};
use super::disk::locate::{FinalLinkMode, WorkspaceTree};
use super::history::record::rebase_path;

/// The planned object at a place.
#[derive(Debug, Clone)]
pub(super) enum PlanNode {
    Absent,
    File(Box<FileNode>),
    Directory(DirectoryNode),
    Link(LinkNode),
    Special(&'static str),
}

impl PlanNode {
    /// The identity of the object on the disk; `None` for a planned one.
    pub(super) fn identity(&self) -> Option<InodeIdentity> {
        match self {
            Self::File(file) => file.base.as_ref().map(|base| base.object.identity),
            Self::Directory(folder) => folder.base.as_ref().map(|base| base.object),
            Self::Link(link) => link.base.as_ref().map(|base| base.object.identity),
            Self::Absent | Self::Special(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct FileNode {
    /// The file on the disk that would be here, if it is not a new one.
    pub(crate) base: Option<DiskBase<SeenFile>>,
    /// The planned content; `None` if it is larger than the limit, and unchanged.
    pub(crate) content: Option<SeenContent>,
    /// The planned attributes; `None` for the defaults of a new file.
    pub(crate) metadata: Option<FileMetadata>,
    /// Used only without `metadata`.
    pub(crate) executable: bool,
}

#[derive(Debug, Clone)]
pub(super) struct DirectoryNode {
    pub(crate) base: Option<DiskBase<InodeIdentity>>,
}

#[derive(Debug, Clone)]
pub(super) struct LinkNode {
    pub(crate) base: Option<DiskBase<SeenLink>>,
}

/// An object on the disk.
#[derive(Debug, Clone)]
pub(super) struct DiskBase<T> {
    /// The present place.
    pub(crate) place: PathBuf,
    pub(crate) object: T,
}

/// All objects that the plan has inspected or changed so far.
#[derive(Debug)]
pub(super) struct PlanOverlay {
    pub(crate) tree: WorkspaceTree,
    /// The largest file whose content is read, in bytes.
    limit: u64,
    /// By the names at this point of the plan.
    nodes: BTreeMap<PathBuf, PlanNode>,
    moves: Vec<(PathBuf, PathBuf)>,
}

impl PlanOverlay {
    pub(super) fn new(tree: WorkspaceTree, limit: u64) -> Self {
        Self { tree, limit, nodes: BTreeMap::new(), moves: Vec::new() }
    }

    /// Resolves `path` at this point of the plan, links included.
    pub(super) fn resolve_path(&self, path: &Path, last: FinalLinkMode) -> Result<PathBuf, Errno> {
        match self.disk_origin(path) {
            Some(origin) => Ok(self.apply_moves(self.tree.resolve(&origin, last)?)),
            None => Ok(path.to_owned()),
        }
    }

    /// Returns the place on the disk of the object that the plan has moved to `place`; `None` if
    /// the plan has only moved an object away from there.
    pub(super) fn disk_origin(&self, place: &Path) -> Option<PathBuf> {
        let mut origin = place.to_owned();
        for (from, to) in self.moves.iter().rev() {
            if let Some(before) = rebase_path(&origin, to, from) {
                origin = before;
            } else if origin.starts_with(from) {
                return None;
            }
        }
        Some(origin)
    }

    fn apply_moves(&self, mut place: PathBuf) -> PathBuf {
        for (from, to) in &self.moves {
            place = rebase_path(&place, from, to).unwrap_or(place);
        }
        place
    }

    /// Returns the planned object at `place`.
    pub(super) fn node_at(&mut self, place: &Path) -> Result<PlanNode, Errno> {
        if let Some(node) = self.nodes.get(place) {
            return Ok(node.clone());
        }
        let removed = |above: &Path| matches!(self.nodes.get(above), Some(PlanNode::Absent));
        let node = match self.disk_origin(place) {
            Some(origin) if !place.ancestors().skip(1).any(removed) => self.on_disk(origin)?,
            _ => PlanNode::Absent,
        };
        self.nodes.insert(place.to_owned(), node.clone());
        Ok(node)
    }

    fn on_disk(&self, place: PathBuf) -> Result<PlanNode, Errno> {
        if place.as_os_str().is_empty() {
            return Ok(PlanNode::Directory(DirectoryNode { base: None }));
        }
        let object = match self.tree.folder_of(&place) {
            Ok((folder, name)) => inspect_object(&folder, name, self.limit)?,
            Err(Errno::NOENT) => SeenObject::Absent,
            Err(errno) => return Err(errno),
        };
        Ok(match object {
            SeenObject::Absent => PlanNode::Absent,
            SeenObject::Special(kind) => PlanNode::Special(kind),
            SeenObject::Directory(object) => {
                PlanNode::Directory(DirectoryNode { base: Some(DiskBase { place, object }) })
            }
            SeenObject::Link(object) => PlanNode::Link(LinkNode { base: Some(DiskBase { place, object }) }),
            SeenObject::File(object) => PlanNode::File(Box::new(FileNode {
                content: object.content.clone(),
                metadata: Some(object.metadata.clone()),
                executable: false,
                base: Some(DiskBase { place, object }),
            })),
        })
    }

    /// Sets the planned object at `place` to `node`.
    pub(super) fn set_node(&mut self, place: &Path, node: PlanNode) {
        self.nodes.insert(place.to_owned(), node);
    }

    /// Clears `place` and everything below it in the plan.
    pub(super) fn clear(&mut self, place: &Path) {
        self.nodes.retain(|path, _| !path.starts_with(place));
        self.set_node(place, PlanNode::Absent);
    }

    /// Moves `from`, with everything below it, to `to` in the plan.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        let moved: Vec<PathBuf> = self.nodes.keys().filter(|path| path.starts_with(from)).cloned().collect();
        self.nodes.retain(|path, _| path.starts_with(from) || !path.starts_with(to));
        for path in moved {
            if let (Some(node), Some(place)) = (self.nodes.remove(&path), rebase_path(&path, from, to)) {
                self.nodes.insert(place, node);
            }
        }
        self.moves.push((from.to_owned(), to.to_owned()));
        self.set_node(from, PlanNode::Absent);
    }

    /// Returns true if the plan has renamed anything from or to a place at or below `place`.
    pub(super) fn has_moved_below(&self, place: &Path) -> bool {
        self.moves.iter().any(|(from, to)| from.starts_with(place) || to.starts_with(place))
    }

    /// All objects that were inspected or changed, by place.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&PathBuf, &PlanNode)> {
        self.nodes.iter()
    }
}

impl FileNode {
    /// Returns true if the content or the attributes differ from those on the disk.
    pub(super) fn is_changed(&self) -> bool {
        let Some(base) = &self.base else { return true };
        let hash = |content: &Option<SeenContent>| content.as_ref().map(|content| content.hash);
        hash(&self.content) != hash(&base.object.content)
            || self.metadata.as_ref() != Some(&base.object.metadata)
    }
}
