//! A minimal LSP client: the baseline of the budgets and the oracle of the soak test.
//!
//! It has one thread, blocking pipes, no cache and no retry. Messages of the server are read, and
//! its requests answered, only during a wait ([`RawClient::request`], [`RawClient::wait`],
//! [`RawClient::until`]). Positions are LSP's own, in the encoding that the server chose
//! ([`RawClient::encoding`]).
//!
//! For benches and tests, through `#[path]`.

#![allow(dead_code, reason = "each bench and test uses a part of it")]

#[path = "raw_params.rs"]
mod raw_params;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use raw_params::{Start, initialize_params, same_file, uri};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

/// An error of the connection or the server.
#[derive(Debug)]
pub enum RawError {
    /// A pipe broke, or the server could not be started.
    Io(io::Error),
    /// The timeout passed; names the awaited message.
    Timeout(String),
    /// The server's standard output ended.
    Ended { stderr: Vec<String> },
    /// The server sent an invalid frame or invalid JSON.
    Malformed(String),
    /// The server answered with an error (JSON-RPC 2.0, *Error object*).
    Answered { code: i64, message: String },
}

impl fmt::Display for RawError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(formatter, "{error}"),
            Self::Timeout(what) => write!(formatter, "no {what} in time"),
            Self::Ended { stderr } => write!(formatter, "the server ended; stderr: {}", stderr.join(" | ")),
            Self::Malformed(what) => write!(formatter, "malformed: {what}"),
            Self::Answered { code, message } => write!(formatter, "error {code}: {message}"),
        }
    }
}

impl std::error::Error for RawError {}

impl From<io::Error> for RawError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A `textDocument/publishDiagnostics` and the time of its receipt.
#[derive(Debug, Clone)]
pub struct Publish {
    /// The time at which its last byte was read.
    pub at: Instant,
    /// The URI as the server wrote it.
    pub uri: String,
    /// The version, if the server sent one.
    pub version: Option<i64>,
    /// The `diagnostics` array.
    pub diagnostics: Vec<Value>,
}

/// A running, initialized server.
pub struct RawClient {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// The read buffer, as large as a pipe.
    chunk: Vec<u8>,
    buffer: Vec<u8>,
    /// The number of bytes at the start of `buffer` that are processed.
    consumed: usize,
    next_id: i64,
    configuration: BTreeMap<String, Value>,
    timeout: Duration,
    stderr: Arc<Mutex<VecDeque<String>>>,
    stderr_reader: Option<JoinHandle<()>>,
    replies: BTreeMap<i64, Value>,
    /// Every publish read so far.
    pub publishes: Vec<Publish>,
    /// Every other notification read so far.
    pub notifications: Vec<(Instant, Value)>,
    /// Every request of the server read so far; each has been answered.
    pub server_requests: Vec<Value>,
    /// The result of `initialize`.
    pub initialize_result: Value,
}

impl RawClient {
    /// Starts a server and completes `initialize` and `initialized`.
    pub fn start(start: Start) -> Result<Self, RawError> {
        let mut client = Self::spawn(&start)?;
        let params = initialize_params(&start);
        client.initialize_result = client.request("initialize", &params)?;
        client.notify("initialized", &json!({}))?;
        Ok(client)
    }

    /// Starts a server without sending anything.
    pub fn spawn(start: &Start) -> Result<Self, RawError> {
        let (program, arguments) = start
            .command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an empty command"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(start.env.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
            .current_dir(&start.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(RawError::Io(io::Error::other("a pipe is missing")));
        };
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let tail = Arc::clone(&stderr);
        let stderr_reader = thread::spawn(move || {
            for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.push_back(String::from_utf8_lossy(&line).into_owned());
                if tail.len() > 100 {
                    tail.pop_front();
                }
            }
        });
        Ok(Self {
            child,
            stdin: Some(stdin),
            stdout,
            chunk: vec![0; 64 * 1024],
            buffer: Vec::new(),
            consumed: 0,
            next_id: 0,
            configuration: start.configuration.clone(),
            timeout: start.timeout,
            stderr,
            stderr_reader: Some(stderr_reader),
            replies: BTreeMap::new(),
            publishes: Vec::new(),
            notifications: Vec::new(),
            server_requests: Vec::new(),
            initialize_result: Value::Null,
        })
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The position encoding that the server chose, `utf-16` by default (3.17,
    /// *PositionEncodingKind*).
    pub fn encoding(&self) -> &str {
        self.initialize_result["capabilities"]["positionEncoding"].as_str().unwrap_or("utf-16")
    }

    /// The last lines of the server's standard error, at most a hundred.
    pub fn stderr_tail(&self) -> Vec<String> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: &Value) -> Result<Value, RawError> {
        let id = self.send(method, params)?;
        self.wait(id)
    }

