//! The reply of commands that edit files.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::analysis::error::ToolError;
use crate::cli::args::edits::EditOptionArgs;
use crate::cli::commands::tool_call::call_and_render;
use crate::cli::commands::{CliContext, Reply};
use crate::cli::render::edits::{self as render, EditAnswerView, EditRequestFlags};

/// Calls an editing tool with these options.
pub(super) async fn run_edit(
    cli: CliContext<'_>,
    name: &str,
    mut arguments: Value,
    options: EditOptionArgs,
) -> Result<Reply, ToolError> {
    arguments["dry_run"] = json!(options.dry_run);
    arguments["diagnostics"] = json!(options.diagnostics_flag());
    let flags = EditRequestFlags { dry_run: options.dry_run, diagnostics: options.diagnostics };
    call_and_render(cli, name, arguments, |edited: EditAnswerView| edit_reply(edited, flags, cli)).await
}

/// Renders an edit as a reply.
pub(super) fn edit_reply(mut edited: EditAnswerView, flags: EditRequestFlags, cli: CliContext<'_>) -> Reply {
    let mut before = HashMap::new();
    edited.each_path(&mut |path| {
        let shown = cli.paths.display_path(path);
        before.insert(shown.clone(), std::mem::replace(path, shown));
    });
    let read_line =
        |path: &str, line| cli.runtime.read_line(before.get(path).map_or(path, String::as_str), line);
    render::render(&edited, flags, &cli.console.out, &read_line)
}
