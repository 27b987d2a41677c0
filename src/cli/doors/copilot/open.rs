//! A runtime with a client of the Copilot language server over it.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::bridges;
use crate::bridges::copilot::server::{
    CopilotClient, CopilotEvent, CopilotEventSink, CopilotOptions, ResultFormat, WantedNames,
};
use crate::cli::approval::TerminalApprover;
use crate::cli::args::tools::ProfileName;
use crate::cli::doors::{DoorStartContext, options, own_session};
use crate::policy::caller::CallerAccess;
use crate::runtime::Runtime;
use crate::runtime::live::LiveRuntime;
use crate::tools::error::ToolError;
use crate::tools::tool::Caller;

/// What is open.
pub(super) struct OpenCopilotClient {
    live: LiveRuntime,
    pub(crate) copilot: CopilotClient,
    pub(crate) events: UnboundedReceiver<CopilotEvent>,
}

/// Opens the workspace.
pub(super) fn runtime(start: &DoorStartContext<'_>) -> Result<Runtime, ToolError> {
    let runtime = bridges::open(options(&start.global, &start.cwd))?;
    if let Some(log) = &start.log {
        log.set_level(runtime.log_level());
    }
    Ok(runtime)
}

impl OpenCopilotClient {
    /// Opens the workspace, and a client with the tools of `profile`; no server is started yet. What the model's calls need
    /// leave for is asked at the terminal, where there is one.
    pub(super) async fn new(
        start: &DoorStartContext<'_>,
        profile: Option<ProfileName>,
        names: &[String],
        format: ResultFormat,
        traced: bool,
    ) -> Result<Self, ToolError> {
        let names = WantedNames::parse(names)?;
        let runtime = runtime(start)?;
        // The list is sent once: mounted servers are given the time to tell their tools.
        runtime.wait_for_sources().await;
        let live = LiveRuntime::new(runtime);
        let access = CallerAccess { profile: profile.map(Into::into), ..CallerAccess::default() };
        let session = own_session()?;
        let caller = Caller { session, agent: None, access };
        let (sender, events) = unbounded_channel();
        let mut options = CopilotOptions::new(live.clone(), caller);
        if let Some(terminal) = TerminalApprover::find() {
            options.approver = Arc::new(terminal);
        }
        options.events = CopilotEventSink::new(sender);
        options.names = names;
        options.format = format;
        options.traced = traced;
        Ok(Self { copilot: CopilotClient::new(options)?, live, events })
    }

    /// Ends the server, and everything else.
    pub(super) async fn close(self) {
        self.copilot.end().await;
        self.live.shutdown().await;
    }
}
