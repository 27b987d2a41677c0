//! Jupyter notebooks as text: the cells in order, in the percent format.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::text::truncate_chars;

/// So much of a cell's output is shown, in Unicode scalar values.
const MAX_CELL_OUTPUT_CHARS: usize = 2_000;
/// The most cells, and outputs of a cell, that are shown.
const MAX_NOTEBOOK_CELLS: usize = 10_000;
const MAX_CELL_OUTPUTS: usize = 100;

/// The cells of the notebook `json` (nbformat 3 and 4): a line `# %% [kind] cell N` before each, its text output behind it.
/// `None` where it is no notebook.
pub(crate) fn as_text(json: &str) -> Option<String> {
    let Notebook { cells, worksheets } = serde_json::from_str(json).ok()?;
    let first = worksheets.and_then(|sheets| sheets.items.into_iter().next());
    let cells = cells.or_else(|| first.and_then(|sheet| sheet.cells))?;
    let mut text = String::new();
    for (index, cell) in cells.items.iter().enumerate() {
        let kind = cell.cell_type.as_deref().unwrap_or("code");
        text.push_str(&format!("# %% [{kind}] cell {}\n", index + 1));
        let source = cell.source.as_ref().or(cell.input.as_ref());
        push_lines(&mut text, source.map_or("", |source| &source.0));
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

#[derive(Deserialize)]
struct Notebook {
    cells: Option<FirstItems<NotebookCell, MAX_NOTEBOOK_CELLS>>,
    worksheets: Option<FirstItems<NotebookWorksheet, 1>>,
}

/// What nbformat 3 has the cells in.
#[derive(Deserialize)]
struct NotebookWorksheet {
    cells: Option<FirstItems<NotebookCell, MAX_NOTEBOOK_CELLS>>,
}

#[derive(Deserialize)]
struct NotebookCell {
    cell_type: Option<String>,
    source: Option<JoinedLines>,
    /// As `source`, in nbformat 3.
    input: Option<JoinedLines>,
    outputs: Option<FirstItems<CellOutput, MAX_CELL_OUTPUTS>>,
}

#[derive(Deserialize)]
struct CellOutput {
    output_type: Option<String>,
    ename: Option<String>,
    evalue: Option<String>,
    text: Option<JoinedLines>,
    #[serde(default)]
    data: OutputData,
}

/// The forms of one output: its plain text, and the kinds of the others.
#[derive(Default)]
struct OutputData {
    plain: String,
    others: Vec<String>,
}

/// The first `N` items of a list, and the number of those after them, which take no memory.
struct FirstItems<T, const N: usize> {
    items: Vec<T>,
    left_out: usize,
}

/// A text that notebooks keep whole or line by line.
struct JoinedLines(String);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for FirstItems<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = FirstItems<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut first = FirstItems { items: Vec::new(), left_out: 0 };
                while first.items.len() < N {
                    let Some(item) = list.next_element()? else { return Ok(first) };
                    first.items.push(item);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    first.left_out += 1;
                }
                Ok(first)
            }
        }
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

impl<'de> Deserialize<'de> for JoinedLines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = JoinedLines;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of lines")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<JoinedLines, E> {
                Ok(JoinedLines(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JoinedLines, A::Error> {
                let mut joined = String::new();
                while let Some(line) = list.next_element::<String>()? {
                    joined.push_str(&line);
                }
                Ok(JoinedLines(joined))
            }
        }
        deserializer.deserialize_any(Lines)
    }
}

impl<'de> Deserialize<'de> for OutputData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = OutputData;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from kinds to contents")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OutputData, A::Error> {
                let mut data = OutputData::default();
                while let Some(kind) = map.next_key::<String>()? {
                    if kind == "text/plain" {
                        data.plain = map.next_value::<JoinedLines>()?.0;
                        continue;
                    }
                    map.next_value::<IgnoredAny>()?;
                    if data.others.len() < MAX_CELL_OUTPUTS {
                        data.others.push(kind);
                    }
                }
                Ok(data)
            }
        }
        deserializer.deserialize_map(Forms)
    }
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
