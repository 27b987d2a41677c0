//! The budgets of tool lists, in tokens of o200k, and how a list is counted: name, description and schema of the arguments, which is what
//! hosts pass to their models.

use serde_json::{Value, json};

/// The list where no profile is chosen.
pub const CORE: usize = 3_000;
/// The list for hosts with file tools of their own.
pub const LSP: usize = 2_000;

/// The tokens of `tools` as MCP lists them.
pub fn listed(tools: &[Value], count: impl Fn(&str) -> usize) -> usize {
    let shown = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
    tools.iter().map(|tool| count(&shown(tool).to_string())).sum()
}
