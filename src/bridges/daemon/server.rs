//! The daemon: one socket with many connections, each passed to its door.

use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::clients::{Clients, ConnectedClient};
use super::folder::{DaemonFolder, DaemonLock, FolderError, LIFE_LOCK, START_LOCK};
use super::identity::DaemonIdentity;
use super::life::{DaemonExitReason, DaemonLifeWatch};
use super::preamble::{
    self, DAEMON_PROTOCOL_VERSION, DoorName, LONGEST, LineError, Preamble, Refusal, RefusalCode, Welcome,
};
use super::status::{self, DaemonStatus};
use crate::analysis::error::ToolError;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::platform::inode::InodeIdentity;
use crate::platform::sockets::{LocalListener, LocalStream, OwnedReadHalf, OwnedWriteHalf, SocketUser};
use crate::platform::{open_files, process_tree};
use crate::process::ancestry::{Descent, SocketPeer};
use crate::runtime::Runtime;
use crate::runtime::live::LiveRuntime;
use crate::tools::api::tool::Caller;

/// The limit on clients. Further ones are refused as busy.
const MAX_DAEMON_CLIENTS: usize = 2_000;
/// The number of files reserved for other uses than connections: pipes of servers, files being
/// read.
const OTHER_FILES: u64 = 512;
/// The wanted limit on open files, if the system permits it.
const OPEN_FILES: u64 = 8_192;
/// The time that running calls get to finish when the daemon exits.
const DAEMON_DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval of the checks for running calls.
const DAEMON_DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The time limit for doors to close.
const DOOR_CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The time limit for servers to exit. Their supervisors end the remaining ones.
const DAEMON_SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The delay after an `accept` that failed for lack of files or memory.
const DAEMON_ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// Serves one connection to its end.
pub(crate) type DoorHandler = Arc<dyn Fn(AcceptedConnection) -> BoxFuture<'static, ()> + Send + Sync>;

/// The handlers of the protocols, passed in by the caller that opens the daemon.
#[derive(Clone)]
pub(crate) struct DoorHandlers {
    /// One command of the command line.
    pub command: DoorHandler,
    /// MCP.
    pub mcp: Option<DoorHandler>,
    /// LSP, for editors.
    pub lsp: Option<DoorHandler>,
    /// The requests about the page.
    pub view: Option<DoorHandler>,
    /// The calls of our other doors.
    pub tools: Option<DoorHandler>,
}

/// A connection whose preamble was accepted.
pub(crate) struct AcceptedConnection {
    /// The current and future runtimes.
    pub(crate) live: LiveRuntime,
    /// The runtime under the current settings, or the reason why they are invalid.
    pub(crate) runtime: Result<Runtime, ToolError>,
    /// The client's preamble.
    pub(crate) preamble: Preamble,
    /// The caller.
    pub caller: Caller,
    /// Observes the daemon while it lives.
    pub(crate) observer: DaemonObserver,
    /// The client's registration, which counts its calls.
    pub(crate) client: ConnectedClient,
    /// Reads from the client.
    pub reader: BufReader<OwnedReadHalf>,
    /// Writes to the client.
    pub writer: OwnedWriteHalf,
    /// Cancelled to close the connection.
    pub closing: CancellationToken,
}

/// Observes the daemon. Clones are cheap and do not keep the daemon alive.
#[derive(Clone)]
pub(crate) struct DaemonObserver {
    state: Weak<DaemonState>,
    closing: CancellationToken,
    beside: TaskTracker,
}

impl DaemonObserver {
    /// Returns the status without the servers, since these would have to be queried. Returns `None`
    /// after the daemon has exited.
    pub(crate) fn status(&self) -> Option<DaemonStatus> {
        let state = self.state.upgrade()?;
        Some(status::describe(state.facts(), &state.clients, &state.live.current()))
    }

    /// The key in the names of the daemon's files.
    pub(crate) fn key(&self) -> Option<String> {
        Some(self.state.upgrade()?.identity.key().to_owned())
    }

    /// Tracks tasks beside connections; the daemon waits for their end.
    pub(crate) fn beside(&self) -> &TaskTracker {
        &self.beside
    }

    /// Cancelled to close connections.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }
}

