//! The Copilot language server: each property of the root has one type, as a text, and a
//! description. Deeper levels are unrestricted. One tool that violates this makes the server reject
//! the whole list.

use serde_json::{Map, Value, json};

use super::{description, lower};
use crate::policy::request::Effect;
use crate::tools::api::tool::ToolDefinition;

pub(super) fn tool(name: &str, definition: &ToolDefinition) -> Value {
    let mut schema = lower::one_object(&lower::inline_references(definition.input.as_value()));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, part) in properties.iter_mut() {
            *part = Value::Object(property(name, part));
        }
    }
    let mut tool = json!({"name": name, "description": description(definition), "inputSchema": schema});
    let card = &definition.card;
    if card.effect != Effect::Read {
        tool["confirmationMessages"] = json!({
            "title": card.title,
            "message": format!("Allow {} ({})?", card.name, card.effect.as_str()),
        });
    }
    tool
}

/// A property with one type and a description. If several types are allowed, it has the first, and
/// the description lists the others.
fn property(name: &str, given: &Value) -> Map<String, Value> {
    let mut out = given.as_object().cloned().unwrap_or_default();
    let mut description =
        out.get("description").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let mut others: Vec<String> = Vec::new();
    if out.contains_key("allOf") {
        out = lower::one_object(&Value::Object(out));
    }
    let ways = lower::alternatives(&out).map(|(ways, _)| ways.into_iter().cloned().collect::<Vec<_>>());
    if let Some(ways) = ways {
        out.shift_remove("anyOf");
        out.shift_remove("oneOf");
        let constants: Option<Vec<Value>> = ways.iter().map(|way| way.get("const").cloned()).collect();
        match constants.filter(|constants| !constants.is_empty()) {
            Some(constants) => {
                out.insert("enum".to_owned(), json!(constants));
            }
            None => {
                let mut ways = ways.into_iter();
                for (key, value) in ways.next().unwrap_or_default() {
                    out.entry(key).or_insert(value);
                }
                others.extend(
                    ways.flat_map(|way| {
                        lower::types(&way).0.into_iter().map(str::to_owned).collect::<Vec<_>>()
                    }),
                );
            }
        }
    }
    let (types, _) = lower::types(&out);
    let first = out.get("enum").and_then(Value::as_array).and_then(|words| words.first());
    let word = first.or_else(|| out.get("const")).map(lower::type_of);
    let kind = types.first().copied().or(word).unwrap_or("string").to_owned();
    others.extend(types.iter().skip(1).map(|kind| (*kind).to_owned()));
    others.retain(|other| *other != kind);
    if description.is_empty() {
        description = name.replace(['_', '-'], " ");
    }
    if !others.is_empty() {
        description.push_str(&format!(" (also: {})", others.join(", ")));
    }
    out.insert("type".to_owned(), json!(kind));
    out.insert("description".to_owned(), json!(description));
    out
}
