//! The guard of edits, which refuses changes of control paths in the tree before and after the
//! plan. Every path is checked twice, as given and as resolved, so that a link does not hide it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::EditError;
use super::control::{self, TouchKind};
use super::disk::inspect::identity_at;
use super::disk::locate::WorkspaceTree;
use super::overlay::{PlanNode, PlanOverlay};
use crate::platform::canonicalize;
use crate::workspace::{Workspace, WorkspacePath};

const GIT: &str = "git's own files control the programs that git runs";
const WOULD_BE_GIT: &str =
    "it would make its folder a git repository, whose files control the programs that git runs";
const OWN: &str = "it contains the settings, permissions and state of lsp-tools";

/// The names that identify a git directory, regardless of its own name: all names of one row
/// (`is_git_directory` and `get_common_dir` in git's setup.c).
const GIT_DIRECTORY: [&[&str]; 2] = [&["HEAD", "objects", "refs"], &["HEAD", "commondir"]];

/// The guard of one workspace.
#[derive(Debug, Clone)]
pub(super) struct WorkspaceGuard {
    /// The user's own folders inside the workspace, relative to it.
    own: Vec<PathBuf>,
}

impl WorkspaceGuard {
    /// Creates the guard of `workspace`; nothing at or below one of `protected` (absolute) may be
    /// changed either.
    pub(super) fn new(workspace: &Workspace, protected: &[PathBuf]) -> Self {
        let inside = |path: &PathBuf| {
            let canonical = canonicalize(path).unwrap_or_else(|_| path.clone());
            workspace.workspace_path(&canonical).map(|path| path.as_path().to_owned())
        };
        Self { own: protected.iter().filter_map(inside).collect() }
    }

    /// Refuses `path` (relative to the root) if it is a control path; the error names `given`.
    pub(super) fn check(
        &self,
        path: &Path,
        touch: TouchKind,
        given: &WorkspacePath,
    ) -> Result<(), EditError> {
        self.refusal_reason(path, touch).map_or(Ok(()), |reason| Err(control_error(given, reason)))
    }

    /// Refuses `path`, without links, if it is, or lies in, a folder that its content identifies as
    /// git's own.
    pub(super) fn check_place(
        &self,
        tree: &WorkspaceTree,
        path: &Path,
        given: &WorkspacePath,
    ) -> Result<(), EditError> {
        match path.ancestors().any(|folder| is_git_directory(tree, folder)) {
            true => Err(control_error(given, GIT)),
            false => Ok(()),
        }
    }

    fn refusal_reason(&self, path: &Path, touch: TouchKind) -> Option<&'static str> {
        let own =
            |own: &PathBuf| path.starts_with(own) || (touch == TouchKind::Whole && own.starts_with(path));
        if self.own.iter().any(own) {
            return Some(OWN);
        }
        control::refusal_reason(path, touch)
    }
}

/// Refuses a plan whose new paths would turn a folder into a git directory.
pub(super) fn check_outcome(overlay: &mut PlanOverlay) -> Result<(), EditError> {
    let is_made =
        |(place, node): (&PathBuf, &PlanNode)| (!matches!(node, PlanNode::Absent)).then(|| place.clone());
    let made: Vec<PathBuf> = overlay.nodes().filter_map(is_made).collect();
    for place in made {
        let mut part = place.as_path();
        while let Some(folder) = part.parent() {
            let name = part.file_name().unwrap_or_default();
            let rows =
                GIT_DIRECTORY.iter().filter(|names| names.iter().any(|needed| is_called(name, needed)));
            for names in rows {
                if would_hold(overlay, folder, names) && !is_git_directory(&overlay.tree, folder) {
                    return Err(control_error(&WorkspacePath::new(place), WOULD_BE_GIT));
                }
            }
            part = folder;
        }
    }
    Ok(())
}

fn control_error(given: &WorkspacePath, why: &'static str) -> EditError {
    EditError::Control { path: given.display(), why }
}

fn would_hold(overlay: &mut PlanOverlay, folder: &Path, names: &[&str]) -> bool {
    names.iter().all(|name| {
        let is_it = |(place, node): (&PathBuf, &PlanNode)| {
            place.parent() == Some(folder)
                && is_called(place.file_name().unwrap_or_default(), name)
                && !matches!(node, PlanNode::Absent)
        };
        overlay.nodes().any(is_it)
            || !matches!(overlay.node_at(&folder.join(name)), Ok(PlanNode::Absent) | Err(_))
    })
}

/// Compares a name, also as file systems that fold case do.
fn is_called(name: &OsStr, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted)
}

fn is_git_directory(tree: &WorkspaceTree, folder: &Path) -> bool {
    let Ok(folder) = tree.open_folder_at(folder) else { return false };
    let is_there = |name: &&str| matches!(identity_at(&folder, OsStr::new(name)), Ok(Some(_)));
    GIT_DIRECTORY.iter().any(|names| names.iter().all(is_there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_state_folder_inside_workspace_is_refused_for_edits() {
        let guard = WorkspaceGuard { own: vec![PathBuf::from("home/state")] };
        let verdict = |path: &str, touch| guard.refusal_reason(Path::new(path), touch).is_some();
        assert!(verdict("home/state", TouchKind::Content));
        assert!(verdict("home/state/x", TouchKind::Content));
        assert!(verdict("home", TouchKind::Whole));
        assert!(!verdict("home", TouchKind::Content));
        assert!(!verdict("home/states/x", TouchKind::Content));
    }
}
