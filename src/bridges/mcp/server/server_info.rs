//! The server's description of itself, for MCP's `initialize` and `server/discover`.

use rmcp::model::{
    Implementation, PromptsCapability, ResourcesCapability, SKILLS_EXTENSION_ID, ServerCapabilities,
    ServerConfig, TASKS_EXTENSION_ID, ToolsCapability,
};

/// The time that a client may cache our description, in milliseconds. It changes only with the
/// program.
pub(super) const SERVER_INFO_TTL_MS: u64 = 3_600_000;

/// The instructions, which the model receives with every request, so they must be short.
const INSTRUCTIONS: &str = "Real language servers and safe file tools for one workspace. Paths are relative to its root. \
Positions are 0-based; instead of counting columns give `symbol` with `line`. Every answer of an `lsp_` tool has a `verdict`: \
only `complete` is the whole truth, `hints` is text search, and `no_data` never means clean. Edits answer with the errors they \
added and removed, and can be taken back with `undo`. `tools` lists and calls what is not listed.";

/// Returns the name, version, capabilities and instructions.
pub(super) fn config() -> ServerConfig {
    let mut capabilities = ServerCapabilities::default();
    let mut tools = ToolsCapability::default();
    tools.list_changed = Some(true);
    let mut resources = ResourcesCapability::default();
    resources.subscribe = Some(true);
    capabilities.tools = Some(tools);
    capabilities.resources = Some(resources);
    capabilities.prompts = Some(PromptsCapability::default());
    // Only clients that declare the extension as well receive tasks.
    let tasks = (TASKS_EXTENSION_ID.to_owned(), serde_json::Map::new());
    // Visible only through its own methods.
    let skills = (SKILLS_EXTENSION_ID.to_owned(), serde_json::Map::new());
    capabilities.extensions = Some([tasks, skills].into_iter().collect());
    capabilities.completions = Some(serde_json::Map::new());
    let info = Implementation::new("lsp-tools", env!("CARGO_PKG_VERSION"))
        .with_title("lsp-tools")
        .with_description(env!("CARGO_PKG_DESCRIPTION"));
    ServerConfig::new(capabilities).with_server_info(info).with_instructions(INSTRUCTIONS)
}
