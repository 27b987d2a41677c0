//! `copilot_chat_secretary_get_request`, `copilot_chat_secretary_get_first_request`: the user's
//! requests in a chat session.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::chat_tool::{ChatError, ChatTool};
use super::session::{ChatRequest, ChatSession, ChatSessionFinder, WorkspaceChats};
use crate::tools::api::timestamp;
use crate::tools::api::tool::Card;

/// The tool that returns one request.
pub(crate) const GET_REQUEST: &str = "copilot_chat_secretary_get_request";
/// The tool that returns the beginning of the first request.
pub(crate) const GET_FIRST_REQUEST: &str = "copilot_chat_secretary_get_first_request";

const ABOUT_REQUEST: &str = r#"Gives one request of the user from a chat dialog of this workspace, by its position, whole.

Use this tool when:
- you need the exact words of an earlier request that are no longer in your context
- you want to go through a dialog request by request
- the user refers to what they asked before ("as in my second question")

Parameters:
- index (number, required): position of the request; 1 is the first one
- sessionId (string, optional): a session by its id, as chat_sessions lists them; the current dialog without it

Returns JSON:
- {"success": true, "sessionId": "abc-123", "request": "the whole text", "index": 2, "timestamp": "2026-01-31T08:05:09.120Z", "totalRequests": 5}
- {"success": false, "error": "Index 10 exceeds total requests (5)"}

Example usage scenarios:
- the second request of the current dialog: {"index": 2}
- the third request of another dialog: {"index": 3, "sessionId": "abc-123"}"#;

const ABOUT_FIRST: &str = r#"Gives the beginning of the user's first request in a chat dialog of this workspace, up to 80 characters: what the dialog is about.

Use this tool when:
- you need to know what the dialog was begun for
- you want to tell dialogs apart without reading them
- you need the id of the current dialog, or how many requests it has

Parameters:
- sessionId (string, optional): a session by its id, as chat_sessions lists them; the current dialog without it

Returns JSON:
- {"success": true, "sessionId": "abc-123", "firstRequest": "Add a test for the parser", "timestamp": "2026-01-31T08:05:09.120Z", "requestsCount": 5}
- {"success": false, "error": "No active dialog found"}

Example usage scenarios:
- what the current dialog is about: {}
- what another dialog is about: {"sessionId": "abc-123"}"#;

const SESSION: &str = "A session by its id, as chat_sessions lists them; without it, the current dialog.";

/// The tool [`GET_REQUEST`].
pub(crate) fn get_request(sessions: Arc<dyn ChatSessionFinder>) -> ChatTool {
    let input = json!({
        "type": "object",
        "properties": {
            "index": {"type": "integer", "description": "Position of the request; 1 is the first one."},
            "sessionId": {"type": "string", "description": SESSION},
        },
        "required": ["index"],
        "additionalProperties": false,
    });
    let card = Card::reading(GET_REQUEST, "A request of a chat", ABOUT_REQUEST);
    ChatTool::new(card, input, sessions, request).with_required("index", ChatError::NoIndex)
}

/// The tool [`GET_FIRST_REQUEST`].
pub(crate) fn get_first_request(sessions: Arc<dyn ChatSessionFinder>) -> ChatTool {
    let input = json!({
        "type": "object",
        "properties": {"sessionId": {"type": "string", "description": SESSION}},
        "required": [],
        "additionalProperties": false,
    });
    let card = Card::reading(GET_FIRST_REQUEST, "The first request of a chat", ABOUT_FIRST);
    ChatTool::new(card, input, sessions, first_request)
}

fn request(found: &WorkspaceChats, arguments: &Value) -> Result<Map<String, Value>, ChatError> {
    // The schema accepts 2.0, which is a whole number in JSON.
    let given = &arguments["index"];
    let index = given.as_i64().or(given.as_f64().map(|index| index as i64)).ok_or(ChatError::NoIndex)?;
    if index < 1 {
        return Err(ChatError::IndexTooSmall);
    }
    let session = session(found, arguments)?;
    let requests = session.requests.as_ref().ok_or(ChatError::NoData)?;
    let request = usize::try_from(index - 1).ok().and_then(|at| requests.get(at));
    let request = request.ok_or(ChatError::IndexTooLarge { index, total: requests.len() })?;
    let fields = json!({
        "sessionId": session.id,
        "request": request.text,
        "index": index,
        "timestamp": timestamp(request),
        "totalRequests": requests.len(),
    });
    Ok(object(fields))
}

fn first_request(found: &WorkspaceChats, arguments: &Value) -> Result<Map<String, Value>, ChatError> {
    let session = session(found, arguments)?;
    let preview = session.first_preview().ok_or(ChatError::NoFirst)?;
    let requests = session.requests.as_deref().unwrap_or_default();
    let fields = json!({
        "sessionId": session.id,
        "firstRequest": preview,
        "timestamp": requests.first().and_then(timestamp),
        "requestsCount": requests.len(),
    });
    Ok(object(fields))
}

/// The named session, or the current dialog.
fn session<'a>(found: &'a WorkspaceChats, arguments: &Value) -> Result<&'a ChatSession, ChatError> {
    match arguments["sessionId"].as_str() {
        None => found.current().ok_or(ChatError::NoDialog),
        Some(id) => found.get(id).ok_or_else(|| ChatError::NoSession(id.to_owned())),
    }
}

fn timestamp(request: &ChatRequest) -> Option<String> {
    request.at.map(timestamp::format_timestamp)
}

fn object(fields: Value) -> Map<String, Value> {
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
