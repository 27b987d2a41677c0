//! What the rules say of a call.

use super::request::{Decision, Effect, Request};

/// The rules in force for one caller.
#[derive(Debug, Clone, Default)]
pub struct Policy {}

impl Policy {
    /// Whether a tool is offered at all.
    pub fn offers(&self, _tool: &str, _effect: Effect) -> bool {
        true
    }

    /// Whether a call may run.
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        match request.effect {
            Effect::Read | Effect::Edit => Decision::Allow,
            Effect::Execute => Decision::Ask { why: format!("{} runs a program", request.tool) },
            Effect::Network => Decision::Ask { why: format!("{} speaks to another machine", request.tool) },
        }
    }
}
