use serde_json::json;

use super::*;

const TERMINAL: DisplayCapabilities = DisplayCapabilities { terminal: true, color: false, width: 80 };
const WRITTEN: EditRequestFlags = EditRequestFlags { dry_run: false, diagnostics: true };

fn edited(added: &[&str], verdict: &str) -> EditAnswerView {
    let finding = |severity: &&str| json!({"path": "b.py", "at": "1:1-2", "severity": severity, "server": "s", "message": "bad\u{1b}[2J"});
    let added: Vec<Value> = added.iter().map(finding).collect();
    EditAnswerView::from(json!({
        "ok": true, "path": "a.py", "operation": "modified", "size": 2, "additions": 1, "deletions": 1,
        "diff": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\u{1b}\n+y\n", "undo": "7", "verdict": verdict,
        "diagnostics": {"added": added, "removed": 1, "unchanged": 0, "errors": 1, "verdict": verdict, "files": []},
    }))
}

fn shown(edited: &EditAnswerView, asked: EditRequestFlags, display: &DisplayCapabilities) -> Reply {
    render(edited, asked, display, &|_, _| Some("x = 1".to_owned()))
}

#[test]
fn edit_in_a_pipe_is_a_diff_with_diagnostic_lines() {
    let reply = shown(&edited(&["error"], "complete"), WRITTEN, &DisplayCapabilities::PLAIN);
    let expected = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\u{1b}\n+y\n\
                    b.py:1:1: error: bad\\u{1b}[2J (s)\n1 new error, 1 fixed\n";
    assert_eq!(reply.out, expected);
    assert_eq!(reply.lines, ["undo with: lsp-tools undo 7"]);
}

#[test]
fn edit_on_a_terminal_has_file_heading_and_diagnostic_frames() {
    let reply = shown(&edited(&["error"], "complete"), WRITTEN, &TERMINAL);
    assert!(
        reply.out.starts_with("modified a.py  +1  -1\n@@ -1 +1 @@\n-x\\u{1b}\n+y\n\nerror: bad"),
        "{}",
        reply.out
    );
    assert!(reply.out.contains("1 │ x = 1\n"), "{}", reply.out);
    let tried =
        shown(&edited(&["error"], "complete"), EditRequestFlags { dry_run: true, ..WRITTEN }, &TERMINAL);
    assert!(tried.out.starts_with("would be modified a.py"), "{}", tried.out);
    assert!(!tried.out.contains('│'), "{}", tried.out);
}

#[test]
fn edit_exit_status_reflects_new_diagnostics_only_when_requested() {
    for (added, verdict, expected) in [
        (&[][..], "complete", CliExitStatus::Answered),
        (&["hint"], "complete", CliExitStatus::Answered),
        (&["warning"], "complete", CliExitStatus::Unpleasant),
        (&["error"], "partial", CliExitStatus::Unpleasant),
        (&[], "no_data", CliExitStatus::Failed),
        (&[], "hints", CliExitStatus::Hints),
    ] {
        let edited = edited(added, verdict);
        assert_eq!(
            shown(&edited, WRITTEN, &DisplayCapabilities::PLAIN).status,
            expected,
            "{added:?} {verdict}"
        );
        let unasked = EditRequestFlags { dry_run: false, diagnostics: false };
        assert_eq!(
            shown(&edited, unasked, &DisplayCapabilities::PLAIN).status,
            CliExitStatus::Answered,
            "{added:?} {verdict}"
        );
    }
}

#[test]
fn edit_without_diagnostics_answer_is_not_called_clean() {
    let said = |verdict: &str| shown(&edited(&[], verdict), WRITTEN, &DisplayCapabilities::PLAIN).out;
    assert!(said("complete").ends_with("\nno new problems, 1 fixed\n"));
    assert!(said("partial").ends_with("\nno new problems, 1 fixed; results may be incomplete\n"));
    assert!(!said("no_data").contains("no new problems"));
}

#[test]
fn edit_that_changes_nothing_is_reported_as_no_difference() {
    let same = EditAnswerView::from(json!({"path": "a.py", "operation": "unchanged", "size": 2}));
    let reply = shown(&same, WRITTEN, &TERMINAL);
    assert_eq!((reply.out.as_str(), reply.lines), ("", vec!["no file changed".to_owned()]));
    assert!(!EditAnswerView::from(json!({"results": []})).changes_something());
}

#[test]
fn disabled_code_actions_are_counted_and_not_listed() {
    let offered = |disabled: Value| -> CodeActionsOutput {
        let first = json!({"title": "Fix\u{1b}", "kind": "quickfix", "server": "s", "disabled": disabled});
        let second = json!({"title": "Extract", "server": "s", "disabled": "not here"});
        serde_json::from_value(json!({"actions": [first, second]})).unwrap()
    };
    let some = actions(&offered(Value::Null), &DisplayCapabilities::PLAIN);
    assert!(some.out.contains("Fix\\u{1b}  quickfix  s") && !some.out.contains("Extract"), "{}", some.out);
    assert_eq!(some.lines, ["note: 1 more are disabled here; --format json gives the reasons"]);
    assert_eq!(some.status, CliExitStatus::Answered);
    assert_eq!(actions(&offered(json!("no")), &DisplayCapabilities::PLAIN).status, CliExitStatus::Unpleasant);
}
