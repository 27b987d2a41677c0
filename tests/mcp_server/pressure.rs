//! Clients that send a lot, or never read.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::Mcp;

fn resident(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).expect("a process");
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * 4096
}

#[test]
fn thousand_concurrent_requests_are_each_answered_once() {
    let project = Project::new([("a.txt", "x\n")]);
    let mut client = Mcp::legacy(&project, None, json!({}));
    let ids: BTreeSet<u64> = (0..1000)
        .map(|_| client.request("tools/call", json!({"name": "read", "arguments": {"path": "a.txt"}})))
        .collect();
    let mut answered = BTreeSet::new();
    while answered.len() < ids.len() {
        let answer = client.find("an answer", |_| true);
        assert_eq!(answer["result"]["structuredContent"]["content"], "x\n", "{answer}");
        assert!(answered.insert(answer["id"].as_u64().expect("an id")), "{answer}");
    }
    assert_eq!(answered, ids);
}

#[test]
#[ignore = "slow: just slow"]
fn client_that_never_reads_costs_bounded_memory_and_exit_is_prompt() {
    let project = Project::new([("big.txt", "x".repeat(99).as_str())]);
    project.write("big.txt", "0123456789012345678901234567890123456789\n".repeat(1000));
    let mut command = project.command(None);
    command.args(["mcp", "--no-daemon"]);
    let piped = std::process::Stdio::piped;
    let mut child = command
        .stdin(piped())
        .stdout(piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the server");
    let mut stdin = child.stdin.take().expect("stdin");
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    writeln!(stdin, "{initialize}").expect("a server that reads");
    let writer = std::thread::spawn(move || {
        for id in 1..20_000_u64 {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                "name": "read", "arguments": {"path": "big.txt"},
            }});
            // It blocks when the server takes no more, and fails when it has ended.
            if writeln!(stdin, "{call}").is_err() {
                return;
            }
        }
    });
    let mut highest = 0;
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(100));
        highest = highest.max(resident(child.id()));
    }
    assert!(highest < 200 << 20, "{highest} bytes");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .expect("a process");
    let begun = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.code().is_some(), "{status}");
    writer.join().expect("the writer");
}

#[test]
fn subscriptions_over_limit_do_not_block_calls() {
    let project = Project::new([("a.txt", "x\n")]);
    let mut client = Mcp::modern(&project, None, json!({}));
    client.call("read", json!({"path": "a.txt"}));
    for _ in 0..70 {
        client.request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    }
    let refused = client.find("the refusal of one too many", |message| message.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let answer: Value = client.call("read", json!({"path": "a.txt"}));
    assert_eq!(answer["structuredContent"]["content"], "x\n");
}
