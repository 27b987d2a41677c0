//! `conversation/invokeClientTool`: a tool call of the model, sent by the server.
//!
//! The server checks no arguments, sets no time limit and sends no cancellation; this module does
//! all of that. Unparsable arguments arrive as `{}`, so the answer to those names the missing ones.
//! The response is the tuple in every case.

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::context::{CopilotContext, MAX_PENDING_COPILOT_CALLS};
use super::events::CallState;
use super::format::{InvocationAnswer, InvocationOutcome};
use super::link::WeakCopilotLink;
use super::offer::CopilotOfferEntry;
use super::turn_registry::CopilotTurn;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::bridges::copilot::aliases::{self, AliasCallOptions};
use crate::policy::approval::{Approval, ApprovalRequest, Approver};
use crate::policy::request::Effect;
use crate::runtime::calls::call::{CallOptions, CallRequest};
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::ToolDefinition;

/// The parameters. The type of round numbers varies between versions of the server (number or
/// string); they are unused.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    name: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    conversation_id: Value,
    #[serde(default)]
    turn_id: Value,
    #[serde(default)]
    round_id: Value,
    #[serde(default)]
    tool_call_id: Value,
}

/// Runs the requested call if it has a permit (`place`), and returns the result of the request.
pub(super) async fn answer(
    context: &CopilotContext,
    link: &WeakCopilotLink,
    params: Value,
    place: Option<OwnedSemaphorePermit>,
) -> Value {
    answer_to(context, link, params, place).await.encode(context.format)
}

async fn answer_to(
    context: &CopilotContext,
    line: &WeakCopilotLink,
    params: Value,
    place: Option<OwnedSemaphorePermit>,
) -> InvocationAnswer {
    let invocation = match Invocation::deserialize(&params) {
        Ok(invocation) => invocation,
        Err(error) => return InvocationAnswer::error(format!("the call cannot be read: {error}")),
    };
    tracing::debug!(tool = invocation.name, conversation = %invocation.conversation_id, round = %invocation.round_id, "Copilot call");
    let Some(turn) = context.turns.current() else {
        return InvocationAnswer::error("no turn of lsp-tools is running, so the tool is not called");
    };
    if turn.is_foreign(&invocation.conversation_id) {
        return InvocationAnswer::error(
            "the call belongs to another client's conversation, so the tool is not called",
        );
    }
    if invocation.turn_id.as_str().is_some_and(|turn| context.turns.is_over(turn)) {
        return InvocationAnswer::error("the call's turn has ended, so the tool is not called");
    }
    let Some(_place) = place else {
        return InvocationAnswer::error(format!(
            "{MAX_PENDING_COPILOT_CALLS} calls are waiting already; call fewer at once"
        ));
    };
    let offer = context.offer();
    let offered = offer.get(&invocation.name);
    if let Some(missing) =
        offered.and_then(|offered| missing_arguments(&offered.definition, &invocation.input))
    {
        return InvocationAnswer::error(missing);
    }
    let id = invocation.tool_call_id.as_str().unwrap_or_default().to_owned();
    turn.begin_call();
    turn.record_call(&id, &invocation.name, CallState::Running, None);
    let answer = run(context, line, &turn, offered, &invocation, &id).await;
    let (state, detail) = match answer.outcome {
        InvocationOutcome::Success => (CallState::Completed, None),
        InvocationOutcome::Error => (CallState::Error, answer.text.lines().next().map(str::to_owned)),
        InvocationOutcome::Cancelled => (CallState::Cancelled, None),
    };
    turn.record_call(&id, &invocation.name, state, detail);
    answer
}

async fn run(
    context: &CopilotContext,
    line: &WeakCopilotLink,
    turn: &CopilotTurn,
    offered: Option<&CopilotOfferEntry>,
    invocation: &Invocation,
    id: &str,
) -> InvocationAnswer {
    let effect = offered.map_or(Effect::Read, |offered| offered.definition.card.effect);
    let cancelled = turn.over.child_token();
    let _cancel_on_drop = cancelled.clone().drop_guard();
    let call = async {
        let _place = context.at_once.acquire().await;
        let answered = context.take_answer(id, &invocation.name, &invocation.input).map(PresetApprover);
        let approver = answered.as_ref().map_or(context.approver.as_ref(), |answer| answer as &dyn Approver);
        let group = Some(turn.name.as_str());
        let options = AliasCallOptions {
            backend: context.backend.as_ref(),
            caller: &context.caller,
            approver,
            group,
            cancelled: cancelled.clone(),
        };
        with_document_sync(context, line, effect, run_call(context, offered, invocation, options, effect))
            .await
    };
    let name = &invocation.name;
    let stopped = |outcome: InvocationOutcome, error: ToolError| {
        let text = ToolResult::from_error(&error).model_text();
        InvocationAnswer { outcome, text, effect, whole: false }
    };
    tokio::select! {
        answer = tokio::time::timeout(context.call_limit, call) => {
            answer.unwrap_or_else(|_| stopped(InvocationOutcome::Error, out_of_time(name, context)))
        }
        () = turn.over.cancelled() => stopped(InvocationOutcome::Cancelled, turn_over_error(name)),
    }
}

