//! An LSP client that sends frames to the front end within this process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lsp_tools::Runtime;
use lsp_tools::internals::bridges::{EditorOptions, serve_editor};
use lsp_tools::internals::runtime::LiveRuntime;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::support::Project;

/// The upper bound for every expected event, on a slow and busy machine.
pub const SOON: Duration = Duration::from_secs(90);

/// A connected editor.
pub struct Client {
    pub runtime: Runtime,
    writing: WriteHalf<DuplexStream>,
    heard: Arc<Heard>,
    next: i64,
    serving: tokio::task::JoinHandle<()>,
    hearing: tokio::task::JoinHandle<()>,
    pub ended: CancellationToken,
    root: std::path::PathBuf,
}

/// All messages from the front end, in order.
struct Heard {
    messages: Mutex<Vec<Value>>,
    bell: watch::Sender<usize>,
    /// The answer to requests for a person's choice.
    choice: Mutex<Value>,
}

/// A runtime on `project`, with the deadlines of its settings.
pub fn open(project: &Project) -> Runtime {
    project.opening().open().runtime
}

/// The capabilities of a capable editor.
pub fn able() -> Value {
    json!({
        "workspace": { "workspaceEdit": { "documentChanges": true } },
        "textDocument": { "definition": { "linkSupport": true } },
        "window": { "workDoneProgress": true },
    })
}

