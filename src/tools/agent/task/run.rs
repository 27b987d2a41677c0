//! The run of one task: start of the program, its order, its output, its end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{AGENT, SESSION, TaskOrder, TaskOutput};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::config::{FilePin, pins_among};
use crate::platform::canonicalize;
use crate::process::{Exchange, ExchangeOutcome, Exit, ProgramPath, RunError, Spawn, exchange, is_program};

/// The most of a runner's output that is read, in bytes.
const OUTPUT_BYTES: usize = 1 << 20;
/// The most events of one task that are logged.
const MAX_LOGGED_TASK_EVENTS: usize = 1_000;
/// The exit code of a shell and of the supervisor for a program that cannot be started.
const EXIT_RUNNER_NOT_STARTED: i32 = 127;

/// The structured output that a runner may print instead of text.
#[derive(Deserialize)]
struct TaskRunnerOutput {
    summary: Option<String>,
    error: Option<String>,
    #[serde(default)]
    events: Vec<Value>,
}

/// Runs the task to its end. Dropping the returned future ends all its processes.
pub(super) async fn run(context: &Context, order: &TaskOrder) -> Result<TaskOutput, ToolError> {
    let (agent, session) = (order.agent.as_str(), order.session.as_str());
    tracing::info!(agent, session, depth = order.depth, "subagent.started");
    let done = run_task(context, order).await;
    match &done {
        Ok(output) => tracing::info!(agent, session, bytes = output.summary.len(), "subagent.completed"),
        Err(error) => tracing::warn!(agent, session, %error, "subagent.failed"),
    }
    done
}

async fn run_task(context: &Context, order: &TaskOrder) -> Result<TaskOutput, ToolError> {
    let (program, args) = command(context, order)?;
    let root = context.workspace.root();
    let input = json!({
        "agent": order.agent,
        "objective": order.objective,
        "tools": order.tools,
        "workspace": root.to_string_lossy(),
        "session": order.session,
        "depth": order.depth,
    })
    .to_string();
    let variables = [(AGENT, &order.chain), (SESSION, &order.session)];
    let env: BTreeMap<OsString, OsString> = variables
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .chain([ProgramPath::of_user(&context.workspace).variable()])
        .collect();
    let spawn = Spawn {
        name: format!("agent {}", order.agent),
        program,
        args,
        env,
        cwd: root.to_owned(),
        pins: runner_pins(context, order)?,
    };
    let limit = context.config.settings.deadlines.task;
    let with =
        Exchange { input: input.as_bytes(), most_bytes: OUTPUT_BYTES, deadline: context.deadline(limit) };
    let mut events = TaskEventLog { order, logged_events: 0 };
    let done = exchange(context.manager.spawner(), spawn, with, |line| events.log_event(line)).await;
    match done {
        Ok(done) => build_output(context, order, &done, &mut events),
        Err(RunError::TooLong { .. }) => {
            let limit = context.timeout.unwrap_or(limit);
            let what = format!("the agent {} was ended because it took more than {limit:?}", order.agent);
            Err(ToolError::new(ErrorCode::Timeout, what)
                .with_hint("give it a smaller task, or raise `task` under [deadlines] in lsp-tools.toml"))
        }
        Err(RunError::Start(error)) => {
            tracing::warn!("{error}");
            Err(runner_error(order, "cannot be started; the reason is in the log"))
        }
    }
}

/// The expected content of the project's files that the runner's command names.
fn runner_pins(context: &Context, order: &TaskOrder) -> Result<Vec<FilePin>, ToolError> {
    let (root, words) = (context.workspace.root(), order.runner.iter().skip(1).map(String::as_str));
    let pin = |file: &Path| context.trust.pin(root, file).ok()?.ok();
    let program = order.runner.first().map_or("", String::as_str);
    pins_among(program, words, &[root], &context.workspace, &context.trust, pin).map_err(|file| {
        let what = format!(
            "`{file}`, used by the runner of the agent {}, is not trusted in its current state",
            order.agent
        );
        ToolError::new(ErrorCode::Denied, what).with_hint("review it, then run: lsp-tools trust")
    })
}

