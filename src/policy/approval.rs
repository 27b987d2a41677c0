//! Approval by a person: the `Approver` trait, its requests, and forms of programs behind a call.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::request::Effect;

/// What someone is asked to agree to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The tool's name.
    pub tool: String,
    /// Its title, for people.
    pub title: String,
    /// What it does to the world.
    pub effect: Effect,
    /// Why it is asked, in one sentence.
    pub why: String,
    /// Relative paths of the files and folders it would read or change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The commands it would run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The addresses it would fetch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// Its arguments.
    pub arguments: Value,
}

impl ApprovalRequest {
    /// The rule that would allow just this call, and where it is written.
    pub(crate) fn allow_hint(&self) -> String {
        format!(
            "to allow it, put `allow = [\"{}\"]` under [permissions] in lsp-tools.toml",
            self.allowing_rule()
        )
    }

    fn allowing_rule(&self) -> String {
        let plain = |text: &&String| {
            !text.contains(|character: char| {
                character.is_control() || ";|&$<>`\"'\\()*?[]{}#~=!".contains(character)
            })
        };
        let inner = match (self.commands.as_slice(), self.urls.as_slice(), self.paths.as_slice()) {
            ([command], [], _) => Some(command).filter(plain).cloned(),
            ([], [url], _) => url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)),
            ([], [], [path]) if self.effect == Effect::Edit => Some(path).filter(plain).cloned(),
            _ => None,
        };
        inner.map_or_else(|| self.tool.clone(), |inner| format!("{}({inner})", self.tool))
    }
}

/// What became of the question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Approval {
    /// Yes, this time.
    Once,
    /// Yes, and again for the same tool and subjects until the caller's session ends.
    ForSession,
    /// No.
    Refused {
        /// In the words of whoever refused, if they said any.
        why: Option<String>,
    },
    /// There is nobody who could answer.
    Nobody,
}

/// What a program that works on a call wants to know of a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormRequest {
    /// Who asks: the name of a mounted server.
    pub from: String,
    /// The tool that was called.
    pub tool: String,
    /// What it says, in its own words; hidden characters are shown by their numbers.
    pub message: String,
    /// The fields: a JSON schema of one object with plain properties, as MCP's elicitation has it.
    pub schema: Value,
    /// The call may be made a second time with the answer; otherwise only an answer while it runs is one.
    pub again: bool,
}

/// What became of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FormAnswer {
    /// The values of its fields.
    Filled(Map<String, Value>),
    /// No.
    Declined,
    /// It was put away.
    Dismissed,
    /// There is nobody who could answer now.
    Nobody,
}

impl FormAnswer {
    /// What became of it, without what was filled in.
    pub(crate) fn outcome_text(&self) -> &'static str {
        match self {
            Self::Filled(_) => "filled in",
            Self::Declined => "declined",
            Self::Dismissed => "put away",
            Self::Nobody => "nobody could be asked",
        }
    }
}

/// Someone who can be asked: each door has its own.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer; whoever calls sets the deadline.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;

    /// Has a form filled in, and waits for that; where a door cannot show one, there is nobody.
    fn fill_form<'a>(&'a self, _form: &'a FormRequest) -> BoxFuture<'a, FormAnswer> {
        Box::pin(std::future::ready(FormAnswer::Nobody))
    }
}

impl std::fmt::Debug for dyn Approver + '_ {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Approver")
    }
}

/// Where nobody can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Nobody))
    }
}

/// Where leave was given before: what only had to be asked for runs, what is denied does not.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeaveGiven;

impl Approver for LeaveGiven {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Once))
    }
}
