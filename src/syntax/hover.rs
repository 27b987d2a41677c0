//! The hover text of a name, as Markdown.

use super::answer::{Candidate, Hints};
use crate::lsp::model::Hover;

/// Returns the signature and documentation of the best candidate; `None` if that has no signature,
/// like a module.
///
/// `language_id` names the language of the code block (LSP 3.17, *TextDocumentItem*).
pub(crate) fn hover(hints: &Hints, language_id: &str) -> Option<Hover> {
    let best = hints.candidates.first().filter(|best| best.signature.is_some())?;
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
        out.push_str(&with_fenced_doctests(documentation, language_id));
    }
    out
}

/// Formats interpreter sessions as code blocks, because Markdown would read them as quotations:
/// from a line that begins with `>>>` to the next empty one.
fn with_fenced_doctests(documentation: &str, language_id: &str) -> String {
    let (mut out, mut is_session, mut is_code) = (String::new(), false, false);
    for line in documentation.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if !is_session && !is_code && line.trim_start().starts_with(">>>") {
            out.push_str(&format!("```{language_id}\n"));
            is_session = true;
        } else if is_session && line.trim().is_empty() {
            out.push_str("```\n");
            is_session = false;
        }
        out.push_str(line);
        out.push('\n');
    }
    out.truncate(out.trim_end_matches('\n').len());
    if is_session {
        out.push_str("\n```");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctest_in_documentation_is_fenced_as_code() {
        let fenced = |text: &str| with_fenced_doctests(text, "python");
        assert_eq!(fenced("Adds.\n\nMore."), "Adds.\n\nMore.");
        assert_eq!(
            fenced("Adds.\n\n>>> add(1)\n2\n\nMore."),
            "Adds.\n\n```python\n>>> add(1)\n2\n```\n\nMore."
        );
        assert_eq!(fenced("    >>> add(1)\n    2"), "```python\n    >>> add(1)\n    2\n```");
        assert_eq!(fenced("```\n>>> add(1)\n```"), "```\n>>> add(1)\n```");
    }
}
