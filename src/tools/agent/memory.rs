//! `memory`: named notes of the user that outlive a session, for all workspaces.
//!
//! The notes were written by a model that may have read hostile text, and are read in other
//! workspaces. They are data, not settings, and this program never acts on their content.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::{from_state_error, run_blocking};
use crate::config::{StateFolder, StateName};
use crate::policy::request::Effect;
use crate::tools::api::tool::{Call, Card, Tool};

/// The largest memory, in bytes.
const MAX_MEMORY_CONTENT_BYTES: usize = 64 << 10;
/// The largest number of memories.
const MAX_STORED_MEMORIES: usize = 500;

/// The arguments of `memory`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct MemoryArgs {
    #[allow(missing_docs)] // a doc comment would cost every model tokens for what the names say
    pub command: MemoryCommand,
    /// Note name (`notes.md`); for all but list.
    pub path: Option<String>,
    /// Text to save.
    pub content: Option<String>,
}

/// The operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum MemoryCommand {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Save,
    #[allow(missing_docs)] // as above
    Read,
    #[allow(missing_docs)] // as above
    List,
    #[allow(missing_docs)] // as above
    Delete,
}

/// The `memory` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory;

impl Tool for Memory {
    type Args = MemoryArgs;
    type Output = String;

    fn card(&self) -> Card {
        let description =
            "Notes that outlast the session, shared by all workspaces. `save` replaces a note of that name.";
        Card::new("memory", "Memory", description, Effect::Edit).destructive().beyond_core()
    }

    /// Returns the error messages of the guide for custom tools, in its order: the path is checked
    /// before the command.
    fn refusal(&self, arguments: &Value) -> Option<ToolError> {
        let command = arguments["command"].as_str().filter(|command| *command != "list")?;
        let path = &arguments["path"];
        let refusal = |error| Some(ToolError::new(ErrorCode::InvalidArgs, error));
        if path.is_null() || path == "" {
            return refusal("Error: 'path' is required for save/read/delete.".to_owned());
        }
        match command {
            "save" | "read" | "delete" => None,
            _ => refusal(format!("Unknown command: {}", command.escape_debug()))
                .map(|error| error.with_hint("the commands are `save`, `read`, `list` and `delete`")),
        }
    }

    async fn run(&self, call: Call<'_>, args: MemoryArgs) -> Result<String, ToolError> {
        let folder = StateFolder::new(&call.context.folders, "memories", "the memories");
        run_blocking(move || carry_out(&folder, args)).await
    }
}

fn carry_out(folder: &StateFolder, args: MemoryArgs) -> Result<String, ToolError> {
    let named = || name(args.path.as_deref().unwrap_or_default());
    match args.command {
        MemoryCommand::List => list(folder),
        MemoryCommand::Read => read(folder, &named()?),
        MemoryCommand::Delete => delete(folder, &named()?),
        MemoryCommand::Save => {
            let content = args.content.as_deref().ok_or_else(|| wrong("'content' is required for save."))?;
            save(folder, &named()?, content)
        }
    }
}

fn list(folder: &StateFolder) -> Result<String, ToolError> {
    let names = folder.names().map_err(from_state_error)?;
    if names.is_empty() {
        return Ok("No memories saved yet.".to_owned());
    }
    Ok(names.iter().map(StateName::as_str).collect::<Vec<_>>().join("\n"))
}

fn delete(folder: &StateFolder, name: &StateName) -> Result<String, ToolError> {
    let removed = folder.lock().and_then(|locked| locked.remove(name)).map_err(from_state_error)?;
    if removed { Ok(format!("Deleted memory '{}'.", name.as_str())) } else { Err(missing(name)) }
}

fn save(folder: &StateFolder, name: &StateName, content: &str) -> Result<String, ToolError> {
    if content.len() > MAX_MEMORY_CONTENT_BYTES {
        let what = format!(
            "memory: `content` has {} bytes, accepted: at most {MAX_MEMORY_CONTENT_BYTES}",
            content.len()
        );
        return Err(ToolError::new(ErrorCode::TooLarge, what));
    }
    let locked = folder.lock().map_err(from_state_error)?;
    let names = folder.names().map_err(from_state_error)?;
    if names.len() >= MAX_STORED_MEMORIES && !names.contains(name) {
        let what = format!("there are {} memories already, the limit", names.len());
        return Err(ToolError::new(ErrorCode::TooLarge, what).with_hint("delete an unneeded one"));
    }
    locked.write(name, content.as_bytes()).map_err(from_state_error)?;
    Ok(format!("Saved memory '{}'.", name.as_str()))
}

fn read(folder: &StateFolder, name: &StateName) -> Result<String, ToolError> {
    let bytes = folder.read(name, MAX_MEMORY_CONTENT_BYTES as u64).map_err(from_state_error)?;
    let bytes = bytes.ok_or_else(|| missing(name))?;
    String::from_utf8(bytes).map_err(|_| {
        let what = format!("Memory '{}' is not UTF-8; it was not written by this tool.", name.as_str());
        ToolError::new(ErrorCode::NotText, what)
    })
}

/// The last part of the given path. Callers are used to folders before it, which are ignored.
fn name(path: &str) -> Result<StateName, ToolError> {
    let last = path.rsplit('/').next().unwrap_or(path);
    StateName::new(last).ok_or_else(|| {
        wrong(&format!(
            "`path` is {path:?}, accepted: a plain name of letters, digits, spaces, `-`, `_` and `.`, at most 128 bytes, not \
             beginning with a dot or space"
        ))
    })
}

fn wrong(what: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, format!("memory: {what}"))
}

fn missing(name: &StateName) -> ToolError {
    let error = ToolError::new(ErrorCode::NotFound, format!("Memory '{}' not found.", name.as_str()));
    error.with_hint("`list` lists them")
}
