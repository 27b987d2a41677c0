//! The tool list in the formats of models' services and hosts, one file each.
//!
//! What lives here: [`export`], and per format the way from a [`ToolDefinition`] to its JSON ([`mcp`], [`openai`],
//! [`anthropic`], [`gemini`], [`copilot`]); what they share is in [`lower`] (schemas made plainer) and [`names`] (our names in
//! the letters a format allows, and back). May use: `schema`, `tool`.
//!
//! How data passes: definitions come in, JSON goes out. A format that cannot say something says less of it: arguments are
//! checked against the whole schema on our side whatever was exported.

mod anthropic;
mod copilot;
mod gemini;
mod lower;
mod mcp;
mod names;
mod openai;

use serde_json::{Value, json};

use super::error::{ErrorCode, ToolError};
use super::tool::ToolDefinition;

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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mcp, Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Copilot];

    /// As people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Mcp => "MCP",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Copilot => "Copilot",
        }
    }

    /// How many tools one list may have; more are refused by the service.
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
    /// One object per tool, in the order given.
    pub tools: Vec<Value>,
    /// The names in it, and whose they are.
    pub(crate) names: ExportedNames,
}

impl ExportedToolList {
    /// The list in the place where the format has it.
    pub(crate) fn document(&self) -> Value {
        match self.format {
            ToolListFormat::Mcp | ToolListFormat::Copilot => json!({"tools": self.tools}),
            ToolListFormat::OpenAi | ToolListFormat::Anthropic => json!(self.tools),
            ToolListFormat::Gemini => json!([{"functionDeclarations": self.tools}]),
        }
    }
}

/// The tools in `format`.
///
/// # Errors
/// Where there are more than the format takes: which ones to leave out is for the caller to say.
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

/// What a tool says of itself; never empty, because some services refuse that.
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
