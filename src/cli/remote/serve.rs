//! The daemon's side of a remote command: the door `command`.

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, interval_at, timeout};

use super::{RemoteCommandEvent, RemoteCommandRequest, daemon_accepts};
use crate::analysis::ask::retry_advice::RetryAdvice;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::daemon::preamble::{CommandLengths, LineError, line};
use crate::bridges::daemon::server::{AcceptedConnection, DoorHandler};
use crate::cli::args::{Cli, ParsedCommandLine};
use crate::cli::commands;
use crate::cli::console::Console;
use crate::cli::exit::CliExitStatus;
use crate::cli::input::PipedInput;
use crate::cli::reply::Reply;
use crate::cli::run::{self, CliInvocation};
use crate::lsp::session::progress::ProgressEvent;
use crate::platform::sockets::{OwnedReadHalf, OwnedWriteHalf};
use crate::runtime::{Client, Runtime};

/// The size limit of a request, in bytes. A command line is at most 2 MiB (execve(2)), and larger
/// as JSON.
const MAX_REMOTE_REQUEST_BYTES: usize = 16 << 20;
/// The size limit of the piped input, in bytes: one more than the usual limit, so that the excess
/// is reported by the usual error.
const MAX_PIPED_INPUT_BYTES: usize = (64 << 20) + 1;
/// The memory for all requests together, in KiB. Further ones wait.
const MAX_REQUEST_MEMORY_KIB: usize = 256 << 10;
/// The time limit for a client to send its request.
const REMOTE_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit for a client to read the messages.
const REMOTE_WRITE_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval of heartbeats while a command runs.
const REMOTE_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The door `command`.
pub(crate) fn door() -> DoorHandler {
    let memory = Arc::new(Semaphore::new(MAX_REQUEST_MEMORY_KIB));
    Arc::new(move |connection| {
        let memory = memory.clone();
        Box::pin(async move {
            if let Err(error) = serve(connection, &memory).await {
                tracing::debug!("a command ended without its reply: {error}");
            }
        })
    })
}

async fn serve(mut connection: AcceptedConnection, memory: &Semaphore) -> Result<(), LineError> {
    let Some(lengths) = connection.preamble.command else { return Err(LineError::Closed) };
    let received =
        timeout(REMOTE_REQUEST_TIMEOUT, read_request(&mut connection.reader, lengths, memory)).await;
    let Ok(received) = received else { return Err(LineError::Closed) };
    let Some((request, input, _permit)) = received? else { return Err(LineError::Closed) };
    connection.client.count_call();
    let AcceptedConnection { runtime, mut reader, mut writer, closing, .. } = connection;
    let (sender, receiver) = unbounded_channel();
    let watched = request.progress.then_some(receiver);
    let work = AssertUnwindSafe(Box::pin(run_command(runtime, request, input, sender))).catch_unwind();
    let reply = tokio::select! {
        reply = work => reply.unwrap_or_else(|_| internal_error_reply()),
        // Dropping the work cancels it, including its servers and commands.
        () = wait_for_disconnect(&mut reader) => return Err(LineError::Closed),
        () = closing.cancelled() => return Err(LineError::Closed),
        error = send_heartbeats(&mut writer, watched) => return Err(error),
    };
    let Reply { out, lines, status } = reply;
    let event = RemoteCommandEvent::Reply { lines, status, out: out.len() };
    let sending = async {
        write(&mut writer, &event).await?;
        writer.write_all(out.as_bytes()).await?;
        writer.shutdown().await
    };
    timeout(REMOTE_WRITE_TIMEOUT, sending).await.map_err(|_| LineError::Closed)??;
    Ok(())
}

/// Reads the request and the piped input, and reserves memory for them. Returns `None` if they are
/// invalid.
async fn read_request<'a>(
    reader: &mut BufReader<OwnedReadHalf>,
    lengths: CommandLengths,
    memory: &'a Semaphore,
) -> Result<Option<(RemoteCommandRequest, PipedInput, tokio::sync::SemaphorePermit<'a>)>, LineError> {
    let input = lengths.input.unwrap_or(0);
    if lengths.request > MAX_REMOTE_REQUEST_BYTES || input > MAX_PIPED_INPUT_BYTES {
        return Ok(None);
    }
    let kib = u32::try_from((lengths.request + input) / 1024 + 1).unwrap_or(u32::MAX);
    let Ok(permit) = memory.acquire_many(kib).await else { return Ok(None) };
    let mut request = vec![0; lengths.request];
    reader.read_exact(&mut request).await?;
    let mut bytes = vec![0; input];
    reader.read_exact(&mut bytes).await?;
    let Ok(request) = serde_json::from_slice(&request) else { return Ok(None) };
    // Without piped input nothing is read, since the daemon's own stdin is unused.
    let input = match lengths.input {
        Some(_) => PipedInput::Read(bytes),
        None => PipedInput::Failed("nothing was piped in".to_owned()),
    };
    Ok(Some((request, input, permit)))
}

