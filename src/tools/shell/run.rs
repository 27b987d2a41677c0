//! One running command: its output, its end, and the signal that ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::ring::Ring;
use super::text::{OutputDecoder, OutputPiece};
use crate::lsp::session::progress::ProgressEvent;
use crate::process::{Exit, ServerProcess};

/// The time for reading the streams after the command has ended. With a supervisor, its remaining
/// processes have exited by then; otherwise they may hold the streams open forever.
const COMMAND_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// The size of one read.
const COMMAND_READ_CHUNK_BYTES: usize = 64 * 1024;
/// The interval of progress events for a silent command.
const PROGRESS_TICK: Duration = Duration::from_secs(1);
/// The shortest interval of progress events for a command with output.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);
/// The exit code of a command that timed out.
const EXIT_TIMED_OUT: i32 = 124;
/// The exit code of a command that was killed and reported none.
const EXIT_KILLED: i32 = 137;

/// The cause of a command's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandEndCause {
    /// The command exited by itself.
    Exited,
    /// The command timed out.
    TimedOut,
    /// The command was killed.
    Killed,
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandEnd {
    /// The cause.
    pub how: CommandEndCause,
    /// The exit code: 128 + n after signal n, 124 after a timeout.
    pub exit_code: i32,
    /// The duration of the command.
    pub after: Duration,
    /// The number of its remaining processes, which are still being ended.
    pub left: usize,
}

/// Options for the output of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputForm {
    /// The bytes of each stream that are kept between two reads.
    pub limit: usize,
    /// True if escape sequences are kept.
    pub raw: bool,
}

/// A running or ended command. Dropping it ends the command with all its processes.
#[derive(Debug)]
pub(crate) struct CommandRun {
    shared: Arc<CommandStreams>,
    ended: watch::Receiver<Option<CommandEnd>>,
    started: Instant,
    stop: DropGuard,
}

#[derive(Debug)]
struct CommandStreams {
    stdout: Mutex<CommandStream>,
    stderr: Mutex<CommandStream>,
    /// The number of lines on both streams.
    lines: AtomicUsize,
    output_changed: Notify,
}

impl CommandStreams {
    fn push(&self, stream: &Mutex<CommandStream>, bytes: &[u8]) {
        self.lines.fetch_add(memchr::memchr_iter(b'\n', bytes).count(), Ordering::Relaxed);
        stream.lock().ring.push(bytes);
    }
}

struct CommandStream {
    ring: Ring,
    reader: OutputDecoder,
}

impl std::fmt::Debug for CommandStream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.ring.fmt(formatter)
    }
}

/// The output of a command on both streams since the last read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellOutput {
    /// Standard output.
    pub stdout: OutputPiece,
    /// Standard error.
    pub stderr: OutputPiece,
}

impl CommandRun {
    /// Takes over `process`. Returns the run, and a future that must be polled until the command
    /// has ended, at the latest after `limit` or when `stop` is cancelled.
    pub(crate) fn new(
        process: ServerProcess,
        form: OutputForm,
        limit: Option<Duration>,
        stop: CancellationToken,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let stream = || {
            Mutex::new(CommandStream { ring: Ring::new(form.limit), reader: OutputDecoder::new(form.raw) })
        };
        let shared = Arc::new(CommandStreams {
            stdout: stream(),
            stderr: stream(),
            lines: AtomicUsize::new(0),
            output_changed: Notify::new(),
        });
        let (sender, ended) = watch::channel(None);
        let started = Instant::now();
        // A deadline beyond the range of the clock is ignored.
        let deadline = limit.and_then(|limit| started.checked_add(limit));
        let work = {
            let (shared, stop) = (shared.clone(), stop.clone());
            async move {
                let (how, exit_code, left) = supervise(process, &shared, deadline, &stop).await;
                sender.send_replace(Some(CommandEnd { how, exit_code, after: started.elapsed(), left }));
                shared.output_changed.notify_waiters();
            }
        };
        (Self { shared, ended, started, stop: stop.drop_guard() }, work)
    }

    /// The end of the command, if it has ended.
    pub(crate) fn end(&self) -> Option<CommandEnd> {
        *self.ended.borrow()
    }

    /// Waits for the end; `None` if the runtime shuts down before.
    pub(crate) async fn wait(&self) -> Option<CommandEnd> {
        let mut ended = self.ended.clone();
        ended.wait_for(Option::is_some).await.ok().and_then(|ended| *ended)
    }

