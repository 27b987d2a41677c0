//! Handles that outlive a call: a group of edits, an overlay of unsaved texts.
//!
//! Each call that uses a handle names it: `undo` undoes the edits of a group together; an overlay
//! is created by `lsp_overlay`. Clients without a session have no other way to connect calls.
//!
//! A host passes handles in `_meta`, with any tool: `lsp-tools/group` and `lsp-tools/overlay`, and
//! with the tools of todo lists `lsp-tools/session`. A model passes them in the arguments `group`
//! and `overlay`. Lists of tools with `lsp_overlay` declare these; the default list does not, to
//! stay short. The tools themselves know neither.

use std::sync::Arc;

use rmcp::model::{RequestMetaObject, Tool};
use serde_json::{Value, json};

use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::documents::view::View;
use crate::runtime::Runtime;
use crate::tools::api::tool::Card;

const GROUP: &str = "group";
const OVERLAY: &str = "overlay";
/// The prefix of both names in `_meta`.
const PREFIX: &str = "lsp-tools/";
/// The length limit of a group's name.
const MAX_GROUP_NAME_CHARS: usize = 64;

/// The tools of todo lists, and their argument for the list's name.
const LISTING: [&str; 2] = ["todoread", "todowrite"];
const LIST: &str = "session_id";
/// The tool that creates overlays.
const MAKER: &str = "lsp_overlay";
/// The handles of one call.
#[derive(Debug, Clone, Default)]
pub(super) struct McpCallHandles {
    /// The name of the group for undoing its edits.
    pub(super) group: Option<String>,
    /// The overlay over the disk.
    pub(super) view: View,
}

impl McpCallHandles {
    /// Reads the handles of a call of `tool`, and removes them from its arguments.
    ///
    /// # Errors
    /// `invalid_args` for an invalid name, `not_found` for an overlay that does not exist (any
    /// more).
    pub(super) fn take_from(
        runtime: &Runtime,
        tool: &str,
        arguments: &mut Value,
        meta: &RequestMetaObject,
    ) -> Result<Self, ToolError> {
        let mut take = |name: &str| {
            let own = take_argument(runtime, tool, arguments, name);
            own.or_else(|| meta.0.0.get(&format!("{PREFIX}{name}")).cloned()).filter(|value| !value.is_null())
        };
        let (group, overlay) = (take(GROUP), take(OVERLAY));
        let group = group.map(group_name).transpose()?;
        let view = match overlay {
            None => View::disk(),
            Some(Value::String(handle)) => runtime.overlay_view(&handle)?,
            Some(_) => return Err(invalid_argument("`overlay` must be the handle that `lsp_overlay` gave")),
        };
        Ok(Self { group, view })
    }
}

/// Sets the todo list of a call to the one named by the host, unless the model names one.
///
/// # Errors
/// `invalid_args` if neither names a list and several clients share the session, so that the list
/// would be shared as well.
pub(super) fn name_list(
    tool: &str,
    arguments: &mut Value,
    meta: &RequestMetaObject,
    is_shared: bool,
) -> Result<(), ToolError> {
    if !LISTING.contains(&tool) || arguments.get(LIST).is_some_and(|given| !given.is_null()) {
        return Ok(());
    }
    match meta.0.0.get(&format!("{PREFIX}session")) {
        Some(named) => {
            if arguments.is_null() {
                *arguments = json!({});
            }
            if let Some(given) = arguments.as_object_mut() {
                given.insert(LIST.to_owned(), named.clone());
            }
            Ok(())
        }
        None if is_shared => {
            let what = format!("{tool}: several clients share this connection; name the list");
            Err(invalid_argument(&what).with_hint("give `session_id`, a name of your choice, with each call"))
        }
        None => Ok(()),
    }
}

/// Takes the argument `name` if the tool does not have it and accepts no additional arguments.
fn take_argument(runtime: &Runtime, tool: &str, arguments: &mut Value, name: &str) -> Option<Value> {
    let given = arguments.as_object_mut()?;
    if !given.contains_key(name) {
        return None;
    }
    let tools = runtime.tools();
    let schema = tools.get(tool).ok()?.definition().input.as_value();
    let is_foreign =
        schema["additionalProperties"] == Value::Bool(false) && schema["properties"].get(name).is_none();
    if is_foreign { given.remove(name) } else { None }
}

fn group_name(value: Value) -> Result<String, ToolError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    match value {
        Value::String(name) if (1..=MAX_GROUP_NAME_CHARS).contains(&name.len()) && name.bytes().all(fits) => {
            Ok(name)
        }
        _ => Err(invalid_argument("`group` must be 1 to 64 of A-Z, a-z, 0-9, `-`, `_`, `.` and `:`")),
    }
}

fn invalid_argument(what: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, what)
}

/// Adds the handle arguments to the schemas of the `tools` that use them, if the list also has the
/// tool that creates handles.
pub(super) fn add_handle_arguments<'a>(tools: &mut [Tool], cards: impl Iterator<Item = &'a Card>) {
    if !tools.iter().any(|tool| tool.name == MAKER) {
        return;
    }
    for (tool, card) in tools.iter_mut().zip(cards) {
        let heeded = [
            (OVERLAY, "Handle of `lsp_overlay`.", card.overlaid),
            (GROUP, "A name of your choice: `undo` reverts all edits with it.", card.undoable),
        ];
        for (argument, description, _) in heeded.into_iter().filter(|(.., heeded)| *heeded) {
            let schema = Arc::make_mut(&mut tool.input_schema);
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties
                    .entry(argument)
                    .or_insert_with(|| json!({"type": "string", "description": description}));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::api::built_in;

    #[test]
    fn tool_schemas_do_not_define_group_and_overlay_arguments() {
        let registry = built_in::registry().unwrap();
        let (mut overlaid, mut undoable) = (0, 0);
        for definition in registry.definitions(|_| true) {
            let name = definition.card.name.as_ref();
            let schema = definition.input.as_value();
            if definition.card.undoable {
                assert!(schema["properties"].get(GROUP).is_none(), "{name}");
                undoable += 1;
            }
            if definition.card.overlaid {
                assert!(schema["properties"].get(OVERLAY).is_none(), "{name}");
                assert_eq!(schema["additionalProperties"], false, "{name}");
                overlaid += 1;
            }
        }
        registry.get(MAKER).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((overlaid, undoable), (13, 13));
    }

    #[test]
    fn group_name_with_invalid_characters_is_refused() {
        for good in ["a", "turn-1", "A.b:c_2"] {
            assert_eq!(group_name(json!(good)).as_deref(), Ok(good));
        }
        for bad in [json!(""), json!("a b"), json!("x".repeat(65)), json!("é"), json!(1), json!(["a"])] {
            assert!(group_name(bad.clone()).is_err(), "{bad}");
        }
    }
}