/// Runs the command as in the process where it was typed.
async fn run_command(
    runtime: Result<Runtime, ToolError>,
    request: RemoteCommandRequest,
    input: PipedInput,
    sender: tokio::sync::mpsc::UnboundedSender<ProgressEvent>,
) -> Reply {
    let RemoteCommandRequest { words, cwd, console, progress, speech } = request;
    let parsed = match parse_command_line(words, &console) {
        Ok(parsed) => parsed,
        Err(reply) => return reply,
    };
    let ParsedCommandLine { cli, name } = parsed;
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return commands::failure_reply(&error, cli.global.format, &console),
    };
    let _running = runtime.tally().begin_call(&format!("lsp-tools {name}"));
    let cwd = PathBuf::from(cwd);
    let runtime = runtime.for_client(Client {
        cwd: Some(cwd.clone()),
        timeout: cli.global.timeout,
        install_missing: cli.global.install,
        patience: RetryAdvice::Command,
        progress: progress.then_some(sender),
        ..Client::default()
    });
    let invocation = CliInvocation {
        command: cli.command,
        global: &cli.global,
        cwd: &cwd,
        console: &console,
        language: speech,
        input: &input,
    };
    run::run_in_runtime(&runtime, invocation).await
}

/// Parses the command line. The error is the reply for one that the daemon does not accept.
fn parse_command_line(words: Vec<OsString>, console: &Console) -> Result<ParsedCommandLine, Reply> {
    // Our client has parsed the same words, so this fails only for a foreign client.
    let parsed = Cli::parse_words(words).map_err(|error| Reply {
        out: String::new(),
        lines: vec![error.to_string()],
        status: CliExitStatus::Usage,
    })?;
    let error = run::usage_error(&parsed.cli).or_else(|| {
        let refused =
            || ToolError::new(ErrorCode::InvalidArgs, format!("the daemon does not run `{}`", parsed.name));
        (!daemon_accepts(&parsed.cli.command)).then(refused)
    });
    match error {
        Some(error) => Err(commands::failure_reply(&error, parsed.cli.global.format, console)),
        None => Ok(parsed),
    }
}

fn internal_error_reply() -> Reply {
    let line = "error: a fault in lsp-tools itself; details are in `lsp-tools daemon logs`";
    Reply { out: String::new(), lines: vec![line.to_owned()], status: CliExitStatus::Failed }
}

/// Waits until the client disconnects. Any further data from it has the same effect.
async fn wait_for_disconnect(reader: &mut BufReader<OwnedReadHalf>) {
    let _ended = reader.read(&mut [0]).await;
}

/// Sends heartbeats and, on request, progress to the client. Returns when writing fails.
async fn send_heartbeats(
    writer: &mut OwnedWriteHalf,
    mut watched: Option<UnboundedReceiver<ProgressEvent>>,
) -> LineError {
    let mut alive = interval_at(Instant::now() + REMOTE_HEARTBEAT_INTERVAL, REMOTE_HEARTBEAT_INTERVAL);
    loop {
        let next = async {
            match &mut watched {
                Some(events) => events.recv().await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            event = next => match event {
                Some(event) => RemoteCommandEvent::Progress(event),
                None => {
                    watched = None;
                    continue;
                }
            },
            _ = alive.tick() => RemoteCommandEvent::Alive,
        };
        match timeout(REMOTE_WRITE_TIMEOUT, write(writer, &event)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error.into(),
            Err(_) => return LineError::Closed,
        }
    }
}

async fn write(writer: &mut OwnedWriteHalf, event: &RemoteCommandEvent) -> std::io::Result<()> {
    writer.write_all(&line(event)?).await
}
