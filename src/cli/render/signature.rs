//! Signatures of a call, with the active parameter highlighted.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::analysis::answer::{SignatureItem, SignaturesOutput};

use super::DisplayCapabilities;
use super::terminal::display::{DIM, MATCH};
use super::terminal::{escape, markdown};

/// Renders the signatures, the active one first, each with its documentation. Without colour, a
/// line below marks the active parameter.
pub(crate) fn render(output: &SignaturesOutput, display: &DisplayCapabilities) -> String {
    let (active, others): (Vec<_>, Vec<_>) = output.signatures.iter().partition(|signature| signature.active);
    let parts: Vec<String> =
        active.into_iter().chain(others).map(|signature| one(signature, display)).collect();
    parts.join("\n")
}

fn one(signature: &SignatureItem, display: &DisplayCapabilities) -> String {
    let label = escape::words(&signature.label);
    let active = active_parameter(signature, &label);
    let mut out = match &active {
        Some(span) if display.color => {
            let (before, after) = (&label[..span.start], &label[span.end..]);
            format!("{before}{}{after}\n", display.paint(MATCH, &label[span.clone()]))
        }
        Some(span) => {
            let (blanks, marks) = (label[..span.start].width(), label[span.clone()].width().max(1));
            format!("{label}\n{}{}\n", " ".repeat(blanks), "^".repeat(marks))
        }
        None => format!("{label}\n"),
    };
    if let Some(documentation) = &signature.documentation {
        let text = markdown::render(documentation, display);
        if !text.is_empty() {
            out.push('\n');
            out.push_str(&text);
        }
    }
    if !signature.active && display.color { display.paint(DIM, out.trim_end()) + "\n" } else { out }
}

/// Returns the byte range of the active parameter in `label`, in which parameters appear in order.
fn active_parameter(signature: &SignatureItem, label: &str) -> Option<Range<usize>> {
    let active = signature.active_parameter? as usize;
    let mut from = label.find('(').map_or(0, |at| at + 1);
    for (index, parameter) in signature.parameters.iter().enumerate() {
        let parameter = escape::words(parameter);
        let start = from + label.get(from..)?.find(parameter.as_str())?;
        from = start + parameter.len();
        if index == active {
            return (from > start).then_some(start..from);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(active: Option<u32>) -> SignaturesOutput {
        let item = SignatureItem {
            label: "move(m, 名前: str, m2)".into(),
            documentation: Some("Moves *it*.".into()),
            parameters: vec!["m".into(), "名前: str".into(), "m2".into()],
            active_parameter: active,
            active: true,
        };
        SignaturesOutput { signatures: vec![item] }
    }

    #[test]
    fn signature_in_a_pipe_marks_the_active_parameter() {
        let shown = |active| render(&signature(active), &DisplayCapabilities::PLAIN);
        assert_eq!(shown(Some(0)), "move(m, 名前: str, m2)\n     ^\n\nMoves it.\n");
        assert_eq!(shown(Some(1)), "move(m, 名前: str, m2)\n        ^^^^^^^^^\n\nMoves it.\n");
        assert_eq!(shown(Some(9)), "move(m, 名前: str, m2)\n\nMoves it.\n");
        assert_eq!(shown(None), "move(m, 名前: str, m2)\n\nMoves it.\n");
    }

    #[test]
    fn signature_on_a_colour_terminal_highlights_the_active_parameter() {
        let display = DisplayCapabilities { terminal: true, color: true, width: 80 };
        let expected = "move(m, 名前: str, \x1b[1m\x1b[4m\x1b[32mm2\x1b[0m)\n\nMoves \x1b[3mit\x1b[0m.\n";
        assert_eq!(render(&signature(Some(2)), &display), expected);
    }
}
