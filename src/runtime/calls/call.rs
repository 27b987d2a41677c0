//! The path of one call: tool, rules, approval, hooks, the tool's code, result, hooks, record.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::approve::{CallStopReason, PlannedCall, approval_request};
use super::record::CallRecorder;
use crate::analysis::error::{ErrorCode, ToolError, from_panic_text, panic_text};
use crate::policy::approval::{ApprovalRequest, Approver, NobodyToAsk};
use crate::policy::grants::Grant;
use crate::policy::name::canonical_name;
use crate::policy::request::{CallSubjects, Effect, PolicyDecision, PolicyRequest, PolicyVerdict};
use crate::runtime::Runtime;
use crate::tools::agent::tool_finder;
use crate::tools::agent::tool_finder::TOOLS;
use crate::tools::api::argument_aliases::in_own_words;
use crate::tools::api::edit_scheduler::CallArrival;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{
    AnyTool, Call, Caller, PreparedCall, PreparedRun, ToolDefinition, ToolDirectory,
};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::approval_reason;

/// One call by name, as a door receives it.
pub struct CallRequest<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// Its arguments: an object.
    pub arguments: Value,
    /// The caller, the approver and the limits of the call.
    pub(crate) options: CallOptions<'a>,
}

/// Options of a call: caller, approver, undo group, id, cancellation and time limit.
pub(crate) struct CallOptions<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// Approves calls that no policy rule decides.
    pub approver: &'a dyn Approver,
    /// Edits of all calls with the same group are undone together.
    pub group: Option<&'a str>,
    /// The caller's id for this call; generated if absent.
    pub id: Option<&'a str>,
    /// Cancels the call, for example if its caller disconnects.
    pub cancelled: CancellationToken,
    /// The time limit of the call; if absent, the general limit for tools in the settings.
    pub limit: Option<Duration>,
}

impl<'a> CallOptions<'a> {
    /// Creates the options for a call of `caller` without an approver or a group. Only its time
    /// limit ends it.
    pub(crate) fn new(caller: &'a Caller) -> Self {
        let (approver, cancelled) = (&NobodyToAsk, CancellationToken::new());
        Self { caller, approver, group: None, id: None, cancelled, limit: None }
    }
}

impl<'a> CallRequest<'a> {
    /// Creates a call without an approver or a group. Only its time limit ends it.
    pub fn new(name: &'a str, arguments: Value, caller: &'a Caller) -> Self {
        Self { name, arguments, options: CallOptions::new(caller) }
    }

    /// Sets the approver for calls that the rules leave undecided.
    pub fn approved_by(mut self, approver: &'a dyn Approver) -> Self {
        self.options.approver = approver;
        self
    }

    /// Puts the call into a group whose edits are undone together.
    pub fn in_group(mut self, group: Option<&'a str>) -> Self {
        self.options.group = group;
        self
    }

    /// Sets the caller's id for the call.
    pub(crate) fn known_as(mut self, id: Option<&'a str>) -> Self {
        self.options.id = id;
        self
    }

    /// Sets a token that cancels the call.
    pub fn with_cancellation(mut self, cancelled: CancellationToken) -> Self {
        self.options.cancelled = cancelled;
        self
    }
}

/// The outcome of a call.
pub(super) struct ConductedCall {
    pub(super) result: ToolResult,
    /// Messages of hooks, and the names of hooks that failed. The result includes them as well.
    pub(super) hook_notes: Vec<String>,
    /// True if a hook replaced the tool's answer.
    pub(super) replaced: bool,
}

impl ConductedCall {
    pub(super) fn new(result: ToolResult) -> Self {
        Self { result, hook_notes: Vec::new(), replaced: false }
    }
}

impl Runtime {
    /// The tools listed for `caller`, by name. Without a chosen profile or tool list, the profile
    /// is `core`.
    pub fn definitions(&self, caller: &Caller) -> Vec<ToolDefinition> {
        let policy = self.policy_of(caller);
        let listed =
            |definition: &ToolDefinition| policy.lists(&definition.card.name, definition.card.effect);
        self.offer().tools.definitions(listed).into_iter().cloned().collect()
    }

