//! Tools from elsewhere: the trait of their source, what it leaves out, and the mounted servers that it reports.
//!
//! What a source is made of is not known here: whoever opens a runtime hands it one ([`Runtime::add_source`]). Its tools stand
//! in the same registry as all others, behind them, so that none of them can take the place of one that is there already.
//!
//! [`Runtime::add_source`]: crate::runtime::Runtime::add_source

use std::fmt::Debug;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::error::ToolError;
use super::tool::AnyTool;

/// A place that tools come from.
pub(crate) trait ToolSource: Send + Sync + Debug {
    /// Hears another number whenever [`tools`](Self::tools) or [`left_out`](Self::left_out) would say something else.
    fn changes(&self) -> watch::Receiver<u64>;

    /// The number now.
    fn generation(&self) -> u64 {
        *self.changes().borrow()
    }

    /// The tools that it offers as far as is known now. Never waits; what is not known yet it may begin to find out.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;

    /// What is none of its tools, and why.
    fn left_out(&self) -> Vec<OmittedTool>;

    /// Waits until its tools are known, all of them or those that `name` could mean; within a deadline of its own.
    fn wait_until_known<'a>(&'a self, name: Option<&'a str>) -> BoxFuture<'a, ()>;

    /// The servers that it mounts, and how they are.
    fn mounted(&self) -> Vec<MountedServer>;

    /// Finds out about a server anew: starts it if need be, and asks for its tools.
    ///
    /// # Errors
    /// `not_found` where none has that name, and whatever keeps it from answering.
    fn refresh<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<MountedServer, ToolError>>;

    /// Agrees to the definitions that were held back. Returns them as they were held.
    ///
    /// # Errors
    /// `not_found` where no server has that name.
    fn approve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<HeldTool>, ToolError>>;

    /// Tries what could keep a server's tools from being called; of all servers, where no name is given.
    ///
    /// # Errors
    /// `not_found` where no server has that name.
    fn examine<'a>(
        &'a self,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<ToolSourceFinding>, ToolError>>;

    /// Ends what it started; returns when that is gone.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

/// A tool that is not offered now, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedTool {
    /// The manifest; of a source, its tool or server.
    pub file: String,
    /// What is wrong with it, and what to do.
    pub why: String,
}

/// A server that is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MountedServer {
    /// What its tools' names begin with.
    pub name: String,
    /// `stdio` or `http`.
    pub transport: String,
    /// The command or the address; nothing of its environment or headers.
    pub target: String,
    /// The file that names it.
    pub file: String,
    /// How it is.
    pub state: MountedState,
    /// More about that, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What it calls itself, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revision of MCP it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Its process, where it runs on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The tools that are offered.
    pub tools: Vec<MountedTool>,
    /// The tools that wait for someone's leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldTool>,
    /// The tools that cannot be offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OmittedTool>,
}

/// How a mounted server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MountedState {
    /// Nothing needed it yet, or it was stopped because nothing did for a while.
    Idle,
    /// It answers.
    Running,
    /// It did not start, or ended; the next call tries again.
    Failed,
    /// It ended too often; for a while nothing tries again.
    Stopped,
}

impl MountedState {
    /// As people read it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// A tool that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MountedTool {
    /// The name it is called by here.
    pub name: String,
    /// Its first sentence, or so much of it as fits a line.
    pub summary: String,
    /// The SHA-256 of the definition that was agreed to.
    pub hash: String,
}

/// A tool whose definition is not the one that was agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldTool {
    /// What its server calls it.
    pub name: String,
    /// Whether there was one of that name before.
    pub change: HeldChange,
    /// What differs, as a unified diff; characters that are not seen are shown by their numbers.
    pub diff: String,
}

/// Why a tool is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HeldChange {
    /// It was not there when the others were agreed to.
    New,
    /// It says something else than what was agreed to.
    Changed,
}

impl HeldChange {
    /// As people read it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
        }
    }
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolSourceFinding {
    /// The server.
    pub server: String,
    /// What was tried, in a word or two.
    pub check: String,
    /// How it went.
    pub outcome: ToolSourceOutcome,
    /// What was found; of a fault, what to do.
    pub detail: String,
}

/// How a trial went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ToolSourceOutcome {
    /// As it should.
    Ok,
    /// It works, and something about it is worth knowing.
    Note,
    /// It keeps tools from being called.
    Fault,
}
