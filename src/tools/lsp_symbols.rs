//! `lsp_symbols`: the outline of a file, or the symbols of the workspace that a query matches.

use std::path::PathBuf;

use tokio::time::Instant;

use super::address::shown_path;
use super::answer::{Answer, ServerState, ServerStatus, SymbolItem, SymbolsOutput, Verdict};
use super::answer_places;
use super::budget::{self, ListBudget};
use super::context::{Context, LanguageFile};
use super::error::{ErrorCode, ToolError};
use super::fallback;
use super::symbol_search::{NameMatches, SymbolMatchMode};
use super::target::Target;
use super::tool::{Call, Card, Tool};
use crate::lsp::ask::AskError;
use crate::lsp::model::{Symbol, WorkspaceSymbol};
use crate::policy::request::CallSubjects;
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

async fn outline(
    context: &Context,
    subject: LanguageFile,
    limit: usize,
    locals: bool,
) -> Result<Answer<SymbolsOutput>, ToolError> {
    let deadline = context.server_deadline(context.config.settings.deadlines.symbols);
    context.manager.refresh().await;
    let started = Instant::now();
    let servers = context.servers_for(&subject, |features| features.navigation);
    let mut status = context.no_server(&subject, started);
    for (server, _) in servers {
        match outline_of(context, server, &subject, deadline, started).await? {
            Ok(outline) => {
                let status = context.status(server, &subject, ServerState::Ready, started);
                let Outline { mut symbols, left_out, note } = outline;
                if !locals {
                    drop_locals(&mut symbols, false);
                }
                let verdict = if left_out > 0 { Verdict::Partial } else { Verdict::Complete };
                let mut answer = symbol_tree(context, (symbols, left_out), limit, status, verdict);
                answer.notes.extend(note);
                return Ok(answer);
            }
            Err(reason) => status = reason,
        }
    }
    let (symbols, notes) = fallback::outline(context, &subject).await?;
    let mut answer = symbol_tree(context, (symbols, 0), limit, status, Verdict::Hints);
    answer.notes = notes;
    Ok(answer)
}

/// The outline of a file from a server.
struct Outline {
    symbols: Vec<Symbol>,
    /// The number of symbols that were left out.
    left_out: usize,
    note: Option<String>,
}

/// The outline from one server, with a note if it had crashed. The request is repeated once if the
/// server exits meanwhile.
async fn outline_of(
    context: &Context,
    server: &str,
    subject: &LanguageFile,
    deadline: Instant,
    started: Instant,
) -> Result<Result<Outline, ServerStatus>, ToolError> {
    let mut has_crashed = false;
    loop {
        let session = match context.session(server, subject, deadline).await {
            Ok(session) => session,
            Err(reason) => return Ok(Err(reason)),
        };
        let answer = match session.enter_view(&context.view, deadline).await {
            Ok(_view_guard) => session.document_symbols(&subject.path, deadline).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) => {
                let note = session.restart_note(has_crashed);
                return Ok(Ok(Outline { symbols: answer.value, left_out: answer.left_out, note }));
            }
            Err(AskError::Read(error)) => return Err(super::context::from_read_error(error)),
            Err(error) if error.is_closed() && !has_crashed => has_crashed = true,
            Err(error) => return Ok(Err(context.failed_status(&session, subject, &error, started).await)),
        }
    }
}

fn symbol_tree(
    context: &Context,
    (symbols, left_out): (Vec<Symbol>, usize),
    limit: usize,
    server_status: ServerStatus,
    verdict: Verdict,
) -> Answer<SymbolsOutput> {
    let count = symbols.iter().map(size).sum::<usize>() + left_out;
    let (mut left, mut budget) = (limit, ListBudget::for_list(context, limit));
    let symbols = items(symbols, &mut left, &mut budget);
    let output = SymbolsOutput { symbols, count, has_more: count > limit - left };
    Answer::new(output, None, server_status, verdict, Vec::new())
}

/// Removes variables within functions, with their children.
fn drop_locals(symbols: &mut Vec<Symbol>, in_code: bool) {
    symbols.retain(|symbol| !(in_code && symbol.kind.is_variable()));
    for symbol in symbols {
        drop_locals(&mut symbol.children, symbol.kind.is_callable());
    }
}

fn size(symbol: &Symbol) -> usize {
    1 + symbol.children.iter().map(size).sum::<usize>()
}

/// The first `left` symbols that fit into `budget`, parents before their children.
fn items(symbols: Vec<Symbol>, left: &mut usize, budget: &mut ListBudget) -> Vec<SymbolItem> {
    let mut found = Vec::new();
    for symbol in symbols {
        if *left == 0 {
            break;
        }
        let mut item = SymbolItem {
            name: budget::name(symbol.name),
            kind: symbol.kind.name().to_owned(),
            detail: symbol.detail.map(budget::name),
            container: None,
            path: None,
            range: symbol.range,
            selection: Some(symbol.selection),
            text: None,
            children: Vec::new(),
        };
        if !budget.try_take(&item) {
            break;
        }
        *left -= 1;
        item.children = items(symbol.children, left, budget);
        found.push(item);
    }
    found
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
