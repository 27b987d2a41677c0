//! A custom tool built on the chat tools, with its dependency injected at creation.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::stage::RuntimeStage;
use crate::analysis::context::Context;
use crate::runtime::calls::call::CallRequest;
use crate::tools::agent::chat::chat_tool::{ChatError, ChatTool};
use crate::tools::agent::chat::session::{
    ChatRequest, ChatSession, ChatSessionFinder, ChatSource, WorkspaceChats,
};
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{Caller, Card};

const COUNT: &str = "copilot_chat_secretary_count_dialogs";

/// A finder that returns one session, or fails with an error.
struct Fake {
    session: Option<ChatSession>,
}

impl ChatSessionFinder for Fake {
    fn find(&self, _context: &Context) -> WorkspaceChats {
        match &self.session {
            Some(session) => WorkspaceChats::new(vec![session.clone()], Vec::new()),
            None => panic!("connection to 10.0.0.5 failed"),
        }
    }
}

fn count(found: &WorkspaceChats, _arguments: &Value) -> Result<Map<String, Value>, ChatError> {
    let mut fields = Map::new();
    fields.insert("count".to_owned(), json!(found.sessions().len()));
    Ok(fields)
}

fn one_session() -> ChatSession {
    let requests = Some(vec![ChatRequest { text: "Hello".to_owned(), at: None }]);
    ChatSession { id: "s".to_owned(), source: ChatSource::Vscode, title: None, requests, updated: 0 }
}

/// Calls a tool that counts the sessions of `session`. Returns the model's text as JSON, and the
/// result.
async fn tell(session: Option<ChatSession>) -> (Value, ToolResult) {
    let stage = RuntimeStage::new();
    let mut runtime = stage.open();
    let input = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let card = Card::reading(COUNT, "Count", "Counts the dialogs.");
    let tool = ChatTool::new(card, input, Arc::new(Fake { session }), count);
    runtime.add_any_tool(Arc::new(tool)).expect("a tool");
    let caller = Caller::default();
    let result = runtime.call(CallRequest::new(COUNT, json!({}), &caller)).await;
    runtime.shutdown().await;
    let text = serde_json::from_str(&result.text_for_model()).expect("a JSON string");
    (text, result)
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_with_successful_execution() {
    let (text, result) = tell(Some(one_session())).await;
    assert_eq!(text, json!({"success": true, "count": 1}));
    assert!(result.ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_with_error_handling() {
    let (text, result) = tell(None).await;
    assert!(!result.ok(), "{text}");
    assert_eq!(result.value["ok"], false);
    assert_eq!(text["isError"], true);
    assert!(
        text["message"].as_str().is_some_and(|message| !message.is_empty() && !message.contains("10.0.0.5")),
        "{text}"
    );
    assert_eq!(text.as_object().map(Map::len), Some(2), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_receives_dependencies() {
    let given = ChatSession { id: "given".to_owned(), ..one_session() };
    let (text, _) = tell(Some(given)).await;
    assert_eq!(text["count"], 1, "of whoever it was given: there are no stores");
}
