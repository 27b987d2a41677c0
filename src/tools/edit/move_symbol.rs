//! `move_symbol`: a top-level definition moved to another file, with its imports, by a server or by
//! the syntax.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::editing::{EditRunOptions, EditingTurn, read_existing};
use super::located_symbol::LocatedSymbol;
use super::move_file::EditsOutput;
use super::proposals;
use crate::analysis::answer::Verdict;
use crate::analysis::ask::fallback;
use crate::analysis::breakage::impact::language_of;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::budget::ListBudget;
use crate::analysis::items::named_places::address_of;
use crate::analysis::items::place::{Place, Places, word_end};
use crate::lsp::documents::edits::{CODE_ACTION, Proposal, ProposedFile};
use crate::policy::request::{CallSubjects, Effect};
use crate::syntax;
use crate::syntax::{MovedSymbol, MovedText, MovedTexts, RemainingPlace};
use crate::text::{CutBlock, LineMap, Range, append_block, cut_block, restore_spacing};
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::edit::EditPlan;
use crate::workspace::{TextFile, WorkspacePath};

/// The arguments of `move_symbol`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct MoveSymbolArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// The target file; created if missing.
    pub to: String,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The answer to a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct MovedSymbolOutput {
    #[serde(flatten)]
    edits: EditsOutput,
    /// Places to change by hand, in the new texts, with the reason.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    remaining: Places,
}

/// The places that a move leaves to its caller.
struct MoveRemainder {
    places: Vec<Place>,
    notes: Vec<String>,
}

/// The `move_symbol` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MoveSymbol;

impl Tool for MoveSymbol {
    type Args = MoveSymbolArgs;
    type Output = MovedSymbolOutput;

    fn card(&self) -> Card {
        Card::new("move_symbol", "Move a symbol", DESCRIPTION, Effect::Edit).undoable().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &MoveSymbolArgs) -> Result<CallSubjects, ToolError> {
        let mut subjects = args.address.subjects(context)?;
        subjects.paths.push(context.path(args.to.as_ref())?);
        Ok(subjects)
    }

    async fn run(&self, call: Call<'_>, args: MoveSymbolArgs) -> Result<MovedSymbolOutput, ToolError> {
        let (target, to) = (args.address.target(call.context)?, call.context.path(args.to.as_ref())?);
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let Some(symbol) = LocatedSymbol::find(call.context, &target, &mut turn).await? else { continue };
            let planned = Box::pin(plan_move(call.context, &symbol, &to)).await;
            let Some((plan, remainder)) = turn.or_replan(planned)? else { continue };
            if let Some(done) = turn.run_plan(plan).await? {
                let edits = EditsOutput { notes: remainder.notes, ..done.into() };
                return Ok(MovedSymbolOutput { edits, remaining: remainder.places.into() });
            }
        }
    }
}

const DESCRIPTION: &str = "Moves a top-level function, class or constant to another file. Imports follow (Python, TypeScript, \
     JavaScript); `remaining` lists what is left to change, and the answer says what broke. For a whole file use `move`. \
     Example: {\"symbol\": \"total\", \"path\": \"src/cart.ts\", \"to\": \"src/sums.ts\"}.";

/// The edit that moves `symbol` to `to`, and the remaining uses.
async fn plan_move(
    context: &Context,
    symbol: &LocatedSymbol,
    to: &WorkspacePath,
) -> Result<(EditPlan, MoveRemainder), ToolError> {
    context.check_saved(std::iter::once(to))?;
    let there = read_existing(context, to)?;
    must_fit(context, symbol, to, there.as_ref()).await?;
    let cut = cut_block(&symbol.file.text, symbol.extent.range).ok_or_else(|| {
        let what = format!("`{}` shares its lines with other code; nothing was changed", symbol.extent.name);
        ToolError::new(ErrorCode::Unsupported, what).with_hint("move it with `edit`")
    })?;
    let planned = propose_by_server(context, symbol, &cut, to).await?;
    let moved = MovedSymbol {
        name: symbol.extent.name.clone(),
        from: symbol.path.clone(),
        to: to.clone(),
        block: planned.is_none().then(|| cut.block.clone()),
    };
    let mut proposal = planned.unwrap_or_else(|| propose_by_text(symbol, &cut, to, there.as_ref()));
    let remainder = match complete(context, moved, &mut proposal).await? {
        Some(remainder) => remainder,
        None => remaining_uses(context, symbol, &proposal).await?,
    };
    context.check_saved(proposal.files.iter().map(|file| &file.path))?;
    Ok((proposals::plan_proposal(context, "move_symbol", &proposal)?, remainder))
}

