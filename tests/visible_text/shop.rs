//! The projects of recorded answers: a shop in the language of the scripted server, and a Python
//! package without a server.

use std::fs;

use serde_json::{Value, json};

use crate::support::Project;

/// The prices and their sum.
const SHOP: &str = "def price(item):\n    return item\n\ndef total(items):\n    return price(items)\n";
/// The callers of the sum, right and wrong.
const TILL: &str = "import shop\n\ntotal(basket)\ntotal(basket) WRONG\n";
/// The functions that may take a while.
const WAITS: [&str; 11] = [
    "hover",
    "definition",
    "references",
    "hierarchy",
    "symbols",
    "workspace-symbols",
    "completion",
    "signature",
    "diagnostics",
    "edit",
    "start",
];
/// Slow machines that run many tests in parallel need long deadlines; a wrong result is wrong at
/// any speed.
const PATIENCE_MS: u64 = 90_000;
/// The server states the version of its findings, so that no test waits for more.
const VERSIONED: &str = "diagnostics = {source = \"versioned-push\"}";

/// The shop; its server answers with [`answers`], and text search answers the rest.
pub fn shop() -> Project {
    shop_with(&json!({"hover_version": false, "answers": answers()}))
}

/// The shop whose server plays `scenario`.
pub fn shop_with(scenario: &Value) -> Project {
    let files =
        [("shop.scr", SHOP), ("till.scr", TILL), ("notes.md", "# Shop\n\nThe total of all prices.\n")];
    settled(Project::scripted(scenario, VERSIONED, files))
}

/// `fixtures/python`, for which no server is installed.
pub fn package() -> Project {
    settled(Project::of_fixture("python"))
}

/// `project` as its own workspace in any place, without time limits.
fn settled(project: Project) -> Project {
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    settings(&project, &[], "");
    project
}

/// Writes the user's settings: `more`, and deadlines in milliseconds, of which only those in
/// `short` are ever reached.
pub fn settings(project: &Project, short: &[(&str, u64)], more: &str) {
    let lines = WAITS.iter().map(|wait| {
        let given = short.iter().find(|(name, _)| name == wait);
        format!("{wait} = {}\n", given.map_or(PATIENCE_MS, |(_, milliseconds)| *milliseconds))
    });
    let text = format!("{more}\n[deadlines]\n{}", lines.collect::<String>());
    fs::write(project.beside("config").join("lsp-tools.toml"), text).expect("settings");
}

/// A range within one line, in LSP's shape.
fn range(line: u32, from: u32, to: u32) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

/// A position in a file of the shop.
fn location(file: &str, at: Value) -> Value {
    json!({"uri": format!("${{root}}/{file}"), "range": at})
}

/// An item of a hierarchy.
fn item(name: &str, kind: u32, file: &str, at: Value) -> Value {
    json!({"name": name, "kind": kind, "uri": format!("${{root}}/{file}"), "range": at, "selectionRange": at})
}

/// The change of some files, each with its edits.
fn change(files: &[(&str, Vec<(Value, &str)>)]) -> Value {
    let one = |(file, edits): &(&str, Vec<(Value, &str)>)| {
        let edits: Vec<Value> =
            edits.iter().map(|(at, text)| json!({"range": at, "newText": text})).collect();
        json!({"textDocument": {"uri": format!("${{root}}/{file}"), "version": null}, "edits": edits})
    };
    json!({"documentChanges": files.iter().map(one).collect::<Value>()})
}

/// The responses of the shop's server, by method.
fn answers() -> Value {
    let total = || item("total", 12, "shop.scr", range(3, 4, 9));
    let renamed = change(&[
        ("shop.scr", vec![(range(3, 4, 9), "sum")]),
        ("till.scr", vec![(range(2, 0, 5), "sum"), (range(3, 0, 5), "sum")]),
    ]);
    let said = [
        ("textDocument/hover", hover()),
        ("textDocument/implementation", json!([location("till.scr", range(2, 0, 5))])),
        ("textDocument/typeDefinition", json!([location("shop.scr", range(0, 4, 9))])),
        ("textDocument/signatureHelp", signatures()),
        ("textDocument/completion", completions()),
        ("textDocument/prepareCallHierarchy", json!([total()])),
        (
            "callHierarchy/incomingCalls",
            json!([{"from": item("checkout", 12, "till.scr", range(2, 0, 5)), "fromRanges": [range(2, 0, 5), range(3, 0, 5)]}]),
        ),
        (
            "callHierarchy/outgoingCalls",
            json!([{"to": item("price", 12, "shop.scr", range(0, 4, 9)), "fromRanges": [range(4, 11, 16)]}]),
        ),
        ("textDocument/prepareTypeHierarchy", json!([item("Till", 5, "till.scr", range(0, 7, 11))])),
        ("typeHierarchy/supertypes", json!([item("Shop", 5, "shop.scr", range(0, 0, 3))])),
        ("typeHierarchy/subtypes", json!([])),
        ("textDocument/rename", renamed),
        ("textDocument/codeAction", actions()),
        ("textDocument/formatting", json!([{"range": range(4, 0, 4), "newText": "  "}])),
    ];
    said.into_iter().map(|(method, result)| (method.to_owned(), json!({"result": result}))).collect()
}

fn hover() -> Value {
    let page = "```\ndef total(items)\n```\n---\nThe prices of all `items` together.\n\n- *items*: what lies in the basket";
    json!({"contents": {"kind": "markdown", "value": page}})
}

fn signatures() -> Value {
    json!({
        "signatures": [{
            "label": "total(items, rate=1)",
            "documentation": "The prices of all items together.",
            "parameters": [{"label": "items"}, {"label": "rate=1", "documentation": "What the sum is multiplied with."}],
        }],
        "activeSignature": 0,
        "activeParameter": 1,
    })
}

fn completions() -> Value {
    json!({"isIncomplete": false, "items": [
        {"label": "total", "kind": 3, "detail": "def total(items)", "documentation": "The prices of all items together."},
        {"label": "tax", "kind": 6, "detail": "int"},
        {"label": "tally", "kind": 3, "deprecated": true},
    ]})
}

fn actions() -> Value {
    let removal = change(&[("till.scr", vec![(range(3, 13, 19), "")])]);
    let extraction = change(&[("till.scr", vec![(range(3, 0, 5), "sum")])]);
    json!([
        {"title": "Remove WRONG", "kind": "quickfix", "isPreferred": true, "edit": removal,
         "diagnostics": [{"range": range(3, 14, 19), "message": "WRONG"}]},
        {"title": "Extract a variable", "kind": "refactor.extract", "edit": extraction},
        {"title": "Inline the call", "kind": "refactor.inline", "disabled": {"reason": "the call is used twice"}},
    ])
}