    /// Sends a request; [`RawClient::wait`] returns its answer.
    pub fn send(&mut self, method: &str, params: &Value) -> Result<i64, RawError> {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        self.write_with(&mut message, params)?;
        Ok(id)
    }

    /// Waits for the answer to an earlier request.
    pub fn wait(&mut self, id: i64) -> Result<Value, RawError> {
        let deadline = Instant::now() + self.timeout;
        loop {
            if let Some(mut reply) = self.replies.remove(&id) {
                return match reply.get("error") {
                    Some(error) => Err(RawError::Answered {
                        code: error["code"].as_i64().unwrap_or_default(),
                        message: error["message"].as_str().unwrap_or_default().to_owned(),
                    }),
                    None => Ok(reply["result"].take()),
                };
            }
            if !self.read_one(deadline)? {
                return Err(RawError::Timeout(format!("answer to request {id}")));
            }
        }
    }

    /// Reads messages until `found` returns a value or `deadline` passes.
    pub fn until<T>(
        &mut self,
        deadline: Instant,
        mut found: impl FnMut(&Self) -> Option<T>,
    ) -> Result<Option<T>, RawError> {
        loop {
            if let Some(thing) = found(self) {
                return Ok(Some(thing));
            }
            if !self.read_one(deadline)? {
                return Ok(None);
            }
        }
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) -> Result<(), RawError> {
        self.write_with(&mut json!({"jsonrpc": "2.0", "method": method}), params)
    }

