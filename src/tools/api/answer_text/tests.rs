use serde_json::json;

use super::*;
use crate::analysis::items::place::{Place, Places};
use crate::text::{Position, Range};

#[test]
fn list_of_places_has_little_beside_its_source_lines() {
    let line = "        return session.request(\"GET\", url, **kwargs)";
    let place = |index: u32| Place {
        path: format!("src/requests/file{}.py", index / 10),
        range: Range::new(Position::new(index * 11, 15), Position::new(index * 11, 22)),
        text: Some(line.into()),
        enclosing: index.is_multiple_of(2).then(|| "Session.get".into()),
        why: None,
    };
    let places = Places((0..20).map(place).collect());
    let answer = json!({"ok": true, "locations": places, "count": 20, "verdict": "complete"});
    let beside = |bytes: usize| bytes.saturating_sub(20 * line.trim_start().len()) / 20;
    let (programs, models) = (answer.to_string().len(), answer_text(&answer).len());
    assert!(beside(programs) <= 35, "{programs} bytes of JSON");
    assert!(beside(models) <= 25, "{models} bytes of text");
}

#[test]
fn answer_text_shows_each_place_with_its_path() {
    let range = json!({"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 7}});
    let answer = json!({
        "ok": true,
        "location": {"uri": "file:///w/a.py", "range": range},
        "locations": [
            {"a.py": [["1:4", "def one(): …"], ["3:4", "one()", "Cart.total"]]},
            {"b.py": [["7:1-8:3"]]},
            {"c.py": [["2:1", "one", null, "imported"]]},
        ],
        "count": 4,
        "server_status": {"language": "python", "server": "pylsp", "state": "ready", "waited_ms": 3},
        "verdict": "complete",
    });
    assert_eq!(
        answer_text(&answer),
        "locations:\n  a.py\n    1:4 def one(): …\n    3:4 in Cart.total: one()\n  b.py:7:1-8:3\n  \
         c.py:2:1 one, why: imported\ncomplete"
    );
}

#[test]
fn answer_text_says_where_a_name_was_found_and_how_many_are_not_listed() {
    let resolved = json!({"path": "a.py", "at": "3:4", "symbol": "one"});
    let answer = json!({
        "ok": true, "contents": "def one()", "range": {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 7}},
        "resolved": resolved, "verdict": "complete",
    });
    assert_eq!(answer_text(&answer), "def one()\nresolved: a.py:3:4 one\ncomplete");
    let listed = |has_more| json!({"ok": true, "names": ["one"], "count": 3, "has_more": has_more});
    assert_eq!(answer_text(&listed(true)), "names: one\ncount: 3\nhas_more: true");
    assert_eq!(answer_text(&listed(false)), "names: one");
}

#[test]
fn answer_text_writes_findings_as_compilers_do() {
    let finding = json!({
        "path": "a.py", "at": "1:4-7", "severity": "error", "code": "E1", "source": "Pyright", "server": "pyright", "message": "no\n  because", "in": "f",
        "help": ["called: f(x)"],
    });
    let answer = json!({"ok": true, "diagnostics": [finding], "count": 1, "has_more": false});
    assert_eq!(
        answer_text(&answer),
        "diagnostics:\n  a.py:1:4-7 in f: error E1: no (pyright) help: called: f(x)\n      because"
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

#[test]
fn answer_text_of_a_definition_is_one_line_and_the_verdict() {
    let answer = json!({
        "ok": true, "locations": [{"a.py": [["1:4", "def one():", "Cart"]]}], "count": 1,
        "server_status": {"language": "python", "server": "pyright", "state": "indexing", "detail": "1 of 2"}, "verdict": "complete",
    });
    assert_eq!(answer_text(&answer), "a.py:1:4 in Cart: def one():\ncomplete");
    let mut partial = answer;
    partial["verdict"] = json!("partial");
    assert!(answer_text(&partial).contains("state: indexing"), "{}", answer_text(&partial));
    assert!(answer_text(&partial).ends_with("verdict: partial"), "{}", answer_text(&partial));
}

#[test]
fn answer_text_of_a_hover_is_signature_and_documentation_without_layout() {
    let page = "```python\n(function) def one(\n    x: int\n) -> None\n```\n---\nSays one.  \n\n&nbsp;&nbsp;more\n```\none(1)\n```\n";
    let text = answer_text(&json!({"ok": true, "contents": page, "verdict": "complete"}));
    assert_eq!(
        text,
        "(function) def one(\n    x: int\n) -> None\nSays one.\n\n  more\n```\none(1)\n```\ncomplete"
    );
}

#[test]
fn answer_text_of_an_edit_says_what_it_broke_once_per_file_and_message() {
    let finding = |path: &str, at: &str, message: &str| json!({"path": path, "at": at, "severity": "error", "code": "E1", "server": "pyright", "message": message});
    let mut first = finding("a.py", "1:4-9", "no `x`\n  because");
    first["help"] = json!(["called: f(x)"]);
    let added = json!([
        first,
        finding("a.py", "5:4-7:0", "no `x`\n  because"),
        finding("a.py", "6:0", "no `y`"),
        finding("b.py", "6:0", "no `y`")
    ]);
    let delta = json!({"added": added, "removed": 0, "unchanged": 3, "errors": 7, "verdict": "complete", "files": ["a.py", "b.py"]});
    let mut answer = json!({
        "ok": true, "path": "a.py", "operation": "modified", "size": 9, "additions": 1, "deletions": 1,
        "diff": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n", "verdict": "complete", "diagnostics": delta,
    });
    assert_eq!(
        answer_text(&answer),
        "diff:\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\ncomplete\ndiagnostics:\n  added:\n    a.py\n      \
         1:4 error E1: no `x` (pyright) help: called: f(x)\n          because\n      5:4 the same\n      \
         6:0 error E1: no `y` (pyright)\n    b.py\n      6:0 error E1: no `y` (pyright)\n  errors: 7"
    );
    answer["diagnostics"]["verdict"] = json!("partial");
    answer["verdict"] = json!("partial");
    answer["operation"] = json!("created");
    let text = answer_text(&answer);
    assert!(
        text.starts_with("path: a.py\noperation: created\n") && text.contains("files: a.py, b.py"),
        "{text}"
    );
    assert_eq!(text.matches("partial").count(), 1, "{text}");
    answer["diagnostics"] =
        json!({"verdict": "no_data", "state": "starting", "reason": "not checked yet: s is starting"});
    answer["verdict"] = json!("no_data");
    let text = answer_text(&answer);
    assert!(text.ends_with("verdict: no_data\nnot checked yet: s is starting"), "{text}");
}
