//! The form of an alias: its arguments, its description, and its way to the tools.

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::context::{AliasContext, AliasError};
use super::{AliasAnswer, AliasClass, AliasName};
use crate::policy::request::Effect;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::schema::{Schema, input_schema};
use crate::tools::tool::{Card, ToolDefinition};

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

/// One of the names.
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

pub(super) fn entry<F: AliasAdapter>() -> AliasName {
    let AliasMetadata { name, title, description, effect, .. } = F::ABOUT;
    let definition = ToolDefinition {
        card: Card::new(name, title, description, effect),
        input: Schema::new(input_schema::<F::Args>()),
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
pub(super) fn check_arguments(
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
