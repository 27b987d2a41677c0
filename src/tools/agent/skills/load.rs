//! Loading of one skill's text.

use serde_json::Value;

use super::catalogue::{Skill, SkillCatalogue, SkillFileError, trusted_text};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::text::nearest_word;

/// The largest text of one skill, in bytes.
const MAX_SKILL_TEXT_BYTES: usize = 256 << 10;

/// A loaded skill.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoadedSkill {
    /// The instructions: `SKILL.md`, then the prompts of its manifest.
    pub content: String,
    /// The tool definitions of its manifest. Those with a `command` are tools here as well; the
    /// others are text for the host of the model.
    pub tools: Vec<Value>,
    /// The other files of the skill.
    pub files: Vec<String>,
}

/// The skill with the name `name`.
///
/// # Errors
/// If it does not exist, with the nearest name, or may not be used.
pub(crate) fn find<'a>(catalogue: &'a SkillCatalogue, name: &str) -> Result<&'a Skill, ToolError> {
    if let Some(skill) = catalogue.skills.get(name) {
        return Ok(skill);
    }
    if let Some((_, reason)) = catalogue.left_out.iter().find(|(left_out, _)| left_out == name) {
        return Err(ToolError::new(ErrorCode::Denied, format!("the skill is not loaded: {reason}")));
    }
    let error = ToolError::new(ErrorCode::NotFound, format!("there is no skill {name:?}"));
    Err(match nearest_word(name, catalogue.skills.keys().map(String::as_str)) {
        Some(near) => error.with_hint(format!("nearest: {near}")),
        None => error.with_hint("action `list` lists the skills"),
    })
}

/// Loads the whole skill.
///
/// # Errors
/// If a file in its manifest is missing, not trusted, or outside its folder.
pub(crate) fn load(context: &Context, skill: &Skill) -> Result<LoadedSkill, ToolError> {
    let mut content = skill.text.clone().unwrap_or_default();
    let (mut tools, mut served) = (Vec::new(), vec!["SKILL.md", "skill.json"]);
    if let Some(manifest) = &skill.manifest {
        for prompt in &manifest.prompts {
            if !content.is_empty() {
                content.push_str("\n\n");
            }
            content.push_str(&read_skill_file(context, skill, prompt)?);
            if content.len() > MAX_SKILL_TEXT_BYTES {
                let what = format!("the skill has more than {MAX_SKILL_TEXT_BYTES} bytes of text");
                return Err(ToolError::new(ErrorCode::TooLarge, what));
            }
            served.push(prompt);
        }
        for tool in &manifest.tools {
            let definition = serde_json::from_str(&read_skill_file(context, skill, tool)?);
            tools.push(definition.map_err(|error| {
                ToolError::new(ErrorCode::NotText, format!("`{}` is not JSON: {error}", tool.escape_debug()))
            })?);
            served.push(tool);
        }
    }
    let files = skill.place.files().into_iter().filter(|file| !served.contains(&file.as_str())).collect();
    Ok(LoadedSkill { content, tools, files })
}

/// The text of one of its files, by its path in the skill's folder.
///
/// # Errors
/// If it is missing, not trusted, or outside the folder.
pub(crate) fn read_skill_file(context: &Context, skill: &Skill, file: &str) -> Result<String, ToolError> {
    trusted_text(context, &skill.place, file).map_err(|error| {
        let name = file.escape_debug();
        match error {
            SkillFileError::Not(error) => crate::analysis::context::from_read_error(error),
            other => ToolError::new(ErrorCode::Denied, format!("`{name}` of the skill is not read: {other}")),
        }
    })
}
