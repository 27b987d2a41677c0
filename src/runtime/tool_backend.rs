//! The backend of a door with a foreign protocol: it lists the tools and carries out the calls.
//!
//! Such a door has its own runtime for data read from files (rules, settings, the root). The
//! backend does everything that needs language servers, mounted servers, or the session's
//! approvals: [`LocalBackend`], or the daemon's runtime behind a connection.

use futures::future::BoxFuture;
use serde_json::Value;

use super::calls::call::CallRequest;
use super::live::LiveRuntime;
use super::{Client, Runtime};
use crate::analysis::error::ToolError;
use crate::policy::approval::ApprovalRequest;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{Caller, ToolDefinition};

/// Lists tools, decides their calls and carries them out.
pub trait ToolBackend: Send + Sync {
    /// Returns the tools listed for `caller` once all sources have reported theirs. If
    /// `with_agents` is set, includes tools listed for agents of the settings.
    fn definitions<'a>(
        &'a self,
        caller: &'a Caller,
        with_agents: bool,
    ) -> BoxFuture<'a, Result<Vec<ToolDefinition>, ToolError>>;

    /// Like [`Runtime::approval_request`].
    fn approval_request<'a>(
        &'a self,
        caller: &'a Caller,
        name: &'a str,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<ApprovalRequest>, ToolError>>;

    /// Like [`Runtime::authorize_tool_call`].
    fn authorize_tool_call<'a>(&'a self, request: CallRequest<'a>) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Like [`Runtime::call`].
    fn call<'a>(&'a self, request: CallRequest<'a>) -> BoxFuture<'a, ToolResult>;
}

/// The runtime of this process.
pub struct LocalBackend {
    live: LiveRuntime,
    client: Client,
}

impl LocalBackend {
    /// Creates a backend that uses the current runtime of each call with the settings of `client`.
    pub fn new(live: LiveRuntime, client: Client) -> Self {
        Self { live, client }
    }

    fn runtime(&self) -> Runtime {
        self.live.current().for_client(self.client.clone())
    }
}

impl ToolBackend for LocalBackend {
    fn definitions<'a>(
        &'a self,
        caller: &'a Caller,
        with_agents: bool,
    ) -> BoxFuture<'a, Result<Vec<ToolDefinition>, ToolError>> {
        Box::pin(async move {
            let runtime = self.runtime();
            runtime.wait_for_sources().await;
            Ok(match with_agents {
                true => runtime.definitions_with_agents(caller),
                false => runtime.definitions(caller),
            })
        })
    }

    fn approval_request<'a>(
        &'a self,
        caller: &'a Caller,
        name: &'a str,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Option<ApprovalRequest>, ToolError>> {
        Box::pin(async move { self.runtime().approval_request(caller, name, arguments) })
    }

    fn authorize_tool_call<'a>(&'a self, request: CallRequest<'a>) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move { self.runtime().authorize_tool_call(&request).await })
    }

    fn call<'a>(&'a self, request: CallRequest<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { self.runtime().call(request).await })
    }
}
