//! Hooks: programs of the user that may change or forbid a call before it, and change its result after it.
//!
//! A hook gets one JSON object on its standard input and answers with one on its standard output; no output is no
//! objection. It runs without a shell, in the workspace's root, under a supervisor that ends whatever it leaves behind.
//! Whatever goes wrong with a hook before a call forbids the call.
//!
//! Repositories bring hooks of other programs' making ([`files`]), which run once their owner has trusted them: in a shell, and
//! with words of their own ([`protocol`]).

pub(crate) mod files;
mod protocol;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::name::NamePattern;
use super::request::{Effect, PolicyVerdict};
use crate::config::{
    AccessLayer, ConfigError, ConfigProblem, FilePin, HookSettings as Written, LayerOrigin, TrustStore,
    pins_among,
};
use crate::process::{Exit, ProgramPath, Spawn, SpawnError, Spawner, is_program};
use crate::workspace::Workspace;

/// More output than this, in bytes, is no answer.
const MAX_HOOK_OUTPUT_BYTES: u64 = 4 << 20;
/// So much of a hook's reason is passed on, in characters.
const MAX_HOOK_TEXT_CHARS: usize = 1_000;

/// All hooks, in the order in which they run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hooks {
    /// Before a call.
    pub(crate) pre: Vec<CallHook>,
    /// After it.
    pub(crate) post: Vec<CallHook>,
}

/// One hook.
#[derive(Debug, Clone)]
pub(crate) struct CallHook {
    /// What people know it by: its program's file name, or its file's.
    name: String,
    does: HookAction,
    tools: HookToolFilter,
    timeout: Duration,
    outcomes: HookOutcomeFilter,
    protocol: HookProtocol,
}

/// What a hook runs.
#[derive(Debug, Clone)]
enum HookAction {
    Program { program: String, args: Vec<String> },
    Shell { command: String, cwd: Option<String>, env: BTreeMap<String, String> },
}

/// The tools that a hook is told of.
#[derive(Debug, Clone)]
enum HookToolFilter {
    /// These; all where there are none.
    Named(Vec<NamePattern>),
    /// Those whose name is one of these; all where there is no pattern.
    Matching(Option<Regex>),
}

/// The calls that a hook is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookOutcomeFilter {
    All,
    Successes,
    Failures,
}

/// The words in which a hook is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookProtocol {
    Ours,
    Copilot,
    Claude,
}

/// How a hook ended, and what it wrote.
#[derive(Debug)]
struct HookRunResult {
    exit: Exit,
    output: Vec<u8>,
    /// The last lines of its standard error.
    errors: Vec<String>,
}

/// What a hook is told.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HookInput<'a> {
    /// `pre` or `post`.
    pub(crate) event: &'static str,
    /// The tool's name.
    pub(crate) tool: &'a str,
    /// What it does to the world.
    pub(crate) effect: Effect,
    /// Its arguments, as they are now.
    pub(crate) arguments: &'a Value,
    /// The caller's session.
    pub(crate) session: &'a str,
    /// The agent on whose behalf it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<&'a str>,
    /// The workspace's root.
    pub(crate) workspace: &'a Path,
    /// After the call: its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'a Value>,
}

/// What a hook before a call answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreAnswer {
    /// `deny` forbids the call, `ask` has someone asked; `allow` says no more than silence does.
    pub(crate) decision: Option<PolicyVerdict>,
    /// Why, for whoever called.
    pub(crate) why: Option<String>,
    /// Instead of the arguments; they are checked and decided on anew.
    pub(crate) arguments: Option<Value>,
}

/// What a hook after a call answers.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PostAnswer {
    /// Instead of the answer.
    pub(crate) result: Option<Value>,
    /// Words for the model beside the answer: hooks of hooks files have them.
    #[serde(skip)]
    pub(crate) context: Option<String>,
}

/// Why a hook gave no answer. The machine's paths and the hook's own words are in the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
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
    #[error("the hook `{hook}` did not answer within {} ms and was ended; `timeout-ms`, in a hooks file `timeoutSec`, sets how long it may take", timeout.as_millis())]
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
    #[error(
        "the hook `{0}` wrote more than {MAX_HOOK_OUTPUT_BYTES} bytes; it must write one JSON object, or nothing"
    )]
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
pub(crate) struct HookRunner<'a> {
    /// Starts programs.
    pub(crate) spawner: &'a Spawner,
    /// Where they run.
    pub(crate) workspace: &'a Workspace,
    /// Which files of the project were trusted.
    pub(crate) trust: &'a TrustStore,
    /// What a file of the project must be when it runs; `None` where it may not.
    pub(crate) pin: &'a (dyn Fn(&Path) -> Option<FilePin> + Sync),
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
    pub(crate) fn new(layers: &[AccessLayer]) -> Result<Self, ConfigError> {
        let (mut hooks, mut problems) = (Self::default(), Vec::new());
        for layer in layers {
            let written = &layer.access.hooks;
            for (event, list, into) in
                [("pre", &written.pre, &mut hooks.pre), ("post", &written.post, &mut hooks.post)]
            {
                for hook in list {
                    match CallHook::new(hook, layer.origin()) {
                        Ok(hook) => into.push(hook),
                        Err(what) => problems.push(problem(layer, event, &what)),
                    }
                }
            }
        }
        if problems.is_empty() { Ok(hooks) } else { Err(ConfigError::Invalid(problems)) }
    }
}

