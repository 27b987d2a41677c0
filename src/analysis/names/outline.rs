//! The outline of a file: by its server, else by its syntax tree.

use tokio::time::Instant;

use crate::analysis::answer::{Answer, ServerState, ServerStatus, SymbolItem, SymbolsOutput, Verdict};
use crate::analysis::ask::fallback;
use crate::analysis::context::{Context, LanguageFile, from_read_error};
use crate::analysis::error::ToolError;
use crate::analysis::items::budget;
use crate::analysis::items::budget::ListBudget;
use crate::lsp::model::Symbol;
use crate::lsp::session::ask::AskError;

/// Returns the outline of a file, optionally with `locals`: at most `limit` symbols.
pub(crate) async fn outline(
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
            Err(AskError::Read(error)) => return Err(from_read_error(error)),
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