/// Reasons why a daemon cannot run.
#[derive(Debug, Error)]
pub(crate) enum DaemonError {
    /// Another daemon is running.
    #[error("a daemon for this workspace and environment runs already")]
    Running,
    /// The folder of the socket cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The socket cannot be opened.
    #[error("the socket cannot be had: {0}")]
    Socket(#[from] io::Error),
}

/// The listening daemon.
pub(crate) struct Daemon {
    shared: Arc<DaemonState>,
    listener: LocalListener,
    lock: DaemonLock,
}

struct DaemonState {
    identity: DaemonIdentity,
    folder: DaemonFolder,
    socket: Option<InodeIdentity>,
    live: LiveRuntime,
    doors: DoorHandlers,
    clients: Clients,
    /// One permit for each further client.
    client_permits: Arc<Semaphore>,
    started: Instant,
    started_at: u64,
    /// Cancelled when no more clients are accepted, for example by `daemon stop`.
    ending: CancellationToken,
    /// Cancelled to close connections.
    closing: CancellationToken,
    /// Tasks of doors beside connections.
    beside: TaskTracker,
    /// Connections of clients that wait for the daemon's exit, closed by it.
    exit_waiters: Mutex<Vec<OwnedWriteHalf>>,
}

/// The exclusive right to be the daemon of an identity, acquired before opening the runtime.
pub(crate) struct DaemonReservation {
    folder: DaemonFolder,
    identity: DaemonIdentity,
    lock: DaemonLock,
}

impl DaemonReservation {
    /// Reserves the exclusive right to be the daemon of `identity`.
    ///
    /// # Errors
    /// Another daemon has it.
    pub(crate) fn acquire(folder: DaemonFolder, identity: DaemonIdentity) -> Result<Self, DaemonError> {
        let lock = folder.try_lock(&format!("{}{LIFE_LOCK}", identity.key()))?.ok_or(DaemonError::Running)?;
        if let Err(error) = folder.sweep(identity.key()) {
            tracing::warn!("files of dead daemons cannot be removed: {error}");
        }
        Ok(Self { folder, identity, lock })
    }
}

impl Daemon {
    /// Listens with the reservation `place` for `runtime`. Must be called within a tokio runtime,
    /// while no other thread creates files.
    ///
    /// # Errors
    /// The socket cannot be opened.
    pub(crate) fn listen(
        place: DaemonReservation,
        runtime: Runtime,
        doors: DoorHandlers,
    ) -> Result<Self, DaemonError> {
        let DaemonReservation { folder, identity, lock } = place;
        // The lock guarantees a single daemon, so an existing socket belongs to a dead one.
        folder.remove_socket(identity.key())?;
        let address = folder.socket(identity.key())?;
        let bound = LocalListener::bind(&address);
        let shared = DaemonState {
            socket: folder.socket_id(identity.key()),
            folder,
            live: LiveRuntime::new(runtime),
            doors,
            clients: Clients::default(),
            client_permits: Arc::new(Semaphore::new(max_clients())),
            started: Instant::now(),
            started_at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            ending: CancellationToken::new(),
            closing: CancellationToken::new(),
            beside: TaskTracker::new(),
            exit_waiters: Mutex::default(),
            identity,
        };
        Ok(Self { shared: Arc::new(shared), listener: bound?, lock })
    }

