//! A host of the Copilot command line's headless mode: its SDK protocol (version 3), with our tools, rules and hooks.
//!
//! - [`program`]: where the command line is, how it is started and ends
//! - [`rpc`]: the conversation with it, taken in its order
//! - [`provider`]: whose model answers, from the user's environment
//! - [`offer`]: what a session is made with: tools, lists, agents, MCP servers; [`built_in`]: the command line's own tools
//! - [`turn`]: one prompt to its end: events in, decisions and results out
//! - [`permission`], [`calls`], [`hooks`]: who may do what, our tools' calls and results, hooks around its own tools;
//!   [`approvals`]: what nobody is asked twice
//! - [`error`]: what can go wrong
//!
//! How data passes: [`run`] starts the command line, opens a session with what [`offer`] made, and sends the prompt. From then on
//! `session.event` says everything. An event that asks for something starts a task, whose answer goes back as a request; so nobody
//! waits for another. Every event is also handed to whoever shows the session. May use what every bridge may; prints nothing.
//!
//! What a repository brings is left to us: the command line would run hooks of `.github/hooks` in a folder that nobody trusted,
//! so it is told not to, and the hooks run here, once their owner has trusted them.

mod approvals;
mod built_in;
mod calls;
pub(crate) mod error;
mod hooks;
mod offer;
mod permission;
pub(crate) mod program;
mod provider;
mod rpc;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use self::error::HostError;
use self::program::HostProcess;
use self::rpc::HostConversation;
use self::turn::HostTurn;
use crate::policy::approval::Approver;
use crate::policy::caller::CallerAccess;
use crate::runtime::Client;
use crate::runtime::live::LiveRuntime;
use crate::tools::tool::Caller;

/// The protocol that is spoken.
const COPILOT_HOST_PROTOCOL_VERSION: u64 = 3;
/// The command line unpacks itself at its first start.
const COPILOT_HOST_CONNECT_TIMEOUT: Duration = Duration::from_secs(120);
/// MCP servers start with the session.
const SESSION_CREATE_TIMEOUT: Duration = Duration::from_secs(180);
/// Everything else is answered at once.
const HOST_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the end of a session may take.
const SESSION_CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// What is wanted.
pub(crate) struct HostOptions {
    /// What is asked of the model.
    pub(crate) prompt: String,
    /// The model's name; by default what `COPILOT_MODEL` says, or the account's own.
    pub(crate) model: Option<String>,
    /// The command line; by default the one on PATH or in the private prefix.
    pub(crate) program: Option<PathBuf>,
    /// A file with `mcpServers` for the session.
    pub(crate) mcp_config: Option<PathBuf>,
    /// The session that goes on, with the tools, agents and servers of now.
    pub(crate) resume: Option<String>,
    /// The agent of the settings as which the session begins.
    pub(crate) agent: Option<String>,
    /// Which tools there are; names of the command line's own tools count as well.
    pub(crate) access: CallerAccess,
    /// Whether the model's words come as they are made.
    pub(crate) streaming: bool,
    /// How long the whole may take.
    pub(crate) limit: Duration,
    /// Install the command line where it is missing.
    pub(crate) install: bool,
    /// How our tools see the workspace.
    pub(crate) client: Client,
    /// Who is asked where rules leave a call open.
    pub(crate) approver: Arc<dyn Approver>,
    /// Who sees the session.
    pub(crate) events: UnboundedSender<HostEvent>,
    /// Ends it, in order.
    pub(crate) stop: CancellationToken,
}

/// What happens in a session.
#[derive(Debug, Clone)]
pub(crate) enum HostEvent {
    /// Something that is done beside the session, in a sentence.
    Note(String),
    /// An event as the command line sent it: `type`, `data`, `agentId`.
    Event(Value),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostOutcome {
    /// The model's last words.
    pub(crate) answer: String,
    /// The session; also the group under which its edits are undone.
    pub(crate) session: String,
    /// Calls of our tools.
    pub(crate) calls: usize,
    /// Whether it was stopped before its end.
    pub(crate) stopped: bool,
}

/// Runs one prompt to its end.
///
/// # Errors
/// [`HostError`]: the command line is missing, ended, does not answer, or says that the model failed.
pub(crate) async fn run(live: &LiveRuntime, options: HostOptions) -> Result<HostOutcome, HostError> {
    let provider = provider::from_environment(|name| std::env::var(name).ok(), options.model.as_deref())?;
    if std::env::var_os(program::ALLOW_ALL).is_some() {
        let what = format!("{} is not handed on: the rules of lsp-tools decide", program::ALLOW_ALL);
        options.send_event(HostEvent::Note(what));
    }
    let runtime = live.current();
    let program = program::find(&runtime, &options).await?;
    let mut running = program::start(&program, runtime.workspace().root()).await?;
    drop(runtime);
    let outcome = converse(live, &options, provider, &mut running).await;
    let tail = running.end().await;
    outcome.map_err(|error| error.with_stderr_tail(tail))
}

async fn converse(
    live: &LiveRuntime,
    options: &HostOptions,
    provider: provider::Provider,
    running: &mut HostProcess,
) -> Result<HostOutcome, HostError> {
    let mut conversation = HostConversation::open(running)?;
    let rpc = conversation.rpc();
    let deadline = tokio::time::Instant::now() + options.limit;
    let opening = async {
        let hello = rpc.ask("connect", json!({}), COPILOT_HOST_CONNECT_TIMEOUT).await?;
        let protocol = hello.get("protocolVersion").and_then(Value::as_u64);
        if protocol != Some(COPILOT_HOST_PROTOCOL_VERSION) {
            let version = hello.get("version").and_then(Value::as_str).unwrap_or("unknown").to_owned();
            return Err(HostError::Protocol { version, protocol });
        }
        let tools = rpc.ask("tools.list", json!({}), HOST_REQUEST_TIMEOUT).await?;
        let runtime = live.current();
        runtime.wait_for_sources().await;
        let caller =
            Caller { session: "copilot-host".to_owned(), agent: None, access: options.access.clone() };
        let offer = offer::build_session_request(&runtime, &caller, options, provider, &tools)?;
        let method = if options.resume.is_some() { "session.resume" } else { "session.create" };
        let opened = rpc.ask(method, offer.session.clone(), SESSION_CREATE_TIMEOUT).await?;
        let session = opened.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let session = session.or_else(|| options.resume.clone()).ok_or(HostError::Answer { method })?;
        Ok((caller, offer, session))
    };
    let (caller, offer, session) = tokio::select! {
        opened = opening => opened?,
        () = options.stop.cancelled() => return Err(HostError::Stopped),
        () = tokio::time::sleep_until(deadline) => return Err(HostError::TooLong { limit: options.limit }),
    };
    for note in &offer.notes {
        options.send_event(HostEvent::Note(note.clone()));
    }
    let caller = Caller { session: format!("copilot-{session}"), ..caller };
    let turn = HostTurn::new(live, options, caller, offer, &session, rpc.clone());
    let outcome = turn.run(&mut conversation, deadline).await;
    // What hooks it has at the end are told; whether it answers is not waited for long.
    let closing = conversation.close("session.destroy", json!({"sessionId": session}), SESSION_CLOSE_TIMEOUT);
    if let Err(error) = closing.await {
        tracing::debug!("the session did not close: {error}");
    }
    outcome
}

impl HostOptions {
    fn send_event(&self, told: HostEvent) {
        // Whoever looked on may have gone.
        let _unseen = self.events.send(told);
    }
}
