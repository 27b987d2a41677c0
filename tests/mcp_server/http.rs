//! MCP over HTTP: who is let in, and what hostile requests get.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Project;
use crate::support::mcp::{LEGACY, MODERN, PATIENCE};

const TOKEN: &str = "a-token-of-the-tests-own";

/// A server, its port, and the token's file.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts on a free port; with a token of its own unless `arguments` name a file.
    fn start(project: &Project, arguments: &[&str]) -> (Self, Vec<String>) {
        let mut command = project.command(None);
        command.args(["mcp", "--no-daemon", "--http", "127.0.0.1:0"]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server");
        let mut told = BufReader::new(child.stderr.take().expect("stderr")).lines();
        let lines: Vec<String> = told.by_ref().take(2).map(|line| line.expect("a line")).collect();
        std::thread::spawn(move || told.for_each(drop));
        let port = lines[0]
            .rsplit(':')
            .next()
            .and_then(|rest| rest.split('/').next())
            .and_then(|port| port.parse().ok());
        (Self { child, port: port.unwrap_or_else(|| panic!("no port in {lines:?}")) }, lines)
    }

    /// One with [`TOKEN`].
    fn known(project: &Project) -> Self {
        let file = project.beside("config").join("token");
        std::fs::write(&file, TOKEN).expect("a file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("its mode");
        Self::start(project, &["--token-file", file.to_str().expect("a path")]).0
    }

    /// Sends bytes as they are; the status and everything that comes back until the server closes or is silent for a while.
    fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // The server may refuse before it has read everything.
        let _early = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _closed = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }

    /// Posts `body` with these headers beside the usual ones; a header given here takes the usual one's place.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let host = format!("127.0.0.1:{}", self.port);
        let token = format!("Bearer {TOKEN}");
        let usual = [
            ("Host", host.as_str()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        let mut text = "POST /mcp HTTP/1.1\r\n".to_owned();
        for (name, value) in
            usual.iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name)).chain(headers)
        {
            if !value.is_empty() {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.raw(text.as_bytes())
    }

    fn modern(&self, method: &str, mut params: Value) -> (u16, Value) {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", method), ("Mcp-Name", name.as_str())];
        let (status, text) = self.post(&headers, &body);
        (status, message(&text))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// The last JSON-RPC message in an answer, be it a body or a stream of events.
fn message(text: &str) -> Value {
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .rfind(Value::is_object)
        .unwrap_or_default()
}

fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }})
    .to_string()
}

#[test]
fn both_eras_are_served_on_one_endpoint() {
    let project = Project::new([("a.txt", "hello\n")]);
    let server = Server::known(&project);
    let (status, text) = server.post(&[], &initialize());
    assert_eq!((status, &message(&text)["result"]["protocolVersion"]), (200, &json!(LEGACY)), "{text}");
    let session =
        text.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)];
    let (status, _) =
        server.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    assert_eq!(status, 202);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "a.txt"}}});
    let (_, text) = server.post(&headers, &call.to_string());
    assert_eq!(message(&text)["result"]["structuredContent"]["content"], "hello\n", "{text}");
    let (status, answer) =
        server.modern("tools/call", json!({"name": "read", "arguments": {"path": "a.txt"}}));
    assert_eq!(
        (status, &answer["result"]["structuredContent"]["content"]),
        (200, &json!("hello\n")),
        "{answer}"
    );
}

