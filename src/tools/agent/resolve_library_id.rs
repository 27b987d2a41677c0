//! `resolve_library_id`: the identifiers of libraries by name, for `get_library_docs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::library_docs::{bundled, remote};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};

/// The most matches in one answer, and the longest description of each.
const MAX_LIBRARY_MATCHES: usize = 5;
const MAX_LIBRARY_DESCRIPTION_CHARS: usize = 200;

/// The arguments of `resolve_library_id`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResolveArgs {
    /// Name, as in `playwright`.
    pub library_name: String,
}

/// The answer of `resolve_library_id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ResolveOutput {
    /// Best first.
    pub libraries: Vec<LibraryItem>,
}

/// A library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LibraryItem {
    /// The id that `get_library_docs` takes.
    pub id: String,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// `bundled` or `remote`.
    pub source: String,
}

/// The `resolve_library_id` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResolveLibraryId;

impl Tool for ResolveLibraryId {
    type Args = ResolveArgs;
    type Output = ResolveOutput;

    fn card(&self) -> Card {
        Card::new(
            "resolve_library_id",
            "Find a library",
            "Id of a library, for get_library_docs. Call it first unless the id is known.",
            Effect::Network,
        )
        .idempotent()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &ResolveArgs) -> Result<CallSubjects, ToolError> {
        let settings = &context.config.settings.library_docs;
        let urls = match bundled::resolve(&args.library_name) {
            None if settings.remote => {
                vec![remote::search_address(settings, &args.library_name)?.to_string()]
            }
            _ => Vec::new(),
        };
        // Bundled documentation needs no network.
        let effect = urls.is_empty().then_some(Effect::Read);
        Ok(CallSubjects { urls, effect, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: ResolveArgs) -> Result<ResolveOutput, ToolError> {
        if let Some(library) = bundled::resolve(&args.library_name) {
            return Ok(ResolveOutput { libraries: vec![of_bundled(library)] });
        }
        let settings = &call.context.config.settings.library_docs;
        let address = remote::search_address(settings, &args.library_name)?;
        let libraries: Vec<LibraryItem> = remote::search(settings, &address)
            .await?
            .into_iter()
            .take(MAX_LIBRARY_MATCHES)
            .map(of_remote)
            .collect();
        if libraries.is_empty() {
            let what = format!("unknown library `{}`", args.library_name.escape_debug());
            let hint = format!("try another spelling; bundled: {}", bundled::ids());
            return Err(ToolError::new(ErrorCode::NotFound, what).with_hint(hint));
        }
        Ok(ResolveOutput { libraries })
    }
}

fn of_bundled(library: &bundled::Library) -> LibraryItem {
    LibraryItem {
        id: library.id.to_owned(),
        title: library.title.to_owned(),
        description: library.description.to_owned(),
        source: "bundled".to_owned(),
    }
}

fn of_remote(known: remote::RemoteLibrary) -> LibraryItem {
    LibraryItem {
        id: known.id,
        title: known.title,
        description: known.description.chars().take(MAX_LIBRARY_DESCRIPTION_CHARS).collect(),
        source: "remote".to_owned(),
    }
}
