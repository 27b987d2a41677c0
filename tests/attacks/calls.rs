//! Calls that fail, are cancelled, or are made for another caller.

use std::time::Duration;

use lsp_tools::{Call, Card, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::everything;
use crate::support::{Project, wait_until};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Said {
    said: String,
}

struct Panics;

impl Tool for Panics {
    type Args = Nothing;
    type Output = Said;

    fn card(&self) -> Card {
        Card::reading("test_panic", "Panic", "Panics.")
    }

    async fn run(&self, _call: Call<'_>, _args: Nothing) -> Result<Said, ToolError> {
        tokio::task::yield_now().await;
        panic!("the detail at /a/path/of/the/machine")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_30_tool_panic_is_internal_error_and_next_call_works() {
    let project = Project::new([("a.txt", "one\n")]);
    let mut workspace = project.open();
    workspace.add_tool(Panics).expect("a tool");
    for _ in 0..3 {
        let result = workspace.call("test_panic", json!({})).await;
        assert_eq!((result.ok(), &result.value["code"]), (false, &json!("internal")));
        assert!(!result.value.to_string().contains("/a/path"), "{}", result.value);
        assert_eq!(workspace.ok("read", json!({"path": "a.txt"})).await["content"], "one\n");
        workspace
            .ok("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}], "dry_run": true}))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn row_41_cancelled_call_writes_nothing_afterwards() {
    let project = Project::scripted(
        &json!({"answers": {"textDocument/rename": {"delay_ms": 1500, "result": null}}}),
        "",
        [("a.scr", "def foo\nfoo bar\n")],
    );
    let workspace = project.open();
    let before = everything(&project);
    let marker = project.beside("logs").join("late");
    let command = format!("sleep 2; touch '{0}'; echo x > late.txt # {0}", marker.display());
    for (tool, arguments) in [
        ("bash", json!({"command": command})),
        ("lsp_rename", json!({"path": "a.scr", "line": 0, "symbol": "foo", "new_name": "new"})),
    ] {
        let cancelled = CancellationToken::new();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(700)).await;
            cancelled.cancel();
        };
        let (result, ()) = tokio::join!(workspace.call_until(cancelled.clone(), tool, arguments), cancel);
        assert_eq!(result.value["code"], "cancelled", "{tool}: {}", result.value);
    }
    let running = || {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        processes
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .any(|line| String::from_utf8_lossy(&line).contains(&*marker.to_string_lossy()))
    };
    wait_until("the command's end", Duration::from_secs(60), || !running());
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(everything(&project), before);
    assert!(!marker.exists());
    workspace.shutdown().await;
}