    /// `textDocument/didOpen`.
    pub fn open(&mut self, uri: &str, language_id: &str, version: i64, text: &str) -> Result<(), RawError> {
        let item = json!({"uri": uri, "languageId": language_id, "version": version, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": item}))
    }

    /// `textDocument/didChange` with the whole text.
    pub fn change(&mut self, uri: &str, version: i64, text: &str) -> Result<(), RawError> {
        let document = json!({"uri": uri, "version": version});
        self.notify(
            "textDocument/didChange",
            &json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        )
    }

    /// `textDocument/didClose`.
    pub fn close(&mut self, uri: &str) -> Result<(), RawError> {
        self.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}))
    }

    /// Sends a request for a position (0-based, in the server's encoding); references include the
    /// declaration.
    pub fn ask_at(&mut self, method: &str, uri: &str, line: u64, character: u64) -> Result<Value, RawError> {
        let position = json!({"line": line, "character": character});
        let mut params = json!({"textDocument": {"uri": uri}, "position": position});
        if method == "textDocument/references" {
            params["context"] = json!({"includeDeclaration": true});
        }
        self.request(method, &params)
    }

    /// Whether the server offers `textDocument/diagnostic`, from the start or by registration.
    pub fn pulls(&self) -> bool {
        let registered = |request: &Value| {
            let list = request["params"]["registrations"].as_array();
            list.is_some_and(|list| list.iter().any(|item| item["method"] == "textDocument/diagnostic"))
        };
        self.initialize_result["capabilities"].get("diagnosticProvider").is_some_and(|given| !given.is_null())
            || self.server_requests.iter().any(registered)
    }

    /// `textDocument/diagnostic`: the `items` of the full report (3.17, *Pull Diagnostics*).
    pub fn pull(&mut self, uri: &str) -> Result<Vec<Value>, RawError> {
        let mut report = self.request("textDocument/diagnostic", &json!({"textDocument": {"uri": uri}}))?;
        match report["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Err(RawError::Malformed(format!("a report without items: {report}"))),
        }
    }

    /// Waits for a publish for the file of `uri` that is read after this call and that `right`
    /// accepts. URIs are compared as paths, since servers spell them differently.
    pub fn next_publish(
        &mut self,
        uri: &str,
        timeout: Duration,
        right: impl Fn(&Publish) -> bool,
    ) -> Result<Option<Publish>, RawError> {
        let mut seen = self.publishes.len();
        self.until(Instant::now() + timeout, |client| {
            let new = &client.publishes[seen..];
            let hit = new.iter().find(|publish| same_file(&publish.uri, uri) && right(publish)).cloned();
            seen = client.publishes.len();
            hit
        })
    }

    /// Sends `shutdown` and `exit` and closes stdin. Waits up to `timeout` for the process to end,
    /// then kills it.
    pub fn stop(mut self, timeout: Duration) -> Result<ExitStatus, RawError> {
        self.request("shutdown", &Value::Null)?;
        self.notify("exit", &Value::Null)?;
        self.stdin = None;
        self.ended(timeout)?.ok_or_else(|| RawError::Timeout("end of the process".to_owned()))
    }

    /// Waits up to `timeout` for the process to end by itself.
    pub fn ended(&mut self, timeout: Duration) -> Result<Option<ExitStatus>, RawError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() > deadline {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Writes raw bytes.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), RawError> {
        let Some(stdin) = &mut self.stdin else {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        };
        match stdin.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(self.last_words()),
            Err(error) => Err(error.into()),
        }
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Adds `params` unless null: JSON-RPC 2.0 requires an object, an array or absence.
    fn write_with(&mut self, message: &mut Value, params: &Value) -> Result<(), RawError> {
        if !params.is_null() {
            message["params"] = params.clone();
        }
        self.write(message)
    }

    fn write(&mut self, message: &Value) -> Result<(), RawError> {
        let body = message.to_string();
        self.write_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
    }

    /// Reads and stores one message. Returns false if `deadline` passed first.
    pub fn read_one(&mut self, deadline: Instant) -> Result<bool, RawError> {
        let Some(body) = self.read_frame(deadline)? else { return Ok(false) };
        let at = Instant::now();
        let mut message: Value =
            serde_json::from_slice(&body).map_err(|error| RawError::Malformed(format!("body: {error}")))?;
        match (message["method"].as_str(), message.get("id")) {
            (Some("textDocument/publishDiagnostics"), None) => {
                let params = &mut message["params"];
                let Value::Array(diagnostics) = params["diagnostics"].take() else {
                    return Err(RawError::Malformed(format!("publish without diagnostics: {message}")));
                };
                self.publishes.push(Publish {
                    at,
                    uri: params["uri"].as_str().unwrap_or_default().to_owned(),
                    version: params["version"].as_i64(),
                    diagnostics,
                });
            }
            (Some(_), None) => self.notifications.push((at, message)),
            (Some(method), Some(id)) => {
                let reply = self.reply_to(method, &message["params"]);
                let reply = json!({"jsonrpc": "2.0", "id": id, "result": reply});
                self.server_requests.push(message);
                self.write(&reply)?;
            }
            (None, Some(id)) => {
                let id = id.as_i64().ok_or_else(|| RawError::Malformed(format!("id {id} of a response")))?;
                self.replies.insert(id, message);
            }
            (None, None) => return Err(RawError::Malformed(format!("no message: {message}"))),
        }
        Ok(true)
    }

    fn reply_to(&self, method: &str, params: &Value) -> Value {
        match method {
            "workspace/configuration" => {
                let items = params["items"].as_array().cloned().unwrap_or_default();
                let section = |item: &Value| item["section"].as_str().unwrap_or_default().to_owned();
                items
                    .iter()
                    .map(|item| self.configuration.get(&section(item)).cloned().unwrap_or_default())
                    .collect()
            }
            "workspace/applyEdit" => json!({"applied": false}),
            "window/showDocument" => json!({"success": false}),
            _ => Value::Null,
        }
    }

    /// The body of the next frame, or `None` if `deadline` passed first.
    fn read_frame(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, RawError> {
        loop {
            let available = &self.buffer[self.consumed..];
            if let Some(end) = find(available, b"\r\n\r\n") {
                let length = content_length(&available[..end])?;
                if let Some(body) = available.get(end + 4..end + 4 + length) {
                    let body = body.to_vec();
                    self.consumed += end + 4 + length;
                    return Ok(Some(body));
                }
            }
            if !self.fill(deadline)? {
                return Ok(None);
            }
        }
    }

    /// Reads at least one more byte. Returns false if `deadline` passed first.
    fn fill(&mut self, deadline: Instant) -> Result<bool, RawError> {
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|error| io::Error::other(error.to_string()))?;
        let ready = match poll(&mut [PollFd::new(&self.stdout, PollFlags::IN)], Some(&left)) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(error) => return Err(io::Error::from(error).into()),
        };
        if ready == 0 {
            return Ok(false);
        }
        let read = self.stdout.read(&mut self.chunk)?;
        self.buffer.extend_from_slice(&self.chunk[..read]);
        if read == 0 {
            return Err(self.last_words());
        }
        Ok(true)
    }
}

impl RawClient {
    /// The error for a server that ended, with its stderr, which ends a moment after the process.
    fn last_words(&self) -> RawError {
        let deadline = Instant::now() + Duration::from_millis(500);
        while self.stderr_reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(5));
        }
        RawError::Ended { stderr: self.stderr_tail() }
    }
}

impl Drop for RawClient {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn content_length(header: &[u8]) -> Result<usize, RawError> {
    let header = String::from_utf8_lossy(header);
    let malformed = || RawError::Malformed(format!("header {header:?}"));
    let line = header.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    line.ok_or_else(malformed)?.parse().map_err(|_| malformed())
}
