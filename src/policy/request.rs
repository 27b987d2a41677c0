//! What a call asks for, and what may become of it.

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
    /// The word of settings and answers.
    pub fn as_str(self) -> &'static str {
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
pub struct Subjects {
    /// Files and folders it reads or changes.
    pub paths: Vec<WorkspacePath>,
    /// Shell commands it runs.
    pub commands: Vec<String>,
    /// Addresses it fetches.
    pub urls: Vec<String>,
}

/// A call before it runs.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What it does to the world.
    pub effect: Effect,
    /// What it will touch.
    pub subjects: &'a Subjects,
}

/// What the rules say of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Allow,
    /// Someone has to say yes first.
    Ask {
        /// Why it is asked, in one sentence.
        why: String,
    },
    /// It does not run.
    Deny {
        /// Which rule forbids it and how to change that, in one sentence.
        why: String,
    },
}
