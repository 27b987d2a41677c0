//! `lsp_definition`: the definition of a symbol, and on request its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lsp_navigate;
use crate::analysis::answer::{Answer, DefinitionBody, LocationsOutput, LspLocation};
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::analysis::items::budget;
use crate::analysis::items::place::Place;
use crate::analysis::names::definition::Definition;
use crate::lsp::session::operations::Navigation;
use crate::lsp::uri;
use crate::policy::request::CallSubjects;
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};

/// The arguments of `lsp_definition`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DefinitionArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// Include its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<bool>,
}

/// The `lsp_definition` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspDefinition;

impl Tool for LspDefinition {
    type Args = DefinitionArgs;
    type Output = Answer<LocationsOutput>;

    fn card(&self) -> Card {
        Card::reading("lsp_definition", "Definition", DESCRIPTION).with_rank(3).overlaid().in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &DefinitionArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: DefinitionArgs) -> Result<Answer<LocationsOutput>, ToolError> {
        let target = args.address.target(call.context)?;
        let answer = lsp_navigate::run(call.context, Navigation::Definition, &target, None).await?;
        let mut answer = lsp_navigate::advised(answer)?;
        answer.output.location =
            answer.output.locations.first().map(|first| to_lsp_location(call.context, first));
        if args.body == Some(true) && !answer.output.locations.is_empty() {
            let definition = Definition::new(call.context, &target, &answer)?;
            answer.output.body = definition_body(call.context, &definition).await;
            if answer.output.body.is_none() {
                answer.notes.push("its source is unknown: read the file".to_owned());
            }
        }
        Ok(answer)
    }
}

const DESCRIPTION: &str = "The definition of a symbol, with its source line; better than grep. For callers and tests too use `explore`.";

fn to_lsp_location(context: &Context, place: &Place) -> LspLocation {
    let uri = match context.workspace.path(place.path.as_ref()) {
        Ok(path) => uri::from_path(&context.workspace.absolute(&path)).into(),
        Err(_) if place.path.starts_with('/') => uri::from_path(place.path.as_ref()).into(),
        // A document that is not a file has a URI as its path.
        Err(_) => place.path.clone(),
    };
    LspLocation { uri, range: place.range }
}

/// The source of `definition`; `None` outside the workspace, and if its extent is unknown.
async fn definition_body(context: &Context, definition: &Definition) -> Option<DefinitionBody> {
    let range = Box::pin(definition.extent(context)).await?.range;
    let text = definition.source_lines(context, range)?.join("\n");
    Some(DefinitionBody { range, text: budget::cut_page(context, text) })
}
