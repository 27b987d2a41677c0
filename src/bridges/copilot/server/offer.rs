//! The tools that we offer the server: lowered to what it takes, checked one by one before they are sent in one batch, since
//! one bad tool has the server refuse them all.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::error::CopilotError;
use crate::tools::export::{Format, Names, export};
use crate::tools::tool::Definition;

/// The most tools that a model is given, the server's own included: a longer list is an error of its service, and the server
/// only groups those of MCP servers.
pub const MOST_TOOLS: usize = 128;

/// Names that the server knows for tools of its own, or treats in a way of its own. A client's tool of such a name replaces
/// the server's, or unlocks others.
const SERVERS_OWN: [&str; 16] = [
    "apply_patch",
    "create_file",
    "fetch_webpage",
    "file_search",
    "get_errors",
    "grep_search",
    "insert_edit_into_file",
    "list_dir",
    "manage_todo_list",
    "read_file",
    "replace_string_in_file",
    "run_in_terminal",
    "run_subagent",
    "semantic_search",
    "update_user_preferences",
    "validate_cves",
];

/// A tool that is not registered, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why, in a few words.
    pub why: String,
}

/// One tool of the offer.
#[derive(Debug, Clone)]
pub struct Offered {
    /// What the server is told.
    pub told: Value,
    /// What is called.
    pub definition: Definition,
}

impl Offered {
    fn new(told: Value, definition: Definition) -> Self {
        Self { told, definition }
    }
}

/// All tools that the server is offered.
#[derive(Debug, Clone)]
pub struct Offer {
    /// By the name that the server is told.
    tools: BTreeMap<String, Offered>,
    names: Names,
}

impl Offer {
    /// The offer of these tools, and those of them that cannot be in it.
    ///
    /// # Errors
    /// Where there are more than any list may have.
    pub fn of(definitions: &[Definition]) -> Result<(Self, Vec<LeftOut>), CopilotError> {
        let exported = export(Format::Copilot, definitions).map_err(CopilotError::Tools)?;
        let (mut tools, mut left_out) = (BTreeMap::new(), Vec::new());
        for (told, definition) in exported.tools.into_iter().zip(definitions) {
            let name = told.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            match check(&told) {
                Ok(()) => {
                    tools.insert(name, Offered::new(told, definition.clone()));
                }
                Err(why) => left_out.push(LeftOut { name: definition.card.name.to_string(), why }),
            }
        }
        Ok((Self { tools, names: exported.names }, left_out))
    }

    /// The tools as the server is told of them, by name.
    pub fn told(&self) -> Vec<&Value> {
        self.tools.values().map(|tool| &tool.told).collect()
    }

    /// The names that the server is told, in the order of [`told`](Self::told).
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The tool that the server calls `name`.
    pub fn get(&self, name: &str) -> Option<&Offered> {
        self.tools.get(name)
    }

    /// Our own name of what the server calls `name`.
    pub fn ours<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.ours(name).unwrap_or(name)
    }

    /// Takes a tool out of the offer.
    pub fn remove(&mut self, name: &str) -> Option<Offered> {
        self.tools.remove(name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

/// Whether the server would take this tool, by the rules measured on it.
fn check(tool: &Value) -> Result<(), String> {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err("its name is not of 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    if SERVERS_OWN.contains(&name) {
        return Err("the server has a tool of that name, which this one would replace".to_owned());
    }
    if text("description").trim().is_empty() {
        return Err("it has no description".to_owned());
    }
    let Some(schema) = tool.get("inputSchema") else { return Ok(()) };
    if !schema.get("type").is_some_and(Value::is_string) {
        return Err("the schema of its arguments has no single `type`".to_owned());
    }
    if !schema.get("required").is_some_and(Value::is_array) {
        return Err("the schema of its arguments has no list `required`".to_owned());
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.ok_or("the schema of its arguments has no `properties`")?;
    for (name, property) in properties {
        for word in ["type", "description"] {
            let said = property.get(word).and_then(Value::as_str);
            if said.is_none_or(|said| said.trim().is_empty()) {
                return Err(format!("its argument `{name}` has no single `{word}`"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::built_in;
    use crate::tools::schema::Schema;
    use crate::tools::tool::Card;

    fn definition(name: &'static str, input: Value) -> Definition {
        Definition { card: Card::reading(name, "T", "what it does"), input: Schema::new(input), output: None }
    }

    #[test]
    fn every_tool_of_ours_can_be_offered() {
        let registry = built_in::registry().unwrap();
        let all: Vec<Definition> = registry.definitions(|_| true).into_iter().cloned().collect();
        let (offer, left_out) = Offer::of(&all).unwrap();
        assert_eq!((offer.len(), left_out), (all.len(), Vec::new()));
    }

    #[test]
    fn what_takes_the_servers_name_is_left_out_and_others_are_not() {
        let schema = json!({"type": "object", "properties": {"p": {"type": ["string", "null"]}}});
        let tools = [definition("read_file", schema.clone()), definition("files/read", schema)];
        let (offer, left_out) = Offer::of(&tools).unwrap();
        assert_eq!(offer.names().collect::<Vec<_>>(), ["files__read"]);
        assert_eq!(offer.ours("files__read"), "files/read");
        assert_eq!(left_out[0].name, "read_file");
        assert!(left_out[0].why.contains("would replace"), "{left_out:?}");
    }

    #[test]
    fn each_rule_of_the_server_is_held_here_first() {
        let good = json!({"name": "a", "description": "d", "inputSchema":
            {"type": "object", "properties": {"p": {"type": "string", "description": "d"}}, "required": []}});
        assert_eq!(check(&good), Ok(()));
        let broken = |pointer: &str, value: Option<Value>| {
            let mut tool = good.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let parent = tool.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Some(value) => parent.insert(key.to_owned(), value),
                None => parent.remove(key),
            };
            check(&tool).unwrap_err()
        };
        for (pointer, value, said) in [
            ("/name", Some(json!("a b")), "letters"),
            ("/name", Some(json!("x".repeat(65))), "letters"),
            ("/description", Some(json!(" ")), "description"),
            ("/inputSchema/type", Some(json!(["object"])), "`type`"),
            ("/inputSchema/required", None, "`required`"),
            ("/inputSchema/properties", None, "`properties`"),
            ("/inputSchema/properties/p/type", Some(json!(["string", "null"])), "`type`"),
            ("/inputSchema/properties/p/description", None, "`description`"),
        ] {
            let why = broken(pointer, value);
            assert!(why.contains(said), "{pointer}: {why}");
        }
    }
}
