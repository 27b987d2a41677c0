//! Diagnostics for an editor: whole, in the server's form, in the editor's encoding and with their
//! origin.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::conventions::EditorConventions;
use super::convert::{Converter, RelayDirection};
use crate::lsp::diagnostics::background_check::CheckDemand;
use crate::lsp::diagnostics::findings::{CollectedDiagnostics, DiagnosticsCompleteness};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::ask::AskError;
use crate::lsp::session::live_session::Session;
use crate::text::{Buffer, Range};
use crate::workspace::WorkspacePath;

/// One server's findings in one file.
#[derive(Debug, Clone)]
pub(crate) struct RelayDiagnostics {
    /// LSP 3.17 *Diagnostic*s.
    pub(crate) items: Vec<Value>,
    /// The completeness of the diagnostics.
    pub(crate) known: DiagnosticsCompleteness,
}

impl Session {
    /// Returns the server's findings in `path`. The caller has entered the session with the
    /// editor's view.
    pub(crate) async fn relay_diagnostics(
        &self,
        conventions: &EditorConventions,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<RelayDiagnostics, AskError> {
        let _use_guard = self.mark_in_use();
        Ok(match self.collect_diagnostics(path, CheckDemand::Started, deadline).await? {
            CollectedDiagnostics::Raw(raw) => {
                let mut converter =
                    Converter::new(self, conventions, &raw.snapshot, RelayDirection::ToEditor);
                let finding = |item| self.relay_diagnostic(conventions, &raw.snapshot, &mut converter, item);
                RelayDiagnostics { items: raw.items.iter().filter_map(finding).collect(), known: raw.known }
            }
            CollectedDiagnostics::Decoded(fresh) => {
                let items = fresh.items.iter().map(|item| {
                    let mut value = item.to_lsp(&fresh.text, conventions.encoding);
                    let tags = [(item.unnecessary, 1), (item.deprecated, 2)];
                    value["tags"] = tags.iter().filter(|(set, _)| *set).map(|(_, tag)| *tag).collect();
                    value
                });
                RelayDiagnostics { items: items.collect(), known: fresh.known }
            }
        })
    }

    fn relay_diagnostic(
        &self,
        conventions: &EditorConventions,
        snapshot: &Snapshot,
        converter: &mut Converter<'_>,
        item: &Value,
    ) -> Option<Value> {
        // If a checker counts columns in another way than its server, only this decoder knows.
        let decoded = converter.texts().diagnostic(item)?;
        let mut value = item.clone();
        converter.convert(&mut value);
        value["range"] = range_value(&snapshot.buffer, decoded.range, conventions);
        if value["source"].as_str().is_none_or(str::is_empty) {
            value["source"] = self.server().into();
        }
        Some(value)
    }
}

fn range_value(text: &Buffer, range: Range, conventions: &EditorConventions) -> Value {
    let range = text.encode_range(range, conventions.encoding);
    json!({
        "start": { "line": range.start.line, "character": range.start.unit },
        "end": { "line": range.end.line, "character": range.end.unit },
    })
}
