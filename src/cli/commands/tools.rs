//! The command `tools`.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use super::{CliContext, Reply, as_json, output_reply, tool_call};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::CliOutputFormat;
use crate::cli::args::tools::{ToolProfileArgs, ToolsCallArgs, ToolsCommand, ToolsShowArgs};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::tools as render;
use crate::cli::render::terminal::escape;
use crate::policy::caller::CallerAccess;
use crate::runtime::startup_hints::AskedAbout;
use crate::tools::api::export::{ToolListFormat as List, export};
use crate::tools::api::source::OmittedTool;
use crate::tools::api::tool::{Caller, Card, ToolDefinition};

/// An entry of `tools list`.
#[derive(Debug, Serialize)]
struct ToolsListItem<'a> {
    name: &'a str,
    title: &'a str,
    effect: &'static str,
    description: &'a str,
}

/// Lists or shows the tools, or calls one.
pub(super) async fn run(arguments: ToolsCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    // The list is printed once, so mounted servers get time to report their tools.
    if !matches!(arguments, ToolsCommand::Call(_)) {
        cli.runtime.wait_for_sources().await;
    }
    match arguments {
        ToolsCommand::List(chosen) => list(&chosen, cli),
        ToolsCommand::Show(arguments) => show(&arguments, cli),
        ToolsCommand::Schema(chosen) => schema(&chosen, cli),
        ToolsCommand::Call(arguments) => call(arguments, cli).await,
    }
}

/// Tools that use language servers, besides those with the prefix in their names.
const TOOLS_WITH_SERVERS: [&str; 4] = ["explore", "fix", "edit_symbol", "move_symbol"];

/// Returns the subject of a call by name, as far as its arguments determine it. Returns `None` for
/// a tool that uses no server.
pub(super) fn call_subject(call: &ToolsCallArgs) -> Option<AskedAbout> {
    if !call.name.starts_with("lsp_") && !TOOLS_WITH_SERVERS.contains(&call.name.as_str()) {
        return None;
    }
    let arguments = call.arguments.as_deref().map(serde_json::from_str::<Value>);
    let arguments = arguments.and_then(Result::ok).unwrap_or_default();
    let several = arguments["paths"].as_array().into_iter().flatten();
    let paths = several.chain([&arguments["path"]]).filter_map(Value::as_str);
    let paths: Vec<PathBuf> = paths.filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    let is_named = ["symbol", "query"].iter().any(|key| arguments[*key].is_string());
    Some(match paths.is_empty() {
        false => AskedAbout::Paths(paths),
        true if is_named => AskedAbout::Name,
        true => AskedAbout::Workspace,
    })
}

fn definitions(chosen: &ToolProfileArgs, cli: CliContext<'_>) -> Vec<ToolDefinition> {
    let access = CallerAccess { profile: chosen.profile.map(Into::into), ..CallerAccess::typed() };
    cli.runtime.definitions(&Caller { access, ..Caller::at_shell() })
}

fn list(chosen: &ToolProfileArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let (definitions, left_out) = (definitions(chosen, cli), cli.runtime.left_out_tools());
    let tools: Vec<ToolsListItem<'_>> = definitions.iter().map(|definition| item(&definition.card)).collect();
    let output = json!({"ok": true, "tools": tools, "left_out": left_out});
    let display = &cli.console.out;
    let mut reply =
        output_reply(cli, &output, CliExitStatus::Answered, |_| render::list(&definitions, display))?;
    if output["left_out"].as_array().is_some_and(|left_out| !left_out.is_empty())
        && cli.format == CliOutputFormat::Text
    {
        reply.lines.extend(left_out.iter().map(warning));
    }
    Ok(reply)
}

fn item(card: &Card) -> ToolsListItem<'_> {
    ToolsListItem {
        name: &card.name,
        title: &card.title,
        effect: card.effect.as_str(),
        description: &card.description,
    }
}

fn warning(left_out: &OmittedTool) -> String {
    format!("warning: {} is not a tool: {}", escape::words(&left_out.file), escape::words(&left_out.why))
}

fn show(arguments: &ToolsShowArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let tools = cli.runtime.tools();
    let definition = tools.get(&cli.runtime.own_name(&arguments.name))?.definition();
    if let Some(format) = cli.format.tool_list() {
        let exported = export(format, [definition])?;
        return json_reply(&exported.tools.first().cloned().unwrap_or_default(), cli);
    }
    let card = &definition.card;
    let output = json!({
        "ok": true, "name": card.name, "title": card.title, "description": card.description,
        "effect": card.effect, "destructive": card.destructive, "idempotent": card.idempotent,
        "input": definition.input.as_value(), "output": definition.output_schema(),
    });
    output_reply(cli, &output, CliExitStatus::Answered, |_| render::one(definition, &cli.console.out))
}

fn schema(chosen: &ToolProfileArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let format = cli.format.tool_list().unwrap_or(List::Mcp);
    json_reply(&export(format, &definitions(chosen, cli))?.document(), cli)
}

fn json_reply(value: &Value, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    Ok(Reply { out: as_json(value, cli)?, lines: Vec::new(), status: CliExitStatus::Answered })
}

async fn call(arguments: ToolsCallArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let ToolsCallArgs { name, arguments } = arguments;
    let text = match arguments.as_deref() {
        None => "{}".to_owned(),
        Some("-") => cli.input.text("the arguments").await?,
        Some(text) => text.to_owned(),
    };
    let arguments = serde_json::from_str(&text).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("the arguments are not JSON: {error}"))
            .with_hint("give one object in single quotes: '{\"path\": \"src/main.rs\"}'")
    })?;
    let runtime = cli.runtime.called_by_name();
    let cli = CliContext { runtime: &runtime, ..cli };
    tool_call::raw_reply(&tool_call::call_tool(cli, &name, arguments).await, cli)
}
