//! Programs of the user that look on: before a call they may change its arguments or forbid it, after it they may change
//! its result.
//!
//! A hook gets one JSON object on its standard input and answers with one on its standard output; no output is no
//! objection. It runs without a shell, in the workspace's root, under a supervisor that ends whatever it leaves behind.
//! Whatever goes wrong with a hook before a call forbids the call.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::name::NamePattern;
use super::request::{Effect, Verdict};
use crate::config::{AccessLayer, ConfigError, Hook as Written, Origin, Problem};
use crate::lsp::locate;
use crate::lsp::process::{Exit, Spawn, SpawnError, Spawner};
use crate::workspace::Workspace;

/// More output than this, in bytes, is no answer.
const MOST_OUTPUT: u64 = 4 << 20;
/// So much of a hook's reason is passed on, in characters.
const LONGEST_WHY: usize = 1_000;

/// All hooks, in the order in which they run.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    /// Before a call.
    pub pre: Vec<Hook>,
    /// After it.
    pub post: Vec<Hook>,
}

/// One hook.
#[derive(Debug, Clone)]
pub struct Hook {
    program: String,
    args: Vec<String>,
    tools: Vec<NamePattern>,
    timeout: Duration,
}

/// What a hook is told.
#[derive(Debug, Clone, Serialize)]
pub struct HookInput<'a> {
    /// `pre` or `post`.
    pub event: &'static str,
    /// The tool's name.
    pub tool: &'a str,
    /// What it does to the world.
    pub effect: Effect,
    /// Its arguments, as they are now.
    pub arguments: &'a Value,
    /// The caller's session.
    pub session: &'a str,
    /// The agent on whose behalf it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
    /// The workspace's root.
    pub workspace: &'a Path,
    /// After the call: its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'a Value>,
}

/// What a hook before a call answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreAnswer {
    /// `deny` forbids the call, `ask` has someone asked; `allow` says no more than silence does.
    pub decision: Option<Verdict>,
    /// Why, for whoever called.
    pub why: Option<String>,
    /// Instead of the arguments; they are checked and decided on anew.
    pub arguments: Option<Value>,
}

/// What a hook after a call answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostAnswer {
    /// Instead of the answer.
    pub result: Option<Value>,
}

/// Why a hook gave no answer. The machine's paths and the hook's own words are in the log.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// There is no such program.
    #[error(
        "the hook `{0}` is not a program on PATH outside the workspace, nor one at that path; correct its `command`"
    )]
    NotFound(String),
    /// It, or a file among its arguments, belongs to the project.
    #[error(
        "the hook `{hook}` runs `{file}` of this project, which is not trusted as it is now; look at it, then: lsp-tools trust"
    )]
    Untrusted {
        /// The hook.
        hook: String,
        /// The file.
        file: String,
    },
    /// It was not started.
    #[error("the hook `{hook}` cannot be started; the log says why")]
    Start {
        /// The hook.
        hook: String,
        /// What the system says.
        source: SpawnError,
    },
    /// Its time was up.
    #[error("the hook `{hook}` did not answer within {} ms and was ended; `timeout-ms` sets how long it may take", timeout.as_millis())]
    TooLong {
        /// The hook.
        hook: String,
        /// What it had.
        timeout: Duration,
    },
    /// It failed.
    #[error("the hook `{hook}` failed with {exit}; the log has its last words")]
    Failed {
        /// The hook.
        hook: String,
        /// How it ended.
        exit: Exit,
    },
    /// It says too much.
    #[error("the hook `{0}` wrote more than {MOST_OUTPUT} bytes; it must write one JSON object, or nothing")]
    TooMuch(String),
    /// It says nothing that can be understood.
    #[error(
        "the hook `{hook}` wrote what is no answer ({problem}); it must write one JSON object, or nothing"
    )]
    NoAnswer {
        /// The hook.
        hook: String,
        /// What is wrong.
        problem: String,
    },
}

/// With what hooks run.
#[derive(Clone, Copy)]
pub struct HookRunner<'a> {
    /// Starts programs.
    pub spawner: &'a Spawner,
    /// Where they run.
    pub workspace: &'a Workspace,
    /// Whether a file of the project may be run.
    pub may_run: &'a (dyn Fn(&Path) -> bool + Sync),
}

impl std::fmt::Debug for HookRunner<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HookRunner").field("workspace", self.workspace).finish_non_exhaustive()
    }
}

impl Hooks {
    /// The hooks of all layers; those of the weakest layer run first.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with every hook that names no program, or one that a project could put there.
    pub fn new(layers: &[AccessLayer]) -> Result<Self, ConfigError> {
        let (mut hooks, mut problems) = (Self::default(), Vec::new());
        for layer in layers {
            let written = &layer.access.hooks;
            for (event, list, into) in
                [("pre", &written.pre, &mut hooks.pre), ("post", &written.post, &mut hooks.post)]
            {
                for hook in list {
                    match Hook::new(hook, layer.origin()) {
                        Ok(hook) => into.push(hook),
                        Err(what) => problems.push(problem(layer, event, &what)),
                    }
                }
            }
        }
        if problems.is_empty() { Ok(hooks) } else { Err(ConfigError::Invalid(problems)) }
    }
}

fn problem(layer: &AccessLayer, event: &str, what: &str) -> Problem {
    layer.problem(&["hooks", event], &format!("[[hooks.{event}]]: {what}"))
}

