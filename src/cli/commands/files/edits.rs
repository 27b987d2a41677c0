//! The commands `edit`, `write`, `patch`, `move`, `delete` and `undo`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::edit_reply::{edit_reply, run_edit};
use super::rewrites;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::edits::{
    DeleteCommandArgs, EditCommandArgs, EditOptionArgs, EditingCommand, MoveCommandArgs, PatchCommandArgs,
    SymbolEditArgs, UndoCommandArgs, WriteCommandArgs,
};
use crate::cli::commands::tool_call::{call_and_render, path};
use crate::cli::commands::{CliContext, Reply, parse_place};
use crate::cli::input::named_file;
use crate::cli::render::edits::{self as render, EditAnswerView, EditRequestFlags};
use crate::platform::canonicalize;
use crate::tools::api::address::Address;
use crate::tools::edit::undo::UndoOutput;

/// Runs a command that changes files.
pub(crate) async fn run(command: EditingCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    match command {
        EditingCommand::Edit(arguments) => edit(arguments, cli).await,
        EditingCommand::Write(arguments) => write(arguments, cli).await,
        EditingCommand::Patch(arguments) => patch(arguments, cli).await,
        EditingCommand::Move(arguments) => move_file(arguments, cli).await,
        EditingCommand::Delete(arguments) => delete(arguments, cli).await,
        EditingCommand::Undo(arguments) => undo(arguments, cli).await,
        EditingCommand::Rename(arguments) => rewrites::rename(&arguments, cli).await,
        EditingCommand::Actions(arguments) => rewrites::actions(arguments, cli).await,
        EditingCommand::Format(arguments) => rewrites::format(arguments, cli).await,
        EditingCommand::Fix(arguments) => rewrites::fix(arguments, cli).await,
    }
}

async fn edit(arguments: EditCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let EditCommandArgs { address, old, new, all, of_symbol, manner } = arguments;
    if let Some(edit) = of_symbol {
        return edit_symbol(&address, edit, manner, cli).await;
    }
    let file = PathBuf::from(address);
    if old.len() != new.len() {
        let error = format!("every --old needs its --new: {} and {} were given", old.len(), new.len());
        return Err(ToolError::new(ErrorCode::InvalidArgs, error));
    }
    let pairs = old.iter().zip(&new);
    let edits: Vec<Value> = pairs.map(|(old, new)| json!({"old": old, "new": new, "all": all})).collect();
    run_edit(cli, "edit", json!({"path": path(&file)?, "edits": edits}), manner).await
}

async fn edit_symbol(
    address: &OsStr,
    edit: SymbolEditArgs,
    manner: EditOptionArgs,
    cli: CliContext<'_>,
) -> Result<Reply, ToolError> {
    let address = Address::from(parse_place(address, cli.cwd)?);
    let mut given = serde_json::to_value(address).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("the address cannot be written as JSON: {error}"))
    })?;
    if let Some(to) = edit.to {
        given["to"] = json!(path(&to)?);
        return run_edit(cli, "move_symbol", given, manner).await;
    }
    for (name, text) in [("body", edit.body), ("before", edit.before), ("after", edit.after)] {
        given[name] = match text {
            Some(text) if text == "-" => json!(cli.input.text("the code").await?),
            text => json!(text),
        };
    }
    given["delete"] = json!(edit.delete.then_some(true));
    run_edit(cli, "edit_symbol", given, manner).await
}

async fn write(arguments: WriteCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let content = match arguments.content {
        Some(content) => content,
        None => cli.input.text("the text").await?,
    };
    let given = json!({"path": path(&arguments.file)?, "content": content});
    run_edit(cli, "write", given, arguments.manner).await
}

async fn patch(arguments: PatchCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let text = match arguments.file.as_deref().filter(|file| *file != Path::new("-")) {
        None => cli.input.text("the patch").await?,
        Some(file) => from_file(cli.cwd.join(file)).await?,
    };
    run_edit(cli, "patch", json!({"patch": text}), arguments.manner).await
}

/// Reads the patch from a file named on the command line, which may be anywhere.
async fn from_file(file: PathBuf) -> Result<String, ToolError> {
    let from = file.clone();
    let read = tokio::task::spawn_blocking(move || named_file(&from)).await;
    read.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(|error| {
        let what = format!("the patch {} cannot be read: {error}", file.display());
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::InvalidArgs,
        };
        ToolError::new(code, what)
    })
}

async fn move_file(arguments: MoveCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let MoveCommandArgs { from, mut to, overwrite, no_imports, manner } = arguments;
    let [source, target] = [&from, &to].map(|path| cli.cwd.join(path));
    // On some file systems, a folder whose name differs in case alone is the source itself.
    let is_source = || !source.is_symlink() && canonicalize(&source).ok() == canonicalize(&target).ok();
    if target.is_dir()
        && !is_source()
        && let Some(name) = from.file_name()
    {
        to.push(name);
    }
    let given = json!({
        "from": path(&from)?, "to": path(&to)?, "overwrite": overwrite, "update_imports": !no_imports,
    });
    run_edit(cli, "move", given, manner).await
}

async fn delete(arguments: DeleteCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let given = json!({"path": path(&arguments.path)?, "recursive": arguments.recursive});
    run_edit(cli, "delete", given, arguments.manner).await
}

async fn undo(arguments: UndoCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    if arguments.list {
        let display = &cli.console.out;
        let shown = |mut history: UndoOutput| {
            render::each_past_path(&mut history, &mut |path| *path = cli.paths.display_path(path));
            render::history(&history, display)
        };
        return call_and_render(cli, "undo", json!({"list": true}), shown).await;
    }
    let given = json!({"id": arguments.id, "group": arguments.group});
    let flags = EditRequestFlags { dry_run: false, diagnostics: false };
    call_and_render(cli, "undo", given, |edited: EditAnswerView| edit_reply(edited, flags, cli)).await
}
