//! The path that was probably meant by one that does not exist, as a hint of the error.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::text::nearest_word;
use crate::workspace::{GlobOrder, GlobQuery, ListQuery, WorkDeadline, Workspace, WorkspacePath};

/// The timeout of a suggestion: it follows an error and is optional.
const SUGGESTION_TIMEOUT: Duration = Duration::from_millis(200);
/// The maximum number of suggested files of one name; more of them (`__init__.py`) would not help.
const MAX_NAMESAKES: usize = 3;
/// The most names of a directory that are compared.
const MAX_COMPARED_NAMES: usize = 2_000;

/// Adds a suggestion to `error`, if it is about a path that does not exist and exactly one similar
/// path does.
pub(crate) async fn with_path_suggestion(context: &Context, mut error: ToolError) -> ToolError {
    let Some(missing) = error.missing_path.take() else { return error };
    let Ok(path) = context.workspace.path(Path::new(&*missing)) else { return error };
    let deadline = WorkDeadline::new(Instant::now() + SUGGESTION_TIMEOUT);
    let _ends_with_us = deadline.cancel_on_drop();
    let near = context.run_in_background(move |workspace| near_paths(workspace, &path, &deadline)).await;
    let near: Vec<String> =
        near.unwrap_or_default().iter().map(|path| format!("`{}`", path.display())).collect();
    if !near.is_empty() {
        let meant = format!("did you mean {}?", near.join(" or "));
        error.hint = Some(match error.hint {
            Some(hint) => format!("{meant} Otherwise, {hint}"),
            None => meant,
        });
    }
    error
}

/// The paths with the same name elsewhere, or else those with a similar name in the same directory.
fn near_paths(workspace: &Workspace, missing: &WorkspacePath, deadline: &WorkDeadline) -> Vec<WorkspacePath> {
    let namesakes = namesakes(workspace, missing, deadline);
    if !namesakes.is_empty() {
        return namesakes;
    }
    let Some(under) = missing.parent() else { return Vec::new() };
    let query = ListQuery { under, recursive: false, max: MAX_COMPARED_NAMES, deadline: deadline.clone() };
    let Ok(listing) = workspace.list(&query) else { return Vec::new() };
    let name = missing.name_lossy();
    let named = |path: &WorkspacePath| path.name_lossy().into_owned();
    let names: Vec<String> = listing.entries.iter().map(|entry| named(&entry.path)).collect();
    let Some(near) = nearest_word(&name, names.iter().map(String::as_str)) else { return Vec::new() };
    listing.entries.into_iter().map(|entry| entry.path).filter(|path| named(path) == near).collect()
}

fn namesakes(workspace: &Workspace, missing: &WorkspacePath, deadline: &WorkDeadline) -> Vec<WorkspacePath> {
    let query = GlobQuery {
        pattern: format!("**/{}", globset::escape(&missing.name_lossy())),
        under: WorkspacePath::root(),
        hidden: false,
        no_ignore: false,
        order: GlobOrder::Path,
        max: MAX_NAMESAKES,
        deadline: deadline.clone(),
    };
    match workspace.glob(&query) {
        Ok(found) if !found.has_more && !found.cut_short => found.paths,
        _ => Vec::new(),
    }
}
