//! Results of tools as MCP has them, in the form that suits the client.

use std::path::PathBuf;

use rmcp::model::{CallToolResult, ContentBlock};

use super::links;
use crate::tools::result::{BinaryContent, ToolResult};

/// How the answers of a conversation are put.
#[derive(Debug, Clone)]
pub(super) struct AnswerForm {
    /// The root of the workspace.
    pub root: PathBuf,
    /// Without the structured form.
    pub text_only: bool,
}

impl AnswerForm {
    /// A result as MCP has it: text, links to the files of its places, and the structured form.
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
        // MCP has no block for other data without an address.
        _ => None,
    }
}
