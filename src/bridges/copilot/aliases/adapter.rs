//! The form of an alias: its arguments, its description, and its way to the tools.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::{AliasAnswer, AliasError};
use super::context::{AliasCallOptions, AliasContext};
use crate::policy::request::Effect;
use crate::runtime::Runtime;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::export::{ToolListFormat, export};
use crate::tools::schema::Schema;
use crate::tools::tool::{Caller, Card, ToolDefinition};

/// What registering a name does to the server's own list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasClass {
    /// The server has tools that write through a client's tool of this name, and offers them only then: it computes the edit,
    /// ours does the write.
    Unlocks,
    /// The server has a tool of this name, which ours takes the place of.
    Replaces,
    /// The server has none of this name.
    New,
}

/// What is said of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct AliasMetadata {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// What it does to the world.
    pub(crate) effect: Effect,
    pub(crate) class: AliasClass,
    pub(crate) by_default: bool,
    pub(crate) why: &'static str,
    /// The tools of ours that it calls.
    pub(crate) uses: &'static [&'static str],
    /// Who writes the arguments.
    pub(crate) written_by: WrittenBy,
}

/// Who writes the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenBy {
    /// A model: a field that is not known is told, since it meant something.
    Model,
    /// The server itself, in the forms of its version: fields that are not known are passed over, since an edit must not fail
    /// by them.
    Server,
}

/// How one of the names does its work.
pub(super) trait AliasAdapter: 'static {
    /// Its arguments; their doc comments are what models read.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// What is said of it.
    const ABOUT: AliasMetadata;

    /// Does it.
    fn run(
        context: &AliasContext<'_>,
        args: Self::Args,
    ) -> impl Future<Output = Result<AliasAnswer, AliasError>> + Send;
}

/// An adapter with its types put away: what runs one of the names.
pub(super) type AliasRunner =
    for<'a> fn(&'a AliasContext<'a>, Value) -> BoxFuture<'a, Result<AliasAnswer, AliasError>>;

/// One of the names.
#[derive(Debug)]
pub struct AliasName {
    metadata: AliasMetadata,
    definition: ToolDefinition,
    run: AliasRunner,
}

impl AliasName {
    /// The name that the server and its models know.
    pub(crate) fn name(&self) -> &'static str {
        self.metadata.name
    }

    /// What registering it does to the server's list.
    pub fn class(&self) -> AliasClass {
        self.metadata.class
    }

    /// Whether it is registered where nobody chose: when that takes no better tool away from the server.
    pub fn by_default(&self) -> bool {
        self.metadata.by_default
    }

    /// Why so, in one sentence without a full stop.
    pub(crate) fn why(&self) -> &'static str {
        self.metadata.why
    }

    /// The tools of ours that it adapts.
    pub fn uses(&self) -> &'static [&'static str] {
        self.metadata.uses
    }

    /// What models are told of it, and the schema that arguments are checked against.
    pub(crate) fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Its entry in the parameters of `conversation/registerTools`.
    pub(crate) fn registration(&self) -> Value {
        // One tool is within every limit of the format, so that there is always exactly one entry.
        export(ToolListFormat::Copilot, [&self.definition])
            .ok()
            .and_then(|exported| exported.tools.into_iter().next())
            .unwrap_or_default()
    }

    /// Whether `caller` may call the tools that it adapts.
    pub(crate) fn is_offered(&self, runtime: &Runtime, caller: &Caller) -> bool {
        self.uses().iter().all(|tool| runtime.is_offered(caller, tool))
    }

    /// Calls it. Every failure is an answer as well.
    pub(super) async fn call(
        &self,
        runtime: &Runtime,
        input: Value,
        options: &AliasCallOptions<'_>,
    ) -> AliasAnswer {
        let input = match check_arguments(&self.metadata, &self.definition, input) {
            Ok(input) => input,
            Err(error) => return AliasError::from(error).into(),
        };
        let context = AliasContext { runtime, options };
        (self.run)(&context, input).await.unwrap_or_else(AliasAnswer::from)
    }
}

pub(super) fn entry<F: AliasAdapter>() -> AliasName {
    let AliasMetadata { name, title, description, effect, .. } = F::ABOUT;
    let definition = ToolDefinition {
        card: Card::new(name, title, description, effect),
        input: Schema::of_arguments::<F::Args>(),
        output: None,
    };
    AliasName { metadata: F::ABOUT, definition, run: run::<F> }
}

fn run<'a, F: AliasAdapter>(
    context: &'a AliasContext<'a>,
    input: Value,
) -> BoxFuture<'a, Result<AliasAnswer, AliasError>> {
    Box::pin(async move {
        // The schema says the same as the type, so this only fails on what a schema cannot say.
        let args = serde_json::from_value(input).map_err(|error| {
            let what = format!("{}: the arguments cannot be used: {error}", F::ABOUT.name);
            ToolError::new(ErrorCode::InvalidArgs, what)
        })?;
        F::run(context, args).await
    })
}

/// The arguments, checked; without nulls for what may be left out, which models write.
fn check_arguments(
    about: &AliasMetadata,
    definition: &ToolDefinition,
    input: Value,
) -> Result<Value, ToolError> {
    let schema = definition.input.as_value();
    let needed = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|known| known == name))
    };
    let known = |name: &str| schema.pointer("/properties").and_then(|known| known.get(name)).is_some();
    let input = match input {
        Value::Null => Value::Object(Map::new()),
        Value::Object(map) => map
            .into_iter()
            .filter(|(name, value)| !value.is_null() || needed(name))
            .filter(|(name, _)| about.written_by == WrittenBy::Model || known(name))
            .collect(),
        other => other,
    };
    definition.input.check(about.name, &input)?;
    Ok(input)
}
