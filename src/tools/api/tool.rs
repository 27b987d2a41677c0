//! The trait `Tool`: a typed function with a card, and its form in a registry.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Debug;
use std::future::Future;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::edit_scheduler::CallArrival;
use super::path_suggestion::with_path_suggestion;
use super::result::ToolResult;
use super::schema::{OutputSchema, Schema};
use super::tool_state::ToolState;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::approval::Approver;
use crate::policy::caller::CallerAccess;
use crate::policy::request::{CallSubjects, Effect};

/// The description of a tool for models and people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The name for calls: `a-z`, `0-9` and `_`.
    pub name: Cow<'static, str>,
    /// A short title for people.
    pub title: Cow<'static, str>,
    /// The purpose, when to use the tool and when not, and its result. The text is a prompt.
    pub description: Cow<'static, str>,
    /// The effect of a call.
    pub effect: Effect,
    /// True if a call may destroy data. Only relevant if the effect is not `read`.
    pub destructive: bool,
    /// True if a second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// The position in lists, from 1, by frequency of use: hosts truncate lists at their end. Tools
    /// without a rank follow by name.
    pub rank: Option<u8>,
    /// True if the tool is in the profile `core`.
    pub core: bool,
    /// True if the tool is in the profile `lsp`, for hosts with their own tools to read, search and
    /// edit files. Such a tool asks language servers, or reverts edits of the host's tools.
    pub lsp: bool,
    /// True if `undo` can revert its edits.
    pub undoable: bool,
    /// True if its answer depends on unsaved texts.
    pub overlaid: bool,
    /// True if a call may run for minutes.
    pub long: bool,
}

impl Card {
    /// A card for a tool that only reads.
    pub const fn reading(name: &'static str, title: &'static str, description: &'static str) -> Self {
        Self::new(name, title, description, Effect::Read)
    }

    /// A card for a tool with `effect`; not destructive, and idempotent if it only reads.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        effect: Effect,
    ) -> Self {
        Self::from_parts(Cow::Borrowed(name), Cow::Borrowed(title), Cow::Borrowed(description), effect)
    }

    /// Like [`new`](Self::new), with texts that are known only at run time.
    pub(crate) const fn from_parts(
        name: Cow<'static, str>,
        title: Cow<'static, str>,
        description: Cow<'static, str>,
        effect: Effect,
    ) -> Self {
        Self {
            name,
            title,
            description,
            effect,
            destructive: false,
            idempotent: matches!(effect, Effect::Read),
            rank: None,
            core: true,
            lsp: false,
            undoable: false,
            overlaid: false,
            long: false,
        }
    }

    /// Sets the position in lists, from 1.
    pub(crate) const fn with_rank(mut self, rank: u8) -> Self {
        self.rank = Some(rank);
        self
    }

    /// Removes the tool from the profile `core`.
    pub const fn beyond_core(mut self) -> Self {
        self.core = false;
        self
    }

    /// Adds the tool to the profile `lsp`.
    pub const fn in_lsp_profile(mut self) -> Self {
        self.lsp = true;
        self
    }

    /// Marks the tool as one whose edits `undo` can revert.
    pub const fn undoable(mut self) -> Self {
        self.undoable = true;
        self
    }

    /// Marks the tool as one that sees unsaved texts.
    pub(crate) const fn overlaid(mut self) -> Self {
        self.overlaid = true;
        self
    }

    /// Marks the tool as one that may run for minutes.
    pub const fn long(mut self) -> Self {
        self.long = true;
        self
    }

    /// Marks the tool as one that may destroy data.
    pub const fn destructive(mut self) -> Self {
        self.destructive = true;
        self
    }

    /// Marks the tool as one whose repeated calls change nothing more.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }
}

/// The caller of a tool. State that outlives a call (todo lists, approvals) belongs to the caller's
/// session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The session's name: letters, digits, `-`, `_` and `.`.
    pub session: String,
    /// The agent on whose behalf the tool is called. It must be in the settings, and its rights
    /// never exceed the session's.
    pub agent: Option<String>,
    /// The caller's selection of tools, and its consent.
    pub access: CallerAccess,
}

