//! Names of arguments in other programs, renamed to those of a tool's schema before the schema
//! checks them.
//!
//! A field unknown to the schema is renamed if its spelling differs only in style (`filePath`,
//! `file_path`), or if [`ALIASES`] contains it. Other fields stay, and are rejected with a
//! suggestion of the nearest name. Schemas that allow additional fields, such as those of mounted
//! servers, are left alone.

use serde_json::{Map, Value, json};

use super::tool::ToolDefinition;

/// The conversion of a value that has an alias as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    /// Unchanged.
    Same,
    /// Boolean negation.
    Inverted,
    /// Wrapped into a list of one item.
    InList,
    /// The only item of a list.
    OnlyItem,
    /// Dropped: text for people.
    Ignored,
}

use ValueForm::{Ignored, InList, Inverted, OnlyItem, Same};

/// Matches any tool.
const ANY: &str = "*";

/// Tool, name of the argument elsewhere (in lower case, without `_` and `-`), name here. The first
/// entry whose name here is in the schema counts.
const ALIASES: &[(&str, &str, &str, ValueForm)] = &[
    ("bash", "cmd", "command", Same),
    ("bash", "description", "", Ignored),
    ("bash", "isbackground", "background", Same),
    ("bash", "runinbackground", "background", Same),
    ("bash", "timeout", "timeout_ms", Same),
    ("bash_kill", "shellid", "id", Same),
    ("bash_output", "bashid", "id", Same),
    ("bash_output", "timeout", "wait_ms", Same),
    ("changed_files", "path", "repositoryPath", Same),
    ("changed_files", "repository", "repositoryPath", Same),
    ("changed_files", "state", "sourceControlState", Same),
    ("fetch_web_page", "query", "", Ignored),
    ("fetch_web_page", "urls", "url", OnlyItem),
    ("get_library_docs", "context7compatiblelibraryid", "libraryId", Same),
    ("get_library_docs", "id", "libraryId", Same),
    ("get_library_docs", "topic", "query", Same),
    ("glob", "globpattern", "pattern", Same),
    ("glob", "maxresults", "limit", Same),
    ("glob", "query", "pattern", Same),
    ("grep", "headlimit", "max_matches", Same),
    ("grep", "include", "glob", Same),
    ("grep", "includepattern", "glob", Same),
    ("grep", "isregexp", "fixed_strings", Inverted),
    ("grep", "limit", "max_matches", Same),
    ("grep", "maxresults", "max_matches", Same),
    ("grep", "query", "pattern", Same),
    ("grep", "regex", "pattern", Same),
    ("lsp_diagnostics", "severity", "min_severity", Same),
    ("move", "dest", "to", Same),
    ("move", "destination", "to", Same),
    ("move", "filepath", "from", Same),
    ("move", "newpath", "to", Same),
    ("move", "oldpath", "from", Same),
    ("move", "path", "from", Same),
    ("move", "source", "from", Same),
    ("move", "src", "from", Same),
    ("move", "target", "to", Same),
    ("patch", "diff", "patch", Same),
    ("patch", "input", "patch", Same),
    ("resolve_library_id", "library", "libraryName", Same),
    ("resolve_library_id", "name", "libraryName", Same),
    ("task", "prompt", "objective", Same),
    ("task", "subagenttype", "agent", Same),
    ("todowrite", "activeform", "", Ignored),
    ("todowrite", "items", "todos", Same),
    ("write", "code", "content", Same),
    ("write", "contents", "content", Same),
    ("write", "filetext", "content", Same),
    ("write", "text", "content", Same),
    (ANY, "explanation", "", Ignored),
    (ANY, "file", "path", Same),
    (ANY, "filename", "path", Same),
    (ANY, "filepath", "path", Same),
    (ANY, "dirpath", "path", Same),
    (ANY, "directory", "path", Same),
    (ANY, "filepaths", "paths", Same),
    (ANY, "files", "paths", Same),
    (ANY, "filepath", "paths", InList),
    (ANY, "path", "paths", InList),
    (ANY, "filepath", "filePaths", InList),
    (ANY, "path", "filePaths", InList),
    (ANY, "paths", "filePaths", Same),
    (ANY, "name", "symbol", Same),
    (ANY, "symbolname", "symbol", Same),
    (ANY, "newstr", "new", Same),
    (ANY, "newstring", "new", Same),
    (ANY, "newtext", "new", Same),
    (ANY, "oldstr", "old", Same),
    (ANY, "oldstring", "old", Same),
    (ANY, "oldtext", "old", Same),
    (ANY, "replaceall", "all", Same),
];

