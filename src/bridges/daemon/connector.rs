//! The connection to a daemon, which is started if none runs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use super::folder::{DaemonFolder, DaemonLock, FolderError, START_LOCK};
use super::identity::{self, DaemonIdentity};
use super::preamble::{self, DoorName, LONGEST, Preamble, Refusal, RefusalCode, Welcome};
use crate::config::Folders;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::platform::sockets::{LocalStream, OwnedReadHalf, OwnedWriteHalf};
use crate::platform::{detached, process_tree};
use crate::process::ancestry::{self, Descent, SocketPeer};
use crate::runtime::find_workspace;

/// The time limit for a daemon's answer to the preamble. If the daemon is stopped or stuck, the
/// client does the work itself.
const DAEMON_WELCOME_TIMEOUT: Duration = Duration::from_secs(5);
/// The minimum time for that answer, for a daemon on a busy machine.
const MIN_WELCOME_TIMEOUT: Duration = Duration::from_secs(1);
/// The time limit from a daemon's start until it listens.
const DAEMON_START_TIMEOUT: Duration = Duration::from_secs(20);
/// The number of attempts to connect, since a daemon may exit during one.
const MAX_DAEMON_CONNECT_ATTEMPTS: usize = 3;
/// The time limit for the daemon to collect the startup hints of the workspace.
const DAEMON_HINTS_TIMEOUT: Duration = Duration::from_secs(10);
/// The size limit of the list of startup hints, in bytes.
const MAX_DAEMON_HINTS_BYTES: usize = 1 << 20;
/// The length limit of the line that a starting daemon writes, in bytes.
const MAX_STARTUP_REPORT_BYTES: u64 = 64 << 10;

/// Reasons why no daemon is available.
#[derive(Debug, Error)]
pub(crate) enum ConnectError {
    /// The folder of sockets cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The program's own file is gone, so the daemon's identity cannot be computed.
    #[error("the program's own file cannot be read: {0}")]
    Binary(#[source] io::Error),
    /// The connection failed.
    #[error("cannot connect to the daemon: {0}")]
    Io(#[from] io::Error),
    /// The socket belongs to another user.
    #[error("the socket is served by another user ({0})")]
    Foreign(u32),
    /// The socket is served by a process inside of one of our commands, or by an unidentified
    /// process.
    #[error(
        "the daemon's socket is served by {}, which a command of lsp-tools started or which cannot be inspected, so it is not trusted; end it, or use --no-daemon",
        pid.map_or_else(|| "a process".to_owned(), |pid| format!("the process {pid}"))
    )]
    Imposter {
        /// The process id, if known.
        pid: Option<i32>,
    },
    /// The daemon does not answer.
    #[error("the daemon does not answer; end it with: kill {pid}", pid = pid.map_or_else(|| "its process".to_owned(), |pid| pid.to_string()))]
    Silent {
        /// The process id, if known.
        pid: Option<i32>,
    },
    /// The daemon's answer cannot be parsed.
    #[error("the daemon's answer cannot be decoded: {0}")]
    Garbled(String),
    /// The daemon refused the client.
    #[error("the daemon refused: {}", .0.error)]
    Refused(Refusal),
    /// This process was started by one of our tools or servers; such processes cannot use the
    /// daemon.
    #[error("programs started by a tool or server of lsp-tools cannot use the daemon")]
    Inside,
    /// The daemon did not start.
    #[error("the daemon did not start: {0}")]
    NotStarted(String),
    /// The settings are invalid, so a daemon has nothing to share.
    #[error("the settings are invalid")]
    Settings,
}

impl ConnectError {
    /// Returns true if the error needs no message: no daemon is wanted, or the reason is reported
    /// anyway.
    pub(crate) fn is_expected(&self) -> bool {
        match self {
            Self::Inside | Self::Settings => true,
            Self::Refused(refusal) => refusal.code == RefusalCode::Inside,
            _ => false,
        }
    }
}

/// The line that a starting daemon writes once to its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "daemon")]
pub(crate) enum DaemonStartReport {
    /// This daemon listens.
    Ready,
    /// Another daemon is running.
    Running,
    /// The settings are invalid.
    Settings,
    /// The start failed for another reason.
    Failed {
        /// The reason.
        error: String,
    },
}

/// A connection whose preamble was accepted.
#[derive(Debug)]
pub(crate) struct DaemonConnection {
    /// Reads from the daemon.
    pub(crate) reader: BufReader<OwnedReadHalf>,
    /// Writes to the daemon.
    pub(crate) writer: OwnedWriteHalf,
    /// The daemon's answer to the preamble.
    pub welcome: Welcome,
}

/// Connects to the daemon of one workspace and environment.
#[derive(Debug)]
pub(crate) struct Connector {
    folder: DaemonFolder,
    folders: Folders,
    identity: DaemonIdentity,
}