impl Default for Caller {
    fn default() -> Self {
        Self { session: "default".to_owned(), agent: None, access: CallerAccess::default() }
    }
}

impl Caller {
    /// The caller that types a tool's name at a shell. Typing is approval: rules with `ask` allow
    /// the call, rules with `deny` still forbid it.
    pub fn at_shell() -> Self {
        Self { session: "shell".to_owned(), agent: None, access: CallerAccess::typed() }
    }
}

/// All tools, for a tool that describes them.
pub(crate) trait ToolDirectory: Debug + Send + Sync {
    /// The tools that `caller` may call, listed or not, by name.
    fn callable(&self, caller: &Caller) -> Vec<ToolDefinition>;

    /// The definition of one of them. Names of other programs for a tool are accepted too.
    ///
    /// # Errors
    /// `unknown_tool` with the nearest names, `denied`.
    fn callable_tool(&self, caller: &Caller, name: &str) -> Result<ToolDefinition, ToolError>;
}

/// The environment of a running call.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The workspace, servers and settings.
    pub context: &'a Context,
    /// The state that tools keep between calls.
    pub(crate) state: &'a ToolState,
    /// All tools, for the one that describes them.
    pub(crate) tools: &'a dyn ToolDirectory,
    /// The caller.
    pub caller: &'a Caller,
    /// Fills in forms that a program behind the tool requests.
    pub approver: &'a dyn Approver,
    /// The group for undo: edits of all calls with the same group are undone together.
    pub(crate) group: Option<&'a str>,
    /// The caller's id of the call.
    pub(crate) id: &'a str,
    /// The arrival of the call.
    pub(crate) arrival: &'a CallArrival,
    /// Cancelled when the caller disconnects or the time is up. Dropping the call's future ends the
    /// call too.
    pub cancelled: CancellationToken,
}

/// A tool: a typed function that a registry can offer. One file holds its types, its card and its
/// code.
///
/// The schemas for models are made from [`Args`](Self::Args) and [`Output`](Self::Output); the doc
/// comments of their fields become the descriptions. Unknown and mistyped arguments never reach
/// [`run`](Self::run).
pub trait Tool: Send + Sync + 'static {
    /// The arguments: a struct with named fields. Every field of an `Option` type may be left out.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The output; see [`ToolResult::from_value`] for the conversion of each shape.
    type Output: Serialize + JsonSchema + Send;

    /// The card of the tool.
    fn card(&self) -> Card;

    /// The subjects of a call with `args`, for the rules that permit or forbid it.
    fn subjects(&self, _context: &Context, _args: &Self::Args) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects::default())
    }

    /// The error for `arguments` whose wording a contract fixes. The schema judges all others.
    fn refusal(&self, _arguments: &Value) -> Option<ToolError> {
        None
    }

    /// Executes a call.
    fn run(
        &self,
        call: Call<'_>,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// The public definition of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The card: name, title, description, effect and more.
    pub card: Card,
    /// The schema of the arguments.
    pub input: Schema,
    /// The schema of a successful answer, if it is known.
    pub(crate) output: Option<OutputSchema>,
}

impl ToolDefinition {
    /// The schema (JSON Schema 2020-12) of a successful answer, if it is known.
    pub fn output_schema(&self) -> Option<Value> {
        self.output.as_ref().map(OutputSchema::to_value)
    }
}

/// A tool without static types, as a registry holds it. [`TypedTool`] makes one of each [`Tool`];
/// tools that are only known at run time implement this trait.
pub(crate) trait AnyTool: Send + Sync {
    /// The public definition.
    fn definition(&self) -> &ToolDefinition;

    /// Parses the arguments of one call, which are not parsed again. Fails if they do not fit the
    /// schema.
    fn prepare<'a>(&'a self, context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError>;
}

/// A call with parsed arguments.
pub(crate) struct PreparedCall<'a> {
    /// The subjects of the call.
    pub subjects: CallSubjects,
    /// The code that executes the call.
    pub run: Box<dyn PreparedRun + 'a>,
}

impl<'a> PreparedCall<'a> {
    /// A call of a tool that takes its arguments as JSON.
    pub(crate) fn of_json<T: JsonTool>(tool: &'a T, subjects: CallSubjects, arguments: &Value) -> Self {
        Self { subjects, run: Box::new(JsonRun { tool, arguments: arguments.clone() }) }
    }
}

