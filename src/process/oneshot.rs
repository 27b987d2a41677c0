//! Programs that are run to completion: installers, `--version`.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::lines::each_line;
use super::{Exit, Spawn, SpawnError, Spawner};

/// The number of last output lines that are kept.
const MAX_OUTPUT_TAIL_LINES: usize = 30;

/// The exit and the last output lines of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedProgram {
    /// The exit of the program.
    pub exit: Exit,
    /// The last lines of its output and errors, oldest first, control characters escaped.
    pub tail: Vec<String>,
}

/// The reasons why a program did not finish.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program was not started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// The program was ended because its time was up.
    #[error("{program} was ended because its time limit was reached")]
    TooLong {
        /// The name of the program.
        program: String,
        /// The last lines of its output.
        tail: Vec<String>,
    },
}

/// Runs a program without input until it ends, at the latest until `deadline`, and calls `tell`
/// with each line of its output and errors. The program ends with all its descendants when the
/// returned future is dropped.
pub async fn run(
    spawner: &Spawner,
    spawn: Spawn,
    deadline: Instant,
    mut tell: impl FnMut(&str),
) -> Result<FinishedProgram, RunError> {
    let name = spawn.program.display().to_string();
    let mut process = spawner.spawn_merged(spawn).await?;
    let mut tail = VecDeque::new();
    let ended = async {
        if let Some(stdout) = process.take_stdout() {
            let keep = |line: String| {
                tell(&line);
                if tail.len() == MAX_OUTPUT_TAIL_LINES {
                    tail.pop_front();
                }
                tail.push_back(line);
            };
            each_line(stdout, keep, mpsc::unbounded_channel().1).await;
        }
        process.wait().await
    };
    let exit = timeout_at(deadline, ended).await;
    let tail = Vec::from(tail);
    match exit {
        Ok(exit) => Ok(FinishedProgram { exit, tail }),
        Err(_) => {
            process.terminate(Duration::ZERO).await;
            Err(RunError::TooLong { program: name, tail })
        }
    }
}