/// Reasons why a long-lived door serves without a daemon.
#[derive(Debug, Error)]
pub(crate) enum ByItself {
    /// The door is meant to serve by itself, or the reason is reported anyway.
    #[error("without the daemon, as it should be")]
    Expected,
    /// No daemon is available.
    #[error("without the daemon: {0}")]
    Because(#[from] ConnectError),
}

/// Opens a connection for a long-lived door, and returns the connector for later connections. The
/// command line determines the workspace (`workspace` as given, relative to `cwd`). The caller
/// checks the flags that rule out a daemon.
///
/// # Errors
/// The reason why the door has to serve by itself.
pub(crate) async fn connect_to_daemon(
    workspace: Option<&Path>,
    cwd: &Path,
    preamble: &Preamble,
) -> Result<(Connector, DaemonConnection), ByItself> {
    if identity::is_daemon_disabled() {
        return Err(ByItself::Expected);
    }
    let folders = Folders::find().map_err(|_| ByItself::Expected)?;
    let workspace = find_workspace(workspace, cwd).map_err(|_| ByItself::Expected)?;
    let reached = async {
        let connector = Connector::find(workspace.root(), &folders)?;
        let connection = connector.open(preamble).await?;
        Ok((connector, connection))
    };
    reached.await.map_err(|error: ConnectError| match error.is_expected() {
        true => ByItself::Expected,
        false => ByItself::Because(error),
    })
}

impl Connector {
    /// Creates the connector for the workspace at `root` (canonical) and this process's environment
    /// and program.
    ///
    /// # Errors
    /// The folder for sockets cannot be used, or the program's own file is gone.
    pub(crate) fn find(root: &Path, folders: &Folders) -> Result<Self, ConnectError> {
        Self::in_folder(DaemonFolder::find(folders)?, root, folders)
    }

    /// Like [`find`](Self::find), with the sockets in `folder`.
    ///
    /// # Errors
    /// The program's own file is gone.
    pub(crate) fn in_folder(
        folder: DaemonFolder,
        root: &Path,
        folders: &Folders,
    ) -> Result<Self, ConnectError> {
        let binary = std::env::current_exe().map_err(ConnectError::Binary)?;
        let identity = DaemonIdentity::find(root, folders, &binary).map_err(ConnectError::Binary)?;
        Ok(Self { folder, folders: folders.clone(), identity })
    }

    /// Computes the identity again for the program that is now at our path, since it may have been
    /// replaced.
    pub(crate) fn refresh_identity(&mut self) {
        let (root, binary) = (self.identity.root(), self.identity.binary().path());
        if let Ok(identity) = DaemonIdentity::find(root, &self.folders, binary) {
            self.identity = identity;
        }
    }

    /// Requests the startup hints of the workspace from the running daemon, one line each.
    pub(crate) fn hints(&self, language: SpokenLanguage) -> impl Future<Output = Vec<String>> + use<> {
        let (folder, key) = (self.folder.try_clone(), self.identity.key().to_owned());
        async move {
            let Ok(folder) = folder else { return Vec::new() };
            hints(&folder, &key, language).await
        }
    }

    /// The daemon's identity.
    pub(crate) fn identity(&self) -> &DaemonIdentity {
        &self.identity
    }

    /// The path of the socket for display.
    pub(crate) fn shown_socket(&self) -> PathBuf {
        self.folder.shown_socket(self.identity.key())
    }

    /// Connects to the daemon, and starts it if none runs.
    ///
    /// # Errors
    /// No daemon is available.
    pub(crate) async fn open(&self, preamble: &Preamble) -> Result<DaemonConnection, ConnectError> {
        for _ in 0..MAX_DAEMON_CONNECT_ATTEMPTS {
            if let Some(connection) = self.connect(preamble).await? {
                return Ok(connection);
            }
            self.start().await?;
        }
        Err(ConnectError::NotStarted("it ended repeatedly before it received a request".to_owned()))
    }

    /// Connects to the running daemon. Returns `None` if none runs.
    ///
    /// # Errors
    /// The running daemon does not accept this client.
    pub(crate) async fn connect(
        &self,
        preamble: &Preamble,
    ) -> Result<Option<DaemonConnection>, ConnectError> {
        connect(&self.folder, self.identity.key(), preamble).await
    }

    /// Starts a daemon, and returns when one listens. If several processes do this at once, one of
    /// them starts it and the others wait.
    async fn start(&self) -> Result<(), ConnectError> {
        if !ancestry::is_unsupervised() {
            return Err(ConnectError::Inside);
        }
        let _starting = self.starters_lock().await?;
        // Another process may have started it while this one waited for the lock.
        if self.is_listening().await? {
            return Ok(());
        }
        let mut command = detached::command(self.identity.binary().path());
        command.args(["daemon", "run", "--workspace"]).arg(self.identity.root());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let Some(report) = child.stdout.take() else {
            return Err(ConnectError::NotStarted("it has no standard output".to_owned()));
        };
        let mut text = String::new();
        let mut report = BufReader::new(report.take(MAX_STARTUP_REPORT_BYTES));
        match timeout(DAEMON_START_TIMEOUT, report.read_line(&mut text)).await {
            Ok(read) => read?,
            Err(_) => {
                // It may start later; the next command finds it then.
                let error = format!("it was not ready within {} s", DAEMON_START_TIMEOUT.as_secs());
                return Err(ConnectError::NotStarted(error));
            }
        };
        match serde_json::from_str(&text) {
            Ok(DaemonStartReport::Ready | DaemonStartReport::Running) => Ok(()),
            Ok(DaemonStartReport::Settings) => Err(ConnectError::Settings),
            Ok(DaemonStartReport::Failed { error }) => Err(ConnectError::NotStarted(error)),
            Err(_) => Err(ConnectError::NotStarted("it ended without output".to_owned())),
        }
    }

