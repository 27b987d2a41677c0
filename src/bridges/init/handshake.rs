//! A check of a host's entry: starts its command once, as the host will, and lists its tools.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::host::{HostSetupRequest, server_arguments};
use crate::process::{Exchange, ProgramPath, Spawn, Spawner, exchange};
use crate::workspace::Workspace;

/// The time limit for the server to start and to list its tools.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);
/// The limit on the server's output, in bytes; a list of all tools is smaller.
const MAX_OUTPUT_BYTES: usize = 4 << 20;
/// The revision of MCP that every host supports.
const PROTOCOL_VERSION: &str = "2025-06-18";

/// Starts the command of the entry that `request` makes, and returns the names of the tools that
/// the host will receive. Starts no daemon. Errors: one sentence with the command.
pub(crate) async fn handshake(
    spawner: &Spawner,
    request: &HostSetupRequest,
    workspace: &Workspace,
) -> Result<Vec<String>, String> {
    let command = format!("{} {}", request.program, server_arguments(request).join(" "));
    let program = match request.program.contains('/') {
        true => Some(PathBuf::from(&request.program)),
        false => ProgramPath::of_user(workspace).find(&request.program),
    };
    let program = program.ok_or_else(|| format!("`{command}` was not started: it is not on PATH"))?;
    let arguments = std::iter::once("--no-daemon".to_owned()).chain(server_arguments(request));
    let spawn = Spawn {
        name: "lsp-tools mcp".to_owned(),
        program,
        args: arguments.map(Into::into).collect(),
        env: std::env::vars_os().collect(),
        cwd: workspace.root().to_owned(),
        pins: Vec::new(),
    };
    let client = json!({"name": "lsp-tools init", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    let input = messages.map(|message| format!("{message}\n")).concat();
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
    let given = Exchange { input: input.as_bytes(), most_bytes: MAX_OUTPUT_BYTES, deadline };
    let mut last = None;
    let outcome = exchange(spawner, spawn, given, |line| last = Some(line.to_owned())).await;
    let outcome = outcome.map_err(|error| format!("`{command}` failed: {error}"))?;
    tools_in(&outcome.output).ok_or_else(|| {
        let last = last.map(|line| format!("; it wrote: {line}")).unwrap_or_default();
        format!("`{command}` ended with {} and listed no tools{last}", outcome.exit)
    })
}

/// Returns the names in the response to `tools/list`.
fn tools_in(output: &[u8]) -> Option<Vec<String>> {
    let lines = output.split(|byte| *byte == b'\n');
    let responses = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let list = responses.into_iter().find(|response| response["id"] == 2)?;
    let tools = list["result"]["tools"].as_array()?;
    Some(tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect())
}
