use serde_json::json;

use super::*;

#[test]
fn answer_text_shows_locations_as_path_and_range() {
    let range =
        |line: u32| json!({"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}});
    let answer = json!({
        "ok": true,
        "location": {"path": "a.py", "uri": "file:///w/a.py", "range": range(1), "text": "def one(): …"},
        "locations": [
            {"path": "a.py", "uri": "file:///w/a.py", "range": range(1), "text": "def one(): …"},
            {"path": "b.py", "uri": "file:///w/b.py", "range": range(7)},
        ],
        "count": 2,
        "has_more": false,
        "server_status": {"language": "python", "server": "pylsp", "state": "ready", "waited_ms": 3},
        "verdict": "complete",
    });
    assert_eq!(
        answer_text(&answer),
        "locations (0-based):\n  a.py:1:0-1:3 def one(): …\n  b.py:7:0-7:3\ncount: 2\nverdict: complete"
    );
}

#[test]
fn answer_text_shows_server_status_unless_ready() {
    let status = json!({"language": "python", "server": "pylsp", "state": "missing", "install": "pip install x", "waited_ms": 0});
    let text = answer_text(&json!({"ok": true, "count": 0, "server_status": status, "verdict": "hints"}));
    assert_eq!(
        text,
        "count: 0\nserver_status: language: python, server: pylsp, state: missing, install: pip install x, waited_ms: 0\n\
         verdict: hints"
    );
}

#[test]
fn answer_text_keeps_multiline_content_verbatim() {
    let answer = json!({"ok": true, "path": "a.py", "content": "one\n  two\n", "total_lines": 2});
    assert_eq!(answer_text(&answer), "path: a.py\ncontent:\none\n  two\ntotal_lines: 2");
}

#[test]
fn answer_text_of_failure_begins_with_error_code() {
    let failure = json!({"ok": false, "code": "not_found", "error": "there is no file `x`", "hint": "look", "path": "x"});
    assert_eq!(answer_text(&failure), "not_found: there is no file `x`\nhint: look\npath: x");
    assert_eq!(
        answer_text(&json!({"ok": false, "exit_code": 2, "stdout": ""})),
        "ok: false\nexit_code: 2\nstdout:"
    );
    assert_eq!(answer_text(&json!({"ok": true})), "ok");
}
