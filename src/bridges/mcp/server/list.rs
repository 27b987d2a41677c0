//! `tools/list`: the tools offered to a caller, most used first, in pages.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::model::{CacheScope, ErrorData, JsonObject, ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::handles;
use crate::policy::request::Effect;
use crate::tools::api::listed_schema::listed_schema;
use crate::tools::api::tool::ToolDefinition;

/// The number of tools on one page. The built-in ones fit on one.
const MAX_TOOLS_PER_PAGE: usize = 64;
/// The time that a client may cache a page, in milliseconds. Subscribed clients are notified of
/// changes.
const TOOL_LIST_TTL_MS: u64 = 60_000;

/// Returns the page of `definitions` after `cursor`.
///
/// # Errors
/// -32602 for an invalid cursor.
pub(super) fn page(
    definitions: Vec<ToolDefinition>,
    cursor: Option<&str>,
) -> Result<ListToolsResult, ErrorData> {
    let after = cursor.map(decode_cursor).transpose()?;
    let mut definitions = definitions;
    definitions.sort_by_cached_key(sort_key);
    let mut rest = definitions
        .iter()
        .filter(|definition| after.as_ref().is_none_or(|after| sort_key(definition) > *after));
    let shown: Vec<&ToolDefinition> = rest.by_ref().take(MAX_TOOLS_PER_PAGE).collect();
    let next = rest.next().and(shown.last()).map(|last| encode_cursor(&sort_key(last)));
    let mut tools: Vec<Tool> = shown.iter().map(|definition| tool(definition)).collect();
    handles::add_handle_arguments(&mut tools, shown.iter().map(|definition| &definition.card));
    let mut result = ListToolsResult::with_all_items(tools);
    result.next_cursor = next;
    Ok(result.with_ttl_ms(TOOL_LIST_TTL_MS).with_cache_scope(CacheScope::Private))
}

/// The position of a tool in the list, independent of the other tools: a stable order keeps prompts
/// in models' caches.
fn sort_key(definition: &ToolDefinition) -> (u8, String) {
    let card = &definition.card;
    (card.rank.unwrap_or(u8::MAX), card.name.clone().into_owned())
}

fn encode_cursor((rank, name): &(u8, String)) -> String {
    URL_SAFE_NO_PAD.encode(format!("1:{rank}:{name}"))
}

fn decode_cursor(cursor: &str) -> Result<(u8, String), ErrorData> {
    let text = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let place = text.as_deref().and_then(|text| text.strip_prefix("1:")).and_then(|text| {
        let (rank, name) = text.split_once(':')?;
        Some((rank.parse().ok()?, name.to_owned()))
    });
    place.ok_or_else(|| {
        let what = "unknown cursor; call tools/list without one";
        ErrorData::invalid_params(what, Some(json!({"cursor": cursor})))
    })
}

/// Converts our name to MCP's allowed characters, which exclude `/`. None of our names contains a
/// dot.
fn to_mcp_name(name: &str) -> String {
    name.replacen('/', ".", 1)
}

/// Converts a client's name to ours: the listed form, or the form used everywhere else.
pub(super) fn from_mcp_name(name: &str) -> Cow<'_, str> {
    match name.contains('/') {
        true => Cow::Borrowed(name),
        false => name
            .split_once('.')
            .map_or(Cow::Borrowed(name), |(server, tool)| Cow::Owned(format!("{server}/{tool}"))),
    }
}

/// Converts a definition to MCP's description of a tool.
pub(super) fn tool(definition: &ToolDefinition) -> Tool {
    let card = &definition.card;
    let reads = card.effect == Effect::Read;
    let annotations = ToolAnnotations::with_title(card.title.as_ref())
        .read_only(reads)
        .destructive(card.destructive && !reads)
        .idempotent(card.idempotent)
        .open_world(matches!(card.effect, Effect::Network | Effect::Execute));
    let description = if card.description.trim().is_empty() { &card.title } else { &card.description };
    let mut tool = Tool::new(
        Cow::Owned(to_mcp_name(&card.name)),
        Cow::Owned(description.to_string()),
        Arc::new(object(&listed_schema(definition))),
    );
    tool.title = Some(card.title.to_string());
    tool.output_schema = definition.output_schema().map(|output| Arc::new(answer_schema(&output)));
    tool.annotations = Some(annotations);
    tool
}

