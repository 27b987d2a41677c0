//! VS Code's chat sessions: `workspaceStorage/HASH/chatSessions/ID.json` or `ID.jsonl`, below the folder `User`.
//!
//! Which folder a `HASH` belongs to stands in its `workspace.json`: `{"folder": "file:///…"}`, or `{"workspace": "file:///….code-workspace"}`
//! (`configuration` in older versions), a file that lists folders. Chats of windows without a folder belong to no workspace.
//!
//! A session was one JSON object (`version` 1 to 3) up to VS Code 1.108; since 1.109 it is a log of changes to that object
//! ([`vscode_log`]). Where both are there, the log is the newer one. Of the object, these fields are read:
//! `sessionId`, `customTitle`, `creationDate`, `lastMessageDate` and `requests`, of each of which `message` (a text, or an
//! object with `text`), `timestamp`, and what says that it is not shown any more (`isHidden`, `shouldBeRemovedOnSend`).
//! The formats are VS Code's own and not published as such; what is told here was read in its public source.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::session::{ChatRequest, ChatSession, ChatSource};
use super::stores::{ChatStoreFindings, MOST_BYTES, belongs, entries, jail, written};
use super::vscode_log;
use crate::workspace::{Workspace, WorkspacePath};

/// The largest `workspace.json` or `.code-workspace` that is read, in bytes.
const SMALL: u64 = 1 << 20;

/// A file cannot be taken for a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SessionFileError {
    /// Not what it should be in any way.
    #[error("it is no chat session: {0}")]
    Foreign(String),
    /// It was one, and something in it is broken.
    #[error("it is broken: {0}")]
    Broken(String),
}

/// Adds the sessions of the folder `User` that were held in `root`.
pub(super) fn find(user: &Path, root: &Path, harvest: &mut ChatStoreFindings) {
    let Some(store) = jail(&user.join("workspaceStorage")) else { return };
    for (name, is_dir) in entries(&store, &WorkspacePath::root()) {
        let Ok(folder) = WorkspacePath::root().join(&name) else { continue };
        if is_dir && is_of(&store, &folder, root) {
            sessions(&store, &folder, harvest);
        }
    }
}

/// Whether the storage in `folder` is that of a workspace at `root`.
fn is_of(store: &Workspace, folder: &WorkspacePath, root: &Path) -> bool {
    let text = folder.join("workspace.json").ok().and_then(|path| store.read_text_up_to(&path, SMALL).ok());
    let Some(Ok(about)) = text.map(|file| serde_json::from_str::<Value>(&file.text)) else { return false };
    if let Some(folder) = about["folder"].as_str().and_then(local) {
        return belongs(&folder, root);
    }
    let listed = about["workspace"].as_str().or(about["configuration"].as_str()).and_then(local);
    listed.is_some_and(|file| folders_of(&file).iter().any(|folder| belongs(folder, root)))
}

