//! The options, events and outcome of a session of the Copilot command line.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::policy::approval::Approver;
use crate::policy::caller::CallerAccess;
use crate::runtime::tool_backend::ToolBackend;

/// The options of a session.
pub(crate) struct HostOptions {
    /// The prompt for the model.
    pub(crate) prompt: String,
    /// The model's name; by default the value of `COPILOT_MODEL`, or the account's default.
    pub(crate) model: Option<String>,
    /// The path of the command line; by default the one on PATH or in the private prefix.
    pub(crate) program: Option<PathBuf>,
    /// A file with `mcpServers` for the session.
    pub(crate) mcp_config: Option<PathBuf>,
    /// The session to resume, with the current tools, agents and servers.
    pub(crate) resume: Option<String>,
    /// The agent of the settings that the session starts with.
    pub(crate) agent: Option<String>,
    /// The choice of tools, which may include names of the command line's own tools.
    pub(crate) access: CallerAccess,
    /// True if the model's reply is streamed.
    pub(crate) streaming: bool,
    /// The time limit for the whole session.
    pub(crate) limit: Duration,
    /// Installs the command line if it is missing.
    pub(crate) install: bool,
    /// The backend whose tools are offered.
    pub(crate) backend: Arc<dyn ToolBackend>,
    /// Approves calls that the rules leave undecided.
    pub(crate) approver: Arc<dyn Approver>,
    /// Receives the session's events.
    pub(crate) events: UnboundedSender<HostEvent>,
    /// Stops the session gracefully.
    pub(crate) stop: CancellationToken,
}

impl HostOptions {
    /// Sends an event to the session's observer.
    pub(super) fn send_event(&self, event: HostEvent) {
        // The receiver may be closed.
        let _ignored = self.events.send(event);
    }
}

/// An event of a session.
#[derive(Debug, Clone)]
pub(crate) enum HostEvent {
    /// A note about an action beside the session, as a sentence.
    Note(String),
    /// An event as the command line sent it: `type`, `data`, `agentId`.
    Event(Value),
}

/// The outcome of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostOutcome {
    /// The model's last message.
    pub(crate) answer: String,
    /// The session's id, which is also the group for undoing its edits.
    pub(crate) session: String,
    /// The number of calls of our tools.
    pub(crate) calls: usize,
    /// True if the session was stopped early.
    pub(crate) stopped: bool,
}
