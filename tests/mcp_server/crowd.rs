//! MCP over HTTP: many connections and sessions at a time do not block others.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{Server, initialize, message};
use crate::support::Project;
use crate::support::mcp::{LEGACY, PATIENCE};

/// More than the limit of any kind.
const MANY: usize = 300;

fn crowd(server: &Server, said: &str) -> Vec<TcpStream> {
    let stream = || {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
        // The connection may be closed already.
        let _early = stream.write_all(said.as_bytes());
        stream
    };
    (0..MANY).map(|_| stream()).collect()
}

/// A session, by its name.
fn session(server: &Server) -> String {
    let (status, text) = server.post(&[], &initialize());
    assert_eq!(status, 200, "{text}");
    let name = text.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    let name = name.expect("a session").to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(in_session(server, &name, &initialized).0, 202);
    name
}

fn in_session(server: &Server, session: &str, body: &str) -> (u16, String) {
    server.post(&[("Mcp-Session-Id", session), ("MCP-Protocol-Version", LEGACY)], body)
}

fn call(name: &str, arguments: &Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string()
}

#[test]
#[ignore = "slow: just slow"]
fn crowd_without_token_does_not_block_authorized_client() {
    let project = Project::new([]);
    let server = Server::known(&project);
    let half = "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    let whole = format!("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    for said in [half, &whole, ""] {
        let mut crowd = crowd(&server, said);
        let begun = Instant::now();
        let (status, text) = server.post(&[], &initialize());
        let took = begun.elapsed();
        assert_eq!(status, 200, "{text}");
        // The crowd had ten seconds; a client with the token does not wait for them.
        assert!(took < Duration::from_secs(9), "{said:?}: {took:?}");
        for stream in &mut crowd {
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            let mut answer = Vec::new();
            // Closed with or without an answer, which the system reports in different words.
            let ended = stream.read_to_end(&mut answer);
            let timed_out = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
            assert!(!timed_out, "a connection without the token stays open");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }
}

#[test]
#[ignore = "slow: just slow"]
fn http_sessions_over_limit_evict_least_recently_used() {
    let project = Project::new([("a.txt", "hello\n")]);
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\nallow = [\"bash\"]\n")
        .expect("settings");
    let server = Server::known(&project);
    let read = call("read", &json!({"path": "a.txt"}));
    let runs = session(&server);
    let used = session(&server);
    let forgotten = session(&server);
    assert_eq!(in_session(&server, &used, &read).0, 200);
    let fifo = project.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let waits = call("bash", &json!({"command": "cat fifo"}));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| in_session(&server, &runs, &waits));
        // Opened once the command reads from it.
        let mut told = std::fs::OpenOptions::new().write(true).open(&fifo).expect("a pipe");
        // One more than the limit.
        let others: Vec<String> = (0..254).map(|_| session(&server)).collect();
        let (status, text) = in_session(&server, &forgotten, &read);
        assert_eq!(status, 404, "an ended session is gone: {text}");
        for session in [&used, &others[253]] {
            let (status, text) = in_session(&server, session, &read);
            let content = &message(&text)["result"]["structuredContent"]["content"];
            assert_eq!((status, content), (200, &json!("hello\n")), "{text}");
        }
        told.write_all(b"told\n").expect("a reader");
        drop(told);
        let (status, text) = running.join().expect("an answer");
        assert_eq!(status, 200, "{text}");
        let stdout = &message(&text)["result"]["structuredContent"]["stdout"];
        assert_eq!(stdout, "told\n", "a call that runs keeps its session: {text}");
    });
}
