//! LSP 3.17 *Document Formatting Request*, *Document Range Formatting Request*.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::text_edits;
use super::{EditError, Proposal, ProposedFile};
use crate::lsp::decode::elements;
use crate::lsp::documents::Snapshot;
use crate::lsp::session::{Scope, Session};
use crate::text::{Buffer, Encoding, Range};
use crate::workspace::WorkspacePath;

/// Formats a whole document.
pub const FORMAT: &str = "textDocument/formatting";
/// Formats a part of one.
pub const FORMAT_RANGE: &str = "textDocument/rangeFormatting";

impl Session {
    /// What formatting `path`, or only `range` of it, would change.
    pub async fn format(
        &self,
        path: &WorkspacePath,
        range: Option<Range>,
        deadline: Instant,
    ) -> Result<Proposal, EditError> {
        let params = |snapshot: &Snapshot, encoding: Encoding| {
            let mut params = json!({
                "textDocument": { "uri": snapshot.uri },
                "options": options(&snapshot.buffer),
            });
            if let Some(range) = range {
                let range = snapshot.buffer.encode_range(range, encoding);
                let end = |position: crate::text::EncodedPosition| json!({ "line": position.line, "character": position.unit });
                params["range"] = json!({ "start": end(range.start), "end": end(range.end) });
            }
            params
        };
        let method = if range.is_some() { FORMAT_RANGE } else { FORMAT };
        let asked = self.ask(path, method, Scope::File, deadline, params).await;
        let asked = asked.map_err(|error| self.unwilling(error))?;
        let buffer = asked.snapshot.buffer;
        let edits: Vec<Value> = elements(&asked.value).cloned().collect();
        let after = text_edits::apply(&buffer, &edits, self.capabilities.encoding)
            .map_err(|error| self.unusable(&format!("{}: {error}", path.display())))?;
        let before = buffer.to_string();
        if before == after {
            return Ok(Proposal::default());
        }
        let file =
            ProposedFile { path: path.clone(), renamed_from: None, before: Some(before), after: Some(after) };
        Ok(Proposal { files: vec![file], left_out: None })
    }
}

/// LSP 3.17 *FormattingOptions*, as the text itself is written; most servers follow their own configuration first.
fn options(buffer: &Buffer) -> Value {
    let (mut tabs, mut spaces, mut width) = (0_u32, 0_u32, usize::MAX);
    for number in 0..buffer.line_count().min(2_000) {
        let Some(line) = buffer.line(number) else { break };
        if line.starts_with('\t') {
            tabs += 1;
        } else if line.starts_with("  ") && !line.trim().is_empty() {
            spaces += 1;
            width = width.min(line.len() - line.trim_start_matches(' ').len());
        }
    }
    let width = if width == usize::MAX { 4 } else { width.clamp(2, 8) };
    json!({ "tabSize": width, "insertSpaces": spaces >= tabs, "insertFinalNewline": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_is_taken_from_the_text() {
        assert_eq!(options(&Buffer::new("a\n  b\n    c\n"))["tabSize"], 2);
        assert_eq!(options(&Buffer::new("a\n\tb\n"))["insertSpaces"], false);
        let plain = options(&Buffer::new("a\n"));
        assert_eq!((&plain["tabSize"], &plain["insertSpaces"]), (&json!(4), &json!(true)));
    }
}
