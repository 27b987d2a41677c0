//! The requirements of each format on a tool list, as checks of one exported tool.

use regex::Regex;
use serde_json::{Map, Value};

use super::ToolListFormat;
use crate::tools::api::schema::Schema;

/// The violations in `tool`.
pub(super) fn faults(format: ToolListFormat, tool: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match format {
        ToolListFormat::Mcp => mcp(tool, &mut found),
        ToolListFormat::OpenAi => openai(tool, &mut found),
        ToolListFormat::Anthropic => anthropic(tool, &mut found),
        ToolListFormat::Gemini => gemini(tool, &mut found),
        ToolListFormat::Copilot => copilot(tool, &mut found),
    }
    found
}

fn check_known_keys(tool: &Value, keys: &[&str], found: &mut Vec<String>) {
    for key in tool.as_object().into_iter().flatten().map(|(key, _)| key) {
        if !keys.contains(&key.as_str()) {
            found.push(format!("unknown key {key}"));
        }
    }
}

fn text(tool: &Value, key: &str, pattern: &str, found: &mut Vec<String>) {
    let fits = Regex::new(pattern).expect("a pattern");
    if !tool[key].as_str().is_some_and(|text| fits.is_match(text)) {
        found.push(format!("{key} is {}, not {pattern}", tool[key]));
    }
}

/// Visits every schema within `schema`, with its path.
fn for_each_schema<'a>(schema: &'a Value, place: &str, visit: &mut dyn FnMut(&'a Map<String, Value>, &str)) {
    let Value::Object(map) = schema else { return };
    visit(map, place);
    for (key, part) in map {
        match (key.as_str(), part) {
            ("properties" | "$defs", Value::Object(named)) => {
                named
                    .iter()
                    .for_each(|(name, part)| for_each_schema(part, &format!("{place}/{name}"), visit));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(ways)) => {
                ways.iter().for_each(|way| for_each_schema(way, &format!("{place}/{key}"), visit));
            }
            ("items" | "additionalProperties", part) => {
                for_each_schema(part, &format!("{place}/{key}"), visit)
            }
            _ => {}
        }
    }
}

fn is_schema(schema: &Value, found: &mut Vec<String>) {
    if let Err(error) = Schema::new(schema.clone()).verify() {
        found.push(format!("no JSON schema: {error}"));
    }
}

fn mcp(tool: &Value, found: &mut Vec<String>) {
    check_known_keys(
        tool,
        &["name", "title", "description", "inputSchema", "outputSchema", "annotations"],
        found,
    );
    text(tool, "name", "^[A-Za-z0-9_.-]{1,128}$", found);
    text(tool, "title", ".", found);
    text(tool, "description", ".", found);
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        if !tool["annotations"][hint].is_boolean() {
            found.push(format!("{hint} is missing"));
        }
    }
    for schema in ["inputSchema", "outputSchema"].map(|key| &tool[key]) {
        if schema.is_null() {
            continue;
        }
        is_schema(schema, found);
        if schema["type"] != "object" {
            found.push(format!("the root is {}, not object", schema["type"]));
        }
    }
}

fn openai(tool: &Value, found: &mut Vec<String>) {
    check_known_keys(tool, &["type", "function"], found);
    let function = &tool["function"];
    check_known_keys(function, &["name", "description", "strict", "parameters"], found);
    text(function, "name", "^[a-zA-Z0-9_-]{1,64}$", found);
    let parameters = &function["parameters"];
    is_schema(parameters, found);
    if parameters["type"] != "object" || parameters.get("anyOf").is_some() {
        found.push("the root is no plain object".to_owned());
    }
    if function["strict"] == true {
        for_each_schema(parameters, "", &mut |schema, place| strict(schema, place, found));
    }
}

