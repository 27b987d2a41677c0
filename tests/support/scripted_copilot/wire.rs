//! Frames, and responses to requests of the server.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::journal::Journal;

/// The next message; `None` at the end of the input, or if it is not a message.
pub fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse::<usize>().ok();
        }
    }
    let mut body = vec![0; length?];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

pub struct Wire {
    pub journal: Journal,
    waiting: Mutex<HashMap<String, Sender<Value>>>,
    count: Mutex<u64>,
}

impl Wire {
    pub fn new(journal: Journal) -> Self {
        Self { journal, waiting: Mutex::default(), count: Mutex::default() }
    }

    pub fn send(&self, message: &Value) {
        let body = message.to_string();
        let mut output = std::io::stdout().lock();
        // A client that has gone is noticed by the end of the input.
        let _gone = write!(output, "Content-Length: {}\r\n\r\n{body}", body.len());
        let _gone = output.flush();
    }

    pub fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn answer(&self, id: &Value, answer: Result<Value, (i64, String)>) {
        self.send(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        });
    }

    /// Sends a request to the client; the response comes through the returned receiver.
    pub fn ask(&self, method: &str, params: &Value) -> Receiver<Value> {
        let id = {
            let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            // Numbers and texts in turn: both are ids (JSON-RPC 2.0).
            if count.is_multiple_of(2) { json!(*count) } else { json!(format!("ask-{count}")) }
        };
        let (sender, receiver) = channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_string(), sender);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        receiver
    }

    pub fn answered(&self, message: Value) {
        let id = message["id"].to_string();
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(sender) = waiting {
            let _nobody = sender.send(message);
        }
    }

    pub fn exit(&self, status: i32) -> ! {
        self.journal.event("exit", json!({"code": status}));
        eprintln!("scripted-copilot: told to end here");
        std::process::exit(status)
    }
}
