//! The messages of refused edits.

use std::path::PathBuf;

use crate::platform::files::Errno;

use super::disk::inspect::SeenFile;
use super::disk::trees::TreeError;
use super::error::ConflictFinding;
use super::overlay::{FileNode, PlanNode};
use super::text::text_of;
use super::{EditError, EditLimits};
use crate::workspace::WorkspacePath;
use crate::workspace::path::MAX_PATH_DEPTH;

/// Refuses to replace a file that would lose an attribute.
pub(super) fn refuse_unreplaceable(
    path: &WorkspacePath,
    file: &FileNode,
    limits: &EditLimits,
) -> Result<(), EditError> {
    let Some(base) = &file.base else { return Ok(()) };
    if base.object.names > 1 {
        return Err(EditError::HardLinked { path: path.display(), names: base.object.names });
    }
    if !base.object.writable {
        return Err(EditError::Denied { path: path.display() });
    }
    if base.object.content.is_none() {
        return Err(too_large(path, &base.object, limits));
    }
    Ok(())
}

/// Refuses a new content that is larger than the limit.
pub(super) fn refuse_size(path: &WorkspacePath, size: u64, limits: &EditLimits) -> Result<(), EditError> {
    if size <= limits.file_bytes {
        return Ok(());
    }
    Err(EditError::TooLarge {
        path: path.display(),
        what: "the content",
        size,
        limit: limits.file_bytes,
        advice: "write it with another program",
    })
}

/// Creates the error for an old content that is larger than the limit of kept contents.
pub(super) fn too_large(path: &WorkspacePath, seen: &SeenFile, limits: &EditLimits) -> EditError {
    EditError::TooLarge {
        path: path.display(),
        what: "the old content",
        size: seen.stamp.size,
        limit: limits.file_bytes,
        advice: "it could not be undone; change it in a shell",
    }
}

/// Refuses more old content than one transaction keeps.
pub(super) fn refuse_amount(path: &WorkspacePath, length: u64, limits: &EditLimits) -> Result<(), EditError> {
    if length <= limits.transaction_bytes {
        return Ok(());
    }
    Err(EditError::TooLarge {
        path: path.display(),
        what: "the old content to be kept for undo, up to that",
        size: length,
        limit: limits.transaction_bytes,
        advice: "make several edits of it",
    })
}

/// Returns the obstacle to removing or renaming the folder `path`.
pub(super) fn tree_refused(limits: &EditLimits, path: &WorkspacePath, error: TreeError) -> EditError {
    let inner = |below: PathBuf| WorkspacePath::new(path.as_path().join(below)).display();
    match error {
        TreeError::System(errno) => error_from_errno(path, errno),
        TreeError::Special(below, kind) => EditError::Special { path: inner(below), kind },
        TreeError::TooLarge(below) => EditError::TooLarge {
            path: inner(below),
            what: "the content to be kept for undo",
            size: limits.file_bytes + 1,
            limit: limits.file_bytes,
            advice: "delete it in a shell",
        },
        TreeError::TooDeep => EditError::TooLarge {
            path: path.display(),
            what: "the depth of the folders",
            size: MAX_PATH_DEPTH as u64 + 1,
            limit: MAX_PATH_DEPTH as u64,
            advice: "do it in a shell",
        },
        TreeError::TooMany => EditError::TooLarge {
            path: path.display(),
            what: "the number of files and folders",
            size: limits.transaction_files as u64 + 1,
            limit: limits.transaction_files as u64,
            advice: "do it in a shell, or folder by folder",
        },
    }
}

/// Describes the present object, for a conflict.
pub(super) fn conflict_finding(node: &PlanNode) -> ConflictFinding {
    match node {
        PlanNode::Absent => ConflictFinding::Absent,
        PlanNode::File(file) => match &file.content {
            Some(content) => ConflictFinding::File { hash: content.hash, text: text_of(&content.bytes) },
            None => ConflictFinding::Other,
        },
        PlanNode::Directory(_) | PlanNode::Link(_) | PlanNode::Special(_) => ConflictFinding::Other,
    }
}

/// Creates the error for a plan that contradicts itself.
pub(super) fn contradiction_error(path: &WorkspacePath, why: &'static str) -> EditError {
    EditError::Contradiction { path: path.display(), why }
}

/// Converts an error of the system while inspecting `path`.
pub(super) fn error_from_errno(path: &WorkspacePath, errno: Errno) -> EditError {
    let path = path.display();
    match errno {
        Errno::XDEV => EditError::Outside { path },
        Errno::LOOP => EditError::LinkLoop { path },
        Errno::NOTDIR => EditError::NotADirectory { path },
        Errno::NOENT => EditError::NotFound { path },
        other => failed_at(path, other),
    }
}

/// Converts an error of the system while changing `path`.
pub(super) fn failed_at(path: String, errno: Errno) -> EditError {
    match errno {
        Errno::ACCESS | Errno::PERM | Errno::ROFS => EditError::Denied { path },
        Errno::NOSPC | Errno::DQUOT => EditError::NoSpace { path },
        // An object of the previous step no longer exists, or is of another kind; the kernel cannot
        // say which for sure.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE | Errno::AGAIN => EditError::Moved { path },
        Errno::EXIST | Errno::ISDIR | Errno::NOTEMPTY => EditError::Moved { path },
        other => EditError::Io { path, source: other.into() },
    }
}