/// The path of the program. A program of the workspace is never started: the settings were trusted
/// with its name, not its content.
fn command(context: &Context, order: &TaskOrder) -> Result<(PathBuf, Vec<OsString>), ToolError> {
    let (name, args) = order.runner.split_first().map_or(("", [].as_slice()), |(name, args)| (name, args));
    let given = Path::new(name);
    let found = match name.contains('/') {
        true => Some(given.to_owned()).filter(|path| path.is_absolute() && is_program(path)),
        false => ProgramPath::of_user(&context.workspace).find(name),
    };
    let program = found.ok_or_else(|| {
        let what = format!("the runner of the agent {} was not found", order.agent);
        ToolError::new(ErrorCode::NotFound, what)
            .with_hint("`runner` must begin with an absolute path or the name of a program on PATH")
    })?;
    let real = canonicalize(&program).unwrap_or_else(|_| program.clone());
    if context.workspace.workspace_path(&program).is_some()
        || context.workspace.workspace_path(&real).is_some()
    {
        let what =
            format!("the runner of the agent {} lies in the workspace and is not started", order.agent);
        return Err(ToolError::new(ErrorCode::Denied, what).with_hint("put it elsewhere"));
    }
    Ok((program, args.iter().map(OsString::from).collect()))
}

fn build_output(
    context: &Context,
    order: &TaskOrder,
    done: &ExchangeOutcome,
    events: &mut TaskEventLog<'_>,
) -> Result<TaskOutput, ToolError> {
    let text = String::from_utf8_lossy(&done.output);
    let text = text.trim();
    let printed = serde_json::from_str::<TaskRunnerOutput>(text).ok().filter(|_| text.starts_with('{'));
    let (summary, error) = match printed {
        Some(printed) => {
            printed.events.iter().for_each(|event| events.log_event(&event.to_string()));
            (printed.summary, printed.error)
        }
        None => (Some(text.to_owned()), None),
    };
    if let Some(error) = error {
        return Err(runner_error(order, &format!("failed: {error}")));
    }
    match done.exit {
        Exit::Code(0) => {}
        Exit::Code(EXIT_RUNNER_NOT_STARTED) => {
            return Err(runner_error(order, "cannot be started; the reason is in the log"));
        }
        exit => return Err(runner_error(order, &format!("ended with {exit}; its output is in the log"))),
    }
    let summary = summary.filter(|summary| !summary.trim().is_empty());
    let summary = summary.ok_or_else(|| runner_error(order, "ended without a summary"))?;
    let most = context.config.settings.limits.answer_bytes;
    let kept = summary.floor_char_boundary(most);
    let truncated = done.cut || kept < summary.len();
    Ok(TaskOutput { agent: order.agent.clone(), summary: summary[..kept].to_owned(), truncated })
}

fn runner_error(order: &TaskOrder, how: &str) -> ToolError {
    ToolError::new(ErrorCode::ServerFailed, format!("the runner of the agent {} {how}", order.agent))
}

/// The events that a runner reports.
struct TaskEventLog<'a> {
    order: &'a TaskOrder,
    logged_events: usize,
}

impl TaskEventLog<'_> {
    fn log_event(&mut self, event: &str) {
        let (agent, session) = (self.order.agent.as_str(), self.order.session.as_str());
        self.logged_events += 1;
        if self.logged_events <= MAX_LOGGED_TASK_EVENTS {
            tracing::info!(agent, session, "subagent.event {event}");
        } else if self.logged_events == MAX_LOGGED_TASK_EVENTS + 1 {
            tracing::info!(
                agent,
                session,
                "subagent.event: more than {MAX_LOGGED_TASK_EVENTS}, the rest is left out"
            );
        }
    }
}
