//! One mounted server: started when it is needed, once, however many wait; again after it ended, with pauses, and not for
//! ever; stopped when nobody needs it.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::connect::{Connection, NoConnection, causes};
use super::definitions::{Offered, offered};
use super::pins::{Callable, Known, Pins};
use super::tool::MountedAs;
use crate::config::{Mount, MountTransport, Trust};
use crate::lsp::process::Spawner;
use crate::policy::request::Effect;
use crate::tools::context::Context;
use crate::tools::drop_in::LeftOut;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::hidden::escaped;
use crate::tools::source::{HeldTool, MountedServer, MountedState, MountedTool};
use crate::tools::tool::AnyTool;
use crate::workspace::Workspace;

/// A server that ends so often within [`WINDOW`] is not started again until that is over.
const MOST_ENDS: usize = 5;
const WINDOW: Duration = Duration::from_secs(180);
/// Before the second, third, … start after an end; the first one after an end comes at once.
const PAUSES: [Duration; MOST_ENDS] =
    [Duration::ZERO, Duration::ZERO, Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// A server that did not start is not tried again for a list of tools that soon.
const LIST_AGAIN: Duration = Duration::from_secs(30);

/// What all mounted servers of a workspace share.
#[derive(Debug)]
pub(super) struct Room {
    workspace: Workspace,
    spawner: Spawner,
    trust: Trust,
    folders: crate::config::Folders,
    allowed_hosts: Vec<String>,
    idle_stop: Duration,
    generation: Arc<AtomicU64>,
}

impl Room {
    pub(super) fn new(context: &Context, generation: Arc<AtomicU64>) -> Self {
        let settings = &context.config.settings;
        Self {
            workspace: context.workspace.clone(),
            spawner: context.manager.spawner().clone(),
            trust: context.trust.clone(),
            folders: context.folders.clone(),
            allowed_hosts: settings.fetch.allow_hosts.clone(),
            idle_stop: settings.servers.idle_stop(),
            generation,
        }
    }

    pub(super) fn root(&self) -> &Path {
        self.workspace.root()
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(super) fn spawner(&self) -> &Spawner {
        &self.spawner
    }

    pub(super) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Hosts that may be asked although they are private.
    pub(super) fn allowed_hosts(&self) -> &[String] {
        &self.allowed_hosts
    }
}

/// What is going on.
#[derive(Debug, Default)]
struct Live {
    connection: Option<Arc<Connection>>,
    /// When it ended or did not start, of late.
    ends: VecDeque<Instant>,
    /// Why it is not running, where that is no choice.
    error: Option<String>,
    failed_at: Option<Instant>,
    /// The changes of its tools that have been looked at.
    followed: u64,
    used: Option<Instant>,
    idle: Option<AbortHandle>,
}

impl Live {
    fn failed(&mut self, error: String, counts: bool) {
        let now = Instant::now();
        self.error = Some(error);
        self.failed_at = Some(now);
        if counts {
            self.ends.push_back(now);
        }
    }

    /// When it may be started; `Err` with the moment where that is too far off to wait for.
    fn may_start(&mut self) -> Result<Instant, Instant> {
        let now = Instant::now();
        self.ends.retain(|end| now - *end < WINDOW);
        match (self.ends.front(), self.ends.back(), PAUSES.get(self.ends.len())) {
            (Some(first), _, None) => Err(*first + WINDOW),
            (_, Some(last), Some(pause)) => Ok(*last + *pause),
            _ => Ok(now),
        }
    }
}

/// What is known of its tools.
#[derive(Debug, Default)]
struct Learned {
    known: Known,
    /// Why nothing is known for sure.
    fault: Option<String>,
    offered: Vec<Arc<Offered>>,
    left_out: Vec<LeftOut>,
}

/// A mounted server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) mount: Mount,
    pub(super) room: Arc<Room>,
    pins: Pins,
    live: Mutex<Live>,
    learned: Mutex<Learned>,
    /// One start at a time.
    starting: tokio::sync::Mutex<()>,
    /// It has been begun to find out about its tools for a list.
    asked: AtomicBool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    pub(super) fn new(mount: Mount, room: Arc<Room>) -> Self {
        let pins = Pins::new(&room.folders, &mount, room.root());
        let server = Self {
            mount,
            room,
            pins,
            live: Mutex::default(),
            learned: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            asked: AtomicBool::new(false),
        };
        server.take_in(server.pins.read());
        server
    }

    pub(super) fn name(&self) -> &str {
        &self.mount.name
    }

    /// What a call of its tools does to the world, whatever it says of itself.
    fn effect(&self) -> Effect {
        match self.mount.transport {
            MountTransport::Stdio { .. } => Effect::Execute,
            MountTransport::Http { .. } => Effect::Network,
        }
    }

    /// From now on its tools are those of `known`.
    fn take_in(&self, known: Result<Known, String>) {
        let mut learned = locked(&self.learned);
        *learned = match known {
            Ok(known) => {
                let (tools, left_out) =
                    offered(self.name(), self.effect(), &self.mount.tools, known.agreed());
                let held = known.held();
                let held =
                    held.iter().filter(|tool| self.mount.tools.has(&tool.name)).map(|tool| self.told(tool));
                let left_out = left_out.into_iter().chain(held).collect();
                Learned { offered: tools.into_iter().map(Arc::new).collect(), left_out, known, fault: None }
            }
            Err(fault) => Learned {
                left_out: vec![LeftOut { file: self.name().to_owned(), why: fault.clone() }],
                fault: Some(fault),
                ..Learned::default()
            },
        };
        self.room.generation.fetch_add(1, Ordering::SeqCst);
    }

    fn told(&self, held: &HeldTool) -> LeftOut {
        let name = self.name();
        LeftOut {
            file: format!("{name}/{}", held.name),
            why: format!(
                "its definition is {}, which nobody has agreed to; `lsp-tools mcp show {name}` shows the difference, `lsp-tools mcp approve {name}` agrees to it",
                match held.change {
                    crate::tools::source::HeldChange::New => "new",
                    crate::tools::source::HeldChange::Changed => "another one than before",
                }
            ),
        }
    }

    /// Its tools as far as they are known. Where nothing is, a task begins to find out.
    pub(super) fn tools(self: &Arc<Self>) -> Vec<Arc<dyn AnyTool>> {
        let learned = locked(&self.learned);
        if !learned.known.is_listed()
            && learned.fault.is_none()
            && let Ok(handle) = tokio::runtime::Handle::try_current()
            && !self.asked.swap(true, Ordering::SeqCst)
        {
            let server = Arc::clone(self);
            // Ends within the time that a start may take.
            handle.spawn(async move { server.settle().await });
        }
        let tool = |offered: &Arc<Offered>| -> Arc<dyn AnyTool> {
            Arc::new(MountedAs::new(Arc::clone(self), Arc::clone(offered)))
        };
        learned.offered.iter().map(tool).collect()
    }

    /// What is none of its tools now, itself where it does not start.
    pub(super) fn left_out(&self) -> Vec<LeftOut> {
        let mut left_out = locked(&self.learned).left_out.clone();
        if let Some(error) = &locked(&self.live).error {
            left_out.push(LeftOut { file: self.name().to_owned(), why: error.clone() });
        }
        left_out
    }

    /// Whether its tool of that name may be called now.
    pub(super) fn may_call(&self, theirs: &str) -> Callable {
        locked(&self.learned).known.may_call(theirs)
    }

    /// The names of all its tools, also of those that are not offered.
    pub(super) fn all_names(&self) -> Vec<String> {
        locked(&self.learned).known.names().map(str::to_owned).collect()
    }

    /// Waits until something is known of its tools.
    pub(super) async fn settle(self: &Arc<Self>) {
        if locked(&self.learned).known.is_listed() {
            return;
        }
        let lately = locked(&self.live).failed_at.is_some_and(|failed| failed.elapsed() < LIST_AGAIN);
        if lately {
            return;
        }
        if let Err(error) = self.connection().await {
            tracing::warn!(server = self.name(), "{}", error.error);
        }
    }

    /// Asks for its tools anew, starting it if need be.
    pub(super) async fn refresh(self: &Arc<Self>) -> Result<Arc<Connection>, ToolError> {
        let connection = self.connection().await?;
        let _one = self.starting.lock().await;
        self.list(&connection).await?;
        Ok(connection)
    }

    /// Agrees to what is held back.
    pub(super) fn approve(&self) -> Result<Vec<HeldTool>, ToolError> {
        let known = self.pins.read().map_err(|error| ToolError::new(ErrorCode::Internal, error))?;
        let held = known.held();
        let agreed = self.pins.agree();
        let fault = agreed.as_ref().err().cloned();
        self.take_in(agreed);
        match fault {
            Some(fault) => Err(ToolError::new(ErrorCode::Internal, fault)),
            None => Ok(held),
        }
    }

    /// A connection that answers: the one there is, or a new one.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, ToolError> {
        if let Some(connection) = self.open_one() {
            self.follow(&connection).await?;
            return Ok(connection);
        }
        let _one = self.starting.lock().await;
        if let Some(connection) = self.open_one() {
            return Ok(connection);
        }
        self.bury().await;
        let from = locked(&self.live).may_start();
        match from {
            Ok(moment) => sleep_until(moment).await,
            Err(moment) => return Err(self.stopped(moment)),
        }
        self.start().await
    }

    fn open_one(&self) -> Option<Arc<Connection>> {
        let mut live = locked(&self.live);
        let connection = live.connection.clone().filter(|connection| !connection.is_closed())?;
        live.used = Some(Instant::now());
        Some(connection)
    }

    fn stopped(&self, until: Instant) -> ToolError {
        let live = locked(&self.live);
        let why = live.error.clone().unwrap_or_default();
        let what = format!(
            "the MCP server `{}` ended {} times within {} s and is left alone for {} s more; {why}",
            self.name(),
            live.ends.len(),
            WINDOW.as_secs(),
            until.saturating_duration_since(Instant::now()).as_secs() + 1,
        );
        self.failure(ErrorCode::ServerFailed, what)
    }

    pub(super) fn failure(&self, code: ErrorCode, what: String) -> ToolError {
        ToolError::new(code, what).with_hint(format!("`lsp-tools mcp doctor {}` looks into it", self.name()))
    }

    /// Notes how the connection ended, where it has.
    pub(super) async fn bury(&self) {
        let ended = {
            let mut live = locked(&self.live);
            live.connection.take_if(|connection| connection.is_closed())
        };
        if let Some(connection) = ended {
            let words = connection.last_words().await;
            connection.close().await;
            locked(&self.live).failed(words, true);
            self.room.generation.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn start(self: &Arc<Self>) -> Result<Arc<Connection>, ToolError> {
        let era = locked(&self.learned).known.era;
        let limit = self.mount.timeout;
        let opened = timeout(limit, Connection::open(&self.mount, &self.room, era)).await;
        let opened = opened.unwrap_or(Err(NoConnection::Silent(limit)));
        let connection = match opened {
            Ok(connection) => Arc::new(connection),
            Err(error) => return Err(self.not_started(&error)),
        };
        if let Err(error) = self.list(&connection).await {
            connection.close().await;
            locked(&self.live).failed(error.error.clone(), true);
            return Err(error);
        }
        tracing::info!(
            server = self.name(),
            protocol = connection.protocol,
            ms = u64::try_from(connection.began_in.as_millis()).unwrap_or(u64::MAX),
            "a mounted MCP server answers"
        );
        let mut live = locked(&self.live);
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
            NoConnection::Settings(_) => (ErrorCode::InvalidArgs, false),
            NoConnection::Untrusted(_) => (ErrorCode::Denied, false),
            NoConnection::Failed(_) => (ErrorCode::ServerFailed, true),
            NoConnection::Silent(_) => (ErrorCode::Timeout, true),
        };
        locked(&self.live).failed(error.to_string(), counts);
        self.room.generation.fetch_add(1, Ordering::SeqCst);
        self.failure(code, format!("the MCP server `{}` does not start: {error}", self.name()))
    }

    /// Looks at its tools again, where it said that they are others now.
    async fn follow(&self, connection: &Arc<Connection>) -> Result<(), ToolError> {
        let changes = connection.changed.load(Ordering::SeqCst);
        if locked(&self.live).followed == changes {
            return Ok(());
        }
        let _one = self.starting.lock().await;
        self.list(connection).await?;
        locked(&self.live).followed = changes;
        Ok(())
    }

    async fn list(&self, connection: &Connection) -> Result<(), ToolError> {
        let limit = self.mount.timeout;
        let name = self.name();
        let listed = match timeout(limit, connection.list()).await {
            Ok(Ok(listed)) => listed,
            Ok(Err(rmcp::ServiceError::TransportClosed)) => {
                let what = format!(
                    "the MCP server `{name}` does not tell its tools: {}",
                    connection.last_words().await
                );
                return Err(self.failure(ErrorCode::ServerFailed, what));
            }
            Ok(Err(error)) => {
                let what = format!("the MCP server `{name}` does not tell its tools: {}", causes(&error));
                return Err(self.failure(ErrorCode::ServerFailed, what));
            }
            Err(_) => {
                let what = format!(
                    "the MCP server `{name}` does not tell its tools within {} ms",
                    limit.as_millis()
                );
                return Err(self.failure(ErrorCode::Timeout, what));
            }
        };
        self.learn(connection, listed)
    }

    fn learn(&self, connection: &Connection, listed: BTreeMap<String, Value>) -> Result<(), ToolError> {
        let about = (connection.era, connection.server.clone(), connection.protocol.clone());
        let known = self.pins.learn(about, listed);
        let fault = known.as_ref().err().cloned();
        self.take_in(known);
        fault.map_or(Ok(()), |fault| {
            Err(self.failure(ErrorCode::Internal, format!("{}: {fault}", self.name())))
        })
    }

    /// Its process or connection is gone when this returns.
    pub(super) async fn shutdown(&self) {
        let (connection, idle) = {
            let mut live = locked(&self.live);
            (live.connection.take(), live.idle.take())
        };
        if let Some(idle) = idle {
            idle.abort();
        }
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// How it is.
    pub(super) fn report(&self) -> MountedServer {
        let (live, learned) = (locked(&self.live), locked(&self.learned));
        let running = live.connection.as_ref().filter(|connection| !connection.is_closed());
        let (state, detail) = match (running, &live.error) {
            (Some(_), _) => (MountedState::Running, None),
            (None, Some(error)) if live.ends.len() >= MOST_ENDS => {
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
            target: escaped(&target).into_owned(),
            file: self.mount.file.clone(),
            state,
            detail: detail.or_else(|| learned.fault.clone()),
            server: learned.known.server.clone(),
            protocol: learned.known.protocol.clone(),
            pid: running.and_then(|connection| connection.pid()),
            tools: learned.offered.iter().map(|offered| shown(offered)).collect(),
            held: learned.known.held().into_iter().filter(|held| self.mount.tools.has(&held.name)).collect(),
            left_out: learned.left_out.clone(),
        }
    }
}

fn shown(offered: &Offered) -> MountedTool {
    let card = &offered.definition.card;
    let summary = card.description.lines().next().unwrap_or_default().to_owned();
    MountedTool { name: card.name.to_string(), summary, hash: offered.hash.clone() }
}

/// Ends a connection that nobody has used for a while. Ends with it.
async fn stop_when_idle(server: Weak<Server>, connection: Weak<Connection>) {
    let mut until = match server.upgrade() {
        Some(server) => Instant::now() + server.room.idle_stop,
        None => return,
    };
    loop {
        sleep_until(until).await;
        let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) else { return };
        {
            let mut live = locked(&server.live);
            if !live.connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, &connection)) {
                return;
            }
            let used = live.used.unwrap_or(until) + server.room.idle_stop;
            // A call that is under way holds it, beside the server and this task.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_keeps_ending_is_left_alone_for_a_while() {
        let mut live = Live::default();
        let mut waits = Vec::new();
        while let Ok(moment) = live.may_start() {
            waits.push(moment.saturating_duration_since(Instant::now()).as_secs());
            sleep_until(moment).await;
            live.failed("it ended".to_owned(), true);
        }
        assert_eq!(waits, [0, 0, 1, 2, 4]);
        let again = live.may_start().unwrap_err();
        assert!(again - Instant::now() > Duration::from_secs(150));
        sleep_until(again).await;
        assert!(live.may_start().is_ok());
        live.failed("its program is not there".to_owned(), false);
        assert_eq!(live.ends.len(), MOST_ENDS - 1);
    }
}
