//! Hosts and editors, as clients of the daemon's front ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::house::{House, SOON};
use crate::support::wait_until;

/// `lsp-tools mcp` or `lsp-tools lsp`, started as by hosts and editors.
pub struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    pub fn start(house: &House, words: &[&str]) -> Self {
        let mut command = house.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        Self { child, stdin, stdout }
    }

    fn write(&mut self, text: &str) {
        self.stdin.as_mut().expect("stdin").write_all(text.as_bytes()).expect("a message");
    }

    /// Sends one line of MCP, and returns the response with that id.
    pub fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&format!("{message}\n"));
        loop {
            let mut line = String::new();
            self.stdout.read_line(&mut line).expect("a line");
            let answer: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            if answer["id"] == json!(id) {
                return answer;
            }
        }
    }

    pub fn open_mcp(house: &House) -> Self {
        Self::open_mcp_with(house, &[])
    }

    /// `lsp-tools mcp` with these arguments, initialized.
    pub fn open_mcp_with(house: &House, arguments: &[&str]) -> Self {
        let mut program = Self::start(house, &[&["mcp"], arguments].concat());
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let opened = program.ask(0, "initialize", hello);
        assert_eq!(opened["result"]["serverInfo"]["name"], json!("lsp-tools"), "{opened}");
        program.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        program
    }

    pub fn call(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        let answer = self.ask(id, "tools/call", json!({"name": name, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    }

    /// Closes its input; returns the time until its end.
    pub fn close(mut self) -> Duration {
        let begun = Instant::now();
        drop(self.stdin.take());
        wait_until("it ends", SOON, || self.child.try_wait().expect("its status").is_some());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("UTF-8");
        begun.elapsed()
    }

    /// `lsp-tools lsp`, initialized.
    pub fn open_editor(house: &House) -> Self {
        let mut program = Self::start(house, &["lsp"]);
        let root = format!("file://{}", house.project.root().display());
        let params = json!({"processId": null, "rootUri": root, "capabilities": {}});
        let answer = program.ask_lsp(1, "initialize", params);
        assert!(answer["result"]["capabilities"].is_object(), "{answer}");
        program.tell_lsp("initialized", json!({}));
        program
    }

    /// Sends one LSP frame.
    pub fn tell_lsp(&mut self, method: &str, params: Value) {
        self.frame(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request, and returns the response with that id. The server's own requests are
    /// answered with null.
    pub fn ask_lsp(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.frame(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next_frame();
            if message.get("method").is_none() && message["id"] == json!(id) {
                return message;
            }
            if message.get("method").is_some() && message.get("id").is_some() {
                self.frame(&json!({"jsonrpc": "2.0", "id": message["id"], "result": null}));
            }
        }
    }

    fn frame(&mut self, message: &Value) {
        let body = message.to_string();
        self.write(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    }

    fn next_frame(&mut self) -> Value {
        let mut head = String::new();
        self.stdout.read_line(&mut head).expect("a head");
        let length: usize = head.trim().trim_start_matches("Content-Length: ").parse().expect("a length");
        self.stdout.read_line(&mut String::new()).expect("the end of the head");
        let mut body = vec![0; length];
        self.stdout.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }
}
