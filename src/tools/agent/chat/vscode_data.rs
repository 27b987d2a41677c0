//! The data of a VS Code chat session, as far as tools use it.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::session::{ChatRequest, ChatSession, ChatSource};

/// The error of a file that cannot be read as a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SessionFileError {
    /// The file has another format.
    #[error("it is not a chat session: {0}")]
    Foreign(String),
    /// The file is a session with a broken part.
    #[error("it is broken: {0}")]
    Broken(String),
}

/// The fields that are read from a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VscodeSessionData {
    pub id: Option<String>,
    pub title: Option<String>,
    /// The time of the start and of the last message, in milliseconds since 1970.
    pub created: Option<i64>,
    pub last: Option<i64>,
    pub requests: Vec<VscodeRequest>,
}

/// The fields that are read from a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VscodeRequest {
    pub text: String,
    pub at: Option<i64>,
    pub is_hidden: bool,
    pub is_removed: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VscodeSessionJson<'a> {
    session_id: Option<String>,
    custom_title: Option<String>,
    creation_date: Option<f64>,
    last_message_date: Option<f64>,
    #[serde(borrow)]
    requests: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StoredRequest {
    message: Option<VscodeMessage>,
    timestamp: Option<f64>,
    is_hidden: Option<bool>,
    /// Any value means true.
    #[serde(deserialize_with = "is_there")]
    should_be_removed_on_send: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum VscodeMessage {
    Text(String),
    Parsed { text: String },
    Other(serde::de::IgnoredAny),
}

fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<serde::de::IgnoredAny>::deserialize(deserializer).map(|value| value.is_some())
}

impl VscodeSessionData {
    /// Parses a session in the form of one object.
    pub(super) fn read(text: &str) -> Result<Self, SessionFileError> {
        let is_object = text.trim_start().starts_with('{');
        let stored: VscodeSessionJson<'_> =
            serde_json::from_str(text).map_err(|error| match error.classify() {
                serde_json::error::Category::Data => SessionFileError::Foreign(error.to_string()),
                _ if is_object => SessionFileError::Broken(error.to_string()),
                _ => SessionFileError::Foreign(error.to_string()),
            })?;
        Ok(Self {
            id: stored.session_id,
            title: stored.custom_title,
            created: stored.creation_date.map(milliseconds),
            last: stored.last_message_date.map(milliseconds),
            requests: stored.requests.into_iter().map(VscodeRequest::read).collect(),
        })
    }

    /// Converts to the common form. `id` is the default id, from the file's name; `written` is the
    /// time of its last write.
    pub(super) fn session(self, id: &str, written: i64) -> ChatSession {
        let shown = self.requests.into_iter().filter(|item| !item.is_hidden && !item.is_removed);
        let requests: Vec<ChatRequest> =
            shown.map(|item| ChatRequest { text: item.text, at: item.at }).collect();
        let last = requests.iter().filter_map(|request| request.at).max();
        ChatSession {
            id: self.id.unwrap_or_else(|| id.to_owned()),
            source: ChatSource::Vscode,
            title: self.title.filter(|title| !title.is_empty()),
            updated: last.or(self.last).or(self.created).unwrap_or(written),
            requests: Some(requests),
        }
    }
}

impl VscodeRequest {
    /// Parses a request, and takes the readable fields of an invalid one.
    pub(super) fn read(raw: &RawValue) -> Self {
        let stored: StoredRequest = serde_json::from_str(raw.get()).unwrap_or_default();
        Self {
            text: stored.message.map(VscodeMessage::text).unwrap_or_default(),
            at: stored.timestamp.map(milliseconds),
            is_hidden: stored.is_hidden.unwrap_or(false),
            is_removed: stored.should_be_removed_on_send,
        }
    }
}

impl VscodeMessage {
    fn text(self) -> String {
        match self {
            Self::Text(text) | Self::Parsed { text } => text,
            Self::Other(_) => String::new(),
        }
    }
}

/// A message on its own, as in a change.
pub(super) fn message(raw: &RawValue) -> String {
    serde_json::from_str::<VscodeMessage>(raw.get()).map(VscodeMessage::text).unwrap_or_default()
}

/// Converts a JavaScript number, which may be written as a float.
pub(super) fn milliseconds(number: f64) -> i64 {
    number as i64
}
