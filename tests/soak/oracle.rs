//! The diagnostics and hovers of a server that has never read the file, as the expected answers of
//! the product.
//!
//! First a fresh document in a second server, whose copy of the project follows every edit. If that
//! disagrees with the product, and occasionally otherwise, a fresh server in that copy decides,
//! since it has no earlier state. If that disagrees too, another one with a much longer wait
//! decides.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::subjects::{Columns, Subject};
use crate::support::copy_folder;
use crate::support::raw_client::{Publish, RawClient, RawError, Start, same_file, uri};

/// The time limit for a server's first message about a document.
const PATIENCE: Duration = Duration::from_secs(60);
/// The factor on the usual silence for a server that was started on a busy machine.
const BUSY: u32 = 8;

/// A diagnostic reduced to the parts that every server and every encoding agree on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// 0-based.
    pub line: usize,
    /// 0-based, at most the line's end; `None` on a line with non-ASCII characters, where servers
    /// count in their own units.
    pub column: Option<usize>,
    /// 1 to 4 (3.17, *DiagnosticSeverity*).
    pub severity: u64,
    pub message: String,
}

impl Finding {
    /// A finding at a line and column of `text`, in a project at `root`.
    pub fn new(
        text: &str,
        (line, column): (usize, usize),
        severity: u64,
        message: &str,
        root: &Path,
    ) -> Self {
        let row = line_of(text, line);
        let column = row.is_ascii().then(|| column.min(row.len()));
        // Servers and products may join lines and trim ends in their own ways.
        let message = without_root(message, root);
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        // clangd adds this once its index, which grows while it runs, knows a header to include.
        let message =
            message.trim_end_matches(" (fix available)").trim_end_matches(" (fixes available)").to_owned();
        Self { line, column, severity, message }
    }
}

/// `text` with the project's paths made relative: each server has its own copy of the project.
fn without_root(text: &str, root: &Path) -> String {
    text.replace(&format!("{}/", root.display()), "")
}

/// A line without its line break (3.17: LF, CRLF or CR); empty past the end.
fn line_of(text: &str, line: usize) -> &str {
    let mut rest = text;
    for _ in 0..line {
        let Some(end) = rest.find(['\r', '\n']) else { return "" };
        rest = if rest[end..].starts_with("\r\n") { &rest[end + 2..] } else { &rest[end + 1..] };
    }
    &rest[..rest.find(['\r', '\n']).unwrap_or(rest.len())]
}

/// LSP diagnostics as findings, sorted.
pub fn findings(items: &[Value], text: &str, root: &Path) -> Vec<Finding> {
    let number = |value: &Value| value.as_u64().unwrap_or_default() as usize;
    let mut findings: Vec<Finding> = items
        .iter()
        .map(|item| {
            let start = &item["range"]["start"];
            let (line, column) = (number(&start["line"]), number(&start["character"]));
            let severity = item["severity"].as_u64().unwrap_or(1);
            let message = item["message"].as_str().unwrap_or_default();
            Finding::new(text, (line, column), severity, message, root)
        })
        .collect();
    findings.sort();
    findings
}

/// The text of a hover result in any shape (3.17, *Hover*), without code fences.
pub fn hover_words(hover: &Value, root: &Path) -> Vec<String> {
    fn collect(contents: &Value, text: &mut String) {
        match contents {
            Value::String(part) => {
                text.push_str(part);
                text.push('\n');
            }
            Value::Array(parts) => parts.iter().for_each(|part| collect(part, text)),
            Value::Object(part) => collect(&part["value"], text),
            _ => {}
        }
    }
    let mut text = String::new();
    collect(&hover["contents"], &mut text);
    let text = without_root(&text, root);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("```"));
    let words = lines.flat_map(|line| line.split(|found: char| !found.is_alphanumeric() && found != '_'));
    words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

/// A position in Unicode scalar values, in the server's units.
pub fn sync_position(
    text: &str,
    (line, column): (usize, usize),
    subject: &Subject,
    encoding: &str,
) -> (u64, u64) {
    // Spots count lines by LF alone; the soak's edits contain no lone CR.
    let row = text.split('\n').nth(line).unwrap_or_default();
    let before = row.chars().take(column);
    let character = match (subject.columns, encoding) {
        (Columns::Scalars, _) | (_, "utf-32") => before.count(),
        (_, "utf-8") => before.map(char::len_utf8).sum(),
        _ => before.map(char::len_utf16).sum(),
    };
    (line as u64, character as u64)
}

