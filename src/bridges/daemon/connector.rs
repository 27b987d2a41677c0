//! The connection to a daemon, running or started for the purpose.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::Command;
use tokio::time::timeout;

use super::folder::{DaemonFolder, DaemonLock, FolderError, START_LOCK};
use super::identity::{self, DaemonIdentity};
use super::preamble::{self, DoorName, LONGEST, Preamble, Refusal, RefusalCode, Welcome};
use crate::config::Folders;
use crate::hints::SpokenLanguage;
use crate::process::ancestry::{self, Descent, SocketPeer};
use crate::process::tree;
use crate::runtime::find_workspace;

/// How long a daemon may take to answer the first line. One that is stopped or stuck takes longer, and its caller then does
/// the work itself.
const DAEMON_WELCOME_TIMEOUT: Duration = Duration::from_secs(5);
/// A daemon on a busy machine gets at least this long.
const MIN_WELCOME_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a daemon may take from its start until it listens.
const DAEMON_START_TIMEOUT: Duration = Duration::from_secs(20);
/// A daemon may end just when it is connected to; so often another one is looked for.
const MAX_DAEMON_CONNECT_ATTEMPTS: usize = 3;
/// How long the daemon may look at the workspace for what its users are to be told.
const DAEMON_HINTS_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest list of that.
const MAX_DAEMON_HINTS_BYTES: usize = 1 << 20;
/// The longest line that a starting daemon writes.
const MAX_STARTUP_REPORT_BYTES: u64 = 64 << 10;

/// Starts a program without the files that whoever started us left open: a daemon that kept them would hold their locks and
/// pipes for as long as it lives. Ours are closed by `exec`; these are all that a shell can name.
const CLOSED: &str = r#"exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$0" "$@""#;
const SHELL: &str = "/bin/sh";

/// There is no daemon to be had.
#[derive(Debug, Error)]
pub(crate) enum ConnectError {
    /// The folder of sockets.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The program's own file is gone, so no daemon can be named after it.
    #[error("the program's own file cannot be looked at: {0}")]
    Binary(#[source] io::Error),
    /// The connection.
    #[error("the daemon cannot be connected to: {0}")]
    Io(#[from] io::Error),
    /// The socket is another user's.
    #[error("the socket is served by user {0}, who is not you")]
    Foreign(u32),
    /// The socket is served from inside of a command, or by nobody knows whom.
    #[error(
        "the daemon's socket is served by {}, which a command of lsp-tools has started or which cannot be looked at, so it is not believed; end it, or use --no-daemon",
        pid.map_or_else(|| "a process".to_owned(), |pid| format!("the process {pid}"))
    )]
    Imposter {
        /// Its process, where that is known.
        pid: Option<i32>,
    },
    /// It does not answer.
    #[error("the daemon does not answer; end it with: kill {pid}", pid = pid.map_or_else(|| "its process".to_owned(), |pid| pid.to_string()))]
    Silent {
        /// Its process, where that is known.
        pid: Option<i32>,
    },
    /// It answers what cannot be understood.
    #[error("the daemon's answer cannot be understood: {0}")]
    Garbled(String),
    /// It does not want us.
    #[error("the daemon refused: {}", .0.error)]
    Refused(Refusal),
    /// This process was started by a tool or server of ours; no daemon is for it.
    #[error("what a tool or server of lsp-tools has started uses no daemon")]
    Inside,
    /// It did not come up.
    #[error("the daemon did not start: {0}")]
    NotStarted(String),
    /// The settings cannot be used, so there is nothing to be shared.
    #[error("the settings cannot be used")]
    Settings,
}

impl ConnectError {
    /// Whether it is no news to the user: there is to be no daemon, or the reason will be told anyway.
    pub(crate) fn is_expected(&self) -> bool {
        match self {
            Self::Inside | Self::Settings => true,
            Self::Refused(refusal) => refusal.code == RefusalCode::Inside,
            _ => false,
        }
    }
}

/// What a starting daemon writes to its standard output, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "daemon")]
pub(crate) enum DaemonStartReport {
    /// It listens.
    Ready,
    /// Another one does.
    Running,
    /// The settings cannot be used.
    Settings,
    /// Something else is wrong.
    Failed {
        /// What.
        error: String,
    },
}

/// A connection whose preamble was answered.
#[derive(Debug)]
pub(crate) struct DaemonConnection {
    /// What the daemon says.
    pub(crate) reader: BufReader<OwnedReadHalf>,
    /// What it is told.
    pub(crate) writer: OwnedWriteHalf,
    /// Its answer to the preamble.
    pub welcome: Welcome,
}