    /// The tools listed for `caller` or for any agent in the settings. Hosts that run agents within
    /// a session offer both.
    pub(crate) fn definitions_with_agents(&self, caller: &Caller) -> Vec<ToolDefinition> {
        let agents = self.policy().agents().keys().map(|agent| Some(agent.as_str()));
        let policies: Vec<_> =
            agents.chain([None]).map(|agent| self.policy().for_caller(&caller.access, agent)).collect();
        let listed = |definition: &ToolDefinition| {
            let card = &definition.card;
            policies.iter().any(|policy| policy.lists(&card.name, card.effect))
        };
        self.offer().tools.definitions(listed).into_iter().cloned().collect()
    }

    /// Returns true if a tool called `name` exists and neither the profile nor the tool lists hide
    /// it from `caller`.
    pub fn is_offered(&self, caller: &Caller, name: &str) -> bool {
        self.offered_tool(caller, name).is_ok()
    }

    /// Returns the approval that the call needs before it runs. Returns `None` if the rules allow
    /// the call, or if it was approved earlier in the caller's session. Hooks do not run.
    ///
    /// # Errors
    /// `unknown_tool`, `invalid_args`, or `denied` if the rules forbid the call.
    pub fn approval_request(
        &self,
        caller: &Caller,
        name: &str,
        arguments: &Value,
    ) -> Result<Option<ApprovalRequest>, ToolError> {
        let (name, arguments) = self.named_call(caller, name, arguments.clone());
        let tool = self.offered_tool(caller, &name)?;
        let tool = tool.as_ref();
        let arguments = own_arguments(&name, arguments, tool.definition());
        let subjects = self.prepare(tool, &arguments)?.subjects;
        let decision = self.decide_call(caller, tool, &subjects);
        match decision.verdict {
            PolicyVerdict::Allow => Ok(None),
            PolicyVerdict::Ask if self.has_grant(caller, tool, &subjects, &arguments) => Ok(None),
            PolicyVerdict::Ask => {
                Ok(Some(approval_request(tool.definition(), &subjects, &arguments, decision.why)))
            }
            PolicyVerdict::Deny => Err(decision.denial()),
        }
    }

    /// Decides a call by the policy rules and names the deciding rule. Runs nothing and requests no
    /// approval.
    ///
    /// # Errors
    /// `unknown_tool` and `invalid_args`.
    pub fn check_call(
        &self,
        caller: &Caller,
        name: &str,
        arguments: &Value,
    ) -> Result<PolicyDecision, ToolError> {
        let (name, arguments) = self.named_call(caller, name, arguments.clone());
        let tool = self.tool(&name)?;
        let tool = tool.as_ref();
        let arguments = own_arguments(&name, arguments, tool.definition());
        Ok(self.decide_call(caller, tool, &self.prepare(tool, &arguments)?.subjects))
    }

    /// Calls a tool by name. Failures are returned as results too, so that doors only translate.
    pub async fn call(&self, request: CallRequest<'_>) -> ToolResult {
        self.call_with(request, |tool, arguments| (tool, arguments)).await.result
    }

