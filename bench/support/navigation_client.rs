//! A language server spoken to with nothing in between: frames, requests, notifications.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A running server; it is killed when this is dropped.
pub struct RawClient {
    child: Child,
    stdin: ChildStdin,
    frames: Receiver<Value>,
    next_id: i64,
    /// Work that the server has announced and not ended.
    running: HashSet<String>,
}

impl RawClient {
    /// Starts `command` in `root` and initializes it.
    ///
    /// # Errors
    /// Where the program cannot be started or does not answer within a minute.
    pub fn start(command: &[String], root: &Path, options: Value) -> Result<Self> {
        let (program, arguments) = command.split_first().context("an empty command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let (sender, frames) = channel();
        std::thread::spawn(move || {
            while let Some(frame) = read_frame(&mut stdout) {
                if sender.send(frame).is_err() {
                    break;
                }
            }
        });
        let mut client = Self { child, stdin, frames, next_id: 0, running: HashSet::new() };
        let uri = uri_of(root);
        let params = json!({
            "processId": std::process::id(),
            "rootUri": uri,
            "workspaceFolders": [{ "uri": uri, "name": "root" }],
            "initializationOptions": options,
            "capabilities": {
                "window": { "workDoneProgress": true },
                "textDocument": { "definition": { "linkSupport": false } },
                "workspace": { "configuration": true, "workspaceFolders": true },
            },
        });
        client.request("initialize", params, Duration::from_secs(60))?;
        client.notify("initialized", json!({}))?;
        Ok(client)
    }

    /// The result of a request.
    ///
    /// # Errors
    /// Where the server answers with an error, ends, or takes longer than `timeout`.
    pub fn request(&mut self, method: &str, params: Value, timeout: Duration) -> Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut frame =
                self.frames.recv_timeout(left).with_context(|| format!("no answer to {method}"))?;
            if frame.get("method").is_some() {
                self.serve(&frame)?;
            } else if frame["id"] == json!(id) {
                if let Some(error) = frame.get("error") {
                    bail!("{method}: {error}");
                }
                return Ok(frame["result"].take());
            }
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// Where the server no longer reads.
    pub fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Waits until announced work has ended and nothing was said for `quiet`, at most `longest`.
    ///
    /// # Errors
    /// Where the server ends.
    pub fn settle(&mut self, quiet: Duration, longest: Duration) -> Result<()> {
        let end = Instant::now() + longest;
        while Instant::now() < end {
            match self.frames.recv_timeout(quiet) {
                Ok(frame) => self.serve(&frame)?,
                Err(RecvTimeoutError::Timeout) if self.running.is_empty() => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("the server ended"),
            }
        }
        Ok(())
    }

    /// Answers what the server asks, sensibly and without content, and follows its progress.
    fn serve(&mut self, frame: &Value) -> Result<()> {
        if frame["method"] == "$/progress" {
            let token = frame["params"]["token"].to_string();
            match frame["params"]["value"]["kind"].as_str() {
                Some("begin") => drop(self.running.insert(token)),
                Some("end") => drop(self.running.remove(&token)),
                _ => {}
            }
        }
        let Some(id) = frame.get("id") else { return Ok(()) };
        let result = match frame["method"].as_str() {
            Some("workspace/configuration") => {
                let items = frame["params"]["items"].as_array().map_or(0, Vec::len);
                Value::Array(vec![Value::Null; items])
            }
            _ => Value::Null,
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        Ok(self.stdin.flush()?)
    }
}

impl Drop for RawClient {
    fn drop(&mut self) {
        // The process may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The `file:` URI of an absolute path.
pub fn uri_of(path: &Path) -> String {
    url::Url::from_file_path(path).map_or_else(|()| String::new(), |uri| uri.to_string())
}

fn read_frame(stdout: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let mut body = vec![0; length?];
    stdout.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
