//! The commands of the shell, one file each.
//!
//! A command takes its arguments and a [`CliContext`], queries the runtime, and returns a
//! [`Reply`]: text for stdout, lines for stderr, and the exit status. It prints nothing itself, so
//! that all printing is in one place.

pub(crate) mod checks;
pub(crate) mod code;
pub(crate) mod completions;
pub(super) mod daemon;
mod doctor;
pub(crate) mod files;
mod host_hook;
mod init;
mod install;
mod man;
mod mounted;
mod policy;
mod servers;
mod settings_schema;
mod tool_call;
mod tools;
mod trust;
pub(super) mod view;

use std::ffi::OsStr;
use std::path::Path;

use serde::Serialize;

use super::args::copilot::{CopilotCommand, CopilotCommandArgs};
use super::args::doors::McpCommandArgs;
use super::args::edits::{EditingCommand, UndoCommandArgs};
use super::args::tools::ToolsCommand;
use super::args::{CliCommand, CliOutputFormat};
use super::console::Console;
use super::exit::{self, CliExitStatus, GradedOutput};
use super::input::PipedInput;
use super::paths::{HasPaths, PathSpelling};
use super::render::terminal::json;
use super::render::{hierarchy, verdict};
pub(super) use super::reply::Reply;
use crate::analysis::answer::{Answer, HierarchyOutput, Verdict};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::target::{Target, path_of};
use crate::runtime::Runtime;
use crate::runtime::startup_hints::AskedAbout;
use crate::tools::api::place_address;

/// The context of a command.
#[derive(Clone, Copy)]
pub(super) struct CliContext<'a> {
    /// The runtime that answers.
    pub(crate) runtime: &'a Runtime,
    /// The folder for relative paths.
    pub(crate) cwd: &'a Path,
    /// The spelling of paths in that folder.
    pub(crate) paths: &'a PathSpelling,
    /// The output format.
    pub(crate) format: CliOutputFormat,
    /// The display capabilities of the streams.
    pub(crate) console: &'a Console,
    /// The piped input.
    pub(crate) input: &'a PipedInput,
}

/// Runs a command that needs no runtime. Returns `None` for all others.
pub(super) fn without_runtime(command: &CliCommand) -> Option<Result<Reply, ToolError>> {
    match command {
        CliCommand::Completions(arguments) => Some(completions::run(arguments)),
        CliCommand::Man(arguments) => Some(man::run(arguments)),
        CliCommand::Schema(arguments) => Some(Ok(settings_schema::run(arguments))),
        _ => None,
    }
}