    /// Acquires the lock that serializes the start of a daemon.
    async fn starters_lock(&self) -> Result<DaemonLock, ConnectError> {
        let name = format!("{}{START_LOCK}", self.identity.key());
        if let Some(held) = self.folder.try_lock(&name)? {
            return Ok(held);
        }
        let folder = self.folder.try_clone()?;
        // If the lock stays taken, the thread outlives this timeout and ends with the process.
        let waiting = tokio::task::spawn_blocking(move || folder.lock(&name));
        match timeout(DAEMON_START_TIMEOUT, waiting).await {
            Ok(Ok(held)) => Ok(held?),
            Ok(Err(error)) => Err(ConnectError::NotStarted(error.to_string())),
            Err(_) => {
                let error =
                    format!("other processes have been starting it for {} s", DAEMON_START_TIMEOUT.as_secs());
                Err(ConnectError::NotStarted(error))
            }
        }
    }

    /// Returns true if a daemon accepts connections.
    async fn is_listening(&self) -> Result<bool, ConnectError> {
        Ok(open_stream(&self.folder, self.identity.key()).await?.is_some())
    }
}

/// Connects to the daemon with the key `key`. Returns `None` if none runs, or if it exits before
/// its answer.
///
/// # Errors
/// The running daemon does not accept this client.
pub(crate) async fn connect(
    folder: &DaemonFolder,
    key: &str,
    preamble: &Preamble,
) -> Result<Option<DaemonConnection>, ConnectError> {
    let Some(stream) = open_stream(folder, key).await? else { return Ok(None) };
    let peer = stream.peer()?;
    if let Some(user) = peer.foreign {
        return Err(ConnectError::Foreign(user));
    }
    // A listener inside of one of our commands could read our requests and answer them.
    let pid = peer.pid;
    let listener = SocketPeer::from_socket(&stream, pid);
    let descent = tokio::task::spawn_blocking(move || listener.descent(process_tree::system_ticks())).await;
    let descent = descent.unwrap_or(Descent::Unknown);
    if descent == Descent::Supervised {
        return Err(ConnectError::Imposter { pid });
    }
    let line = preamble::line(preamble).map_err(|error| ConnectError::Garbled(error.to_string()))?;
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    // A request with a shorter time limit waits no longer than that.
    let limit = preamble
        .timeout_ms
        .map_or(DAEMON_WELCOME_TIMEOUT, |given| DAEMON_WELCOME_TIMEOUT.min(Duration::from_millis(given)));
    let answered = timeout(limit.max(MIN_WELCOME_TIMEOUT), async {
        // An exiting daemon cannot be identified while its socket still exists for a moment. An
        // unidentified process gets no data.
        if descent == Descent::Free {
            // Even if this write fails, an answer may already be there.
            let _ignored = writer.write_all(&line).await;
        }
        preamble::read_line(&mut reader, LONGEST).await
    });
    let line = match answered.await {
        Ok(Ok(line)) if descent == Descent::Free => line,
        Ok(Err(_)) => return Ok(None),
        _ if descent != Descent::Free => return Err(ConnectError::Imposter { pid }),
        _ => return Err(ConnectError::Silent { pid }),
    };
    if let Ok(welcome) = serde_json::from_str::<Welcome>(&line) {
        return Ok(Some(DaemonConnection { reader, writer, welcome }));
    }
    match serde_json::from_str::<Refusal>(&line) {
        Ok(refusal) if refusal.code == RefusalCode::Ending => Ok(None),
        Ok(refusal) => Err(ConnectError::Refused(refusal)),
        Err(error) => Err(ConnectError::Garbled(error.to_string())),
    }
}

/// Requests the startup hints of the workspace from the daemon with the key `key`.
async fn hints(folder: &DaemonFolder, key: &str, locale: SpokenLanguage) -> Vec<String> {
    let preamble = Preamble { speech: Some(locale), ..Preamble::new(DoorName::Hints) };
    let Ok(Some(DaemonConnection { mut reader, .. })) = connect(folder, key, &preamble).await else {
        return Vec::new();
    };
    match timeout(DAEMON_HINTS_TIMEOUT, preamble::read_line(&mut reader, MAX_DAEMON_HINTS_BYTES)).await {
        Ok(Ok(line)) => serde_json::from_str(&line).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Connects to the socket with the key `key`. Returns `None` if no process listens.
async fn open_stream(folder: &DaemonFolder, key: &str) -> Result<Option<LocalStream>, ConnectError> {
    match LocalStream::connect(&folder.socket(key)?).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
