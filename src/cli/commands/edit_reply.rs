//! The reply of commands that edit files.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::called::reply;
use super::{CliContext, Reply};
use crate::cli::args::edits::EditOptionArgs;
use crate::cli::render::edits::{self as render, EditAnswerView, EditRequestFlags};
use crate::tools::error::ToolError;

/// Calls a tool that edits, in this manner.
pub(super) async fn edited(
    door: CliContext<'_>,
    name: &str,
    mut arguments: Value,
    manner: EditOptionArgs,
) -> Result<Reply, ToolError> {
    arguments["dry_run"] = json!(manner.dry_run);
    arguments["diagnostics"] = json!(manner.wish());
    let asked = EditRequestFlags { dry_run: manner.dry_run, diagnostics: manner.diagnostics };
    reply(door, name, arguments, |edited: EditAnswerView| shown(edited, asked, door)).await
}

/// An edit as it looks.
pub(super) fn shown(mut edited: EditAnswerView, asked: EditRequestFlags, door: CliContext<'_>) -> Reply {
    let mut before = HashMap::new();
    edited.each_path(&mut |path| {
        let shown = door.paths.shown(path);
        before.insert(shown.clone(), std::mem::replace(path, shown));
    });
    let read_line =
        |path: &str, line| door.runtime.read_line(before.get(path).map_or(path, String::as_str), line);
    render::render(&edited, asked, &door.console.out, &read_line)
}
