//! OpenAI's functions. Arguments of strict ones always match, but every property is required (an
//! optional one may be `null`), every object is closed, and few keywords are supported. Other
//! schemas are exported as not strict.

use serde_json::{Map, Value, json};

use super::{description, lower};
use crate::tools::api::tool::ToolDefinition;

/// The limits of strict schemas.
const MAX_STRICT_SCHEMA_DEPTH: usize = 10;
const MAX_STRICT_SCHEMA_PROPERTIES: usize = 5_000;
const MAX_STRICT_ENUM_VALUES: usize = 1_000;
/// The string formats that strict schemas support.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
/// Keywords that strict schemas do not support.
const BEYOND: [&str; 13] = [
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
];

pub(super) fn tool(name: &str, definition: &ToolDefinition) -> Value {
    let plain = lower::inline_references(definition.input.as_value());
    let mut strict = StrictSchemaBuilder { properties: 0, words: 0 };
    let (strict, parameters) = match strict.root(&plain) {
        Some(parameters) => (true, parameters),
        None => (false, Value::Object(lower::one_object(&plain))),
    };
    json!({
        "type": "function",
        "function": {
            "name": name,
            "description": description(definition),
            "strict": strict,
            "parameters": parameters,
        },
    })
}

struct StrictSchemaBuilder {
    properties: usize,
    words: usize,
}

impl StrictSchemaBuilder {
    fn root(&mut self, schema: &Value) -> Option<Value> {
        let map = schema.as_object()?;
        if map.contains_key("anyOf") || map.contains_key("oneOf") {
            return None;
        }
        let mut map = map.clone();
        // A tool without arguments is an empty object, not an open one.
        map.entry("properties").or_insert_with(|| json!({}));
        self.schema(&map, 1)
    }

    fn schema(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        if depth > MAX_STRICT_SCHEMA_DEPTH || BEYOND.iter().any(|key| schema.contains_key(*key)) {
            return None;
        }
        let mut out = Map::new();
        if let Some(description) = schema.get("description") {
            out.insert("description".to_owned(), description.clone());
        }
        if let Some(Value::Array(ways)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            let ways: Option<Vec<Value>> =
                ways.iter().map(|way| self.schema(way.as_object()?, depth + 1)).collect();
            out.insert("anyOf".to_owned(), Value::Array(ways?));
            return Some(Value::Object(out));
        }
        let (types, _) = lower::types(schema);
        match (schema.get("type"), schema.get("enum").or_else(|| schema.get("const"))) {
            (Some(kind), _) => out.insert("type".to_owned(), kind.clone()),
            (None, Some(Value::Array(words))) => {
                out.insert("type".to_owned(), json!(lower::type_of(words.first()?)))
            }
            (None, Some(word)) => out.insert("type".to_owned(), json!(lower::type_of(word))),
            (None, None) => return None,
        };
        for (key, value) in schema {
            match (key.as_str(), value) {
                ("enum", Value::Array(words)) => {
                    self.words += words.len();
                    out.insert(key.clone(), value.clone());
                }
                ("const", word) => {
                    out.insert("enum".to_owned(), json!([word]));
                }
                ("format", Value::String(format)) if !FORMATS.contains(&format.as_str()) => {}
                (
                    "pattern" | "format" | "multipleOf" | "minimum" | "maximum" | "exclusiveMinimum"
                    | "exclusiveMaximum" | "minItems" | "maxItems",
                    value,
                ) => {
                    out.insert(key.clone(), value.clone());
                }
                _ => {}
            }
        }
        if types.contains(&"array") {
            let items = self.schema(schema.get("items")?.as_object()?, depth + 1)?;
            out.insert("items".to_owned(), items);
        }
        if types.contains(&"object") {
            self.object(schema, &mut out, depth)?;
        }
        (self.properties <= MAX_STRICT_SCHEMA_PROPERTIES && self.words <= MAX_STRICT_ENUM_VALUES)
            .then_some(Value::Object(out))
    }

    /// Converts an object whose keys are all known.
    fn object(
        &mut self,
        schema: &Map<String, Value>,
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        if schema.get("additionalProperties").is_some_and(Value::is_object) {
            return None;
        }
        let known = schema.get("properties")?.as_object()?;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
        let mut properties = Map::new();
        for (name, part) in known {
            self.properties += 1;
            let part = self.schema(part.as_object()?, depth + 1)?;
            properties.insert(name.clone(), if is_required(name) { part } else { or_null(part) });
        }
        out.insert("required".to_owned(), properties.keys().map(String::as_str).collect());
        out.insert("properties".to_owned(), Value::Object(properties));
        out.insert("additionalProperties".to_owned(), json!(false));
        Some(())
    }
}

/// Extends a schema by `null`.
fn or_null(mut schema: Value) -> Value {
    let nothing = json!("null");
    match schema.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&nothing) => types.push(nothing),
        Some(Value::Array(_)) => {}
        Some(kind) => *kind = json!([kind.clone(), nothing]),
        None => {
            if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
                ways.push(json!({"type": "null"}));
            }
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum")
        && !words.contains(&Value::Null)
    {
        words.push(Value::Null);
    }
    schema
}
