//! Gemini's function declarations: `parameters` are a subset of OpenAPI 3.0's schemas. Schemas
//! beyond it (objects with free keys, values of any type) are exported as `parametersJsonSchema`.

use serde_json::{Map, Value, json};

use super::{description, lower};
use crate::tools::api::tool::ToolDefinition;

pub(super) fn tool(name: &str, definition: &ToolDefinition) -> Value {
    let plain = lower::one_object(&lower::inline_references(definition.input.as_value()));
    let mut tool = json!({"name": name, "description": description(definition)});
    // A function without parameters has no `parameters`: an object without properties is rejected.
    if plain.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty()) {
        match schema(&plain) {
            Some(parameters) => tool["parameters"] = parameters,
            None => tool["parametersJsonSchema"] = Value::Object(plain),
        }
    }
    tool
}

fn schema(given: &Map<String, Value>) -> Option<Value> {
    let mut out = Map::new();
    let mut description = given.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    if given.contains_key("allOf") {
        return schema(&lower::one_object(&Value::Object(given.clone())));
    }
    let (types, mut nullable) = lower::types(given);
    let word = given.get("enum").and_then(Value::as_array).and_then(|words| words.first());
    let word = word.or_else(|| given.get("const"));
    match (lower::alternatives(given), types.as_slice(), word) {
        (Some((ways, null)), ..) => {
            nullable |= null;
            let ways: Option<Vec<Value>> = ways.into_iter().map(schema).collect();
            match ways?.as_mut_slice() {
                [] => return None,
                [only] => out.extend(only.as_object()?.clone()),
                several => {
                    out.insert("anyOf".to_owned(), Value::Array(several.to_vec()));
                }
            }
        }
        (None, [kind], _) => write_typed(kind, given, &mut out, &mut description)?,
        (None, [], Some(word)) => write_typed(lower::type_of(word), given, &mut out, &mut description)?,
        (None, [], None) => return None,
        (None, several, _) => {
            let ways: Option<Vec<Value>> = several
                .iter()
                .map(|kind| {
                    let mut way = Map::new();
                    write_typed(kind, given, &mut way, &mut String::new())?;
                    Some(Value::Object(way))
                })
                .collect();
            out.insert("anyOf".to_owned(), Value::Array(ways?));
        }
    }
    if !description.is_empty() {
        out.insert("description".to_owned(), json!(description));
    }
    if nullable {
        out.insert("nullable".to_owned(), json!(true));
    }
    Some(Value::Object(out))
}

/// Writes a schema of one type.
fn write_typed(
    kind: &str,
    given: &Map<String, Value>,
    out: &mut Map<String, Value>,
    description: &mut String,
) -> Option<()> {
    out.insert("type".to_owned(), json!(kind.to_ascii_uppercase()));
    let keep: &[&str] = match kind {
        "string" => &["minLength", "maxLength", "pattern"],
        "integer" | "number" => &["minimum", "maximum"],
        "array" => &["minItems", "maxItems"],
        "object" => &["minProperties", "maxProperties"],
        "boolean" => &[],
        _ => return None,
    };
    for key in keep {
        if let Some(value) = given.get(*key) {
            out.insert((*key).to_owned(), value.clone());
        }
    }
    if kind == "string" && given.get("format") == Some(&json!("date-time")) {
        out.insert("format".to_owned(), json!("date-time"));
    }
    let constant = given.get("const").map(|word| vec![word.clone()]);
    if let Some(words) = constant.or_else(|| given.get("enum").and_then(Value::as_array).cloned()) {
        write_enum(kind, &words, out, description);
    }
    match kind {
        "array" => {
            let items = schema(given.get("items")?.as_object()?)?;
            out.insert("items".to_owned(), items);
        }
        "object" => {
            let known = given.get("properties")?.as_object().filter(|known| !known.is_empty())?;
            let properties: Option<Map<String, Value>> =
                known.iter().map(|(name, part)| Some((name.clone(), schema(part.as_object()?)?))).collect();
            out.insert("properties".to_owned(), Value::Object(properties?));
            let required = given.get("required").and_then(Value::as_array);
            if let Some(required) = required.filter(|names| !names.is_empty()) {
                out.insert("required".to_owned(), json!(required));
            }
        }
        _ => {}
    }
    Some(())
}

/// Writes an enumeration. Only texts can be enumerated; other values are put into the description.
fn write_enum(kind: &str, words: &[Value], out: &mut Map<String, Value>, description: &mut String) {
    let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
    if kind == "string" {
        out.insert("format".to_owned(), json!("enum"));
        out.insert("enum".to_owned(), json!(words));
    } else {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let gap = if description.is_empty() { "" } else { " " };
        description.push_str(&format!("{gap}One of {}.", words.join(", ")));
    }
}
