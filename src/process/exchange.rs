//! Programs that get a text as input and return one, such as git and the runners of agents.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::{Exit, RunError, Spawn, Spawner};

/// The maximum time to read the rest of the pipe after the program has ended.
const PIPE_DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// The input of a program and the limits on its output and time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange<'a> {
    /// Its standard input.
    pub(crate) input: &'a [u8],
    /// The maximum number of output bytes that are kept; the rest is read and dropped.
    pub(crate) most_bytes: usize,
    /// The time at which it is ended.
    pub(crate) deadline: Instant,
}

/// The exit and the output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExchangeOutcome {
    /// The exit of the program.
    pub(crate) exit: Exit,
    /// Its standard output, byte by byte.
    pub(crate) output: Vec<u8>,
    /// True if the program printed more than was kept.
    pub(crate) cut: bool,
}

/// Runs a program until it ends, at the latest until the deadline, and calls `tell` with each line
/// of its standard error (cut to 500 characters, control characters escaped). The program ends with
/// all its descendants when the returned future is dropped.
pub(crate) async fn exchange(
    spawner: &Spawner,
    spawn: Spawn,
    exchange: Exchange<'_>,
    mut tell: impl FnMut(&str),
) -> Result<ExchangeOutcome, RunError> {
    let program = spawn.program.display().to_string();
    let (teller, mut received) = mpsc::unbounded_channel();
    let mut process = spawner.spawn_heard(spawn, Some(teller)).await?;
    let (stdin, stdout) = (process.take_stdin(), process.take_stdout());
    let mut output = BoundedOutput { bytes: Vec::new(), most: exchange.most_bytes, cut: false };
    let ended = {
        let pipes = async { tokio::join!(write_input(stdin, exchange.input), output.read_stdout(stdout)) };
        let work = async {
            tokio::pin!(pipes);
            tokio::select! {
                _ = &mut pipes => process.wait().await,
                exit = process.wait() => {
                    // A process that it left behind may hold the pipe; its end is not awaited.
                    let _drained = tokio::time::timeout(PIPE_DRAIN_TIMEOUT, &mut pipes).await;
                    exit
                }
            }
        };
        let work = timeout_at(exchange.deadline, work);
        tokio::pin!(work);
        loop {
            tokio::select! {
                ended = &mut work => break ended,
                Some(line) = received.recv() => tell(&line),
            }
        }
    };
    while let Ok(line) = received.try_recv() {
        tell(&line);
    }
    match ended {
        Ok(exit) => Ok(ExchangeOutcome { exit, output: output.bytes, cut: output.cut }),
        Err(_) => {
            process.terminate(Duration::ZERO).await;
            Err(RunError::TooLong { program, tail: process.stderr_tail() })
        }
    }
}

async fn write_input(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        // A program need not read all that it is given.
        let _unread = stdin.write_all(input).await;
        let _closed = stdin.shutdown().await;
    }
}

struct BoundedOutput {
    bytes: Vec<u8>,
    most: usize,
    cut: bool,
}

impl BoundedOutput {
    async fn read_stdout(&mut self, stdout: Option<ChildStdout>) {
        let Some(mut stdout) = stdout else { return };
        let mut chunk = vec![0; 1 << 16];
        while let Ok(read @ 1..) = stdout.read(&mut chunk).await {
            let kept = read.min(self.most - self.bytes.len());
            self.bytes.extend_from_slice(&chunk[..kept]);
            self.cut |= kept < read;
        }
    }
}
