use serde_json::json;

use super::rules::faults;
use super::*;
use crate::policy::request::Effect;
use crate::tools::agent::tool_finder;
use crate::tools::api::built_in;
use crate::tools::api::schema::Schema;
use crate::tools::api::tool::Card;

fn definition(name: &'static str, input: Value) -> ToolDefinition {
    let card = Card::new(name, "A tool", "Does something.", Effect::Execute);
    ToolDefinition { card, input: Schema::new(input), output: None }
}

/// A definition with unusual parts of third-party schemas.
fn odd() -> ToolDefinition {
    definition(
        "others/odd",
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "Colour": {"type": "string", "enum": ["red", "green"]},
                "Node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}}},
            },
            "type": "object",
            "properties": {
                "colour": {"$ref": "#/$defs/Colour"},
                "maybe": {"type": ["string", "null"], "description": "may be missing"},
                "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "free": {"type": "object", "additionalProperties": {"type": "string"}},
                "node": {"$ref": "#/$defs/Node"},
                "level": {"enum": [1, 2, 3]},
                "fixed": {"const": "yes"},
                "anything": {},
                "when": {"type": "string", "format": "date-time", "default": "now", "minLength": 3},
            },
            "required": ["colour"],
            "oneOf": [{"required": ["maybe"]}, {"required": ["either"]}],
        }),
    )
}

#[test]
fn every_built_in_tool_exports_validly_to_every_format() {
    let registry = built_in::registry().unwrap();
    let definitions = registry.definitions(|_| true);
    for format in ToolListFormat::ALL {
        let exported = export(format, definitions.iter().copied()).unwrap();
        assert_eq!(exported.tools.len(), definitions.len());
        for tool in &exported.tools {
            assert_eq!(faults(format, tool), Vec::<String>::new(), "{format:?}: {tool:#}");
        }
        for definition in &definitions {
            let theirs = exported.names.exported_name(&definition.card.name).unwrap();
            assert_eq!(exported.names.internal_name(theirs), Some(definition.card.name.as_ref()));
        }
    }
}

#[test]
fn every_built_in_tool_is_strict_for_openai() {
    let registry = built_in::registry().unwrap();
    // The arguments of `tools` are those of any tool.
    let closed = registry.definitions(|definition| definition.card.name != tool_finder::TOOLS);
    let exported = export(ToolListFormat::OpenAi, closed).unwrap();
    let loose: Vec<&Value> =
        exported.tools.iter().filter(|tool| tool["function"]["strict"] != true).collect();
    assert!(loose.is_empty(), "{loose:#?}");
}

#[test]
fn foreign_schema_exports_validly_to_every_format() {
    for format in ToolListFormat::ALL {
        let exported = export(format, [&odd()]).unwrap();
        assert_eq!(faults(format, &exported.tools[0]), Vec::<String>::new(), "{:#}", exported.tools[0]);
    }
}

#[test]
fn optional_property_becomes_nullable_in_strict_openai_schema() {
    let given = definition(
        "t",
        json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"enum": ["x"], "type": "string"}},
            "required": ["a"],
        }),
    );
    let tool = &export(ToolListFormat::OpenAi, [&given]).unwrap().tools[0]["function"];
    assert_eq!(tool["strict"], true);
    assert_eq!(
        tool["parameters"],
        json!({
            "type": "object",
            "required": ["a", "b"],
            "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"], "enum": ["x", null]}},
            "additionalProperties": false,
        })
    );
}

#[test]
fn open_object_schema_is_non_strict_and_gemini_json_schema() {
    let free = json!({"type": "object", "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}}});
    let given = definition("t", free);
    assert_eq!(export(ToolListFormat::OpenAi, [&given]).unwrap().tools[0]["function"]["strict"], false);
    let tool = &export(ToolListFormat::Gemini, [&given]).unwrap().tools[0];
    assert!(tool.get("parameters").is_none() && tool["parametersJsonSchema"].is_object());
}

#[test]
fn copilot_export_gives_each_property_one_type_and_description() {
    let tool = &export(ToolListFormat::Copilot, [&odd()]).unwrap().tools[0];
    let properties = &tool["inputSchema"]["properties"];
    assert_eq!(properties["maybe"], json!({"type": "string", "description": "may be missing"}));
    assert_eq!(properties["either"], json!({"type": "string", "description": "either (also: array)"}));
    assert_eq!(properties["level"]["type"], "integer");
    assert_eq!(properties["colour"]["enum"], json!(["red", "green"]));
    assert_eq!(tool["name"], "others__odd");
}

#[test]
fn copilot_export_of_too_many_tools_is_refused() {
    let many: Vec<ToolDefinition> = (0..129)
        .map(|number| {
            let mut one = definition("x", json!({"type": "object"}));
            one.card.name = format!("tool_{number}").into();
            one
        })
        .collect();
    assert!(export(ToolListFormat::Mcp, &many).is_ok());
    let error = export(ToolListFormat::Copilot, &many).unwrap_err();
    assert_eq!(error.error, "Copilot takes at most 128 tools, and these are 129");
}

#[test]
fn export_checks_find_faults_in_invalid_tools() {
    let bad = [
        (
            ToolListFormat::Mcp,
            json!({"name": "a/b", "title": "t", "description": "d", "inputSchema": {"type": "string"}}),
        ),
        (
            ToolListFormat::OpenAi,
            json!({"type": "function", "function": {"name": "a", "description": "d", "strict": true,
                "parameters": {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}}}),
        ),
        (
            ToolListFormat::Anthropic,
            json!({"name": "a", "description": "d", "input_schema": {"type": "object", "anyOf": []}}),
        ),
        (
            ToolListFormat::Gemini,
            json!({"name": "a", "description": "d", "parameters": {"type": "OBJECT", "additionalProperties": false,
                "properties": {"a": {"type": "STRING"}}}}),
        ),
        (
            ToolListFormat::Copilot,
            json!({"name": "a", "description": "d", "inputSchema": {"type": "object", "properties": {}}}),
        ),
    ];
    for (format, tool) in bad {
        assert!(!faults(format, &tool).is_empty(), "{format:?}");
    }
}
