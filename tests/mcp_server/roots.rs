//! Roots of clients with a handshake: they set the base of relative paths, and widen nothing.

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::support::mcp::{Mcp, PATIENCE};
use crate::support::{Project, wait_until};

fn project() -> Project {
    Project::new([("a.txt", "of the root\n"), ("sub/a.txt", "of the folder\n")])
}

fn uri(path: &std::path::Path) -> String {
    Url::from_directory_path(path).expect("a folder").to_string()
}

/// Answers the next request for roots.
fn tell(client: &mut Mcp, roots: &[String]) {
    let question = client.find("the question for roots", |message| message["method"] == "roots/list");
    let roots: Vec<Value> = roots.iter().map(|uri| json!({"uri": uri})).collect();
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}));
}

fn content(client: &mut Mcp, path: &str) -> Value {
    client.call("read", json!({"path": path}))["structuredContent"].clone()
}

#[test]
fn relative_paths_start_at_first_root_inside_workspace() {
    let project = project();
    let outside = project.beside("state");
    let secret = outside.join("secret.txt");
    std::fs::write(&secret, "x\n").expect("a file");
    let mut client = Mcp::legacy(&project, None, json!({"roots": {"listChanged": true}}));
    assert_eq!(content(&mut client, "a.txt")["content"], "of the root\n", "calls do not wait for the answer");
    let none = ["untitled:x".to_owned(), uri(&outside), uri(&project.path("gone"))];
    tell(&mut client, &[none.as_slice(), &[uri(&project.path("sub"))]].concat());
    wait_until("the root counts", PATIENCE, || content(&mut client, "a.txt")["content"] == "of the folder\n");
    assert_eq!(content(&mut client, secret.to_str().expect("UTF-8"))["code"], "outside_workspace");
    assert_eq!(content(&mut client, "../a.txt")["content"], "of the root\n");
    // Roots only outside: as if there were none.
    client.notify("notifications/roots/list_changed", json!({}));
    tell(&mut client, &none);
    wait_until("no root counts", PATIENCE, || content(&mut client, "a.txt")["content"] == "of the root\n");
    assert_eq!(content(&mut client, secret.to_str().expect("UTF-8"))["code"], "outside_workspace");
}

#[test]
fn roots_undeclared_by_client_are_not_requested() {
    let project = project();
    let mut client = Mcp::legacy(&project, None, json!({}));
    content(&mut client, "a.txt");
    client.notify("notifications/roots/list_changed", json!({}));
    let asked = client.find_within(Duration::from_secs(2), |message| message["method"] == "roots/list");
    assert_eq!(asked, None);
}

#[test]
fn workspace_option_is_base_of_relative_paths() {
    let project = project();
    let mut client = Mcp::start(&project, None, &["--workspace", "sub"]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    client.result("initialize", hello);
    assert_eq!(content(&mut client, "a.txt")["content"], "of the folder\n");
    assert_eq!(content(&mut client, "../a.txt")["code"], "outside_workspace");
}
