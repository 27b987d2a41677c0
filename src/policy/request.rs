//! The subjects of a call, and the decision on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::error::{ErrorCode, ToolError};
use crate::workspace::WorkspacePath;

/// The effect of a tool; decides the permission if no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Reads the workspace.
    Read,
    /// Changes workspace files; every change can be undone.
    Edit,
    /// Runs programs.
    Execute,
    /// Connects to other machines.
    Network,
}

impl Effect {
    /// All effects, from the mildest.
    pub const ALL: [Self; 4] = [Self::Read, Self::Edit, Self::Execute, Self::Network];

    /// The keyword in settings and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Execute => "execute",
            Self::Network => "network",
        }
    }
}

/// The subjects of a call, as its tool derives them from the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSubjects {
    /// The files and folders that the call reads or changes.
    pub paths: Vec<WorkspacePath>,
    /// The shell commands that the call runs.
    pub commands: Vec<String>,
    /// True if `bash` could run just these commands, so that rules about `bash` hold for them too.
    pub in_shell: bool,
    /// The addresses that the call fetches.
    pub urls: Vec<String>,
    /// The effect of this call, if it is milder than the tool's effect.
    pub effect: Option<Effect>,
    /// The reason that changing one of the paths needs approval, as a whole sentence without a full
    /// stop. A rule that allows just this path overrides it.
    pub governs: Option<String>,
}

impl CallSubjects {
    /// The effect of the call, at most `of_tool`, the effect of its tool.
    pub(crate) fn effect(&self, of_tool: Effect) -> Effect {
        self.effect.map_or(of_tool, |own| own.min(of_tool))
    }
}

/// A call before it runs.
#[derive(Debug, Clone)]
pub(crate) struct PolicyRequest<'a> {
    /// The tool's name.
    pub(crate) tool: &'a str,
    /// The effect of the call.
    pub(crate) effect: Effect,
    /// The paths, commands and addresses of the call.
    pub(crate) subjects: &'a CallSubjects,
}

/// The possible decisions on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyVerdict {
    /// The call runs.
    Allow,
    /// The call needs approval first.
    Ask,
    /// The call does not run.
    Deny,
}

impl PolicyVerdict {
    /// The keyword in settings and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A decision on a call, and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyDecision {
    /// The verdict.
    #[serde(rename = "decision")]
    pub verdict: PolicyVerdict,
    /// The rule that decided, as written; `None` if a default or a list of tools decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The reason, in one sentence without a full stop. For a denial, it also says how to change
    /// that.
    pub(crate) why: String,
}

impl PolicyDecision {
    /// The error of the call if the decision is a denial.
    pub(crate) fn denial(&self) -> ToolError {
        ToolError::new(ErrorCode::Denied, self.why.clone())
    }

    /// A decision that no rule made.
    pub(crate) fn without_rule(verdict: PolicyVerdict, reason: impl Into<String>) -> Self {
        Self { verdict, rule: None, why: reason.into() }
    }
}