/// Runs a command that queries the runtime.
pub(super) async fn run(command: CliCommand, cli: CliContext<'_>) -> Reply {
    let reply = match command {
        CliCommand::Hover(arguments) => code::hover::run(&arguments, cli).await,
        CliCommand::Explore(arguments) => code::explore::run(&arguments, cli).await,
        CliCommand::Definition(arguments) => code::locations::definition(&arguments, cli).await,
        CliCommand::Declaration(arguments) => code::locations::declaration(&arguments, cli).await,
        CliCommand::TypeDefinition(arguments) => code::locations::type_definition(&arguments, cli).await,
        CliCommand::Implementation(arguments) => code::locations::implementation(&arguments, cli).await,
        CliCommand::References(arguments) => code::locations::references(&arguments, cli).await,
        CliCommand::Symbols(arguments) => code::symbols::run(&arguments, cli).await,
        CliCommand::Calls(arguments) => code::calls::run(&arguments, cli).await,
        CliCommand::Types(arguments) => code::types::run(&arguments, cli).await,
        CliCommand::Signature(arguments) => code::signature::run(&arguments, cli).await,
        CliCommand::Completion(arguments) => code::completion::run(&arguments, cli).await,
        CliCommand::Check(arguments) => checks::check::run(arguments, cli).await,
        CliCommand::Tests(arguments) => checks::tests_reaching::run(arguments, cli).await,
        CliCommand::Files(command) => files::file_commands::run(command, cli).await,
        CliCommand::Edits(command) => files::edits::run(command, cli).await,
        // The edits of a turn form one group.
        CliCommand::Copilot(CopilotCommandArgs { command: Some(CopilotCommand::Undo(undo)) }) => {
            let undo = UndoCommandArgs { id: None, group: Some(undo.turn), list: false };
            files::edits::run(EditingCommand::Undo(undo), cli).await
        }
        CliCommand::Servers => servers::run(cli).await,
        CliCommand::Doctor => doctor::run(cli).await,
        CliCommand::Install(arguments) => install::run(arguments, cli).await,
        CliCommand::Trust(arguments) => trust::run(&arguments, cli).await,
        CliCommand::Index(arguments) => checks::code_index::run(&arguments, cli).await,
        CliCommand::Store(command) => checks::answer_store::run(command, cli).await,
        CliCommand::Policy(arguments) => policy::run(arguments, cli),
        CliCommand::Tools(arguments) => tools::run(arguments, cli).await,
        CliCommand::Mcp(McpCommandArgs { mounted: Some(mounted), .. }) => mounted::run(mounted, cli).await,
        CliCommand::Init(arguments) => init::run(arguments, cli).await,
        CliCommand::Hook(arguments) => host_hook::run(arguments, cli).await,
        CliCommand::Mcp(_)
        | CliCommand::Lsp(_)
        | CliCommand::Copilot(_)
        | CliCommand::Daemon(_)
        | CliCommand::View(_) => {
            Err(ToolError::new(ErrorCode::Internal, "this command does not run in a runtime"))
        }
        CliCommand::Completions(arguments) => completions::run(&arguments),
        CliCommand::Man(arguments) => man::run(&arguments),
        CliCommand::Schema(arguments) => Ok(settings_schema::run(&arguments)),
    };
    reply.unwrap_or_else(|error| failure_reply(&error, cli.format, cli.console))
}

/// Returns the subject of a question about code, to which the startup hints are limited.
pub(super) fn question_subject(command: &CliCommand, cwd: &Path) -> Option<AskedAbout> {
    let address = match command {
        CliCommand::Hover(at)
        | CliCommand::Definition(at)
        | CliCommand::Declaration(at)
        | CliCommand::TypeDefinition(at)
        | CliCommand::Implementation(at)
        | CliCommand::Signature(at) => &at.address,
        CliCommand::Explore(explore) => &explore.at.address,
        CliCommand::References(many) => &many.at.address,
        CliCommand::Symbols(symbols) => &symbols.address,
        CliCommand::Calls(calls) => &calls.at.address,
        CliCommand::Types(types) => &types.at.address,
        CliCommand::Completion(completion) => &completion.at.address,
        CliCommand::Check(check) if check.paths.is_empty() => return Some(AskedAbout::Workspace),
        CliCommand::Check(check) => return Some(AskedAbout::Paths(check.paths.clone())),
        CliCommand::Edits(EditingCommand::Rename(rename)) => &rename.at.address,
        CliCommand::Edits(EditingCommand::Actions(actions)) => {
            match tool_call::parse_span(&actions.address, cwd) {
                Ok(span) if cwd.join(&span.path).is_file() => {
                    return Some(AskedAbout::Paths(vec![span.path]));
                }
                _ => &actions.address,
            }
        }
        CliCommand::Edits(EditingCommand::Format(format)) => {
            let spans = format.files.iter().filter_map(|file| tool_call::parse_span(file, cwd).ok());
            return Some(AskedAbout::Paths(spans.map(|span| span.path).collect()));
        }
        CliCommand::Edits(EditingCommand::Fix(fix)) => return Some(AskedAbout::Paths(fix.paths.clone())),
        CliCommand::Tools(ToolsCommand::Call(call)) => return tools::call_subject(call),
        _ => return None,
    };
    Some(match parse_target(address, cwd).ok()? {
        Target::Name(_) => AskedAbout::Name,
        target => AskedAbout::Paths(vec![path_of(&target).ok()?.to_owned()]),
    })
}

