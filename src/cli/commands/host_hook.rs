//! The command `hook`, which informs a host's model after an edit, at a search, and at the end of a
//! turn whose edits broke something.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{CliContext, Reply};
use crate::analysis::answer::{SymbolItem, Verdict};
use crate::analysis::error::ToolError;
use crate::analysis::target::Target;
use crate::bridges::host_hook::{HostHookEvent, HostHookSubject, SearchedSymbolName};
use crate::cli::args::doors::HookCommandArgs;
use crate::cli::exit::CliExitStatus;
use crate::cli::render::host_hook::{
    FoundSymbol, SymbolUses, TurnEnd, edit_words, error_words, remark, symbol_words, turn_end,
};
use crate::runtime::{Client, Runtime};
use crate::tools::edit::made_edit::{MadeEdit, MadeEdits};
use crate::tools::language::lsp_diagnostics::{DiagnosticsArgs, InProcess};
use crate::tools::vcs::turn_check::TurnCheckArgs;

/// The number of symbols examined for a name.
const MAX_SYMBOLS_OF_NAME: usize = 50;
/// The number of references that are counted.
const MAX_COUNTED_REFERENCES: usize = 1_000;

/// Answers the event on stdin: an edit always, a search only if a result is available in time.
pub(super) async fn run(hook: HookCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let silence = Reply { out: String::new(), lines: Vec::new(), status: CliExitStatus::Answered };
    let payload = cli.input.text("what the host tells").await?;
    let Some(event) = HostHookEvent::read(hook.host.into(), hook.event.into(), &payload) else {
        return Ok(silence);
    };
    let limit = hook.time_limit(cli.runtime.context().timeout);
    let cwd = event.cwd.clone().unwrap_or_else(|| cli.cwd.to_owned());
    let asking = |timeout: Duration| {
        cli.runtime.for_client(Client { cwd: Some(cwd.clone()), timeout: Some(timeout), ..Client::default() })
    };
    let words = match &event.subject {
        HostHookSubject::TurnBegun(_) | HostHookSubject::TurnEnded(_) if !is_gated(&cli) => None,
        HostHookSubject::TurnBegun(session) => {
            let args = TurnCheckArgs { session: session.clone(), ends: false };
            if let Err(error) = asking(limit).check_turn(args, limit).await {
                tracing::info!("the start of a turn is not noted: {}", error.error);
            }
            None
        }
        HostHookSubject::TurnEnded(session) => {
            let args = TurnCheckArgs { session: session.clone(), ends: true };
            // The check has one half of its time for each of the two states.
            let checked = asking(limit * 2 / 5).check_turn(args, limit).await;
            let out = match turn_end(checked.map(|output| output.judgement)) {
                TurnEnd::Broken(words) => event.continuation(&words),
                TurnEnd::Unchecked(words) => event.ending(&words),
                TurnEnd::Sound => String::new(),
            };
            return Ok(Reply { out, ..silence });
        }
        // The rest of the time is for printing the answer.
        HostHookSubject::Edited(edits) => Some(about_edits(edits, &asking(limit * 9 / 10), limit).await),
        HostHookSubject::Searched(names) => match timeout(limit, about_names(names, &asking(limit))).await {
            Ok(Ok(words)) => words,
            Ok(Err(error)) => {
                tracing::info!("a hook had no answer: {error}");
                None
            }
            Err(_) => {
                tracing::info!("a hook had no answer within {limit:?}");
                None
            }
        },
        HostHookSubject::Started => {
            let runtime = cli.runtime.clone();
            // The host waits for this command, not for the servers.
            drop(tokio::task::spawn_blocking(move || runtime.start_servers()));
            None
        }
    };
    let out = words.map(|words| event.answer(&words)).unwrap_or_default();
    Ok(Reply { out, ..silence })
}

/// Returns true if the settings have the edits of a turn checked.
fn is_gated(cli: &CliContext<'_>) -> bool {
    cli.runtime.settings().end_of_turn_gate != Some(false)
}

/// Returns the judgement of the edits, or the current errors if the former texts are unknown.
async fn about_edits(edits: &[MadeEdit], runtime: &Runtime, limit: Duration) -> String {
    let made = Arc::new(MadeEdits::new(edits.to_vec()));
    let args = DiagnosticsArgs {
        paths: Some(made.paths().cloned().collect()),
        in_process: InProcess { first: Some(made.clone()), ..InProcess::default() },
        ..DiagnosticsArgs::default()
    };
    let answer = timeout(limit, Box::pin(runtime.check_all(args))).await;
    match (made.take_judgement(), answer) {
        (Some(judgement), _) => edit_words(&judgement),
        (None, Ok(Ok(answer))) => error_words(&answer),
        (None, Ok(Err(error))) => remark(&format!("not checked: {}", error.error)),
        (None, Err(_)) => remark(&format!("not checked yet: no answer within {} s", limit.as_secs_f32())),
    }
}

/// Returns the server's definitions of these names.
async fn about_names(names: &[SearchedSymbolName], runtime: &Runtime) -> Result<Option<String>, ToolError> {
    let mut found = Vec::new();
    for name in names {
        let answer = Box::pin(runtime.symbols(Target::Name(name.name.clone()), MAX_SYMBOLS_OF_NAME)).await?;
        // The search itself shows results of a text search.
        if answer.verdict == Verdict::Hints {
            continue;
        }
        // A symbol without its line is in a file hidden by the rules.
        let is_shown = |symbol: &SymbolItem| symbol.text.is_some() && is_called(symbol, name);
        let definitions: Vec<SymbolItem> = answer.output.symbols.into_iter().filter(is_shown).collect();
        let uses = match definitions.as_slice() {
            [one] => uses_of(one, runtime).await,
            _ => None,
        };
        found.push(FoundSymbol { name: name.to_string(), definitions, uses });
    }
    Ok(symbol_words(&found))
}

/// Returns true if the symbol has the searched name. Servers add parameters to names, and packages
/// to containers.
fn is_called(symbol: &SymbolItem, name: &SearchedSymbolName) -> bool {
    let bare = |text: &str| text.split(['(', '<']).next().unwrap_or_default().trim().to_owned();
    let last = |text: &str| bare(text).rsplit(['.', ':', '/']).next().unwrap_or_default().to_owned();
    let container = symbol.container.as_deref().map(last).unwrap_or_default();
    bare(&symbol.name) == name.name && name.container.as_ref().is_none_or(|wanted| *wanted == container)
}

/// Counts the uses of a symbol. Returns `None` if the server does not answer in time.
async fn uses_of(symbol: &SymbolItem, runtime: &Runtime) -> Option<SymbolUses> {
    let path = runtime.workspace().root().join(Path::new(symbol.path.as_deref()?));
    let target = Target::Position { path, position: symbol.range.start };
    let answer = Box::pin(runtime.references(target, MAX_COUNTED_REFERENCES)).await.ok()?;
    if answer.verdict == Verdict::Hints {
        return None;
    }
    let files: BTreeSet<&str> = answer.output.locations.iter().map(|place| place.path.as_str()).collect();
    let at_least = answer.verdict != Verdict::Complete || answer.output.has_more;
    Some(SymbolUses { places: answer.output.count, files: files.len(), at_least })
}
