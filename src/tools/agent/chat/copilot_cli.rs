//! The sessions of Copilot's command line: `session-state/ID/` below its folder, seen in version
//! 1.0.102.
//!
//! `workspace.yaml` contains the folder of the session (`cwd`, `git_root`) and its title (`name`).
//! `events.jsonl` contains the events, one JSON object per line: `session.start` first, and
//! `user.message` for each request, with `content` as the user wrote it. Messages with a `source`
//! other than the user, of a subagent, or written by the program to itself to continue, are not
//! requests of the user. The program removes reverted requests from the file.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::session::{ChatRequest, ChatSession, ChatSource};
use super::store_files::{
    ChatStoreFindings, MAX_CHAT_FILE_BYTES, belongs_to_workspace, list_entries, open_store_folder,
    written_at_ms,
};
use crate::tools::api::timestamp;
use crate::workspace::{ReadError, Workspace, WorkspacePath};

/// The largest `workspace.yaml` that is read, in bytes.
const MAX_WORKSPACE_YAML_BYTES: u64 = 1 << 20;

/// Adds the sessions of the command line's folder that belong to `root`.
pub(super) fn find(home: &Path, root: &Path, findings: &mut ChatStoreFindings) {
    let Some(store) = open_store_folder(&home.join("session-state")) else { return };
    for (name, is_dir) in list_entries(&store, &WorkspacePath::root()) {
        let Ok(folder) = WorkspacePath::root().join(&name) else { continue };
        if is_dir && let Some(session) = session(&store, &folder, &name, root, findings) {
            findings.sessions.push(session);
        }
    }
}

/// The session in `folder`, if it belongs to `root`.
fn session(
    store: &Workspace,
    folder: &WorkspacePath,
    id: &str,
    root: &Path,
    harvest: &mut ChatStoreFindings,
) -> Option<ChatSession> {
    let beside = folder.join("workspace.yaml").ok()?;
    let about = store.read_text_up_to(&beside, MAX_WORKSPACE_YAML_BYTES).ok().map(|file| file.text);
    let known = about.as_deref().map(SessionMetadata::read).unwrap_or_default();
    if known.folders().next().is_some() && !known.belongs_to(root) {
        return None;
    }
    let path = folder.join("events.jsonl").ok()?;
    let stamp = store.stamp(&path).or_else(|_| store.stamp(&beside));
    let updated = stamp.map(|stamp| written_at_ms(&stamp)).unwrap_or_default();
    let lost = ChatSession {
        id: id.to_owned(),
        source: ChatSource::CopilotCli,
        title: known.name.clone(),
        requests: None,
        updated,
    };
    let text = match store.read_text_up_to(&path, MAX_CHAT_FILE_BYTES) {
        Ok(file) => file.text,
        Err(ReadError::NotFound { .. }) => return known.belongs_to(root).then_some(lost),
        Err(error) => {
            harvest.skip(ChatSource::CopilotCli, id, error);
            return known.belongs_to(root).then_some(lost);
        }
    };
    match CopilotCliLog::read(&text) {
        Ok(log) => {
            let is_ours = known.belongs_to(root) || log.metadata.belongs_to(root);
            let last = log.requests.iter().filter_map(|request| request.at).max();
            is_ours.then(|| ChatSession {
                updated: last.unwrap_or(updated),
                requests: Some(log.requests),
                ..lost
            })
        }
        Err(reason) => {
            harvest.skip(ChatSource::CopilotCli, id, reason);
            known.belongs_to(root).then_some(lost)
        }
    }
}

/// The folder of a session, and its name.
#[derive(Debug, Default, PartialEq, Eq)]
struct SessionMetadata {
    cwd: Option<PathBuf>,
    git_root: Option<PathBuf>,
    name: Option<String>,
}

impl SessionMetadata {
    /// Parses `workspace.yaml`, whose values are plain or quoted texts on one line.
    fn read(text: &str) -> Self {
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            unquoted(line.trim()).filter(|value| !value.is_empty())
        };
        Self {
            cwd: value("cwd").map(PathBuf::from),
            git_root: value("git_root").map(PathBuf::from),
            name: value("name"),
        }
    }

    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.cwd.iter().chain(&self.git_root)
    }

    fn belongs_to(&self, root: &Path) -> bool {
        self.folders().any(|folder| belongs_to_workspace(folder, root))
    }
}

/// A YAML text on one line without its quotes.
fn unquoted(text: &str) -> Option<String> {
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    match text.strip_prefix('\'') {
        Some(rest) => Some(rest.strip_suffix('\'')?.replace("''", "'")),
        None => Some(text.to_owned()),
    }
}

/// The content of a log.
#[derive(Debug, Default)]
struct CopilotCliLog {
    metadata: SessionMetadata,
    requests: Vec<ChatRequest>,
}

