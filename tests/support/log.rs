//! The scripted server's log, read while it runs or afterwards.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The log of a scripted server; the head of `scripted_server/main.rs` describes its content.
#[derive(Debug, Clone)]
pub struct ServerLog {
    path: PathBuf,
}

impl ServerLog {
    /// The log in that file, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All whole lines so far.
    pub fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).expect("a line of JSON in the log")).collect()
    }

    /// The messages that the server received, in order.
    pub fn messages(&self) -> Vec<Value> {
        self.lines().into_iter().filter_map(|mut line| line.get_mut("got").map(Value::take)).collect()
    }

    /// The `params` of the messages of one method, in order.
    pub fn params(&self, method: &str) -> Vec<Value> {
        let of_method = self.messages().into_iter().filter(|message| message["method"] == method);
        of_method.map(|mut message| message["params"].take()).collect()
    }

    /// The number of messages of one method that the server received.
    pub fn count(&self, method: &str) -> usize {
        self.params(method).len()
    }

    /// The client's answer to the server's request with that id: the whole message.
    pub fn answer(&self, id: &Value) -> Option<Value> {
        self.messages()
            .into_iter()
            .find(|message| message.get("method").is_none() && message.get("id") == Some(id))
    }

    /// The events of one name, in order.
    pub fn events(&self, name: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["event"] == name).collect()
    }

    /// The client's violations of the protocol; a test of the product asserts that this is empty.
    pub fn violations(&self) -> Vec<String> {
        let violations = self.events("violation").into_iter();
        violations.map(|line| line["what"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The server's text of a document (URIs end with `ending`), as of its last change.
    pub fn text(&self, ending: &str) -> Option<String> {
        let ends = |line: &&Value| line["uri"].as_str().is_some_and(|uri| uri.ends_with(ending));
        let texts = self.events("text");
        texts.iter().rev().find(ends).and_then(|line| line["text"].as_str().map(ToOwned::to_owned))
    }

    /// The number of the server's starts.
    pub fn starts(&self) -> usize {
        self.events("start").len()
    }

    /// Waits until `found` finds something in the log.
    ///
    /// # Panics
    /// With `what` and the log, if nothing is found within `deadline`.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, deadline: Duration, found: impl Fn(&Self) -> Option<T>) -> T {
        let end = Instant::now() + deadline;
        loop {
            if let Some(thing) = found(self) {
                return thing;
            }
            if Instant::now() > end {
                let log = std::fs::read_to_string(&self.path).unwrap_or_default();
                panic!("not within {deadline:?}: {what}; the log:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