fn problem(layer: &AccessLayer, event: &str, what: &str) -> ConfigProblem {
    layer.problem(&["hooks", event], &format!("[[hooks.{event}]]: {what}"))
}

impl CallHook {
    fn new(written: &Written, origin: LayerOrigin) -> Result<Self, String> {
        let (program, args) = written.command.split_first().ok_or("`command` is empty; name a program")?;
        let is_path = program.contains('/');
        let of_project = matches!(origin, LayerOrigin::Project { .. });
        if is_path && !Path::new(program).is_absolute() && !of_project {
            return Err(format!(
                "`{program}` depends on the workspace, which would choose what runs; give an absolute path or a name on PATH"
            ));
        }
        let name = |name: &String| {
            NamePattern::new(name).ok_or_else(|| format!("`{name}` in `tools` is no tool's name"))
        };
        let tools = written.tools.iter().map(name).collect::<Result<_, _>>()?;
        Ok(Self {
            name: program.rsplit('/').next().unwrap_or(program).to_owned(),
            does: HookAction::Program { program: program.clone(), args: args.to_vec() },
            tools: HookToolFilter::Named(tools),
            timeout: written.timeout(),
            outcomes: HookOutcomeFilter::All,
            protocol: HookProtocol::Ours,
        })
    }

    /// Whether it is told of calls of `tool`.
    pub(crate) fn applies_to(&self, tool: &str) -> bool {
        match &self.tools {
            HookToolFilter::Named(names) => names.is_empty() || names.iter().any(|name| name.matches(tool)),
            HookToolFilter::Matching(pattern) => {
                pattern.as_ref().is_none_or(|pattern| pattern.is_match(tool))
            }
        }
    }

    /// Whether it is told of a call that ended so.
    pub(crate) fn wants_outcome(&self, ok: bool) -> bool {
        match self.outcomes {
            HookOutcomeFilter::All => true,
            HookOutcomeFilter::Successes => ok,
            HookOutcomeFilter::Failures => !ok,
        }
    }

    /// What people know it by.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Asks a hook before a call.
    ///
    /// # Errors
    /// [`HookError`] where it gave no answer.
    pub(crate) async fn run_before(
        &self,
        runner: HookRunner<'_>,
        input: &HookInput<'_>,
    ) -> Result<PreAnswer, HookError> {
        let ran = self.run(runner, input).await?;
        let mut answer = match self.protocol {
            HookProtocol::Ours => self.parse_answer::<PreAnswer>(&ran)?,
            HookProtocol::Copilot | HookProtocol::Claude => protocol::parse_before_answer(&self.name, &ran)?,
        };
        answer.why = answer.why.map(|why| why.chars().take(MAX_HOOK_TEXT_CHARS).collect());
        Ok(answer)
    }

    /// Asks a hook after a call.
    ///
    /// # Errors
    /// [`HookError`] where it gave no answer.
    pub(crate) async fn run_after(
        &self,
        runner: HookRunner<'_>,
        input: &HookInput<'_>,
    ) -> Result<PostAnswer, HookError> {
        let ran = self.run(runner, input).await?;
        let mut answer = match self.protocol {
            HookProtocol::Ours => self.parse_answer::<PostAnswer>(&ran)?,
            HookProtocol::Copilot | HookProtocol::Claude => protocol::parse_after_answer(&self.name, &ran)?,
        };
        answer.context = answer.context.map(|context| context.chars().take(MAX_HOOK_TEXT_CHARS).collect());
        Ok(answer)
    }

    fn parse_answer<A: DeserializeOwned + Default>(&self, ran: &HookRunResult) -> Result<A, HookError> {
        if ran.exit != Exit::Code(0) {
            return Err(HookError::Failed { hook: self.name.clone(), exit: ran.exit });
        }
        if ran.output.iter().all(u8::is_ascii_whitespace) {
            return Ok(A::default());
        }
        serde_json::from_slice(&ran.output)
            .map_err(|error| HookError::NoAnswer { hook: self.name.clone(), problem: error.to_string() })
    }

