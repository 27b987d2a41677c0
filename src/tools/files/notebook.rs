//! Jupyter notebooks as text: the cells in order, in the percent format.

use crate::text::notebook::{CellOutput, Notebook};
use crate::text::truncate_chars;

/// The longest output of a cell that is shown, in Unicode scalar values.
const MAX_CELL_OUTPUT_CHARS: usize = 2_000;

/// The cells of the notebook `json` (nbformat 3 and 4): each starts with a line
/// `# %% [kind] cell N` and ends with its text output. `None` for other JSON.
pub(crate) fn as_text(json: &str) -> Option<String> {
    let Notebook { cells, .. }: Notebook = Notebook::parse(json).ok()?;
    let mut text = String::new();
    for (index, cell) in cells.items.iter().enumerate() {
        text.push_str(&format!("# %% [{}] cell {}\n", cell.kind(), index + 1));
        push_lines(&mut text, cell.source());
        if let Some(outputs) = &cell.outputs {
            for output in &outputs.items {
                push_output(&mut text, output);
            }
            push_left_out(&mut text, outputs.left_out, "outputs");
        }
        text.push('\n');
    }
    push_left_out(&mut text, cells.left_out, "cells");
    Some(text)
}

fn push_output(text: &mut String, output: &CellOutput) {
    let (what, shown) = if output.output_type.as_deref() == Some("error") {
        let name = output.ename.as_deref().unwrap_or("error");
        (" (error)".to_owned(), format!("{name}: {}", output.evalue.as_deref().unwrap_or_default()))
    } else {
        let shown = output.text.as_ref().map_or(&output.data.plain, |text| &text.0);
        let others = output.data.others.join(", ");
        let what = if others.is_empty() { others } else { format!(" (also {others})") };
        (what, shown.clone())
    };
    text.push_str(&format!("# output{what}:\n"));
    push_lines(text, &truncate_chars(&shown, MAX_CELL_OUTPUT_CHARS));
}

fn push_left_out(text: &mut String, count: usize, what: &str) {
    if count > 0 {
        text.push_str(&format!("# {count} more {what} are not shown\n"));
    }
}

fn push_lines(text: &mut String, lines: &str) {
    text.push_str(lines);
    if !lines.is_empty() && !lines.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::notebook::{MAX_CELL_OUTPUTS, MAX_NOTEBOOK_CELLS};

    #[test]
    fn notebook_cells_and_outputs_become_text() {
        let notebook = r##"{"nbformat": 4, "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "source": "1 + 1", "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["2"], "image/png": "AAAA"}},
                {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
                {"output_type": "error", "ename": "E", "evalue": "bad", "traceback": []}]}]}"##;
        let expected = "# %% [markdown] cell 1\n# Title\nwords\n\n# %% [code] cell 2\n1 + 1\n\
             # output (also image/png):\n2\n# output:\na\nb\n# output (error):\nE: bad\n\n";
        assert_eq!(as_text(notebook).as_deref(), Some(expected));
        assert_eq!(as_text("{}"), None);
        assert_eq!(as_text("no JSON"), None);
    }

    #[test]
    fn notebook_with_countless_outputs_shows_the_first() {
        let output = r#"{"output_type": "stream", "text": "x"}"#;
        let outputs = vec![output; MAX_CELL_OUTPUTS + 300].join(",");
        let cell = format!(r#"{{"source": ["a", "b"], "outputs": [{outputs}]}}"#);
        let text = as_text(&format!(r#"{{"cells": [{cell}]}}"#)).unwrap();
        assert_eq!(text.matches("# output:\nx\n").count(), MAX_CELL_OUTPUTS);
        assert!(text.starts_with("# %% [code] cell 1\nab\n"), "{text}");
        assert!(text.ends_with("# 300 more outputs are not shown\n\n"), "{text}");
        let cells = vec!["{}"; MAX_NOTEBOOK_CELLS + 7].join(",");
        let text = as_text(&format!(r#"{{"worksheets": [{{"cells": [{cells}]}}]}}"#)).unwrap();
        assert!(text.ends_with("# 7 more cells are not shown\n"), "{text}");
    }
}