    /// Runs one call, the common path of all calls. `adapted` maps the tool and the arguments to
    /// those that run.
    pub(super) async fn call_with(
        &self,
        request: CallRequest<'_>,
        adapted: impl FnOnce(Arc<dyn AnyTool>, Value) -> (Arc<dyn AnyTool>, Value) + Send,
    ) -> ConductedCall {
        let CallRequest { name, arguments, options } = request;
        let (name, arguments) = self.named_call(options.caller, name, arguments);
        let (called, name) = (&name, self.own_name(&name));
        let request = CallRequest { name: &name, arguments, options };
        let cancelled = request.options.cancelled.clone();
        let caller = request.options.caller;
        let _running = self.tally.begin_session_call(request.name, &caller.session);
        let arrival = self.state.edit_scheduler.arrive();
        let mut record = CallRecorder::new(self.audit.as_deref(), caller, request.name, &request.arguments)
            .shown_in(&self.feed, &request.arguments);
        let call = self.call_checked(called, request, adapted, &arrival, &mut record);
        let call = std::panic::AssertUnwindSafe(call).catch_unwind();
        let outcome = tokio::select! {
            outcome = call => outcome,
            () = cancelled.cancelled() => {
                let error = ToolError::new(ErrorCode::Cancelled, "the call was cancelled by its caller");
                Ok(Err(error.into()))
            }
        };
        let conducted = match outcome {
            Ok(Ok(conducted)) => conducted,
            Ok(Err(CallStopReason::Refused(result))) => ConductedCall::new(result),
            Ok(Err(CallStopReason::Error(error))) => ConductedCall::new(ToolResult::from_error(&error)),
            Err(panic) => ConductedCall::new(panic_result(panic.as_ref())),
        };
        record.record_result(&conducted.result);
        conducted
    }

    async fn call_checked(
        &self,
        called: &str,
        request: CallRequest<'_>,
        adapted: impl FnOnce(Arc<dyn AnyTool>, Value) -> (Arc<dyn AnyTool>, Value) + Send,
        arrival: &CallArrival,
        record: &mut CallRecorder<'_>,
    ) -> Result<ConductedCall, CallStopReason> {
        let CallRequest { name, arguments, options } = request;
        let CallOptions { caller, approver, .. } = options;
        let tool = self.find_offered_tool(caller, name).await?;
        let arguments = own_arguments(called, arguments, tool.definition());
        let (tool, arguments) = adapted(tool, arguments);
        let tool = tool.as_ref();
        let PreparedCall { subjects, run } = self.prepare(tool, &arguments)?;
        let mut call = PlannedCall { tool, caller, approver, arguments, subjects };
        record.record_subjects(call.effect(), &call.subjects);
        self.authorize_planned(&call, record).await?;
        let hooks = self.hooks_now()?;
        let run = self.run_before_hooks(&mut call, &hooks, record).await?.unwrap_or(run);
        let result = self.run(run, &call, &options, arrival).await;
        let result = result.unwrap_or_else(|error| ToolResult::from_error(&error));
        Ok(self.run_after_hooks(&call, result, &hooks, record).await)
    }

