//! One mounted server: started on demand, restarted with pauses, stopped when idle.
//!
//! Concurrent callers wait for the same start. The number of restarts is limited.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};

use super::connect::{MountConnection, NoConnection, error_chain};
use super::connection_state::MountConnectionState;
use super::context::MountContext;
use super::definitions::{MountedToolDefinition, offered_definitions};
use super::pins::{Callable, MountPinRecord, Pins};
use super::unauthorized::Challenge;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::{Mount, MountTransport};
use crate::policy::request::Effect;
use crate::process::restart::RESTART_WINDOW;
use crate::tools::api::hidden::escape_hidden;
use crate::tools::api::source::{HeldTool, MountedServer, MountedState, MountedTool, OmittedTool};

/// The length limit of a description in lists for users.
const MAX_MOUNT_SUMMARY_CHARS: usize = 120;
/// The delay before a failed server is started again for a list of tools.
const TOOL_LIST_RETRY_DELAY: Duration = Duration::from_secs(30);

/// The current knowledge about the tools.
#[derive(Debug, Default)]
struct MountToolKnowledge {
    /// True after the stored knowledge was read, which happens at the first use.
    is_read: bool,
    known: MountPinRecord,
    /// The tools held back.
    held_back: Vec<HeldTool>,
    /// The reason why the knowledge is uncertain.
    fault: Option<String>,
    offered: Vec<Arc<MountedToolDefinition>>,
    left_out: Vec<OmittedTool>,
}

/// A mounted server.
#[derive(Debug)]
pub(super) struct MountedMcpServer {
    pub(super) mount: Mount,
    pub(super) context: Arc<MountContext>,
    pins: Pins,
    state: Mutex<MountConnectionState>,
    knowledge: Mutex<MountToolKnowledge>,
    /// Serializes starts.
    starting: tokio::sync::Mutex<()>,
    /// True after a task was started that lists the tools.
    listing_started: AtomicBool,
}

impl MountedMcpServer {
    pub(super) fn new(mount: Mount, context: Arc<MountContext>) -> Self {
        let pins = Pins::new(context.folders(), &mount, context.root());
        Self {
            mount,
            context,
            pins,
            state: Mutex::default(),
            knowledge: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            listing_started: AtomicBool::new(false),
        }
    }

