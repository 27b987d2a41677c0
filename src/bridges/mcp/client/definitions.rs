//! Tool definitions of a mounted server: comparable form, and conversion to ours.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use rmcp::model::Tool;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::config::{MountedTools, skeleton};
use crate::policy::request::Effect;
use crate::tools::api::hidden::{escape_all, escape_hidden};
use crate::tools::api::schema::Schema;
use crate::tools::api::source::OmittedTool;
use crate::tools::api::tool::{Card, ToolDefinition};

/// The length limit of a description, which a model reads with every request.
const MAX_MOUNTED_DESCRIPTION_CHARS: usize = 2_000;
const MAX_MOUNTED_TITLE_CHARS: usize = 100;
/// The size limit of a definition, in bytes.
const MAX_MOUNTED_DEFINITION_BYTES: usize = 32 * 1024;
/// The length limit of a name, as for all tools.
const MAX_MOUNTED_NAME_CHARS: usize = 64;

/// Returns the parts of a tool that a model reads, and its annotations, with sorted keys. Equal
/// results mean equal definitions.
pub(super) fn comparable_definition(tool: &Tool) -> Value {
    let whole = serde_json::to_value(tool).unwrap_or(Value::Null);
    let keys = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];
    let parts = keys.iter().filter_map(|key| Some(((*key).to_owned(), whole.get(*key)?.clone())));
    sort_keys(Value::Object(parts.collect()))
}

fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let parts: BTreeMap<String, Value> =
                map.into_iter().map(|(key, part)| (key, sort_keys(part))).collect();
            Value::Object(Map::from_iter(parts))
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sort_keys).collect()),
        other => other,
    }
}

/// The SHA-256 of a comparable definition.
pub(super) fn hash(comparable: &Value) -> String {
    Sha256::digest(comparable.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server's tool in our form.
#[derive(Debug, Clone)]
pub(super) struct MountedToolDefinition {
    pub(super) definition: ToolDefinition,
    /// The server's name of the tool.
    pub(super) original_name: String,
    pub(super) hash: String,
}

/// Converts the definitions of one server. Returns the ones that can be offered, and the reasons
/// for the others.
pub(super) fn offered_definitions<'a>(
    server: &str,
    effect: Effect,
    filter: &MountedTools,
    definitions: impl Iterator<Item = (&'a String, &'a Value)>,
) -> (Vec<MountedToolDefinition>, Vec<OmittedTool>) {
    let (mut tools, mut left_out): (Vec<MountedToolDefinition>, Vec<OmittedTool>) = (Vec::new(), Vec::new());
    let mut looks: HashMap<String, String> = HashMap::new();
    for (theirs, definition) in definitions.filter(|(theirs, _)| filter.has(theirs)) {
        let made = to_definition(server, effect, theirs, definition).and_then(|tool| {
            match looks.entry(skeleton(&tool.definition.card.name)) {
                Entry::Occupied(known) => Err(format!(
                    "its name looks like that of `{}`; name the one you want under `tools` of [mcp.servers.{server}]",
                    escape_hidden(known.get())
                )),
                Entry::Vacant(place) => {
                    place.insert(theirs.clone());
                    Ok(tool)
                }
            }
        });
        match made {
            Ok(tool) => tools.push(tool),
            Err(why) => {
                left_out.push(OmittedTool { file: format!("{server}/{}", escape_hidden(theirs)), why })
            }
        }
    }
    (tools, left_out)
}

fn to_definition(
    server: &str,
    effect: Effect,
    theirs: &str,
    definition: &Value,
) -> Result<MountedToolDefinition, String> {
    let name = format!("{server}/{}", mounted_name(theirs)?);
    if name.len() > MAX_MOUNTED_NAME_CHARS {
        return Err(format!(
            "`{name}` has more than {MAX_MOUNTED_NAME_CHARS} characters; a shorter name of the server may help"
        ));
    }
    if definition.to_string().len() > MAX_MOUNTED_DEFINITION_BYTES {
        return Err(format!("its definition has more than {MAX_MOUNTED_DEFINITION_BYTES} bytes"));
    }
    let text = |key: &str| definition.get(key).and_then(Value::as_str).unwrap_or_default().trim();
    let title = Some(text("title")).filter(|title| !title.is_empty());
    let title = title.or_else(|| definition.pointer("/annotations/title").and_then(Value::as_str));
    let title = truncate_description(title.unwrap_or(theirs), MAX_MOUNTED_TITLE_CHARS);
    let hint = |key: &str, usual: bool| {
        definition.pointer(&format!("/annotations/{key}")).and_then(Value::as_bool).unwrap_or(usual)
    };
    let description = escape_hidden(&description_text(text("description"))).into_owned();
    let card = Card {
        destructive: hint("destructiveHint", true) && !hint("readOnlyHint", false),
        idempotent: hint("idempotentHint", false) || hint("readOnlyHint", false),
        // The server's annotation `readOnlyHint` does not reduce approvals.
        ..Card::from_parts(name.into(), escape_hidden(&title).into_owned().into(), description.into(), effect)
    };
    let input = schema(definition.get("inputSchema").cloned().unwrap_or_else(|| json!({})))?;
    Ok(MountedToolDefinition {
        definition: ToolDefinition { card, input, output: None },
        original_name: theirs.to_owned(),
        hash: hash(definition),
    })
}

/// Returns the part of our name after the `/`. Characters that our names cannot have become `_`.
fn mounted_name(theirs: &str) -> Result<String, String> {
    if theirs.is_empty() {
        return Err("it has no name".to_owned());
    }
    if !theirs.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("its name has characters outside ASCII, which can imitate others".to_owned());
    }
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    Ok(theirs.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect())
}

