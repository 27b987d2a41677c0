//! What the text says about a name, as Markdown.

use super::candidates::{Candidate, Hints};
use crate::lsp::model::{FileRef, Hover};

/// The signature and documentation of the best candidate; `None` where there is none with a signature.
///
/// `language_id` names the language of the code block (LSP 3.17, *TextDocumentItem*).
pub fn hover(hints: &Hints, language_id: &str) -> Option<Hover> {
    let best = hints.candidates.iter().find(|candidate| candidate.signature.is_some())?;
    let range = hints.identifier.as_ref().and_then(|(_, range)| *range);
    Some(Hover { contents: markdown(best, language_id), range })
}

fn markdown(candidate: &Candidate, language_id: &str) -> String {
    let signature = candidate.signature.as_deref().unwrap_or_default();
    // A fence longer than any inside keeps the block closed.
    let longest = signature.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut out = format!("{fence}{language_id}\n{signature}\n{fence}");
    if let Some(documentation) = &candidate.documentation {
        out.push_str("\n\n");
        out.push_str(documentation);
    }
    if let FileRef::Inside(path) = &candidate.location.file {
        let line = candidate.location.range.start.line + 1;
        out.push_str(&format!("\n\n*{}:{line}: {}*", path.display(), candidate.why));
    }
    out
}
