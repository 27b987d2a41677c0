//! The offer of tools to the Copilot server, converted to its format.
//!
//! Each tool is checked before all are sent in one batch, since the server refuses the whole batch
//! for one invalid tool.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::error::CopilotError;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::copilot::aliases::{self, AliasChoice, AliasClass, AliasName};
use crate::runtime::Runtime;
use crate::tools::api::export::{ExportedNames, ToolListFormat, export};
use crate::tools::api::tool::{Caller, ToolDefinition};

/// The limit on tools for a model, including the server's own. The model's service rejects longer
/// lists, and the server groups only tools of MCP servers.
pub(crate) const MAX_OFFERED_TOOLS: usize = 128;

/// Names of the server's own tools, and names with special meaning. A client's tool of such a name
/// replaces the server's, or unlocks others.
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

/// A tool that is not registered, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct UnregisteredTool {
    /// The tool's name.
    pub(crate) name: String,
    /// The reason, in a few words.
    pub(crate) why: String,
}

/// The choice of aliases for the server's own tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum WantedNames {
    /// Those that do not replace a better tool of the server.
    #[default]
    Usual,
    /// No aliases.
    None,
    /// All aliases that the rules permit for the caller.
    All,
    /// The named aliases, as far as the rules permit them for the caller.
    These(Vec<&'static AliasName>),
}

impl WantedNames {
    /// Parses a list of words: `usual`, `none`, `all`, or names.
    ///
    /// # Errors
    /// A word is none of these.
    pub(crate) fn parse(words: &[String]) -> Result<Self, ToolError> {
        match words {
            [] => Ok(Self::Usual),
            [word] if word == "usual" => Ok(Self::Usual),
            [word] if word == "none" => Ok(Self::None),
            [word] if word == "all" => Ok(Self::All),
            words => words.iter().map(|word| find_name(word)).collect::<Result<_, _>>().map(Self::These),
        }
    }

    /// Returns each alias with the decision to offer it and the reason.
    pub(crate) fn choices(&self, runtime: &Runtime, caller: &Caller) -> Vec<AliasChoice> {
        let chosen = |name: &'static AliasName, wanted: bool| {
            let offered = name.is_offered(runtime, caller);
            let why = match (wanted, offered) {
                (false, _) => "it was not requested".to_owned(),
                (true, false) => "the settings hide the tools that it is based on".to_owned(),
                (true, true) => "it was requested".to_owned(),
            };
            AliasChoice { name, registered: wanted && offered, why }
        };
        let all = aliases::all().iter();
        match self {
            Self::Usual => aliases::choice(runtime, caller),
            Self::None => all.map(|name| chosen(name, false)).collect(),
            Self::All => all.map(|name| chosen(name, true)).collect(),
            Self::These(these) => {
                let wanted = |name: &AliasName| these.iter().any(|these| these.name() == name.name());
                all.map(|name| chosen(name, wanted(name))).collect()
            }
        }
    }
}

impl PartialEq for AliasName {
    /// Names are unique.
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for AliasName {}

fn find_name(word: &str) -> Result<&'static AliasName, ToolError> {
    aliases::find(word).ok_or_else(|| {
        let known = aliases::all().iter().map(AliasName::name).collect::<Vec<_>>();
        let error = format!("`{}` is not the name of a server's own tool", word.escape_debug());
        ToolError::new(ErrorCode::InvalidArgs, error)
            .with_hint(format!("give usual, none, all, or some of: {}", known.join(", ")))
    })
}

/// One tool of the offer.
#[derive(Debug, Clone)]
pub(crate) struct CopilotOfferEntry {
    /// The declaration for the server.
    pub(crate) declaration: Value,
    /// The definition of the called tool.
    pub(crate) definition: ToolDefinition,
    /// The alias, if the tool is one.
    pub(crate) name: Option<&'static AliasName>,
}

impl CopilotOfferEntry {
    /// Returns true if the server lists tools of its own in place of this one, which write through
    /// it.
    pub(crate) fn unlocks_server_tools(&self) -> bool {
        self.name.is_some_and(|name| name.class() == AliasClass::Unlocks)
    }
}

/// All tools offered to the server.
#[derive(Debug, Clone)]
pub(crate) struct CopilotOffer {
    /// The tools, by their declared names.
    tools: BTreeMap<String, CopilotOfferEntry>,
    names: ExportedNames,
    choice: Vec<AliasChoice>,
}

