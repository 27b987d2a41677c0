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
use crate::lsp::progress::ProgressEvent;
use crate::process::{Exit, ServerProcess};

/// How long the streams are read on after the command has ended. What it left running is gone by then where there is a
/// supervisor; elsewhere it may hold them open for ever.
const COMMAND_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How much is read at once.
const COMMAND_READ_CHUNK_BYTES: usize = 64 * 1024;
/// A silent command is told of this often.
const PROGRESS_TICK: Duration = Duration::from_secs(1);
/// A command that writes much is told of no more often than this.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);
/// The exit code of a command whose time was up.
const EXIT_TIMED_OUT: i32 = 124;
/// The exit code of a command that was killed and did not tell its own.
const EXIT_KILLED: i32 = 137;

/// How a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandEndCause {
    /// By itself.
    Exited,
    /// Its time was up.
    TimedOut,
    /// Nobody wanted it any more.
    Killed,
}

/// A command's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommandEnd {
    /// How it came.
    pub how: CommandEndCause,
    /// Its status: 128 + n where signal n ended it, 124 where its time was up.
    pub exit_code: i32,
    /// How long it ran.
    pub after: Duration,
    /// So many of its processes lived on then; they are still being ended.
    pub left: usize,
}

/// How a command's output is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutputForm {
    /// How much of each stream is kept between two takings, in bytes.
    pub limit: usize,
    /// With escape sequences.
    pub raw: bool,
}

/// A command that runs, or has run. Dropping it ends the command with all it started.
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
    /// Lines written on both streams.
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

/// What a command has written on both streams since it was last asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellOutput {
    /// Standard output.
    pub stdout: OutputPiece,
    /// Standard error.
    pub stderr: OutputPiece,
}

impl CommandRun {
    /// Takes `process` over: the run, and the work that must be done for it until it has ended, at the latest when `limit`
    /// has passed or `stop` is cancelled.
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
        // What the clock cannot count to never comes.
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

    /// How it ended, if it has.
    pub(crate) fn end(&self) -> Option<CommandEnd> {
        *self.ended.borrow()
    }

    /// Waits for its end; `None` where the runtime goes down before.
    pub(crate) async fn wait(&self) -> Option<CommandEnd> {
        let mut ended = self.ended.clone();
        ended.wait_for(Option::is_some).await.ok().and_then(|ended| *ended)
    }

    /// Ends it with all it started, and waits for that.
    pub(crate) async fn kill(&self) -> Option<CommandEnd> {
        self.stop.token().cancel();
        self.wait().await
    }

    /// Waits until it has written something or has ended, at most until `deadline`.
    pub(crate) async fn wait_for_output(&self, deadline: Instant) {
        let news = self.shared.output_changed.notified();
        tokio::pin!(news);
        // Listens from here on, so that what comes between the look and the wait is heard.
        news.as_mut().enable();
        let silent = self.shared.stdout.lock().ring.is_empty() && self.shared.stderr.lock().ring.is_empty();
        if silent && self.end().is_none() {
            // Silence until the deadline is an answer too.
            let _silent = tokio::time::timeout_at(deadline, news).await;
        }
    }

    /// Waits for its end, and hands how far it is to `tell` at every second and, a little later, at new output.
    pub(crate) async fn wait_and_tell(&self, tell: impl Fn(ProgressEvent)) -> Option<CommandEnd> {
        let telling = async {
            loop {
                let news = self.shared.output_changed.notified();
                // The second passes in silence, which is told as well.
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

    /// What it has written since it was last asked.
    pub(crate) fn take_output(&self) -> ShellOutput {
        // Asked first: what is written after this belongs to the next asking.
        let last = self.end().is_some();
        let piece = |mut stream: MutexGuard<'_, CommandStream>| {
            let CommandStream { ring, reader } = &mut *stream;
            reader.read(ring.take(), last)
        };
        ShellOutput { stdout: piece(self.shared.stdout.lock()), stderr: piece(self.shared.stderr.lock()) }
    }

    /// How long it has run so far, or ran.
    pub(crate) fn elapsed(&self) -> Duration {
        self.end().map_or_else(|| self.started.elapsed(), |ended| ended.after)
    }
}

/// Reads both streams and sees to the end.
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
        // Whoever still holds the streams open is not waited for.
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
    // One that even SIGKILL has not ended yet is not waited for.
    let exit = timeout(Duration::ZERO, process.wait()).await;
    (how, exit.map_or(EXIT_KILLED, shell_exit_code), left)
}

/// As shells have it.
fn shell_exit_code(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, mut keep: impl FnMut(&[u8]), news: &Notify) {
    let Some(mut pipe) = pipe else { return };
    let mut chunk = vec![0; COMMAND_READ_CHUNK_BYTES];
    // A stream that cannot be read has ended.
    while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
        keep(&chunk[..length]);
        news.notify_waiters();
    }
}
