//! The owner of all commands of a runtime, which ends them together with the runtime.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::prepared_command::PreparedCommand;
use super::run::{CommandRun, OutputForm};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::process::{SpawnError, Spawner};

/// All commands of a runtime.
#[derive(Debug, Default)]
pub(crate) struct ShellCommands {
    /// Cancelled when no command may run any more.
    closing: CancellationToken,
    tasks: TaskTracker,
    /// The background commands, oldest first.
    background: Mutex<Vec<BackgroundCommand>>,
    /// Held from the check for a free place until the run is stored, so that two calls cannot
    /// take the same place.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct BackgroundCommand {
    id: String,
    session: String,
    run: Arc<CommandRun>,
}

impl ShellCommands {
    /// Starts a command. It is ended after `limit`, when the run is dropped, or by
    /// [`shutdown`](Self::shutdown).
    pub(crate) async fn start(
        &self,
        spawner: &Spawner,
        prepared: PreparedCommand,
        form: OutputForm,
        limit: Option<Duration>,
    ) -> Result<CommandRun, ToolError> {
        if self.closing.is_cancelled() {
            return Err(ToolError::new(
                ErrorCode::Cancelled,
                "no command is started: the runtime is shutting down",
            ));
        }
        let process = spawner.spawn_command(prepared.spawn).await.map_err(|error| not_started(&error))?;
        let (run, work) = CommandRun::new(process, form, limit, self.closing.child_token());
        self.tasks.spawn(work);
        Ok(run)
    }

    /// Starts a command in the background for `session`, which may have `most` of them, and returns
    /// its id.
    pub(crate) async fn start_background(
        &self,
        session: &str,
        most: usize,
        start: impl Future<Output = Result<CommandRun, ToolError>>,
    ) -> Result<String, ToolError> {
        let _one_at_a_time = self.starting.lock().await;
        self.evict_finished(session, most)?;
        let id = new_id()?;
        let run = Arc::new(start.await?);
        self.background.lock().push(BackgroundCommand { id: id.clone(), session: session.to_owned(), run });
        Ok(id)
    }

    /// Drops the oldest ended command of `session` if all places are taken.
    fn evict_finished(&self, session: &str, most: usize) -> Result<(), ToolError> {
        let mut kept = self.background.lock();
        if kept.iter().filter(|one| one.session == session).count() < most {
            return Ok(());
        }
        match kept.iter().position(|one| one.session == session && one.run.end().is_some()) {
            Some(ended) => {
                kept.remove(ended);
                Ok(())
            }
            None => {
                let what = format!("{most} commands of this session run in the background, the limit");
                let hint = "end one with bash_kill, or raise `background` under [bash] in lsp-tools.toml";
                Err(ToolError::new(ErrorCode::Conflict, what).with_hint(hint))
            }
        }
    }

    /// The run of `session` with the id `id`.
    pub(crate) fn get(&self, session: &str, id: &str) -> Result<Arc<CommandRun>, ToolError> {
        let kept = self.background.lock();
        // The id of another session is unknown here.
        let found = kept.iter().find(|one| one.id == id && one.session == session);
        found.map(|one| one.run.clone()).ok_or_else(|| {
            let what = format!("no background command of this session has the id `{}`", id.escape_debug());
            let own: Vec<&str> =
                kept.iter().filter(|one| one.session == session).map(|one| one.id.as_str()).collect();
            let hint = if own.is_empty() {
                "there are none; `bash` with `background` starts one".to_owned()
            } else {
                format!("there are: {}", own.join(", "))
            };
            ToolError::new(ErrorCode::NotFound, what).with_hint(hint)
        })
    }

    /// Ends the background commands of `session`, with all their processes.
    pub(crate) fn end_session(&self, session: &str) {
        self.background.lock().retain(|one| one.session != session);
    }

    /// Ends every command with all its processes, and returns when they have exited. No further
    /// command is started.
    pub(crate) async fn shutdown(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// A random id that cannot be guessed.
fn new_id() -> Result<String, ToolError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the system provides no random numbers: {error}"))
    })?;
    Ok(format!("sh-{:016x}", u64::from_ne_bytes(bytes)))
}

fn not_started(error: &SpawnError) -> ToolError {
    // Paths of this program's binary are not for agents.
    tracing::warn!("{error}");
    let what = match error {
        SpawnError::Refused { source, .. } => format!("the command could not be started: {source}"),
        SpawnError::NoThread | SpawnError::Untrusted(_) => error.to_string(),
    };
    ToolError::new(ErrorCode::Internal, what)
}