    /// Runs the tool's own code within the time limit.
    async fn run(
        &self,
        run: Box<dyn PreparedRun + '_>,
        planned: &PlannedCall<'_>,
        options: &CallOptions<'_>,
        arrival: &CallArrival,
    ) -> Result<ToolResult, ToolError> {
        let limit = options.limit.unwrap_or(self.context.config.settings.deadlines.tool);
        // Cancelled when this function returns or is dropped, so that nothing started by the tool
        // outlives it.
        let cancelled = options.cancelled.child_token();
        let _cancel_on_drop = cancelled.clone().drop_guard();
        let limits = self.policy_of(planned.caller).limits(&planned.request());
        let current = self.context();
        let narrowed = (!limits.is_none()).then(|| current.with_limits(limits));
        let context = narrowed.as_ref().unwrap_or(&current);
        let CallOptions { caller, approver, group, .. } = *options;
        let id = options.id.map_or_else(|| arrival.name(), ToOwned::to_owned);
        let call = Call {
            context,
            state: &self.state,
            tools: self,
            caller,
            approver,
            group,
            id: &id,
            arrival,
            cancelled,
        };
        let run = std::panic::AssertUnwindSafe(run.run(call)).catch_unwind();
        match tokio::time::timeout(limit, run).await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => Ok(panic_result(panic.as_ref())),
            Err(_) => Err(timeout_error(&planned.definition().card.name, limit)),
        }
    }

    /// Finds the tool called `name`, built-in or from another program.
    ///
    /// The folders of drop-in tools are searched only for names that no built-in tool has. They
    /// take precedence over tools of other programs.
    fn tool(&self, name: &str) -> Result<Arc<dyn AnyTool>, ToolError> {
        if let Ok(tool) = self.tools.get(name) {
            return Ok(Arc::clone(tool));
        }
        let offered = self.offer().tools.get(name).map(Arc::clone);
        offered.or_else(|unknown| self.tools.get(&canonical_name(name)).map(Arc::clone).map_err(|_| unknown))
    }

    /// Resolves an alias of a tool to the tool's own name. Returns `name` itself if no tool
    /// matches.
    pub(crate) fn own_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.tool(name) {
            Ok(tool) if tool.definition().card.name != name => {
                Cow::Owned(tool.definition().card.name.to_string())
            }
            _ => Cow::Borrowed(name),
        }
    }

    /// Resolves the tool and arguments of a call. For a call of `tools` that is offered to
    /// `caller`, these are the ones named in its arguments.
    pub(crate) fn named_call<'n>(
        &self,
        caller: &Caller,
        name: &'n str,
        arguments: Value,
    ) -> (Cow<'n, str>, Value) {
        match canonical_name(name) == TOOLS && self.is_offered(caller, TOOLS) {
            true => tool_finder::named_call(arguments)
                .unwrap_or_else(|arguments| (Cow::Borrowed(name), arguments)),
            false => (Cow::Borrowed(name), arguments),
        }
    }

    /// Finds the tool called `name`, if it is visible to the caller. Waits for sources that may
    /// still report the tool.
    pub(super) async fn find_offered_tool(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<Arc<dyn AnyTool>, ToolError> {
        if self.tool(name).is_err() {
            let sources = self.sources.iter().map(|source| source.wait_until_known(Some(name)));
            futures::future::join_all(sources).await;
        }
        self.offered_tool(caller, name)
    }

    /// Finds the tool called `name`, if it is visible to the caller.
    fn offered_tool(&self, caller: &Caller, name: &str) -> Result<Arc<dyn AnyTool>, ToolError> {
        let tool = self.tool(name)?;
        let card = &tool.definition().card;
        match self.policy_of(caller).not_offered(&card.name, card.effect) {
            Some(decision) => Err(decision.denial()),
            None => Ok(tool),
        }
    }

    /// Parses the arguments of a call. If a path in its subjects resolves elsewhere through links,
    /// both paths count.
    pub(super) fn prepare<'t>(
        &self,
        tool: &'t dyn AnyTool,
        arguments: &Value,
    ) -> Result<PreparedCall<'t>, ToolError> {
        let PreparedCall { subjects, run } = tool.prepare(&self.context, arguments)?;
        let subjects = self.with_real(subjects);
        let subjects = match subjects.effect(tool.definition().card.effect) {
            Effect::Edit => self.with_governing(subjects),
            _ => subjects,
        };
        Ok(PreparedCall { subjects, run })
    }

    /// Adds the reason for approval if a changed path is one that always needs approval.
    pub(super) fn with_governing(&self, mut subjects: CallSubjects) -> CallSubjects {
        let workspace = &self.context.workspace;
        let listed = subjects.paths.iter().find_map(|path| Some((path, approval_reason(path.as_path())?)));
        let of_git = || {
            let named = workspace.named_by_git_config();
            let is_named =
                |path: &&WorkspacePath| named.iter().any(|git| path.as_path().starts_with(git.as_path()));
            subjects
                .paths
                .iter()
                .find(is_named)
                .map(|path| (path, "git's configuration names it as a program or file to use"))
        };
        subjects.governs = listed
            .or_else(of_git)
            .map(|(path, reason)| format!("`{}` would be changed, and {reason}", path.display()));
        subjects
    }

    pub(super) fn with_real(&self, mut subjects: CallSubjects) -> CallSubjects {
        let real = subjects.paths.iter().filter_map(|path| self.context.workspace.resolve_links(path));
        for path in real.collect::<Vec<_>>() {
            if !subjects.paths.contains(&path) {
                subjects.paths.push(path);
            }
        }
        subjects
    }

    /// Returns true if this call has been approved for the rest of the caller's session.
    fn has_grant(
        &self,
        caller: &Caller,
        tool: &dyn AnyTool,
        subjects: &CallSubjects,
        arguments: &Value,
    ) -> bool {
        let card = &tool.definition().card;
        let request = PolicyRequest { tool: &card.name, effect: subjects.effect(card.effect), subjects };
        self.grants.contains(&Grant::new(&caller.session, caller.agent.as_deref(), &request, arguments))
    }

    fn decide_call(&self, caller: &Caller, tool: &dyn AnyTool, subjects: &CallSubjects) -> PolicyDecision {
        let card = &tool.definition().card;
        let effect = subjects.effect(card.effect);
        self.decide(caller, &PolicyRequest { tool: &card.name, effect, subjects })
    }
}

