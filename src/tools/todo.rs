//! `todoread` and `todowrite`: the list of steps of one session, replaced as a whole, kept on disk.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::context::Context;
use super::error::{ErrorCode, ToolError};
use super::keeping::{from_state_error, off_thread};
use super::tool::{Call, Caller, Card, Tool};
use crate::config::{StateFolder, StateName};
use crate::policy::request::Effect;
use crate::text::hex;

/// The most items of a list.
const MOST_ITEMS: usize = 200;
/// The longest `id`, in characters.
const ID_CHARS: usize = 100;
/// The longest `content`, in characters.
const CONTENT_CHARS: usize = 2_000;
/// More than any list within these limits takes on disk.
const FILE_BYTES: u64 = 4 << 20;
const VERSION: u32 = 1;

/// The arguments of `todoread`: none.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoReadArgs {}

/// The arguments of `todowrite`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct TodoWriteArgs {
    /// The whole list.
    pub todos: Vec<TodoItem>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct TodoItem {
    #[allow(missing_docs)] // a doc comment would cost every model tokens for what the name says
    pub id: String,
    #[allow(missing_docs)] // as above
    pub content: String,
    #[allow(missing_docs)] // as above
    pub status: TodoStatus,
    #[allow(missing_docs)] // as above
    pub priority: TodoPriority,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TodoStatus {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Pending,
    #[allow(missing_docs)] // as above
    InProgress,
    #[allow(missing_docs)] // as above
    Completed,
}

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TodoPriority {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    High,
    #[allow(missing_docs)] // as above
    Medium,
    #[allow(missing_docs)] // as above
    Low,
}

/// The list as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TodoOutput {
    /// Whose it is.
    pub session_id: String,
    /// In the order in which they were given.
    pub items: Vec<TodoItem>,
    /// How many.
    pub count: usize,
    /// How many of them are in progress: none or one.
    pub in_progress: usize,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    items: Vec<TodoItem>,
}

/// The tool.
#[derive(Debug, Clone, Copy)]
pub struct TodoRead;

impl Tool for TodoRead {
    type Args = TodoReadArgs;
    type Output = TodoOutput;

    fn card(&self) -> Card {
        Card::reading(
            "todoread",
            "Read the todo list",
            "This session's todo list. Read it to see where a long task stands; not for a new or simple one.",
        )
    }

    async fn run(&self, call: Call<'_>, _args: TodoReadArgs) -> Result<TodoOutput, ToolError> {
        let (folder, name) = place(call.context, call.caller)?;
        let items = off_thread(move || read(&folder, &name)).await?;
        Ok(output(call.caller, items))
    }
}

/// The tool.
#[derive(Debug, Clone, Copy)]
pub struct TodoWrite;

impl Tool for TodoWrite {
    type Args = TodoWriteArgs;
    type Output = TodoOutput;

    fn card(&self) -> Card {
        Card::new(
            "todowrite",
            "Write the todo list",
            "Replace this session's todo list; give every item, at most one in_progress. For tasks of several steps, \
             after each step; not for simple ones.",
            Effect::Edit,
        )
        .idempotent()
    }

    async fn run(&self, call: Call<'_>, args: TodoWriteArgs) -> Result<TodoOutput, ToolError> {
        check(&args.todos)?;
        let (folder, name) = place(call.context, call.caller)?;
        let items = off_thread(move || write(&folder, &name, args.todos)).await?;
        Ok(output(call.caller, items))
    }
}

fn output(caller: &Caller, items: Vec<TodoItem>) -> TodoOutput {
    let in_progress = items.iter().filter(|item| item.status == TodoStatus::InProgress).count();
    TodoOutput { session_id: caller.session.clone(), count: items.len(), in_progress, items }
}