/// Runs the call of one of our tools or aliases.
async fn run_call(
    context: &CopilotContext,
    offered: Option<&CopilotOfferEntry>,
    invocation: &Invocation,
    call_options: AliasCallOptions<'_>,
    effect: Effect,
) -> InvocationAnswer {
    let input = invocation.input.clone();
    if let Some(name) = offered.and_then(|offered| offered.name) {
        let answer = aliases::call(&context.runtime(), name.name(), input, &call_options).await;
        let outcome = match answer.ok {
            true => InvocationOutcome::Success,
            false if call_options.cancelled.is_cancelled() => InvocationOutcome::Cancelled,
            false => InvocationOutcome::Error,
        };
        // The server uses this text as the file's new content, so it must be complete.
        let whole = answer.ok && offered.is_some_and(CopilotOfferEntry::unlocks_server_tools);
        return InvocationAnswer { outcome, text: answer.text, effect, whole };
    }
    let AliasCallOptions { backend, caller, approver, group, cancelled } = call_options;
    let offer = context.offer();
    let name = offer.internal_name(&invocation.name);
    let id = invocation.tool_call_id.as_str();
    let options = CallOptions { caller, approver, group, id, cancelled, limit: None };
    let request = CallRequest { name, arguments: input, options };
    let result = backend.call(request).await;
    let cancelled = result.value.get("code").and_then(Value::as_str) == Some("cancelled");
    let outcome = match result.ok() {
        true => InvocationOutcome::Success,
        false if cancelled => InvocationOutcome::Cancelled,
        false => InvocationOutcome::Error,
    };
    InvocationAnswer { outcome, text: result.model_text(), effect, whole: false }
}

/// Runs `call`, then reports the changes made meanwhile to the server.
async fn with_document_sync(
    context: &CopilotContext,
    line: &WeakCopilotLink,
    effect: Effect,
    call: impl Future<Output = InvocationAnswer>,
) -> InvocationAnswer {
    let Some(link) = line.link().filter(|_| effect != Effect::Read) else { return call.await };
    let manager = context.runtime().context().manager.clone();
    let witness = manager.start_recording().await;
    let answer = call.await;
    let changes = manager.finish_recording(witness).await;
    link.documents.notify_changes(&changes, &context.runtime(), &context.caller, &link.connection).await;
    answer
}

fn turn_over_error(name: &str) -> ToolError {
    ToolError::new(ErrorCode::Cancelled, format!("{name} was ended because its turn has ended"))
}

fn out_of_time(name: &str, context: &CopilotContext) -> ToolError {
    let limit = context.call_limit.as_secs();
    ToolError::new(ErrorCode::Timeout, format!("{name} was ended because it took longer than {limit} s"))
}

/// Names the missing arguments if none were given and some are required.
fn missing_arguments(definition: &ToolDefinition, input: &Value) -> Option<String> {
    let empty = input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty);
    let schema = definition.input.as_value();
    let required: Vec<&str> = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str).collect();
    if !empty || required.is_empty() {
        return None;
    }
    let described = |name: &&str| {
        let description = schema["properties"][*name]["description"].as_str().map(str::trim);
        description
            .filter(|description| !description.is_empty())
            .map_or_else(|| format!("`{name}`"), |description| format!("`{name}`: {description}"))
    };
    let described: Vec<String> = required.iter().map(described).collect();
    Some(format!(
        "{} has no arguments, or they could not be parsed. It needs:\n{}",
        definition.card.name,
        described.join("\n")
    ))
}

/// An approver with the decision recorded before the call.
struct PresetApprover(Approval);

impl Approver for PresetApprover {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> futures::future::BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

/// Returns a token that is cancelled with the current turn; `None` without one.
pub(super) fn turn_cancellation(context: &CopilotContext) -> Option<CancellationToken> {
    context.turns.current().map(|turn| turn.over.child_token())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::api::schema::Schema;
    use crate::tools::api::tool::Card;

    #[test]
    fn tool_call_without_arguments_is_answered_with_required_ones() {
        let input = json!({"type": "object", "required": ["path", "x"], "properties": {
            "path": {"type": "string", "description": "The file."}, "x": {"type": "integer"}}});
        let card = Card::reading("look", "L", "d");
        let definition = ToolDefinition { card: card.clone(), input: Schema::new(input), output: None };
        for empty in [json!({}), Value::Null] {
            let said = missing_arguments(&definition, &empty).unwrap();
            assert_eq!(
                said,
                "look has no arguments, or they could not be parsed. It needs:\n\
                 `path`: The file.\n`x`"
            );
        }
        assert_eq!(missing_arguments(&definition, &json!({"path": "a"})), None);
        let free = Schema::new(json!({"type": "object", "properties": {}, "required": []}));
        assert_eq!(missing_arguments(&ToolDefinition { card, input: free, output: None }, &json!({})), None);
    }
}
