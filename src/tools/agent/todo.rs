//! `todoread` and `todowrite`: the list of steps of one session, replaced as a whole, kept on disk.
//!
//! A session ends with its connection, and the next one begins with an empty list. It can name the
//! list of another session, and answers mention lists with open items. A list is only read or
//! replaced by name, so that two clients do not overwrite each other's.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::{from_state_error, run_blocking};
use crate::config::{StateFolder, StateName};
use crate::policy::request::Effect;
use crate::tools::api::tool::{Call, Caller, Card, Tool};

/// The most items of a list.
const MAX_TODO_ITEMS: usize = 200;
/// The longest `id`, in characters.
const ID_CHARS: usize = 100;
/// The longest `content`, in characters.
const CONTENT_CHARS: usize = 2_000;
/// The largest file of a list; no list within these limits exceeds it.
const FILE_BYTES: u64 = 4 << 20;
/// The most lists of one workspace. A further one replaces the oldest.
const MAX_TODO_LISTS: usize = 200;
/// The most lists of other sessions that an answer mentions.
const MAX_OTHER_SESSION_LISTS: usize = 5;
/// The longest excerpt of another list's next item, in characters.
const NEXT_CHARS: usize = 80;
const TODO_FORMAT_VERSION: u32 = 1;

/// The arguments of `todoread`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoReadArgs {
    /// Another list.
    pub session_id: Option<String>,
}

/// The arguments of `todowrite`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct TodoWriteArgs {
    /// The whole list.
    pub todos: Vec<TodoItem>,
    /// Another list.
    pub session_id: Option<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct TodoItem {
    /// Default: its position.
    #[serde(default)]
    pub id: String,
    /// The step.
    pub content: String,
    /// The progress.
    pub status: TodoStatus,
    /// Default `medium`.
    #[serde(default)]
    pub priority: TodoPriority,
}

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum TodoStatus {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    Pending,
    #[allow(missing_docs)] // as above
    InProgress,
    #[allow(missing_docs)] // as above
    Completed,
}

/// The priority of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum TodoPriority {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    High,
    #[default]
    #[allow(missing_docs)] // as above
    Medium,
    #[allow(missing_docs)] // as above
    Low,
}

/// The current list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TodoOutput {
    /// The session that owns the list.
    pub session_id: String,
    /// In the given order.
    pub items: Vec<TodoItem>,
    /// The number of items.
    pub count: usize,
    /// The number of items in progress: 0 or 1.
    pub in_progress: usize,
    /// Unfinished lists of other sessions, newest first, if this list is empty and the call named
    /// no session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub others: Vec<OtherList>,
}

/// A list of another session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OtherList {
    /// The session id.
    pub session_id: String,
    /// The number of items not completed.
    pub open: usize,
    /// The first item in progress, else the first open item.
    pub next: String,
}

/// The content of a list's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoFile {
    version: u32,
    /// The time of the last write, in milliseconds since 1970.
    #[serde(default)]
    time_ms: u64,
    items: Vec<TodoItem>,
}

/// The `todoread` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TodoRead;

impl Tool for TodoRead {
    type Args = TodoReadArgs;
    type Output = TodoOutput;

    fn card(&self) -> Card {
        Card::reading(
            "todoread",
            "Read the todo list",
            "This session's todo list: the state of a long task. Not for a new or simple one.",
        )
    }

    async fn run(&self, call: Call<'_>, args: TodoReadArgs) -> Result<TodoOutput, ToolError> {
        let named = args.session_id.is_some();
        let (folder, name) = list_location(call.context, call.caller, args.session_id)?;
        run_blocking(move || {
            let items = read(&folder, &name)?;
            let others = if named || !items.is_empty() { Vec::new() } else { other_lists(&folder, &name)? };
            Ok(TodoOutput { others, ..output(&name, items) })
        })
        .await
    }
}

/// The `todowrite` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TodoWrite;

impl Tool for TodoWrite {
    type Args = TodoWriteArgs;
    type Output = TodoOutput;

    fn card(&self) -> Card {
        Card::new(
            "todowrite",
            "Write the todo list",
            "Replaces this session's todo list: every item, at most one in_progress. After each step of a long task. Not for simple \
             ones.",
            Effect::Edit,
        )
        .idempotent()
    }

    async fn run(&self, call: Call<'_>, args: TodoWriteArgs) -> Result<TodoOutput, ToolError> {
        let mut todos = args.todos;
        for (at, item) in todos.iter_mut().enumerate().filter(|(_, item)| item.id.is_empty()) {
            item.id = (at + 1).to_string();
        }
        check(&todos)?;
        let (folder, name) = list_location(call.context, call.caller, args.session_id)?;
        run_blocking(move || Ok(output(&name, write(&folder, &name, todos)?))).await
    }
}

