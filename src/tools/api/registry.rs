//! The registry of tools by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::tool::{AnyTool, Tool, ToolDefinition, TypedTool};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::text::nearest_word;

/// All tools by name.
#[derive(Clone, Default)]
pub(crate) struct Registry {
    tools: BTreeMap<String, Arc<dyn AnyTool>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.tools.keys()).finish()
    }
}

impl Registry {
    /// Adds a tool. Fails if its name is taken or invalid.
    pub(crate) fn add<T: Tool>(&mut self, tool: T) -> Result<(), ToolError> {
        self.add_any(Arc::new(TypedTool::new(tool)))
    }

    /// Like [`add`](Self::add), for a tool that is only known at run time.
    pub(crate) fn add_any(&mut self, tool: Arc<dyn AnyTool>) -> Result<(), ToolError> {
        let name = tool.definition().card.name.to_string();
        if !is_name(&name) {
            let what = format!(
                "`{}` is not a valid tool name: use 1 to 64 of A-Z, a-z, 0-9, `_`, `-` and one `/`",
                name.escape_default()
            );
            return Err(ToolError::new(ErrorCode::InvalidArgs, what));
        }
        // Models and file systems confuse upper and lower case.
        if let Some(taken) = self.tools.keys().find(|taken| taken.eq_ignore_ascii_case(&name)) {
            let what = format!("there is a tool named `{taken}` already; `{name}` is left out");
            return Err(ToolError::new(ErrorCode::Conflict, what));
        }
        self.tools.insert(name, tool);
        Ok(())
    }

    /// The tool with the name `name`; an error with the nearest names if there is none.
    pub(crate) fn get(&self, name: &str) -> Result<&Arc<dyn AnyTool>, ToolError> {
        self.tools.get(name).ok_or_else(|| self.unknown_tool_error(name))
    }

    /// The error for an unknown name.
    pub(crate) fn unknown_tool_error(&self, name: &str) -> ToolError {
        let error = ToolError::new(ErrorCode::UnknownTool, format!("unknown tool: {}", name.escape_debug()));
        let mut near: Vec<&str> =
            self.tools.keys().map(String::as_str).filter(|tool| shares_word(tool, name)).collect();
        if let Some(word) = nearest_word(name, self.tools.keys().map(String::as_str)) {
            near.retain(|tool| *tool != word);
            near.insert(0, word);
        }
        match near.as_slice() {
            [] => error
                .with_hint("the tool `tools` (at a shell: `lsp-tools tools list --profile all`) lists all"),
            near => error.with_hint(format!("nearest: {}", near[..near.len().min(5)].join(", "))),
        }
    }

    /// The tools that `wanted` accepts, by name.
    pub(crate) fn definitions(&self, wanted: impl Fn(&ToolDefinition) -> bool) -> Vec<&ToolDefinition> {
        self.tools.values().map(|tool| tool.definition()).filter(|definition| wanted(definition)).collect()
    }
}

/// Returns true if a tool's name and a wrong name have a word in common (`find_references`,
/// `lsp_references`).
fn shares_word(tool: &str, given: &str) -> bool {
    let given = given.to_lowercase();
    let words = |name: &str| name.split(['_', '-', '/']).map(str::to_owned).collect::<Vec<_>>();
    let known = words(tool);
    words(&given).iter().any(|word| word.len() > 2 && word != "lsp" && known.contains(word))
}

fn is_name(name: &str) -> bool {
    let fits = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    name.len() <= 64 && name.split('/').count() <= 2 && name.split('/').all(fits)
}
