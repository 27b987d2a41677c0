//! A chat session, regardless of its store.

use serde::Serialize;

use crate::analysis::context::Context;

/// The longest preview, in characters.
pub(crate) const MAX_CHAT_PREVIEW_CHARS: usize = 80;

/// The origin of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ChatSource {
    /// VS Code and editors based on it.
    Vscode,
    /// The Copilot command line.
    CopilotCli,
}

/// A request of the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ChatRequest {
    /// The whole text; empty if there is none.
    pub text: String,
    /// The time, in milliseconds since 1970 (UTC).
    pub at: Option<i64>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChatSession {
    /// The id in its store.
    pub id: String,
    /// The program that stores the session.
    pub source: ChatSource,
    /// The title.
    pub title: Option<String>,
    /// The requests in order; `None` if the session is known but its chat is not available.
    pub requests: Option<Vec<ChatRequest>>,
    /// The time of the last request, else of the start or the last write of the file, like
    /// [`ChatRequest::at`].
    pub updated: i64,
}

impl ChatSession {
    /// The beginning of its first request, on one line.
    pub(crate) fn first_preview(&self) -> Option<String> {
        let first = self.requests.as_ref()?.first()?;
        Some(preview(&first.text)).filter(|preview| !preview.is_empty())
    }

    /// The key that orders sessions. A session without requests comes after all others.
    fn sort_key(&self) -> (bool, i64, &str) {
        let has_requests = self.requests.as_ref().is_some_and(|requests| !requests.is_empty());
        (has_requests, self.updated, &self.id)
    }
}

/// A file in a store that is not a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Skipped {
    /// The store.
    pub source: ChatSource,
    /// The file name.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// The sessions of one workspace in all stores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WorkspaceChats {
    sessions: Vec<ChatSession>,
    /// The skipped files.
    pub skipped: Vec<Skipped>,
}

impl WorkspaceChats {
    /// The chats of a workspace, from sessions in any order.
    pub(crate) fn new(mut sessions: Vec<ChatSession>, skipped: Vec<Skipped>) -> Self {
        sessions.sort_by(|one, other| other.sort_key().cmp(&one.sort_key()));
        Self { sessions, skipped }
    }

    /// The sessions, the current one first.
    pub(crate) fn sessions(&self) -> &[ChatSession] {
        &self.sessions
    }

    /// The current dialog: the newest.
    pub(crate) fn current(&self) -> Option<&ChatSession> {
        self.sessions.first()
    }

    /// The session with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&ChatSession> {
        self.sessions.iter().find(|session| session.id == id)
    }
}

/// Finds the sessions of a workspace.
pub(crate) trait ChatSessionFinder: Send + Sync + 'static {
    /// All present sessions. It reads files, so it must run on a blocking thread.
    fn find(&self, context: &Context) -> WorkspaceChats;
}

/// `text` on one line of at most [`MAX_CHAT_PREVIEW_CHARS`] characters, truncated with `…`.
pub(crate) fn preview(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_CHAT_PREVIEW_CHARS {
        return line;
    }
    let mut cut: String = line.chars().take(MAX_CHAT_PREVIEW_CHARS - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, requests: Option<usize>, updated: i64) -> ChatSession {
        let requests =
            requests.map(|count| vec![ChatRequest { text: "what?".into(), at: Some(updated) }; count]);
        ChatSession { id: id.into(), source: ChatSource::Vscode, title: None, requests, updated }
    }

    #[test]
    fn current_chat_session_is_the_newest_with_requests() {
        let all = vec![
            session("old", Some(1), 1),
            session("new", Some(2), 9),
            session("empty", Some(0), 10),
            session("lost", None, 11),
        ];
        let found = WorkspaceChats::new(all, Vec::new());
        assert_eq!(found.current().map(|session| session.id.as_str()), Some("new"));
        let order: Vec<&str> = found.sessions().iter().map(|session| session.id.as_str()).collect();
        assert_eq!(order, ["new", "old", "lost", "empty"]);
        assert_eq!(
            WorkspaceChats::new(vec![session("empty", Some(0), 1)], Vec::new())
                .current()
                .map(|one| one.id.as_str()),
            Some("empty")
        );
        assert!(WorkspaceChats::default().current().is_none());
    }

    #[test]
    fn chat_preview_is_one_line_of_at_most_eighty_characters() {
        assert_eq!(preview(" a\n  b\t c "), "a b c");
        let long = "ü".repeat(81);
        assert_eq!(preview(&long).chars().count(), 80);
        assert!(preview(&long).ends_with("ü…"));
        assert_eq!(preview(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(preview("  \n"), "");
    }
}
