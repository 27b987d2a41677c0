//! VS Code's chat sessions: `workspaceStorage/HASH/chatSessions/ID.json` or `ID.jsonl`, below the
//! folder `User`.
//!
//! The folder of a `HASH` is in its `workspace.json`: `{"folder": "file:///…"}`, or
//! `{"workspace": "file:///….code-workspace"}` (`configuration` in older versions), a file that
//! lists folders. Chats of windows without a folder belong to no workspace.
//!
//! A session was one JSON object (`version` 1 to 3) up to VS Code 1.108; since 1.109 it is a log of
//! changes to that object ([`vscode_log`]). If both exist, the log is the newer one. These fields
//! of the object are read: `sessionId`, `customTitle`, `creationDate`, `lastMessageDate` and
//! `requests`; of each request `message` (a text, or an object with `text`), `timestamp`, and the
//! flags that hide it (`isHidden`, `shouldBeRemovedOnSend`). The formats are VS Code's own and not
//! published; this description is from its public source.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use url::Url;

use super::session::{ChatSession, ChatSource};
use super::store_files::{
    ChatStoreFindings, MAX_CHAT_FILE_BYTES, belongs_to_workspace, list_entries, open_store_folder,
    written_at_ms,
};
use super::vscode_data::{SessionFileError, VscodeSessionData};
use super::vscode_log;
use crate::workspace::{Workspace, WorkspacePath};

/// The largest `workspace.json` or `.code-workspace` that is read, in bytes.
const MAX_WORKSPACE_JSON_BYTES: u64 = 1 << 20;

/// Adds the sessions of the folder `User` that belong to `root`.
pub(super) fn find(user: &Path, root: &Path, harvest: &mut ChatStoreFindings) {
    let Some(store) = open_store_folder(&user.join("workspaceStorage")) else { return };
    for (name, is_dir) in list_entries(&store, &WorkspacePath::root()) {
        let Ok(folder) = WorkspacePath::root().join(&name) else { continue };
        if is_dir && belongs_to(&store, &folder, root) {
            add_sessions(&store, &folder, harvest);
        }
    }
}

/// Returns true if the storage in `folder` is that of a workspace at `root`.
fn belongs_to(store: &Workspace, folder: &WorkspacePath, root: &Path) -> bool {
    let text = folder
        .join("workspace.json")
        .ok()
        .and_then(|path| store.read_text_up_to(&path, MAX_WORKSPACE_JSON_BYTES).ok());
    let Some(Ok(about)) = text.map(|file| serde_json::from_str::<Value>(&file.text)) else { return false };
    if let Some(folder) = about["folder"].as_str().and_then(local_path) {
        return belongs_to_workspace(&folder, root);
    }
    let listed = about["workspace"].as_str().or(about["configuration"].as_str()).and_then(local_path);
    listed.is_some_and(|file| folders_of(&file).iter().any(|folder| belongs_to_workspace(folder, root)))
}

/// The path of a `file:` URI; `None` for folders of other machines.
fn local_path(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

/// The folders that a `.code-workspace` lists, which is JSON with comments.
fn folders_of(file: &Path) -> Vec<PathBuf> {
    let Ok(text) = Workspace::read_outside(file, MAX_WORKSPACE_JSON_BYTES) else { return Vec::new() };
    let parsed = CstRootNode::parse(&text, &ParseOptions::default());
    let Some(about) = parsed.ok().and_then(|root| root.to_serde_value()) else { return Vec::new() };
    let base = file.parent().unwrap_or(Path::new("/"));
    let folders = about["folders"].as_array().into_iter().flatten();
    let folders = folders.filter_map(|folder| match (folder["path"].as_str(), folder["uri"].as_str()) {
        (Some(path), _) => Some(base.join(path)),
        (None, Some(uri)) => local_path(uri),
        (None, None) => None,
    });
    folders.collect()
}

/// Adds the sessions in the storage of one workspace.
fn add_sessions(store: &Workspace, folder: &WorkspacePath, harvest: &mut ChatStoreFindings) {
    let Ok(folder) = folder.join("chatSessions") else { return };
    let names: Vec<String> = list_entries(store, &folder)
        .into_iter()
        .filter_map(|(name, is_dir)| (!is_dir).then_some(name))
        .collect();
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
        let read = store.read_text_up_to(&path, MAX_CHAT_FILE_BYTES);
        let stamp = store.stamp(&path).map(|stamp| written_at_ms(&stamp)).unwrap_or_default();
        let data = match read {
            Err(error) => Err(SessionFileError::Broken(error.to_string())),
            Ok(file) if log.is_some() => vscode_log::replay_log(&file.text),
            Ok(file) => VscodeSessionData::read(&file.text),
        };
        match data {
            Ok(data) => harvest.sessions.push(data.session(id, stamp)),
            Err(reason) => {
                harvest.skip(ChatSource::Vscode, name, &reason);
                // A broken session still exists, but has no content.
                if matches!(reason, SessionFileError::Broken(_)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(data: VscodeSessionData) -> Vec<String> {
        let session = data.session("file-name", 7);
        session.requests.unwrap_or_default().into_iter().map(|request| request.text).collect()
    }

    #[test]
    fn vscode_session_of_every_version_is_parsed() {
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
    fn invalid_vscode_session_is_foreign_or_broken() {
        for text in ["[]", "{}", r#"{"requests": {}}"#, "hello", ""] {
            assert!(matches!(VscodeSessionData::read(text), Err(SessionFileError::Foreign(_))), "{text}");
        }
        assert!(matches!(
            VscodeSessionData::read(r#"{"requests": [{"message": "#),
            Err(SessionFileError::Broken(_))
        ));
    }
}