impl ToolDirectory for Runtime {
    fn callable(&self, caller: &Caller) -> Vec<ToolDefinition> {
        let policy = self.policy_of(caller);
        let offered =
            |definition: &ToolDefinition| policy.offers(&definition.card.name, definition.card.effect);
        self.offer().tools.definitions(offered).into_iter().cloned().collect()
    }

    fn callable_tool(&self, caller: &Caller, name: &str) -> Result<ToolDefinition, ToolError> {
        self.offered_tool(caller, name).map(|tool| tool.definition().clone())
    }
}

fn timeout_error(tool: &str, limit: Duration) -> ToolError {
    let error = format!("{tool} was ended because it took longer than {} ms", limit.as_millis());
    ToolError::new(ErrorCode::Timeout, error)
        .with_hint("request less at once; `tool` under [deadlines] in lsp-tools.toml sets the limit")
}

/// Turns a panic of a tool into a result.
fn panic_result(panic: &(dyn std::any::Any + Send)) -> ToolResult {
    let what = panic_text(panic);
    tracing::error!("a tool panicked: {what}");
    let error = from_panic_text(&what).unwrap_or_else(|| {
        ToolError::new(
            ErrorCode::Internal,
            "the tool failed because of an internal error; details are in the log",
        )
    });
    ToolResult { error: Some(what), ..ToolResult::from_error(&error) }
}

/// Translates the arguments of a caller that knows the tool as `called` into those of its schema.
pub(super) fn own_arguments(called: &str, arguments: Value, definition: &ToolDefinition) -> Value {
    in_own_words(called, definition, without_nulls(arguments, definition))
}

/// Replaces `null` values of optional arguments at any depth by their absence. Strict schemas force
/// models to write these `null` values.
pub(super) fn without_nulls(arguments: Value, definition: &ToolDefinition) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        other => without_optional_nulls(other, definition.input.as_value()),
    }
}

/// Returns `value` without the `null` values of properties that are optional in `schema`.
fn without_optional_nulls(value: Value, schema: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let required = schema.get("required").and_then(Value::as_array);
            let needed = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
            let properties = &schema["properties"];
            // A `null` under a name unknown to the schema is data.
            let left_out = |name: &str| properties.get(name).is_some() && !needed(name);
            let kept = map.into_iter().filter(|(name, value)| !value.is_null() || !left_out(name));
            kept.map(|(name, value)| {
                let value = without_optional_nulls(value, &properties[&name]);
                (name, value)
            })
            .collect()
        }
        Value::Array(items) => {
            items.into_iter().map(|item| without_optional_nulls(item, &schema["items"])).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_arguments_for_optional_properties_are_removed_at_any_depth() {
        let schema = json!({
            "properties": {
                "a": {"type": "string"},
                "needed": {"type": ["string", "null"]},
                "edits": {"items": {"properties": {"old": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["old"]}},
            },
            "required": ["needed"],
        });
        let given = json!({"a": null, "needed": null, "edits": [{"old": "x", "all": null}, {"old": null}], "free": null});
        assert_eq!(
            without_optional_nulls(given, &schema),
            json!({"needed": null, "edits": [{"old": "x"}, {"old": null}], "free": null})
        );
    }
}