    /// Returns the knowledge about the tools, and reads it at the first use.
    fn tool_knowledge(&self) -> MutexGuard<'_, MountToolKnowledge> {
        let mut learned = self.knowledge.lock();
        if !learned.is_read {
            *learned = self.knowledge_from(self.pins.read());
        }
        learned
    }

    pub(super) fn name(&self) -> &str {
        &self.mount.name
    }

    /// The effect of its tools on the outside world, independent of the server's annotations.
    fn effect(&self) -> Effect {
        match self.mount.transport {
            MountTransport::Stdio { .. } => Effect::Execute,
            MountTransport::Http { .. } => Effect::Network,
        }
    }

    /// Replaces the knowledge about the tools.
    fn set_knowledge(&self, known: Result<MountPinRecord, String>) {
        let made = self.knowledge_from(known);
        *self.knowledge.lock() = made;
        self.context.notify_changed();
    }

    fn knowledge_from(&self, known: Result<MountPinRecord, String>) -> MountToolKnowledge {
        match known {
            Ok(known) => {
                let (tools, left_out) = offered_definitions(
                    self.name(),
                    self.effect(),
                    &self.mount.tools,
                    known.agreed_definitions(),
                );
                let held: Vec<HeldTool> =
                    known.held_tools().into_iter().filter(|tool| self.mount.tools.has(&tool.name)).collect();
                let left_out =
                    left_out.into_iter().chain(held.iter().map(|tool| self.held_back_tool(tool))).collect();
                let offered = tools.into_iter().map(Arc::new).collect();
                MountToolKnowledge { is_read: true, known, held_back: held, fault: None, offered, left_out }
            }
            Err(fault) => MountToolKnowledge {
                is_read: true,
                left_out: vec![OmittedTool { file: self.name().to_owned(), why: fault.clone() }],
                fault: Some(fault),
                ..MountToolKnowledge::default()
            },
        }
    }

    fn held_back_tool(&self, held: &HeldTool) -> OmittedTool {
        let name = self.name();
        OmittedTool {
            file: format!("{name}/{}", held.name),
            why: format!(
                "its definition is {} and is not approved; `lsp-tools mcp show {name}` shows the difference, `lsp-tools mcp approve {name}` approves it",
                match held.change {
                    crate::tools::api::source::HeldChange::New => "new",
                    crate::tools::api::source::HeldChange::Changed => "different from the approved one",
                }
            ),
        }
    }

    /// Returns the known tools. If none are known, starts a task that lists them.
    pub(super) fn offered_tools(self: &Arc<Self>) -> Vec<Arc<MountedToolDefinition>> {
        let learned = self.tool_knowledge();
        if !learned.known.is_listed()
            && learned.fault.is_none()
            && let Ok(handle) = tokio::runtime::Handle::try_current()
            && !self.listing_started.swap(true, Ordering::SeqCst)
        {
            let server = Arc::clone(self);
            // The time limit of a start applies.
            handle.spawn(async move { server.wait_until_known().await });
        }
        learned.offered.clone()
    }

    /// Returns the tools left out, and the server itself if it does not start.
    pub(super) fn left_out(&self) -> Vec<OmittedTool> {
        let mut left_out = self.tool_knowledge().left_out.clone();
        if let Some(error) = &self.state.lock().error {
            left_out.push(OmittedTool { file: self.name().to_owned(), why: error.clone() });
        }
        left_out
    }

    /// Decides on a call of the tool with the server's name `theirs`.
    pub(super) fn may_call(&self, theirs: &str) -> Callable {
        self.tool_knowledge().known.may_call(theirs)
    }

    /// Returns the names of all tools, including those not offered.
    pub(super) fn all_names(&self) -> Vec<String> {
        self.tool_knowledge().known.names().map(str::to_owned).collect()
    }

    /// Waits until the tools are known, or the attempt fails.
    pub(super) async fn wait_until_known(self: &Arc<Self>) {
        if self.tool_knowledge().known.is_listed() {
            return;
        }
        let lately =
            self.state.lock().failed_at.is_some_and(|failed| failed.elapsed() < TOOL_LIST_RETRY_DELAY);
        if lately {
            return;
        }
        if let Err(error) = self.connection().await {
            tracing::warn!(server = self.name(), "{}", error.error);
        }
    }

    /// Lists the tools again, and starts the server if necessary.
    pub(super) async fn refresh(self: &Arc<Self>) -> Result<Arc<MountConnection>, ToolError> {
        let (connection, is_listed) = self.connect().await?;
        if !is_listed {
            let _one = self.starting.lock().await;
            self.list_tools(&connection).await?;
        }
        Ok(connection)
    }

    /// Agrees to the tools held back.
    pub(super) fn approve(&self) -> Result<Vec<HeldTool>, ToolError> {
        let (known, held) = self.pins.agree().map_err(|fault| ToolError::new(ErrorCode::Internal, fault))?;
        self.set_knowledge(Ok(known));
        Ok(held)
    }

    /// Returns an open connection, the existing or a new one.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<MountConnection>, ToolError> {
        self.connect().await.map(|(connection, _)| connection)
    }

    /// Like `connection`, and returns true if the tools were listed just now.
    async fn connect(self: &Arc<Self>) -> Result<(Arc<MountConnection>, bool), ToolError> {
        if let Some(connection) = self.open_one() {
            let is_listed = self.follow_list_changes(&connection).await?;
            return Ok((connection, is_listed));
        }
        let _one = self.starting.lock().await;
        if let Some(connection) = self.open_one() {
            return Ok((connection, false));
        }
        self.record_exit().await;
        let from = self.state.lock().backoff.next_start();
        match from {
            Ok(moment) => sleep_until(moment).await,
            Err(moment) => return Err(self.restart_refusal(moment)),
        }
        Ok((self.start().await?, true))
    }

    /// The server's challenge, if it requires authorization.
    pub(super) fn challenge(&self) -> Option<Challenge> {
        self.state.lock().challenge.clone()
    }

    fn open_one(&self) -> Option<Arc<MountConnection>> {
        let mut live = self.state.lock();
        let connection = live.connection.clone().filter(|connection| !connection.is_closed())?;
        live.used = Some(Instant::now());
        Some(connection)
    }

    fn restart_refusal(&self, until: Instant) -> ToolError {
        let live = self.state.lock();
        let reason = live.error.clone().unwrap_or_default();
        let what = format!(
            "the MCP server `{}` ended {} times within {} s; next attempt in {} s; {reason}",
            self.name(),
            live.backoff.recent_exits(),
            RESTART_WINDOW.as_secs(),
            until.saturating_duration_since(Instant::now()).as_secs() + 1,
        );
        self.tool_error(ErrorCode::ServerFailed, what)
    }

    pub(super) fn tool_error(&self, code: ErrorCode, what: String) -> ToolError {
        ToolError::new(code, what).with_hint(format!("run: lsp-tools mcp doctor {}", self.name()))
    }

    /// Records the reason if the connection has ended.
    pub(super) async fn record_exit(&self) {
        let ended = {
            let mut live = self.state.lock();
            live.connection.take_if(|connection| connection.is_closed())
        };
        if let Some(connection) = ended {
            let words = connection.exit_report().await;
            connection.close().await;
            self.state.lock().record_failure(words, true);
            self.context.notify_changed();
        }
    }

    async fn start(self: &Arc<Self>) -> Result<Arc<MountConnection>, ToolError> {
        let era = self.tool_knowledge().known.era;
        let limit = self.mount.timeout;
        let opened = timeout(limit, MountConnection::open(&self.mount, &self.context, era)).await;
        let opened = opened.unwrap_or(Err(NoConnection::Silent(limit)));
        let connection = match opened {
            Ok(connection) => Arc::new(connection),
            Err(error) => return Err(self.not_started(&error)),
        };
        if let Err(error) = self.list_tools(&connection).await {
            connection.close().await;
            self.state.lock().record_failure(error.error.clone(), true);
            self.context.notify_changed();
            return Err(error);
        }
        tracing::info!(
            server = self.name(),
            protocol = connection.protocol,
            ms = u64::try_from(connection.began_in.as_millis()).unwrap_or(u64::MAX),
            "a mounted MCP server answers"
        );
        let mut live = self.state.lock();
        live.error = None;
        live.failed_at = None;
        live.used = Some(Instant::now());
        live.followed = connection.changed.load(Ordering::SeqCst);
        live.connection = Some(Arc::clone(&connection));
        let idle = tokio::spawn(stop_when_idle(Arc::downgrade(self), Arc::downgrade(&connection)));
        if let Some(before) = live.idle.replace(idle.abort_handle()) {
            before.abort();
        }
        Ok(connection)
    }

    fn not_started(&self, error: &NoConnection) -> ToolError {
        let (code, counts) = match error {
            NoConnection::NoProgram(_) => (ErrorCode::ServerFailed, false),
            NoConnection::Settings(_) | NoConnection::Loop => (ErrorCode::InvalidArgs, false),
            NoConnection::Untrusted(_) => (ErrorCode::Denied, false),
            NoConnection::Unauthorized(_) => (ErrorCode::Denied, false),
            NoConnection::Failed(_) => (ErrorCode::ServerFailed, true),
            NoConnection::Silent(_) => (ErrorCode::Timeout, true),
        };
        {
            let mut live = self.state.lock();
            live.record_failure(error.to_string(), counts);
            if let NoConnection::Unauthorized(challenge) = error {
                live.challenge = Some(challenge.clone());
            }
        }
        self.context.notify_changed();
        self.tool_error(code, format!("the MCP server `{}` does not start: {error}", self.name()))
    }

    /// Lists the tools again after a change notification. Returns true if it did.
    async fn follow_list_changes(&self, connection: &Arc<MountConnection>) -> Result<bool, ToolError> {
        let changes = connection.changed.load(Ordering::SeqCst);
        if self.state.lock().followed == changes {
            return Ok(false);
        }
        let _one = self.starting.lock().await;
        self.list_tools(connection).await?;
        self.state.lock().followed = changes;
        Ok(true)
    }

    async fn list_tools(&self, connection: &MountConnection) -> Result<(), ToolError> {
        let limit = self.mount.timeout;
        let name = self.name();
        let listed = match timeout(limit, connection.list()).await {
            Ok(Ok(listed)) => listed,
            Ok(Err(rmcp::ServiceError::TransportClosed)) => {
                let what = format!(
                    "the MCP server `{name}` did not list its tools: {}",
                    connection.exit_report().await
                );
                return Err(self.tool_error(ErrorCode::ServerFailed, what));
            }
            Ok(Err(error)) => {
                let what = format!("the MCP server `{name}` did not list its tools: {}", error_chain(&error));
                return Err(self.tool_error(ErrorCode::ServerFailed, what));
            }
            Err(_) => {
                let what =
                    format!("the MCP server `{name}` did not list its tools within {} ms", limit.as_millis());
                return Err(self.tool_error(ErrorCode::Timeout, what));
            }
        };
        self.record_tools(connection, listed)
    }

    fn record_tools(
        &self,
        connection: &MountConnection,
        listed: BTreeMap<String, Value>,
    ) -> Result<(), ToolError> {
        let about = (connection.era, connection.server.clone(), connection.protocol.clone());
        let known = self.pins.learn(about, listed);
        let fault = known.as_ref().err().cloned();
        self.set_knowledge(known);
        fault.map_or(Ok(()), |fault| {
            Err(self.tool_error(ErrorCode::Internal, format!("{}: {fault}", self.name())))
        })
    }

    /// Closes the connection and ends the process before it returns.
    pub(super) async fn shutdown(&self) {
        let (connection, idle) = {
            let mut live = self.state.lock();
            (live.connection.take(), live.idle.take())
        };
        if let Some(idle) = idle {
            idle.abort();
        }
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// Returns the server's status.
    pub(super) fn report(&self) -> MountedServer {
        let (live, learned) = (self.state.lock(), self.tool_knowledge());
        let running = live.connection.as_ref().filter(|connection| !connection.is_closed());
        let (state, detail) = match (running, &live.error) {
            (Some(_), _) => (MountedState::Running, None),
            (None, Some(error)) if live.backoff.is_exhausted() => {
                (MountedState::Stopped, Some(error.clone()))
            }
            (None, Some(error)) => (MountedState::Failed, Some(error.clone())),
            (None, None) if live.connection.is_some() => {
                (MountedState::Failed, Some("it ended; the next call starts it again".to_owned()))
            }
            (None, None) => (MountedState::Idle, None),
        };
        let (transport, target) = match &self.mount.transport {
            MountTransport::Stdio { command, args, .. } => {
                let words: Vec<&str> =
                    std::iter::once(command.as_str()).chain(args.iter().map(String::as_str)).collect();
                ("stdio", words.join(" "))
            }
            MountTransport::Http { url, .. } => ("http", url.to_string()),
        };
        MountedServer {
            name: self.name().to_owned(),
            transport: transport.to_owned(),
            target: escape_hidden(&target).into_owned(),
            file: self.mount.file.clone(),
            state,
            detail: detail.or_else(|| learned.fault.clone()),
            server: learned.known.server.clone(),
            protocol: learned.known.protocol.clone(),
            pid: running.and_then(|connection| connection.pid()),
            tools: learned.offered.iter().map(|offered| to_mounted_tool(offered)).collect(),
            held: learned.held_back.clone(),
            left_out: learned.left_out.clone(),
        }
    }
}

fn to_mounted_tool(offered: &MountedToolDefinition) -> MountedTool {
    let card = &offered.definition.card;
    let line = card.description.lines().next().unwrap_or_default();
    let summary = line
        .split_once(". ")
        .map_or(line, |(first, _)| first)
        .chars()
        .take(MAX_MOUNT_SUMMARY_CHARS)
        .collect();
    MountedTool { name: card.name.to_string(), summary, hash: offered.hash.clone() }
}

/// Closes a connection that has been idle for a while. Ends with the connection.
async fn stop_when_idle(server: Weak<MountedMcpServer>, connection: Weak<MountConnection>) {
    let mut until = match server.upgrade() {
        Some(server) => Instant::now() + server.context.idle_stop(),
        None => return,
    };
    loop {
        sleep_until(until).await;
        let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) else { return };
        {
            let mut live = server.state.lock();
            if !live.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, &connection)) {
                return;
            }
            let used = live.used.unwrap_or(until) + server.context.idle_stop();
            // A running call holds a reference, beside the server and this task.
            if used > Instant::now() || Arc::strong_count(&connection) > 2 {
                until = used.max(Instant::now() + Duration::from_secs(1));
                continue;
            }
            live.connection = None;
        }
        connection.close().await;
        return;
    }
}
