//! The state shared by all tasks of a turn: the session, its callers, the names of its tools, and
//! the sender for answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::approvals::HostApprovals;
use super::built_in;
use super::options::HostEvent;
use super::rpc::{HOST_REQUEST_TIMEOUT, Rpc};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::Approver;
use crate::runtime::Runtime;
use crate::runtime::live::LiveRuntime;
use crate::runtime::tool_backend::ToolBackend;
use crate::tools::api::export::ExportedNames;
use crate::tools::api::tool::Caller;

/// The state shared by all tasks of a turn.
pub(super) struct HostTurnState {
    pub(super) live: LiveRuntime,
    pub(super) backend: Arc<dyn ToolBackend>,
    pub(super) rpc: Rpc,
    pub(super) session: String,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) caller: Caller,
    pub(super) names: ExportedNames,
    pub(super) events: UnboundedSender<HostEvent>,
    /// The running agents: id → name in the settings.
    pub(super) agents: Mutex<HashMap<String, String>>,
    /// Approvals recorded before their calls.
    pub(super) agreed: HostApprovals,
    pub(super) calls: AtomicUsize,
}

impl HostTurnState {
    /// The runtime for work that begins now.
    pub(super) fn runtime(&self) -> Runtime {
        self.live.current()
    }

    /// Returns the caller: the session, or one of its agents from the settings. Agents created by
    /// the command line count as the session.
    pub(super) fn caller(&self, agent: Option<&str>) -> Caller {
        let agents = self.agents.lock();
        let agent = agent.and_then(|id| agents.get(id)).cloned();
        Caller { agent: agent.or_else(|| self.caller.agent.clone()), ..self.caller.clone() }
    }

    /// Returns our name of an offered tool.
    pub(super) fn internal_name(&self, theirs: &str) -> Result<&str, ToolError> {
        self.names.internal_name(built_in::exported_name(theirs)).ok_or_else(|| {
            let what = format!("unknown tool: {}", theirs.escape_debug());
            ToolError::new(ErrorCode::UnknownTool, what)
        })
    }

    /// Sends a decision or a result. If it comes too late, a note is sent to the observer and it is
    /// ignored otherwise.
    pub(super) async fn reply(&self, method: &'static str, params: Value) {
        match self.rpc.ask(method, params, HOST_REQUEST_TIMEOUT).await {
            Ok(answer) if answer.get("success") == Some(&Value::Bool(false)) => {
                self.send_note("an answer came too late: the command line had cancelled the call");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("{error}"),
        }
    }

    fn send_note(&self, what: &str) {
        // The receiver may be closed.
        let _ignored = self.events.send(HostEvent::Note(what.to_owned()));
    }
}

/// The text of an error for a model.
pub(super) fn text_of(error: &ToolError) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.error),
        None => error.error.clone(),
    }
}
