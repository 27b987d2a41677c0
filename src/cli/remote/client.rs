//! The client's side: the process that was typed.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::{Event, Head, Request, goes, is_repeatable};
use crate::bridges::daemon::connector::{ConnectError, Connection, Connector};
use crate::bridges::daemon::preamble::{DoorName, Preamble, line, read_line};
use crate::cli::args::Parsed;
use crate::cli::console::Console;
use crate::cli::exit::Status;
use crate::cli::input::{self, Input};
use crate::cli::progress::Progress;
use crate::cli::reply::Reply;
use crate::cli::signals::Signals;
use crate::config::Folders;
use crate::hints::Speech;
use crate::lsp::progress::ProgressEvent;
use crate::runtime::find_workspace;
use crate::tools::error::{ErrorCode, ToolError};

/// How long the daemon may be silent: it says every five seconds that it is there.
const SILENCE: Duration = Duration::from_secs(30);
/// What it may be silent beside the time limit of a command: two of those beats.
const BESIDE: Duration = Duration::from_secs(10);
/// The longest line that it says.
const LONGEST_EVENT: usize = 64 << 20;
/// A daemon may end while a command runs; one that only asks is given once more.
const TRIES: usize = 2;

/// What became of a command that might have gone through the daemon.
pub(crate) enum Outcome {
    /// It went.
    Went(Result<Reply, ToolError>),
    /// It is to be run here, with what was piped in.
    Here {
        /// What was piped in.
        input: Input,
        /// What is to be told about that.
        warning: Option<String>,
    },
}

/// A command did not come to its end.
enum Lost {
    /// There is no daemon to be had; nothing was asked yet.
    NoDaemon(ConnectError),
    /// It went away while the command ran.
    Gone,
    /// It says nothing any more.
    Silent {
        /// Its process.
        pid: u32,
        /// For how long.
        silence: Duration,
    },
    /// It says what cannot be understood.
    Garbled(String),
}

/// Runs a command through the daemon, where it is one that goes there and a daemon can be had.
pub(crate) fn ask(parsed: &Parsed, cwd: &Path, console: &Console) -> Outcome {
    let (global, command) = (&parsed.cli.global, &parsed.cli.command);
    let here = |input, warning| Outcome::Here { input, warning };
    if !goes(global, command) {
        return here(Input::Stdin, None);
    }
    // What is wrong with the folders or the workspace is told by the command itself.
    let Ok(folders) = Folders::find() else { return here(Input::Stdin, None) };
    let Ok(workspace) = find_workspace(global.workspace.as_deref(), cwd) else {
        return here(Input::Stdin, None);
    };
    let input = input::is_read_by(command).then(Input::read);
    let given = || input.clone().unwrap_or(Input::Stdin);
    let bytes = match &input {
        Some(Input::Read(bytes)) => Some(bytes.as_slice()),
        Some(_) => return here(given(), None),
        None => None,
    };
    let request = Request {
        words: std::env::args_os().collect(),
        cwd: cwd.as_os_str().to_owned(),
        console: *console,
        progress: console.err.terminal,
        speech: Speech::from_environment(),
    };
    let result = Connector::find(workspace.root(), &folders).map_err(Lost::NoDaemon).and_then(|connector| {
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let threads = threads.map_err(|error| Lost::NoDaemon(error.into()))?;
        let timeout_ms = global.timeout.and_then(|limit| u64::try_from(limit.as_millis()).ok());
        let client = Some(parsed.name.clone());
        let preamble = Preamble { client, timeout_ms, ..Preamble::new(DoorName::Command) };
        let tries = if is_repeatable(command) { TRIES } else { 1 };
        let went = threads.block_on(go(&connector, &preamble, &request, bytes, tries));
        // A thread that still waits for a lock does not hold up the end.
        threads.shutdown_background();
        went
    });
    match result {
        Ok(went) => Outcome::Went(went),
        Err(Lost::NoDaemon(error)) => {
            let told = format!("warning: without the daemon: {error}");
            here(given(), (!error.is_expected()).then_some(told))
        }
        Err(lost) => Outcome::Went(Err(lost.told(is_repeatable(command)))),
    }
}

