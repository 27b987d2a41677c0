//! The handshake with a started Copilot server: `initialize`, `initialized`, its settings.
//!
//! No capability is announced that is not served.

use serde_json::{Value, json};

use super::context::CopilotContext;
use crate::lsp::uri;
use crate::rpc::RequestRefusal;

/// The server's key in the catalogue.
pub(crate) const SERVER: &str = "copilot";

/// The parameters of `initialize` (LSP 3.17) with the server's own options. Without the names of
/// the editor and its plugin it refuses every other request.
pub(super) fn initialize(context: &CopilotContext) -> Value {
    let us = json!({"name": "lsp-tools", "version": env!("CARGO_PKG_VERSION")});
    let mut options = spec_table(context, |server| &server.initialization_options);
    options["editorInfo"] = us.clone();
    options["editorPluginInfo"] = us.clone();
    json!({
        "processId": std::process::id(),
        "clientInfo": us,
        "rootUri": uri::from_path(context.runtime().workspace().root()),
        "workspaceFolders": [folder(context)],
        "capabilities": {"workspace": {"workspaceFolders": true, "configuration": true}},
        "initializationOptions": options,
    })
}

/// The workspace (LSP 3.17, *WorkspaceFolder*).
pub(super) fn folder(context: &CopilotContext) -> Value {
    let runtime = context.runtime();
    let root = runtime.workspace().root();
    let name = root.file_name().map_or("workspace".into(), |name| name.to_string_lossy().into_owned());
    json!({"uri": uri::from_path(root), "name": name})
}

/// All settings, as in `workspace/didChangeConfiguration`.
pub(super) fn settings(context: &CopilotContext) -> Value {
    spec_table(context, |server| &server.settings)
}

/// Answers `workspace/configuration` (LSP 3.17): one value per item, `null` for unset ones.
pub(super) fn settings_for(context: &CopilotContext, params: &Value) -> Result<Value, RequestRefusal> {
    let items = params["items"].as_array();
    let items = items.ok_or_else(|| RequestRefusal::InvalidParams("`items` is missing".into()))?;
    let settings = settings(context);
    let section = |item: &Value| match item["section"].as_str() {
        None | Some("") => settings.clone(),
        Some(section) => section.split('.').fold(&settings, |place, part| &place[part]).clone(),
    };
    Ok(items.iter().map(section).collect())
}

fn spec_table(
    context: &CopilotContext,
    table: impl Fn(&crate::config::spec::ServerSpec) -> &toml::Table,
) -> Value {
    let runtime = context.runtime();
    let server = runtime.catalogue().servers.get(SERVER);
    let value = server.and_then(|server| serde_json::to_value(table(server)).ok());
    value.filter(Value::is_object).unwrap_or_else(|| json!({}))
}