impl Client {
    /// Connects without sending a message.
    pub fn connect(runtime: Runtime) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let ended = CancellationToken::new();
        let live = LiveRuntime::new(runtime.clone());
        let serving = tokio::spawn(serve_editor(live, EditorOptions::default(), read, write, ended.clone()));
        let (reading, writing) = tokio::io::split(ours);
        let heard = Arc::new(Heard {
            messages: Mutex::default(),
            bell: watch::channel(0).0,
            choice: Mutex::new(Value::Null),
        });
        let hearing = tokio::spawn(hear(BufReader::new(reading), heard.clone()));
        let root = runtime.workspace().root().to_owned();
        Self { runtime, writing, heard, next: 0, serving, hearing, ended, root }
    }

    /// Connects and initializes with these capabilities; returns the response as well.
    pub async fn start(runtime: Runtime, capabilities: Value) -> (Self, Value) {
        Self::start_with(runtime, capabilities, Value::Null).await
    }

    /// Connects and initializes with `initializationOptions`.
    pub async fn start_with(runtime: Runtime, capabilities: Value, options: Value) -> (Self, Value) {
        let mut client = Self::connect(runtime);
        let params = json!({
            "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": options,
        });
        let answer = client.ask("initialize", params).await;
        client.tell("initialized", json!({})).await;
        (client, answer)
    }

    /// Stops reading from now on, and keeps the pipe open by its other half.
    pub fn deafen(&mut self) {
        self.hearing.abort();
    }

    /// Sends raw bytes.
    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.writing.write_all(bytes).await.expect("a pipe");
    }

    async fn send(&mut self, message: Value) {
        let body = message.to_string();
        self.bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
    }

    pub async fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Sends a request, and returns its id.
    pub async fn put(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// The whole answer to a request.
    pub async fn answer(&mut self, id: i64) -> Value {
        self.find("an answer", move |message| message.get("method").is_none() && message["id"] == id).await
    }

    /// The result of a request.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.put(method, params).await;
        let answer = self.answer(id).await;
        assert_eq!(answer.get("error"), None, "{method}");
        answer["result"].clone()
    }

    /// Waits for a message that satisfies `fits`, and answers the front end's requests meanwhile.
    pub async fn find(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let found = tokio::time::timeout(SOON, async {
            let mut bell = self.heard.bell.subscribe();
            loop {
                bell.borrow_and_update();
                self.answer_requests().await;
                let known = self.heard.messages.lock().unwrap().iter().find(|message| fits(message)).cloned();
                if let Some(found) = known {
                    return found;
                }
                bell.changed().await.expect("the front end is open");
            }
        });
        found.await.unwrap_or_else(|_| {
            panic!("not within {SOON:?}: {what}; heard: {:#?}", self.heard.messages.lock().unwrap())
        })
    }

    /// Answers the front end's own requests: approval for everything, and the set choice for
    /// questions to a person.
    async fn answer_requests(&mut self) {
        let asked: Vec<Value> = {
            let mut messages = self.heard.messages.lock().unwrap();
            let open = |message: &&mut Value| {
                message.get("method").is_some() && message.get("id").is_some() && message["answered"] != true
            };
            messages
                .iter_mut()
                .filter(open)
                .map(|message| {
                    message["answered"] = true.into();
                    message.clone()
                })
                .collect()
        };
        for message in asked {
            let result = match message["method"].as_str() {
                Some("workspace/applyEdit") => json!({ "applied": true }),
                Some("window/showMessageRequest") => self.heard.choice.lock().unwrap().clone(),
                _ => Value::Null,
            };
            self.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).await;
        }
    }

    /// Sets the person's choice from now on.
    pub fn choose(&self, title: &str) {
        *self.heard.choice.lock().unwrap() = json!({ "title": title });
    }

    /// All messages of `method` so far.
    pub fn heard(&self, method: &str) -> Vec<Value> {
        let messages = self.heard.messages.lock().unwrap();
        messages
            .iter()
            .filter(|message| message["method"] == method)
            .map(|message| message["params"].clone())
            .collect()
    }

    /// The URI of a file of the project.
    pub fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root.display())
    }

    pub async fn open(&mut self, path: &str, version: i64, text: &str) {
        let document = json!({ "uri": self.uri(path), "languageId": "x", "version": version, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document })).await;
    }

    /// Replaces the whole text.
    pub async fn change(&mut self, path: &str, version: i64, text: &str) {
        let document = json!({ "uri": self.uri(path), "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.tell("textDocument/didChange", params).await;
    }

    /// A document and a position.
    pub fn at(&self, path: &str, line: u32, character: u32) -> Value {
        json!({
            "textDocument": { "uri": self.uri(path) },
            "position": { "line": line, "character": character },
        })
    }

    /// The diagnostics of a version of a document, once they arrive.
    pub async fn diagnostics(&mut self, path: &str, version: i64) -> Vec<Value> {
        let uri = self.uri(path);
        let message = self
            .find(&format!("diagnostics of {path} v{version}"), |message| {
                message["method"] == "textDocument/publishDiagnostics"
                    && message["params"]["uri"] == uri
                    && message["params"]["version"] == version
            })
            .await;
        message["params"]["diagnostics"].as_array().expect("a list").clone()
    }

    /// Disconnects while others continue; the front end must close soon.
    pub async fn vanish_alone(mut self) {
        self.writing.shutdown().await.expect("a pipe");
        tokio::time::timeout(SOON, self.serving).await.expect("the front end closes").expect("no panic");
    }

    /// Disconnects; the front end must close soon.
    pub async fn vanish(mut self) {
        self.writing.shutdown().await.expect("a pipe");
        tokio::time::timeout(SOON, self.serving).await.expect("the front end closes").expect("no panic");
        tokio::time::timeout(SOON, self.runtime.shutdown()).await.expect("the servers end");
    }

    /// Shuts down as the protocol requires.
    pub async fn close(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null).await, Value::Null);
        self.tell("exit", Value::Null).await;
        tokio::time::timeout(SOON, self.serving).await.expect("the front end closes").expect("no panic");
        tokio::time::timeout(SOON, self.runtime.shutdown()).await.expect("the servers end");
    }
}

async fn hear(mut reading: BufReader<ReadHalf<DuplexStream>>, heard: Arc<Heard>) {
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reading.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if let Some(given) = line.strip_prefix("Content-Length: ") {
                length = given.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reading.read_exact(&mut body).await.is_err() {
            return;
        }
        heard.messages.lock().unwrap().push(serde_json::from_slice(&body).expect("JSON"));
        heard.bell.send_modify(|count| *count += 1);
    }
}
