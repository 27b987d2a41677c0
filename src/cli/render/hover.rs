//! Hover texts of symbols.

use crate::analysis::answer::HoverOutput;

use super::terminal::display::BOLD;
use super::terminal::markdown;
use super::{DisplayCapabilities, locations};

/// Renders the hover's Markdown and, if no server answered, the likely definitions.
pub(crate) fn render(output: &HoverOutput, display: &DisplayCapabilities) -> String {
    let mut out = markdown::render(&output.contents, display);
    if !output.candidates.is_empty() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&display.paint(BOLD, "Likely defined here, best first:"));
        out.push('\n');
        for place in &output.candidates {
            out.push_str(&locations::plain_line(place, display));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::items::place::Place;
    use crate::text::{Position, Range};

    #[test]
    fn hover_candidates_follow_the_contents() {
        let range = Range::new(Position::new(2, 4), Position::new(2, 9));
        let place = Place {
            path: "src/app.py".into(),
            enclosing: None,
            range,
            text: Some("def greet(name):".into()),
            why: Some("defined in this file".into()),
        };
        let output = HoverOutput { contents: "Greets.".into(), range: None, candidates: vec![place].into() };
        assert_eq!(
            render(&output, &DisplayCapabilities::PLAIN),
            "Greets.\n\nLikely defined here, best first:\nsrc/app.py:3:5: def greet(name):  (defined in this file)\n"
        );
    }
}
