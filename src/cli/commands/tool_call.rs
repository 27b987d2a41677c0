//! Commands that call a tool by name and show its answer.

use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CliContext, Reply, as_json};
use crate::analysis::answer::LocationsOutput;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::approval::TerminalApprover;
use crate::cli::args::CliOutputFormat;
use crate::cli::exit;
use crate::cli::paths::{HasPaths, PathSpelling};
use crate::cli::render::setup::tools as render;
use crate::cli::render::terminal::escape;
use crate::cli::render::{locations, verdict};
use crate::cli::span::{self, Span};
use crate::runtime::calls::call::CallRequest;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::Caller;

/// The default folder of a command: the current one, or the workspace if that is elsewhere.
pub(super) fn default_folder(context: CliContext<'_>) -> Option<&'static str> {
    matches!(context.paths, PathSpelling::Inside(_)).then_some(".")
}

/// Calls a tool for the user of the command line.
pub(super) async fn call_tool(cli: CliContext<'_>, name: &str, arguments: Value) -> ToolResult {
    let caller = Caller::at_shell();
    // Typing a tool's name counts as approval, but a server behind it may ask further questions.
    let terminal = TerminalApprover::find();
    let request = CallRequest::new(name, arguments, &caller);
    match &terminal {
        Some(terminal) => cli.runtime.call(request.approved_by(terminal)).await,
        None => cli.runtime.call(request).await,
    }
}

/// Calls a tool. `shown` renders the answer and determines the exit status; an answer of another
/// form is printed unchanged.
pub(super) async fn call_and_render<T: DeserializeOwned>(
    cli: CliContext<'_>,
    name: &str,
    arguments: Value,
    shown: impl FnOnce(T) -> Reply,
) -> Result<Reply, ToolError> {
    let result = call_tool(cli, name, arguments).await;
    // An answer that a hook replaced is shown unchanged.
    let Some(parts) = parse_answer(&result) else { return raw_reply(&result, cli) };
    let reply = shown(parts);
    if cli.format == CliOutputFormat::Json {
        return Ok(Reply { out: as_json(&result.value, cli)?, lines: Vec::new(), status: reply.status });
    }
    Ok(reply)
}

/// Parses a successful answer. Returns `None` for a failure, and for an answer of another form.
pub(super) fn parse_answer<T: DeserializeOwned>(result: &ToolResult) -> Option<T> {
    if !result.ok() || result.text.is_some() {
        return None;
    }
    serde_json::from_value(result.value.clone()).ok()
}

/// Creates the reply of a result without further rendering.
pub(super) fn raw_reply(result: &ToolResult, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let status = exit::of_result(result);
    if cli.format == CliOutputFormat::Json {
        return Ok(Reply { out: as_json(&result.value, cli)?, lines: Vec::new(), status });
    }
    if result.ok() {
        let out = match &result.text {
            Some(text) => format!("{}\n", escape::block(text.trim_end())),
            None => render::pretty(&result.value),
        };
        return Ok(Reply { out, lines: Vec::new(), status });
    }
    let word = |key: &str| result.value.get(key).and_then(Value::as_str);
    let lines = match word("error").or(result.text.as_deref()) {
        Some(error) => {
            let error = ToolError::new(ErrorCode::Internal, error);
            let error = word("hint").map_or(error.clone(), |hint| error.with_hint(hint));
            verdict::error(&error, &cli.console.err)
        }
        None => Vec::new(),
    };
    // Fields beyond the error and the hint are an answer of their own, such as that of a failed
    // command.
    let more = result.value.as_object().is_some_and(|answer| {
        answer.keys().any(|key| !matches!(key.as_str(), "ok" | "code" | "error" | "hint" | "text"))
    });
    let out = match LocationsOutput::deserialize(&result.value) {
        Ok(mut places) => {
            places.each_path(&mut |path| *path = cli.paths.display_path(path));
            locations::render(&places, "place", &cli.console.out)
        }
        Err(_) if more => render::pretty(&result.value),
        Err(_) => String::new(),
    };
    Ok(Reply { out, lines, status })
}

/// Converts a path to an argument of a tool, which is JSON.
pub(super) fn path(given: &Path) -> Result<&str, ToolError> {
    given.to_str().ok_or_else(|| {
        let error = format!("{}: the name is not valid UTF-8", given.display());
        ToolError::new(ErrorCode::InvalidArgs, error)
    })
}

/// Parses `given` into a file and lines.
pub(super) fn parse_span(given: &OsStr, cwd: &Path) -> Result<Span, ToolError> {
    span::parse(given, |path| cwd.join(path).exists())
        .map_err(|error| ToolError::new(ErrorCode::InvalidArgs, error.to_string()))
}
