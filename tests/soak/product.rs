//! The tested side: an implementation that answers about a file as it is on disk now.

use std::collections::BTreeMap;

use serde_json::json;

use super::oracle::{Finding, diagnostics_of, findings, hover_words, sync_position};
use super::subjects::Subject;
use crate::support::raw_client::{RawClient, RawError, Start, uri};

/// An answer with its reliability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered<T> {
    /// The verdict was `complete`.
    Complete(T),
    /// Another verdict, or a failure, with the reason.
    Missing(String),
}

/// The soak's questions to the product. Paths are relative to the project; positions are 0-based
/// line and column in Unicode scalar values.
pub trait Product {
    /// The file's diagnostics, as [`findings`] returns them.
    fn diagnostics(&mut self, path: &str) -> Answered<Vec<Finding>>;
    /// The text of the hover, as [`hover_words`] returns it (Markdown is `{"contents": markdown}`
    /// there); empty if there is none.
    fn hover(&mut self, path: &str, spot: (usize, usize)) -> Answered<Vec<String>>;
}

/// A careful editor on a raw client: it reads the file before each question, sends the whole text,
/// and waits for the matching answer. It is the control of the soak: a right product does at least
/// as well.
pub struct RawEditor {
    subject: Subject,
    start: Start,
    client: Option<RawClient>,
    open: BTreeMap<String, (i64, String)>,
    last: BTreeMap<String, Vec<Finding>>,
}

impl RawEditor {
    pub fn new(subject: &Subject, start: Start) -> Self {
        Self { subject: *subject, start, client: None, open: BTreeMap::new(), last: BTreeMap::new() }
    }

    fn client(&mut self) -> Result<&mut RawClient, RawError> {
        match self.client.take() {
            Some(client) => Ok(self.client.insert(client)),
            None => Ok(self.client.insert(RawClient::start(self.start.clone())?)),
        }
    }

    /// Sends the text on disk to the server; returns the URI, the text, and the version if the text
    /// is new.
    fn sync(&mut self, path: &str) -> Result<(String, String, Option<i64>), RawError> {
        let file = self.start.root.join(path);
        let text = std::fs::read_to_string(&file)?;
        let uri = uri(&file);
        let known = self.open.get(path).cloned();
        let language_id = self.subject.language_id;
        let version = match known {
            Some((_, old)) if old == text => return Ok((uri, text, None)),
            Some((version, _)) => {
                let client = self.client()?;
                client.notify(
                    "workspace/didChangeWatchedFiles",
                    &json!({"changes": [{"uri": uri, "type": 2}]}),
                )?;
                client.change(&uri, version + 1, &text)?;
                version + 1
            }
            None => {
                self.client()?.open(&uri, language_id, 1, &text)?;
                1
            }
        };
        self.open.insert(path.to_owned(), (version, text.clone()));
        Ok((uri, text, Some(version)))
    }

    fn try_diagnostics(&mut self, path: &str) -> Result<Option<Vec<Finding>>, RawError> {
        let mark = self.client()?.publishes.len();
        let (uri, text, new) = self.sync(path)?;
        if let Some(version) = new {
            let subject = self.subject;
            let Some(found) = diagnostics_of(self.client()?, &subject, &uri, version, mark)? else {
                return Ok(None);
            };
            self.last.insert(path.to_owned(), findings(&found, &text, &self.start.root));
        }
        Ok(self.last.get(path).cloned())
    }

    fn try_hover(&mut self, path: &str, spot: (usize, usize)) -> Result<Vec<String>, RawError> {
        let (uri, text, _) = self.sync(path)?;
        let subject = self.subject;
        let client = self.client()?;
        let (line, character) = sync_position(&text, spot, &subject, client.encoding());
        let hover = client.ask_at("textDocument/hover", &uri, line, character)?;
        Ok(hover_words(&hover, &self.start.root))
    }
}

impl Product for RawEditor {
    fn diagnostics(&mut self, path: &str) -> Answered<Vec<Finding>> {
        match self.try_diagnostics(path) {
            Ok(Some(found)) => Answered::Complete(found),
            Ok(None) => Answered::Missing("no diagnostics came".to_owned()),
            Err(error) => Answered::Missing(error.to_string()),
        }
    }

    fn hover(&mut self, path: &str, spot: (usize, usize)) -> Answered<Vec<String>> {
        match self.try_hover(path, spot) {
            Ok(words) => Answered::Complete(words),
            Err(error) => Answered::Missing(error.to_string()),
        }
    }
}

/// The possible flaws of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    OneEditBehind,
    HoverOneBehind,
    AlwaysClean,
    NoData,
}

/// A product with a flaw, with which the soak shows that it detects it.
pub struct Faulty {
    inner: RawEditor,
    flaw: Option<Flaw>,
    before: BTreeMap<String, Vec<Finding>>,
    hover_before: Option<Vec<String>>,
}

impl Faulty {
    pub fn new(inner: RawEditor, flaw: Option<Flaw>) -> Self {
        Self { inner, flaw, before: BTreeMap::new(), hover_before: None }
    }
}

impl Product for Faulty {
    fn diagnostics(&mut self, path: &str) -> Answered<Vec<Finding>> {
        let now = self.inner.diagnostics(path);
        let Answered::Complete(found) = &now else { return now };
        let before = self.before.insert(path.to_owned(), found.clone());
        match self.flaw {
            None | Some(Flaw::HoverOneBehind) => now,
            Some(Flaw::OneEditBehind) => before.map_or(now, Answered::Complete),
            Some(Flaw::AlwaysClean) => Answered::Complete(Vec::new()),
            Some(Flaw::NoData) => Answered::Missing("no_data".to_owned()),
        }
    }

    fn hover(&mut self, path: &str, spot: (usize, usize)) -> Answered<Vec<String>> {
        let now = self.inner.hover(path, spot);
        let Answered::Complete(words) = &now else { return now };
        let before = self.hover_before.replace(words.clone());
        match self.flaw {
            Some(Flaw::HoverOneBehind) => before.map_or(now, Answered::Complete),
            _ => now,
        }
    }
}
