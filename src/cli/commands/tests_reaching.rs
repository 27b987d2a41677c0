//! The command `tests`: the tests that reach a change or a symbol, and their run.

use std::path::PathBuf;

use serde_json::json;

use super::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::args::{CliOutputFormat, TestsCommandArgs};
use crate::cli::exit::{self, CliExitStatus};
use crate::cli::render::{reached_tests, verdict};
use crate::runtime::call::CallRequest;
use crate::tools::address::Address;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::lsp_tests::TestsArgs;
use crate::tools::tool::Caller;

/// How long one command may run, in milliseconds, where `bash.max_timeout` does not end it sooner.
const RUN_TIMEOUT_MS: u64 = 30 * 60 * 1_000;

/// Names the tests, and runs them where that is wanted.
pub(super) async fn run(arguments: TestsCommandArgs, door: CliContext<'_>) -> Result<Reply, ToolError> {
    let limit = Some(arguments.limit.unwrap_or(usize::MAX));
    let args = match &arguments.against {
        Some(_) => TestsArgs {
            against: arguments.against.clone(),
            only: (!arguments.subjects.is_empty())
                .then(|| arguments.subjects.iter().map(PathBuf::from).collect()),
            limit,
            ..TestsArgs::default()
        },
        None => {
            let [subject] = arguments.subjects.as_slice() else {
                let what = "several symbols were given; name one, or a commit with --against";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            };
            let address = Address::from(parse_place(subject, door.cwd)?);
            TestsArgs { address, limit, ..TestsArgs::default() }
        }
    };
    let answer = door.runtime.tests_reaching(args).await?;
    let commands: Vec<String> = answer.output.runs.iter().map(|run| run.command.clone()).collect();
    let without_run = answer.output.without_run.clone();
    let reply = answer_reply(
        door,
        answer,
        |output| reached_tests::render(output, &door.console.out),
        "no test reaches it",
    )?;
    if !arguments.run || commands.is_empty() && without_run.is_empty() {
        return Ok(reply);
    }
    let mut reply = match commands.is_empty() {
        true => reply,
        false => run_commands(reply, &commands, door).await?,
    };
    if !without_run.is_empty() {
        let what = format!("no project says how the tests of {} are run", without_run.join(", "));
        reply.lines.extend(verdict::error(&ToolError::new(ErrorCode::NotFound, what), &door.console.err));
        // Tests that failed say more than those that did not run.
        if reply.status != CliExitStatus::Unpleasant {
            reply.status = CliExitStatus::Failed;
        }
    }
    Ok(reply)
}

/// The reply with what each command printed; the first that fails decides on the status.
async fn run_commands(
    mut reply: Reply,
    commands: &[String],
    door: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let mut runs = Vec::new();
    let mut status = CliExitStatus::Answered;
    for command in commands {
        let caller = Caller::at_shell();
        let arguments = json!({"command": command, "timeout_ms": RUN_TIMEOUT_MS, "diagnostics": false});
        let result = door.runtime.call(CallRequest::new("bash", arguments, &caller)).await;
        // A command that failed is an answer of `bash`, and no failure of it.
        let ended = match (exit::of_result(&result), result.value["exit_code"].as_i64()) {
            (CliExitStatus::Answered, Some(code)) if code != 0 => CliExitStatus::Unpleasant,
            (ended, _) => ended,
        };
        if status == CliExitStatus::Answered {
            status = ended;
        }
        if door.format == CliOutputFormat::Json {
            runs.push(result.value);
            continue;
        }
        reply.out.push('\n');
        reply.out.push_str(&reached_tests::render_run(command, &result.value));
        if let Some(error) = result.value.get("error").and_then(serde_json::Value::as_str) {
            let error = ToolError::new(ErrorCode::Internal, error);
            reply.lines.extend(verdict::error(&error, &door.console.err));
        }
    }
    if door.format == CliOutputFormat::Json {
        let mut answer: serde_json::Value = serde_json::from_str(&reply.out).unwrap_or_default();
        answer["results"] = json!(runs);
        reply.out = super::as_json(&answer, door)?;
    }
    Ok(Reply { status, ..reply })
}