fn check(items: &[TodoItem]) -> Result<(), ToolError> {
    let wrong = |what: String| Err(ToolError::new(ErrorCode::InvalidArgs, format!("todowrite: {what}")));
    if items.len() > MOST_ITEMS {
        return wrong(format!("`todos` has {} items, accepted: at most {MOST_ITEMS}", items.len()));
    }
    let mut ids = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let limits = [("id", &item.id, ID_CHARS), ("content", &item.content, CONTENT_CHARS)];
        for (field, text, most) in limits {
            let chars = text.chars().count();
            if text.trim().is_empty() || chars > most {
                return wrong(format!(
                    "`todos.{at}.{field}` has {chars} characters, accepted: 1 to {most}, not only spaces"
                ));
            }
        }
        if !ids.insert(&item.id) {
            return wrong(format!(
                "`todos.{at}.id` is {:?} for the second time; give each item its own",
                item.id
            ));
        }
    }
    let busy: Vec<String> = items
        .iter()
        .filter(|item| item.status == TodoStatus::InProgress)
        .map(|item| format!("{:?}", item.id))
        .collect();
    if busy.len() > 1 {
        return wrong(format!("{} are in_progress, accepted: at most one item", busy.join(", ")));
    }
    Ok(())
}

/// The folder of this workspace's lists, and the file of the caller's.
fn place(context: &Context, caller: &Caller) -> Result<(StateFolder, StateName), ToolError> {
    let name = StateName::new(&caller.session).ok_or_else(|| {
        let what = format!(
            "the session is called {:?}, which cannot be kept: letters, digits, `-`, `_` and `.`, at most 128",
            caller.session
        );
        ToolError::new(ErrorCode::InvalidArgs, what)
    })?;
    // Sessions of two workspaces may have one name.
    let root = Sha256::digest(context.workspace.root().as_os_str().as_encoded_bytes());
    let key = hex(&root[..8]);
    Ok((StateFolder::new(&context.folders, format!("todos/{key}"), "the todo lists"), name))
}

fn read(folder: &StateFolder, name: &StateName) -> Result<Vec<TodoItem>, ToolError> {
    let Some(bytes) = folder.read(name, FILE_BYTES).map_err(from_state_error)? else { return Ok(Vec::new()) };
    let kept: Result<Kept, _> = serde_json::from_slice(&bytes);
    let reason = match kept {
        Ok(kept) if kept.version == VERSION => return Ok(kept.items),
        Ok(kept) => format!("its version is {}, this program knows {VERSION}", kept.version),
        Err(error) => error.to_string(),
    };
    let error = ToolError::new(ErrorCode::Internal, format!("the kept todo list is damaged: {reason}"));
    Err(error.with_hint("write the whole list anew with todowrite"))
}

fn write(folder: &StateFolder, name: &StateName, items: Vec<TodoItem>) -> Result<Vec<TodoItem>, ToolError> {
    let kept = Kept { version: VERSION, items };
    let bytes = serde_json::to_vec(&kept).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the todo list cannot be put into JSON: {error}"))
    })?;
    let locked = folder.lock().map_err(from_state_error)?;
    locked.write(name, &bytes).map_err(from_state_error)?;
    Ok(kept.items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, status: TodoStatus) -> TodoItem {
        TodoItem { id: id.to_owned(), content: "do it".to_owned(), status, priority: TodoPriority::Low }
    }

    #[test]
    fn what_a_list_may_not_be() {
        use TodoStatus::{Completed, InProgress, Pending};
        let fault = |items: &[TodoItem]| check(items).map_or_else(|error| error.error, |()| String::new());
        assert_eq!(fault(&[]), "");
        assert_eq!(fault(&[item("1", InProgress), item("2", Completed), item("3", Pending)]), "");
        assert_eq!(
            fault(&[item("1", InProgress), item("b", InProgress)]),
            "todowrite: \"1\", \"b\" are in_progress, accepted: at most one item"
        );
        assert_eq!(
            fault(&[item("1", Pending), item("1", Pending)]),
            "todowrite: `todos.1.id` is \"1\" for the second time; give each item its own"
        );
        assert!(fault(&[item(" ", Pending)]).starts_with("todowrite: `todos.0.id` has 1 characters"));
        assert!(fault(&vec![item("1", Pending); 201]).contains("at most 200"));
        let long = TodoItem { content: "x".repeat(2_001), ..item("1", Pending) };
        assert!(fault(&[long]).contains("`todos.0.content` has 2001 characters"));
    }
}