/// Adds the changes of imports that the syntax shows; `None` if the language's imports are not
/// known.
async fn complete(
    context: &Context,
    moved: MovedSymbol,
    proposal: &mut Proposal,
) -> Result<Option<MoveRemainder>, ToolError> {
    let changed = std::mem::take(&mut proposal.files).into_iter();
    // A move changes and makes files, and neither renames nor deletes any.
    let texts =
        changed.filter_map(|file| Some((file.path, MovedText { before: file.before, after: file.after? })));
    let mut texts: MovedTexts = texts.collect();
    // A use that is not read is left behind.
    let until = context.deadline(context.config.settings.deadlines.edit).into_std();
    let work = fallback::run_in_background(context, move |workspace, catalogue| {
        let left = syntax::complete_move(workspace, catalogue, &moved, &mut texts, until)?;
        Ok((texts, left))
    });
    let (texts, left) = work.await?;
    proposal.files = texts
        .into_iter()
        .map(|(path, text)| ProposedFile {
            path,
            renamed_from: None,
            before: text.before,
            after: Some(text.after),
        })
        .collect();
    Ok(left.map(|(places, is_cut)| {
        let place = |left: RemainingPlace| Place {
            path: left.path.display(),
            range: Range::new(left.position, word_end(left.position, Some(&left.line))),
            text: Some(left.line),
            enclosing: None,
            why: Some(left.why),
        };
        fitting(context, places.into_iter().map(place).collect(), is_cut, Vec::new())
    }))
}

/// The places that fit in the answer, and a note if there are others.
fn fitting(context: &Context, all: Vec<Place>, is_cut: bool, mut notes: Vec<String>) -> MoveRemainder {
    let (count, limit) = (all.len(), context.config.settings.limits.answer_items);
    let places = ListBudget::for_list(context, limit).fill(all, limit);
    match count - places.len() {
        0 => notes.extend(is_cut.then(|| "not all files were searched; more places may be left".to_owned())),
        more => notes.push(format!("{more} more places are left")),
    }
    MoveRemainder { places, notes }
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
            format!("`{name}` is nested in another definition; only top-level definitions can be moved");
        return refuse(ErrorCode::Unsupported, what);
    }
    let language = language_of(context, to, there.map(|file| file.text.as_str()));
    if context.language_file(symbol.path.clone())?.language != language
        && to.extension() != symbol.path.extension()
    {
        let what = format!("{} has another language than {}", to.display(), symbol.path.display());
        return refuse(ErrorCode::InvalidArgs, what);
    }
    let path = to.clone();
    let known = fallback::run_in_background(context, move |workspace, catalogue| {
        let until = std::time::Instant::now() + syntax::DEADLINE;
        Ok(syntax::symbols(workspace, catalogue, &path, until).ok().flatten().unwrap_or_default())
    });
    match known.await?.iter().find(|known| known.name == *name) {
        Some(known) => {
            let there = address_of(to, known.selection.start);
            refuse(ErrorCode::InvalidArgs, format!("{there} already has a `{name}`"))
        }
        None => Ok(()),
    }
}

/// The edit from the first server that can move symbols.
async fn propose_by_server(
    context: &Context,
    symbol: &LocatedSymbol,
    cut: &CutBlock,
    to: &WorkspacePath,
) -> Result<Option<Proposal>, ToolError> {
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
        let _view_guard = session
            .enter_view(&context.view, deadline)
            .await
            .map_err(|error| proposals::from_server(error.into()))?;
        let proposed = session.move_symbol(&symbol.path, symbol.extent.range, to, deadline).await;
        if let Some(mut proposal) = proposed.map_err(proposals::from_server)? {
            for file in proposal.files.iter_mut().filter(|file| file.path == *to) {
                let restored = file.after.as_deref().and_then(|text| restore_spacing(text, cut));
                file.after = restored.or_else(|| file.after.take());
            }
            return Ok(Some(proposal));
        }
    }
    Ok(None)
}

/// The edit that moves only the text.
fn propose_by_text(
    symbol: &LocatedSymbol,
    cut: &CutBlock,
    to: &WorkspacePath,
    there: Option<&TextFile>,
) -> Proposal {
    let there = there.map(|file| file.text.clone());
    let text = append_block(there.as_deref().unwrap_or_default(), cut);
    let file = |path: &WorkspacePath, before, after| ProposedFile {
        path: path.clone(),
        renamed_from: None,
        before,
        after: Some(after),
    };
    let files =
        vec![file(&symbol.path, Some(symbol.file.text.clone()), cut.rest.clone()), file(to, there, text)];
    Proposal { files, ..Proposal::default() }
}

/// The uses of the symbol, which nothing updates, in the new texts.
async fn remaining_uses(
    context: &Context,
    symbol: &LocatedSymbol,
    proposal: &Proposal,
) -> Result<MoveRemainder, ToolError> {
    let mut uses = symbol.uses(context, context.config.settings.limits.answer_items).await?;
    let maps: HashMap<String, LineMap> = proposal
        .files
        .iter()
        .filter_map(|file| {
            Some((file.path.display(), LineMap::between(file.before.as_ref()?, file.after.as_ref()?)))
        })
        .collect();
    for place in &mut uses.places {
        let line = |line| maps.get(&place.path).map_or(Some(line), |map| map.new_line(line));
        if let (Some(start), Some(end)) = (line(place.range.start.line), line(place.range.end.line)) {
            (place.range.start.line, place.range.end.line) = (start, end);
        }
    }
    let sure = if uses.found.verdict == Verdict::Complete { "" } else { " (there may be more)" };
    let note = format!(
        "imports were not updated: no server of this language can; `{}` is used {}{sure}",
        symbol.extent.name,
        uses.times()
    );
    Ok(fitting(context, uses.places, false, vec![note]))
}