    /// What the hook writes when it is told `input`.
    async fn run(&self, runner: HookRunner<'_>, input: &HookInput<'_>) -> Result<HookRunResult, HookError> {
        let hook = || self.name.clone();
        let spawn = self.spawn(runner)?;
        let told = match self.protocol {
            HookProtocol::Ours => serde_json::to_vec(input),
            HookProtocol::Copilot | HookProtocol::Claude => {
                serde_json::to_vec(&protocol::hook_input(self.protocol, input))
            }
        };
        let told = told.map_err(|error| HookError::NoAnswer { hook: hook(), problem: error.to_string() })?;
        let deadline = Instant::now() + self.timeout;
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
                let _ended = stdout.take(MAX_HOOK_OUTPUT_BYTES + 1).read_to_end(&mut output).await;
            }
            output
        };
        let answer = async {
            let ((), output) = tokio::join!(tell, listen);
            // Who is not listened to any more may never end.
            if output.len() as u64 > MAX_HOOK_OUTPUT_BYTES {
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
                self.name,
                process.stderr_tail().join(" | ")
            );
        }
        outcome.map(|(exit, output)| HookRunResult { exit, output, errors: process.stderr_tail() })
    }

    /// What is started, unless it or a file that it is given belongs to the project and is not trusted.
    fn spawn(&self, runner: HookRunner<'_>) -> Result<Spawn, HookError> {
        let name = format!("hook {}", self.name);
        let root = runner.workspace.root();
        let path = ProgramPath::of_user(runner.workspace).variable();
        match &self.does {
            HookAction::Program { program, args } => {
                let mut pins = self.pins(runner, program, args.iter().map(String::as_str), root)?;
                let program = match program.contains('/') {
                    true => self.program_at(runner, program, &mut pins)?,
                    false => self.on_path(runner, program)?,
                };
                let args = args.iter().map(OsString::from).collect();
                Ok(Spawn { name, program, args, env: [path].into(), cwd: root.to_owned(), pins })
            }
            HookAction::Shell { command, cwd, env } => {
                let cwd = root.join(cwd.as_deref().unwrap_or_default());
                if runner.workspace.workspace_path(&cwd).is_none() {
                    return Err(HookError::NotFound(self.name.clone()));
                }
                let pins = self.pins(runner, "bash", [command.as_str()], &cwd)?;
                Ok(Spawn {
                    name,
                    program: self.on_path(runner, "bash")?,
                    args: ["-c", command].map(OsString::from).into(),
                    env: [path]
                        .into_iter()
                        .chain(env.iter().map(|(name, value)| (name.into(), value.into())))
                        .collect(),
                    cwd,
                    pins,
                })
            }
        }
    }

    /// What the files of the project must be that the `words` which `program` is given name from the folder `base`; refused where their owner has not trusted one as it
    /// is now.
    fn pins<'a>(
        &self,
        runner: HookRunner<'_>,
        program: &str,
        words: impl IntoIterator<Item = &'a str>,
        base: &Path,
    ) -> Result<Vec<FilePin>, HookError> {
        let pins = pins_among(program, words, &[base], runner.workspace, runner.trust, runner.pin);
        pins.map_err(|file| HookError::Untrusted { hook: self.name.clone(), file })
    }

    /// The program that `word` names by its path.
    fn program_at(
        &self,
        runner: HookRunner<'_>,
        word: &str,
        pins: &mut Vec<FilePin>,
    ) -> Result<PathBuf, HookError> {
        let path = runner.workspace.root().join(word);
        if !is_program(&path) {
            return Err(HookError::NotFound(self.name.clone()));
        }
        // Also where it is gone at this very moment: what is there at the next one is not known.
        if runner.workspace.workspace_path(&path).is_some() {
            let untrusted = || HookError::Untrusted { hook: self.name.clone(), file: word.to_owned() };
            pins.push((runner.pin)(&path).ok_or_else(untrusted)?);
        }
        Ok(path)
    }

    fn on_path(&self, runner: HookRunner<'_>, program: &str) -> Result<PathBuf, HookError> {
        let found = ProgramPath::of_user(runner.workspace).find(program);
        found.ok_or_else(|| HookError::NotFound(self.name.clone()))
    }

    /// The shell command of a hook of a hooks file, which may name files of the project, and the folder that it runs in.
    pub(crate) fn shell_command(&self) -> Option<(&str, &str)> {
        match &self.does {
            HookAction::Program { .. } => None,
            HookAction::Shell { command, cwd, .. } => Some((cwd.as_deref().unwrap_or_default(), command)),
        }
    }
}

#[cfg(test)]
mod tests;
