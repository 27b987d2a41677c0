//! A minimal MCP host: starts a server on its standard streams, calls tools one at a time, and
//! returns the text for the model.
//!
//! For benches, through `#[path]`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

pub struct McpHost {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    id: u64,
    longest: Duration,
}

impl McpHost {
    /// Starts and initializes the server. The timeout of each answer is `longest`.
    pub fn start(mut command: Command, longest: Duration) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let (sender, lines) = channel();
        // The thread ends with the output of the child, which the host ends.
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut host = Self { child, input, lines, id: 0, longest };
        let client = json!({"name": "bench", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        host.ask("initialize", &hello)?;
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(host)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("closed")?;
        input.write_all(format!("{message}\n").as_bytes())?;
        Ok(input.flush()?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + self.longest;
        loop {
            let line = match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => bail!("no answer in {} s", self.longest.as_secs()),
                Err(RecvTimeoutError::Disconnected) => bail!("the server closed its output"),
            };
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            if message["method"].is_string() {
                if !message["id"].is_null() {
                    let refusal = json!({"code": -32601, "message": "Method not found"});
                    self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": refusal}))?;
                }
            } else if message["id"] == id {
                if !message["error"].is_null() {
                    bail!("{}", message["error"]["message"]);
                }
                return Ok(message["result"].clone());
            }
        }
    }

    /// The text of the answer or failure, as the model reads it; and the structured form, null if
    /// absent.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<(String, Value)> {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let parts = answer["content"].as_array().into_iter().flatten();
        let text = parts.filter_map(|part| part["text"].as_str()).collect();
        Ok((text, answer["structuredContent"].clone()))
    }
}

impl Drop for McpHost {
    fn drop(&mut self) {
        self.input = None;
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            // Its output ends with it.
            let _line = self.lines.recv_timeout(Duration::from_millis(50));
        }
        // The measurement is over, so the server may be killed.
        let _killed = self.child.kill();
        let _status = self.child.wait();
    }
}