fn object(schema: &Value) -> JsonObject {
    schema.as_object().cloned().unwrap_or_default()
}

/// The minimal schema of a tool's answers, successes and failures: types and names without
/// descriptions. Only `ok` is required, because failures and successes share no other field.
fn answer_schema(output: &Value) -> JsonObject {
    let mut properties = match compact_schema(output, output, Depth::Answer) {
        Value::Object(mut schema) => match schema.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        },
        _ => Map::new(),
    };
    properties.entry("ok").or_insert_with(|| json!({"type": "boolean"}));
    for field in ["code", "error", "hint"] {
        properties
            .entry(field)
            .and_modify(|own| {
                // A field with another meaning in a success accepts any value.
                if own.get("type") != Some(&json!("string")) {
                    *own = json!({});
                }
            })
            .or_insert_with(|| json!({"type": "string"}));
    }
    let schema = json!({"type": "object", "properties": properties, "required": ["ok"]});
    object(&schema)
}

/// The depth to which a schema is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The fields, and the item types of lists.
    Answer,
    /// The fields.
    Item,
    /// The type.
    Leaf,
}

/// Returns `schema` without descriptions and references, and without parts deeper than `depth`,
/// which accept any value.
fn compact_schema(schema: &Value, whole: &Value, depth: Depth) -> Value {
    let Some(schema) = schema.as_object() else { return json!({}) };
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let named = name.strip_prefix('#').and_then(|pointer| whole.pointer(pointer));
        return named.map_or_else(|| json!({}), |named| compact_schema(named, whole, depth));
    }
    if let Some(Value::Array(ways)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        let words: Option<Vec<&Value>> = ways.iter().map(|way| way.get("const")).collect();
        if let Some(words) = words {
            return json!({"type": "string", "enum": words});
        }
        // A missing field of an answer is left out and never null.
        let mut real = ways.iter().filter(|way| way.get("type") != Some(&json!("null")));
        return match (real.next(), real.next()) {
            (Some(only), None) => compact_schema(only, whole, depth),
            _ => json!({}),
        };
    }
    let mut kept = Map::new();
    match schema.get("type") {
        Some(Value::Array(types)) => {
            let mut real = types.iter().filter(|kind| *kind != &json!("null"));
            if let (Some(only), None) = (real.next(), real.next()) {
                kept.insert("type".to_owned(), only.clone());
            }
        }
        Some(only) => {
            kept.insert("type".to_owned(), only.clone());
        }
        None => {}
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        let words: Vec<&Value> = words.iter().filter(|word| !word.is_null()).collect();
        kept.insert("enum".to_owned(), json!(words));
    }
    let fields = schema.get("properties").and_then(Value::as_object).filter(|_| depth != Depth::Leaf);
    if let Some(fields) = fields {
        let fields = fields.iter().map(|(name, field)| (name.clone(), compact_field(field, whole, depth)));
        kept.insert("properties".to_owned(), Value::Object(fields.collect()));
    }
    Value::Object(kept)
}

fn compact_field(field: &Value, whole: &Value, depth: Depth) -> Value {
    let mut kept = compact_schema(field, whole, Depth::Leaf);
    if let (Depth::Answer, Some(items), Value::Object(kept)) = (depth, field.get("items"), &mut kept) {
        let items = compact_schema(items, whole, Depth::Item);
        if items.as_object().is_some_and(|items| !items.is_empty()) {
            kept.insert("items".to_owned(), items);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