    /// Serves until there is a reason to exit; `signalled` is one of them. Returns when all calls,
    /// servers and commands have ended or reached their time limits.
    pub(crate) async fn run(self, signalled: impl Future<Output = ()>) -> DaemonExitReason {
        let Self { shared, listener, lock } = self;
        let connections = TaskTracker::new();
        let watch = DaemonLifeWatch {
            identity: &shared.identity,
            folder: &shared.folder,
            socket: shared.socket,
            clients: &shared.clients,
            live: &shared.live,
        };
        let reason = tokio::select! {
            () = accept_connections(&shared, &listener, &connections) => DaemonExitReason::Asked,
            () = signalled => DaemonExitReason::Signalled,
            () = shared.ending.cancelled() => DaemonExitReason::Asked,
            reason = watch.wait_for_exit_reason() => reason,
        };
        tracing::info!("the daemon ends: {reason}");
        shared.ending.cancel();
        // From here on another daemon may start, so its socket must not be removed.
        if shared.folder.socket_id(shared.identity.key()) == shared.socket
            && let Err(error) = shared.folder.remove_socket(shared.identity.key())
        {
            tracing::warn!("the socket cannot be removed: {error}");
        }
        drop(listener);
        if let Err(error) = shared.folder.remove_lock(lock).and_then(|()| shared.remove_starters_lock()) {
            tracing::warn!("the locks cannot be removed: {error}");
        }
        shared.drain(&connections).await;
        if tokio::time::timeout(DAEMON_SHUTDOWN_TIMEOUT, shared.live.shutdown()).await.is_err() {
            tracing::warn!("servers did not end in time");
        }
        shared.exit_waiters.lock().clear();
        reason
    }
}

/// Accepts connections until the future is dropped.
async fn accept_connections(shared: &Arc<DaemonState>, listener: &LocalListener, connections: &TaskTracker) {
    loop {
        match listener.accept().await {
            Ok(stream) => {
                let (shared, accepted) = (shared.clone(), process_tree::system_ticks());
                connections.spawn(async move { shared.serve(stream, accepted).await });
            }
            Err(error) => {
                tracing::warn!("a connection cannot be accepted: {error}");
                tokio::time::sleep(DAEMON_ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

impl DaemonState {
    /// Removes the start lock, unless another process already starts the next daemon.
    fn remove_starters_lock(&self) -> io::Result<()> {
        match self.folder.try_lock(&format!("{}{START_LOCK}", self.identity.key()))? {
            Some(starting) => self.folder.remove_lock(starting),
            None => Ok(()),
        }
    }

    /// Serves a connection that was made at `accepted` or before.
    async fn serve(self: Arc<Self>, stream: LocalStream, accepted: Option<u64>) {
        let pid = match stream.peer() {
            Ok(SocketUser { foreign: None, pid }) => pid,
            Ok(SocketUser { foreign: Some(user), .. }) => {
                tracing::warn!("a connection of user {user} was refused");
                return;
            }
            Err(error) => {
                tracing::warn!("a connection of an unknown user was refused: {error}");
                return;
            }
        };
        let client = SocketPeer::from_socket(&stream, pid);
        let (reader, mut writer) = stream.into_split();
        let Ok(_place) = self.client_permits.clone().try_acquire_owned() else {
            let error = "too many clients are connected; try again later";
            return send_refusal(&mut writer, &Refusal::new(RefusalCode::Busy, error)).await;
        };
        // On a blocking thread, to keep the workers free for others' calls: the client can delay
        // this by starting and ending processes.
        let descent = tokio::task::spawn_blocking(move || client.descent(accepted)).await;
        let error = match descent {
            Ok(Descent::Free) => None,
            Ok(Descent::Supervised) => {
                Some("programs started by a tool or server of lsp-tools cannot use its daemon")
            }
            Ok(Descent::Unknown) | Err(_) => Some(
                "the ancestors of the connecting process cannot be determined, so a tool of lsp-tools may have started it; such programs cannot use the daemon",
            ),
        };
        if let Some(error) = error {
            return send_refusal(&mut writer, &Refusal::new(RefusalCode::Inside, error)).await;
        }
        let mut reader = BufReader::new(reader);
        match self.first_line(&mut reader).await {
            Ok(Some(preamble)) => self.serve_client(reader, writer, preamble, pid).await,
            Ok(None) => {}
            Err(refusal) => send_refusal(&mut writer, &refusal).await,
        }
    }

    /// Reads the preamble. Returns `None` if the client disconnected, or if the daemon is about to
    /// exit.
    async fn first_line(&self, reader: &mut BufReader<OwnedReadHalf>) -> Result<Option<Preamble>, Refusal> {
        let line = tokio::select! {
            line = tokio::time::timeout(preamble::PREAMBLE_TIMEOUT, preamble::read_line(reader, LONGEST)) => line,
            () = self.ending.cancelled() => return Ok(None),
        };
        let unusable = |reason: String| Refusal::new(RefusalCode::BadPreamble, reason);
        let preamble = match line {
            Ok(Ok(line)) => Preamble::read(&line)?,
            Ok(Err(LineError::Closed | LineError::Broken(_))) => return Ok(None),
            Ok(Err(error)) => return Err(unusable(format!("the first line is invalid: {error}"))),
            Err(_) => {
                return Err(unusable(format!(
                    "no first line came within {} s",
                    preamble::PREAMBLE_TIMEOUT.as_secs()
                )));
            }
        };
        self.may_enter(&preamble)?;
        Ok(Some(preamble))
    }

    fn may_enter(&self, preamble: &Preamble) -> Result<(), Refusal> {
        if self.ending.is_cancelled() {
            return Err(Refusal::new(RefusalCode::Ending, "the daemon is about to end"));
        }
        let missing = match preamble.door {
            DoorName::Mcp => self.doors.mcp.is_none(),
            DoorName::Lsp => self.doors.lsp.is_none(),
            DoorName::View => self.doors.view.is_none(),
            DoorName::Tools => self.doors.tools.is_none(),
            DoorName::Command | DoorName::Status | DoorName::Hints | DoorName::Stop => false,
        };
        if missing { Err(Refusal::new(RefusalCode::NoDoor, "this daemon has no such entry")) } else { Ok(()) }
    }

    async fn serve_client(
        self: &Arc<Self>,
        reader: BufReader<OwnedReadHalf>,
        mut writer: OwnedWriteHalf,
        preamble: Preamble,
        pid: Option<i32>,
    ) {
        let session = match preamble.session.clone().map_or_else(preamble::new_session, Ok) {
            Ok(session) => session,
            Err(error) => {
                tracing::error!("a client gets no session: {error}");
                return;
            }
        };
        let welcome = Welcome {
            ok: true,
            protocol: DAEMON_PROTOCOL_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            session: session.clone(),
        };
        if write_line(&mut writer, &welcome).await.is_err() {
            return;
        }
        let serve = match preamble.door {
            DoorName::Command => Some(&self.doors.command),
            DoorName::Mcp => self.doors.mcp.as_ref(),
            DoorName::Lsp => self.doors.lsp.as_ref(),
            DoorName::View => self.doors.view.as_ref(),
            DoorName::Tools => self.doors.tools.as_ref(),
            DoorName::Status => {
                let status = self.status().await;
                // The client may have disconnected.
                let _ignored = write_line(&mut writer, &status).await;
                None
            }
            DoorName::Hints => {
                let locale = preamble.speech.unwrap_or(SpokenLanguage::English);
                let runtime = self.live.current();
                let hints = tokio::task::spawn_blocking(move || runtime.startup_hints_in(locale)).await;
                // The client may have disconnected.
                let _ignored = write_line(&mut writer, &hints.unwrap_or_default()).await;
                None
            }
            DoorName::Stop => {
                // This connection is closed by the daemon's exit.
                self.exit_waiters.lock().push(writer);
                self.ending.cancel();
                return;
            }
        };
        let Some(serve) = serve else { return };
        let client = self.clients.register(&preamble, &session, pid);
        let runtime = self.live.refresh();
        let live = self.live.clone();
        // A command is a single call; long-lived clients make many.
        let counting = match preamble.door {
            DoorName::Mcp | DoorName::Lsp => Some(live.current().tally().count(&session, client.calls())),
            _ => None,
        };
        let caller = preamble.caller(session);
        let closing = self.closing.child_token();
        let observer = DaemonObserver {
            state: Arc::downgrade(self),
            closing: self.closing.clone(),
            beside: self.beside.clone(),
        };
        let connection =
            AcceptedConnection { live, runtime, preamble, caller, observer, client, reader, writer, closing };
        serve(connection).await;
        drop(counting);
    }

    fn facts(&self) -> status::DaemonFacts<'_> {
        status::DaemonFacts {
            workspace: self.identity.root(),
            socket: self.folder.shown_socket(self.identity.key()),
            started_at: self.started_at,
            uptime: self.started.elapsed(),
        }
    }

    async fn status(&self) -> DaemonStatus {
        status::gather(self.facts(), &self.clients, &self.live.current()).await
    }

    /// Waits for running calls, then closes the remaining connections.
    async fn drain(&self, connections: &TaskTracker) {
        connections.close();
        let end = Instant::now() + DAEMON_DRAIN_TIMEOUT;
        let busy = || self.clients.count(DoorName::Command) > 0 || self.live.current().tally().running() > 0;
        while busy() && Instant::now() < end {
            // Calls also come through doors that are not tracked here.
            tokio::time::sleep(DAEMON_DRAIN_POLL_INTERVAL).await;
        }
        self.closing.cancel();
        self.beside.close();
        let all = async { tokio::join!(connections.wait(), self.beside.wait()) };
        if tokio::time::timeout(DOOR_CLOSE_TIMEOUT, all).await.is_err() {
            tracing::warn!("{} connections did not end in time", connections.len());
        }
    }
}

async fn send_refusal(stream: &mut OwnedWriteHalf, refusal: &Refusal) {
    tracing::debug!("a client was refused: {}", refusal.error);
    // The refusal is dropped if the client does not read it before the timeout.
    let _ignored = tokio::time::timeout(DOOR_CLOSE_TIMEOUT, write_line(stream, refusal)).await;
}

async fn write_line(stream: &mut OwnedWriteHalf, value: &impl serde::Serialize) -> io::Result<()> {
    stream.write_all(&preamble::line(value)?).await
}

/// Computes the limit on clients, and raises the process's limit on open files.
fn max_clients() -> usize {
    let files = open_files::raise_limit(OPEN_FILES);
    usize::try_from(files.saturating_sub(OTHER_FILES))
        .unwrap_or(MAX_DAEMON_CLIENTS)
        .clamp(16, MAX_DAEMON_CLIENTS)
}