const STRICT: [&str; 17] = [
    "type",
    "description",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

fn strict(schema: &Map<String, Value>, place: &str, found: &mut Vec<String>) {
    for key in schema.keys().filter(|key| !STRICT.contains(&key.as_str())) {
        found.push(format!("{place}: {key} is not for strict schemas"));
    }
    if !schema.contains_key("type") && !schema.contains_key("anyOf") {
        found.push(format!("{place}: no type"));
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        found.push(format!("{place}: it is open"));
    }
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if names != required {
        found.push(format!("{place}: required is {required:?}, the properties are {names:?}"));
    }
}

fn anthropic(tool: &Value, found: &mut Vec<String>) {
    check_known_keys(tool, &["name", "description", "input_schema"], found);
    text(tool, "name", "^[a-zA-Z0-9_-]{1,64}$", found);
    text(tool, "description", ".", found);
    let schema = &tool["input_schema"];
    is_schema(schema, found);
    if schema["type"] != "object" {
        found.push("the root is no object".to_owned());
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if schema.get(key).is_some() {
            found.push(format!("{key} at the root"));
        }
    }
    let name = Regex::new("^[a-zA-Z0-9_.-]{1,64}$").expect("a pattern");
    for_each_schema(schema, "", &mut |schema, place| {
        if schema.contains_key("$ref") {
            found.push(format!("{place}: a reference"));
        }
        for key in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key)
        {
            if !name.is_match(key) {
                found.push(format!("{place}: the property {key}"));
            }
        }
    });
}

const OPENAPI: [&str; 17] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
    "items",
];

fn gemini(tool: &Value, found: &mut Vec<String>) {
    check_known_keys(tool, &["name", "description", "parameters", "parametersJsonSchema"], found);
    text(tool, "name", "^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$", found);
    text(tool, "description", ".", found);
    if tool.get("parameters").is_some() && tool.get("parametersJsonSchema").is_some() {
        found.push("parameters in two forms".to_owned());
    }
    let Some(parameters) = tool.get("parameters") else { return };
    if parameters["type"] != "OBJECT" {
        found.push("the root is no object".to_owned());
    }
    let name = Regex::new("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$").expect("a pattern");
    for_each_schema(parameters, "", &mut |schema, place| {
        for key in schema.keys().filter(|key| !OPENAPI.contains(&key.as_str())) {
            if !matches!(key.as_str(), "minimum" | "maximum") {
                found.push(format!("{place}: {key} is not of the subset"));
            }
        }
        let kind = schema.get("type").and_then(Value::as_str);
        match kind {
            Some("STRING" | "NUMBER" | "INTEGER" | "BOOLEAN") => {}
            Some("ARRAY") if schema.contains_key("items") => {}
            Some("OBJECT") => {
                let properties = schema.get("properties").and_then(Value::as_object);
                if properties.is_none_or(Map::is_empty) {
                    found.push(format!("{place}: an object without properties"));
                }
                for key in
                    properties.into_iter().flatten().map(|(key, _)| key).filter(|key| !name.is_match(key))
                {
                    found.push(format!("{place}: the property {key}"));
                }
            }
            None if schema.contains_key("anyOf") => {}
            other => found.push(format!("{place}: the type {other:?}")),
        }
        let words = schema.get("enum").and_then(Value::as_array);
        if words.is_some_and(|words| kind != Some("STRING") || !words.iter().all(Value::is_string)) {
            found.push(format!("{place}: an enum that is not of texts"));
        }
    });
}

fn copilot(tool: &Value, found: &mut Vec<String>) {
    check_known_keys(tool, &["name", "description", "inputSchema", "confirmationMessages"], found);
    text(tool, "name", "^[a-zA-Z0-9_-]{1,64}$", found);
    text(tool, "description", ".", found);
    let schema = &tool["inputSchema"];
    is_schema(schema, found);
    if schema["type"] != "object" || !schema["properties"].is_object() || !schema["required"].is_array() {
        found.push("the root lacks type, properties or required".to_owned());
    }
    for (name, part) in schema["properties"].as_object().into_iter().flatten() {
        if !part["type"].is_string() {
            found.push(format!("{name}: its type is {}", part["type"]));
        }
        if part["description"].as_str().is_none_or(|text| text.trim().is_empty()) {
            found.push(format!("{name}: no description"));
        }
        if ["anyOf", "oneOf", "$ref"].iter().any(|key| part.get(*key).is_some()) {
            found.push(format!("{name}: not folded"));
        }
    }
    if let Some(messages) = tool.get("confirmationMessages") {
        text(messages, "title", ".", found);
        text(messages, "message", ".", found);
    }
}
