//! Observation beside calls, for long-lived doors: texts as resources, changed diagnostics, server
//! logs.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::analysis::context::from_read_error;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::servers::manager::SlotActivity;
use crate::lsp::session::user_messages::ServerUserMessage;
use crate::policy::request::{CallSubjects, Effect, PolicyRequest, PolicyVerdict};
use crate::runtime::Runtime;
use crate::tools::api::drop_in::ToolInventory;
use crate::tools::api::tool::Caller;
use crate::workspace::{FileStamp, WorkspacePath};

/// A mark that changes when the diagnostics of a file may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiagnosticsMark {
    said: u64,
    findings: u64,
    stamp: Option<FileStamp>,
}

impl DiagnosticsMark {
    /// Returns true if the servers have only repeated their earlier findings for the same text
    /// since `earlier`.
    pub(crate) fn only_repeats(self, earlier: Self) -> bool {
        self.findings == earlier.findings && self.stamp == earlier.stamp
    }
}

/// The set of tools at one time, independent of the caller.
#[derive(Clone)]
pub(crate) struct OfferedTools(Arc<ToolInventory>);

impl PartialEq for OfferedTools {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The latest log lines of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerLog {
    /// The server's key in the catalogue.
    pub server: String,
    /// The folder that the server serves, relative to the workspace; empty for the workspace
    /// itself.
    pub root: String,
    /// The server's messages to the user, then the end of its standard error, then the reason why
    /// it is not running.
    pub lines: Vec<String>,
}

impl Runtime {
    /// Reads the file `path` from disk, at most `limit` bytes, under the rules for the tool `read`.
    /// Requests no approval: `most` is the strictest verdict under which the text is returned.
    ///
    /// # Errors
    /// Those of `read`; `denied` under a stricter verdict.
    pub(crate) fn text_for(
        &self,
        caller: &Caller,
        path: &WorkspacePath,
        limit: u64,
        most: PolicyVerdict,
    ) -> Result<String, ToolError> {
        let subjects = CallSubjects { paths: vec![path.clone()], ..CallSubjects::default() };
        let subjects = self.with_real(subjects);
        let request = PolicyRequest { tool: "read", effect: Effect::Read, subjects: &subjects };
        let decision = self.decide(caller, &request);
        if decision.verdict > most {
            return Err(decision.denial());
        }
        let context = self.context.with_limits(self.policy_of(caller).limits(&request));
        Ok(context.workspace.read_text_up_to(path, limit).map_err(from_read_error)?.text)
    }

    /// Returns a mark of the current tools. Two marks are equal only if no list of tools can have
    /// changed in between.
    pub(crate) fn offered_tools(&self) -> OfferedTools {
        OfferedTools(self.offer())
    }

    /// Returns a mark that changes when the diagnostics of `path` may have changed. Notifies
    /// servers of changes on disk first.
    pub(crate) async fn diagnostics_mark(&self, path: &WorkspacePath) -> DiagnosticsMark {
        self.context.manager.refresh().await;
        let manager = &self.context.manager;
        DiagnosticsMark {
            said: manager.diagnostics_mark(path),
            findings: manager.findings_mark(path),
            stamp: self.context.workspace.stamp(path).ok(),
        }
    }

    /// Returns receivers that wake at every message of the running servers.
    pub(crate) fn server_change_receivers(&self) -> Vec<watch::Receiver<u64>> {
        self.context.manager.change_receivers()
    }

    /// Subscribes to the servers' user messages and requests until the receiver is dropped.
    pub(crate) fn server_messages(&self) -> mpsc::Receiver<ServerUserMessage> {
        self.watchers.people.join()
    }

    /// The latest log lines of each server that has been requested.
    pub(crate) fn server_logs(&self) -> Vec<ServerLog> {
        let status = self.context.manager.status();
        let log = status.into_iter().map(|slot| {
            let mut lines = Vec::new();
            let (session, failure) = match slot.run {
                SlotActivity::Running(session) => (Some(session), None),
                SlotActivity::Failed { why, last } => (last, Some(why)),
                SlotActivity::Resting | SlotActivity::Disabled { .. } | SlotActivity::Starting { .. } => {
                    (None, None)
                }
            };
            if let Some(session) = session {
                lines.extend(session.messages());
                lines.extend(session.stderr_tail());
            }
            lines.extend(failure);
            let root = if slot.root.is_root() { String::new() } else { slot.root.display() };
            ServerLog { server: slot.server, root, lines }
        });
        log.collect()
    }

    /// Returns the path of a `file:` URI.
    ///
    /// # Errors
    /// `invalid_args` for another URI, `outside_workspace` for a file elsewhere.
    pub(crate) fn path_of_uri(&self, uri: &str) -> Result<WorkspacePath, ToolError> {
        let path = crate::lsp::uri::to_path(uri).ok_or_else(|| {
            ToolError::new(ErrorCode::InvalidArgs, "this is not a file: URI of this machine")
        })?;
        self.context
            .workspace
            .path(&path)
            .map_err(|error| ToolError::new(ErrorCode::OutsideWorkspace, error.to_string()))
    }
}
