//! A second lsp-tools mounts the first: its tools can be called through it, and no endless
//! self-mount occurs.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Project, count_processes, wait_until};

/// The table that mounts an lsp-tools on `inner`, with its own user's folders, as `name`.
fn mounting(name: &str, inner: &Project) -> String {
    let environment: Vec<String> =
        inner.environment(None).into_iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let (program, root) = (env!("CARGO_BIN_EXE_lsp-tools"), inner.root());
    format!(
        "[mcp.servers.{name}]\ncommand = {program:?}\nargs = [\"mcp\", \"--no-daemon\", \"--profile\", \"all\", \"--workspace\", {root:?}]\n\
         env = {{{}}}\ntimeout = 30_000\n",
        environment.join(", ")
    )
}

fn settings(project: &Project, text: &str) {
    let text = format!("[permissions]\nallow = [\"inner/*\"]\n{text}");
    fs::write(project.beside("config").join("lsp-tools.toml"), text).expect("settings");
}

fn inner() -> Project {
    Project::scripted(&json!({"hover_version": false}), "", [("a.scr", "def foo\nfoo WRONG\n")])
}

fn call(client: &mut Mcp, name: &str, arguments: Value) -> Value {
    client.call(name, arguments)["structuredContent"].clone()
}

#[test]
fn mounted_lsp_tools_server_tools_are_callable() {
    let (inner, outer) = (inner(), Project::new([("a.txt", "outer\n")]));
    settings(&outer, &mounting("inner", &inner));
    for mut client in [Mcp::legacy(&outer, None, json!({})), Mcp::modern(&outer, None, json!({}))] {
        let hover = call(&mut client, "inner/lsp_hover", json!({"path": "a.scr", "line": 0, "character": 4}));
        assert!(hover["structured"]["contents"].as_str().is_some_and(|text| text.contains("foo")), "{hover}");
        let own = call(&mut client, "inner.read", json!({"path": "a.scr"}));
        assert_eq!(own["structured"]["content"], "def foo\nfoo WRONG\n", "{own}");
        assert_eq!(call(&mut client, "read", json!({"path": "a.txt"}))["content"], "outer\n");
        let wrong = call(&mut client, "inner.read", json!({"path": "../../etc/passwd"}));
        assert_eq!((&wrong["ok"], &wrong["code"]), (&json!(false), &json!("server_failed")), "{wrong}");
        // Calls that need approval there do not ask the person here: the rules of both apply.
        let denied = call(&mut client, "inner.bash", json!({"command": "true"}));
        assert_eq!(denied["ok"], false, "{denied}");
    }
}

#[test]
fn self_mounting_server_does_not_recurse() {
    let project = inner();
    settings(&project, &mounting("inner", &project));
    let mut client = Mcp::legacy(&project, None, json!({}));
    let mut names = Vec::new();
    wait_until("the mounted tools are listed", Duration::from_secs(60), || {
        let list = client.result("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools").iter();
        names = tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        names.iter().any(|name| name == "inner.read")
    });
    // One instance runs below the first one, and none below that.
    assert!(!names.iter().any(|name| name.starts_with("inner.inner")), "{names:?}");
    let read = call(&mut client, "inner.read", json!({"path": "a.scr"}));
    assert_eq!(read["structured"]["content"], "def foo\nfoo WRONG\n", "{read}");
    let through = json!({"name": "inner.inner_read", "arguments": {"path": "a.scr"}});
    assert_eq!(client.error("tools/call", through), -32602);
    // The instance that the test started does not count: it has no workspace among its arguments.
    // Each has its supervisor.
    let root = project.root();
    assert_eq!(count_processes(root.to_str().expect("UTF-8")), 2, "the server and its supervisor");
}
