//! The rule by which a server shows that a file belongs to no project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::RegexPattern;
use crate::config::catalogue::marker::ConfigMarker;
use crate::config::schema::AnyTable;

/// A request whose answer shows that the server's project does not include a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct MembershipRule {
    /// Markers, in a folder above the file, of projects to which the rule applies; all projects if
    /// empty.
    #[serde(default, rename = "where")]
    pub(crate) of: Vec<ConfigMarker>,
    /// Extensions of files that the server analyses by other defaults than its command line, if no
    /// project includes them. The rule applies to these in every project.
    #[serde(default)]
    pub(crate) defaults_differ: Vec<String>,
    /// The request that the server gets about the file.
    pub(crate) method: String,
    /// The params of `method`; `${uri}` and `${path}` in strings stand for the file.
    #[schemars(with = "AnyTable")]
    pub(crate) params: toml::Table,
    /// The part of the response that counts, as a JSON Pointer (RFC 6901); the whole result if
    /// absent.
    #[serde(default)]
    pub(crate) result: String,
    /// A regular expression that matches `result`, or the error message, if the file is outside. A
    /// `result` that is not a string is compared as JSON.
    pub(crate) outside: RegexPattern,
    /// The consequence for answers, as a sentence without its full stop.
    pub(crate) reason: String,
}

impl MembershipRule {
    /// The params of the request about a file.
    pub(crate) fn params_for(&self, uri: &str, path: &str) -> Value {
        fn fill(value: &mut Value, uri: &str, path: &str) {
            match value {
                Value::String(text) => *text = text.replace("${uri}", uri).replace("${path}", path),
                Value::Array(values) => values.iter_mut().for_each(|value| fill(value, uri, path)),
                Value::Object(members) => members.values_mut().for_each(|value| fill(value, uri, path)),
                _ => {}
            }
        }
        // A table of TOML has a form in JSON.
        let mut params = serde_json::to_value(&self.params).unwrap_or_default();
        fill(&mut params, uri, path);
        params
    }

    /// Returns true if the server answers so about a file outside the project: with `result`, or
    /// with the message of an error.
    pub(crate) fn is_outside(&self, answer: Result<&Value, &str>) -> bool {
        match answer {
            Err(message) => self.outside.is_in(message),
            Ok(result) => match result.pointer(&self.result).unwrap_or(&Value::Null) {
                Value::String(text) => self.outside.is_in(text),
                other => self.outside.is_in(&other.to_string()),
            },
        }
    }
}
