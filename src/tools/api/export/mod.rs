//! The tool list in the formats of models' services and hosts, one file each.
//!
//! The module contains [`export`], and for each format the conversion of a [`ToolDefinition`] to
//! its JSON ([`mcp`], [`openai`], [`anthropic`], [`gemini`], [`copilot`]). Shared parts are in
//! [`lower`] (simplified schemas) and [`names`] (names in the letters that a format allows, and
//! back). It may use `tools::api`.
//!
//! Definitions come in, JSON goes out. A format that cannot express a constraint omits it: the
//! arguments are always checked against the whole schema here.

mod anthropic;
mod copilot;
mod gemini;
mod lower;
mod mcp;
mod names;
mod openai;

use serde_json::{Value, json};

use super::tool::ToolDefinition;
use crate::analysis::error::{ErrorCode, ToolError};

pub(crate) use names::ExportedNames;

/// A format of tool lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolListFormat {
    /// The result of MCP's `tools/list`.
    Mcp,
    /// `tools` of OpenAI's chat completions, strict where the schema allows it.
    OpenAi,
    /// `tools` of Anthropic's messages.
    Anthropic,
    /// `tools` of Gemini's `generateContent`.
    Gemini,
    /// The parameters of `conversation/registerTools` of the Copilot language server.
    Copilot,
}

impl ToolListFormat {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Mcp, Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Copilot];

    /// The display name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Mcp => "MCP",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Copilot => "Copilot",
        }
    }

    /// The most tools in one list; services reject longer ones.
    pub(crate) fn most_tools(self) -> Option<usize> {
        match self {
            Self::Mcp | Self::Anthropic => None,
            Self::OpenAi | Self::Gemini | Self::Copilot => Some(128),
        }
    }
}

/// A tool list in one format.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedToolList {
    /// The format.
    pub format: ToolListFormat,
    /// One object per tool, in the given order.
    pub tools: Vec<Value>,
    /// The exported names, and their internal names.
    pub(crate) names: ExportedNames,
}

impl ExportedToolList {
    /// The list within the document of the format.
    pub(crate) fn document(&self) -> Value {
        match self.format {
            ToolListFormat::Mcp | ToolListFormat::Copilot => json!({"tools": self.tools}),
            ToolListFormat::OpenAi | ToolListFormat::Anthropic => json!(self.tools),
            ToolListFormat::Gemini => json!([{"functionDeclarations": self.tools}]),
        }
    }
}

/// Exports the tools in `format`.
///
/// # Errors
/// If there are more tools than the format accepts: the caller decides which ones to leave out.
pub fn export<'a>(
    format: ToolListFormat,
    definitions: impl IntoIterator<Item = &'a ToolDefinition>,
) -> Result<ExportedToolList, ToolError> {
    let (mut names, mut tools) = (ExportedNames::new(format), Vec::new());
    for definition in definitions {
        let name = names.add(&definition.card.name);
        tools.push(match format {
            ToolListFormat::Mcp => mcp::tool(&name, definition),
            ToolListFormat::OpenAi => openai::tool(&name, definition),
            ToolListFormat::Anthropic => anthropic::tool(&name, definition),
            ToolListFormat::Gemini => gemini::tool(&name, definition),
            ToolListFormat::Copilot => copilot::tool(&name, definition),
        });
    }
    if let Some(most) = format.most_tools().filter(|most| tools.len() > *most) {
        let what = format!("{} takes at most {most} tools, and these are {}", format.title(), tools.len());
        let error = ToolError::new(ErrorCode::TooLarge, what);
        return Err(error.with_hint("choose fewer by a profile, or by `available` and `excluded`"));
    }
    Ok(ExportedToolList { format, tools, names })
}

/// The description of a tool; never empty, because some services reject that.
fn description(definition: &ToolDefinition) -> &str {
    let card = &definition.card;
    [&card.description, &card.title, &card.name]
        .into_iter()
        .find(|text| !text.trim().is_empty())
        .map_or("a tool", |text| text.as_ref())
}

#[cfg(test)]
mod rules;
#[cfg(test)]
mod tests;