/// The reply of a failed call.
pub(super) fn failure_reply(error: &ToolError, format: CliOutputFormat, console: &Console) -> Reply {
    let status = exit::of_error(error);
    if format == CliOutputFormat::Json
        && let Ok(out) = json::render(error, &console.out)
    {
        return Reply { out, lines: Vec::new(), status };
    }
    Reply { out: String::new(), lines: verdict::error(error, &console.err), status }
}

/// Creates the reply of an answer. `text` renders it for users, and `nothing` is the note if that
/// is empty.
fn answer_reply<T: Serialize + GradedOutput + HasPaths>(
    cli: CliContext<'_>,
    mut answer: Answer<T>,
    text: impl FnOnce(&T) -> String,
    nothing: &str,
) -> Result<Reply, ToolError> {
    if cli.format == CliOutputFormat::Json {
        let status = exit::of_answer(&answer);
        return Ok(Reply { out: as_json(&answer, cli)?, lines: Vec::new(), status });
    }
    cli.paths.respell(&mut answer);
    let out = text(&answer.output);
    Ok(reply_with_verdict(cli, &answer, out, nothing))
}

/// Creates the reply of an answer with the text `out`.
fn reply_with_verdict<T: GradedOutput>(
    cli: CliContext<'_>,
    answer: &Answer<T>,
    out: String,
    nothing: &str,
) -> Reply {
    let mut lines = verdict::lines(answer, &cli.console.err);
    // If no server answered, the verdict states it already.
    if out.is_empty() && answer.verdict != Verdict::NoData {
        lines.push(nothing.to_owned());
    }
    Reply { out, lines, status: exit::of_answer(answer) }
}

/// Creates the reply of a call or type hierarchy. `nothing` is the note if no such symbol is at the
/// position.
fn hierarchy_reply(
    cli: CliContext<'_>,
    answer: Answer<HierarchyOutput>,
    nothing: &str,
) -> Result<Reply, ToolError> {
    let display = &cli.console.out;
    let lonely = !answer.output.items.is_empty() && answer.output.count == 0;
    let total = hierarchy::count_sentence(&answer.output);
    let mut reply = answer_reply(cli, answer, |output| hierarchy::render(output, display), nothing)?;
    if lonely && !display.terminal && cli.format == CliOutputFormat::Text {
        reply.lines.push(total);
    }
    Ok(reply)
}

/// Creates the reply of an output without a server.
fn output_reply<T: Serialize>(
    cli: CliContext<'_>,
    output: &T,
    status: CliExitStatus,
    text: impl FnOnce(&T) -> String,
) -> Result<Reply, ToolError> {
    let out = if cli.format == CliOutputFormat::Json { as_json(output, cli)? } else { text(output) };
    Ok(Reply { out, lines: Vec::new(), status })
}

fn as_json<T: Serialize>(output: &T, cli: CliContext<'_>) -> Result<String, ToolError> {
    json::render(output, &cli.console.out).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the answer cannot be written as JSON: {error}"))
    })
}

/// Parses the target `given`. An existing folder does not count as a file.
fn parse_target(given: &OsStr, cwd: &Path) -> Result<Target, ToolError> {
    Ok(place_address::parse(given, is_file_in(cwd))?)
}

/// Parses the position or name `given`. A whole file is an error.
fn parse_place(given: &OsStr, cwd: &Path) -> Result<Target, ToolError> {
    place_address::parse_place(given, is_file_in(cwd))
}

/// Returns a predicate for existing paths relative to `cwd` that are not folders.
fn is_file_in(cwd: &Path) -> impl Fn(&Path) -> bool {
    move |path| cwd.join(path).metadata().is_ok_and(|metadata| !metadata.is_dir())
}

/// Parses the position in a file `given`. A name alone is an error.
fn place_in_file(given: &OsStr, cwd: &Path) -> Result<Target, ToolError> {
    match parse_place(given, cwd)? {
        Target::Name(name) => {
            let error = format!("{name} is not a position in a file (nor an existing file)");
            let hint = "give FILE:LINE:COL or FILE:LINE:NAME, counted from 1";
            Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint))
        }
        target => Ok(target),
    }
}

#[cfg(test)]
mod tests;
