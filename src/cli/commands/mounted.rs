//! The commands `mcp list`, `show`, `call`, `approve` and `doctor`, about mounted MCP servers.

use serde_json::{Value, json};

use super::{CliContext, Reply, output_reply, tool_call};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::doors::{MountedCall, MountedServersCommand};
use crate::cli::exit::CliExitStatus;
use crate::cli::render::setup::mounted as render;
use crate::tools::api::source::{MountedServer, ToolSourceOutcome};
use crate::tools::api::trace::{TraceContext, with_trace};

/// Runs `mcp list` and its sibling commands.
pub(super) async fn run(mounted: MountedServersCommand, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    match mounted {
        MountedServersCommand::List => list(cli).await,
        MountedServersCommand::Show { name } => show(&name, cli).await,
        MountedServersCommand::Call(arguments) => call(arguments, cli).await,
        MountedServersCommand::Approve { name } => approve(&name, cli).await,
        MountedServersCommand::Doctor { name } => doctor(name.as_deref(), cli).await,
    }
}

async fn list(cli: CliContext<'_>) -> Result<Reply, ToolError> {
    cli.runtime.wait_for_sources().await;
    let servers: Vec<MountedServer> =
        cli.runtime.sources().iter().flat_map(|source| source.mounted()).collect();
    let left_out: Vec<String> = cli.runtime.mounts_left_out().to_vec();
    let output = json!({"ok": true, "servers": servers, "left_out": left_out});
    let status = if servers.is_empty() { CliExitStatus::Unpleasant } else { CliExitStatus::Answered };
    let mut reply = output_reply(cli, &output, status, |_| render::list(&servers, &cli.console.out))?;
    if cli.format == crate::cli::args::CliOutputFormat::Text {
        if servers.is_empty() {
            reply
                .lines
                .push("no MCP server is mounted; [mcp.servers.NAME] in lsp-tools.toml mounts one".to_owned());
        }
        reply.lines.extend(
            left_out
                .iter()
                .map(|what| format!("warning: {}", crate::cli::render::terminal::escape::words(what))),
        );
    }
    Ok(reply)
}

async fn show(name: &str, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let mut last = None;
    for source in cli.runtime.sources() {
        match source.refresh(name).await {
            Ok(server) => {
                let output = json!({"ok": true, "server": server});
                return output_reply(cli, &output, CliExitStatus::Answered, |_| {
                    render::one(&server, &cli.console.out)
                });
            }
            // Knowledge from earlier connections is an answer as well.
            Err(error) => {
                last = Some(source.mounted().into_iter().find(|server| server.name == name).ok_or(error))
            }
        }
    }
    let server = last.unwrap_or_else(|| Err(nothing_mounted()))?;
    let output = json!({"ok": true, "server": server});
    output_reply(cli, &output, CliExitStatus::Failed, |_| render::one(&server, &cli.console.out))
}

async fn call(arguments: MountedCall, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let text = match arguments.arguments.as_deref() {
        None => "{}".to_owned(),
        Some("-") => cli.input.text("the arguments").await?,
        Some(text) => text.to_owned(),
    };
    let given: Value = serde_json::from_str(&text).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("the arguments are not JSON: {error}"))
            .with_hint("give one object in single quotes: '{\"path\": \"src/main.rs\"}'")
    })?;
    if !arguments.name.contains('/') {
        let error = format!("`{}` is not a tool of a mounted server", arguments.name.escape_debug());
        return Err(ToolError::new(ErrorCode::InvalidArgs, error)
            .with_hint("give SERVER/TOOL; others: lsp-tools tools call"));
    }
    let variable = |name: &str| std::env::var(name).ok();
    let trace = variable("TRACEPARENT")
        .and_then(|parent| TraceContext::new(&parent, variable("TRACESTATE").as_deref()))
        .map(|trace| trace.with_baggage(variable("BAGGAGE").as_deref()));
    tool_call::raw_reply(&with_trace(trace, tool_call::call_tool(cli, &arguments.name, given)).await, cli)
}

async fn approve(name: &str, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let mut last = Err(nothing_mounted());
    for source in cli.runtime.sources() {
        last = source.approve(name).await;
        if last.is_ok() {
            break;
        }
    }
    let held = last?;
    let output = json!({"ok": true, "approved": held});
    let mut reply = output_reply(cli, &output, CliExitStatus::Answered, |_| {
        render::render_approved(&held, &cli.console.out)
    })?;
    if held.is_empty() && cli.format == crate::cli::args::CliOutputFormat::Text {
        reply.lines.push("nothing was held back".to_owned());
    }
    Ok(reply)
}

async fn doctor(name: Option<&str>, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let mut findings = Vec::new();
    for source in cli.runtime.sources() {
        findings.extend(source.examine(name).await?);
    }
    if findings.is_empty() {
        return Err(nothing_mounted());
    }
    let fault = findings.iter().any(|finding| finding.outcome == ToolSourceOutcome::Fault);
    let output = json!({"ok": !fault, "findings": findings});
    let status = if fault { CliExitStatus::Unpleasant } else { CliExitStatus::Answered };
    output_reply(cli, &output, status, |_| render::findings(&findings, &cli.console.out))
}

fn nothing_mounted() -> ToolError {
    ToolError::nothing_found("no MCP server is mounted").with_hint(
        "[mcp.servers.NAME] in lsp-tools.toml mounts one; so does a file that `files` under [mcp] lists",
    )
}
