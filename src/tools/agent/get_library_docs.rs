//! `get_library_docs`: passages of a library's documentation that answer a query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::library_docs::search::{search, truncate_text};
use super::library_docs::{MAX_LIBRARY_DOCS_CHARS, bundled, remote};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};

/// The arguments of `get_library_docs`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocsArgs {
    /// From `resolve_library_id`.
    pub library_id: String,
    /// Search words.
    pub query: String,
}

/// The answer of `get_library_docs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DocsOutput {
    /// The library.
    #[serde(rename = "libraryId")]
    pub library_id: String,
    /// `bundled` or `remote`.
    pub source: String,
    /// Markdown.
    pub content: String,
    /// No word of the query was found; the content is an overview.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overview: bool,
    /// True if the end was cut off.
    pub truncated: bool,
}

/// The `get_library_docs` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GetLibraryDocs;

impl Tool for GetLibraryDocs {
    type Args = DocsArgs;
    type Output = DocsOutput;

    fn card(&self) -> Card {
        Card::new(
            "get_library_docs",
            "Library documentation",
            "Documentation of a library, the sections that fit the query.",
            Effect::Network,
        )
        .idempotent()
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &DocsArgs) -> Result<CallSubjects, ToolError> {
        let settings = &context.config.settings.library_docs;
        let urls = match bundled::resolve(&args.library_id) {
            None if settings.remote => {
                vec![remote::context_address(settings, &args.library_id, &args.query)?.to_string()]
            }
            _ => Vec::new(),
        };
        // Bundled documentation needs no network.
        let effect = urls.is_empty().then_some(Effect::Read);
        Ok(CallSubjects { urls, effect, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: DocsArgs) -> Result<DocsOutput, ToolError> {
        if let Some(library) = bundled::resolve(&args.library_id) {
            let found = search(library.text, &args.query, MAX_LIBRARY_DOCS_CHARS);
            return Ok(DocsOutput {
                library_id: library.id.to_owned(),
                source: "bundled".to_owned(),
                content: found.text,
                overview: !found.matched,
                truncated: found.cut,
            });
        }
        let settings = &call.context.config.settings.library_docs;
        let address = remote::context_address(settings, &args.library_id, &args.query)?;
        let text = remote::context(settings, &address).await?;
        if text.trim().is_empty() {
            let what = format!(
                "the documentation of `{}` has nothing for that query",
                args.library_id.escape_debug()
            );
            let hint = format!("get the id from resolve_library_id; bundled: {}", bundled::ids());
            return Err(ToolError::new(ErrorCode::NotFound, what).with_hint(hint));
        }
        let (content, truncated) = truncate_text(text.trim(), MAX_LIBRARY_DOCS_CHARS);
        let source = "remote".to_owned();
        Ok(DocsOutput { library_id: args.library_id, source, content, overview: false, truncated })
    }
}
