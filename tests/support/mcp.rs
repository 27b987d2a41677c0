//! An MCP client on standard streams with set behaviour, right or wrong.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Project;

/// Slow machines that run many tests in parallel need long deadlines; a wrong result is wrong at
/// any speed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The revision without a handshake.
pub const MODERN: &str = "2026-07-28";
/// The last revision with a handshake.
pub const LEGACY: &str = "2025-11-25";

/// A client and the server that it started.
pub struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Received messages that no caller has requested yet.
    pending: VecDeque<Value>,
    next: u64,
    /// The `_meta` of every request; absent after a handshake.
    meta: Option<Value>,
}

impl Mcp {
    /// Starts `lsp-tools mcp` in `project`, without sending a message.
    pub fn start(project: &Project, servers: Option<&Path>, arguments: &[&str]) -> Self {
        Self::of(project.command(servers), arguments)
    }

    /// Like [`start`](Self::start), for a command of our binary without arguments.
    pub fn of(mut command: Command, arguments: &[&str]) -> Self {
        command.args(["mcp", "--no-daemon"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server");
        let stdout = child.stdout.take().expect("stdout");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| json!({"garbage": line, "error": error.to_string()}));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, pending: VecDeque::new(), next: 0, meta: None }
    }

    /// A client with a handshake, with these capabilities.
    pub fn legacy(project: &Project, servers: Option<&Path>, capabilities: Value) -> Self {
        let mut client = Self::start(project, servers, &[]);
        client.greet(capabilities);
        client
    }

    /// The handshake of a client with these capabilities.
    pub fn greet(&mut self, capabilities: Value) {
        let id = self.request(
            "initialize",
            json!({
                "protocolVersion": LEGACY,
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        let answer = self.answer(id);
        assert_eq!(answer["result"]["protocolVersion"], LEGACY, "{answer}");
        self.notify("notifications/initialized", json!({}));
    }

    /// A client without a handshake.
    pub fn modern(project: &Project, servers: Option<&Path>, capabilities: Value) -> Self {
        let mut client = Self::start(project, servers, &[]);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }));
        client
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes raw bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("an open stdin");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("a server that reads");
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Sends a request; returns its id.
    pub fn request(&mut self, method: &str, mut params: Value) -> u64 {
        if let Some(meta) = &self.meta {
            let mut meta = meta.clone();
            if let Some(own) = params["_meta"].as_object() {
                own.iter().for_each(|(key, value)| meta[key] = value.clone());
            }
            params["_meta"] = meta;
        }
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message that `wanted` accepts, within `time`; others are kept.
    pub fn find_within(&mut self, time: Duration, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(place) = self.pending.iter().position(&wanted) {
            return self.pending.remove(place);
        }
        let deadline = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) if wanted(&message) => return Some(message),
                Ok(message) => self.pending.push_back(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// The next message that `wanted` accepts.
    pub fn find(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = self.find_within(PATIENCE, wanted);
        found.unwrap_or_else(|| panic!("{what} did not come; pending: {:?}", self.pending))
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        self.find("the answer", |message| message["id"] == json!(id) && message.get("method").is_none())
    }

    /// Sends a request, and waits for the whole response.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Sends a request, and returns the result, which must be present.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request, and returns the error's code, which must be present.
    pub fn error(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.ask(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} did not fail: {answer}"))
    }

    /// Calls a tool.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Closes the server's input, and waits for its end: returns the status and the time.
    pub fn close(mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        self.stdin = None;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return (status, begun.elapsed());
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}
