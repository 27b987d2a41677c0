//! The one thread that forks servers and commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc;

use tokio::process::{ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::pinned::{self, HeldProgram};
use super::{SUPERVISE, ServerProcess, environment, find_on_path_of_child};
use crate::config::{FilePin, PinError};
use crate::platform::files::OwnedFd;
use crate::platform::parent_watch::{HAS_SUPERVISORS, parent_life};
use crate::platform::paths::{program_at, script_of_batch_file};
use crate::platform::process_group::spawn;
use crate::workspace::Workspace;

/// The largest batch file that is read, in bytes.
const MAX_BATCH_FILE_BYTES: u64 = 16 << 10;

/// The use of a process's standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdioMode {
    /// A server: it is written to, and the last lines of its errors are kept.
    Server,
    /// A command: it has no input, and its caller reads both of its output streams.
    Command,
    /// A program that is run to completion: its two output streams are one, so that its lines keep
    /// their order.
    Merged,
}

/// The parameters of a new process.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The server's key, for logs.
    pub name: String,
    /// The program, by absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables set beside the [`inherited_variables`](super::inherited_variables) ones.
    pub env: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The project files that the program runs or reads only if they match their pins; includes the
    /// program itself if it is one of the project.
    pub pins: Vec<FilePin>,
}