impl Lost {
    fn told(&self, repeatable: bool) -> ToolError {
        let error = match self {
            Self::NoDaemon(error) => format!("there is no daemon: {error}"),
            Self::Gone => "the daemon ended while the command ran".to_owned(),
            Self::Silent { pid, silence } => {
                format!(
                    "the daemon (pid {pid}) has said nothing for {} s while the command ran",
                    silence.as_secs()
                )
            }
            Self::Garbled(what) => format!("the daemon's answer cannot be understood: {what}"),
        };
        let hint = if repeatable {
            "give the command again; with --no-daemon it runs by itself"
        } else {
            "whether it was carried out is not known: look before you give it again (`lsp-tools undo --list` tells of edits)"
        };
        ToolError::new(ErrorCode::Internal, error).with_hint(hint)
    }
}

async fn go(
    connector: &Connector,
    preamble: &Preamble,
    request: &Request,
    input: Option<&[u8]>,
    tries: usize,
) -> Result<Result<Reply, ToolError>, Lost> {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return Ok(Err(error)),
    };
    let (sender, receiver) = unbounded_channel();
    let progress = request.progress.then(|| Progress::start(receiver));
    let work = async {
        let mut left = tries;
        loop {
            left -= 1;
            let connection = connector.open(preamble).await.map_err(Lost::NoDaemon)?;
            match converse(connection, (request, input), silence_of(preamble), &sender).await {
                Err(Lost::Gone) if left > 0 => {}
                result => return result,
            }
        }
    };
    let result = tokio::select! {
        biased;
        // The end of the connection cancels the command.
        () = signals.next() => Ok(Reply { out: String::new(), lines: Vec::new(), status: Status::Interrupted }),
        result = work => result,
    };
    if let Some(progress) = progress {
        progress.finish().await;
    }
    result.map(Ok)
}

/// How long the daemon may be silent for a command with a time limit: not much longer than the command may take.
fn silence_of(preamble: &Preamble) -> Duration {
    let limit = preamble.timeout_ms.map(|limit| Duration::from_millis(limit) + BESIDE);
    limit.map_or(SILENCE, |limit| limit.min(SILENCE))
}

/// One command on one connection.
async fn converse(
    connection: Connection,
    (request, input): (&Request, Option<&[u8]>),
    silence: Duration,
    progress: &UnboundedSender<ProgressEvent>,
) -> Result<Reply, Lost> {
    let Connection { mut reader, mut writer, welcome } = connection;
    let garbled = |error: &dyn std::fmt::Display| Lost::Garbled(error.to_string());
    let body = serde_json::to_vec(request).map_err(|error| garbled(&error))?;
    let head = Head { request: body.len(), input: input.map(<[u8]>::len) };
    let head = line(&head).map_err(|error| garbled(&error))?;
    let sent = async {
        writer.write_all(&[head, body].concat()).await?;
        writer.write_all(input.unwrap_or_default()).await
    };
    let silent = Lost::Silent { pid: welcome.pid, silence };
    match timeout(silence, sent).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(Lost::Gone),
        Err(_) => return Err(silent),
    }
    loop {
        let said = match timeout(silence, read_line(&mut reader, LONGEST_EVENT)).await {
            Ok(Ok(said)) => said,
            Ok(Err(_)) => return Err(Lost::Gone),
            Err(_) => return Err(silent),
        };
        match serde_json::from_str(&said).map_err(|error| garbled(&error))? {
            Event::Alive => {}
            Event::Progress(event) => {
                // Nobody may be watching.
                let _unseen = progress.send(event);
            }
            Event::Reply { lines, status, out } => {
                let mut bytes = vec![0; out];
                match timeout(silence, reader.read_exact(&mut bytes)).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(_)) => return Err(Lost::Gone),
                    Err(_) => return Err(silent),
                }
                let out = String::from_utf8(bytes).map_err(|error| garbled(&error))?;
                return Ok(Reply { out, lines, status });
            }
        }
    }
}
