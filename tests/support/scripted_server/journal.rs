//! The events, as JSON lines that tests read while the server still runs.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

pub struct Journal {
    file: Option<Mutex<File>>,
}

impl Journal {
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { file: file.map(Mutex::new) })
    }

    pub fn got(&self, message: &Value) {
        self.write(json!({"got": message}));
    }

    pub fn sent(&self, what: &Value) {
        self.write(json!({"sent": what}));
    }

    pub fn event(&self, name: &str, more: Value) {
        let mut line = json!({"event": name});
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        self.write(line);
    }

    /// The client violated the protocol.
    pub fn violation(&self, what: String) {
        self.event("violation", json!({"what": what}));
    }

    fn write(&self, mut line: Value) {
        let Some(file) = &self.file else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        line["ms"] = json!(now.as_secs_f64() * 1000.0);
        line["pid"] = json!(std::process::id());
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        // One write a line: readers never see half of one from another process.
        let mut file = file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(error) = file.write_all(&bytes) {
            eprintln!("scripted-server: cannot write the log: {error}");
        }
    }
}
