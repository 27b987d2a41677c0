//! Who is asked when the rules leave a call open.

use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use super::request::Effect;

/// What someone is asked to agree to.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The commands it would run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The addresses it would fetch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// Its arguments.
    pub arguments: Value,
}

/// What became of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Someone who can be asked: each door has its own.
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer; whoever calls sets the deadline.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval>;
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