/// The path of a `file:` URI; other machines' folders have none.
fn local(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

/// The folders that a `.code-workspace` lists, which is JSON with comments.
fn folders_of(file: &Path) -> Vec<PathBuf> {
    let Ok(text) = Workspace::read_outside(file, SMALL) else { return Vec::new() };
    let parsed = CstRootNode::parse(&text, &ParseOptions::default());
    let Some(about) = parsed.ok().and_then(|root| root.to_serde_value()) else { return Vec::new() };
    let base = file.parent().unwrap_or(Path::new("/"));
    let folders = about["folders"].as_array().into_iter().flatten();
    let folders = folders.filter_map(|folder| match (folder["path"].as_str(), folder["uri"].as_str()) {
        (Some(path), _) => Some(base.join(path)),
        (None, Some(uri)) => local(uri),
        (None, None) => None,
    });
    folders.collect()
}

/// Adds the sessions in the storage of one workspace.
fn sessions(store: &Workspace, folder: &WorkspacePath, harvest: &mut ChatStoreFindings) {
    let Ok(folder) = folder.join("chatSessions") else { return };
    let names: Vec<String> =
        entries(store, &folder).into_iter().filter_map(|(name, is_dir)| (!is_dir).then_some(name)).collect();
    for name in &names {
        let log = name.strip_suffix(".jsonl");
        let whole = name.strip_suffix(".json");
        let Some(id) = log.or(whole).filter(|id| !id.is_empty()) else {
            harvest.skip(
                ChatSource::Vscode,
                name,
                SessionFileError::Foreign("its name ends in neither .json nor .jsonl".to_owned()),
            );
            continue;
        };
        if whole.is_some() && names.contains(&format!("{id}.jsonl")) {
            continue;
        }
        let Ok(path) = folder.join(name) else { continue };
        let read = store.read_text_up_to(&path, MOST_BYTES);
        let stamp = store.stamp(&path).map(|stamp| written(&stamp)).unwrap_or_default();
        let data = match read {
            Err(error) => Err(SessionFileError::Broken(error.to_string())),
            Ok(file) if log.is_some() => vscode_log::replayed(&file.text),
            Ok(file) => VscodeSessionData::read(&file.text),
        };
        match data {
            Ok(data) => harvest.sessions.push(data.session(id, stamp)),
            Err(why) => {
                harvest.skip(ChatSource::Vscode, name, &why);
                // A session that is broken is a session all the same, of which there is nothing to tell.
                if matches!(why, SessionFileError::Broken(_)) {
                    harvest.sessions.push(ChatSession {
                        id: id.to_owned(),
                        source: ChatSource::Vscode,
                        title: None,
                        requests: None,
                        updated: stamp,
                    });
                }
            }
        }
    }
}

/// What is read of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VscodeSessionData {
    pub id: Option<String>,
    pub title: Option<String>,
    /// When it began, and when something was said in it last, in milliseconds since 1970.
    pub created: Option<i64>,
    pub last: Option<i64>,
    pub requests: Vec<VscodeRequest>,
}

/// What is read of a request.
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
    /// Any value at all means that it is.
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
    /// A session as one object.
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

    /// As all sessions are; `id` is its file's name, `written` when that was.
    fn session(self, id: &str, written: i64) -> ChatSession {
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
    /// A request; of one that is not as it should be, what can be read.
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

/// A message on its own, as a change has it.
pub(super) fn message(raw: &RawValue) -> String {
    serde_json::from_str::<VscodeMessage>(raw.get()).map(VscodeMessage::text).unwrap_or_default()
}

/// A number of JavaScript's, which writes whole ones as such.
pub(super) fn milliseconds(number: f64) -> i64 {
    number as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(data: VscodeSessionData) -> Vec<String> {
        let session = data.session("file-name", 7);
        session.requests.unwrap_or_default().into_iter().map(|request| request.text).collect()
    }

    #[test]
    fn every_version_of_the_object_is_read() {
        let first = r#"{"requests": [{"message": "plain"}], "sessionId": "a", "creationDate": 5}"#;
        let data = VscodeSessionData::read(first).unwrap();
        assert_eq!((data.id.as_deref(), data.created), (Some("a"), Some(5)));
        assert_eq!(texts(data), ["plain"]);
        let third = r#"{"version": 3, "sessionId": "b", "customTitle": "T", "lastMessageDate": 9, "requests": [
            {"message": {"text": "one", "parts": []}, "timestamp": 1763727100000, "response": [{"value": "x"}]},
            {"message": {"text": "taken back"}, "shouldBeRemovedOnSend": {"afterUndoStop": "x"}},
            {"message": {"text": "hidden"}, "isHidden": true},
            {"message": {"parts": []}},
            "odd"
        ]}"#;
        let data = VscodeSessionData::read(third).unwrap();
        assert_eq!(
            (data.title.as_deref(), data.last, data.requests[0].at),
            (Some("T"), Some(9), Some(1_763_727_100_000))
        );
        assert_eq!(texts(data), ["one", "", ""]);
    }

    #[test]
    fn what_is_none_says_why() {
        for text in ["[]", "{}", r#"{"requests": {}}"#, "hello", ""] {
            assert!(matches!(VscodeSessionData::read(text), Err(SessionFileError::Foreign(_))), "{text}");
        }
        assert!(matches!(
            VscodeSessionData::read(r#"{"requests": [{"message": "#),
            Err(SessionFileError::Broken(_))
        ));
    }
}
