//! What starts us, as one entry of a host's file.

use serde_json::Value;

use super::InitError;
use super::file::new_lines;

/// Where an entry goes and what it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostConfigEntry {
    /// The keys of the tables around it, and its own.
    pub(super) path: Vec<String>,
    pub(super) value: Value,
}

impl HostConfigEntry {
    /// The error where `file` has another value, `known`, in its place.
    pub(super) fn conflict(&self, file: &str, known: Option<&Value>) -> InitError {
        let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
        let known = known.map(pretty).unwrap_or_default();
        let name = self.path.join(".");
        let difference = new_lines(&known, &pretty(&self.value));
        InitError::Other { file: file.to_owned(), entry: name, difference }
    }
}
