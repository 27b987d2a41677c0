//! Paths longer or deeper than the limits, as arguments and on disk; and other endless nesting.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

/// The time limit of a refusal on a slow machine; it takes milliseconds.
const SOON: Duration = Duration::from_secs(60);

/// A path that is too deep, one with a name that is too long, one that is too long in total, with
/// their messages.
fn beyond() -> [(String, &'static str); 4] {
    [
        (format!("{}x", "a/".repeat(8_000)), "bytes, more than the limit of 4095"),
        (format!("{}x", "a/".repeat(500_000)), "bytes, more than the limit of 4095"),
        (format!("{}x", "a/".repeat(1_000)), "1001 levels deep, more than the limit of 256"),
        ("n".repeat(256), "a name of 256 bytes, more than the limit of 255"),
    ]
}

/// Every tool with a path argument, with otherwise valid arguments.
fn tools(path: &str) -> Vec<(&'static str, Value)> {
    let at = json!({"path": path, "line": 0, "character": 0});
    let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-one\n+two\n");
    let mut tools = vec![
        ("read", json!({"path": path})),
        ("list", json!({"path": path})),
        ("list", json!({"path": path, "recursive": true})),
        ("glob", json!({"pattern": "*", "path": path})),
        ("grep", json!({"pattern": "one", "path": path})),
        ("write", json!({"path": path, "content": "x"})),
        ("edit", json!({"path": path, "edits": [{"old": "one", "new": "x"}]})),
        ("mkdir", json!({"path": path})),
        ("delete", json!({"path": path})),
        ("move", json!({"from": path, "to": "b.txt"})),
        ("move", json!({"from": "a.txt", "to": path})),
        ("patch", json!({"patch": patch})),
        ("lsp_symbols", json!({"path": path})),
        ("lsp_diagnostics", json!({"paths": [path]})),
        ("lsp_format", json!({"path": path})),
    ];
    for tool in ["lsp_hover", "lsp_definition", "lsp_references", "lsp_completion", "lsp_code_actions"] {
        tools.push((tool, at.clone()));
    }
    tools
}

#[tokio::test(flavor = "multi_thread")]
async fn path_beyond_limits_every_tool_refuses_and_names_limit() {
    let project = Project::new([("a.txt", "one\n")]);
    let workspace = project.open();
    for (path, said) in beyond() {
        for (tool, arguments) in tools(&path) {
            let begun = Instant::now();
            let (code, error) = workspace.failure(tool, arguments).await;
            let error = error.chars().take(600).collect::<String>();
            assert!(begun.elapsed() < SOON, "{tool}: {:?}", begun.elapsed());
            assert!(["invalid_args", "patch_mismatch"].contains(&code.as_str()), "{tool}: {code} {error}");
            assert!(error.contains(said) && error.contains("give a "), "{tool}: {code} {error}");
        }
    }
    assert_eq!(workspace.ok("read", json!({"path": "a.txt"})).await["content"], "one\n");
}

#[test]
fn path_beyond_limits_command_line_and_mcp_refuse_it() {
    let project = Project::new([("a.txt", "one\n")]);
    let mut client = Mcp::modern(&project, None, json!({}));
    for (path, said) in beyond() {
        let answer = client.call("read", json!({"path": path}));
        assert!(answer.to_string().contains(said) && answer["isError"] == true, "{answer}");
        // No program accepts an argument of a megabyte.
        if path.len() > 100_000 {
            continue;
        }
        for words in
            [vec!["read"], vec!["list"], vec!["grep", "one"], vec!["hover"], vec!["check"], vec!["delete"]]
        {
            let given = if words[0] == "hover" { format!("{path}:1:1") } else { path.clone() };
            let done = project.command(None).args(&words).arg(given).output().expect("the program");
            let said_there = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(2), "{words:?}: {said_there}");
            assert!(said_there.contains(said), "{words:?}: {said_there}");
        }
    }
    let answer = client.call("read", json!({"path": "a.txt"}));
    assert!(answer.to_string().contains("one"), "{answer}");
}

/// Makes nested folders named `d`, one at a time, since such a path is too long for one call.
fn nest(project: &Project, levels: usize) {
    let directory = rustix::fs::OFlags::DIRECTORY;
    let mut folder = rustix::fs::open(project.root(), directory, 0.into()).unwrap();
    for _ in 0..levels {
        rustix::fs::mkdirat(&folder, "d", 0o755.into()).unwrap();
        folder = rustix::fs::openat(&folder, "d", directory, 0.into()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_beyond_depth_limit_walk_stops_and_notes_it() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def one\n")]);
    nest(&project, 2_000);
    let workspace = project.open();
    let begun = Instant::now();
    for (tool, arguments) in [
        ("list", json!({"path": ".", "recursive": true, "limit": 5000})),
        ("glob", json!({"pattern": "**/*"})),
        ("grep", json!({"pattern": "one", "semantic": false})),
    ] {
        let answer = workspace.ok(tool, arguments).await;
        assert!(
            answer["notes"].to_string().contains("folders at a depth of 256 were not searched"),
            "{tool}: {answer}"
        );
    }
    for depth in [200, 256] {
        let path = vec!["d"; depth].join("/");
        workspace.ok("list", json!({"path": path})).await;
        let file = format!("{path}/missing.scr");
        for (tool, arguments) in
            [("read", json!({"path": file})), ("lsp_hover", json!({"path": file, "line": 0, "character": 0}))]
        {
            let (code, error) = workspace.failure(tool, arguments).await;
            assert!(["not_found", "invalid_args"].contains(&code.as_str()), "{tool}: {code} {error}");
        }
    }
    let (code, error) = workspace.failure("delete", json!({"path": "d", "recursive": true})).await;
    assert_eq!(code, "too_large");
    assert!(
        error.contains("the depth of the folders of `d` would be 257, more than the limit of 256"),
        "{error}"
    );
    let hover = workspace.call("lsp_hover", json!({"path": "a.scr", "line": 0, "symbol": "one"})).await;
    assert!(hover.ok(), "{}", hover.value);
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_braces_without_end_are_answered_everywhere() {
    let nested = |levels: usize| format!("{}a{}", "{".repeat(levels), "}".repeat(levels));
    let uses = format!("use {};\nfn one() {{}}\n", nested(100_000));
    let project = Project::new([("a.txt", "one\n"), ("deep.rs", &uses)]);
    project.write(".gitignore", format!("{}\n*.log\n", nested(400_000)));
    project.write("b.log", "one\n");
    let workspace = project.open();
    let found = workspace.ok("grep", json!({"pattern": "^one", "semantic": false})).await;
    assert_eq!(found["count"], 1, "the other patterns of the file count: {found}");
    let (code, error) = workspace.failure("glob", json!({"pattern": nested(400)})).await;
    assert_eq!(code, "invalid_args", "{error}");
    assert!(error.contains("braces are 400 deep"), "{error}");
    workspace.call("lsp_symbols", json!({"path": "deep.rs"})).await;
    workspace.call("lsp_hover", json!({"path": "deep.rs", "line": 1, "symbol": "one"})).await;
}
