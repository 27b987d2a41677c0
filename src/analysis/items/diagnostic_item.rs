//! Findings of servers and parsers as answers give them.

use super::answer_places::{is_hidden, to_place};
use super::budget::{self, MAX_RELATED_PLACES};
use crate::analysis::answer::{DiagnosticItem, RelatedItem};
use crate::analysis::context::Context;
use crate::lsp::model::Diagnostic;
use crate::workspace::WorkspacePath;

/// Converts a finding to the form of answers.
pub(crate) fn to_item(context: &Context, path: &WorkspacePath, diagnostic: &Diagnostic) -> DiagnosticItem {
    let shown = diagnostic.related.iter().filter(|(place, _)| !is_hidden(&context.workspace, &place.file));
    let related = shown.take(MAX_RELATED_PLACES).map(|(location, message)| RelatedItem {
        place: to_place(context, location.clone()),
        message: budget::message(message),
    });
    // The source "Pyright" of the server `pyright` is redundant.
    let source = diagnostic.source.as_ref().filter(|source| !source.eq_ignore_ascii_case(&diagnostic.server));
    DiagnosticItem {
        path: path.display(),
        range: diagnostic.range,
        severity: diagnostic.severity,
        code: diagnostic.code.clone().map(budget::name),
        source: source.cloned().map(budget::name),
        server: diagnostic.server.clone(),
        message: budget::message(&diagnostic.message),
        enclosing: diagnostic.cell.map(|cell| format!("cell {cell}")),
        related: related.collect(),
    }
}
