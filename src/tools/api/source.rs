//! Tools from external sources: the trait of a source, its omitted tools, and the mounted servers
//! that it reports.
//!
//! The implementation of a source is unknown here: the code that opens a runtime adds it
//! ([`Runtime::add_source`]). Its tools are in the same registry as all others, after them, so that
//! they cannot replace an existing tool.
//!
//! [`Runtime::add_source`]: crate::runtime::Runtime::add_source

use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::tool::AnyTool;
use crate::analysis::error::ToolError;

/// A source of tools.
pub(crate) trait ToolSource: Send + Sync + Debug {
    /// Receives a new number whenever the result of [`tools`](Self::tools) or
    /// [`left_out`](Self::left_out) changes.
    fn changes(&self) -> watch::Receiver<u64>;

    /// The current number.
    fn generation(&self) -> u64 {
        *self.changes().borrow()
    }

    /// The offered tools that are known now. Never waits, but may start to discover further ones.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;

    /// The tools that are not offered, with reasons.
    fn left_out(&self) -> Vec<OmittedTool>;

    /// Waits, within its own deadline, until its tools are known: all of them, or those that `name`
    /// could mean.
    fn wait_until_known<'a>(&'a self, name: Option<&'a str>) -> BoxFuture<'a, ()>;

    /// The mounted servers and their states.
    fn mounted(&self) -> Vec<MountedServer>;

    /// Refreshes a server: starts it if necessary, and requests its tools.
    ///
    /// # Errors
    /// `not_found` for an unknown name, and any error that keeps the server from responding.
    fn refresh<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<MountedServer, ToolError>>;

    /// Approves the held definitions, and returns them.
    ///
    /// # Errors
    /// `not_found` for an unknown server name.
    fn approve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<HeldTool>, ToolError>>;

    /// Tests conditions that could prevent calls of a server's tools; of all servers if no name is
    /// given.
    ///
    /// # Errors
    /// `not_found` for an unknown server name.
    fn examine<'a>(
        &'a self,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<ToolSourceFinding>, ToolError>>;

    /// Ends its processes, and returns when they have exited.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

/// A tool that is not offered now, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedTool {
    /// The manifest, or the tool or server of a source.
    pub file: String,
    /// The problem, and its solution.
    pub why: String,
}

/// A mounted server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MountedServer {
    /// The prefix of its tools' names.
    pub name: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// The command or the address, without environment or headers.
    pub target: String,
    /// The file that configures the server.
    pub file: String,
    /// The state.
    pub state: MountedState,
    /// Details of the state, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The name and version that the server reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The MCP revision of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The id of its process, if it runs on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The tools that are offered.
    pub tools: Vec<MountedTool>,
    /// The tools that need approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldTool>,
    /// The tools that cannot be offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OmittedTool>,
}

/// The state of a mounted server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MountedState {
    /// The server is not needed yet, or was stopped after a period without use.
    Idle,
    /// The server responds.
    Running,
    /// The server did not start, or exited; the next call tries again.
    Failed,
    /// The server exited too often and is not restarted for a while.
    Stopped,
}

impl MountedState {
    /// The keyword for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// An offered tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MountedTool {
    /// The name for calls here.
    pub name: String,
    /// The first sentence of its description, shortened to a line.
    pub summary: String,
    /// The SHA-256 of the approved definition.
    pub hash: String,
}

/// A tool whose definition is not the approved one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldTool {
    /// The name that its server uses.
    pub name: String,
    /// The kind of change.
    pub change: HeldChange,
    /// The difference as a unified diff; hidden characters are shown by their code points.
    pub diff: String,
}

/// The reason that a tool is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HeldChange {
    /// The tool did not exist when the others were approved.
    New,
    /// The definition differs from the approved one.
    Changed,
}

impl HeldChange {
    /// The keyword for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
        }
    }
}

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolSourceFinding {
    /// The server.
    pub server: String,
    /// The name of the test, in a word or two.
    pub check: String,
    /// The outcome.
    pub outcome: ToolSourceOutcome,
    /// The result; for a fault, also the solution.
    pub detail: String,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolSourceOutcome {
    /// No problem.
    Ok,
    /// No problem for calls, but worth a note.
    Note,
    /// The problem prevents calls of tools.
    Fault,
}