#[test]
fn row_14_pages_and_foreign_names_are_refused_before_the_body_is_read() {
    let project = Project::new([]);
    let server = Server::known(&project);
    for headers in [
        [("Origin", "http://evil.example")],
        [("Origin", "null")],
        [("Host", "evil.example")],
        [("Host", "127.0.0.1")],
    ] {
        let (status, text) = server.post(&headers, &initialize());
        assert_eq!(status, 403, "{headers:?}: {text}");
        assert!(!text.to_lowercase().contains("access-control-allow"), "{text}");
        // A body that never comes is not waited for.
        let (name, value) = headers[0];
        let begun = Instant::now();
        let host = if name == "Host" {
            value.to_owned()
        } else {
            format!("127.0.0.1:{}\r\n{name}: {value}", server.port)
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
        );
        assert_eq!(server.raw(head.as_bytes()).0, 403);
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    let (status, text) = server.raw(b"GET /mcp HTTP/1.0\r\n\r\n");
    assert_eq!(status, 403, "{text}");
}

#[test]
fn row_15_nobody_is_let_in_without_the_token_and_others_cannot_read_it() {
    let project = Project::new([]);
    let server = Server::known(&project);
    for token in ["", "Bearer", "Bearer wrong", "Basic YTpi", "Bearer a-token-of-the-tests-owm"] {
        let (status, text) = server.post(&[("Authorization", token)], &initialize());
        assert_eq!(status, 401, "{token}: {text}");
        assert!(text.to_lowercase().contains("www-authenticate: bearer"), "{text}");
    }
    let (own, told) = Server::start(&project, &[]);
    let path = told[1].split("$(cat ").nth(1).and_then(|rest| rest.strip_suffix(')')).expect("a path");
    assert_eq!(std::fs::metadata(path).expect("the file").permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(path).expect("a token");
    assert!(token.trim().len() >= 40, "{token}");
    assert!(!told.join("\n").contains(token.trim()), "the token itself is not told: it would be in logs");
    let (status, _) = own.post(&[("Authorization", &format!("Bearer {}", token.trim()))], &initialize());
    assert_eq!(status, 200);
    assert_eq!(own.post(&[], &initialize()).0, 401, "each server has its own");
}

#[test]
fn row_15_other_machines_reach_it_only_when_that_was_said() {
    let project = Project::new([]);
    let run = |arguments: &[&str]| {
        let mut command: Command = project.command(None);
        let output = command
            .args(["mcp", "--no-daemon"])
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("a run");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = run(&["--http", "0.0.0.0:0"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("--allow-remote"), "{said}");
    let (status, said) = run(&["--http", "nonsense"]);
    assert_eq!(status, Some(2), "{said}");
    let open = project.beside("config").join("open-token");
    std::fs::write(&open, TOKEN).expect("a file");
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o644)).expect("its mode");
    let (status, said) = run(&["--http", "127.0.0.1:0", "--token-file", open.to_str().expect("a path")]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("chmod 600"), "{said}");
    let (status, said) = run(&["--allow-remote"]);
    assert_eq!(status, Some(2), "without --http it means nothing: {said}");
}

#[test]
fn what_is_no_message_is_refused_and_the_next_one_served() {
    let project = Project::new([("a.txt", "hello\n")]);
    let server = Server::known(&project);
    let refused = |status: u16| (400..500).contains(&status);
    let (status, text) = server.post(&[], "this is no JSON");
    assert!(refused(status), "{text}");
    let (status, text) = server.post(&[("Content-Type", "text/plain")], &initialize());
    assert_eq!(status, 415, "{text}");
    let (status, text) = server.post(&[], &format!("\"{}\"", "x".repeat(5 << 20)));
    assert_eq!(status, 413, "{text}");
    let (status, text) = server.post(
        &[("Mcp-Session-Id", "no-such-session"), ("MCP-Protocol-Version", LEGACY)],
        &json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {},
        })
        .to_string(),
    );
    assert_eq!(status, 404, "{text}");
    let (status, text) = server.raw(format!("POST /other HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", server.port).as_bytes());
    assert_eq!(status, 404, "{text}");
    let (status, _) = server.raw(b"\x16\x03\x01 this is no HTTP\r\n\r\n");
    assert_eq!(status, 400);
    let (status, answer) =
        server.modern("tools/call", json!({"name": "read", "arguments": {"path": "a.txt"}}));
    assert_eq!((status, &answer["result"]["structuredContent"]["ok"]), (200, &json!(true)), "{answer}");
    let (status, answer) = server.modern("no/such/method", json!({}));
    assert_eq!((status, &answer["error"]["code"]), (404, &json!(-32601)), "{answer}");
}

#[test]
fn a_stopped_server_takes_its_token_along() {
    let project = Project::new([]);
    let (mut server, told) = Server::start(&project, &[]);
    let path =
        told[1].split("$(cat ").nth(1).and_then(|rest| rest.strip_suffix(')')).expect("a path").to_owned();
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a process");
    let begun = Instant::now();
    while server.child.try_wait().expect("a child").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(10), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!std::path::Path::new(&path).exists());
}

/// Requests without a session may be anybody's.
#[test]
fn a_todo_list_over_a_shared_door_is_somebodys_by_name() {
    let project = Project::new([]);
    let server = Server::known(&project);
    let call = |name: &str, arguments: Value| {
        let (_, answer) = server.modern("tools/call", json!({"name": name, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    };
    let todos = json!([{"id": "1", "content": "c", "status": "pending", "priority": "low"}]);
    let refused = call("todowrite", json!({"todos": todos}));
    assert_eq!(refused["code"], "invalid_args", "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("`session_id`")), "{refused}");
    assert_eq!(call("todoread", json!({}))["code"], "invalid_args");
    assert_eq!(call("todowrite", json!({"todos": todos, "session_id": "mine"}))["count"], 1);
    assert_eq!(call("todoread", json!({"session_id": "mine"}))["items"], todos);
    assert_eq!(call("todoread", json!({"session_id": "yours"}))["count"], 0);
}
