//! Skills that a host loads without a request from its model.

use serde_json::{Map, Value, json};

use super::Runtime;
use super::calls::call::CallRequest;
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::policy::approval::LeaveGiven;
use crate::policy::request::{CallSubjects, Effect, PolicyRequest, PolicyVerdict};
use crate::tools::agent::skills::catalogue::{Skill, SkillCatalogue};
use crate::tools::agent::skills::frontmatter::Frontmatter;
use crate::tools::agent::skills::load;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::Caller;

const TOOL: &str = "skill";
const MAIN: &str = "SKILL.md";

/// A skill with the texts of all its files. Only skills with a `SKILL.md` are represented so.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WholeSkill {
    /// The skill's name, equal to that of its folder.
    pub name: String,
    /// The description of the skill's purpose.
    pub description: String,
    /// Other plain text values of the skill's front matter; lists and tables are ignored.
    pub more: Map<String, Value>,
    /// The path in the skill's folder and the text of each file, `SKILL.md` first. Files that are
    /// not text, or not trusted, are left out.
    pub files: Vec<(String, String)>,
}

impl Runtime {
    /// Loads a skill like the tool `skill` does, for a host that chose the skill by itself.
    /// Requests no approval, but a rule that denies the tool still applies.
    pub async fn load_skill(&self, caller: &Caller, name: &str) -> ToolResult {
        let arguments = json!({"action": "load", "name": name});
        let request = CallRequest::new(TOOL, arguments, caller).approved_by(&LeaveGiven);
        self.call(request).await
    }

    /// Returns all skills that `caller` may load without approval. Reads files: not for an async
    /// thread.
    ///
    /// # Errors
    /// `denied` if the rules allow none.
    pub(crate) fn whole_skills(&self, caller: &Caller) -> Result<Vec<WholeSkill>, ToolError> {
        let context = self.skills_context(caller, &json!({"action": "list"}))?;
        let catalogue = SkillCatalogue::scan(&context);
        Ok(catalogue.skills.iter().filter_map(|(name, skill)| whole_skill(&context, name, skill)).collect())
    }

    /// Returns the skill called `name`, or `None` if it has no `SKILL.md`. Reads files.
    ///
    /// # Errors
    /// The skill does not exist, or the caller may not load it.
    pub(crate) fn whole_skill(&self, caller: &Caller, name: &str) -> Result<Option<WholeSkill>, ToolError> {
        let context = self.skills_context(caller, &json!({"action": "load", "name": name}))?;
        let catalogue = SkillCatalogue::scan(&context);
        Ok(whole_skill(&context, name, load::find(&catalogue, name)?))
    }

    /// Returns the text of one file of a skill, by its path in the skill's folder. Reads files.
    ///
    /// # Errors
    /// Those of the tool `skill`; `denied` also if the call needs approval.
    pub(crate) fn skill_file(&self, caller: &Caller, name: &str, file: &str) -> Result<String, ToolError> {
        let context = self.skills_context(caller, &json!({"action": "load", "name": name}))?;
        let catalogue = SkillCatalogue::scan(&context);
        load::read_skill_file(&context, load::find(&catalogue, name)?, file)
    }

    /// Returns the context for reading skills, if the rules allow this call of the tool.
    fn skills_context(&self, caller: &Caller, arguments: &Value) -> Result<Context, ToolError> {
        let decision = self.check_call(caller, TOOL, arguments)?;
        if decision.verdict != PolicyVerdict::Allow {
            return Err(decision.denial());
        }
        let policy = self.policy_of(caller);
        if let Some(decision) = policy.not_offered(TOOL, Effect::Read) {
            return Err(decision.denial());
        }
        let subjects = CallSubjects::default();
        let request = PolicyRequest { tool: TOOL, effect: Effect::Read, subjects: &subjects };
        Ok(self.context.with_limits(policy.limits(&request)))
    }
}

fn whole_skill(context: &Context, name: &str, skill: &Skill) -> Option<WholeSkill> {
    let text = skill.text.clone()?;
    // The catalogue contains only skills with a valid front matter.
    let head = Frontmatter::parse(&text).ok()?;
    let others = skill.place.files().into_iter().filter(|file| file != MAIN);
    let others =
        others.filter_map(|file| Some((file.clone(), load::read_skill_file(context, skill, &file).ok()?)));
    let files = std::iter::once((MAIN.to_owned(), text)).chain(others).collect();
    Some(WholeSkill { name: name.to_owned(), description: head.description, more: head.more, files })
}
