//! The request that creates a session: tools, agents, model and MCP servers.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::built_in::{self, LEFT_TO_THEM};
use super::error::HostError;
use super::options::HostOptions;
use super::provider::Provider;
use crate::runtime::Runtime;
use crate::tools::api::export::{ExportedNames, ToolListFormat, export};
use crate::tools::api::tool::{Caller, ToolDefinition};
use crate::workspace::{ReadError, Workspace};

/// The size limit of a file of MCP servers, in bytes.
const MAX_MCP_CONFIG_BYTES: u64 = 1 << 20;

/// The request that creates a session.
pub(super) struct HostSessionRequest {
    /// The parameters of `session.create`.
    pub(crate) session: Value,
    /// The names of our tools in the session.
    pub(crate) names: ExportedNames,
    /// Notes for the session's observer.
    pub(crate) notes: Vec<String>,
}

/// Builds the parameters of `session.create`. `definitions` are our tools, `tools` is the response
/// of `tools.list`.
pub(super) fn build_session_request(
    runtime: &Runtime,
    definitions: &[ToolDefinition],
    caller: &Caller,
    options: &HostOptions,
    provider: Provider,
    tools: &Value,
) -> Result<HostSessionRequest, HostError> {
    let ours: Vec<&ToolDefinition> =
        definitions.iter().filter(|tool| !LEFT_TO_THEM.contains(&tool.card.name.as_ref())).collect();
    let exported = export(ToolListFormat::Copilot, ours.iter().copied())?;
    let offered = |name: &str| exported.names.exported_name(name).is_some();
    let listed = tools.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let listed: Vec<&str> = listed.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
    let policy = runtime.policy().for_caller(&caller.access, None);
    let theirs = built_in::offered_names(&listed, |name, effect| policy.offers(name, effect), offered);
    let mut available = vec!["custom:*".to_owned()];
    available.extend(theirs.iter().map(|name| format!("builtin:{name}")));
    let mut session = json!({
        "clientName": "lsp-tools",
        "workingDirectory": runtime.workspace().root(),
        "streaming": options.streaming,
        "requestPermission": true,
        "hooks": true,
        "tools": exported.tools.iter().map(tool).collect::<Vec<_>>(),
        "customAgents": agents(runtime, caller, &ours, &exported.names, &theirs),
        "customAgentsLocalOnly": true,
        "envValueMode": "direct",
        "enableSessionTelemetry": false,
        // Commands from the repository require the owner's trust: hooks are run by us, and git not
        // at all.
        "enableFileHooks": false,
        "enableConfigDiscovery": false,
        "enableHostGitOperations": false,
    });
    if let Some(model) = provider.model {
        session["model"] = json!(model);
    }
    if let Some(provider) = provider.provider {
        session["provider"] = provider;
    }
    if let Some(file) = &options.mcp_config {
        session["mcpServers"] = Value::Object(servers(file)?);
        available.push("mcp:*".to_owned());
    }
    if let Some(resumed) = &options.resume {
        session["sessionId"] = json!(resumed);
    }
    if let Some(agent) = &options.agent {
        if !runtime.policy().agents().contains_key(agent) {
            let agent = agent.escape_debug();
            let what =
                format!("there is no agent `{agent}` in lsp-tools.toml, where it would be [agents.NAME]");
            return Err(HostError::Wish(what));
        }
        session["agent"] = json!(agent);
    }
    session["availableTools"] = json!(available);
    // These names exclude a tool from any source, including MCP servers.
    session["excludedTools"] =
        json!(caller.access.excluded.iter().filter(|name| plain(name)).collect::<Vec<_>>());
    let note = format!("{} tools of lsp-tools, and of the command line: {}", ours.len(), theirs.join(", "));
    Ok(HostSessionRequest { session, names: exported.names, notes: vec![note] })
}

/// Converts a tool to the command line's form. It replaces the command line's own tool of the same
/// name.
fn tool(exported: &Value) -> Value {
    json!({
        "name": built_in::session_name(exported["name"].as_str().unwrap_or_default()),
        "description": exported["description"],
        "parameters": exported["inputSchema"],
        "overridesBuiltInTool": true,
    })
}

