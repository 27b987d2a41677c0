//! Which folder a server is started for.

use crate::config::spec::Server;
use crate::workspace::{Workspace, WorkspacePath};

/// The root for `path`: the nearest folder above it, inside the workspace, that has one of the server's markers (the
/// topmost one where the catalogue says so); the workspace itself where none has, or `None` where a marker is required.
pub fn root_of(workspace: &Workspace, server: &Server, path: &WorkspacePath) -> Option<WorkspacePath> {
    let mut found = None;
    let mut folder = path.parent();
    while let Some(candidate) = folder {
        if has_marker(workspace, server, &candidate) {
            found = Some(candidate.clone());
            if !server.root_topmost {
                break;
            }
        }
        folder = candidate.parent();
    }
    found.or_else(|| (!server.root_required).then(WorkspacePath::root))
}

fn has_marker(workspace: &Workspace, server: &Server, folder: &WorkspacePath) -> bool {
    let absolute = workspace.absolute(folder);
    server.root_markers.iter().any(|marker| match marker.strip_prefix('*') {
        // `*.csproj`: any file with that ending.
        Some(ending) => std::fs::read_dir(&absolute).is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().ends_with(ending))
        }),
        None => absolute.join(marker).symlink_metadata().is_ok(),
    })
}
