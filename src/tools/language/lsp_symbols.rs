//! `lsp_symbols`: the outline of a file, or the symbols of the workspace that a query matches.

use std::path::PathBuf;

use crate::analysis::answer::{Answer, SymbolItem, SymbolsOutput};
use crate::analysis::ask::fallback;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::answer_places;
use crate::analysis::items::budget;
use crate::analysis::items::budget::ListBudget;
use crate::analysis::names::outline::outline;
use crate::analysis::names::symbol_search::{NameMatches, SymbolMatchMode};
use crate::analysis::target::Target;
use crate::lsp::model::WorkspaceSymbol;
use crate::policy::request::CallSubjects;
use crate::tools::api::address::shown_path;
use crate::tools::api::tool::{Call, Card, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arguments of `lsp_symbols`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SymbolsArgs {
    /// File, for its outline.
    #[serde(serialize_with = "shown_path", skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// A name or part of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Default: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Include local variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
}

const DEFAULT_SYMBOL_LIMIT: usize = 100;

/// The `lsp_symbols` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspSymbols;

impl Tool for LspSymbols {
    type Args = SymbolsArgs;
    type Output = Answer<SymbolsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_symbols",
            "Symbols",
            "Outline of a file (`path`), or symbols of the workspace by name (`query`). Cheaper than reading. For one \
             symbol use `explore`.",
        ).with_rank(6).overlaid().beyond_core().in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &SymbolsArgs) -> Result<CallSubjects, ToolError> {
        let path = args.path.as_deref().filter(|path| !path.as_os_str().is_empty());
        let paths = path.map(|path| context.path(path)).transpose()?;
        Ok(CallSubjects { paths: paths.into_iter().collect(), ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: SymbolsArgs) -> Result<Answer<SymbolsOutput>, ToolError> {
        let path = args.path.filter(|path| !path.as_os_str().is_empty());
        let query = args.query.filter(|query| !query.is_empty());
        let target = match (path, query) {
            (Some(path), None) => Target::File(path),
            (None, Some(query)) => Target::Name(query),
            _ => {
                let what = "lsp_symbols: give either `path` (outline of a file) or `query` (symbols of the workspace)";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
        };
        let limit = Some(args.limit.unwrap_or(DEFAULT_SYMBOL_LIMIT));
        let answer = run(call.context, &target, limit, args.all.unwrap_or(false)).await?;
        fallback::advised_answer(answer, |output| output.count > 0)
    }
}

/// Returns the outline of a file, optionally with `locals`, or the workspace's symbols for a name,
/// at most `limit`.
pub(crate) async fn run(
    context: &Context,
    target: &Target,
    limit: Option<usize>,
    locals: bool,
) -> Result<Answer<SymbolsOutput>, ToolError> {
    let limit = limit.unwrap_or(context.config.settings.limits.answer_items);
    context.install_for_target(target).await?;
    match target {
        Target::File(path) => {
            outline(context, context.language_file(context.path(path)?)?, limit, locals).await
        }
        Target::Name(query) => search(context, query, limit).await,
        _ => Err(ToolError::new(ErrorCode::InvalidArgs, "symbols need a file or a name, not a position")),
    }
}

async fn search(context: &Context, query: &str, limit: usize) -> Result<Answer<SymbolsOutput>, ToolError> {
    let deadline = context.server_deadline(context.config.settings.deadlines.workspace_symbols);
    let NameMatches { mut symbols, left_out, statuses, verdict, sessions, mut notes, .. } =
        context.find_symbols(query, SymbolMatchMode::Like, deadline).await?;
    let found = symbols.len();
    // The names in a hidden file are part of its content.
    symbols.retain(|symbol| !answer_places::is_hidden(&context.workspace, &symbol.location.file));
    let hidden = found - symbols.len();
    notes.extend((hidden > 0).then(|| format!("{hidden} are omitted: rules hide their files")));
    notes.extend(sessions.iter().filter_map(|session| session.restart_note(false)));
    let count = symbols.len() + left_out;
    let symbols = symbols.into_iter().map(|symbol| found_item(context, symbol));
    let symbols = ListBudget::for_list(context, limit).fill(symbols, limit);
    let output = SymbolsOutput { has_more: count > symbols.len(), symbols, count };
    let server_status = match statuses.first() {
        Some(status) => status.clone(),
        None => {
            return Err(ToolError::nothing_found("this workspace has no files of a known language"));
        }
    };
    let servers = if statuses.len() > 1 { statuses } else { Vec::new() };
    Ok(Answer { ok: true, output, resolved: None, server_status, servers, verdict, notes })
}

fn found_item(context: &Context, symbol: WorkspaceSymbol) -> SymbolItem {
    let path = answer_places::path_of(&symbol.location.file);
    SymbolItem {
        name: budget::name(symbol.name),
        kind: symbol.kind.name().to_owned(),
        detail: None,
        container: symbol.container.map(budget::name),
        path: Some(path),
        range: symbol.location.range,
        selection: None,
        text: answer_places::line_of(context, &symbol.location.file, symbol.location.text),
        children: Vec::new(),
    }
}
