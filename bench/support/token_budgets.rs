//! The budgets of tool lists in o200k tokens. A list counts with name, description and argument
//! schema, which hosts pass to their models.

use serde_json::{Value, json};

/// The budget of the default list.
pub const CORE: usize = 3_000;
/// The budget of the list for hosts with file tools of their own.
pub const LSP: usize = 2_000;

/// The tokens of `tools` as MCP lists them.
pub fn listed(tools: &[Value], count: impl Fn(&str) -> usize) -> usize {
    let shown = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
    tools.iter().map(|tool| count(&shown(tool).to_string())).sum()
}
