//! The way of one call: name and arguments → tool → rules and approval → the tool's own code → one result.

use std::time::Duration;

use futures::FutureExt;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Runtime;
use crate::policy::approval::{Approval, ApprovalRequest, Approver};
use crate::policy::request::{Decision, Request, Subjects};
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::result::{ResultType, ToolResult};
use crate::tools::tool::{AnyTool, Call, Caller, Definition};

/// How long whoever is asked may take to answer.
const ASKED: Duration = Duration::from_secs(300);

/// One call as a door hands it in.
pub struct CallRequest<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Its arguments: an object.
    pub arguments: Value,
    /// Who calls.
    pub caller: &'a Caller,
    /// Who is asked where the rules leave it open.
    pub approver: &'a dyn Approver,
    /// Edits of all calls with the same group are undone together.
    pub group: Option<&'a str>,
    /// Ends the call when its caller goes away.
    pub cancelled: CancellationToken,
}

impl Runtime {
    /// The tools that `caller` may be offered, by name.
    pub fn definitions(&self, caller: &Caller) -> Vec<&Definition> {
        self.tools.definitions(|definition| {
            self.policy(caller).offers(&definition.card.name, definition.card.effect)
        })
    }

    /// What someone would have to agree to before the call runs; `None` where the rules allow it.
    pub fn approval_request(
        &self,
        caller: &Caller,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<ApprovalRequest>, ToolError> {
        let tool = self.offered(caller, name)?;
        let subjects = tool.subjects(&self.context, arguments)?;
        match self.decide(caller, tool.as_ref(), &subjects) {
            Decision::Allow => Ok(None),
            Decision::Ask { why } => Ok(Some(approval_request(tool.definition(), &subjects, arguments, why))),
            Decision::Deny { why } => Err(ToolError::new(ErrorCode::Denied, why)),
        }
    }

    /// Calls a tool by name. Every failure is a result as well: doors only translate.
    pub async fn call(&self, request: CallRequest<'_>) -> ToolResult {
        let cancelled = request.cancelled.clone();
        let call = std::panic::AssertUnwindSafe(self.call_checked(request)).catch_unwind();
        let outcome = tokio::select! {
            outcome = call => outcome,
            () = cancelled.cancelled() => {
                Ok(Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled by its caller")))
            }
        };
        match outcome {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => ToolResult::from_error(&error),
            Err(panic) => {
                let what = panic.downcast_ref::<&str>().map(|what| (*what).to_owned());
                let what = what.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                tracing::error!("a tool panicked: {what}");
                let error = ToolError::new(
                    ErrorCode::Internal,
                    "the tool failed by a fault of its own; it is in the log",
                );
                ToolResult { error: Some(what), ..ToolResult::from_error(&error) }
            }
        }
    }

    async fn call_checked(&self, request: CallRequest<'_>) -> Result<ToolResult, ToolError> {
        let tool = self.offered(request.caller, request.name)?;
        let arguments = without_nulls(request.arguments, tool.definition());
        let subjects = tool.subjects(&self.context, &arguments)?;
        match self.decide(request.caller, tool.as_ref(), &subjects) {
            Decision::Allow => {}
            Decision::Deny { why } => return Err(ToolError::new(ErrorCode::Denied, why)),
            Decision::Ask { why } => {
                let asked = approval_request(tool.definition(), &subjects, &arguments, why);
                if let Some(refused) = approve(request.approver, &asked).await? {
                    return Ok(refused);
                }
            }
        }
        let call = Call {
            context: &self.context,
            caller: request.caller,
            group: request.group,
            cancelled: request.cancelled.clone(),
        };
        tool.run(call, arguments).await
    }

    /// The tool called `name`, if the caller may know of it.
    fn offered(&self, caller: &Caller, name: &str) -> Result<&std::sync::Arc<dyn AnyTool>, ToolError> {
        let tool = self.tools.get(name)?;
        let card = &tool.definition().card;
        if !self.policy(caller).offers(&card.name, card.effect) {
            let what = format!("the tool {name} is switched off for this caller");
            return Err(ToolError::new(ErrorCode::Denied, what));
        }
        Ok(tool)
    }

    fn decide(&self, caller: &Caller, tool: &dyn AnyTool, subjects: &Subjects) -> Decision {
        let card = &tool.definition().card;
        self.policy(caller).decide(&Request { tool: &card.name, effect: card.effect, subjects })
    }
}

fn approval_request(
    definition: &Definition,
    subjects: &Subjects,
    arguments: &Value,
    why: String,
) -> ApprovalRequest {
    ApprovalRequest {
        tool: definition.card.name.to_string(),
        title: definition.card.title.to_string(),
        effect: definition.card.effect,
        why,
        paths: subjects.paths.iter().map(|path| path.display()).collect(),
        commands: subjects.commands.clone(),
        urls: subjects.urls.clone(),
        arguments: arguments.clone(),
    }
}

/// Asks; the result of a refusal, or `None` for yes.
async fn approve(approver: &dyn Approver, asked: &ApprovalRequest) -> Result<Option<ToolResult>, ToolError> {
    let answer = tokio::time::timeout(ASKED, approver.ask(asked)).await;
    let (why, hint) = match answer {
        Ok(Approval::Once | Approval::ForSession) => return Ok(None),
        Ok(Approval::Refused { why }) => {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let error = ToolError::new(ErrorCode::Denied, format!("{} was refused{why}", asked.tool));
            let kind = ResultType::Rejected;
            return Ok(Some(ToolResult { kind, ..ToolResult::from_error(&error) }));
        }
        Ok(Approval::Nobody) => (format!("{} needs leave, and nobody is there to give it", asked.why), true),
        Err(_) => (format!("{}, and nobody answered within {} s", asked.why, ASKED.as_secs()), false),
    };
    let error = ToolError::new(ErrorCode::Denied, why);
    Err(if hint {
        error.with_hint(format!(
            "to allow it, put `allow = [\"{}\"]` under [permissions] in lsp-tools.toml",
            asked.tool
        ))
    } else {
        error
    })
}

/// Models write `null` for what they leave out.
fn without_nulls(arguments: Value, definition: &Definition) -> Value {
    let required = definition.input.as_value().get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    match arguments {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(name, value)| !value.is_null() || required.contains(&name.as_str()))
                .collect(),
        ),
        Value::Null => Value::Object(Map::new()),
        other => other,
    }
}
