//! The resources of Copilot doors: the workspace, the backend for calls of our tools, and a client
//! of the language server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use crate::analysis::error::ToolError;
use crate::bridges;
use crate::bridges::copilot::server::{
    CopilotClient, CopilotEvent, CopilotEventSink, CopilotOptions, ResultFormat, WantedNames,
};
use crate::bridges::daemon::backend::client::DaemonBackend;
use crate::bridges::daemon::preamble::{DoorName, Preamble};
use crate::cli::approval::TerminalApprover;
use crate::cli::args::tools::ProfileName;
use crate::cli::doors::daemon::{ReachedDaemon, reach_daemon};
use crate::cli::doors::{DoorStartContext, options, own_session};
use crate::policy::approval::{Approver, NobodyToAsk};
use crate::policy::caller::CallerAccess;
use crate::runtime::live::LiveRuntime;
use crate::runtime::tool_backend::{LocalBackend, ToolBackend};
use crate::runtime::{Client, Runtime};
use crate::tools::api::tool::Caller;

/// The workspace of a Copilot door.
pub(super) struct OpenWorkspace {
    /// The runtime of this process: settings, rules, files, and the foreign program.
    pub(super) live: LiveRuntime,
    /// The backend for calls: the daemon's runtime, or this process's if there is no daemon.
    pub(super) backend: Arc<dyn ToolBackend>,
    /// Prints which servers are missing. Nothing waits for it until the door closes.
    pub(super) startup_hints: JoinHandle<()>,
}

impl OpenWorkspace {
    /// Opens the workspace for the door called `client`. `cwd` maps the root to the folder for
    /// relative paths of calls.
    pub(super) async fn new(
        start: &DoorStartContext<'_>,
        client: &str,
        cwd: impl FnOnce(&Path) -> PathBuf,
    ) -> Result<Self, ToolError> {
        let runtime = Runtime::open(options(&start.global, &start.cwd))?;
        if let Some(log) = &start.log {
            log.set_level(runtime.log_level());
        }
        let startup_hints = print_startup_hints(&runtime, start);
        let cwd = cwd(runtime.workspace().root());
        let preamble = Preamble {
            client: Some(client.to_owned()),
            cwd: Some(cwd.clone()),
            ..Preamble::new(DoorName::Tools)
        };
        if let Some(ReachedDaemon { connector, preamble, connection }) = reach_daemon(start, preamble).await {
            let backend = Arc::new(DaemonBackend::new(connector, preamble, connection));
            return Ok(Self { live: LiveRuntime::new(runtime), backend, startup_hints });
        }
        let live = LiveRuntime::new(bridges::with_mounts(runtime));
        let client = Client {
            cwd: Some(cwd),
            timeout: start.global.timeout,
            install_missing: start.global.install,
            ..Client::default()
        };
        Ok(Self { backend: Arc::new(LocalBackend::new(live.clone(), client)), live, startup_hints })
    }
}

fn print_startup_hints(runtime: &Runtime, start: &DoorStartContext<'_>) -> JoinHandle<()> {
    let (runtime, console, installs) = (runtime.clone(), *start.console, start.global.install);
    tokio::task::spawn_blocking(move || {
        if !installs {
            console.print_startup_hints(&runtime.startup_hints());
        }
    })
}

/// Returns the approver of a Copilot door: the user at the terminal, if there is one.
pub(super) fn approver() -> Arc<dyn Approver> {
    match TerminalApprover::find() {
        Some(terminal) => Arc::new(terminal),
        None => Arc::new(NobodyToAsk),
    }
}

/// A client of the language server on the workspace.
pub(super) struct OpenCopilotClient {
    live: LiveRuntime,
    startup_hints: JoinHandle<()>,
    pub(crate) copilot: CopilotClient,
    pub(crate) events: UnboundedReceiver<CopilotEvent>,
}

impl OpenCopilotClient {
    /// Opens the workspace, and a client with the tools of `profile`. Starts no server. Calls of
    /// the model that need approval are shown at the terminal, if there is one.
    pub(super) async fn new(
        start: &DoorStartContext<'_>,
        profile: Option<ProfileName>,
        names: &[String],
        format: ResultFormat,
        traced: bool,
    ) -> Result<Self, ToolError> {
        let names = WantedNames::parse(names)?;
        let OpenWorkspace { live, backend, startup_hints } =
            OpenWorkspace::new(start, "copilot", |_| start.cwd.clone()).await?;
        let access = CallerAccess { profile: profile.map(Into::into), ..CallerAccess::default() };
        let session = own_session()?;
        let caller = Caller { session, agent: None, access };
        let (sender, events) = unbounded_channel();
        let mut options = CopilotOptions::new(live.clone(), caller);
        options.backend = backend;
        options.approver = approver();
        options.events = CopilotEventSink::new(sender);
        options.names = names;
        options.format = format;
        options.traced = traced;
        match CopilotClient::new(options).await {
            Ok(copilot) => Ok(Self { copilot, live, events, startup_hints }),
            Err(error) => {
                // The panic hook has reported a panic there.
                let _told = startup_hints.await;
                Err(error.into())
            }
        }
    }

    /// Ends the server and the runtime.
    pub(super) async fn close(self) {
        // The panic hook has reported a panic there.
        let _told = self.startup_hints.await;
        self.copilot.end().await;
        self.live.shutdown().await;
    }
}