impl Hook {
    fn new(written: &Written, origin: Origin) -> Result<Self, String> {
        let (program, args) = written.command.split_first().ok_or("`command` is empty; name a program")?;
        let is_path = program.contains('/');
        let of_project = matches!(origin, Origin::Project { .. });
        if is_path && !Path::new(program).is_absolute() && !of_project {
            return Err(format!(
                "`{program}` depends on the workspace, which would choose what runs; give an absolute path or a name on PATH"
            ));
        }
        let name = |name: &String| {
            NamePattern::new(name).ok_or_else(|| format!("`{name}` in `tools` is no tool's name"))
        };
        let tools = written.tools.iter().map(name).collect::<Result<_, _>>()?;
        Ok(Self { program: program.clone(), args: args.to_vec(), tools, timeout: written.timeout() })
    }

    /// Whether it is told of calls of `tool`.
    pub fn sees(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|name| name.matches(tool))
    }

    /// What people know it by: its program's file name.
    pub fn name(&self) -> &str {
        self.program.rsplit('/').next().unwrap_or(&self.program)
    }

    /// Asks a hook before a call.
    ///
    /// # Errors
    /// [`HookError`] where it gave no answer.
    pub async fn before(
        &self,
        runner: HookRunner<'_>,
        input: &HookInput<'_>,
    ) -> Result<PreAnswer, HookError> {
        let mut answer: PreAnswer = self.ask(runner, input).await?;
        answer.why = answer.why.map(|why| why.chars().take(LONGEST_WHY).collect());
        Ok(answer)
    }

    /// Asks a hook after a call.
    ///
    /// # Errors
    /// [`HookError`] where it gave no answer.
    pub async fn after(
        &self,
        runner: HookRunner<'_>,
        input: &HookInput<'_>,
    ) -> Result<PostAnswer, HookError> {
        self.ask(runner, input).await
    }

    async fn ask<A: DeserializeOwned + Default>(
        &self,
        runner: HookRunner<'_>,
        input: &HookInput<'_>,
    ) -> Result<A, HookError> {
        let output = self.run(runner, input).await?;
        if output.iter().all(u8::is_ascii_whitespace) {
            return Ok(A::default());
        }
        serde_json::from_slice(&output)
            .map_err(|error| HookError::NoAnswer { hook: self.name().to_owned(), problem: error.to_string() })
    }

    /// What the hook writes when it is told `input`.
    async fn run(&self, runner: HookRunner<'_>, input: &HookInput<'_>) -> Result<Vec<u8>, HookError> {
        let hook = || self.name().to_owned();
        let program = self.locate(runner)?;
        let told = serde_json::to_vec(input)
            .map_err(|error| HookError::NoAnswer { hook: hook(), problem: error.to_string() })?;
        let deadline = Instant::now() + self.timeout;
        let spawn = Spawn {
            name: format!("hook {}", self.name()),
            program,
            args: self.args.iter().map(OsString::from).collect(),
            env: BTreeMap::new(),
            cwd: runner.workspace.root().to_owned(),
        };
        let started = runner.spawner.spawn(spawn).await;
        let mut process = started.map_err(|source| {
            tracing::warn!("{source}");
            HookError::Start { hook: hook(), source }
        })?;
        let (stdin, stdout) = (process.take_stdin(), process.take_stdout());
        let tell = async {
            if let Some(mut stdin) = stdin {
                // A hook need not listen.
                let _unheard = stdin.write_all(&told).await;
            }
        };
        let listen = async {
            let mut output = Vec::new();
            if let Some(stdout) = stdout {
                // A pipe that breaks has ended, and how the hook ended is told by its status.
                let _ended = stdout.take(MOST_OUTPUT + 1).read_to_end(&mut output).await;
            }
            output
        };
        let answer = async {
            let ((), output) = tokio::join!(tell, listen);
            // Who is not listened to any more may never end.
            if output.len() as u64 > MOST_OUTPUT {
                return Err(HookError::TooMuch(hook()));
            }
            Ok((process.wait().await, output))
        };
        let outcome = tokio::time::timeout_at(deadline, answer).await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(HookError::TooLong { hook: hook(), timeout: self.timeout }));
        if !matches!(outcome, Ok((Exit::Code(0), _))) {
            process.terminate(Duration::ZERO).await;
            tracing::warn!(
                "the hook {} failed; its last words: {}",
                self.program,
                process.stderr_tail().join(" | ")
            );
        }
        match outcome? {
            (Exit::Code(0), output) => Ok(output),
            (exit, _) => Err(HookError::Failed { hook: hook(), exit }),
        }
    }

    /// The program, unless it or a file that it is given belongs to the project and is not trusted.
    fn locate(&self, runner: HookRunner<'_>) -> Result<PathBuf, HookError> {
        let root = runner.workspace.root();
        let not_found = || HookError::NotFound(self.name().to_owned());
        for word in self.args.iter().chain(self.program.contains('/').then_some(&self.program)) {
            let path = root.join(word);
            let inside = path.is_file() && runner.workspace.inside(&path).is_some();
            if inside && !(runner.may_run)(&path) {
                return Err(HookError::Untrusted { hook: self.name().to_owned(), file: word.clone() });
            }
        }
        if self.program.contains('/') {
            let path = root.join(&self.program);
            return if locate::is_program(&path) { Ok(path) } else { Err(not_found()) };
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).filter(|folder| runner.workspace.inside(folder).is_none());
        locate::search(&self.program, folders).ok_or_else(not_found)
    }
}

#[cfg(test)]
mod tests;
