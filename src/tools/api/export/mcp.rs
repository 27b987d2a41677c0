//! MCP: a `Tool` of `tools/list`.

use serde_json::{Value, json};

use super::description;
use crate::policy::request::Effect;
use crate::tools::api::listed_schema::listed_schema;
use crate::tools::api::tool::ToolDefinition;

pub(super) fn tool(name: &str, definition: &ToolDefinition) -> Value {
    let card = &definition.card;
    let mut tool = json!({
        "name": name,
        "title": card.title,
        "description": description(definition),
        "inputSchema": listed_schema(definition),
    });
    if let Some(mut output) = definition.output_schema() {
        if let Value::Object(map) = &mut output {
            // Added even if a reference describes the answer.
            map.entry("type").or_insert_with(|| json!("object"));
        }
        tool["outputSchema"] = output;
    }
    let reads = card.effect == Effect::Read;
    tool["annotations"] = json!({
        "readOnlyHint": reads,
        "destructiveHint": card.destructive && !reads,
        "idempotentHint": card.idempotent,
        "openWorldHint": matches!(card.effect, Effect::Network | Effect::Execute),
    });
    tool
}