/// The way to the daemon of one workspace and environment.
#[derive(Debug)]
pub(crate) struct Connector {
    folder: DaemonFolder,
    folders: Folders,
    identity: DaemonIdentity,
}

/// A door that stays open serves by itself.
#[derive(Debug, Error)]
pub(crate) enum ByItself {
    /// That is wanted, or the reason will be told anyway.
    #[error("without the daemon, as it should be")]
    Expected,
    /// There is no daemon to be had.
    #[error("without the daemon: {0}")]
    Because(#[from] ConnectError),
}

/// A connection for a door that stays open, in the workspace that the command line means (`workspace` as given, relative to
/// `cwd`), and the way to the next one. Flags that keep a command from the daemon are the caller's to look at.
///
/// # Errors
/// Why the door has to serve by itself.
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
    /// For the workspace at `root` (canonical) and this process's environment and program.
    ///
    /// # Errors
    /// Where there is no folder for sockets, or the program's own file is gone.
    pub(crate) fn find(root: &Path, folders: &Folders) -> Result<Self, ConnectError> {
        Self::in_folder(DaemonFolder::find(folders)?, root, folders)
    }

    /// As [`find`](Self::find), with the sockets in `folder`.
    ///
    /// # Errors
    /// Where the program's own file is gone.
    pub(crate) fn in_folder(
        folder: DaemonFolder,
        root: &Path,
        folders: &Folders,
    ) -> Result<Self, ConnectError> {
        let binary = std::env::current_exe().map_err(ConnectError::Binary)?;
        let identity = DaemonIdentity::find(root, folders, &binary).map_err(ConnectError::Binary)?;
        Ok(Self { folder, folders: folders.clone(), identity })
    }

    /// From now on to the daemon of the program that lies by now where ours lay: it may have been replaced.
    pub(crate) fn refresh_identity(&mut self) {
        let (root, binary) = (self.identity.root(), self.identity.binary().path());
        if let Ok(identity) = DaemonIdentity::find(root, &self.folders, binary) {
            self.identity = identity;
        }
    }

    /// What users of the workspace are told at the start, by the daemon that runs; one line each.
    pub(crate) fn hints(&self, language: SpokenLanguage) -> impl Future<Output = Vec<String>> + use<> {
        let (folder, key) = (self.folder.try_clone(), self.identity.key().to_owned());
        async move {
            let Ok(folder) = folder else { return Vec::new() };
            hints(&folder, &key, language).await
        }
    }

    /// What the daemon is for.
    pub(crate) fn identity(&self) -> &DaemonIdentity {
        &self.identity
    }

    /// Its socket, for people.
    pub(crate) fn shown_socket(&self) -> PathBuf {
        self.folder.shown_socket(self.identity.key())
    }

    /// Connects to the daemon, and starts it where there is none.
    ///
    /// # Errors
    /// Where none can be had.
    pub(crate) async fn open(&self, preamble: &Preamble) -> Result<DaemonConnection, ConnectError> {
        for _ in 0..MAX_DAEMON_CONNECT_ATTEMPTS {
            if let Some(connection) = self.connect(preamble).await? {
                return Ok(connection);
            }
            self.start().await?;
        }
        Err(ConnectError::NotStarted("it ended again and again before it was asked anything".to_owned()))
    }

    /// Connects to the daemon that runs; `None` where there is none.
    ///
    /// # Errors
    /// Where one is there that does not take us.
    pub(crate) async fn connect(
        &self,
        preamble: &Preamble,
    ) -> Result<Option<DaemonConnection>, ConnectError> {
        connect(&self.folder, self.identity.key(), preamble).await
    }

