//! Jupyter notebooks, parsed as far as they are shown or searched: cells with their sources, and a
//! limited number of outputs.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The maximum number of cells, and of outputs of a cell, that are read.
pub(crate) const MAX_NOTEBOOK_CELLS: usize = 10_000;
pub(crate) const MAX_CELL_OUTPUTS: usize = 100;

/// The ending of notebooks' names.
pub(crate) const NOTEBOOK_EXTENSION: &str = "ipynb";

/// A notebook (nbformat 3 and 4) with its cells, parsed as `C`.
pub(crate) struct Notebook<C = NotebookCell> {
    /// The cells.
    pub(crate) cells: FirstItems<C, MAX_NOTEBOOK_CELLS>,
    /// The language of its code in lower case; Python if its metadata name none.
    pub(crate) language: String,
}

/// The reason why a text is not a notebook.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotebookError {
    /// Other JSON, or none.
    #[error("its text is not valid notebook JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// An object without cells.
    #[error("its JSON has no `cells`")]
    NoCells,
}

impl<'de, C: Deserialize<'de>> Notebook<C> {
    /// Reads the notebook in `json`.
    pub(crate) fn parse(json: &'de str) -> Result<Self, NotebookError> {
        let NotebookFile { cells, worksheets, metadata } = serde_json::from_str(json)?;
        let first = worksheets.and_then(|sheets: FirstItems<_, 1>| sheets.items.into_iter().next());
        let spoken = metadata.and_then(|metadata: NotebookMetadata| {
            let of_kernel = metadata.kernelspec.and_then(|kernel| kernel.language);
            metadata.language_info.and_then(|info| info.name).or(of_kernel)
        });
        let language = spoken.unwrap_or_else(|| "python".to_owned());
        let cells = cells.or_else(|| first.and_then(|sheet| sheet.cells)).ok_or(NotebookError::NoCells)?;
        Ok(Self { cells, language: language.to_lowercase() })
    }
}

impl NotebookCell {
    /// The source.
    pub(crate) fn source(&self) -> &str {
        self.source.as_ref().or(self.input.as_ref()).map_or("", |source| &source.0)
    }

    /// The kind: "code", "markdown".
    pub(crate) fn kind(&self) -> &str {
        self.cell_type.as_deref().unwrap_or("code")
    }
}

#[derive(Deserialize)]
#[serde(bound = "C: Deserialize<'de>")]
struct NotebookFile<C> {
    cells: Option<FirstItems<C, MAX_NOTEBOOK_CELLS>>,
    worksheets: Option<FirstItems<NotebookWorksheet<C>, 1>>,
    metadata: Option<NotebookMetadata>,
}

#[derive(Deserialize)]
struct NotebookMetadata {
    language_info: Option<NotebookLanguage>,
    kernelspec: Option<NotebookLanguage>,
}

#[derive(Deserialize)]
struct NotebookLanguage {
    name: Option<String>,
    language: Option<String>,
}

/// The part of nbformat 3 that has the cells.
#[derive(Deserialize)]
#[serde(bound = "C: Deserialize<'de>")]
struct NotebookWorksheet<C> {
    cells: Option<FirstItems<C, MAX_NOTEBOOK_CELLS>>,
}

/// A cell.
#[derive(Deserialize)]
pub(crate) struct NotebookCell {
    cell_type: Option<String>,
    source: Option<JoinedLines>,
    /// The counterpart of `source` in nbformat 3.
    input: Option<JoinedLines>,
    /// The outputs of its last run.
    pub(crate) outputs: Option<FirstItems<CellOutput, MAX_CELL_OUTPUTS>>,
}

/// An output of a cell (nbformat 4).
#[derive(Deserialize)]
pub(crate) struct CellOutput {
    pub(crate) output_type: Option<String>,
    pub(crate) ename: Option<String>,
    pub(crate) evalue: Option<String>,
    pub(crate) text: Option<JoinedLines>,
    #[serde(default)]
    pub(crate) data: OutputData,
}

/// The forms of one output: its plain text, and the kinds of the others.
#[derive(Default)]
pub(crate) struct OutputData {
    pub(crate) plain: String,
    pub(crate) others: Vec<String>,
}

/// The first `N` items of a list, and the number of further ones, which take no memory.
pub(crate) struct FirstItems<T, const N: usize> {
    pub(crate) items: Vec<T>,
    pub(crate) left_out: usize,
}

/// A text that notebooks keep whole or line by line.
pub(crate) struct JoinedLines(pub(crate) String);

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
