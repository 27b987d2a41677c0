//! One tool call of an MCP client, with its context.

use serde_json::Value;

use super::conversation::McpConversation;
use super::handles::McpCallHandles;
use crate::runtime::Client;
use crate::tools::api::tool::Caller;
use crate::tools::api::trace::TraceContext;

/// A tool call.
pub(super) struct McpToolCall<'a> {
    pub(super) caller: &'a Caller,
    pub(super) name: &'a str,
    pub(super) arguments: Value,
    pub(super) handles: McpCallHandles,
    pub(super) trace: Option<TraceContext>,
}

impl McpToolCall<'_> {
    /// The client, with its view in this call.
    pub(super) fn client(&self, conversation: &McpConversation) -> Client {
        let client = conversation.client();
        let view = self.handles.view.layered_on(&client.view);
        Client { view, ..client }
    }
}
