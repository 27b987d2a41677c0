//! Locations as answers give them: the path, the range and the source line.

use super::budget;
use super::place::Place;
use crate::analysis::context::Context;
use crate::lsp::model::{FileRef, Location};
use crate::workspace::{Workspace, escape_unprintable};

/// Converts a location to the form of answers.
pub(crate) fn to_place(context: &Context, location: Location) -> Place {
    let text = line_of(context, &location.file, location.text);
    Place { path: path_of(&location.file), range: location.range, text, enclosing: None, why: None }
}

/// A source line for an answer; `None` for a hidden file.
pub(crate) fn line_of(context: &Context, file: &FileRef, text: Option<String>) -> Option<String> {
    text.filter(|_| !is_hidden(&context.workspace, file))
}

/// Returns true if `file` is hidden in `workspace`.
pub(crate) fn is_hidden(workspace: &Workspace, file: &FileRef) -> bool {
    matches!(file, FileRef::Inside(path) if workspace.is_path_hidden(path))
}

/// A file's path in the form of answers. A document that is not a file has its URI, without the
/// query, which tells a server alone something.
pub(crate) fn path_of(file: &FileRef) -> String {
    match file {
        FileRef::Inside(path) => path.display(),
        FileRef::Outside(path) => escape_unprintable(path.as_os_str()),
        FileRef::Virtual(uri) => budget::name(uri.split('?').next().unwrap_or_default().to_owned()),
    }
}
