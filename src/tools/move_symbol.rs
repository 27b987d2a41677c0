//! `move_symbol`: a top-level definition moved to another file, with its imports if a server can
//! update them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::address::Address;
use super::answer::Verdict;
use super::context::{Context, LanguageFile};
use super::editing::{EditRunOptions, EditingTurn, plan_write, read_existing};
use super::error::{ErrorCode, ToolError};
use super::fallback;
use super::impact::language_of;
use super::located_symbol::{LocatedSymbol, shown_places};
use super::move_file::EditsOutput;
use super::named_places::address_of;
use super::proposals;
use super::tool::{Call, Card, Tool};
use crate::hints;
use crate::lsp::edits::CODE_ACTION;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::{CutBlock, append_block, cut_block, restore_spacing};
use crate::workspace::edit::{EditPlan, LineEnds};
use crate::workspace::{TextFile, WorkspacePath};

/// The arguments of `move_symbol`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct MoveSymbolArgs {
    /// Which symbol.
    #[serde(flatten)]
    pub address: Address,
    /// The file that it goes to; made if it is not there.
    pub to: String,
    /// Only show it.
    pub dry_run: Option<bool>,
    /// Report what breaks.
    pub diagnostics: Option<bool>,
}

/// The `move_symbol` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MoveSymbol;

impl Tool for MoveSymbol {
    type Args = MoveSymbolArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new("move_symbol", "Move a symbol", DESCRIPTION, Effect::Edit).undoable().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &MoveSymbolArgs) -> Result<CallSubjects, ToolError> {
        let mut subjects = args.address.subjects(context)?;
        subjects.paths.push(context.path(args.to.as_ref())?);
        Ok(subjects)
    }

    async fn run(&self, call: Call<'_>, args: MoveSymbolArgs) -> Result<EditsOutput, ToolError> {
        let (target, to) = (args.address.target(call.context)?, call.context.path(args.to.as_ref())?);
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let Some(symbol) = LocatedSymbol::find(call.context, &target, &mut turn).await? else { continue };
            let planned = Box::pin(plan_move(call.context, &symbol, &to)).await;
            let Some((plan, notes)) = turn.or_replan(planned)? else { continue };
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(EditsOutput { notes, ..done.into() });
            }
        }
    }
}

const DESCRIPTION: &str = "Moves a top-level function, class or constant to another file. Where the language's server can (TypeScript, \
     JavaScript), imports follow; else the answer says who names it, and what broke. For a whole file use `move`. \
     Example: {\"symbol\": \"total\", \"path\": \"src/cart.ts\", \"to\": \"src/sums.ts\"}.";

/// The edit that moves `symbol` to `to`, and notes.
async fn plan_move(
    context: &Context,
    symbol: &LocatedSymbol,
    to: &WorkspacePath,
) -> Result<(EditPlan, Vec<String>), ToolError> {
    context.check_saved(std::iter::once(to))?;
    let there = read_existing(context, to)?;
    must_fit(context, symbol, to, there.as_ref()).await?;
    let cut = cut_block(&symbol.file.text, symbol.extent.range).ok_or_else(|| {
        let what = format!("`{}` shares its lines with other code; nothing was changed", symbol.extent.name);
        ToolError::new(ErrorCode::Unsupported, what).with_hint("move it with `edit`")
    })?;
    if let Some(plan) = plan_by_server(context, symbol, &cut, to).await? {
        return Ok((plan, Vec::new()));
    }
    let note = note_of_uses(context, symbol).await?;
    Ok((plan_by_text(symbol, &cut, to, there.as_ref()), vec![note]))
}