fn output(name: &StateName, items: Vec<TodoItem>) -> TodoOutput {
    let in_progress = items.iter().filter(|item| item.status == TodoStatus::InProgress).count();
    let session_id = name.as_str().to_owned();
    TodoOutput { session_id, count: items.len(), in_progress, items, others: Vec::new() }
}

fn check(items: &[TodoItem]) -> Result<(), ToolError> {
    let wrong = |what: String| Err(ToolError::new(ErrorCode::InvalidArgs, format!("todowrite: {what}")));
    if items.len() > MAX_TODO_ITEMS {
        return wrong(format!("`todos` has {} items, accepted: at most {MAX_TODO_ITEMS}", items.len()));
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

/// The folder of this workspace's lists, and the file of the named list, else of the caller's.
fn list_location(
    context: &Context,
    caller: &Caller,
    named: Option<String>,
) -> Result<(StateFolder, StateName), ToolError> {
    let session = named.unwrap_or_else(|| caller.session.clone());
    let name = StateName::new(&session).ok_or_else(|| {
        let what = format!(
            "the session name {session:?} is invalid: use at most 128 letters, digits, `-`, `_` and `.`"
        );
        ToolError::new(ErrorCode::InvalidArgs, what)
    })?;
    // Sessions of two workspaces may have the same name.
    let root = context.workspace.root();
    Ok((StateFolder::of_workspace(&context.folders, "todos", root, "the todo lists"), name))
}

fn read(folder: &StateFolder, name: &StateName) -> Result<Vec<TodoItem>, ToolError> {
    read_list(folder, name).map(|kept| kept.map_or_else(Vec::new, |kept| kept.items))
}

/// Lists of other sessions with open items, the newest first.
fn other_lists(folder: &StateFolder, own: &StateName) -> Result<Vec<OtherList>, ToolError> {
    let mut found: Vec<(u64, OtherList)> = Vec::new();
    for name in folder.names().map_err(from_state_error)?.iter().filter(|name| *name != own) {
        // A damaged list is reported only to a caller that names it.
        let Ok(Some(kept)) = read_list(folder, name) else { continue };
        let open = || kept.items.iter().filter(|item| item.status != TodoStatus::Completed);
        let next = open().find(|item| item.status == TodoStatus::InProgress).or_else(|| open().next());
        if let Some(next) = next {
            let next = next.content.chars().take(NEXT_CHARS).collect();
            let session_id = name.as_str().to_owned();
            found.push((kept.time_ms, OtherList { session_id, open: open().count(), next }));
        }
    }
    found.sort_by(|(a, _), (b, _)| b.cmp(a));
    Ok(found.into_iter().take(MAX_OTHER_SESSION_LISTS).map(|(_, list)| list).collect())
}

fn read_list(folder: &StateFolder, name: &StateName) -> Result<Option<TodoFile>, ToolError> {
    let Some(bytes) = folder.read(name, FILE_BYTES).map_err(from_state_error)? else { return Ok(None) };
    let kept: Result<TodoFile, _> = serde_json::from_slice(&bytes);
    let reason = match kept {
        Ok(kept) if kept.version == TODO_FORMAT_VERSION => return Ok(Some(kept)),
        Ok(kept) => format!("its version is {}, this program supports {TODO_FORMAT_VERSION}", kept.version),
        Err(error) => error.to_string(),
    };
    let error = ToolError::new(ErrorCode::Internal, format!("the stored todo list is damaged: {reason}"));
    Err(error.with_hint("write the whole list again with todowrite"))
}

fn write(folder: &StateFolder, name: &StateName, items: Vec<TodoItem>) -> Result<Vec<TodoItem>, ToolError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let kept = TodoFile { version: TODO_FORMAT_VERSION, time_ms, items };
    let bytes = serde_json::to_vec(&kept).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the todo list cannot be written as JSON: {error}"))
    })?;
    let locked = folder.lock().map_err(from_state_error)?;
    let names = folder.names().map_err(from_state_error)?;
    if names.len() >= MAX_TODO_LISTS && !names.contains(name) {
        // An unreadable list is the first to be removed.
        let written =
            |name: &&StateName| self::read_list(folder, name).ok().flatten().map(|kept| kept.time_ms);
        if let Some(oldest) = names.iter().min_by_key(written) {
            locked.remove(oldest).map_err(from_state_error)?;
        }
    }
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
    fn invalid_todo_list_is_refused_with_reason() {
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
