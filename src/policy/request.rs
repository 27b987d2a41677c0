//! The subjects of a call, and the decision on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::WorkspacePath;

/// What a tool does to the world; decides what is permitted where no rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Reads the workspace.
    Read,
    /// Changes files of the workspace; every change can be undone.
    Edit,
    /// Runs programs.
    Execute,
    /// Speaks to other machines.
    Network,
}

impl Effect {
    /// All of them, from the mildest.
    pub const ALL: [Self; 4] = [Self::Read, Self::Edit, Self::Execute, Self::Network];

    /// The word of settings and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }
}

/// What a call will touch, as its tool reads its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSubjects {
    /// Files and folders it reads or changes.
    pub paths: Vec<WorkspacePath>,
    /// Shell commands it runs.
    pub commands: Vec<String>,
    /// Whether `bash` could be given just these commands, so that rules about `bash` hold for them as well.
    pub in_shell: bool,
    /// Addresses it fetches.
    pub urls: Vec<String>,
    /// What this call does to the world, where that is less than its tool can do.
    pub effect: Option<Effect>,
    /// Why someone has to agree to changing one of the paths, as a whole sentence without a full stop, unless a rule allows
    /// just this path.
    pub governs: Option<String>,
}

impl CallSubjects {
    /// What the call does to the world, by a tool that can do what `of_tool` says.
    pub(crate) fn effect(&self, of_tool: Effect) -> Effect {
        self.effect.map_or(of_tool, |own| own.min(of_tool))
    }
}

/// A call before it runs.
#[derive(Debug, Clone)]
pub(crate) struct PolicyRequest<'a> {
    /// The tool's name.
    pub(crate) tool: &'a str,
    /// What it does to the world.
    pub(crate) effect: Effect,
    /// What it will touch.
    pub(crate) subjects: &'a CallSubjects,
}

/// What may become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyVerdict {
    /// It runs.
    Allow,
    /// Someone has to say yes first.
    Ask,
    /// It does not run.
    Deny,
}

impl PolicyVerdict {
    /// The word of settings and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What the rules say of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyDecision {
    /// What becomes of it.
    #[serde(rename = "decision")]
    pub verdict: PolicyVerdict,
    /// The rule that says so, as it is written; `None` where it is a default or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Why, in one sentence without a full stop; of a denial, how to change that as well.
    pub(crate) why: String,
}

impl PolicyDecision {
    /// A decision that no rule made.
    pub(crate) fn without_rule(verdict: PolicyVerdict, why: impl Into<String>) -> Self {
        Self { verdict, rule: None, why: why.into() }
    }
}