impl CopilotOffer {
    /// Creates the offer of these tools and the chosen aliases. Returns it with the tools left out.
    /// A tool takes precedence over an alias.
    ///
    /// # Errors
    /// The list exceeds the general limit.
    pub(crate) fn new(
        definitions: &[ToolDefinition],
        choice: &[AliasChoice],
    ) -> Result<(Self, Vec<UnregisteredTool>), CopilotError> {
        let exported = export(ToolListFormat::Copilot, definitions).map_err(CopilotError::Tools)?;
        let (mut tools, mut left_out) = (BTreeMap::new(), Vec::new());
        for (entry, definition) in exported.tools.into_iter().zip(definitions) {
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            match check_tool(&entry) {
                Ok(()) => {
                    tools.insert(
                        name,
                        CopilotOfferEntry { declaration: entry, definition: definition.clone(), name: None },
                    );
                }
                Err(why) => left_out.push(UnregisteredTool { name: definition.card.name.to_string(), why }),
            }
        }
        for chosen in choice.iter().filter(|choice| choice.registered) {
            let name = chosen.name;
            let (entry, definition) = (name.registration(), name.definition().clone());
            tools.entry(name.name().to_owned()).or_insert(CopilotOfferEntry {
                declaration: entry,
                definition,
                name: Some(name),
            });
        }
        Ok((Self { tools, names: exported.names, choice: choice.to_vec() }, left_out))
    }

    /// The aliases of the server's own tools, with the decision on each and the reason.
    pub(crate) fn choice(&self) -> &[AliasChoice] {
        &self.choice
    }

    /// The declarations for the server, sorted by name.
    pub(crate) fn definitions(&self) -> Vec<&Value> {
        self.tools.values().map(|tool| &tool.declaration).collect()
    }

    /// The declared names, in the order of [`definitions`](Self::definitions).
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Returns the tool with the declared name `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&CopilotOfferEntry> {
        self.tools.get(name)
    }

    /// Returns our own name of the tool declared as `name`.
    pub(crate) fn internal_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.internal_name(name).unwrap_or(name)
    }

    /// Removes a tool from the offer.
    pub(crate) fn remove(&mut self, name: &str) -> Option<CopilotOfferEntry> {
        self.tools.remove(name)
    }
}

/// Checks that the server would accept this tool, by rules found through experiments.
fn check_tool(tool: &Value) -> Result<(), String> {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err("its name must be 1 to 64 letters, digits, `_` and `-`".to_owned());
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
            let value = property.get(word).and_then(Value::as_str);
            if value.is_none_or(|value| value.trim().is_empty()) {
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
    use crate::tools::api::built_in;
    use crate::tools::api::schema::Schema;
    use crate::tools::api::tool::Card;

    fn definition(name: &'static str, input: Value) -> ToolDefinition {
        ToolDefinition {
            card: Card::reading(name, "T", "what it does"),
            input: Schema::new(input),
            output: None,
        }
    }

    #[test]
    fn every_built_in_tool_can_be_offered_to_copilot() {
        let registry = built_in::registry().unwrap();
        let all: Vec<ToolDefinition> = registry.definitions(|_| true).into_iter().cloned().collect();
        let (offer, left_out) = CopilotOffer::new(&all, &[]).unwrap();
        assert_eq!((offer.tools.len(), left_out), (all.len(), Vec::new()));
    }

    #[test]
    fn tool_with_name_of_copilot_tool_is_left_out() {
        let schema = json!({"type": "object", "properties": {"p": {"type": ["string", "null"]}}});
        let tools = [definition("read_file", schema.clone()), definition("files/read", schema)];
        let (offer, left_out) = CopilotOffer::new(&tools, &[]).unwrap();
        assert_eq!(offer.names().collect::<Vec<_>>(), ["files__read"]);
        assert_eq!(offer.internal_name("files__read"), "files/read");
        assert_eq!(left_out[0].name, "read_file");
        assert!(left_out[0].why.contains("would replace"), "{left_out:?}");
    }

    #[test]
    fn tool_registration_breaking_a_copilot_rule_is_refused() {
        let good = json!({"name": "a", "description": "d", "inputSchema":
            {"type": "object", "properties": {"p": {"type": "string", "description": "d"}}, "required": []}});
        assert_eq!(check_tool(&good), Ok(()));
        let broken = |pointer: &str, value: Option<Value>| {
            let mut tool = good.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let parent = tool.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Some(value) => parent.insert(key.to_owned(), value),
                None => parent.remove(key),
            };
            check_tool(&tool).unwrap_err()
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
