//! `skill`: instructions that users and projects keep for models, listed and loaded by name.
//!
//! A call is processed like every call. If a host loads a skill on its own,
//! [`Runtime::load_skill`](crate::runtime::Runtime::load_skill) does so without a request for
//! approval, but never against a rule that forbids it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::skills::catalogue::SkillCatalogue;
use super::skills::load;
use super::skills::sources::Whose;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::tools::api::tool::{Call, Card, Tool};

/// The most notes on unusable skills.
const MAX_UNUSABLE_SKILL_NOTES: usize = 20;

/// The arguments of `skill`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct SkillArgs {
    /// List all skills, or load one.
    pub action: SkillAction,
    /// For load.
    pub name: Option<String>,
    /// For load: a file from `files`.
    pub file: Option<String>,
}

/// The operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum SkillAction {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    List,
    #[allow(missing_docs)] // as above
    Load,
}

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SkillItem {
    /// The name to load it by.
    pub name: String,
    /// The purpose.
    pub description: String,
    /// The owner.
    pub source: Whose,
}

/// The list of skills, or the loaded skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct SkillOutput {
    /// `list` only: the skills that can be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<SkillItem>>,
    /// `list` only: the skills that cannot be loaded, with reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// `load` only: the skill's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `load` only: the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `load` only: tool definitions of the skill; those with a `command` can be called by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// `load` only: further files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// The `skill` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillTool;

impl Tool for SkillTool {
    type Args = SkillArgs;
    type Output = SkillOutput;

    fn card(&self) -> Card {
        Card::reading(
            "skill",
            "Skills",
            "Instructions for kinds of work: `list` them when work begins, `load` and follow the one that fits. Not for single \
             steps.",
        )
    }

    async fn run(&self, call: Call<'_>, args: SkillArgs) -> Result<SkillOutput, ToolError> {
        let catalogue = SkillCatalogue::scan(call.context);
        match (args.action, args.name) {
            (SkillAction::List, None) if args.file.is_none() => Ok(list(catalogue)),
            (SkillAction::List, _) => Err(invalid_argument("`list` takes neither `name` nor `file`")),
            (SkillAction::Load, None) => Err(invalid_argument("`name` is missing: name the skill to load")),
            (SkillAction::Load, Some(name)) => {
                let output = load_output(call.context, &catalogue, name, args.file.as_deref())?;
                tracing::info!(session = call.caller.session, skill = output.name, "skill.invoked");
                Ok(output)
            }
        }
    }
}

fn invalid_argument(what: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, format!("skill: {what}"))
}

fn list(catalogue: SkillCatalogue) -> SkillOutput {
    let items = catalogue.skills.into_iter().map(|(name, skill)| SkillItem {
        name,
        description: skill.description,
        source: skill.place.whose,
    });
    let skills = Some(items.collect());
    let left_out =
        catalogue.unreadable.into_iter().chain(catalogue.left_out.into_iter().map(|(_, reason)| reason));
    SkillOutput {
        skills,
        left_out: left_out.take(MAX_UNUSABLE_SKILL_NOTES).collect(),
        ..SkillOutput::default()
    }
}

fn load_output(
    context: &Context,
    catalogue: &SkillCatalogue,
    name: String,
    file: Option<&str>,
) -> Result<SkillOutput, ToolError> {
    let skill = load::find(catalogue, &name)?;
    let name = Some(name);
    if let Some(file) = file {
        let content = Some(load::read_skill_file(context, skill, file)?);
        return Ok(SkillOutput { name, content, ..SkillOutput::default() });
    }
    let whole = load::load(context, skill)?;
    let (content, tools, files) = (Some(whole.content), whole.tools, whole.files);
    Ok(SkillOutput { name, content, tools, files, ..SkillOutput::default() })
}
