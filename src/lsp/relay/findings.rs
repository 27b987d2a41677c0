//! Diagnostics as an editor takes them: whole, as the server gave them, in the editor's words and with their origin.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Speaker;
use super::convert::{Converter, Way};
use crate::lsp::diagnostics::{Found, Known};
use crate::lsp::documents::Snapshot;
use crate::lsp::session::{AskError, Session};
use crate::text::{Buffer, Range};
use crate::workspace::WorkspacePath;

/// One server's findings in one file.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    /// LSP 3.17 *Diagnostic*s.
    pub(crate) items: Vec<Value>,
    /// How far they can be relied on.
    pub(crate) known: Known,
}

impl Session {
    /// The server's findings in `path`. The caller has entered the session with what the editor sees.
    pub(crate) async fn findings(
        &self,
        speaker: &Speaker,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<Findings, AskError> {
        let _in_use = self.use_now();
        Ok(match self.found(path, deadline).await? {
            Found::Raw(raw) => {
                let mut converter = Converter::of(self, speaker, &raw.snapshot, Way::ToEditor);
                let finding = |item| self.finding(speaker, &raw.snapshot, &mut converter, item);
                Findings { items: raw.items.iter().filter_map(finding).collect(), known: raw.known }
            }
            Found::Decoded(fresh) => {
                let items = fresh.items.iter().map(|item| {
                    let mut value = item.to_lsp(&fresh.text, speaker.encoding);
                    let tags = [(item.unnecessary, 1), (item.deprecated, 2)];
                    value["tags"] = tags.iter().filter(|(set, _)| *set).map(|(_, tag)| *tag).collect();
                    value
                });
                Findings { items: items.collect(), known: fresh.known }
            }
        })
    }

    fn finding(
        &self,
        speaker: &Speaker,
        snapshot: &Snapshot,
        converter: &mut Converter<'_>,
        item: &Value,
    ) -> Option<Value> {
        // Where a checker counts columns in another way than its server, only this knows.
        let decoded = converter.texts().diagnostic(item)?;
        let mut value = item.clone();
        converter.convert(&mut value);
        value["range"] = wire(&snapshot.buffer, decoded.range, speaker);
        if value["source"].as_str().is_none_or(str::is_empty) {
            value["source"] = self.server().into();
        }
        Some(value)
    }
}

fn wire(text: &Buffer, range: Range, speaker: &Speaker) -> Value {
    let range = text.encode_range(range, speaker.encoding);
    json!({
        "start": { "line": range.start.line, "character": range.start.unit },
        "end": { "line": range.end.line, "character": range.end.unit },
    })
}
