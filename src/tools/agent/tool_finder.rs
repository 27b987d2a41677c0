//! `tools`: the callable tools that the caller's list does not show, and calls of them.
//!
//! Hosts let their models call listed tools only. A call of `tools` with `arguments` is therefore a
//! call of the tool that it names. The runtime replaces it before any rule, hook or audit entry
//! sees it ([`named_call`]).

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::{CallSubjects, Effect};
use crate::text::truncate_chars;
use crate::tools::api::tool::{Call, Card, Tool};

/// The tool's name.
pub(crate) const TOOLS: &str = "tools";
/// The longest line about a tool, in characters.
const MAX_TOOL_LINE_CHARS: usize = 160;

/// The arguments of `tools`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct ToolsArgs {
    /// Tool whose definition to return.
    pub name: Option<String>,
    /// Calls that tool with these.
    pub arguments: Option<Map<String, Value>>,
}

/// The answer of `tools`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ToolsOutput {
    /// Tool names, each with a one-line summary.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// Name, description, and the schemas of arguments and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<Value>,
}

/// The `tools` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolFinder;

impl Tool for ToolFinder {
    type Args = ToolsArgs;
    type Output = ToolsOutput;

    fn card(&self) -> Card {
        Card::new(
            TOOLS,
            "More tools",
            "Finds tools that are not listed (symbols, callers, files, tests, git, web, memory): all names with a line each; with \
             `name` its definition; with `arguments` too calls it. Not for listed tools.",
            Effect::Edit,
        )
        .in_lsp_profile()
        .destructive()
        .with_rank(20)
    }

    fn subjects(&self, _context: &Context, _args: &ToolsArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { effect: Some(Effect::Read), ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: ToolsArgs) -> Result<ToolsOutput, ToolError> {
        let Some(name) = args.name else {
            if args.arguments.is_some() {
                let what = "tools: `name` is missing beside `arguments`";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
            let tools = call.tools.callable(call.caller).into_iter();
            let tools = tools.map(|tool| (tool.card.name.to_string(), line(&tool.card)));
            return Ok(ToolsOutput { tools: tools.collect(), definition: None });
        };
        let tool = call.tools.callable_tool(call.caller, &name)?;
        let definition = json!({
            "name": tool.card.name,
            "description": tool.card.description,
            "inputSchema": tool.input.as_value(),
            "outputSchema": tool.output_schema(),
        });
        Ok(ToolsOutput { tools: BTreeMap::new(), definition: Some(definition) })
    }
}

/// The first sentence of a description.
fn line(card: &Card) -> String {
    let text = card.description.split(". ").next().unwrap_or_default();
    let text = text.lines().next().unwrap_or_default().trim_end_matches('.');
    truncate_chars(text, MAX_TOOL_LINE_CHARS).into_owned()
}

/// The tool and arguments in a call of `tools`.
///
/// # Errors
/// The unchanged arguments, if they name no call.
pub(crate) fn named_call<'n>(mut arguments: Value) -> Result<(Cow<'n, str>, Value), Value> {
    match (arguments["name"].as_str().map(str::to_owned), arguments.get_mut("arguments")) {
        (Some(name), Some(inner)) if inner.is_object() => Ok((Cow::Owned(name), inner.take())),
        _ => Err(arguments),
    }
}
