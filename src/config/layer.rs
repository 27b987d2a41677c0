//! One layer of TOML, and the merge of layers.

use toml::Table;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, ConfigProblem};
use super::schema::{self, ConfigField};

/// The origin of a layer; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LayerOrigin {
    /// Compiled in.
    BuiltIn,
    /// The user's own files.
    User,
    /// The project's files; launch fields count only if the project is trusted.
    Project {
        /// True if the owner has approved exactly these launch fields.
        trusted: bool,
    },
    /// The command line.
    Flags,
}

/// One TOML text with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layer {
    /// The origin of the layer.
    pub(crate) origin: LayerOrigin,
    /// The name of the layer in errors (`.lsp-tools/servers.toml`, `--set`).
    pub(crate) file: String,
    /// The TOML text.
    pub(crate) text: String,
}

impl Layer {
    /// A layer of `text` that errors call `file`.
    pub(crate) fn new(origin: LayerOrigin, file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { origin, file: file.into(), text: text.into() }
    }

    /// Parses the text to a table, and checks every key and type in it.
    pub(super) fn read(&self, fields: &[ConfigField]) -> Result<Table, ConfigError> {
        if let Some(fault) = crate::text::toml_fault(&self.text) {
            return Err(ConfigError::Invalid(vec![self.problem(0, fault)]));
        }
        let document = DeTable::parse(&self.text).map_err(|error| self.not_toml(&error))?;
        let problems = schema::check(document.get_ref(), fields)
            .into_iter()
            .map(|(offset, message)| self.problem(offset, message))
            .collect::<Vec<_>>();
        if !problems.is_empty() {
            return Err(ConfigError::Invalid(sorted(problems)));
        }
        toml::from_str(&self.text).map_err(|error| self.not_toml(&error))
    }

    /// Returns the line (1-based) of the value at `path`, or of the nearest table above it that
    /// exists; `None` if the layer has neither. A last step into a list names the element with that
    /// text.
    pub(super) fn line_of(&self, path: &[&str]) -> Option<usize> {
        if crate::text::toml_fault(&self.text).is_some() {
            return None;
        }
        let document = DeTable::parse(&self.text).ok()?;
        let mut table = document.get_ref();
        let mut found = None;
        for step in path {
            let (key, value) = table.get_key_value(*step)?;
            found = Some(key.span().start);
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                DeValue::Array(items) => {
                    let wanted = path.last().copied();
                    let item = items.iter().find(|item| item.get_ref().as_str() == wanted);
                    found = item.map(|item| item.span().start).or(found);
                    break;
                }
                _ => break,
            }
        }
        found.map(|offset| self.line_at(offset))
    }

    /// A problem at a byte offset of the text.
    pub(super) fn problem(&self, offset: usize, message: String) -> ConfigProblem {
        ConfigProblem::new(&self.file, self.line_at(offset), &message)
    }

    fn line_at(&self, offset: usize) -> usize {
        self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    fn not_toml(&self, error: &toml::de::Error) -> ConfigError {
        let offset = error.span().map_or(0, |span| span.start);
        let message = format!("this is not TOML: {}", error.message().trim().replace('\n', ", "));
        ConfigError::Invalid(vec![self.problem(offset, message)])
    }
}

fn sorted(mut problems: Vec<ConfigProblem>) -> Vec<ConfigProblem> {
    problems.sort_by_key(|problem| problem.line);
    problems
}

/// Merges `over` into `under`: tables are merged key by key, everything else is replaced.
pub(crate) fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => merge(below, above),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}
