//! `chat_sessions`: the chats of this workspace, the newest first.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::{ChatSessionFinder, ChatSource, Skipped, WorkspaceChats};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::tools::api::timestamp;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::tools::files::list::clamp_count;

/// The tool's name.
pub(crate) const CHAT_SESSIONS: &str = "chat_sessions";

/// The default and the largest number of sessions in one answer.
const DEFAULT_CHAT_SESSIONS: usize = 20;
const MAX_CHAT_SESSIONS: usize = 500;
/// The maximum number of skipped files listed in one answer.
const MAX_LISTED_SKIPPED_CHATS: usize = 20;

/// The arguments of `chat_sessions`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct ChatSessionsArgs {
    /// Maximum number of sessions (20, at most 500).
    pub limit: Option<i64>,
}

/// The answer of `chat_sessions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ChatSessionsOutput {
    /// The sessions, the current dialog first.
    pub sessions: Vec<SessionItem>,
    /// The number of sessions.
    pub count: usize,
    /// True if there are more.
    pub has_more: bool,
    /// Files in the stores that are not sessions, with reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SessionItem {
    /// The id for tools that return the session's requests.
    #[serde(rename = "sessionId")]
    pub session_id: String,
    /// The store.
    pub source: ChatSource,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The start of the first request, up to 80 characters.
    #[serde(rename = "firstRequest", skip_serializing_if = "Option::is_none")]
    pub first_request: Option<String>,
    /// The number of requests; absent if the chat cannot be read.
    #[serde(rename = "requestsCount", skip_serializing_if = "Option::is_none")]
    pub requests_count: Option<usize>,
    /// The time of the last request.
    pub updated: String,
    /// True for the current dialog.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
}

/// The `chat_sessions` tool.
pub(crate) struct ChatSessions {
    sessions: Arc<dyn ChatSessionFinder>,
}

impl ChatSessions {
    /// The tool over the sessions that `sessions` finds.
    pub(crate) fn new(sessions: Arc<dyn ChatSessionFinder>) -> Self {
        Self { sessions }
    }
}

impl Tool for ChatSessions {
    type Args = ChatSessionsArgs;
    type Output = ChatSessionsOutput;

    fn card(&self) -> Card {
        Card::reading(
            CHAT_SESSIONS,
            "Chats",
            "The chat sessions that the user held in this workspace (VS Code, Copilot CLI), the newest first: id, title, how the \
             first request begins. `copilot_chat_secretary_get_request` gives what was asked.",
        )
    }

    async fn run(&self, call: Call<'_>, args: ChatSessionsArgs) -> Result<ChatSessionsOutput, ToolError> {
        let (sessions, context) = (self.sessions.clone(), call.context.clone());
        let found = tokio::task::spawn_blocking(move || sessions.find(&context)).await;
        let found = found.map_err(|error| {
            ToolError::new(ErrorCode::Internal, format!("the chats could not be read: {error}"))
        })?;
        Ok(listed(found, clamp_count(args.limit, DEFAULT_CHAT_SESSIONS, MAX_CHAT_SESSIONS)))
    }
}

fn listed(found: WorkspaceChats, most: usize) -> ChatSessionsOutput {
    let count = found.sessions().len();
    let items = found.sessions().iter().take(most).enumerate().map(|(at, session)| SessionItem {
        session_id: session.id.clone(),
        source: session.source,
        title: session.title.clone(),
        first_request: session.first_preview(),
        requests_count: session.requests.as_ref().map(Vec::len),
        updated: timestamp::format_timestamp(session.updated),
        current: at == 0,
    });
    let sessions = items.collect();
    let mut skipped = found.skipped;
    skipped.truncate(MAX_LISTED_SKIPPED_CHATS);
    ChatSessionsOutput { sessions, count, has_more: count > most, skipped }
}
