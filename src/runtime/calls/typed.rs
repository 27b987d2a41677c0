//! Calls with typed arguments and answers, under the same rules, hooks and audit log.

use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::call::{CallOptions, CallRequest, ConductedCall, without_nulls};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::runtime::Runtime;
use crate::tools::api::result::ToolResult;
use crate::tools::api::tool::{
    AnyTool, Call, PreparedCall, PreparedRun, Tool, ToolDefinition, output_result, read_args, run_tool,
};

/// The answer of a typed call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypedAnswer<O> {
    /// The tool's output.
    pub output: O,
    /// Messages of hooks, and the names of hooks that failed.
    pub hook_notes: Vec<String>,
}

impl Runtime {
    /// Calls a built-in tool with typed arguments and a typed answer.
    ///
    /// # Errors
    /// Those of the tool; `denied` by rules and hooks; `timeout`; `internal` if a hook replaced the
    /// answer by one that does not fit the tool's type.
    pub(crate) async fn call_as<T>(
        &self,
        tool: T,
        args: T::Args,
        options: CallOptions<'_>,
    ) -> Result<TypedAnswer<T::Output>, ToolError>
    where
        T: Tool,
        T::Args: Serialize + 'static,
        T::Output: DeserializeOwned + 'static,
    {
        let name = tool.card().name;
        let arguments = serde_json::to_value(&args).map_err(|error| {
            let what = format!("{name}: the arguments cannot be written as JSON: {error}");
            ToolError::new(ErrorCode::InvalidArgs, what)
        })?;
        let outcome = TypedOutcome::<T>::default();
        let slot = Arc::clone(&outcome);
        let typed = |found: Arc<dyn AnyTool>, arguments: Value| {
            let given = without_nulls(arguments, found.definition());
            let call =
                TypedCall { tool, found, given: given.clone(), args: Mutex::new(Some(args)), outcome: slot };
            (Arc::new(call) as Arc<dyn AnyTool>, given)
        };
        let request = CallRequest { name: &name, arguments, options };
        let ConductedCall { result, hook_notes, replaced } = self.call_with(request, typed).await;
        let own = outcome.lock().take().filter(|_| !replaced);
        match own {
            Some(Ok(output)) => Ok(TypedAnswer { output, hook_notes }),
            Some(Err(error)) => Err(with_hook_notes(error, &hook_notes)),
            None if result.ok() => {
                let output = serde_json::from_value(result.value).map_err(|error| {
                    let what = format!("the answer of {name} that a hook returned is invalid: {error}");
                    ToolError::new(ErrorCode::Internal, what)
                })?;
                Ok(TypedAnswer { output, hook_notes })
            }
            None => Err(with_hook_notes(to_tool_error(result), &hook_notes)),
        }
    }
}

/// The typed outcome of a tool, stored for its caller. Empty if the tool did not finish.
type TypedOutcome<T> = Arc<Mutex<Option<Result<<T as Tool>::Output, ToolError>>>>;

/// One call of a tool whose arguments need no parsing.
struct TypedCall<T: Tool> {
    tool: T,
    /// The tool from the registry.
    found: Arc<dyn AnyTool>,
    /// The arguments as rules, hooks and the audit log receive them.
    given: Value,
    /// The arguments, taken by the first preparation.
    args: Mutex<Option<T::Args>>,
    outcome: TypedOutcome<T>,
}

impl<T: Tool> TypedCall<T> {
    /// Takes the arguments; parses them again if a hook has changed them.
    fn take_args(&self, arguments: &Value) -> Result<T::Args, ToolError> {
        if *arguments == self.given
            && let Some(args) = self.args.lock().take()
        {
            return Ok(args);
        }
        read_args(self.found.definition(), arguments)
    }
}

impl<T: Tool> AnyTool for TypedCall<T>
where
    T::Args: 'static,
    T::Output: 'static,
{
    fn definition(&self) -> &ToolDefinition {
        self.found.definition()
    }

    fn prepare<'a>(&'a self, context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError> {
        let args = self.take_args(arguments)?;
        let subjects = self.tool.subjects(context, &args)?;
        Ok(PreparedCall { subjects, run: Box::new(ObservedRun { call: self, args }) })
    }
}

/// The run of a typed call, which stores the tool's typed outcome for its caller.
struct ObservedRun<'a, T: Tool> {
    call: &'a TypedCall<T>,
    args: T::Args,
}

impl<T: Tool> PreparedRun for ObservedRun<'_, T> {
    fn run<'c>(self: Box<Self>, call: Call<'c>) -> BoxFuture<'c, Result<ToolResult, ToolError>>
    where
        Self: 'c,
    {
        Box::pin(async move {
            let outcome = run_tool(&self.call.tool, call, self.args).await;
            let result = outcome.as_ref().map_err(Clone::clone).and_then(output_result);
            *self.call.outcome.lock() = Some(outcome);
            result
        })
    }
}

/// Restores the error that a result was made from.
pub(super) fn to_tool_error(result: ToolResult) -> ToolError {
    let Value::Object(mut fields) = result.value else {
        return ToolError::new(ErrorCode::Internal, "the call failed without a reason");
    };
    let mut text = |key: &str| match fields.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (error, hint) = (text("error"), text("hint"));
    let code = fields.remove("code").and_then(|code| serde_json::from_value(code).ok());
    let error = ToolError {
        hint,
        is_answer: result.is_answer,
        ..ToolError::new(
            code.unwrap_or(ErrorCode::Internal),
            error.unwrap_or_else(|| "the call failed without a reason".to_owned()),
        )
    };
    fields.remove("ok");
    let rest: Map<String, Value> = fields;
    if rest.is_empty() { error } else { error.with_details(&rest) }
}

/// Appends the messages of hooks to the hint of an error.
fn with_hook_notes(mut error: ToolError, hook_notes: &[String]) -> ToolError {
    if !hook_notes.is_empty() {
        let notes = error.hint.iter().cloned().chain(hook_notes.iter().cloned()).collect::<Vec<_>>();
        error.hint = Some(notes.join("; "));
    }
    error
}
