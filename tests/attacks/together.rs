//! Many calls at once.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::json;

use crate::support::{Project, fingerprint};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn row_08_concurrent_edits_applied_match_reported_results() {
    let lines: String = (0..40).map(|line| format!("line {line} is old;\n")).collect();
    let project = Project::new([("a.txt", lines.as_str())]);
    let workspace = Arc::new(project.open());
    let edits = (0..40).map(|line| {
        let workspace = Arc::clone(&workspace);
        tokio::spawn(async move {
            let (old, new) = (format!("line {line} is old;"), format!("line {line} is new;"));
            let arguments = json!({"path": "a.txt", "edits": [{"old": old, "new": new}]});
            let result = workspace.call("edit", arguments).await;
            assert!(result.ok() || result.value["code"] == "conflict", "{}", result.value);
            (line, result.ok())
        })
    });
    let told: Vec<(i32, bool)> =
        join_all(edits).await.into_iter().map(|done| done.expect("an end")).collect();
    let text = project.read("a.txt");
    for (line, ok) in &told {
        assert_eq!(text.contains(&format!("line {line} is new;")), *ok, "line {line}\n{text}");
        assert_eq!(text.contains(&format!("line {line} is old;")), !*ok, "line {line}\n{text}");
    }
    assert_eq!(text.lines().count(), 40);
    assert!(told.iter().any(|(_, ok)| *ok), "one wins");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "slow: just slow"]
async fn dry_run_diagnostics_are_invisible_to_concurrent_hover() {
    let text = "def foo\nfoo bar\n";
    let project = Project::scripted(&json!({}), "", [("a.scr", text)]);
    let workspace = project.open();
    let hover = || json!({"path": "a.scr", "line": 0, "character": 0});
    workspace.ok("lsp_hover", hover()).await;
    let on_disk = fingerprint(text);
    let trials = async {
        let mut tried = 0;
        for round in 0..500 {
            let content = format!("def foo\nfoo WRONG {round}\n");
            let arguments =
                json!({"path": "a.scr", "content": content, "dry_run": true, "diagnostics": true});
            let answer = workspace.ok("write", arguments).await;
            assert!(answer.get("undo").is_none(), "{answer}");
            tried += usize::from(answer["diagnostics"]["added"].to_string().contains("WRONG"));
        }
        tried
    };
    let ended = tokio_util::sync::CancellationToken::new();
    let queries = async {
        let mut asked = 0;
        while !ended.is_cancelled() {
            let answer = workspace.ok("lsp_hover", hover()).await;
            let contents = answer["contents"].as_str().unwrap_or_default();
            assert!(contents.ends_with(&on_disk), "after {asked} questions: {answer}");
            asked += 1;
        }
        asked
    };
    let trials = async {
        let tried = trials.await;
        ended.cancel();
        tried
    };
    let (tried, asked) = tokio::join!(trials, queries);
    assert!(tried > 400, "dry runs took place: {tried}");
    assert!(asked > 100, "requests came in between: {asked}");
    assert_eq!(project.read("a.scr"), text);
    workspace.shutdown().await;
    assert_eq!(project.log().violations(), Vec::<String>::new());
}
