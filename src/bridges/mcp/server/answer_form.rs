//! Results of tools in MCP's form, adapted to the client.

use std::path::PathBuf;

use rmcp::model::{CallToolResult, ContentBlock};

use super::links;
use crate::tools::api::result::{BinaryContent, ToolResult};

/// The form of a session's answers.
#[derive(Debug, Clone)]
pub(super) struct AnswerForm {
    /// The root of the workspace.
    pub root: PathBuf,
    /// Leaves out the structured form.
    pub text_only: bool,
}

impl AnswerForm {
    /// Converts a result to MCP's form: text, links to the files of its places, and the structured
    /// form.
    pub(super) fn to_call_result(&self, result: ToolResult) -> CallToolResult {
        let ok = result.ok();
        let mut content = vec![ContentBlock::text(result.model_text())];
        let ToolResult { value, binary, .. } = result;
        content.extend(binary.into_iter().filter_map(to_content_block));
        if ok {
            content.extend(links::resource_links(&value, &self.root));
        }
        let mut answer = if ok { CallToolResult::success(content) } else { CallToolResult::error(content) };
        answer.structured_content = Some(value).filter(|_| !self.text_only);
        answer
    }
}

fn to_content_block(binary: BinaryContent) -> Option<ContentBlock> {
    let BinaryContent { data, mime_type: kind, .. } = binary;
    match kind.split('/').next() {
        Some("image") => Some(ContentBlock::image(data, kind)),
        Some("audio") => Some(ContentBlock::audio(data, kind)),
        // MCP has no block for other data without a URI.
        _ => None,
    }
}
