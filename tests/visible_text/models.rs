//! The text of tools' answers for models, as shown by MCP and both Copilot front ends.

use serde_json::{Value, json};

use super::shop::{package, shop};
use super::{answer, compare, model, steady_section};
use crate::support::Project;

/// Calls of tools, and the heading of their answers.
type Called<'a> = (&'a str, Vec<(&'a str, Value)>);

#[test]
fn answers_of_a_server_read_as_recorded() {
    let all = [server_places(), server_symbols_and_trees(), server_findings(), server_edits()];
    compare("models_server", &all.concat());
}

#[test]
fn answers_without_a_server_read_as_recorded() {
    compare("models_no_server", &[text_answers(), files(), edits()].concat());
}

/// The answers to calls in one project, in order.
fn sections(project: &Project, table: &[Called<'_>]) -> Vec<String> {
    let mut client = model(project);
    let mut tell = |calls: &[(&str, Value)]| {
        let all = calls.iter().map(|(tool, arguments)| answer(&mut client, tool, arguments));
        all.collect::<Vec<_>>().join("\n")
    };
    table.iter().map(|(heading, calls)| steady_section(heading, project, &tell(calls))).collect()
}

/// The definition of `total` in the shop.
fn total() -> Value {
    json!({"path": "shop.scr", "line": 3, "symbol": "total"})
}

/// `at` with more arguments.
fn with(mut at: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        at[key] = value.clone();
    }
    at
}

fn server_places() -> Vec<String> {
    let used = || json!({"path": "till.scr", "line": 2, "symbol": "total"});
    let basket = json!({"path": "till.scr", "line": 2, "symbol": "basket"});
    sections(
        &shop(),
        &[
            ("hover", vec![("lsp_hover", total()), ("lsp_hover", json!({"symbol": "price"}))]),
            (
                "definition",
                vec![
                    ("lsp_definition", used()),
                    ("lsp_definition", with(used(), &json!({"body": true}))),
                    ("lsp_definition", basket.clone()),
                ],
            ),
            (
                "references",
                vec![
                    ("lsp_references", json!({"symbol": "total"})),
                    ("lsp_references", with(total(), &json!({"limit": 2}))),
                ],
            ),
            ("declaration", vec![("lsp_declaration", used())]),
            ("implementation", vec![("lsp_implementation", total())]),
            ("type_definition", vec![("lsp_type_definition", basket)]),
        ],
    )
}

fn server_symbols_and_trees() -> Vec<String> {
    let cursor = json!({"path": "till.scr", "line": 2, "character": 2});
    sections(
        &shop(),
        &[
            (
                "symbols",
                vec![
                    ("lsp_symbols", json!({"path": "shop.scr"})),
                    ("lsp_symbols", json!({"query": "pri"})),
                    ("lsp_symbols", json!({"query": "nowhere"})),
                ],
            ),
            (
                "calls",
                vec![
                    ("lsp_calls", with(total(), &json!({"direction": "incoming"}))),
                    ("lsp_calls", with(total(), &json!({"direction": "outgoing"}))),
                ],
            ),
            (
                "types",
                vec![
                    ("lsp_types", with(total(), &json!({"direction": "supertypes"}))),
                    ("lsp_types", with(total(), &json!({"direction": "subtypes"}))),
                ],
            ),
            ("signature", vec![("lsp_signature", cursor.clone())]),
            (
                "completion",
                vec![
                    ("lsp_completion", cursor.clone()),
                    ("lsp_completion", with(cursor, &json!({"limit": 1}))),
                ],
            ),
            ("explore", vec![("explore", json!({"symbol": "total"}))]),
        ],
    )
}

fn server_findings() -> Vec<String> {
    sections(
        &shop(),
        &[
            (
                "diagnostics",
                vec![
                    ("lsp_diagnostics", json!({"path": "till.scr"})),
                    ("lsp_diagnostics", json!({"path": "shop.scr"})),
                    ("lsp_diagnostics", json!({"path": "notes.md"})),
                    ("lsp_diagnostics", json!({})),
                ],
            ),
            ("servers", vec![("lsp_servers", json!({}))]),
        ],
    )
}

fn server_edits() -> Vec<String> {
    let line = json!({"path": "till.scr", "line": 3});
    let name = json!({"new_name": "sum"});
    sections(
        &shop(),
        &[
            (
                "code_actions",
                vec![
                    ("lsp_code_actions", line.clone()),
                    (
                        "lsp_code_actions",
                        with(line.clone(), &json!({"apply": "Extract a variable", "dry_run": true})),
                    ),
                    ("lsp_code_actions", with(line, &json!({"apply": "Remove WRONG", "diagnostics": true}))),
                ],
            ),
            (
                "format",
                vec![
                    ("lsp_format", json!({"path": "shop.scr", "dry_run": true})),
                    ("lsp_format", json!({"path": "shop.scr"})),
                ],
            ),
            (
                "rename",
                vec![
                    ("lsp_rename", with(with(total(), &name), &json!({"dry_run": true}))),
                    ("lsp_rename", with(with(total(), &name), &json!({"diagnostics": true}))),
                ],
            ),
            (
                "broken",
                vec![(
                    "edit",
                    json!({"path": "till.scr", "edits": [{"old": "import shop", "new": "import WRONG"}], "diagnostics": true}),
                )],
            ),
        ],
    )
}

fn text_answers() -> Vec<String> {
    let used = json!({"path": "greet/app.py", "line": 8, "symbol": "compose"});
    let compose = json!({"path": "greet/messages.py", "symbol": "compose"});
    sections(
        &package(),
        &[
            (
                "text_places",
                vec![
                    ("lsp_hover", used.clone()),
                    ("lsp_definition", used),
                    ("lsp_references", compose.clone()),
                    ("lsp_implementation", json!({"symbol": "Person"})),
                    ("lsp_type_definition", json!({"path": "greet/app.py", "line": 15, "symbol": "line"})),
                ],
            ),
            (
                "text_symbols",
                vec![
                    ("lsp_symbols", json!({"path": "greet/messages.py"})),
                    ("lsp_symbols", json!({"query": "compose"})),
                    ("lsp_calls", with(compose, &json!({"direction": "incoming"}))),
                    ("lsp_types", json!({"symbol": "Guest", "direction": "supertypes"})),
                ],
            ),
            (
                "text_explore",
                vec![
                    ("explore", json!({"symbol": "compose"})),
                    ("explore", json!({"symbol": "Host.welcomes", "budget": 400})),
                ],
            ),
            ("text_tests", vec![("lsp_tests", json!({"symbol": "compose"}))]),
            (
                "text_diagnostics",
                vec![("lsp_diagnostics", json!({"path": "greet/broken.py"})), ("lsp_servers", json!({}))],
            ),
        ],
    )
}

fn files() -> Vec<String> {
    sections(
        &package(),
        &[
            (
                "read",
                vec![
                    ("read", json!({"path": "pyproject.toml"})),
                    ("read", json!({"path": "greet/app.py", "offset": 7, "limit": 3, "line_numbers": true})),
                    ("read", json!({"path": "greet/people.py", "outline": true})),
                    ("read", json!({"path": "greet/people.py", "symbol": "Host.welcomes"})),
                ],
            ),
            ("list", vec![("list", json!({})), ("list", json!({"path": "greet", "limit": 2}))]),
            (
                "glob",
                vec![
                    ("glob", json!({"pattern": "**/*.py"})),
                    ("glob", json!({"pattern": "**/*.py", "limit": 1})),
                    ("glob", json!({"pattern": "*.rs"})),
                ],
            ),
            (
                "grep",
                vec![
                    ("grep", json!({"pattern": "Guest\\("})),
                    ("grep", json!({"pattern": "def welcomes", "context": 1})),
                    ("grep", json!({"pattern": "def", "output_mode": "count"})),
                    ("grep", json!({"pattern": "def", "max_matches": 2})),
                    ("grep", json!({"pattern": "unheard of"})),
                ],
            ),
        ],
    )
}

fn edits() -> Vec<String> {
    let body = "def welcomes(self, guest: Guest) -> bool:\n    return True\n";
    let patch = "--- a/greet/app.py\n+++ b/greet/app.py\n@@ -10,3 +10,3 @@\n \n def main() -> None:\n\
                 -    \"\"\"Greet the usual company.\"\"\"\n+    \"\"\"Greet those who are there.\"\"\"\n";
    sections(
        &package(),
        &[
            (
                "edit_symbol",
                vec![
                    ("edit_symbol", json!({"symbol": "Host.welcomes", "body": body, "dry_run": true})),
                    ("edit_symbol", json!({"symbol": "compose", "delete": true})),
                    ("edit_symbol", json!({"symbol": "undefined", "delete": true})),
                ],
            ),
            (
                "edit",
                vec![
                    (
                        "edit",
                        json!({"path": "pyproject.toml", "edits": [{"old": "1.0.0", "new": "1.1.0"}], "dry_run": true}),
                    ),
                    (
                        "edit",
                        json!({"path": "greet/app.py", "edits": [{"old": "all([ada, heidi])", "new": "all(["}], "dry_run": true, "diagnostics": true}),
                    ),
                ],
            ),
            (
                "patch",
                vec![("patch", json!({"patch": patch, "dry_run": true})), ("patch", json!({"patch": patch}))],
            ),
            (
                "write",
                vec![
                    ("write", json!({"path": "notes/new.md", "content": "# Notes\n"})),
                    ("write", json!({"path": "notes/new.md", "content": "# Notes\n"})),
                    ("mkdir", json!({"path": "notes/more"})),
                    ("move", json!({"from": "notes/new.md", "to": "notes/old.md"})),
                    ("delete", json!({"path": "notes", "recursive": true})),
                ],
            ),
            ("undo", vec![("undo", json!({})), ("undo", json!({"id": "e1"}))]),
        ],
    )
}
