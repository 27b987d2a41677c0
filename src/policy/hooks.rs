//! Hooks: programs of the user that may change or forbid a call before it, and change its result
//! after it.
//!
//! A hook reads one JSON object from its standard input and writes one to its standard output; no
//! output means no objection. It runs without a shell, in the workspace's root, under a supervisor
//! that ends its leftover processes. Any failure of a hook before a call forbids the call.
//!
//! Hooks files of a repository ([`files`]) follow the formats of other programs. Their hooks run
//! only if the user trusts the files. They run in a shell and use their own protocol
//! ([`protocol`]).

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

/// The largest output of a hook, in bytes. Larger outputs are errors.
const MAX_HOOK_OUTPUT_BYTES: u64 = 4 << 20;
/// The longest reason of a hook that is passed on, in characters.
const MAX_HOOK_TEXT_CHARS: usize = 1_000;

/// All hooks, in the order in which they run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hooks {
    /// Hooks that run before a call.
    pub(crate) pre: Vec<CallHook>,
    /// Hooks that run after a call.
    pub(crate) post: Vec<CallHook>,
}

/// One hook.
#[derive(Debug, Clone)]
pub(crate) struct CallHook {
    /// The name shown to people: the file name of its program or hooks file.
    name: String,
    does: HookAction,
    tools: HookToolFilter,
    timeout: Duration,
    outcomes: HookOutcomeFilter,
    protocol: HookProtocol,
}

/// The program or shell command of a hook.
#[derive(Debug, Clone)]
enum HookAction {
    Program { program: String, args: Vec<String> },
    Shell { command: String, cwd: Option<String>, env: BTreeMap<String, String> },
}

/// The tools whose calls a hook receives.
#[derive(Debug, Clone)]
enum HookToolFilter {
    /// Tools with these names; all tools if empty.
    Named(Vec<NamePattern>),
    /// Tools whose name matches; all tools if there is no pattern.
    Matching(Option<Regex>),
}

/// The outcomes of calls that a hook receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookOutcomeFilter {
    All,
    Successes,
    Failures,
}

/// The format of a hook's input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookProtocol {
    Ours,
    Copilot,
    Claude,
}

/// The exit status and output of a hook.
#[derive(Debug)]
struct HookRunResult {
    exit: Exit,
    output: Vec<u8>,
    /// The last lines of its standard error.
    errors: Vec<String>,
}

/// The input of a hook.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HookInput<'a> {
    /// `pre` or `post`.
    pub(crate) event: &'static str,
    /// The tool's name.
    pub(crate) tool: &'a str,
    /// The effect of the call.
    pub(crate) effect: Effect,
    /// The current arguments of the call.
    pub(crate) arguments: &'a Value,
    /// The caller's session.
    pub(crate) session: &'a str,
    /// The agent on whose behalf the tool is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<&'a str>,
    /// The workspace's root.
    pub(crate) workspace: &'a Path,
    /// The result, after the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'a Value>,
}

/// The answer of a hook before a call.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreAnswer {
    /// `deny` forbids the call, `ask` requests approval; `allow` has no more effect than no
    /// decision.
    pub(crate) decision: Option<PolicyVerdict>,
    /// The reason, shown to the caller.
    pub(crate) why: Option<String>,
    /// Replacement arguments. They are validated and checked against the rules again.
    pub(crate) arguments: Option<Value>,
}

/// The answer of a hook after a call.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PostAnswer {
    /// The replacement of the result.
    pub(crate) result: Option<Value>,
    /// Text for the model beside the result. Only hooks from hooks files set it.
    #[serde(skip)]
    pub(crate) context: Option<String>,
}

/// An error of a hook. Paths of the machine and the hook's own output are only in the log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
    /// The program does not exist.
    #[error(
        "the hook `{0}` is not a program on PATH outside the workspace, nor one at that path; correct its `command`"
    )]
    NotFound(String),
    /// The program or a file among its arguments belongs to the project and is not trusted.
    #[error(
        "the hook `{hook}` runs `{file}` of this project, which is not trusted in its current state; review it, then run: lsp-tools trust"
    )]
    Untrusted {
        /// The hook.
        hook: String,
        /// The file.
        file: String,
    },
    /// The hook could not be started.
    #[error("the hook `{hook}` cannot be started; the reason is in the log")]
    Start {
        /// The hook.
        hook: String,
        /// The error of the operating system.
        source: SpawnError,
    },
    /// The hook timed out.
    #[error("the hook `{hook}` did not answer within {} ms and was ended; `timeout-ms`, in a hooks file `timeoutSec`, sets the limit", timeout.as_millis())]
    TooLong {
        /// The hook.
        hook: String,
        /// The timeout of the hook.
        timeout: Duration,
    },
    /// The hook exited with a failure.
    #[error("the hook `{hook}` failed with {exit}; its last output is in the log")]
    Failed {
        /// The hook.
        hook: String,
        /// The exit status.
        exit: Exit,
    },
    /// The output is too large.
    #[error(
        "the hook `{0}` wrote more than {MAX_HOOK_OUTPUT_BYTES} bytes; it must write one JSON object, or nothing"
    )]
    TooMuch(String),
    /// The output cannot be parsed.
    #[error(
        "the hook `{hook}` wrote an invalid answer ({problem}); it must write one JSON object, or nothing"
    )]
    NoAnswer {
        /// The hook.
        hook: String,
        /// The problem of the output.
        problem: String,
    },
}