/// The arguments of a call of `tool`, which the caller named `called`, renamed to the fields of its
/// schema.
pub(crate) fn in_own_words(called: &str, tool: &ToolDefinition, arguments: Value) -> Value {
    let (name, schema) = (tool.card.name.as_ref(), tool.input.as_value());
    let Value::Object(fields) = arguments else { return arguments };
    let mut fields = rename_fields(name, fields, schema);
    if name == "edit" {
        wrap_lone_edit(&mut fields, schema);
    }
    match folded(called).as_str() {
        // The query is plain text unless marked as a pattern.
        "grepsearch" => {
            fields.entry("fixed_strings").or_insert(Value::Bool(true));
        }
        // A name without a folder matches files at any depth.
        "filesearch" => {
            if let Some(Value::String(pattern)) = fields.get_mut("pattern")
                && !pattern.contains('/')
            {
                pattern.insert_str(0, "**/");
            }
        }
        _ => {}
    }
    Value::Object(fields)
}

/// `fields` under the names of `schema`, at any depth of the schema.
fn rename_fields(tool: &str, fields: Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let Some(known) = schema["properties"].as_object().filter(|_| is_closed(schema)) else { return fields };
    let taken: Vec<String> = fields.keys().cloned().collect();
    let is_free = |own: &str| known.contains_key(own) && !taken.iter().any(|name| name == own);
    let mut renamed = Map::new();
    for (name, value) in fields {
        if let Some(part) = known.get(&name) {
            renamed.insert(name, rename_within(tool, value, part));
            continue;
        }
        let word = folded(&name);
        let spelled =
            known.keys().find(|own| snake_case(own) == snake_case(&name)).map(|own| (own.as_str(), Same));
        let listed = || {
            let lines =
                ALIASES.iter().filter(|(of, given, ..)| (*of == tool || *of == ANY) && *given == word);
            let mut lines = lines.map(|(_, _, own, form)| (*own, *form));
            lines.find(|(own, form)| *form == Ignored || is_free(own))
        };
        match spelled.filter(|(own, _)| is_free(own)).or_else(listed) {
            Some((_, Ignored)) => {}
            Some((own, form)) if !renamed.contains_key(own) => match reshaped(value, form) {
                Ok(value) => {
                    renamed.insert(own.to_owned(), rename_within(tool, value, &known[own]));
                }
                Err(value) => {
                    renamed.insert(name, value);
                }
            },
            _ => {
                renamed.insert(name, value);
            }
        }
    }
    renamed
}

fn rename_within(tool: &str, value: Value, schema: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(rename_fields(tool, fields, schema)),
        Value::Array(items) => {
            items.into_iter().map(|item| rename_within(tool, item, &schema["items"])).collect()
        }
        other => other,
    }
}

fn is_closed(schema: &Value) -> bool {
    schema["additionalProperties"] == Value::Bool(false)
}

/// Converts `value`; returns it unchanged as an error if the conversion is impossible.
fn reshaped(value: Value, form: ValueForm) -> Result<Value, Value> {
    match (form, value) {
        (Inverted, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (InList, value @ Value::String(_)) => Ok(json!([value])),
        (OnlyItem, Value::Array(mut items)) if items.len() == 1 => items.pop().ok_or(Value::Null),
        (Same, value) => Ok(value),
        (_, value) => Err(value),
    }
}

/// Moves a replacement whose fields stand beside `path` into a one-item `edits` list.
fn wrap_lone_edit(fields: &mut Map<String, Value>, schema: &Value) {
    if fields.contains_key("edits") {
        return;
    }
    let item = &schema["properties"]["edits"]["items"];
    let is_own = |name: &str| schema["properties"].get(name).is_some();
    let (own, rest): (Map<_, _>, Map<_, _>) =
        std::mem::take(fields).into_iter().partition(|(name, _)| is_own(name));
    *fields = own;
    let (edit, unknown): (Map<_, _>, Map<_, _>) = rename_fields("edit", rest, item)
        .into_iter()
        .partition(|(name, _)| item["properties"].get(name).is_some());
    fields.extend(unknown);
    if !edit.is_empty() {
        fields.insert("edits".to_owned(), json!([edit]));
    }
}

/// Converts `filePath` and `file-path` to `file_path`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(if letter == '-' { '_' } else { letter.to_ascii_lowercase() });
    }
    snake
}

