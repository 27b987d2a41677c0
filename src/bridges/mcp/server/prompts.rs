//! Prompts for common tasks with our tools.

use rmcp::model::{
    CacheScope, ErrorData, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt,
    PromptArgument, PromptMessage, Role,
};
use serde_json::{Value, json};

/// The time that a client may cache the list, in milliseconds. It changes only with the program.
const PROMPT_LIST_TTL_MS: u64 = 3_600_000;
/// The length limit of an argument. Names and paths are shorter.
const MAX_PROMPT_ARGUMENT_CHARS: usize = 4096;

/// Returns the given value of an argument, if any.
type PromptArgumentLookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// One prompt: its name, title and description, its arguments (name, description, required), and
/// its text.
struct Template {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [(&'static str, &'static str, bool)],
    text: fn(&PromptArgumentLookup<'_>) -> String,
}

const TEMPLATES: [Template; 3] = [
    Template {
        name: "fix-errors",
        title: "Fix the errors of a file",
        description: "Finds what the language servers report in a file, and fixes it",
        arguments: &[("path", "The file, relative to the workspace", true)],
        text: |argument| {
            let path = argument("path").unwrap_or_default();
            format!(
                "Fix the errors in `{path}`.\n\n\
                 1. Call `lsp_diagnostics` with this path. If the verdict is not `complete`, say what is missing instead of \
                 taking the file for clean.\n\
                 2. For each error look at what it is about (`lsp_hover`, `lsp_definition`) before changing anything.\n\
                 3. Fix the causes with `edit`, the smallest change first; its answer says which errors each edit removed and \
                 which it added. Take back with `undo` what made it worse.\n\
                 4. Call `lsp_diagnostics` again, and report what was fixed and what is left."
            )
        },
    },
    Template {
        name: "rename-safely",
        title: "Rename a symbol safely",
        description: "Renames a symbol everywhere, and checks that nothing broke",
        arguments: &[
            ("symbol", "The current name, `Class.method` for a member", true),
            ("new_name", "The new name", true),
            ("path", "A file that contains it, if the name alone is ambiguous", false),
        ],
        text: |argument| {
            let (symbol, new) =
                (argument("symbol").unwrap_or_default(), argument("new_name").unwrap_or_default());
            let place = argument("path").map(|path| format!(" in `{path}`")).unwrap_or_default();
            format!(
                "Rename `{symbol}`{place} to `{new}`.\n\n\
                 1. Call `lsp_references` to see what the change will touch, and `lsp_symbols` with the query `{new}` to see \
                 whether that name is taken.\n\
                 2. Call `lsp_rename` with `dry_run`, and read the changes and the diagnostics it foresees.\n\
                 3. If they are right, call it without `dry_run`. Text in comments, strings and documents is not renamed: find \
                 it with `grep`, and change what means the same thing.\n\
                 4. Report the files changed and the errors added, and undo the change if there are any that you cannot fix."
            )
        },
    },
    Template {
        name: "explore-symbol",
        title: "Explore a symbol",
        description: "Explains what a symbol is, where it comes from, and who uses it",
        arguments: &[
            ("symbol", "The name, `Class.method` for a member", true),
            ("path", "A file that contains it, if the name alone is ambiguous", false),
        ],
        text: |argument| {
            let symbol = argument("symbol").unwrap_or_default();
            let place = argument("path").map(|path| format!(" in `{path}`")).unwrap_or_default();
            format!(
                "Explain `{symbol}`{place}.\n\n\
                 Use `explore` for what it is, who uses it and what it uses, `lsp_hover` for its type, `lsp_references` for all uses. Read only the lines that matter. Say how far each answer can be relied \
                 on where its verdict is not `complete`, and name places as `file:line`."
            )
        },
    },
];

/// `prompts/list`.
pub(super) fn list() -> ListPromptsResult {
    let prompts = TEMPLATES.iter().map(|template| {
        let arguments = template.arguments.iter().map(|(name, description, required)| {
            PromptArgument::new(*name).with_description(*description).with_required(*required)
        });
        Prompt::new(template.name, Some(template.description), Some(arguments.collect()))
            .with_title(template.title)
    });
    ListPromptsResult::with_all_items(prompts.collect())
        .with_ttl_ms(PROMPT_LIST_TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

/// `prompts/get`.
///
/// # Errors
/// -32602 for a prompt that does not exist, or an argument that is missing or invalid.
pub(super) fn get(params: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let refused = |what: String| ErrorData::invalid_params(what, Some(json!({"name": params.name})));
    let template = TEMPLATES.iter().find(|template| template.name == params.name).ok_or_else(|| {
        let known: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        refused(format!("unknown prompt: {}; there are {}", params.name.escape_debug(), known.join(", ")))
    })?;
    let given = |name: &str| params.arguments.as_ref().and_then(|arguments| arguments.get(name));
    for (name, _, required) in template.arguments {
        match given(name) {
            Some(Value::String(text)) if text.chars().count() > MAX_PROMPT_ARGUMENT_CHARS => {
                return Err(refused(format!(
                    "`{name}` has more than {MAX_PROMPT_ARGUMENT_CHARS} characters"
                )));
            }
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::String(_)) | None if !required => {}
            None | Some(Value::String(_)) => return Err(refused(format!("`{name}` is missing"))),
            Some(_) => return Err(refused(format!("`{name}` must be a text"))),
        }
    }
    // Keeps a name or path within its backticks.
    let argument = |name: &str| {
        let text = given(name)?.as_str()?.trim();
        (!text.is_empty())
            .then(|| text.replace('`', "'").replace(|character: char| character.is_control(), " "))
    };
    let message = PromptMessage::new_text(Role::User, (template.text)(&argument));
    Ok(GetPromptResult::new(vec![message]).with_description(template.description))
}

/// Returns true if the prompt exists.
pub(super) fn has(name: &str) -> bool {
    TEMPLATES.iter().any(|template| template.name == name)
}
