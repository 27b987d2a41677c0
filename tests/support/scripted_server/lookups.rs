//! Answers to questions about names, from the open documents and the files below the root.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use crate::documents::{Documents, Encoding, definitions, occurrences, offset, range, words};
use crate::fingerprint::fingerprint;

/// The context of a question.
pub struct View<'a> {
    pub documents: &'a Documents,
    pub root: Option<&'a Path>,
    pub encoding: Encoding,
    /// True if hover includes the document's version.
    pub hover_version: bool,
}

impl View<'_> {
    pub fn text(&self, uri: &str) -> Option<String> {
        match self.documents.get(uri) {
            Some(document) => Some(document.text.clone()),
            None => std::fs::read_to_string(Url::parse(uri).ok()?.to_file_path().ok()?).ok(),
        }
    }

    /// The word at the position in `params` and its range; touching its end counts.
    fn word(&self, params: &Value) -> Option<(String, (usize, usize), String)> {
        let text = self.text(params["textDocument"]["uri"].as_str()?)?;
        let at = offset(&text, &params["position"], self.encoding).ok()?;
        let span = words(&text).into_iter().find(|(start, end)| (*start..=*end).contains(&at))?;
        Some((text[span.0..span.1].to_owned(), span, text))
    }

    pub fn hover(&self, params: &Value) -> Value {
        let Some((word, span, text)) = self.word(params) else { return Value::Null };
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let version = match self.documents.get(uri) {
            Some(open) if self.hover_version => format!(" v{}", open.version),
            Some(_) => String::new(),
            None => " disk".to_owned(),
        };
        json!({
            "contents": {"kind": "markdown", "value": format!("{word}{version} {}", fingerprint(&text))},
            "range": range(&text, span, self.encoding),
        })
    }

    pub fn definition(&self, params: &Value) -> Value {
        self.locations(params, |text, word| {
            definitions(text).into_iter().filter(|(start, end)| &text[*start..*end] == word).collect()
        })
    }

    pub fn references(&self, params: &Value) -> Value {
        self.locations(params, occurrences)
    }

    fn locations(&self, params: &Value, find: impl Fn(&str, &str) -> Vec<(usize, usize)>) -> Value {
        let Some((word, ..)) = self.word(params) else { return Value::Null };
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let found: Vec<Value> = self
            .texts(uri)
            .iter()
            .flat_map(|(uri, text)| {
                let spans = find(text, &word);
                spans
                    .into_iter()
                    .map(move |span| json!({"uri": uri, "range": range(text, span, self.encoding)}))
            })
            .collect();
        Value::Array(found)
    }

    pub fn document_symbols(&self, params: &Value) -> Value {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let Some(text) = self.text(uri) else { return Value::Null };
        let symbols = definitions(&text).into_iter().map(|span| {
            let range = range(&text, span, self.encoding);
            json!({"name": &text[span.0..span.1], "kind": 12, "range": range, "selectionRange": range})
        });
        symbols.collect()
    }

    pub fn workspace_symbols(&self, params: &Value) -> Value {
        let query = params["query"].as_str().unwrap_or_default();
        let mut symbols = Vec::new();
        for (uri, text) in self.texts("file:///any.scr") {
            for span in
                definitions(&text).into_iter().filter(|(start, end)| text[*start..*end].contains(query))
            {
                let location = json!({"uri": uri, "range": range(&text, span, self.encoding)});
                symbols.push(json!({"name": &text[span.0..span.1], "kind": 12, "location": location}));
            }
        }
        Value::Array(symbols)
    }

    /// Open documents, and files below the root with the extension of `like`; by URI.
    fn texts(&self, like: &str) -> BTreeMap<String, String> {
        let extension = Path::new(like).extension().map(ToOwned::to_owned);
        let mut texts = BTreeMap::new();
        let mut folders: Vec<_> = self.root.map(Path::to_owned).into_iter().collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !hidden => folders.push(path),
                    Ok(kind) if kind.is_file() && path.extension() == extension.as_deref() => {
                        if let (Ok(uri), Ok(text)) =
                            (Url::from_file_path(&path), std::fs::read_to_string(&path))
                        {
                            texts.insert(uri.to_string(), text);
                        }
                    }
                    _ => {}
                }
            }
        }
        texts.extend(self.documents.iter().map(|(uri, document)| (uri.clone(), document.text.clone())));
        texts
    }
}