/// The reasons why a server's process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system refused.
    #[error("{} cannot be started: {source}", program.display())]
    Refused {
        /// The program that was to be started.
        program: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The program is not the trusted one.
    #[error(transparent)]
    Untrusted(#[from] PinError),
    /// The thread that starts processes is gone.
    #[error("no more processes can be started: the spawner thread has ended")]
    NoThread,
}

/// Starts servers under a supervisor.
#[derive(Debug, Clone)]
pub struct Spawner {
    supervisor: Option<PathBuf>,
}

struct SpawnOrder {
    command: Command,
    name: String,
    supervised: bool,
    streams: StdioMode,
    hearer: Option<UnboundedSender<String>>,
    /// The reading end of merged streams.
    merged: Option<PipeReader>,
    /// The open file of a pinned program that is started directly.
    held: Option<HeldProgram>,
    runtime: Handle,
    /// Takes a whole `ServerProcess`, so that its drop ends the process if the caller has gone
    /// away.
    done: oneshot::Sender<Result<ServerProcess, OrderError>>,
}

/// The reasons why an order was not carried out.
#[derive(Debug)]
enum OrderError {
    Refused(io::Error),
    Untrusted(PinError),
}

impl SpawnOrder {
    fn execute(self) {
        let Self { command, name, supervised, streams, hearer, merged, held, runtime, done } = self;
        // The caller has gone away already.
        if done.is_closed() {
            return;
        }
        let _within = runtime.enter();
        let merged = merged.map(|reader| ChildStdout::from_std(OwnedFd::from(reader).into())).transpose();
        let process = merged.and_then(|merged| {
            Ok(ServerProcess::new(spawn(command, supervised)?, streams, merged, name, hearer))
        });
        let process = process.map_err(OrderError::Refused).and_then(|process| {
            let checked = held.as_ref().map_or(Ok(()), HeldProgram::check_started);
            // A process with another program ends when it is dropped.
            checked.map_err(OrderError::Untrusted).map(|()| process)
        });
        let _unwanted = done.send(process);
    }
}

impl Spawner {
    /// Creates a spawner whose supervisor is the `lsp-tools` binary at `supervisor`; by default the
    /// running one, or the one beside the running program. Without any, servers are started
    /// directly. On Unix they may then survive this process if it is killed; the log says so.
    pub fn new(supervisor: Option<PathBuf>) -> Self {
        let supervisor = supervisor.or_else(own_binary).filter(|_| HAS_SUPERVISORS);
        if supervisor.is_none() && HAS_SUPERVISORS {
            tracing::warn!("servers run without a supervisor: no lsp-tools binary was found");
        }
        Self { supervisor }
    }

    /// The supervisor's binary, if there is one.
    pub(crate) fn supervisor(&self) -> Option<&Path> {
        self.supervisor.as_deref()
    }

    /// Starts a server. Must be called within a tokio runtime. A cancelled call leaves no process.
    pub async fn spawn(&self, spawn: Spawn) -> Result<ServerProcess, SpawnError> {
        self.start(spawn, StdioMode::Server, None).await
    }

    /// Like [`spawn`](Self::spawn), for a command without input whose standard output and standard
    /// error the caller reads.
    pub(crate) async fn spawn_command(&self, spawn: Spawn) -> Result<ServerProcess, SpawnError> {
        self.start(spawn, StdioMode::Command, None).await
    }

    /// Like [`spawn`](Self::spawn), and also sends each line of standard error to `hearer`, made
    /// safe to display.
    pub(super) async fn spawn_heard(
        &self,
        spawn: Spawn,
        hearer: Option<UnboundedSender<String>>,
    ) -> Result<ServerProcess, SpawnError> {
        self.start(spawn, StdioMode::Server, hearer).await
    }

    /// Like [`spawn`](Self::spawn), with standard error merged into standard output.
    pub(super) async fn spawn_merged(&self, spawn: Spawn) -> Result<ServerProcess, SpawnError> {
        self.start(spawn, StdioMode::Merged, None).await
    }

    async fn start(
        &self,
        spawn: Spawn,
        streams: StdioMode,
        hearer: Option<UnboundedSender<String>>,
    ) -> Result<ServerProcess, SpawnError> {
        let spawn = without_batch_file(spawn);
        // The supervisor reports why it cannot start the server.
        let started = self.supervisor().unwrap_or(&spawn.program).to_owned();
        let refused = |source| SpawnError::Refused { program: started.clone(), source };
        let (mut command, held) = match &self.supervisor {
            Some(supervisor) => {
                let mut command = Command::new(supervisor);
                command
                    .args([SUPERVISE, &std::process::id().to_string()])
                    .arg(parent_life().map_err(refused)?)
                    .args(pinned::pin_arguments(&spawn.pins, &spawn.program, &spawn.cwd))
                    .arg(&spawn.program);
                (command, None)
            }
            None => {
                let (program, pins) = (spawn.program.clone(), spawn.pins.clone());
                let looked = tokio::task::spawn_blocking(move || pinned::command(&program, &pins)).await;
                let (command, held) = looked.map_err(|_| SpawnError::NoThread)??;
                (Command::from(command), Some(held))
            }
        };
        command.args(&spawn.args).current_dir(&spawn.cwd).env_clear();
        command.envs(environment::inherited_variables(std::env::vars_os())).envs(&spawn.env);
        let stdin = if streams == StdioMode::Server { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let merged = match streams {
            StdioMode::Server | StdioMode::Command => None,
            StdioMode::Merged => {
                let (reader, writer) = std::io::pipe().map_err(refused)?;
                command.stdout(writer.try_clone().map_err(refused)?).stderr(writer);
                Some(reader)
            }
        };
        let (done, outcome) = oneshot::channel();
        let supervised = self.supervisor.is_some();
        let runtime = Handle::current();
        let name = spawn.name.clone();
        let order = SpawnOrder { command, name, supervised, streams, hearer, merged, held, runtime, done };
        starting_thread().and_then(|thread| thread.send(order).ok()).ok_or(SpawnError::NoThread)?;
        let process = outcome.await.map_err(|_| SpawnError::NoThread)?;
        process.map_err(|error| match error {
            OrderError::Refused(source) => refused(source),
            OrderError::Untrusted(error) => error.into(),
        })
    }
}

/// The start of Node.js with the script of a batch file of npm, if the program is one.
fn without_batch_file(mut spawn: Spawn) -> Spawn {
    let is_batch = spawn.program.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("cmd"));
    let text = is_batch.then(|| Workspace::read_outside(&spawn.program, MAX_BATCH_FILE_BYTES).ok()).flatten();
    let Some(script) = text.as_deref().and_then(script_of_batch_file) else { return spawn };
    let script = spawn.program.with_file_name(script);
    // As the batch file looks for it.
    let beside = program_at(spawn.program.with_file_name("node"));
    let path = spawn.env.get(OsStr::new("PATH"));
    if let Some(node) = beside.or_else(|| find_on_path_of_child("node", path?)) {
        spawn.args.insert(0, script.into());
        spawn.program = node;
    }
    spawn
}

/// The channel to the starting thread, which lives as long as the process: a supervisor gets a
/// signal at the death of the thread that forked it.
fn starting_thread() -> Option<&'static mpsc::Sender<SpawnOrder>> {
    static THREAD: OnceLock<Option<mpsc::Sender<SpawnOrder>>> = OnceLock::new();
    let start = || {
        let (sender, orders) = mpsc::channel::<SpawnOrder>();
        let work = move || {
            for order in orders {
                order.execute();
            }
        };
        std::thread::Builder::new().name("server-spawner".to_owned()).spawn(work).ok().map(|_| sender)
    };
    THREAD.get_or_init(start).as_ref()
}

/// The running binary if it is `lsp-tools`, else the `lsp-tools` beside it or one folder up (for
/// tests of Cargo).
fn own_binary() -> Option<PathBuf> {
    let running = std::env::current_exe().ok()?;
    if running.file_stem().is_some_and(|stem| stem == "lsp-tools") {
        return Some(running);
    }
    let name = format!("lsp-tools{}", std::env::consts::EXE_SUFFIX);
    running.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|path| path.is_file())
}
