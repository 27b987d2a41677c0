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

use super::context::Context;
use super::edit_scheduler::CallArrival;
use super::error::{ErrorCode, ToolError};
use super::path_suggestion::with_path_suggestion;
use super::result::ToolResult;
use super::schema::{OutputSchema, Schema};
use crate::policy::approval::Approver;
use crate::policy::caller::CallerAccess;
use crate::policy::request::{CallSubjects, Effect};

/// What a model or a person is told of a tool before it is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The name it is called by: `a-z`, `0-9` and `_`.
    pub name: Cow<'static, str>,
    /// A few words for people.
    pub title: Cow<'static, str>,
    /// What it does, when to use it and when not, what comes back. It is a prompt.
    pub description: Cow<'static, str>,
    /// What it does to the world.
    pub effect: Effect,
    /// What it changes may be lost by it. Only of interest where the effect is not `read`.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Its place in lists, from 1, by how often agents use it: hosts cut lists off at their end. The others follow by name.
    pub rank: Option<u8>,
    /// Whether it is one of the profile `core`.
    pub core: bool,
    /// Whether it is one of the profile `lsp`, for hosts that read, search and edit files by tools of their own: it asks language servers, or
    /// takes back what such a tool did.
    pub lsp: bool,
    /// It edits in a way that `undo` takes back.
    pub undoable: bool,
    /// What it answers depends on texts that are not saved.
    pub overlaid: bool,
    /// It may run for minutes.
    pub long: bool,
}

impl Card {
    /// A card for a tool that only reads.
    pub const fn reading(name: &'static str, title: &'static str, description: &'static str) -> Self {
        Self::new(name, title, description, Effect::Read)
    }

    /// A card for a tool with `effect`; not destructive, and idempotent where it only reads.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        effect: Effect,
    ) -> Self {
        Self::from_parts(Cow::Borrowed(name), Cow::Borrowed(title), Cow::Borrowed(description), effect)
    }

    /// As [`new`](Self::new), in words that are known at run time only.
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

    /// The same for the tool that is the `rank`th in lists, from 1.
    pub(crate) const fn with_rank(mut self, rank: u8) -> Self {
        self.rank = Some(rank);
        self
    }

    /// The same for a tool that is not one of the profile `core`.
    pub const fn beyond_core(mut self) -> Self {
        self.core = false;
        self
    }

    /// The same for a tool that is one of the profile `lsp`.
    pub const fn in_lsp_profile(mut self) -> Self {
        self.lsp = true;
        self
    }

    /// The same for a tool whose edits `undo` takes back.
    pub const fn undoable(mut self) -> Self {
        self.undoable = true;
        self
    }

    /// The same for a tool that sees texts which are not saved.
    pub(crate) const fn overlaid(mut self) -> Self {
        self.overlaid = true;
        self
    }

    /// The same for a tool that may run for minutes.
    pub const fn long(mut self) -> Self {
        self.long = true;
        self
    }

    /// The same for a tool that may destroy something.
    pub const fn destructive(mut self) -> Self {
        self.destructive = true;
        self
    }

    /// The same for a tool that may be called twice without doing more.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }
}

/// Who calls: state that outlives a call (todo lists, permissions given) belongs to one caller's session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The session's name: letters, digits, `-`, `_` and `.`.
    pub session: String,
    /// The agent on whose behalf it is called; the settings must know it, and it can only have less than the session.
    pub agent: Option<String>,
    /// What the caller chose of the tools, and whether it has consented by calling.
    pub access: CallerAccess,
}

impl Default for Caller {
    fn default() -> Self {
        Self { session: "default".to_owned(), agent: None, access: CallerAccess::default() }
    }
}

impl Caller {
    /// Whoever typed a tool's name at a shell, which is a yes to that call: where rules say `ask`, it runs. What they deny
    /// stays denied.
    pub fn at_shell() -> Self {
        Self { session: "shell".to_owned(), agent: None, access: CallerAccess::typed() }
    }
}

/// All tools, for a tool that tells of them.
pub(crate) trait ToolDirectory: Debug + Send + Sync {
    /// The tools that `caller` may call, listed or not, by name.
    fn callable(&self, caller: &Caller) -> Vec<ToolDefinition>;

    /// The definition of one of them, also by a name of another program.
    ///
    /// # Errors
    /// `unknown_tool` with the nearest names, `denied`.
    fn callable_tool(&self, caller: &Caller, name: &str) -> Result<ToolDefinition, ToolError>;
}

/// What a tool has at hand while it runs.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Workspace, servers, settings.
    pub context: &'a Context,
    /// All tools, for the one that tells of them.
    pub(crate) tools: &'a dyn ToolDirectory,
    /// Who calls.
    pub caller: &'a Caller,
    /// Who fills in what a program behind the tool wants to know.
    pub approver: &'a dyn Approver,
    /// Edits of all calls with the same group are undone together.
    pub(crate) group: Option<&'a str>,
    /// What its caller knows the call by.
    pub(crate) id: &'a str,
    /// When the call came.
    pub(crate) arrival: &'a CallArrival,
    /// Cancelled when the caller goes away or the time is up; dropping the call's future ends it as well.
    pub cancelled: CancellationToken,
}

