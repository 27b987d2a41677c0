//! The check of rules for every file in a folder that an edit moves or deletes. The edit names the
//! folder alone.

use std::time::{Duration, Instant};

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::run_blocking;
use crate::workspace::edit::EditPlan;
use crate::workspace::{EntryKind, ListQuery, WorkDeadline, WorkspacePath};

/// The timeout for scanning the folders of an edit.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);

/// Fails if a rule forbids changing a file in a folder that `plan` moves or deletes.
///
/// # Errors
/// `denied`, with the first such file; also if the scan was incomplete.
pub(super) async fn check_folder_contents(context: &Context, plan: &EditPlan) -> Result<(), ToolError> {
    let folders =
        plan.moved_and_deleted().map(|(folder, destination)| (folder.clone(), destination.cloned()));
    may_take_folders(context, folders.collect()).await
}

/// Like [`check_folder_contents`], for folders and their destinations if they are moved. Missing
/// paths and files are ignored.
///
/// # Errors
/// The errors of [`check_folder_contents`].
pub(super) async fn may_take_folders(
    context: &Context,
    folders: Vec<(WorkspacePath, Option<WorkspacePath>)>,
) -> Result<(), ToolError> {
    if !context.limits.may_hide() || folders.is_empty() {
        return Ok(());
    }
    let context = context.clone();
    run_blocking(move || check_folders(&context, &folders)).await
}

fn check_folders(
    context: &Context,
    folders: &[(WorkspacePath, Option<WorkspacePath>)],
) -> Result<(), ToolError> {
    let until = WorkDeadline::new(Instant::now() + LOOK_TIMEOUT);
    for (folder, destination) in folders {
        // A link is moved or deleted without its target.
        let is_folder =
            context.workspace.absolute(folder).symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        if is_folder {
            check_contents(context, folder, destination.as_ref(), &until)?;
        }
    }
    Ok(())
}

fn check_contents(
    context: &Context,
    top: &WorkspacePath,
    destination: Option<&WorkspacePath>,
    until: &WorkDeadline,
) -> Result<(), ToolError> {
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        let query =
            ListQuery { under: folder.clone(), recursive: false, max: usize::MAX, deadline: until.clone() };
        let unseen = |reason: String| {
            let error =
                format!("rules apply to paths in `{}`, and {reason}; nothing was changed", top.display());
            ToolError::new(ErrorCode::Denied, error).with_hint("name the files one by one")
        };
        let listing = context.workspace.list(&query).map_err(|error| unseen(error.to_string()))?;
        if listing.hidden > 0 {
            return Err(unseen(format!("`{}` has files that a rule keeps from this call", folder.display())));
        }
        if listing.timed_out || until.is_over() {
            return Err(unseen("it could not be searched in time".to_owned()));
        }
        for entry in listing.entries {
            let moved = destination.and_then(|destination| {
                let rest = entry.path.as_path().strip_prefix(top.as_path()).ok()?;
                destination.join(rest.to_str()?).ok()
            });
            let names = [Some(entry.path.clone()), moved].into_iter().flatten().collect();
            if let Some(reason) = context.limits.forbids_by_rule(names) {
                return Err(ToolError::new(ErrorCode::Denied, reason));
            }
            if entry.kind == EntryKind::Directory {
                folders.push(entry.path);
            }
        }
    }
    Ok(())
}
