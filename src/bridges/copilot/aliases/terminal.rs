//! `run_in_terminal` and `get_terminal_output`: commands, in the foreground or background.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::{AliasContext, to_alias_error};
use super::format;
use crate::policy::request::Effect;
use crate::tools::api::result::ToolResult;

/// The arguments of `run_in_terminal`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunInTerminalArgs {
    /// The command line.
    #[schemars(length(min = 1))]
    command: String,
    /// The purpose of the command, in a few words.
    #[serde(default, rename = "explanation")]
    _explanation: Option<String>,
    /// Run in the background: return at once, with an id for get_terminal_output.
    is_background: Option<bool>,
    /// Timeout in milliseconds (120000).
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
}

/// The alias that runs a command.
pub(super) struct RunInTerminal;

impl AliasAdapter for RunInTerminal {
    type Args = RunInTerminalArgs;

    // The server parses `Shell: sh` and tells its model which shell to write commands for; `sh` is
    // the shell that runs ours.
    const ABOUT: AliasMetadata = AliasMetadata {
        name: "run_in_terminal",
        title: "Run a command",
        description: "Runs a command in the root of the workspace and answers its output and exit code. Each call has its own shell: nothing of an earlier one remains. No terminal, no input. It may write only the workspace and temporary \
                      folders. Shell: sh",
        effect: Effect::Execute,
        class: AliasClass::New,
        by_default: true,
        why: "the server leaves it to its clients, and asks for each command by its own terminal rules",
        uses: &["bash"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: RunInTerminalArgs) -> Result<AliasAnswer, AliasError> {
        let background = args.is_background.unwrap_or(false);
        let arguments =
            json!({"command": args.command, "background": background, "timeout_ms": args.timeout});
        let result = context.call_tool("bash", arguments).await;
        match result.value["id"].as_str() {
            Some(id) if result.ok() => Ok(AliasAnswer::done(format!(
                "it runs in the background as {id}; get_terminal_output with this id answers what it writes"
            ))),
            _ => command_answer(context, &result),
        }
    }
}

/// The answer for a finished command. A command that timed out has an output as well.
pub(super) fn command_answer(
    context: &AliasContext<'_>,
    result: &ToolResult,
) -> Result<AliasAnswer, AliasError> {
    let changed: Vec<PathBuf> = format::list_field(&result.value, "changed")
        .into_iter()
        .flatten()
        .filter_map(|file| context.absolute_path(format::text_field(file, "path")))
        .collect();
    let text = result.text.clone().or_else(|| format::command(&result.value));
    match text {
        Some(text) => Ok(AliasAnswer { text, ok: result.ok(), changed }),
        None if result.ok() => Ok(AliasAnswer::done(result.text_for_model()).with_changed(changed)),
        None => Err(to_alias_error(result)),
    }
}

/// The arguments of `get_terminal_output`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetTerminalOutputArgs {
    /// The id from run_in_terminal.
    id: String,
    /// Milliseconds to wait for output or the end (0).
    #[schemars(range(max = 60_000))]
    timeout: Option<u64>,
}

/// The alias that returns the output of a background command.
pub(super) struct GetTerminalOutput;

impl AliasAdapter for GetTerminalOutput {
    type Args = GetTerminalOutputArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "get_terminal_output",
        title: "Output of a command",
        description: "State of a background command, and its output since the last request.",
        effect: Effect::Read,
        class: AliasClass::New,
        by_default: true,
        why: "the server leaves it to its clients; it belongs to run_in_terminal",
        uses: &["bash_output"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: GetTerminalOutputArgs) -> Result<AliasAnswer, AliasError> {
        let got = context.call("bash_output", json!({"id": args.id, "wait_ms": args.timeout})).await?;
        Ok(AliasAnswer::done(got.text(|answer| {
            let state = match answer.get("state")?.as_str()? {
                "running" => format!("it runs, for {} ms now", answer["duration_ms"]),
                "timed_out" => "its time limit was reached".to_owned(),
                "killed" => "it was ended".to_owned(),
                _ => "it has ended".to_owned(),
            };
            let written = format::command(answer)?;
            Some(if written.is_empty() {
                format!("{state}; it wrote nothing new")
            } else {
                format!("{written}\n{state}")
            })
        })))
    }
}
