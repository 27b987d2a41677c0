//! `skill.json`: a skill as a manifest that names prompts and definitions of tools.

use serde::Deserialize;

/// The longest description, in characters.
const MAX_MANIFEST_DESCRIPTION_CHARS: usize = 1_024;
/// The most prompts, and the most tools.
const MAX_SKILL_MANIFEST_FILES: usize = 50;

/// A manifest. Unknown keys are ignored; they belong to other programs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkillManifest {
    /// The name, as written.
    pub name: String,
    /// The display name.
    pub display_name: Option<String>,
    /// The purpose of the skill.
    #[serde(default)]
    pub description: String,
    /// The version, in the author's scheme.
    pub version: Option<String>,
    /// Files with prompts, relative to the skill's folder, in order.
    #[serde(default)]
    pub prompts: Vec<String>,
    /// Files with definitions of tools, relative to the skill's folder.
    #[serde(default)]
    pub tools: Vec<String>,
}

impl SkillManifest {
    /// Parses the text of a `skill.json`.
    ///
    /// # Errors
    /// A sentence about the problem.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| format!("skill.json: {error}"))?;
        let chars = read.description.chars().count();
        if chars > MAX_MANIFEST_DESCRIPTION_CHARS {
            return Err(format!(
                "skill.json: `description` has {chars} characters, accepted: at most {MAX_MANIFEST_DESCRIPTION_CHARS}"
            ));
        }
        for (key, files) in [("prompts", &read.prompts), ("tools", &read.tools)] {
            if files.len() > MAX_SKILL_MANIFEST_FILES {
                return Err(format!(
                    "skill.json: `{key}` names {} files, accepted: at most {MAX_SKILL_MANIFEST_FILES}",
                    files.len()
                ));
            }
        }
        Ok(read)
    }
}
