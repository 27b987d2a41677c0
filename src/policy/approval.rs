//! Approval by a person: the `Approver` trait, its requests, and forms of programs behind a call.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::request::Effect;

/// A request for a person's approval of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The tool's name.
    pub tool: String,
    /// The tool's title, for people.
    pub title: String,
    /// The effect of the call.
    pub effect: Effect,
    /// The reason for the request, in one sentence.
    pub why: String,
    /// Relative paths of the files and folders that the call would read or change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The commands that the call would run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The addresses that the call would fetch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// The arguments of the call.
    pub arguments: Value,
}

impl ApprovalRequest {
    /// The rule that would allow just this call, and the file to write it to.
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

/// The answer to an approval request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Approval {
    /// Approved for this call.
    Once,
    /// Approved for this call and for later calls of the same tool and subjects until the caller's
    /// session ends.
    ForSession,
    /// Refused.
    Refused {
        /// The reason in the approver's own words, if one was given.
        why: Option<String>,
    },
    /// No approver is available.
    Nobody,
}

/// A form that a program behind a call asks a person to fill in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormRequest {
    /// The name of the mounted server that asks.
    pub from: String,
    /// The tool that was called.
    pub tool: String,
    /// The server's own message; hidden characters are shown by their numbers.
    pub message: String,
    /// The fields: a JSON schema of one object with plain properties, as in MCP elicitation.
    pub schema: Value,
    /// True if the call may be retried with the answer. Otherwise the answer counts only while the
    /// call runs.
    pub again: bool,
}

/// The outcome of a form request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FormAnswer {
    /// The values of the form's fields.
    Filled(Map<String, Value>),
    /// Declined.
    Declined,
    /// Dismissed without an answer.
    Dismissed,
    /// No person is available to answer now.
    Nobody,
}

impl FormAnswer {
    /// The outcome as text, without the values that were filled in.
    pub(crate) fn outcome_text(&self) -> &'static str {
        match self {
            Self::Filled(_) => "filled in",
            Self::Declined => "declined",
            Self::Dismissed => "put away",
            Self::Nobody => "no user could be asked",
        }
    }
}

/// Asks a person for approval. Each entry point has its own implementation.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. The caller sets the deadline.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;

    /// Has a form filled in, and waits for the answer. The default implementation, for entry points
    /// without forms, returns [`FormAnswer::Nobody`].
    fn fill_form<'a>(&'a self, _form: &'a FormRequest) -> BoxFuture<'a, FormAnswer> {
        Box::pin(std::future::ready(FormAnswer::Nobody))
    }
}

impl std::fmt::Debug for dyn Approver + '_ {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Approver")
    }
}

/// The approver of entry points without a person: every request is unanswered.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Nobody))
    }
}

/// The approver of calls that were approved in advance: `ask` becomes `allow`, `deny` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeaveGiven;

impl Approver for LeaveGiven {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Once))
    }
}
