//! The tool list as models' services and hosts take it: one file per format.
//!
//! What lives here: [`export`], and per format the way from a [`Definition`] to its JSON ([`mcp`], [`openai`],
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
use super::tool::Definition;

pub(crate) use names::Names;

/// A format of tool lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
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

impl Format {
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
pub struct Exported {
    /// The format.
    pub format: Format,
    /// One object per tool, in the order given.
    pub tools: Vec<Value>,
    /// The names in it, and whose they are.
    pub names: Names,
}

impl Exported {
    /// The list in the place where the format has it.
    pub(crate) fn document(&self) -> Value {
        match self.format {
            Format::Mcp | Format::Copilot => json!({"tools": self.tools}),
            Format::OpenAi | Format::Anthropic => json!(self.tools),
            Format::Gemini => json!([{"functionDeclarations": self.tools}]),
        }
    }
}

/// The tools in `format`.
///
/// # Errors
/// Where there are more than the format takes: which ones to leave out is for the caller to say.
pub fn export<'a>(
    format: Format,
    definitions: impl IntoIterator<Item = &'a Definition>,
) -> Result<Exported, ToolError> {
    let (mut names, mut tools) = (Names::new(format), Vec::new());
    for definition in definitions {
        let name = names.add(&definition.card.name);
        tools.push(match format {
            Format::Mcp => mcp::tool(&name, definition),
            Format::OpenAi => openai::tool(&name, definition),
            Format::Anthropic => anthropic::tool(&name, definition),
            Format::Gemini => gemini::tool(&name, definition),
            Format::Copilot => copilot::tool(&name, definition),
        });
    }
    if let Some(most) = format.most_tools().filter(|most| tools.len() > *most) {
        let what = format!("{} takes at most {most} tools, and these are {}", format.title(), tools.len());
        let error = ToolError::new(ErrorCode::TooLarge, what);
        return Err(error.with_hint("choose fewer by a profile, or by `available` and `excluded`"));
    }
    Ok(Exported { format, tools, names })
}

/// What a tool says of itself; never empty, because some services refuse that.
fn description(definition: &Definition) -> &str {
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
