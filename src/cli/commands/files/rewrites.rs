//! The commands `rename`, `actions`, `format` and `fix`, whose edits language servers make.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::{Value, json};

use super::edit_reply::{edit_reply, run_edit};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::target::Target;
use crate::cli::args::edits::{ActionsCommandArgs, FixCommandArgs, FormatFiles, RenameCommandArgs};
use crate::cli::commands::tool_call;
use crate::cli::commands::tool_call::{call_and_render, path};
use crate::cli::commands::{CliContext, Reply, parse_place, place_in_file};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::edits::{self as render, EditAnswerView, EditRequestFlags};
use crate::cli::span::SpanLines;
use crate::tools::edit::lsp_code_actions::CodeActionsOutput;

/// Renames a symbol.
pub(super) async fn rename(arguments: &RenameCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let mut given = match parse_place(&arguments.at.address, cli.cwd)? {
        Target::Position { path: file, position } => {
            json!({"path": path(&file)?, "line": position.line, "character": position.character})
        }
        Target::NameOnLine { path: file, line0, name } => {
            json!({"path": path(&file)?, "line": line0, "symbol": name})
        }
        Target::NameInFile { path: file, name } => json!({"path": path(&file)?, "symbol": name}),
        Target::Name(name) => json!({"symbol": name}),
        Target::File(file) => json!({"path": path(&file)?}),
    };
    given["new_name"] = json!(arguments.new_name);
    run_edit(cli, "lsp_rename", given, arguments.manner).await
}

/// Lists the available code actions, or applies one.
pub(super) async fn actions(arguments: ActionsCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let mut given = range(&arguments, cli.cwd)?;
    given["kind"] = json!(arguments.kind);
    if arguments.apply.is_some() {
        given["apply"] = json!(arguments.apply);
        return run_edit(cli, "lsp_code_actions", given, arguments.manner).await;
    }
    let display = &cli.console.out;
    call_and_render(cli, "lsp_code_actions", given, |offered: CodeActionsOutput| {
        render::actions(&offered, display)
    })
    .await
}

/// Returns the file and range for code actions.
fn range(arguments: &ActionsCommandArgs, cwd: &Path) -> Result<Value, ToolError> {
    let span = tool_call::parse_span(&arguments.address, cwd)?;
    let is_file = |file: &Path| cwd.join(file).is_file();
    match span.lines {
        Some(SpanLines { first, last }) if is_file(&span.path) => {
            // No file has more lines than this.
            let last = last.unwrap_or(u32::MAX);
            let end = (last > first).then_some(last - 1);
            Ok(json!({"path": path(&span.path)?, "line": first - 1, "end_line": end}))
        }
        None if is_file(&span.path) => Ok(json!({"path": path(&span.path)?})),
        _ => match place_in_file(&arguments.address, cwd)? {
            Target::Position { path: file, position } => {
                Ok(json!({"path": path(&file)?, "line": position.line, "character": position.character}))
            }
            // Code actions for a line include those for the names on it.
            Target::NameOnLine { path: file, line0, .. } => Ok(json!({"path": path(&file)?, "line": line0})),
            Target::NameInFile { path: file, .. } | Target::File(file) => {
                let error = format!("{}: the line is missing", file.display());
                let hint = "give FILE, FILE:LINE, FILE:LINE-LINE or FILE:LINE:COL, counted from 1";
                Err(ToolError::new(ErrorCode::InvalidArgs, error).with_hint(hint))
            }
            Target::Name(name) => {
                let error = format!("{name} is not a position in a file");
                Err(ToolError::new(ErrorCode::InvalidArgs, error))
            }
        },
    }
}

/// Formats files one after the other. The exit status is the highest of them.
pub(super) async fn format(arguments: FormatFiles, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let flags = EditRequestFlags { dry_run: arguments.dry_run || arguments.check, diagnostics: false };
    let mut whole = Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Answered };
    let mut files = Vec::new();
    for given in &arguments.files {
        files.extend(files_of(given, cli)?);
    }
    for file in &files {
        let span = tool_call::parse_span(file, cli.cwd)?;
        let lines = span
            .lines
            .map(|SpanLines { first, last }| (first - 1, last.map_or(u32::MAX - 1, |last| last - 1)));
        let given = json!({
            "path": path(&span.path)?, "dry_run": flags.dry_run,
            "start_line": lines.map(|(first, _)| first), "end_line": lines.map(|(_, last)| last),
        });
        let one = |edited: EditAnswerView| {
            let changes_something = edited.changes_something();
            let mut reply = edit_reply(edited, flags, cli);
            if !changes_something {
                reply.lines = vec![format!("{} is formatted already", span.path.display())];
            } else if arguments.check {
                reply.status = CliExitStatus::Unpleasant;
                reply.lines = vec![format!("{} is not formatted", span.path.display())];
            }
            reply
        };
        let reply = call_and_render(cli, "lsp_format", given, one).await?;
        whole.out.push_str(&reply.out);
        // Removes duplicate messages of files that no server formats.
        whole
            .lines
            .extend(reply.lines.into_iter().filter(|line| !whole.lines.contains(line)).collect::<Vec<_>>());
        if reply.status.code() > whole.status.code() {
            whole.status = reply.status;
        }
    }
    Ok(whole)
}

/// Applies one kind of code action to whole files.
pub(super) async fn fix(arguments: FixCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let paths = arguments.paths.iter().map(|given| path(given)).collect::<Result<Vec<_>, _>>()?;
    let FixCommandArgs { kind, rule, title, manner, .. } = arguments;
    run_edit(cli, "fix", json!({"kind": kind, "rule": rule, "title": title, "paths": paths}), manner).await
}

/// Returns the files of a folder that an available server can format. A file, or lines of one,
/// stays unchanged.
fn files_of(given: &OsStr, cli: CliContext<'_>) -> Result<Vec<OsString>, ToolError> {
    let folder = Path::new(given);
    if !cli.cwd.join(folder).is_dir() {
        return Ok(vec![given.to_owned()]);
    }
    let files = cli.runtime.files_to_format(folder)?;
    if files.is_empty() {
        let error = format!("{} has no file that an installed server formats", folder.display());
        return Err(ToolError::nothing_found(error).with_hint("lsp-tools servers lists the installed ones"));
    }
    Ok(files.iter().map(|file| cli.paths.display_path(&file.display()).into()).collect())
}
