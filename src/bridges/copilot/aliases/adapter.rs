//! The definition of an alias: its arguments, its description, and its mapping to our tools.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::{AliasAnswer, AliasError};
use super::context::{AliasCallOptions, AliasContext};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::Effect;
use crate::runtime::Runtime;
use crate::tools::api::export::{ToolListFormat, export};
use crate::tools::api::schema::Schema;
use crate::tools::api::tool::{Caller, Card, ToolDefinition};

/// The effect of registering an alias on the server's own list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasClass {
    /// The server has tools that write through a client's tool of this name, and offers them only
    /// with it. It computes the edit; ours writes the file.
    Unlocks,
    /// The server has a tool of this name, which ours replaces.
    Replaces,
    /// The server has no tool of this name.
    New,
}

/// The metadata of an alias.
#[derive(Debug, Clone, Copy)]
pub(super) struct AliasMetadata {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// The effect on the outside world.
    pub(crate) effect: Effect,
    pub(crate) class: AliasClass,
    pub(crate) by_default: bool,
    pub(crate) why: &'static str,
    /// Our tools that it calls.
    pub(crate) uses: &'static [&'static str],
    /// The author of the arguments.
    pub(crate) written_by: WrittenBy,
}

/// The author of a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrittenBy {
    /// A model. An unknown field is an error, since the model meant something by it.
    Model,
    /// The server itself, in the form of its version. Unknown fields are ignored, so that an edit
    /// does not fail because of them.
    Server,
}

/// The implementation of an alias.
pub(super) trait AliasAdapter: 'static {
    /// The arguments, whose doc comments are shown to models.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// The metadata.
    const ABOUT: AliasMetadata;

    /// Runs the call.
    fn run(
        context: &AliasContext<'_>,
        args: Self::Args,
    ) -> impl Future<Output = Result<AliasAnswer, AliasError>> + Send;
}

/// The type-erased implementation of an alias.
pub(super) type AliasRunner =
    for<'a> fn(&'a AliasContext<'a>, Value) -> BoxFuture<'a, Result<AliasAnswer, AliasError>>;

/// An alias.
#[derive(Debug)]
pub struct AliasName {
    metadata: AliasMetadata,
    definition: ToolDefinition,
    run: AliasRunner,
}

impl AliasName {
    /// The name used by the server and its models.
    pub(crate) fn name(&self) -> &'static str {
        self.metadata.name
    }

    /// The effect of its registration on the server's list.
    pub fn class(&self) -> AliasClass {
        self.metadata.class
    }

    /// Returns true if it is registered by default, which is the case if it does not replace a
    /// better tool of the server.
    pub fn by_default(&self) -> bool {
        self.metadata.by_default
    }

    /// The reason for that default, in one sentence without a full stop.
    pub(crate) fn why(&self) -> &'static str {
        self.metadata.why
    }

    /// Our tools that it adapts.
    pub fn uses(&self) -> &'static [&'static str] {
        self.metadata.uses
    }

    /// The description for models, and the schema that validates arguments.
    pub(crate) fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Returns its entry in the parameters of `conversation/registerTools`.
    pub(crate) fn registration(&self) -> Value {
        // One tool is within every limit of the format, so there is always exactly one entry.
        export(ToolListFormat::Copilot, [&self.definition])
            .ok()
            .and_then(|exported| exported.tools.into_iter().next())
            .unwrap_or_default()
    }

    /// Returns true if `caller` may call all tools that it adapts.
    pub(crate) fn is_offered(&self, runtime: &Runtime, caller: &Caller) -> bool {
        self.uses().iter().all(|tool| runtime.is_offered(caller, tool))
    }

    /// Calls it. Failures are returned as answers as well.
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
        // The schema follows from the type, so this fails only on constraints that a schema cannot
        // express.
        let args = serde_json::from_value(input).map_err(|error| {
            let what = format!("{}: the arguments are invalid: {error}", F::ABOUT.name);
            ToolError::new(ErrorCode::InvalidArgs, what)
        })?;
        F::run(context, args).await
    })
}

/// Validates the arguments, after removing the `null` values that models write for optional
/// properties.
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