/// Returns the agents of the settings, each with the tools that the rules permit.
fn agents(
    runtime: &Runtime,
    caller: &Caller,
    ours: &[&ToolDefinition],
    names: &ExportedNames,
    theirs: &[String],
) -> Vec<Value> {
    let agent = |(name, rules): (&String, &crate::policy::rules::AgentRules)| {
        let policy = runtime.policy().for_caller(&caller.access, Some(name));
        let own = ours.iter().filter(|tool| policy.lists(&tool.card.name, tool.card.effect));
        let mut tools: Vec<String> =
            own.filter_map(|tool| names.exported_name(&tool.card.name)).map(built_in::session_name).collect();
        let built_in = theirs.iter().filter(|name| policy.offers(name, built_in::effect_of(name)));
        tools.extend(built_in.cloned());
        let description = rules.description.clone().unwrap_or_else(|| name.clone());
        json!({
            "name": name,
            "description": description,
            "prompt": format!("You are the agent `{name}`. {description}"),
            "tools": tools,
        })
    };
    runtime.policy().agents().iter().map(agent).collect()
}

/// Reads `mcpServers` from a file unchanged. The command line starts these servers and expands
/// their references.
fn servers(file: &Path) -> Result<Map<String, Value>, HostError> {
    let invalid = |what: &str| HostError::Wish(format!("{}: {what}", file.display()));
    let text = Workspace::read_outside(file, MAX_MCP_CONFIG_BYTES).map_err(|error| match error {
        ReadError::TooLarge { .. } => invalid("it is too large for a list of MCP servers"),
        error => invalid(&error.reason()),
    })?;
    let mut whole: Value = serde_json::from_str(&text).map_err(|error| invalid(&error.to_string()))?;
    let Some(Value::Object(mut servers)) = whole.get_mut("mcpServers").map(Value::take) else {
        return Err(invalid("it has no object `mcpServers`"));
    };
    for (name, server) in &mut servers {
        if !plain(name) {
            return Err(invalid(&format!(
                "the name `{}` has other characters than letters, digits, - and _",
                name.escape_debug()
            )));
        }
        let kind = server.get("type").and_then(Value::as_str).unwrap_or("local");
        let needed = match kind {
            "local" | "stdio" => "command",
            "http" | "sse" => "url",
            _ => {
                return Err(invalid(&format!(
                    "`{name}` is of type `{}`, accepted: local, stdio, http, sse",
                    kind.escape_debug()
                )));
            }
        };
        if !server.get(needed).is_some_and(Value::is_string) {
            return Err(invalid(&format!("`{name}` has no `{needed}`")));
        }
        if server.get("tools").is_none() {
            server["tools"] = json!(["*"]);
        }
    }
    Ok(servers)
}

/// Returns true if the command line accepts this as a name.
fn plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_servers_file_is_passed_on_and_invalid_entry_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        let written = |value: &Value| {
            std::fs::write(&file, value.to_string()).unwrap();
            servers(&file).map_err(|error| error.to_string())
        };
        let one = json!({"command": "x", "env": {"A": "${HOME}"}, "timeout": 5000});
        let web = json!({"type": "http", "url": "http://localhost/mcp", "tools": []});
        let read = written(&json!({"mcpServers": {"one": one, "web": web.clone()}})).unwrap();
        assert_eq!(read["one"]["tools"], json!(["*"]));
        assert_eq!((&read["one"]["env"], &read["web"]), (&json!({"A": "${HOME}"}), &web));
        for (bad, wanted) in [
            (json!({}), "no object `mcpServers`"),
            (json!({"mcpServers": {"a b": one}}), "the name `a b`"),
            (json!({"mcpServers": {"a": {"type": "ws"}}}), "type `ws`"),
            (json!({"mcpServers": {"a": {"type": "http"}}}), "no `url`"),
            (json!({"mcpServers": {"a": {}}}), "no `command`"),
        ] {
            let error = written(&bad).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
