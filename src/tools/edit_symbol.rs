//! `edit_symbol`: a definition replaced, removed, or given a neighbour, addressed by the symbol's name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::address::Address;
use super::answer::{Answer, LocationsOutput, Verdict};
use super::context::Context;
use super::definition::{Definition, DefinitionExtent};
use super::editing::{EditRunOptions, EditingTurn, must_be_whole, plan_write, read_existing};
use super::error::{ErrorCode, ToolError};
use super::lsp_navigate;
use super::place::Place;
use super::target::Target;
use super::tool::{Call, Card, Tool};
use super::write::EditOutput;
use crate::lsp::operations::Navigation;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::{BlockEdit, LineColumn, edit_block};
use crate::workspace::WorkspacePath;
use crate::workspace::edit::{EditPlan, LineEnds};

/// The most definitions and uses that an error lists, and those that its sentence names.
const MAX_LISTED_PLACES: usize = 50;
const MAX_NAMED_PLACES: usize = 3;

/// The arguments of `edit_symbol`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct EditSymbolArgs {
    /// Which symbol.
    #[serde(flatten)]
    pub address: Address,
    /// The whole new definition, signature included; decorators above it may be left out.
    pub body: Option<String>,
    /// Code to insert before it.
    pub before: Option<String>,
    /// Code to insert after it.
    pub after: Option<String>,
    /// Delete it, if nothing uses it.
    pub delete: Option<bool>,
    /// Change nothing, tell what would.
    pub dry_run: Option<bool>,
    /// Tell what it breaks.
    pub diagnostics: Option<bool>,
}

/// The tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EditSymbol;

impl Tool for EditSymbol {
    type Args = EditSymbolArgs;
    type Output = EditOutput;

    fn card(&self) -> Card {
        Card::new("edit_symbol", "Edit a symbol", DESCRIPTION, Effect::Edit).with_rank(10).undoable()
    }

    fn subjects(&self, context: &Context, args: &EditSymbolArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: EditSymbolArgs) -> Result<EditOutput, ToolError> {
        let (target, edit) = (args.address.target()?, wanted_edit(&args)?);
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let (plan, path, text) = match plan(call.context, &target, edit).await? {
                Planned::Edit(plan, path, text) => (plan, path, text),
                Planned::Stale(changed) => {
                    turn.or_replan::<()>(Err(changed))?;
                    continue;
                }
            };
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(EditOutput::new(done, &path, &text));
            }
        }
    }
}

const DESCRIPTION: &str = "Replaces a whole function, method or class by its name (`body`), inserts code `before` or `after` it, or \
     deletes it if nothing uses it: no old text to quote. For a few lines use `edit`. Answers a diff and what it broke. \
     Example: {\"symbol\": \"Cart.total\", \"body\": \"def total(self):\\n    return 0\"}.";

/// What the arguments ask for.
fn wanted_edit(args: &EditSymbolArgs) -> Result<BlockEdit<'_>, ToolError> {
    let delete = args.delete.unwrap_or(false).then_some(BlockEdit::Remove);
    let all = [
        args.body.as_deref().map(BlockEdit::Replace),
        args.before.as_deref().map(BlockEdit::InsertBefore),
        args.after.as_deref().map(BlockEdit::InsertAfter),
        delete,
    ];
    let mut wanted = all.into_iter().flatten();
    match (wanted.next(), wanted.next()) {
        (
            Some(BlockEdit::Replace(text) | BlockEdit::InsertBefore(text) | BlockEdit::InsertAfter(text)),
            None,
        ) if text.trim().is_empty() => {
            let what = "edit_symbol: the text is empty; nothing was changed";
            Err(ToolError::new(ErrorCode::InvalidArgs, what).with_hint("`delete: true` removes the symbol"))
        }
        (Some(edit), None) => Ok(edit),
        _ => {
            let what = "edit_symbol: give one of `body`, `before`, `after` and `delete`";
            Err(ToolError::new(ErrorCode::InvalidArgs, what))
        }
    }
}

/// What is to be done.
enum Planned {
    /// The edit of the file as it is on disk, the file, and its new text.
    Edit(EditPlan, WorkspacePath, String),
    /// The server's outline is of another text than the disk has now.
    Stale(ToolError),
}