/// A tool: a typed function that a registry can offer. One file holds its types, its card and its code.
///
/// The schemas that models see are made from [`Args`](Self::Args) and [`Output`](Self::Output); the doc comments of their
/// fields become the descriptions. Unknown and mistyped arguments never reach [`run`](Self::run).
pub trait Tool: Send + Sync + 'static {
    /// Its arguments: a struct with named fields. Every field of an `Option` type may be left out.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// Its answer; see [`ToolResult::from_value`] for what each shape becomes.
    type Output: Serialize + JsonSchema + Send;

    /// What models are told of it.
    fn card(&self) -> Card;

    /// What a call with `args` will touch, for the rules that permit or forbid it.
    fn subjects(&self, _context: &Context, _args: &Self::Args) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects::default())
    }

    /// The failure of `arguments` whose words a contract fixes; the schema judges all others.
    fn refusal(&self, _arguments: &Value) -> Option<ToolError> {
        None
    }

    /// Does it.
    fn run(
        &self,
        call: Call<'_>,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// A tool as the outside sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Name, title, description, effect.
    pub card: Card,
    /// The schema of its arguments.
    pub input: Schema,
    /// The schema of its successful answer, where that is known.
    pub(crate) output: Option<OutputSchema>,
}

impl ToolDefinition {
    /// The schema (JSON Schema 2020-12) of its successful answer, where that is known.
    pub fn output_schema(&self) -> Option<Value> {
        self.output.as_ref().map(OutputSchema::to_value)
    }
}

/// A tool whose types have been put away: what a registry holds. [`TypedTool`] makes one of each [`Tool`]; tools that are only
/// known at run time are made of this.
pub(crate) trait AnyTool: Send + Sync {
    /// What the outside sees.
    fn definition(&self) -> &ToolDefinition;

    /// Reads the arguments of one call, which are not looked at again; fails where they do not fit the schema.
    fn prepare<'a>(&'a self, context: &Context, arguments: &Value) -> Result<PreparedCall<'a>, ToolError>;
}

/// A call whose arguments have been read.
pub(crate) struct PreparedCall<'a> {
    /// What it will touch.
    pub subjects: CallSubjects,
    /// What does it.
    pub run: Box<dyn PreparedRun + 'a>,
}

impl<'a> PreparedCall<'a> {
    /// A call of a tool that takes its arguments as they came.
    pub(crate) fn of_json<T: JsonTool>(tool: &'a T, subjects: CallSubjects, arguments: &Value) -> Self {
        Self { subjects, run: Box::new(JsonRun { tool, arguments: arguments.clone() }) }
    }
}

/// A tool whose arguments have no type here: what it takes is known at run time alone.
pub(crate) trait JsonTool: Send + Sync {
    /// Does it.
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

/// What does one call, with its arguments.
pub(crate) trait PreparedRun: Send {
    /// Does it.
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
    /// Puts the types of `tool` away.
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

/// Runs `tool`; where a path does not exist, its error says what may be meant.
pub(crate) async fn run_tool<T: Tool>(
    tool: &T,
    call: Call<'_>,
    args: T::Args,
) -> Result<T::Output, ToolError> {
    let context = call.context;
    let outcome = tool.run(call, args).await;
    match outcome {
        // Boxed, since it is seldom needed.
        Err(error) if error.missing_path.is_some() => {
            Err(Box::pin(with_path_suggestion(context, error)).await)
        }
        outcome => outcome,
    }
}

/// Arguments as what they are, once they fit the schema.
pub(crate) fn read_args<A: DeserializeOwned>(
    definition: &ToolDefinition,
    arguments: &Value,
) -> Result<A, ToolError> {
    let name = &definition.card.name;
    definition.input.check(name, arguments)?;
    // The schema says the same as the type, so this only fails on what a schema cannot say.
    A::deserialize(arguments).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArgs, format!("{name}: the arguments cannot be used: {error}"))
    })
}

/// What a tool found, as the result that every door gives.
pub(crate) fn output_result(output: &impl Serialize) -> Result<ToolResult, ToolError> {
    let mut value = serde_json::to_value(output).map_err(|error| {
        ToolError::new(ErrorCode::Internal, format!("the answer cannot be put into JSON: {error}"))
    })?;
    // Several files or servers may have had the same to say.
    if let Some(notes) = value.get_mut("notes").and_then(Value::as_array_mut) {
        let mut seen = HashSet::new();
        notes.retain(|note| seen.insert(note.clone()));
    }
    Ok(ToolResult::from_value(value))
}
