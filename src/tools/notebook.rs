//! Jupyter notebooks as text: the cells in order, in the percent format.

use serde_json::Value;

use crate::text::truncate_chars;

/// So much of a cell's output is shown, in Unicode scalar values.
const MAX_CELL_OUTPUT_CHARS: usize = 2_000;

/// The cells of the notebook `json` (nbformat 3 and 4): a line `# %% [kind] cell N` before each, its text output behind it.
/// `None` where it is no notebook.
pub(crate) fn as_text(json: &str) -> Option<String> {
    let notebook: Value = serde_json::from_str(json).ok()?;
    let cells = notebook["cells"].as_array().or_else(|| notebook["worksheets"][0]["cells"].as_array())?;
    let mut text = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let kind = cell["cell_type"].as_str().unwrap_or("code");
        text.push_str(&format!("# %% [{kind}] cell {}\n", index + 1));
        let source = if cell["source"].is_null() { &cell["input"] } else { &cell["source"] };
        push_lines(&mut text, &join_lines(source));
        for output in cell["outputs"].as_array().into_iter().flatten() {
            let (what, shown) = output_of(output);
            text.push_str(&format!("# output{what}:\n"));
            push_lines(&mut text, &truncate_chars(&shown, MAX_CELL_OUTPUT_CHARS));
        }
        text.push('\n');
    }
    Some(text)
}

/// Notebooks keep texts whole or line by line.
fn join_lines(value: &Value) -> String {
    match value {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// What an output is, where that is not plain text, and what of it is text.
fn output_of(output: &Value) -> (String, String) {
    if output["output_type"] == "error" {
        let name = output["ename"].as_str().unwrap_or("error");
        return (" (error)".to_owned(), format!("{name}: {}", output["evalue"].as_str().unwrap_or_default()));
    }
    let data = &output["data"];
    let text =
        if output["text"].is_null() { join_lines(&data["text/plain"]) } else { join_lines(&output["text"]) };
    let others: Vec<&str> = data
        .as_object()
        .into_iter()
        .flatten()
        .map(|(kind, _)| kind.as_str())
        .filter(|kind| *kind != "text/plain")
        .collect();
    let what = if others.is_empty() { String::new() } else { format!(" (also {})", others.join(", ")) };
    (what, text)
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
}