    /// Ends the command with all its processes, and waits for that.
    pub(crate) async fn kill(&self) -> Option<CommandEnd> {
        self.stop.token().cancel();
        self.wait().await
    }

    /// Waits until there is new output or the command has ended, at most until `deadline`.
    pub(crate) async fn wait_for_output(&self, deadline: Instant) {
        let news = self.shared.output_changed.notified();
        tokio::pin!(news);
        // Registered before the check, so that output between check and wait is not missed.
        news.as_mut().enable();
        let silent = self.shared.stdout.lock().ring.is_empty() && self.shared.stderr.lock().ring.is_empty();
        if silent && self.end().is_none() {
            // Silence until the deadline is a valid result.
            let _silent = tokio::time::timeout_at(deadline, news).await;
        }
    }

    /// Waits for the end, and reports progress to `tell` every second and shortly after new output.
    pub(crate) async fn wait_and_tell(&self, tell: impl Fn(ProgressEvent)) -> Option<CommandEnd> {
        let telling = async {
            loop {
                let news = self.shared.output_changed.notified();
                // A second without output is reported too.
                let _silent = timeout(PROGRESS_TICK, news).await;
                let lines = self.shared.lines.load(Ordering::Relaxed);
                tell(ProgressEvent::CommandRuns { lines, seconds: self.started.elapsed().as_secs() });
                tokio::time::sleep(PROGRESS_PAUSE).await;
            }
        };
        tokio::select! {
            end = self.wait() => end,
            () = telling => None,
        }
    }

    /// The output since the last read.
    pub(crate) fn take_output(&self) -> ShellOutput {
        // Checked first: later output belongs to the next read.
        let last = self.end().is_some();
        let piece = |mut stream: MutexGuard<'_, CommandStream>| {
            let CommandStream { ring, reader } = &mut *stream;
            reader.read(ring.take(), last)
        };
        ShellOutput { stdout: piece(self.shared.stdout.lock()), stderr: piece(self.shared.stderr.lock()) }
    }

    /// The duration until now or until the end.
    pub(crate) fn elapsed(&self) -> Duration {
        self.end().map_or_else(|| self.started.elapsed(), |ended| ended.after)
    }
}

/// Reads both streams and ends the command.
async fn supervise(
    mut process: ServerProcess,
    shared: &CommandStreams,
    deadline: Option<Instant>,
    stop: &CancellationToken,
) -> (CommandEndCause, i32, usize) {
    let (stdout, stderr) = (process.take_stdout(), process.take_stderr());
    let reading = async {
        tokio::join!(
            read(stdout, |bytes| shared.push(&shared.stdout, bytes), &shared.output_changed),
            read(stderr, |bytes| shared.push(&shared.stderr, bytes), &shared.output_changed),
        );
    };
    let ending = wait_for_end(&process, deadline, stop);
    tokio::pin!(reading, ending);
    let mut all_read = false;
    let end = loop {
        tokio::select! {
            end = &mut ending => break end,
            () = &mut reading, if !all_read => all_read = true,
        }
    };
    if !all_read {
        // Processes that still hold the streams open are not waited for.
        let _held_open = timeout(COMMAND_DRAIN_TIMEOUT, reading).await;
    }
    end
}

async fn wait_for_end(
    process: &ServerProcess,
    deadline: Option<Instant>,
    stop: &CancellationToken,
) -> (CommandEndCause, i32, usize) {
    let due = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    let how = tokio::select! {
        exit = process.wait() => return (CommandEndCause::Exited, shell_exit_code(exit), 0),
        () = due => CommandEndCause::TimedOut,
        () = stop.cancelled() => CommandEndCause::Killed,
    };
    let left = process.terminate(Duration::ZERO).await;
    if how == CommandEndCause::TimedOut {
        return (how, EXIT_TIMED_OUT, left);
    }
    // A process that survives SIGKILL for now is not waited for.
    let exit = timeout(Duration::ZERO, process.wait()).await;
    (how, exit.map_or(EXIT_KILLED, shell_exit_code), left)
}

/// The exit code as in shells.
fn shell_exit_code(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, mut keep: impl FnMut(&[u8]), news: &Notify) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = vec![0; COMMAND_READ_CHUNK_BYTES];
    // A read error ends the stream.
    while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
        keep(&chunk[..length]);
        news.notify_waiters();
    }
}