/// The diagnostics of `version` of a document that was just opened or changed: pulled if supported,
/// else the last push for it after the server has been silent for a while. `mark` is the number of
/// earlier publishes.
pub fn diagnostics_of(
    client: &mut RawClient,
    subject: &Subject,
    uri: &str,
    version: i64,
    mark: usize,
) -> Result<Option<Vec<Value>>, RawError> {
    let right =
        |publish: &&Publish| same_file(&publish.uri, uri) && publish.version.is_none_or(|of| of == version);
    let last = |client: &RawClient| client.publishes[mark..].iter().rfind(right).cloned();
    let deadline = Instant::now() + PATIENCE;
    client.until(deadline, |client| (client.pulls() || last(client).is_some()).then_some(()))?;
    if client.pulls() {
        return pull(client, uri, deadline).map(Some);
    }
    let mut seen = client.publishes.len();
    loop {
        // Silence: no publish for any document, for the subject's settling time.
        let more = client.until(Instant::now() + subject.settles, |client| {
            (client.publishes.len() > seen).then_some(client.publishes.len())
        })?;
        match more {
            Some(count) if Instant::now() < deadline => seen = count,
            _ => return Ok(last(client).map(|publish| publish.diagnostics)),
        }
    }
}

/// Pulls, again if the server requests that (3.17, *ServerCancelled*, *ContentModified*).
fn pull(client: &mut RawClient, uri: &str, deadline: Instant) -> Result<Vec<Value>, RawError> {
    loop {
        match client.pull(uri) {
            Err(RawError::Answered { code: -32802 | -32801, .. }) if Instant::now() < deadline => {}
            answer => return answer,
        }
    }
}

/// The truth about one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    pub findings: Vec<Finding>,
    pub hover: Option<Vec<String>>,
}

/// A server beside the product's, in a copy of the project that follows every edit.
pub struct Oracle {
    subject: Subject,
    start: Start,
    client: Option<RawClient>,
    /// Deleted with the oracle.
    _copy: TempDir,
}

impl Oracle {
    /// An oracle for the project that `start` is for.
    pub fn new(subject: &Subject, start: &Start) -> Self {
        let copy = TempDir::with_prefix("lsp-tools-oracle-").expect("a temporary folder");
        copy_folder(&start.root, copy.path());
        let root = copy.path().canonicalize().expect("the copy");
        let start = Start { root, ..start.clone() };
        Self { subject: *subject, start, client: None, _copy: copy }
    }

    /// Applies an edit to the copy.
    pub fn follow(&mut self, path: &str, text: &str) {
        let file = self.start.root.join(path);
        std::fs::write(&file, text).expect("the copy");
        if let Some(client) = &mut self.client {
            let changes = json!({"changes": [{"uri": uri(&file), "type": 2}]});
            if client.notify("workspace/didChangeWatchedFiles", &changes).is_err() {
                self.client = None;
            }
        }
    }

    /// The findings of a fresh document in the running server.
    pub fn fresh_document(
        &mut self,
        path: &str,
        text: &str,
        spot: Option<(usize, usize)>,
    ) -> Result<Truth, RawError> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => RawClient::start(self.start.clone())?,
        };
        let truth = self.ask(&mut client, &self.subject, path, text, spot)?;
        client.close(&uri(&self.start.root.join(path)))?;
        if !client.pulls() && client.publishes.iter().any(|publish| publish.version.is_none()) {
            // The empty push that follows a didClose must not be taken for the next document's.
            client.until(Instant::now() + self.subject.settles, |_| None::<()>)?;
        }
        self.client = Some(client);
        Ok(truth)
    }

    /// The findings of a fresh server.
    pub fn fresh_server(
        &self,
        path: &str,
        text: &str,
        spot: Option<(usize, usize)>,
    ) -> Result<Truth, RawError> {
        let mut client = RawClient::start(self.start.clone())?;
        self.ask(&mut client, &self.subject, path, text, spot)
    }

    /// The findings of a fresh server with more time than any needs, so that the first of several
    /// pushes is not taken for the last one on a busy machine.
    pub fn patient_server(
        &self,
        path: &str,
        text: &str,
        spot: Option<(usize, usize)>,
    ) -> Result<Truth, RawError> {
        let mut client = RawClient::start(self.start.clone())?;
        let patient = Subject { settles: self.subject.settles * BUSY, ..self.subject };
        self.ask(&mut client, &patient, path, text, spot)
    }

    fn ask(
        &self,
        client: &mut RawClient,
        subject: &Subject,
        path: &str,
        text: &str,
        spot: Option<(usize, usize)>,
    ) -> Result<Truth, RawError> {
        let uri = uri(&self.start.root.join(path));
        let mark = client.publishes.len();
        client.open(&uri, subject.language_id, 1, text)?;
        let found = diagnostics_of(client, subject, &uri, 1, mark)?;
        let found = found.ok_or_else(|| RawError::Timeout(format!("diagnostics of {path}")))?;
        let hover = match spot {
            Some(spot) => {
                let (line, character) = sync_position(text, spot, subject, client.encoding());
                let hover = client.ask_at("textDocument/hover", &uri, line, character)?;
                Some(hover_words(&hover, &self.start.root))
            }
            None => None,
        };
        Ok(Truth { findings: findings(&found, text, &self.start.root), hover })
    }
}