    /// Starts a daemon; returns when one listens. Of many who do this at once, one starts it and all others wait.
    async fn start(&self) -> Result<(), ConnectError> {
        if !ancestry::is_unsupervised() {
            return Err(ConnectError::Inside);
        }
        let _starting = self.starters_lock().await?;
        // Somebody else may have started it while the lock was waited for.
        if self.is_listening().await? {
            return Ok(());
        }
        let mut command = Command::new(SHELL);
        command.arg("-c").arg(CLOSED).arg(self.identity.binary().path());
        command.args(["daemon", "run", "--workspace"]).arg(self.identity.root()).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let Some(report) = child.stdout.take() else {
            return Err(ConnectError::NotStarted("it has no standard output".to_owned()));
        };
        let mut text = String::new();
        match timeout(DAEMON_START_TIMEOUT, report.take(MAX_STARTUP_REPORT_BYTES).read_to_string(&mut text))
            .await
        {
            Ok(read) => read?,
            Err(_) => {
                // It may come up later, and the next command finds it then.
                let error = format!("it was not ready within {} s", DAEMON_START_TIMEOUT.as_secs());
                return Err(ConnectError::NotStarted(error));
            }
        };
        match serde_json::from_str(&text) {
            Ok(DaemonStartReport::Ready | DaemonStartReport::Running) => Ok(()),
            Ok(DaemonStartReport::Settings) => Err(ConnectError::Settings),
            Ok(DaemonStartReport::Failed { error }) => Err(ConnectError::NotStarted(error)),
            Err(_) => Err(ConnectError::NotStarted("it ended without a word".to_owned())),
        }
    }

    /// The lock that starters take turns with.
    async fn starters_lock(&self) -> Result<DaemonLock, ConnectError> {
        let name = format!("{}{START_LOCK}", self.identity.key());
        if let Some(held) = self.folder.try_lock(&name)? {
            return Ok(held);
        }
        let folder = self.folder.try_clone()?;
        // The thread outlives its time where the lock does not come free; it ends with the process.
        let waiting = tokio::task::spawn_blocking(move || folder.lock(&name));
        match timeout(DAEMON_START_TIMEOUT, waiting).await {
            Ok(Ok(held)) => Ok(held?),
            Ok(Err(error)) => Err(ConnectError::NotStarted(error.to_string())),
            Err(_) => {
                let error = format!("others have been starting it for {} s", DAEMON_START_TIMEOUT.as_secs());
                Err(ConnectError::NotStarted(error))
            }
        }
    }

    /// Whether somebody accepts connections.
    async fn is_listening(&self) -> Result<bool, ConnectError> {
        Ok(open_stream(&self.folder, self.identity.key()).await?.is_some())
    }
}

/// Connects to the daemon called `key`; `None` where there is none, or it goes away before it has answered.
///
/// # Errors
/// Where one is there that does not take us.
pub(crate) async fn connect(
    folder: &DaemonFolder,
    key: &str,
    preamble: &Preamble,
) -> Result<Option<DaemonConnection>, ConnectError> {
    let Some(stream) = open_stream(folder, key).await? else { return Ok(None) };
    let peer = stream.peer_cred()?;
    if peer.uid() != rustix::process::geteuid().as_raw() {
        return Err(ConnectError::Foreign(peer.uid()));
    }
    // What a command of ours listens with would hear our questions, and answer them.
    let pid = peer.pid();
    let listener = SocketPeer::from_socket(&stream, pid);
    let descent = tokio::task::spawn_blocking(move || listener.descent(tree::system_ticks())).await;
    let descent = descent.unwrap_or(Descent::Unknown);
    if descent == Descent::Supervised {
        return Err(ConnectError::Imposter { pid });
    }
    let line = preamble::line(preamble).map_err(|error| ConnectError::Garbled(error.to_string()))?;
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    // Who gave its question less time than that does not spend more of it here.
    let limit = preamble
        .timeout_ms
        .map_or(DAEMON_WELCOME_TIMEOUT, |given| DAEMON_WELCOME_TIMEOUT.min(Duration::from_millis(given)));
    let answered = timeout(limit.max(MIN_WELCOME_TIMEOUT), async {
        // A daemon that ends cannot be looked at, and its socket lives a moment longer. Who cannot be looked at is told nothing.
        if descent == Descent::Free {
            // Where this fails, an answer may have been left all the same.
            let _gone = writer.write_all(&line).await;
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

/// What users of the workspace are told at the start, by the daemon called `key`.
async fn hints(folder: &DaemonFolder, key: &str, speech: SpokenLanguage) -> Vec<String> {
    let preamble = Preamble { speech: Some(speech), ..Preamble::new(DoorName::Hints) };
    let Ok(Some(DaemonConnection { mut reader, .. })) = connect(folder, key, &preamble).await else {
        return Vec::new();
    };
    match timeout(DAEMON_HINTS_TIMEOUT, preamble::read_line(&mut reader, MAX_DAEMON_HINTS_BYTES)).await {
        Ok(Ok(line)) => serde_json::from_str(&line).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A connection to the socket called `key`; `None` where nobody listens.
async fn open_stream(folder: &DaemonFolder, key: &str) -> Result<Option<UnixStream>, ConnectError> {
    match UnixStream::connect(folder.socket(key)?).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