/// The error of an invalid log. Lines are 1-based.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum BadLog {
    #[error("events.jsonl is not a session log: it does not begin with session.start")]
    Foreign,
    #[error("events.jsonl is broken: line {line}: {why}")]
    Broken { line: usize, why: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotCliLogEvent<T> {
    data: T,
    timestamp: Option<String>,
    agent_id: Option<String>,
}

#[derive(Deserialize)]
struct CopilotCliLogEventType {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct SessionStartData {
    context: Option<SessionStartContext>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionStartContext {
    cwd: Option<PathBuf>,
    git_root: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserMessage {
    content: String,
    source: Option<String>,
    #[serde(default)]
    is_autopilot_continuation: bool,
}

impl CopilotCliLog {
    fn read(text: &str) -> Result<Self, BadLog> {
        let mut lines =
            text.split_inclusive('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        let (_, first) = lines.next().ok_or(BadLog::Foreign)?;
        let kind: CopilotCliLogEventType = serde_json::from_str(first).map_err(|_| BadLog::Foreign)?;
        if kind.kind != "session.start" {
            return Err(BadLog::Foreign);
        }
        let mut log = Self::default();
        if let Ok(CopilotCliLogEvent { data: SessionStartData { context: Some(place) }, .. }) =
            serde_json::from_str(first)
        {
            log.metadata = SessionMetadata { cwd: place.cwd, git_root: place.git_root, name: None };
        }
        while let Some((at, line)) = lines.next() {
            // Most lines are not requests of the user, and some of them are large.
            if !line.contains("\"user.message\"") {
                continue;
            }
            match parse_request(line) {
                Ok(request) => log.requests.extend(request),
                // The last line is still being written.
                Err(_) if lines.peek().is_none() && !line.ends_with('\n') => {}
                Err(error) => return Err(BadLog::Broken { line: at + 1, why: error.to_string() }),
            }
        }
        Ok(log)
    }
}

/// The user's request in a line, if it is one.
fn parse_request(line: &str) -> Result<Option<ChatRequest>, serde_json::Error> {
    let kind: CopilotCliLogEventType = serde_json::from_str(line)?;
    if kind.kind != "user.message" {
        return Ok(None);
    }
    let event: CopilotCliLogEvent<UserMessage> = serde_json::from_str(line)?;
    let message = event.data;
    let by_user = message.source.is_none_or(|source| source == "user");
    if !by_user || event.agent_id.is_some() || message.is_autopilot_continuation {
        return Ok(None);
    }
    let at = event.timestamp.as_deref().and_then(timestamp::read);
    Ok(Some(ChatRequest { text: message.content, at }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"{"type":"session.start","data":{"sessionId":"s","context":{"cwd":"/w"}},"timestamp":"2026-11-21T20:53:37.689Z"}"#;

    fn message(content: &str, more: &str) -> String {
        format!(
            r#"{{"type":"user.message","data":{{"content":"{content}"{more}}},"timestamp":"2026-11-21T20:53:38.357Z"}}"#
        )
    }

    #[test]
    fn copilot_cli_log_lists_only_user_requests() {
        let subagent = message("of an agent", "").replace("\"timestamp\"", "\"agentId\":\"x\",\"timestamp\"");
        let quoted = r#"{"type":"assistant.message","data":{"content":"about \"user.message\" events"}}"#;
        let lines = [
            START.to_owned(),
            message("one", r#","transformedContent":"<x>one""#),
            message("hidden", r#","source":"skill-pdf""#),
            message("go on", r#","isAutopilotContinuation":true"#),
            subagent,
            quoted.to_owned(),
            message("two", r#","source":"user""#),
            r#"{"type":"user.message","data":{"conte"#.to_owned(),
        ];
        let log = CopilotCliLog::read(&lines.join("\n")).unwrap();
        let texts: Vec<&str> = log.requests.iter().map(|request| request.text.as_str()).collect();
        assert_eq!(texts, ["one", "two"]);
        assert_eq!(log.requests[0].at, Some(1_795_294_418_357));
        assert_eq!(log.metadata.cwd.as_deref(), Some(Path::new("/w")));
    }

    #[test]
    fn invalid_copilot_cli_log_is_foreign_or_broken() {
        for text in ["", "hello", "{}", r#"{"type":"user.message","data":{"content":"x"}}"#] {
            assert_eq!(CopilotCliLog::read(text).map(|log| log.requests), Err(BadLog::Foreign), "{text}");
        }
        let broken = format!("{START}\n{{\"type\":\"user.message\",\n{}\n", message("x", ""));
        assert!(matches!(CopilotCliLog::read(&broken), Err(BadLog::Broken { line: 2, .. })));
    }

    #[test]
    fn session_metadata_parses_plain_and_quoted_yaml_values() {
        let about = SessionMetadata::read(
            "id: x\ncwd: /a b/ü\nname: 'it''s'\ngit_root: \"/a\\u0020b\"\ncwd_more: no\n",
        );
        assert_eq!(about.cwd.as_deref(), Some(Path::new("/a b/ü")));
        assert_eq!(about.name.as_deref(), Some("it's"));
        assert_eq!(about.git_root.as_deref(), Some(Path::new("/a b")));
        assert_eq!(SessionMetadata::read("name: 'open\n"), SessionMetadata::default());
    }
}