fn description_text(text: &str) -> String {
    if text.is_empty() {
        return "A tool of a mounted MCP server, without a description.".to_owned();
    }
    truncate_description(text, MAX_MOUNTED_DESCRIPTION_CHARS)
}

fn truncate_description(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 6).chain(" [cut]".chars()).collect()
}

fn schema(mut value: Value) -> Result<Schema, String> {
    let Value::Object(map) = &mut value else { return Err("its `inputSchema` is not an object".to_owned()) };
    if map.get("type").is_some_and(|kind| kind != "object") {
        return Err("its `inputSchema` does not describe an object of named arguments".to_owned());
    }
    map.remove("$schema");
    map.insert("type".to_owned(), json!("object"));
    map.entry("properties").or_insert_with(|| json!({}));
    map.entry("required").or_insert_with(|| json!([]));
    escape_all(&mut value);
    let schema = Schema::new(value);
    schema.verify().map_err(|error| format!("its `inputSchema` is not a JSON schema: {error}"))?;
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(tools: &[Value]) -> BTreeMap<String, Value> {
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        tools.iter().map(|tool| (name(tool), sort_keys(tool.clone()))).collect()
    }

    fn offer(tools: &[Value], filter: &MountedTools) -> (Vec<MountedToolDefinition>, Vec<OmittedTool>) {
        offered_definitions("srv", Effect::Execute, filter, definitions(tools).iter())
    }

    fn tool(name: &str) -> Value {
        json!({"name": name, "description": "d", "inputSchema": {"type": "object"}})
    }

    #[test]
    fn mounted_tool_is_renamed_and_read_only_hint_ignored() {
        let mut said = tool("get.issue");
        said["annotations"] = json!({"readOnlyHint": true, "title": "Get"});
        said["description"] = json!(format!("look\u{202e}{}", "x".repeat(3_000)));
        let (tools, left_out) = offer(&[said], &MountedTools::All);
        assert!(left_out.is_empty(), "{left_out:?}");
        let card = &tools[0].definition.card;
        assert_eq!((card.name.as_ref(), card.title.as_ref()), ("srv/get_issue", "Get"));
        assert_eq!((card.effect, tools[0].original_name.as_str()), (Effect::Execute, "get.issue"));
        assert!(card.description.starts_with("look\\u{202e}x") && card.description.ends_with("[cut]"));
    }

    #[test]
    fn invalid_mounted_tool_is_left_out_with_reason() {
        let mut listed = tool("list");
        listed["inputSchema"] = json!({"type": "array"});
        let mut large = tool("large");
        large["description"] = json!("x".repeat(40_000));
        let mut broken = tool("broken");
        broken["inputSchema"] = json!({"type": "object", "properties": {"a": {"type": "nonsense"}}});
        for (tool, why) in [
            (listed, "not describe an object"),
            (large, "more than 32768 bytes"),
            (broken, "is not a JSON schema"),
            (tool("gеt"), "characters outside ASCII"),
            (tool(&"x".repeat(70)), "more than 64 characters"),
        ] {
            let (tools, left_out) = offer(&[tool], &MountedTools::All);
            assert!(tools.is_empty() && left_out[0].why.contains(why), "{left_out:?}");
        }
        let (tools, left_out) = offer(&[tool("Get"), tool("get")], &MountedTools::All);
        assert_eq!((tools.len(), left_out.len()), (1, 1));
        assert!(left_out[0].why.contains("looks like that of `Get`"));
    }

    #[test]
    fn mounted_tool_filter_matches_the_servers_own_names() {
        let filter = MountedTools::Named(vec!["a.b".to_owned()]);
        let (tools, _) = offer(&[tool("a.b"), tool("a")], &filter);
        assert_eq!(tools.iter().map(|tool| tool.original_name.as_str()).collect::<Vec<_>>(), ["a.b"]);
        assert!(offer(&[tool("a")], &MountedTools::Named(Vec::new())).0.is_empty());
        assert_eq!(offer(&[tool("a.b"), tool("a")], &MountedTools::All).0.len(), 2);
    }

    #[test]
    fn tool_definition_hash_ignores_key_order() {
        let one: Tool =
            serde_json::from_str(r#"{"name":"a","inputSchema":{"type":"object","x":1}}"#).unwrap();
        let other: Tool =
            serde_json::from_str(r#"{"inputSchema":{"x":1,"type":"object"},"name":"a"}"#).unwrap();
        assert_eq!(hash(&comparable_definition(&one)), hash(&comparable_definition(&other)));
        let third: Tool =
            serde_json::from_str(r#"{"name":"a","inputSchema":{"type":"object","x":2}}"#).unwrap();
        assert_ne!(hash(&comparable_definition(&one)), hash(&comparable_definition(&third)));
    }
}
