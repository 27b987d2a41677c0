//! The entry in a host's file that starts us.

use serde_json::Value;

use super::InitError;
use super::file::new_lines;

/// The path and the value of an entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostConfigEntry {
    /// The keys of the tables around the entry, and its own.
    pub(super) path: Vec<String>,
    pub(super) value: Value,
}

impl HostConfigEntry {
    /// Creates the error for a `file` with another value, `known`, at the entry's path.
    pub(super) fn conflict(&self, file: &str, known: Option<&Value>) -> InitError {
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
        let known = known.map(pretty).unwrap_or_default();
        let name = self.path.join(".");
        let difference = new_lines(&known, &pretty(&self.value));
        InitError::Other { file: file.to_owned(), entry: name, difference }
    }
}