/// Rejects a definition that cannot be in `to`.
async fn must_fit(
    context: &Context,
    symbol: &LocatedSymbol,
    to: &WorkspacePath,
    there: Option<&TextFile>,
) -> Result<(), ToolError> {
    let name = &symbol.extent.name;
    let refuse = |code, what: String| Err(ToolError::new(code, format!("{what}; nothing was changed")));
    if *to == symbol.path {
        return refuse(ErrorCode::InvalidArgs, format!("`{name}` is in {} already", to.display()));
    }
    let first_line = symbol.file.text.lines().nth(symbol.extent.range.start.line as usize);
    if name.contains('.') || first_line.is_some_and(|line| line.starts_with([' ', '\t'])) {
        let what =
            format!("`{name}` lies in another definition; only what lies at the top of a file can be moved");
        return refuse(ErrorCode::Unsupported, what);
    }
    let language = language_of(context, to, there.map(|file| file.text.as_str()));
    if context.language_file(symbol.path.clone())?.language != language
        && to.extension() != symbol.path.extension()
    {
        let what = format!("{} is of another language than {}", to.display(), symbol.path.display());
        return refuse(ErrorCode::InvalidArgs, what);
    }
    let path = to.clone();
    let known = fallback::run_in_background(context, move |workspace, catalogue| {
        let until = std::time::Instant::now() + hints::DEADLINE;
        Ok(hints::symbols(workspace, catalogue, &path, until).ok().flatten().unwrap_or_default())
    });
    match known.await?.iter().find(|known| known.name == *name) {
        Some(known) => {
            let there = address_of(to, known.selection.start);
            refuse(ErrorCode::InvalidArgs, format!("{there} has a `{name}` already"))
        }
        None => Ok(()),
    }
}

/// The edit from the first server that can move symbols.
async fn plan_by_server(
    context: &Context,
    symbol: &LocatedSymbol,
    cut: &CutBlock,
    to: &WorkspacePath,
) -> Result<Option<EditPlan>, ToolError> {
    let subject: LanguageFile = context.language_file(symbol.path.clone())?;
    let deadline = context.deadline(context.config.settings.deadlines.edit);
    let moves = |key: &str| context.catalogue().servers.get(key).is_some_and(|it| it.move_symbol.is_some());
    let servers = context.servers_for(&subject, |features| features.actions);
    let able = servers.iter().map(|(key, _)| *key).find(|key| moves(key));
    let substitute = || {
        let (first, _) = servers.first()?;
        Some(context.substitute_server(first, &subject, CODE_ACTION)?.0).filter(|key| moves(key))
    };
    if let Some(server) = able.or_else(substitute) {
        let session = match context.session(server, &subject, deadline).await {
            Ok(session) => session,
            Err(status) => return Err(fallback::refusal_error(&status)),
        };
        let _viewing = session
            .enter_view(&context.view, deadline)
            .await
            .map_err(|error| proposals::from_server(error.into()))?;
        let proposed = session.move_symbol(&symbol.path, symbol.extent.range, to, deadline).await;
        if let Some(mut proposal) = proposed.map_err(proposals::from_server)? {
            for file in proposal.files.iter_mut().filter(|file| file.path == *to) {
                let restored = file.after.as_deref().and_then(|text| restore_spacing(text, cut));
                file.after = restored.or_else(|| file.after.take());
            }
            return proposals::plan_proposal(context, "move_symbol", &proposal).map(Some);
        }
    }
    Ok(None)
}

/// The edit that moves only the text.
fn plan_by_text(
    symbol: &LocatedSymbol,
    cut: &CutBlock,
    to: &WorkspacePath,
    there: Option<&TextFile>,
) -> EditPlan {
    let text = append_block(there.map_or("", |file| file.text.as_str()), cut);
    let mut plan = EditPlan::new("move_symbol");
    plan_write(&mut plan, &symbol.path, Some(&symbol.file), &cut.rest, LineEnds::AsGiven);
    plan_write(&mut plan, to, there, &text, LineEnds::OfTheFile);
    plan
}

/// A note with the uses of the symbol, which no server updates.
async fn note_of_uses(context: &Context, symbol: &LocatedSymbol) -> Result<String, ToolError> {
    let uses = symbol.uses(context).await?;
    let name = &symbol.extent.name;
    let sure = if uses.found.verdict == Verdict::Complete { "" } else { " (there may be more)" };
    Ok(match uses.count {
        0 => format!(
            "imports were not touched: no server of this language moves them; nothing uses `{name}`{sure}"
        ),
        _ => format!(
            "imports were not touched: no server of this language moves them; `{name}` is used {}: {}{sure}",
            uses.times(),
            shown_places(&uses.places)
        ),
    })
}