/// A tool whose arguments have no static type because they are known only at run time.
pub(crate) trait JsonTool: Send + Sync {
    /// Executes a call.
    fn run_json<'a>(
        &'a self,
        call: Call<'a>,
        arguments: Value,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>>;
}

/// One call of a [`JsonTool`].
struct JsonRun<'a, T> {
    tool: &'a T,
    arguments: Value,
}

impl<T: JsonTool> PreparedRun for JsonRun<'_, T> {
    fn run<'c>(self: Box<Self>, call: Call<'c>) -> BoxFuture<'c, Result<ToolResult, ToolError>>
    where
        Self: 'c,
    {
        self.tool.run_json(call, self.arguments)
    }
}

/// The code that executes one call, with its arguments.
pub(crate) trait PreparedRun: Send {
    /// Executes the call.
    fn run<'c>(self: Box<Self>, call: Call<'c>) -> BoxFuture<'c, Result<ToolResult, ToolError>>
    where
        Self: 'c;
}

/// A [`Tool`] in a registry.
#[derive(Debug)]
pub(crate) struct TypedTool<T> {
    tool: T,
    definition: ToolDefinition,
}

impl<T: Tool> TypedTool<T> {
    /// Erases the types of `tool`.
    pub(crate) fn new(tool: T) -> Self {
        let definition = ToolDefinition {
            card: tool.card(),
            input: Schema::of_arguments::<T::Args>(),
            output: Some(OutputSchema::of::<T::Output>()),
        };
        Self { tool, definition }
    }
}

impl<T: Tool> AnyTool for TypedTool<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn prepare<'a>(&'a self, context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError> {
        if let Some(refusal) = self.tool.refusal(arguments) {
            return Err(refusal);
        }
        let args = read_args::<T::Args>(&self.definition, arguments)?;
        let subjects = self.tool.subjects(context, &args)?;
        Ok(PreparedCall { subjects, run: Box::new(TypedRun { tool: &self.tool, args }) })
    }
}

/// One call of a [`Tool`].
struct TypedRun<'a, T: Tool> {
    tool: &'a T,
    args: T::Args,
}

impl<T: Tool> PreparedRun for TypedRun<'_, T> {
    fn run<'c>(self: Box<Self>, call: Call<'c>) -> BoxFuture<'c, Result<ToolResult, ToolError>>
    where
        Self: 'c,
    {
        Box::pin(async move { output_result(&run_tool(self.tool, call, self.args).await?) })
    }
}

/// Runs `tool`. If a path does not exist, its error suggests a similar one.
pub(crate) async fn run_tool<T: Tool>(
    tool: &T,
    call: Call<'_>,
    args: T::Args,
) -> Result<T::Output, ToolError> {
    let context = call.context;
    let outcome = tool.run(call, args).await;
    match outcome {
        // Boxed, because it is rarely needed.
        Err(error) if error.missing_path.is_some() => {
            Err(Box::pin(with_path_suggestion(context, error)).await)
        }
        outcome => outcome,
    }
}

/// Checks the arguments against the schema, and converts them to their type.
pub(crate) fn read_args<A: DeserializeOwned>(
    definition: &ToolDefinition,
    arguments: &Value,
) -> Result<A, ToolError> {
    let name = &definition.card.name;
    definition.input.check(name, arguments)?;
    // The schema describes the type, so this fails only for conditions that a schema cannot
    // express.
    A::deserialize(arguments).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("{name}: the arguments are invalid: {error}"))
    })
}

/// Converts a tool's output to the result for every entry point.
pub(crate) fn output_result(output: &impl Serialize) -> Result<ToolResult, ToolError> {
    let mut value = serde_json::to_value(output).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the answer cannot be written as JSON: {error}"))
    })?;
    // Several files or servers may have produced the same note.
    if let Some(notes) = value.get_mut("notes").and_then(Value::as_array_mut) {
        let mut seen = HashSet::new();
        notes.retain(|note| seen.insert(note.clone()));
    }
    Ok(ToolResult::from_value(value))
}