/// The environment in which hooks run.
#[derive(Clone, Copy)]
pub(crate) struct HookRunner<'a> {
    /// Starts programs.
    pub(crate) spawner: &'a Spawner,
    /// The workspace in whose root they run.
    pub(crate) workspace: &'a Workspace,
    /// The store of trusted project files.
    pub(crate) trust: &'a TrustStore,
    /// The expected content of a trusted file of the project; `None` if the file may not run.
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
    /// [`ConfigError::Invalid`] with every hook that names no program, or one that a project could
    /// provide.
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
                "`{program}` is relative to the workspace; give an absolute path or a name on PATH"
            ));
        }
        let name = |name: &String| {
            NamePattern::new(name).ok_or_else(|| format!("`{name}` in `tools` is not a tool name"))
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

    /// Returns true if the hook receives calls of `tool`.
    pub(crate) fn applies_to(&self, tool: &str) -> bool {
        match &self.tools {
            HookToolFilter::Named(names) => names.is_empty() || names.iter().any(|name| name.matches(tool)),
            HookToolFilter::Matching(pattern) => {
                pattern.as_ref().is_none_or(|pattern| pattern.is_match(tool))
            }
        }
    }

    /// Returns true if the hook receives calls with this outcome.
    pub(crate) fn wants_outcome(&self, ok: bool) -> bool {
        match self.outcomes {
            HookOutcomeFilter::All => true,
            HookOutcomeFilter::Successes => ok,
            HookOutcomeFilter::Failures => !ok,
        }
    }

    /// The name shown to people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs the hook before a call.
    ///
    /// # Errors
    /// [`HookError`] if the hook gave no answer.
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
        answer.why = answer.why.map(|reason| reason.chars().take(MAX_HOOK_TEXT_CHARS).collect());
        Ok(answer)
    }

    /// Runs the hook after a call.
    ///
    /// # Errors
    /// [`HookError`] if the hook gave no answer.
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

    /// Runs the hook with `input` and returns its exit status and output.
    async fn run(&self, runner: HookRunner<'_>, input: &HookInput<'_>) -> Result<HookRunResult, HookError> {
        let hook = || self.name.clone();
        let spawn = self.spawn(runner)?;
        let payload = match self.protocol {
            HookProtocol::Ours => serde_json::to_vec(input),
            HookProtocol::Copilot | HookProtocol::Claude => {
                serde_json::to_vec(&protocol::hook_input(self.protocol, input))
            }
        };
        let payload =
            payload.map_err(|error| HookError::NoAnswer { hook: hook(), problem: error.to_string() })?;
        let deadline = Instant::now() + self.timeout;
        let started = runner.spawner.spawn(spawn).await;
        let mut process = started.map_err(|source| {
            tracing::warn!("{source}");
            HookError::Start { hook: hook(), source }
        })?;
        let (stdin, stdout) = (process.take_stdin(), process.take_stdout());
        let tell = async {
            if let Some(mut stdin) = stdin {
                // A hook may ignore its input.
                let _ignored = stdin.write_all(&payload).await;
            }
        };
        let listen = async {
            let mut output = Vec::new();
            if let Some(stdout) = stdout {
                // An error of the pipe counts as its end; the exit status shows how the hook ended.
                let _ended = stdout.take(MAX_HOOK_OUTPUT_BYTES + 1).read_to_end(&mut output).await;
            }
            output
        };
        let answer = async {
            let ((), output) = tokio::join!(tell, listen);
            // A hook whose output is not read to the end may never exit.
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
                "the hook {} failed; its last output: {}",
                self.name,
                process.stderr_tail().join(" | ")
            );
        }
        outcome.map(|(exit, output)| HookRunResult { exit, output, errors: process.stderr_tail() })
    }

    /// The program to start. Returns an error if it or a file among its arguments belongs to the
    /// project and is not trusted.
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

    /// The pins of project files among the `words` of `program`, resolved from the folder `base`.
    /// Returns an error if the user has not trusted a file in its present state.
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
        // Pinned even if the file is missing now: it may exist a moment later.
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

    /// The shell command of a hook from a hooks file, which may name files of the project, and its
    /// working folder.
    pub(crate) fn shell_command(&self) -> Option<(&str, &str)> {
        match &self.does {
            HookAction::Program { .. } => None,
            HookAction::Shell { command, cwd, .. } => Some((cwd.as_deref().unwrap_or_default(), command)),
        }
    }
}

#[cfg(test)]
mod tests;
