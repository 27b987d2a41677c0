//! The common form of the chat tools: arguments, result, and errors.
//!
//! The model reads one JSON text:
//!
//! | outcome | text |
//! |---|---|
//! | success | `{"success": true, …}` |
//! | failure | `{"success": false, "error": "…"}` |
//! | internal error | `{"isError": true, "message": "…"}` |
//!
//! The answer as data is the same, with `ok`, and for a failure with `code` and `error`, like every
//! tool's.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::session::{ChatSessionFinder, WorkspaceChats};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::CallSubjects;
use crate::tools::api::result::{ResultType, ToolResult};
use crate::tools::api::schema::Schema;
use crate::tools::api::tool::{AnyTool, Call, Card, JsonTool, PreparedCall, ToolDefinition};

/// The reason that a tool has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChatError {
    /// There is no dialog yet.
    #[error("No active dialog found")]
    NoDialog,
    /// No session of this workspace has that id.
    #[error("Session not found: {0}")]
    NoSession(String),
    /// The session is known, but its chat is not available.
    #[error("Chat data not available for session")]
    NoData,
    /// The session has no request with text.
    #[error("First request not available")]
    NoFirst,
    /// The argument is missing.
    #[error("Index parameter is required")]
    NoIndex,
    /// Requests are counted from 1.
    #[error("Index must be 1 or greater")]
    IndexTooSmall,
    /// The index is larger than the number of requests.
    #[error("Index {index} exceeds total requests ({total})")]
    IndexTooLarge {
        /// The given index.
        index: i64,
        /// The number of requests.
        total: usize,
    },
    /// An argument does not fit the schema.
    #[error("{0}")]
    Arguments(String),
}

impl ChatError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoDialog | Self::NoSession(_) | Self::NoData | Self::NoFirst => ErrorCode::NotFound,
            Self::NoIndex | Self::IndexTooSmall | Self::IndexTooLarge { .. } | Self::Arguments(_) => {
                ErrorCode::InvalidArgs
            }
        }
    }
}

/// The function of one tool: computes the fields after `success` from the sessions and its
/// arguments.
pub(crate) type ChatToolFunction = fn(&WorkspaceChats, &Value) -> Result<Map<String, Value>, ChatError>;

/// A tool about chats.
pub(crate) struct ChatTool {
    definition: ToolDefinition,
    /// The required field whose absence has its own error.
    required: Option<(&'static str, ChatError)>,
    sessions: Arc<dyn ChatSessionFinder>,
    run: ChatToolFunction,
}

impl std::fmt::Debug for ChatTool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ChatTool").field("name", &self.definition.card.name).finish_non_exhaustive()
    }
}

impl ChatTool {
    /// A tool over the sessions that `sessions` finds.
    pub(crate) fn new(
        card: Card,
        input: Value,
        sessions: Arc<dyn ChatSessionFinder>,
        tells: ChatToolFunction,
    ) -> Self {
        let output = json!({
            "type": "object",
            "properties": {
                "ok": {"type": "boolean"},
                "success": {"type": "boolean"},
                "error": {"type": "string"},
            },
            "required": ["ok"],
        });
        let definition = ToolDefinition { card, input: Schema::new(input), output: Some(output.into()) };
        Self { definition, required: None, sessions, run: tells }
    }

    /// Sets the error for the absence of `field`.
    pub(crate) fn with_required(mut self, field: &'static str, otherwise: ChatError) -> Self {
        self.required = Some((field, otherwise));
        self
    }

    /// The result of a call with `arguments`.
    async fn invoke(&self, context: &Context, arguments: Value) -> ToolResult {
        if let Err(error) = self.check(&arguments) {
            return to_tool_result(Err(error));
        }
        tracing::debug!("MCP tool invoked: {}", self.definition.card.name);
        let (sessions, context, tells) = (self.sessions.clone(), context.clone(), self.run);
        // Chats are files, some of them large, and a panic while they are read must not reach the
        // caller.
        let work = tokio::task::spawn_blocking(move || tells(&sessions.find(&context), &arguments));
        match work.await {
            Ok(outcome) => to_tool_result(outcome),
            Err(fault) => {
                tracing::error!("reading chats failed: {fault}");
                internal_error("the chats could not be read; the reason is in the log")
            }
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), ChatError> {
        if let Some((field, otherwise)) = &self.required
            && arguments.is_object()
            && arguments.get(field).is_none_or(Value::is_null)
        {
            return Err(otherwise.clone());
        }
        let checked = self.definition.input.check(&self.definition.card.name, arguments);
        checked.map_err(|error| ChatError::Arguments(error.error))
    }
}

impl AnyTool for ChatTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Chats are not files of the workspace, so a call has no subjects; the rules decide about the
    /// tool as a whole. The arguments are checked in the call itself, which has its own error
    /// texts.
    fn prepare<'a>(&'a self, _context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError> {
        Ok(PreparedCall::of_json(self, CallSubjects::default(), arguments))
    }
}

impl JsonTool for ChatTool {
    fn run_json<'a>(
        &'a self,
        call: Call<'a>,
        arguments: Value,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { Ok(self.invoke(call.context, arguments).await) })
    }
}

fn to_tool_result(outcome: Result<Map<String, Value>, ChatError>) -> ToolResult {
    match outcome {
        Ok(fields) => {
            let mut text = Map::new();
            text.insert("success".to_owned(), Value::Bool(true));
            text.extend(fields);
            let mut whole = Map::new();
            whole.insert("ok".to_owned(), Value::Bool(true));
            whole.extend(text.clone());
            ToolResult {
                text: Some(Value::Object(text).to_string()),
                ..ToolResult::from_value(Value::Object(whole))
            }
        }
        Err(error) => {
            let text = json!({"success": false, "error": error.to_string()});
            failed_result(error.code(), error.to_string(), &text)
        }
    }
}

fn internal_error(message: &str) -> ToolResult {
    failed_result(ErrorCode::Internal, message.to_owned(), &json!({"isError": true, "message": message}))
}

fn failed_result(code: ErrorCode, error: String, text: &Value) -> ToolResult {
    let mut result = ToolResult::from_error(&ToolError::new(code, error));
    if let (Some(value), Some(fields)) = (result.value.as_object_mut(), text.as_object()) {
        value.extend(fields.clone());
    }
    ToolResult { kind: ResultType::Failure, text: Some(text.to_string()), ..result }
}
