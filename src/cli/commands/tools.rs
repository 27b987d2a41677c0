//! `tools`

use std::io::Read;

use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Door, Reply, as_json, told};
use crate::cli::args::Format;
use crate::cli::args::tools::{Call, Chosen, Show, Tools};
use crate::cli::exit::{self, Status};
use crate::cli::render::{escape, tools as render, verdict};
use crate::policy::approval::NobodyToAsk;
use crate::policy::caller::CallerAccess;
use crate::runtime::call::CallRequest;
use crate::tools::drop_in::LeftOut;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::export::{Format as List, export};
use crate::tools::result::ToolResult;
use crate::tools::tool::{Caller, Card, Definition};

/// The most that is read from stdin as arguments.
const MOST_BYTES: u64 = 64 << 20;

/// What `tools list` says of a tool.
#[derive(Debug, Serialize)]
struct Item<'a> {
    name: &'a str,
    title: &'a str,
    effect: &'static str,
    description: &'a str,
}

/// Looks at the tools, or calls one.
pub async fn run(arguments: Tools, door: Door<'_>) -> Result<Reply, ToolError> {
    match arguments {
        Tools::List(chosen) => list(&chosen, door),
        Tools::Show(arguments) => show(&arguments, door),
        Tools::Schema(chosen) => schema(&chosen, door),
        Tools::Call(arguments) => call(arguments, door).await,
    }
}

fn definitions(chosen: &Chosen, door: Door<'_>) -> Vec<Definition> {
    let access = CallerAccess { profile: chosen.profile.map(Into::into), ..CallerAccess::typed() };
    door.runtime.definitions(&Caller { access, ..Caller::at_shell() })
}

fn list(chosen: &Chosen, door: Door<'_>) -> Result<Reply, ToolError> {
    let (definitions, left_out) = (definitions(chosen, door), door.runtime.left_out_tools());
    let tools: Vec<Item<'_>> = definitions.iter().map(|definition| item(&definition.card)).collect();
    let output = json!({"ok": true, "tools": tools, "left_out": left_out});
    let look = &door.console.out;
    let mut reply = told(door, &output, Status::Answered, |_| render::list(&definitions, look))?;
    if output["left_out"].as_array().is_some_and(|left_out| !left_out.is_empty())
        && door.format == Format::Text
    {
        reply.lines.extend(left_out.iter().map(warning));
    }
    Ok(reply)
}

fn item(card: &Card) -> Item<'_> {
    Item {
        name: &card.name,
        title: &card.title,
        effect: card.effect.as_str(),
        description: &card.description,
    }
}

fn warning(left_out: &LeftOut) -> String {
    format!("warning: {} is no tool: {}", escape::words(&left_out.file), escape::words(&left_out.why))
}

fn show(arguments: &Show, door: Door<'_>) -> Result<Reply, ToolError> {
    let tools = door.runtime.tools();
    let definition = tools.get(&arguments.name)?.definition();
    if let Some(format) = door.format.tool_list() {
        let exported = export(format, [definition])?;
        return written(&exported.tools.first().cloned().unwrap_or_default(), door);
    }
    let card = &definition.card;
    let output = json!({
        "ok": true, "name": card.name, "title": card.title, "description": card.description,
        "effect": card.effect, "destructive": card.destructive, "idempotent": card.idempotent,
        "input": definition.input.as_value(), "output": definition.output,
    });
    told(door, &output, Status::Answered, |_| render::one(definition, &door.console.out))
}

fn schema(chosen: &Chosen, door: Door<'_>) -> Result<Reply, ToolError> {
    let format = door.format.tool_list().unwrap_or(List::Mcp);
    written(&export(format, &definitions(chosen, door))?.document(), door)
}

fn written(value: &Value, door: Door<'_>) -> Result<Reply, ToolError> {
    Ok(Reply { out: as_json(value, door)?, lines: Vec::new(), status: Status::Answered })
}

async fn call(arguments: Call, door: Door<'_>) -> Result<Reply, ToolError> {
    let Call { name, arguments } = arguments;
    let text = match arguments.as_deref() {
        None => "{}".to_owned(),
        Some("-") => from_stdin().await?,
        Some(text) => text.to_owned(),
    };
    let arguments = serde_json::from_str(&text).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("the arguments are not JSON: {error}"))
            .with_hint("give one object in single quotes: '{\"path\": \"src/main.rs\"}'")
    })?;
    let caller = Caller::at_shell();
    let request = CallRequest {
        name: &name,
        arguments,
        caller: &caller,
        // Who types a tool's name has agreed to it already.
        approver: &NobodyToAsk,
        group: None,
        cancelled: CancellationToken::new(),
    };
    let result = door.runtime.call(request).await;
    shown(&result, door)
}

fn shown(result: &ToolResult, door: Door<'_>) -> Result<Reply, ToolError> {
    let status = exit::of_result(result);
    if door.format == Format::Json {
        return Ok(Reply { out: as_json(&result.value, door)?, lines: Vec::new(), status });
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
            verdict::error(&error, &door.console.err)
        }
        None => Vec::new(),
    };
    // What is more than a sentence and a hint is an answer of its own, as of a command that failed.
    let more = result.value.as_object().is_some_and(|answer| {
        answer.keys().any(|key| !matches!(key.as_str(), "ok" | "code" | "error" | "hint" | "text"))
    });
    let out = if more { render::pretty(&result.value) } else { String::new() };
    Ok(Reply { out, lines, status })
}

async fn from_stdin() -> Result<String, ToolError> {
    let read = tokio::task::spawn_blocking(|| {
        let mut text = String::new();
        std::io::stdin().lock().take(MOST_BYTES).read_to_string(&mut text).map(|_| text)
    });
    let failed = |error: &dyn std::fmt::Display| {
        ToolError::new(ErrorCode::InvalidArgs, format!("the arguments cannot be read from stdin: {error}"))
    };
    read.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}
