//! Named faults for tests that iterate over them, and parts of scenarios that many tests need.

use serde_json::{Value, json};

/// Every way to frame a message wrongly, or rightly but unusually (`lower_case` to `extra_header`).
pub const FRAME_STYLES: [&str; 13] = [
    "lower_case",
    "lf_only",
    "no_space",
    "extra_header",
    "length_too_long",
    "length_too_short",
    "length_negative",
    "length_huge",
    "length_not_a_number",
    "length_missing",
    "invalid_utf8",
    "not_json",
    "half",
];

/// Every odd reply to a request.
pub const REPLIES: [&str; 5] = ["twice", "null_id", "unknown_id", "string_id", "empty"];

/// Every point of the conversation at which the server can die.
pub const CRASH_POINTS: [&str; 9] = [
    "start",
    "initialize",
    "initialized",
    "did_open",
    "did_change",
    "did_save",
    "first_request",
    "mid_reply",
    "shutdown",
];

/// The requests that servers send, one of them unknown to any client.
pub const SERVER_REQUESTS: [&str; 9] = [
    "workspace/configuration",
    "client/registerCapability",
    "client/unregisterCapability",
    "workspace/applyEdit",
    "workspace/workspaceFolders",
    "window/showMessageRequest",
    "window/showDocument",
    "window/workDoneProgress/create",
    "custom/unknown",
];

/// Rules by which the server, when the first document is opened, sends each of [`SERVER_REQUESTS`]
/// with the method as id, so that `log.answer(&json!(method))` is the client's response. The edit
/// and the document lead to `outside`, a URI outside the client's workspace.
pub fn server_requests(outside: &str) -> Value {
    let params = |method: &str| match method {
        "workspace/configuration" => json!({"items": [{"section": "scripted"}, {"section": "other.part"}]}),
        "client/registerCapability" => json!({"registrations": [{
            "id": "watch-1",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": [{"globPattern": "**/*.scr"}]},
        }]}),
        "client/unregisterCapability" => json!({"unregisterations": [{
            "id": "never-registered",
            "method": "workspace/didChangeWatchedFiles",
        }]}),
        "workspace/applyEdit" => {
            let start = json!({"line": 0, "character": 0});
            let edit = json!({"range": {"start": start, "end": start}, "newText": "PWNED"});
            json!({"label": "an edit nobody asked for", "edit": {"changes": {outside: [edit]}}})
        }
        "window/showMessageRequest" => json!({"type": 1, "message": "Well?", "actions": [{"title": "Yes"}]}),
        "window/showDocument" => json!({"uri": outside, "external": true}),
        "window/workDoneProgress/create" => json!({"token": "never-used"}),
        _ => Value::Null,
    };
    let rule = |method: &&str| {
        let request = json!({"method": method, "params": params(method), "id": method});
        json!({"at": "textDocument/didOpen", "do": {"request": request}})
    };
    SERVER_REQUESTS.iter().map(rule).collect()
}

/// Diagnostics; only the one with the message `the one good finding` (line 0, columns 0 to 3) is
/// valid.
pub fn odd_diagnostics() -> Value {
    let range = |start: [i64; 2], end: [i64; 2]| {
        let [start, end] =
            [start, end].map(|[line, character]| json!({"line": line, "character": character}));
        json!({"start": start, "end": end})
    };
    json!([
        {"range": range([0, 0], [0, 3])},
        {"range": range([-1, 0], [0, 3]), "message": "line -1"},
        {"range": range([9_999, 0], [9_999, 1]), "message": "a line past the end"},
        {"range": range([0, 9_999], [0, 10_000]), "message": "a column past the end"},
        {"range": range([0, 3], [0, 1]), "message": "an inverted range"},
        {"range": range([0, 0], [0, 3]), "message": "severity 9", "severity": 9},
        {"range": range([0, 0], [0, 3]), "message": "a code that is an object", "code": {"value": "X", "target": 1}},
        {"range": null, "message": "no range"},
        {"message": "no range at all"},
        "not an object",
        {"range": range([0, 0], [0, 3]), "message": "the one good finding", "severity": 1},
    ])
}

/// Results of a wrong type, by method.
pub fn odd_results() -> Vec<(&'static str, Value)> {
    let location = json!({"uri": "not a uri", "range": {}});
    vec![
        ("textDocument/hover", json!({"contents": null})),
        ("textDocument/hover", json!({"contents": 5, "range": "none"})),
        ("textDocument/hover", json!([])),
        ("textDocument/definition", json!("nowhere")),
        ("textDocument/definition", json!([location, null, 7])),
        ("textDocument/references", json!({"uri": 1})),
        ("textDocument/documentSymbol", json!([{"name": 1}, null, {"name": "x", "kind": "function"}])),
        ("workspace/symbol", json!(false)),
    ]
}
