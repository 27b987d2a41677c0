//! LSP 3.17 *Document Formatting Request*, *Document Range Formatting Request*.

use lsp_types::request::{Formatting, RangeFormatting, Request};
use lsp_types::{
    DocumentFormattingParams, DocumentRangeFormattingParams, FormattingOptions, WorkDoneProgressParams,
};
use serde_json::Value;
use tokio::time::Instant;

use super::text_edits;
use super::{Proposal, ProposalError, ProposedFile};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::decode::elements;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::{DependencyScope, DocumentRequest, range_of};
use crate::text::{Buffer, Range};
use crate::workspace::WorkspacePath;

/// The method that formats a whole document.
pub(crate) const FORMAT: &str = Formatting::METHOD;
/// The method that formats a part of a document.
pub(crate) const FORMAT_RANGE: &str = RangeFormatting::METHOD;

impl Session {
    /// Returns the changes of formatting `path`, or only `range` of it.
    pub(crate) async fn format(
        &self,
        path: &WorkspacePath,
        range: Option<Range>,
        deadline: Instant,
    ) -> Result<Proposal, ProposalError> {
        let answer = match range {
            Some(range) => {
                let params = |snapshot: &Snapshot, encoding| {
                    Some(DocumentRangeFormattingParams {
                        text_document: snapshot.identifier(),
                        range: range_of(snapshot, range, encoding),
                        options: formatting_options(&snapshot.buffer),
                        work_done_progress_params: WorkDoneProgressParams::default(),
                    })
                };
                let request = DocumentRequest::new::<RangeFormatting>(DependencyScope::File, params);
                self.ask(path, &request, deadline).await
            }
            None => {
                let params = |snapshot: &Snapshot, _| {
                    Some(DocumentFormattingParams {
                        text_document: snapshot.identifier(),
                        options: formatting_options(&snapshot.buffer),
                        work_done_progress_params: WorkDoneProgressParams::default(),
                    })
                };
                self.ask(path, &DocumentRequest::new::<Formatting>(DependencyScope::File, params), deadline)
                    .await
            }
        };
        let answer = answer.map_err(|error| self.refusal_error(error))?;
        let buffer = answer.snapshot.buffer;
        let edits: Vec<Value> = elements(&answer.value).cloned().collect();
        let after = text_edits::apply(&buffer, &edits, self.capabilities.encoding)
            .map_err(|error| self.unusable_error(&format!("{}: {error}", path.display())))?;
        let before = buffer.to_string();
        if before == after {
            return Ok(Proposal::default());
        }
        let file =
            ProposedFile { path: path.clone(), renamed_from: None, before: Some(before), after: Some(after) };
        Ok(Proposal { files: vec![file], ..Proposal::default() })
    }
}

/// Builds LSP 3.17 *FormattingOptions* from the style of the text; most servers follow their own
/// configuration first.
fn formatting_options(buffer: &Buffer) -> FormattingOptions {
    let (mut tabs, mut spaces, mut width) = (0_u32, 0_u32, u32::MAX);
    for number in 0..buffer.line_count().min(2_000) {
        let Some(line) = buffer.line(number) else { break };
        if line.starts_with('\t') {
            tabs += 1;
        } else if line.starts_with("  ") && !line.trim().is_empty() {
            spaces += 1;
            let blanks = line.len() - line.trim_start_matches(' ').len();
            width = width.min(u32::try_from(blanks).unwrap_or(u32::MAX));
        }
    }
    FormattingOptions {
        tab_size: if width == u32::MAX { 4 } else { width.clamp(2, 8) },
        insert_spaces: spaces >= tabs,
        insert_final_newline: Some(true),
        ..FormattingOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_options_follow_the_indentation_of_the_text() {
        assert_eq!(formatting_options(&Buffer::new("a\n  b\n    c\n")).tab_size, 2);
        assert!(!formatting_options(&Buffer::new("a\n\tb\n")).insert_spaces);
        let plain = formatting_options(&Buffer::new("a\n"));
        assert_eq!((plain.tab_size, plain.insert_spaces), (4, true));
    }
}
