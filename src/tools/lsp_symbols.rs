//! `lsp_symbols`: the outline of a file, or the symbols of the workspace that a query matches.

use std::sync::Arc;

use tokio::time::Instant;

use super::answer::{Answer, ServerState, ServerStatus, SymbolItem, SymbolsOutput, Verdict};
use super::context::{Context, Subject};
use super::error::{ErrorCode, ToolError};
use super::fallback;
use super::lsp_navigate;
use super::target::Target;
use super::tool::{Call, Card, Tool};
use crate::lsp::model::{FileRef, Symbol, WorkspaceSymbol};
use crate::lsp::session::{AskError, Session};
use crate::policy::request::Subjects;
use crate::text::Position;
use schemars::JsonSchema;
use serde::Deserialize;

/// How many languages of a workspace are asked for a bare name, those with the most files first.
const MOST_LANGUAGES: usize = 4;

/// The arguments of `lsp_symbols`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct SymbolsArgs {
    /// A file: its outline.
    pub path: Option<String>,
    /// A name or part of it: where in the workspace it is defined.
    pub query: Option<String>,
    /// Default: 100.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

const SYMBOLS: usize = 100;

/// The tool.
#[derive(Debug, Clone, Copy)]
pub struct LspSymbols;

impl Tool for LspSymbols {
    type Args = SymbolsArgs;
    type Output = Answer<SymbolsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_symbols",
            "Symbols",
            "Outline of a file (`path`), or symbols of the workspace by name (`query`). Cheaper than reading a file.",
        )
    }

    fn subjects(&self, context: &Context, args: &SymbolsArgs) -> Result<Subjects, ToolError> {
        let path = args.path.as_deref().filter(|path| !path.is_empty());
        let paths = path.map(|path| context.path(path.as_ref())).transpose()?;
        Ok(Subjects { paths: paths.into_iter().collect(), ..Subjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: SymbolsArgs) -> Result<Answer<SymbolsOutput>, ToolError> {
        let path = args.path.filter(|path| !path.is_empty());
        let query = args.query.filter(|query| !query.is_empty());
        let target = match (path, query) {
            (Some(path), None) => Target::File(path.into()),
            (None, Some(query)) => Target::Name(query),
            _ => {
                let what = "lsp_symbols: give either `path` (outline of a file) or `query` (symbols of the workspace)";
                return Err(ToolError::new(ErrorCode::InvalidArgs, what));
            }
        };
        run(call.context, &target, Some(args.limit.unwrap_or(SYMBOLS))).await
    }
}

/// Answers the outline of a file, or the workspace's symbols for a name; at most `limit` of them.
pub async fn run(
    context: &Context,
    target: &Target,
    limit: Option<usize>,
) -> Result<Answer<SymbolsOutput>, ToolError> {
    let limit = limit.unwrap_or(context.config.settings.limits.answer_items);
    context.prepare(target).await?;
    match target {
        Target::File(path) => outline(context, context.subject(context.path(path)?)?, limit).await,
        Target::Name(query) => search(context, query, limit).await,
        _ => Err(ToolError::new(
            ErrorCode::InvalidArgs,
            "symbols are asked of a file or by a name, not of a position",
        )),
    }
}

async fn outline(
    context: &Context,
    subject: Subject,
    limit: usize,
) -> Result<Answer<SymbolsOutput>, ToolError> {
    let deadline = context.deadline(context.config.settings.deadlines.symbols);
    context.manager.refresh().await;
    let started = Instant::now();
    let servers = context.servers_for(&subject, |features| features.navigation);
    let mut status = context.no_server(&subject, started);
    for (server, _) in servers {
        match outline_of(context, server, &subject, deadline, started).await? {
            Ok((symbols, note)) => {
                let status = context.status(server, &subject, ServerState::Ready, started);
                let mut answer = tree(symbols, limit, status, Verdict::Complete);
                answer.notes.extend(note);
                return Ok(answer);
            }
            Err(why) => status = why,
        }
    }
    let (symbols, notes) = fallback::outline(context, &subject).await?;
    let mut answer = tree(symbols, limit, status, Verdict::Hints);
    answer.notes = notes;
    Ok(answer)
}

/// The outline by one server, with a note where it had crashed; it is asked once more if it ends meanwhile.
async fn outline_of(
    context: &Context,
    server: &str,
    subject: &Subject,
    deadline: Instant,
    started: Instant,
) -> Result<Result<(Vec<Symbol>, Option<String>), ServerStatus>, ToolError> {
    let mut met_crash = false;
    loop {
        let session = match context.session(server, subject, deadline).await {
            Ok(session) => session,
            Err(why) => return Ok(Err(why)),
        };
        let asked = match session.enter(&context.view, deadline).await {
            Ok(_viewing) => session.document_symbols(&subject.path, deadline).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(asked) => return Ok(Ok((asked.value, session.restart_note(met_crash)))),
            Err(AskError::Read(error)) => return Err(super::context::from_read_error(error)),
            Err(error) if error.is_closed() && !met_crash => met_crash = true,
            Err(error) => return Ok(Err(context.failed(&session, subject, &error, started).await)),
        }
    }
}

fn tree(
    symbols: Vec<Symbol>,
    limit: usize,
    server_status: ServerStatus,
    verdict: Verdict,
) -> Answer<SymbolsOutput> {
    let count = symbols.iter().map(size).sum();
    let mut left = limit;
    let symbols = items(symbols, &mut left);
    let output = SymbolsOutput { symbols, count, has_more: count > limit };
    Answer::new(output, None, server_status, verdict, Vec::new())
}

fn size(symbol: &Symbol) -> usize {
    1 + symbol.children.iter().map(size).sum::<usize>()
}

/// The first `left` symbols, parents before their children.
fn items(symbols: Vec<Symbol>, left: &mut usize) -> Vec<SymbolItem> {
    let mut found = Vec::new();
    for symbol in symbols {
        if *left == 0 {
            break;
        }
        *left -= 1;
        found.push(SymbolItem {
            name: symbol.name,
            kind: symbol.kind.name().to_owned(),
            detail: symbol.detail,
            container: None,
            path: None,
            range: symbol.range,
            selection: Some(symbol.selection),
            text: None,
            children: items(symbol.children, left),
        });
    }
    found
}

async fn search(context: &Context, query: &str, limit: usize) -> Result<Answer<SymbolsOutput>, ToolError> {
    let deadline = context.deadline(context.config.settings.deadlines.workspace_symbols);
    let Found { symbols, statuses, verdict, sessions } = context.find_symbols(query, deadline).await?;
    let notes = sessions.iter().filter_map(|session| session.restart_note(false)).collect();
    let count = symbols.len();
    let symbols: Vec<SymbolItem> =
        symbols.into_iter().take(limit).map(|symbol| found_item(context, symbol)).collect();
    let output = SymbolsOutput { has_more: count > symbols.len(), symbols, count };
    let server_status = match statuses.first() {
        Some(status) => status.clone(),
        None => {
            return Err(ToolError::nothing("this workspace has no files of a known language"));
        }
    };
    let servers = if statuses.len() > 1 { statuses } else { Vec::new() };
    Ok(Answer { ok: true, output, resolved: None, server_status, servers, verdict, notes })
}

fn found_item(context: &Context, symbol: WorkspaceSymbol) -> SymbolItem {
    let (path, _) = lsp_navigate::names(context, &symbol.location.file);
    SymbolItem {
        name: symbol.name,
        kind: symbol.kind.name().to_owned(),
        detail: None,
        container: symbol.container,
        path: Some(path),
        range: symbol.location.range,
        selection: None,
        text: lsp_navigate::line_of(context, &symbol.location.file, symbol.location.text),
        children: Vec::new(),
    }
}

/// Symbols of the workspace, best first, and what became of each server asked.
pub struct Found {
    /// The symbols.
    pub symbols: Vec<WorkspaceSymbol>,
    /// One status per language.
    pub statuses: Vec<ServerStatus>,
    /// How far to rely on it.
    pub verdict: Verdict,
    /// The sessions that answered.
    pub sessions: Vec<Arc<Session>>,
}

impl Context {
    /// Asks the servers of the workspace's main languages for `query`; text search answers for those that cannot.
    pub async fn find_symbols(&self, query: &str, deadline: Instant) -> Result<Found, ToolError> {
        self.manager.refresh().await;
        let mut found = Found {
            symbols: Vec::new(),
            statuses: Vec::new(),
            verdict: Verdict::Complete,
            sessions: Vec::new(),
        };
        let mut verdicts = Vec::new();
        for language in self.present_languages().into_iter().take(MOST_LANGUAGES) {
            let subject =
                Subject { path: language.example.clone(), language: Some(language.language.clone()) };
            let servers = self.servers_for(&subject, |features| features.navigation);
            let Some((server, _)) = servers.first() else { continue };
            let (symbols, status, verdict, session) =
                self.symbols_of(server, &subject, query, deadline).await?;
            found.sessions.extend(session);
            found.symbols.extend(symbols);
            found.statuses.push(status);
            verdicts.push(verdict);
        }
        found.verdict = match verdicts.as_slice() {
            [] => Verdict::Hints,
            [first, rest @ ..] if rest.iter().all(|verdict| verdict == first) => *first,
            _ => Verdict::Partial,
        };
        rank(&mut found.symbols, query);
        // Text search looks at all languages at once, and so finds the same for each.
        found.symbols.dedup_by(|a, b| a.location == b.location && a.name == b.name);
        Ok(found)
    }

    async fn symbols_of(
        &self,
        server: &str,
        subject: &Subject,
        query: &str,
        deadline: Instant,
    ) -> Result<(Vec<WorkspaceSymbol>, ServerStatus, Verdict, Option<Arc<Session>>), ToolError> {
        let started = Instant::now();
        let mut met_crash = false;
        let status = loop {
            break match self.session(server, subject, deadline).await {
                Err(status) => status,
                Ok(session) if !session.offers_anywhere("workspace/symbol") => {
                    let mut status = self.status(server, subject, ServerState::Unsupported, started);
                    status.detail = Some(self.cannot(server, subject, "workspace/symbol"));
                    status
                }
                Ok(session) => {
                    let viewing = session.enter(&self.view, deadline).await;
                    // Many servers only know the workspace once one of its files is open.
                    if let Err(error) = session.sync(&subject.path).await.map(drop) {
                        tracing::debug!("no example file: {error}");
                    }
                    let asked = match viewing {
                        Ok(_viewing) => session.workspace_symbols(query, deadline).await,
                        Err(error) => Err(error),
                    };
                    match asked {
                        Ok((symbols, working)) => {
                            let state =
                                if working.is_some() { ServerState::Indexing } else { ServerState::Ready };
                            let lack = session.lack();
                            let whole = working.is_none() && lack.is_none();
                            let verdict = if whole { Verdict::Complete } else { Verdict::Partial };
                            let mut status = self.status(server, subject, state, started);
                            status.detail = lack;
                            if let Some(busy) = &working {
                                self.note_busy(&mut status, busy, false);
                            }
                            return Ok((symbols, status, verdict, Some(session.clone())));
                        }
                        // A crash is often one question's fault and not the next one's.
                        Err(error) if error.is_closed() && !met_crash => {
                            met_crash = true;
                            continue;
                        }
                        Err(error) => self.failed(&session, subject, &error, started).await,
                    }
                }
            };
        };
        Ok((fallback::workspace_symbols(self, query).await?, status, Verdict::Hints, None))
    }

    /// Where the symbols called exactly `name` (`Class.method` within `Class`) are.
    pub async fn exact_symbols(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Vec<(FileRef, Position)>, ToolError> {
        let parts: Vec<&str> = name.split(['.', '#']).flat_map(|part| part.split("::")).collect();
        let Some((last, containers)) = parts.split_last() else { return Ok(Vec::new()) };
        let found = self.find_symbols(last, deadline).await?;
        let container = containers.last();
        let fits = |symbol: &&WorkspaceSymbol| {
            let bare = symbol.name.split('(').next().unwrap_or_default();
            let within = symbol.container.as_deref().unwrap_or_default();
            let own = bare.rsplit(['.', ':']).next().unwrap_or_default();
            own == *last && container.is_none_or(|wanted| within.contains(wanted) || bare.contains(wanted))
        };
        let inside = |symbol: &&WorkspaceSymbol| matches!(symbol.location.file, FileRef::Inside(_));
        let places = found.symbols.iter().filter(fits).filter(inside);
        let mut places: Vec<_> =
            places.map(|one| (one.location.file.clone(), one.location.range.start)).collect();
        places.dedup();
        Ok(places)
    }
}

/// Own code before libraries; exact names, then exact but for case, then starts, then the rest; shorter names first.
fn rank(symbols: &mut [WorkspaceSymbol], query: &str) {
    let lower = query.to_lowercase();
    symbols.sort_by_cached_key(|symbol| {
        let outside = !matches!(symbol.location.file, FileRef::Inside(_));
        let name = symbol.name.to_lowercase();
        let grade = match () {
            () if symbol.name == query => 0,
            () if name == lower => 1,
            () if name.starts_with(&lower) => 2,
            () if name.contains(&lower) => 3,
            () => 4,
        };
        (outside, grade, symbol.name.len(), symbol.location.file.clone(), symbol.location.range)
    });
}