async fn plan(context: &Context, target: &Target, edit: BlockEdit<'_>) -> Result<Planned, ToolError> {
    let found = lsp_navigate::run(context, Navigation::Definition, target, Some(MAX_LISTED_PLACES)).await?;
    let definition = Definition::new(context, target, &found)?;
    let path = only_file(&definition, &found)?;
    context.check_saved(std::iter::once(&path))?;
    let file = read_existing(context, &path)?.ok_or_else(|| {
        ToolError::new(ErrorCode::NotFound, format!("there is no file {} any more", path.display()))
    })?;
    let extent = definition.extent(context).await.ok_or_else(|| no_extent(&definition.place))?;
    if context.text(&path)?.to_string() != file.text {
        let what =
            format!("{} was changed while its symbols were looked up; nothing was changed", path.display());
        return Ok(Planned::Stale(ToolError::new(ErrorCode::Conflict, what).with_hint("ask again")));
    }
    if edit == BlockEdit::Remove {
        must_be_unused(context, &definition, &path, &extent).await?;
    }
    let text = edit_block(&file.text, extent.range, edit);
    must_be_whole(&path, Some(&file), &text)?;
    let mut plan = EditPlan::new("edit_symbol");
    plan_write(&mut plan, &path, Some(&file), &text, LineEnds::AsGiven);
    Ok(Planned::Edit(plan, path, text))
}

/// The file of the definition, which must be the only one, or the one that was asked about.
fn only_file(definition: &Definition, found: &Answer<LocationsOutput>) -> Result<WorkspacePath, ToolError> {
    if found.output.locations.len() > 1 && !definition.is_asked {
        let places = shown_places(&found.output.locations);
        let what =
            format!("the symbol has {} definitions: {places}; nothing was changed", found.output.count);
        return Err(
            ToolError::new(ErrorCode::InvalidArgs, what).with_hint("name the one meant by `path` and `line`")
        );
    }
    definition.path.clone().ok_or_else(|| {
        let what = format!("the symbol is defined outside the workspace, in {}", definition.place.path);
        ToolError::new(ErrorCode::OutsideWorkspace, what)
    })
}

fn no_extent(place: &Place) -> ToolError {
    let at = LineColumn::from(place.range.start);
    let what = format!("{}:{at}: it is not known where the definition ends; nothing was changed", place.path);
    ToolError::new(ErrorCode::Unsupported, what).with_hint("change it with `edit`")
}

/// Refuses to remove what is used, and what may be.
async fn must_be_unused(
    context: &Context,
    definition: &Definition,
    path: &WorkspacePath,
    extent: &DefinitionExtent,
) -> Result<(), ToolError> {
    let found =
        lsp_navigate::run(context, Navigation::References, &definition.target, Some(MAX_LISTED_PLACES))
            .await?;
    let own = path.display();
    let is_own = |place: &&Place| place.path == own && extent.range.encloses(&place.range);
    let own_uses = found.output.locations.iter().filter(is_own).count();
    let mut uses: Vec<Place> =
        found.output.locations.iter().filter(|place| !is_own(place)).cloned().collect();
    if !uses.is_empty() {
        if found.verdict != Verdict::Hints {
            context.name_enclosing_symbols(&mut uses).await;
        }
        let count = found.output.count - own_uses;
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let what = format!("`{}` is used {times}: {}; nothing was changed", extent.name, shown_places(&uses));
        let error = ToolError::new(ErrorCode::Conflict, what).with_hint("remove these uses first");
        let details = LocationsOutput {
            has_more: count > uses.len(),
            locations: uses.into(),
            count,
            ..LocationsOutput::default()
        };
        return Err(error.with_details(&Answer { output: details, ..found }));
    }
    match found.verdict {
        // The text was searched, and has the name nowhere else.
        Verdict::Complete | Verdict::Hints => Ok(()),
        Verdict::Partial | Verdict::NoData => {
            let why = found.server_status.detail.unwrap_or_else(|| "the answer is not complete".to_owned());
            let what =
                format!("it is not known whether `{}` is used: {why}; nothing was changed", extent.name);
            Err(ToolError::new(ErrorCode::Timeout, what).with_hint("ask again when the server is ready"))
        }
    }
}

fn shown_places(places: &[Place]) -> String {
    let shown = places.iter().take(MAX_NAMED_PLACES);
    let shown = shown.map(|place| format!("{}:{}", place.path, LineColumn::from(place.range.start)));
    let more = if places.len() > MAX_NAMED_PLACES { ", …" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_symbol_takes_exactly_one_kind_of_edit() {
        let args = |body: Option<&str>, after: Option<&str>, delete| EditSymbolArgs {
            body: body.map(str::to_owned),
            after: after.map(str::to_owned),
            delete,
            ..EditSymbolArgs::default()
        };
        assert_eq!(wanted_edit(&args(Some("x"), None, None)), Ok(BlockEdit::Replace("x")));
        assert_eq!(wanted_edit(&args(None, None, Some(true))), Ok(BlockEdit::Remove));
        let refused = |args: &EditSymbolArgs| wanted_edit(args).unwrap_err().error;
        assert!(refused(&args(None, None, Some(false))).contains("give one of"));
        assert!(refused(&args(Some("x"), Some("y"), None)).contains("give one of"));
        assert!(refused(&args(Some(" \n"), None, None)).contains("the text is empty"));
    }
}
