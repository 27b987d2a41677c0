//! One running Copilot server: its process, conversation, open documents, and end.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::context::CopilotContext;
use super::documents::CopilotDocuments;
use super::error::CopilotError;
use super::handler::CopilotHandler;
use super::handshake::{self, SERVER};
use super::offer::{CopilotOffer, UnregisteredTool};
use super::register::{self, CopilotRegistration};
use crate::lsp::manager::SessionUnavailable;
use crate::process::ServerProcess;
use crate::rpc::Peer;
use crate::tools::install::InstallState;
use crate::workspace::WorkspacePath;

/// How long a short question may take.
pub(super) const COPILOT_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long `initialize` may take where the catalogue says nothing else.
const COPILOT_INITIALIZE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long `shutdown` may take.
const COPILOT_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the server has to leave after `exit`.
const COPILOT_EXIT_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// How long after the end of its output its exit status is waited for.
const COPILOT_EXIT_STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// The way from what the server asks to the link it asks on, which is there a moment later.
#[derive(Debug, Default)]
pub(super) struct WeakCopilotLink(OnceLock<Weak<CopilotLink>>);

impl WeakCopilotLink {
    /// The link, while it lives.
    pub(super) fn link(&self) -> Option<Arc<CopilotLink>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

/// A running server that has been through its handshake and knows our tools.
#[derive(Debug)]
pub(crate) struct CopilotLink {
    pub(super) connection: Peer,
    pub(super) documents: CopilotDocuments,
    process: ServerProcess,
    /// What the server says of itself (LSP 3.17, `serverInfo`).
    pub(crate) info: OnceLock<Value>,
    /// What came of the registration.
    pub(crate) registration: OnceLock<CopilotRegistration>,
}

impl CopilotLink {
    /// Starts a server and registers `offer` with it. What it refuses is in the registration, and is taken out of the offer.
    pub(super) async fn start(
        context: &Arc<CopilotContext>,
        mut offer: CopilotOffer,
        left_out: Vec<UnregisteredTool>,
    ) -> Result<Arc<Self>, CopilotError> {
        context.statuses.reset();
        let mut process = spawn(context).await?;
        let (Some(stdout), Some(stdin)) = (process.take_stdout(), process.take_stdin()) else {
            return Err(CopilotError::Start { detail: "its pipes are gone".to_owned() });
        };
        let line = Arc::new(WeakCopilotLink::default());
        let handler = CopilotHandler { context: context.clone(), link: line.clone() };
        let trace = context.runtime().context().manager.trace().filter(|_| context.traced);
        let connection = Peer::open(SERVER, stdout, stdin, handler, trace);
        let link = Arc::new(Self {
            connection,
            documents: CopilotDocuments::default(),
            process,
            info: OnceLock::new(),
            registration: OnceLock::new(),
        });
        let _first = line.0.set(Arc::downgrade(&link));
        if let Err(error) = link.initialize(context).await {
            let detail = match error {
                CopilotError::Ended { .. } => link.exit_report().await,
                other => other.to_string(),
            };
            return Err(CopilotError::Start { detail });
        }
        let registration = register::register_tools(&link.connection, &mut offer, left_out).await;
        let registration = match registration {
            Ok(registration) => registration,
            Err(error) => {
                let error = link.with_exit_report(error).await;
                link.end().await;
                return Err(error);
            }
        };
        context.set_offer(offer);
        let _first = link.registration.set(registration);
        Ok(link)
    }

    async fn initialize(&self, context: &CopilotContext) -> Result<(), CopilotError> {
        let runtime = context.runtime();
        let spec = runtime.catalogue().servers.get(SERVER);
        let limit =
            spec.and_then(|spec| spec.start_timeout).map_or(COPILOT_INITIALIZE_TIMEOUT, Duration::from_secs);
        let answer: Value = self.request("initialize", &handshake::initialize(context), limit).await?;
        let _first = self.info.set(answer.get("serverInfo").cloned().unwrap_or_default());
        self.connection.notify("initialized", &json!({}));
        let settings = json!({"settings": handshake::settings(context)});
        self.connection.notify("workspace/didChangeConfiguration", &settings);
        Ok(())
    }

    /// Asks, and waits for the answer so long at most.
    pub(super) async fn request(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, CopilotError> {
        let answer = self.connection.request(method, params, Instant::now() + limit).await;
        answer.map_err(CopilotError::from_request_error)
    }

    /// Opens a file in the server, or brings it in step.
    pub(super) async fn open_document(&self, context: &CopilotContext, path: WorkspacePath) {
        self.documents.open(path, &context.runtime(), &context.caller, &self.connection).await;
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.connection.close_reason().is_none()
    }

    /// `error`; where the server has ended, with how it ended and its last words.
    pub(super) async fn with_exit_report(&self, error: CopilotError) -> CopilotError {
        match error {
            CopilotError::Ended { .. } => CopilotError::Ended { detail: self.exit_report().await },
            other => other,
        }
    }

    /// How it ended, and what it wrote last.
    pub(super) async fn exit_report(&self) -> String {
        let exit = tokio::time::timeout(COPILOT_EXIT_STATUS_TIMEOUT, self.process.wait()).await;
        let exit = match exit {
            Ok(exit) => exit.to_string(),
            Err(_) => self.connection.close_reason().unwrap_or_else(|| "it does not answer".to_owned()),
        };
        match self.process.stderr_tail().last() {
            Some(line) => format!("{exit}; its last words: {line}"),
            None => exit,
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Takes our tools back and ends it.
    pub(super) async fn end(&self) {
        if self.is_alive() {
            if let Some(registration) = self.registration.get() {
                register::unregister(&self.connection, registration).await;
            }
            let asked = self
                .connection
                .request::<Value>("shutdown", &(), Instant::now() + COPILOT_SHUTDOWN_TIMEOUT)
                .await;
            if let Err(error) = asked {
                tracing::debug!("the Copilot language server is ended without its leave: {error}");
            }
            self.connection.notify("exit", &());
        }
        self.process.terminate(COPILOT_EXIT_GRACE_PERIOD).await;
        self.connection.close("it was ended");
    }
}

/// Starts the program; installs it first where that was asked for.
async fn spawn(context: &CopilotContext) -> Result<ServerProcess, CopilotError> {
    let runtime = context.runtime();
    let context = runtime.context();
    let started = context.manager.spawn_alone(SERVER).await;
    if !matches!(started, Err(SessionUnavailable::Missing { .. })) || !context.install_missing {
        return Ok(started?);
    }
    let installed = context.installs.install(&context, SERVER).await;
    let item = installed.map_err(|error| CopilotError::Start { detail: error.to_string() })?;
    if matches!(item.state, InstallState::Failed | InstallState::Manual) {
        let detail = item.detail.unwrap_or_else(|| "it was not installed".to_owned());
        return Err(CopilotError::Start { detail });
    }
    Ok(context.manager.spawn_alone(SERVER).await?)
}
