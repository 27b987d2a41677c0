//! The command `tests`: the tests that reach a change or a symbol, and their run.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::reach::test_reach::output::TestRun;
use crate::analysis::reach::test_runs::EndedRun;
use crate::cli::args::{CliOutputFormat, TestsCommandArgs};
use crate::cli::commands::{CliContext, Reply, answer_reply, parse_place};
use crate::cli::exit::{self, CliExitStatus};
use crate::cli::render::{reached_tests, verdict};
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::address::Address;
use crate::tools::api::tool::Caller;
use crate::tools::vcs::lsp_tests::TestsArgs;

/// The time limit of one command in milliseconds, unless `bash.max_timeout` is lower.
const RUN_TIMEOUT_MS: u64 = 30 * 60 * 1_000;

/// Lists the tests, and runs them on request.
pub(crate) async fn run(arguments: TestsCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let limit = arguments.limit;
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
            let address = Address::from(parse_place(subject, cli.cwd)?);
            TestsArgs { address, limit, ..TestsArgs::default() }
        }
    };
    let answer = cli.runtime.tests_reaching(args).await?;
    let runs = answer.output.runs.clone();
    let without_run = answer.output.without_run.clone();
    let reply = answer_reply(
        cli,
        answer,
        |output| reached_tests::render(output, &cli.console.out),
        "no test reaches it",
    )?;
    if !arguments.run || runs.is_empty() && without_run.is_empty() {
        return Ok(reply);
    }
    let mut reply = match runs.is_empty() {
        true => reply,
        false => run_commands(reply, &runs, cli).await?,
    };
    if !without_run.is_empty() {
        let what = format!("no project file names a command for the tests of {}", without_run.join(", "));
        reply.lines.extend(verdict::error(&ToolError::new(ErrorCode::NotFound, what), &cli.console.err));
        // The status of failed tests takes precedence over that of tests without a command.
        if reply.status != CliExitStatus::Unpleasant {
            reply.status = CliExitStatus::Failed;
        }
    }
    Ok(reply)
}

/// Adds the output of each command to the reply. The first failure determines the status.
async fn run_commands(
    mut reply: Reply,
    commands: &[TestRun],
    cli: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let mut runs = Vec::new();
    let mut status = CliExitStatus::Answered;
    for TestRun { command, set_up, .. } in commands {
        let caller = Caller::at_shell();
        let arguments = json!({"command": command, "timeout_ms": RUN_TIMEOUT_MS, "diagnostics": false});
        let mut result = cli.runtime.call(CallRequest::new("bash", arguments, &caller)).await;
        let failure = start_failure(command, set_up.as_deref(), &result.value);
        // A failed command is an answer of `bash`, not a failure of the tool.
        let ended = match (exit::of_result(&result), result.value["exit_code"].as_i64()) {
            _ if failure.is_some() => CliExitStatus::Failed,
            (CliExitStatus::Answered, Some(code)) if code != 0 => CliExitStatus::Unpleasant,
            (ended, _) => ended,
        };
        if status == CliExitStatus::Answered {
            status = ended;
        }
        if cli.format == CliOutputFormat::Json {
            runs.push(match &failure {
                Some(failure) => serde_json::to_value(failure).unwrap_or_default(),
                None => result.value.take(),
            });
            continue;
        }
        reply.out.push('\n');
        reply.out.push_str(&reached_tests::render_run(command, &result.value));
        let error = result.value["error"].as_str().map(|error| ToolError::new(ErrorCode::Internal, error));
        for error in error.iter().chain(&failure) {
            reply.lines.extend(verdict::error(error, &cli.console.err));
        }
    }
    if cli.format == CliOutputFormat::Json {
        let mut answer: serde_json::Value = serde_json::from_str(&reply.out).unwrap_or_default();
        answer["results"] = json!(runs);
        reply.out = crate::cli::commands::as_json(&answer, cli)?;
    }
    Ok(Reply { status, ..reply })
}

/// Returns an error if `bash` started no test, derived from its answer.
fn start_failure(command: &str, set_up: Option<&str>, result: &Value) -> Option<ToolError> {
    let output = ["stdout", "stderr"].map(|stream| result[stream].as_str().unwrap_or_default());
    let exit_code = result["exit_code"].as_i64()?;
    let failure = EndedRun { command, set_up, exit_code, output }.start_failure()?;
    Some(failure.with_details(result))
}
