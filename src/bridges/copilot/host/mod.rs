//! A host of the Copilot command line's headless mode: its SDK protocol (version 3), with our
//! tools, rules and hooks.
//!
//! - [`options`]: the options, the events and the outcome of a session
//! - [`program`]: the location, start and end of the command line
//! - [`rpc`]: the connection, with messages in order
//! - [`provider`]: the model provider, from the user's environment
//! - [`offer`]: the parameters of a session: tools, lists, agents, MCP servers; [`built_in`]: the
//!   command line's own tools
//! - [`turn`]: one prompt to its end: events in, decisions and results out; [`turn_state`]: the
//!   state shared by its tasks
//! - [`permission`], [`calls`], [`hooks`]: permissions, calls of our tools and their results, hooks
//!   around its own tools; [`approvals`]: recorded approvals
//! - [`error`]: the errors
//!
//! Data flow: [`run`] starts the command line, opens a session with the request from [`offer`], and
//! sends the prompt. All further data arrives as `session.event`. An event that requests something
//! starts a task, whose answer goes back as a request, so that no task blocks another. Every event
//! is also passed to the session's observer. May use the same as every bridge; prints nothing.
//!
//! Hooks of a repository are left to us. The command line would run hooks of `.github/hooks` in an
//! untrusted folder, so that is disabled, and the hooks run here once their owner has trusted them.

mod approvals;
mod built_in;
mod calls;
pub(crate) mod error;
mod hooks;
mod offer;
mod options;
mod permission;
pub(crate) mod program;
mod provider;
mod rpc;
mod turn;
mod turn_state;

use std::time::Duration;

use serde_json::{Value, json};

use self::error::HostError;
use self::program::HostProcess;
use self::rpc::{HOST_REQUEST_TIMEOUT, HostConversation, SESSION_CLOSE_TIMEOUT};
use self::turn::HostTurn;
use crate::runtime::live::LiveRuntime;
use crate::tools::api::tool::Caller;

pub(crate) use self::options::{HostEvent, HostOptions, HostOutcome};

/// The supported protocol version.
const COPILOT_HOST_PROTOCOL_VERSION: u64 = 3;
/// The time limit for the connection. The command line unpacks itself at its first start.
const COPILOT_HOST_CONNECT_TIMEOUT: Duration = Duration::from_secs(120);
/// The time limit for creating a session, which starts its MCP servers.
const SESSION_CREATE_TIMEOUT: Duration = Duration::from_secs(180);

/// Runs one prompt to its end.
///
/// # Errors
/// [`HostError`]: the command line is missing, exits, does not answer, or reports a failure of the
/// model.
pub(crate) async fn run(live: &LiveRuntime, options: HostOptions) -> Result<HostOutcome, HostError> {
    let provider = provider::from_environment(|name| std::env::var(name).ok(), options.model.as_deref())?;
    if std::env::var_os(program::ALLOW_ALL).is_some() {
        let what = format!("{} is ignored: the rules of lsp-tools decide", program::ALLOW_ALL);
        options.send_event(HostEvent::Note(what));
    }
    let runtime = live.current();
    let program = program::find(&runtime, &options).await?;
    let mut running = program::start(&program, runtime.workspace()).await?;
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
        let caller =
            Caller { session: "copilot-host".to_owned(), agent: None, access: options.access.clone() };
        let definitions = options.backend.definitions(&caller, true).await?;
        let runtime = live.current();
        let offer = offer::build_session_request(&runtime, &definitions, &caller, options, provider, &tools)?;
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
    // The session's final hooks are reported; the response is waited for only briefly.
    let closing = conversation.close("session.destroy", json!({"sessionId": session}), SESSION_CLOSE_TIMEOUT);
    if let Err(error) = closing.await {
        tracing::debug!("the session did not close: {error}");
    }
    outcome
}