/// A name in lower case without separators, for comparison.
fn folded(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::name::canonical_name;
    use crate::tools::api::built_in;

    /// The arguments of a call of `called`, as the tool's schema accepts them.
    fn accepted(called: &str, arguments: Value) -> Value {
        let tools = built_in::registry().unwrap();
        let name = canonical_name(called);
        let definition = tools.get(&name).unwrap_or_else(|error| panic!("{called}: {error:?}")).definition();
        let own = in_own_words(called, definition, arguments);
        definition.input.check(&name, &own).unwrap_or_else(|error| panic!("{called} {own}: {}", error.error));
        own
    }

    #[test]
    fn arguments_of_other_programs_become_those_of_the_schema() {
        let edit = json!({"path": "a", "edits": [{"old": "x", "new": "y"}]});
        for (called, given, own) in [
            ("bash", json!({"command": "ls", "timeout": 5}), json!({"command": "ls", "timeout_ms": 5})),
            ("edit", json!({"path": "a", "old": "x", "new": "y"}), edit.clone()),
            ("edit", json!({"file_path": "a", "old_string": "x", "new_string": "y"}), edit.clone()),
            ("edit", json!({"path": "a", "edits": [{"oldString": "x", "newString": "y"}]}), edit.clone()),
            (
                "MultiEdit",
                json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y", "replace_all": true}]}),
                json!({"path": "a", "edits": [{"old": "x", "new": "y", "all": true}]}),
            ),
            (
                "replace_string_in_file",
                json!({"filePath": "a", "oldString": "x", "newString": "y", "explanation": "why"}),
                edit,
            ),
            ("move", json!({"path": "a", "destination": "b"}), json!({"from": "a", "to": "b"})),
            ("read", json!({"filePath": "a"}), json!({"path": "a"})),
            ("lsp_hover", json!({"file_path": "a", "symbol": "s"}), json!({"path": "a", "symbol": "s"})),
            ("lsp_rename", json!({"symbol": "s", "newName": "t"}), json!({"symbol": "s", "new_name": "t"})),
            (
                "get-library-docs",
                json!({"library_id": "pw", "topic": "wait"}),
                json!({"libraryId": "pw", "query": "wait"}),
            ),
            ("resolve-library-id", json!({"library_name": "pw"}), json!({"libraryName": "pw"})),
            (
                "grep_search",
                json!({"query": "a", "includePattern": "*.py", "maxResults": 3}),
                json!({"pattern": "a", "glob": "*.py", "max_matches": 3, "fixed_strings": true}),
            ),
            (
                "grep_search",
                json!({"query": "a", "isRegexp": true}),
                json!({"pattern": "a", "fixed_strings": false}),
            ),
            ("file_search", json!({"query": "*.py"}), json!({"pattern": "**/*.py"})),
            (
                "insert_edit_into_file",
                json!({"filePath": "a", "code": "x"}),
                json!({"path": "a", "content": "x"}),
            ),
            ("create_file", json!({"filePath": "a", "content": "x"}), json!({"path": "a", "content": "x"})),
            ("create_directory", json!({"dirPath": "a"}), json!({"path": "a"})),
            ("apply_patch", json!({"input": "p", "explanation": "why"}), json!({"patch": "p"})),
            ("list_dir", json!({"path": "a"}), json!({"path": "a"})),
            (
                "run_in_terminal",
                json!({"command": "ls", "explanation": "why", "isBackground": true}),
                json!({"command": "ls", "background": true}),
            ),
            ("get_errors", json!({"filePaths": ["a"]}), json!({"paths": ["a"]})),
            ("fix", json!({"kind": "quickfix", "path": "a"}), json!({"kind": "quickfix", "paths": ["a"]})),
            ("find_test_files", json!({"path": "a"}), json!({"filePaths": ["a"]})),
            ("fetch_webpage", json!({"urls": ["https://a/"], "query": "x"}), json!({"url": "https://a/"})),
            (
                "get_changed_files",
                json!({"repositoryPath": "a", "sourceControlState": "staged"}),
                json!({"repositoryPath": "a", "sourceControlState": "staged"}),
            ),
        ] {
            assert_eq!(accepted(called, given), own, "{called}");
        }
    }

    #[test]
    fn argument_that_no_name_is_known_for_stays() {
        let tools = built_in::registry().unwrap();
        let own = |name: &str, given: Value| in_own_words(name, tools.get(name).unwrap().definition(), given);
        // Both names at once, two aliases of one field, and an unknown name.
        for (name, given) in [
            ("read", json!({"path": "a", "file_path": "b"})),
            ("fetch_web_page", json!({"urls": ["https://a/", "https://b/"]})),
            ("edit", json!({"path": "a", "olds": "x"})),
            ("grep", json!({"pattern": "a", "maxmatches": 3})),
            ("bash", json!("ls")),
        ] {
            assert_eq!(own(name, given.clone()), given, "{name}");
        }
    }

    #[test]
    fn alias_names_a_property_of_its_tool() {
        let tools = built_in::registry().unwrap();
        for (tool, given, own, form) in ALIASES.iter().filter(|(tool, ..)| *tool != ANY) {
            let schema = tools.get(tool).unwrap().definition().input.as_value();
            assert!(*form == Ignored || schema["properties"].get(*own).is_some(), "{tool} {given} {own}");
            assert!(schema["properties"].get(*given).is_none(), "{tool} {given}");
        }
    }
}
