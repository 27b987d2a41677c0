//! Several edits at once: each is applied to the result of the one before, reports its own errors,
//! and has its own undo.

use std::sync::Mutex;

use futures::future::{BoxFuture, join_all};
use lsp_tools::{Approval, ApprovalRequest, Approver, Caller};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::sync::oneshot::{Receiver, Sender, channel};

use crate::support::{Project, TestWorkspace};

/// The number of calls in one message of an agent.
const CALLS: usize = 8;

fn lines(word: &str) -> String {
    (0..CALLS).map(|number| format!("{word}{number}\n\n\n\n\n\n\n\n")).collect()
}

fn numbers() -> std::ops::Range<usize> {
    0..CALLS
}

async fn all(workspace: &TestWorkspace, name: &str, calls: impl IntoIterator<Item = Value>) -> Vec<Value> {
    join_all(calls.into_iter().map(|arguments| workspace.ok(name, arguments))).await
}

/// Undoes the edits, newest first, as the journal has them.
async fn take_all_back(workspace: &TestWorkspace, most: usize) {
    let history = workspace.ok("undo", json!({"list": true})).await;
    let edits = history["edits"].as_array().expect("edits");
    assert_eq!(edits.len(), most, "each call is one edit: {history}");
    for edit in edits {
        workspace.ok("undo", json!({"id": edit["id"]})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_edits_of_one_file_are_all_applied_and_undoable() {
    let project = Project::new([("a.txt", lines("old").as_str())]);
    let workspace = project.open();
    let edit = |n: usize| json!({"path": "a.txt", "edits": [{"old": format!("old{n}\n"), "new": format!("new{n}\n")}]});
    let made = all(&workspace, "edit", numbers().map(edit)).await;
    assert_eq!(project.read("a.txt"), lines("new"));
    // The diff of each is its own.
    assert!(
        made.iter().all(|made| (&made["additions"], &made["deletions"]) == (&json!(1), &json!(1))),
        "{made:?}"
    );
    take_all_back(&workspace, CALLS).await;
    assert_eq!(project.read("a.txt"), lines("old"));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_patches_of_same_files_are_all_applied() {
    let project = Project::new([("a.txt", lines("old").as_str()), ("b.txt", lines("old").as_str())]);
    let workspace = project.open();
    let hunk = |file: &str, n: usize| {
        let line = n * 8 + 1;
        format!("--- a/{file}\n+++ b/{file}\n@@ -{line},2 +{line},3 @@\n-old{n}\n+new{n}\n+more{n}\n \n")
    };
    // Half of them name the files in the other order.
    let patch = |n: usize| {
        let files = if n.is_multiple_of(2) { ["a.txt", "b.txt"] } else { ["b.txt", "a.txt"] };
        json!({"patch": files.map(|file| hunk(file, n)).concat()})
    };
    all(&workspace, "patch", numbers().map(patch)).await;
    let expected: String = numbers().map(|n| format!("new{n}\nmore{n}\n\n\n\n\n\n\n\n")).collect();
    assert_eq!((project.read("a.txt"), project.read("b.txt")), (expected.clone(), expected));
    take_all_back(&workspace, CALLS).await;
    assert_eq!((project.read("a.txt"), project.read("b.txt")), (lines("old"), lines("old")));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_edits_that_overlap_all_but_first_mismatch() {
    let project = Project::new([("a.txt", "one\n")]);
    let workspace = project.open();
    let edits = numbers().map(|n| {
        let arguments = json!({"path": "a.txt", "edits": [{"old": "one", "new": format!("mine{n}")}]});
        workspace.call_unasked("edit", arguments)
    });
    let results = join_all(edits).await;
    let made: Vec<&Value> =
        results.iter().map(|result| &result.value).filter(|value| value["ok"] == true).collect();
    assert_eq!(made.len(), 1, "{made:?}");
    let missed = results.iter().filter(|result| result.value["code"] == "patch_mismatch").count();
    assert_eq!(missed, CALLS - 1, "the others get the current text");
}

/// Approves on request, and reports that it was asked.
struct Later {
    asked: Mutex<Option<Sender<()>>>,
    answer: Mutex<Option<Receiver<()>>>,
}

impl Approver for Later {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        let asked = self.asked.lock().expect("the bell").take().expect("one question");
        let answer = self.answer.lock().expect("the answer").take().expect("one question");
        Box::pin(async move {
            asked.send(()).expect("a receiver");
            answer.await.expect("an answer");
            Approval::Once
        })
    }
}

/// Approves once all calls have requested approval.
struct Together(Barrier);

impl Approver for Together {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.0.wait().await;
            Approval::Once
        })
    }
}

/// A call that waits for approval, the signal that it waits, and the approval.
fn waiting(approver: &mut Option<Later>) -> (&Later, Receiver<()>, Sender<()>) {
    let ((asked, is_asked), (leave, answer)) = (channel(), channel());
    let later = Later { asked: Mutex::new(Some(asked)), answer: Mutex::new(Some(answer)) };
    (approver.insert(later), is_asked, leave)
}

fn asks_about(project: &Project, tool: &str) {
    let settings = format!("[permissions]\nask = [\"{tool}\"]\n");
    std::fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
}

#[tokio::test(flavor = "multi_thread")]
async fn write_racing_an_edit_of_same_file_is_a_conflict() {
    let project = Project::new([("a.txt", "one\ntwo\n")]);
    asks_about(&project, "write");
    let workspace = project.open();
    let caller = Caller::default();
    let mut approver = None;
    let (later, is_asked, leave) = waiting(&mut approver);
    let whole = json!({"path": "a.txt", "content": "one\nmine\n"});
    let write = workspace.call_as(&caller, later, "write", whole.clone());
    // The edit begins and ends while the write waits for approval, and does not wait itself.
    let edit = async {
        is_asked.await.expect("a question");
        let edits = json!([{"old": "one", "new": "1"}]);
        workspace.ok("edit", json!({"path": "a.txt", "edits": edits})).await;
        leave.send(()).expect("a call that waits");
    };
    let (written, ()) = tokio::join!(write, edit);
    assert_eq!(written.value["code"], "conflict", "{}", written.value);
    let error = written.value["error"].as_str().unwrap_or_default();
    assert!(error.contains("a.txt") && error.contains("at the same time"), "{error}");
    assert_eq!(project.read("a.txt"), "1\ntwo\n");
    // Afterwards the file is not blocked.
    workspace.ok("write", whole).await;
    assert_eq!(project.read("a.txt"), "one\nmine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_of_one_file_all_but_one_conflict() {
    let project = Project::new([("a.txt", "one\n")]);
    asks_about(&project, "write");
    let workspace = project.open();
    let caller = Caller::default();
    // All calls have arrived before the first is executed.
    let together = Together(Barrier::new(CALLS));
    let writes = numbers().map(|n| {
        let arguments = json!({"path": "a.txt", "content": format!("text {n}\n")});
        workspace.call_as(&caller, &together, "write", arguments)
    });
    let results = join_all(writes).await;
    let codes: Vec<&Value> = results.iter().map(|result| &result.value["code"]).collect();
    assert_eq!(codes.iter().filter(|code| ***code == "conflict").count(), CALLS - 1, "{codes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_edits_report_only_their_own_diagnostics() {
    let files = numbers().map(|n| format!("def name{n}\n\n\n\n\n")).collect::<String>();
    let table = "diagnostics = {sees-unsaved = true}";
    let project = Project::scripted(&json!({}), table, [("a.scr", files.as_str()), ("b.scr", "name0\n")]);
    let workspace = project.open();
    // A running server answers edits that do not request diagnostics.
    workspace.ok("lsp_diagnostics", json!({"path": "a.scr"})).await;
    let edit = |n: usize| {
        let wrong = if n.is_multiple_of(2) { "WRONG" } else { "right" };
        json!({"path": "a.scr", "diagnostics": true,
               "edits": [{"old": format!("def name{n}\n"), "new": format!("def name{n} {wrong}\n")}]})
    };
    let made = all(&workspace, "edit", numbers().map(edit)).await;
    for (n, made) in made.iter().enumerate() {
        let added = made["diagnostics"]["added"].as_array().map(Vec::len);
        assert_eq!(added, Some(usize::from(n.is_multiple_of(2))), "edit {n}: {made:#}");
        assert_eq!(made["diagnostics"]["removed"], 0, "edit {n}: {made:#}");
    }
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn breaking_edit_is_not_blamed_on_concurrent_edit_of_caller() {
    let project = Project::new([
        ("lib.py", "def area(w: int, h: int) -> int:\n    return w * h\n"),
        ("use.py", "from lib import area\n\n\nprint(area(1, 2))\n\n\nX = 1\n"),
    ]);
    project.write_settings("prefer.python = [\"pyright\"]\n");
    let workspace = project.opening().servers(&["pyright"]).open();
    workspace.ok("lsp_diagnostics", json!({"paths": ["lib.py", "use.py"]})).await;
    let breaks = json!({"path": "lib.py", "diagnostics": true,
                        "edits": [{"old": "h: int) -> int:\n    return w * h", "new": "h: int, d: int) -> int:\n    return w * h * d"}]});
    let harmless =
        json!({"path": "use.py", "diagnostics": true, "edits": [{"old": "X = 1", "new": "X = 2"}]});
    let (broke, changed) = tokio::join!(workspace.ok("edit", breaks), workspace.ok("edit", harmless));
    let added = |answer: &Value| answer["diagnostics"]["added"].as_array().map(Vec::len);
    assert_eq!((added(&broke), added(&changed)), (Some(1), Some(0)), "{broke:#}\n{changed:#}");
    assert_eq!(project.read("use.py"), "from lib import area\n\n\nprint(area(1, 2))\n\n\nX = 2\n");
    workspace.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn concurrent_renames_and_edits_of_one_file_are_all_applied() {
    let text: String = numbers().map(|n| format!("name{n} = {n}\nprint(name{n})\n\n\n\n")).collect();
    let project = Project::new([("a.py", text.as_str())]);
    project.write_settings("prefer.python = [\"pyright\"]\n");
    let workspace = project.opening().servers(&["pyright"]).open();
    let renames = numbers().take(3).map(|n| {
        let arguments =
            json!({"path": "a.py", "symbol": format!("name{n}"), "new_name": format!("other{n}")});
        workspace.ok("lsp_rename", arguments)
    });
    let edits = numbers().skip(3).map(|n| {
        let edit = json!({"old": format!("name{n} = {n}\n"), "new": format!("name{n} = {n}{n}\n")});
        workspace.ok("edit", json!({"path": "a.py", "edits": [edit]}))
    });
    tokio::join!(join_all(renames), join_all(edits));
    let expected: String = numbers()
        .map(|n| match n {
            0..3 => format!("other{n} = {n}\nprint(other{n})\n\n\n\n"),
            _ => format!("name{n} = {n}{n}\nprint(name{n})\n\n\n\n"),
        })
        .collect();
    assert_eq!(project.read("a.py"), expected);
    workspace.shutdown().await;
}
