//! Anthropic's messages: `input_schema` in JSON Schema 2020-12, without references or combinations
//! at the root.

use serde_json::{Value, json};

use super::{description, lower};
use crate::tools::api::tool::ToolDefinition;

pub(super) fn tool(name: &str, definition: &ToolDefinition) -> Value {
    json!({
        "name": name,
        "description": description(definition),
        "input_schema": lower::one_object(&lower::inline_references(definition.input.as_value())),
    })
}
