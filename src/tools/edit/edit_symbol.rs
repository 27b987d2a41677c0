//! `edit_symbol`: a definition replaced, removed, or given a neighbour, addressed by the symbol's
//! name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::editing::{EditRunOptions, EditingTurn, must_be_whole, plan_write};
use super::located_symbol::{LocatedSymbol, MAX_LISTED_PLACES, shown_places};
use super::write::EditOutput;
use crate::analysis::answer::{Answer, LocationsOutput, Verdict};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::{CallSubjects, Effect};
use crate::text::{BlockEdit, edit_block};
use crate::tools::api::address::Address;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::edit::{EditPlan, LineEnds};

/// The arguments of `edit_symbol`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct EditSymbolArgs {
    /// The symbol.
    #[serde(flatten)]
    pub address: Address,
    /// The whole new definition, signature included; decorators above it may be omitted.
    pub body: Option<String>,
    /// Code to insert before the symbol.
    pub before: Option<String>,
    /// Code to insert after the symbol.
    pub after: Option<String>,
    /// Delete the symbol if it is unused.
    pub delete: Option<bool>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The `edit_symbol` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EditSymbol;

impl Tool for EditSymbol {
    type Args = EditSymbolArgs;
    type Output = EditOutput;

    fn card(&self) -> Card {
        Card::new("edit_symbol", "Edit a symbol", DESCRIPTION, Effect::Edit)
            .with_rank(10)
            .undoable()
            .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &EditSymbolArgs) -> Result<CallSubjects, ToolError> {
        args.address.subjects(context)
    }

    async fn run(&self, call: Call<'_>, args: EditSymbolArgs) -> Result<EditOutput, ToolError> {
        let (target, edit) = (args.address.target(call.context)?, wanted_edit(&args)?);
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let Some(symbol) = LocatedSymbol::find(call.context, &target, &mut turn).await? else { continue };
            let (plan, text) = plan(call.context, &symbol, edit).await?;
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(EditOutput::new(done, &symbol.path, &text));
            }
        }
    }
}

const DESCRIPTION: &str = "Replaces a whole function, method or class by its name (`body`), inserts code `before` or `after` it, or \
     deletes it if nothing uses it: no old text to quote. For a few lines use `edit`. Answers a diff and new errors. \
     Example: {\"symbol\": \"Cart.total\", \"body\": \"def total(self):\\n    return 0\"}.";

/// The edit that the arguments request.
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

/// The edit of the symbol's file on disk, and its new text.
async fn plan(
    context: &Context,
    symbol: &LocatedSymbol,
    edit: BlockEdit<'_>,
) -> Result<(EditPlan, String), ToolError> {
    if edit == BlockEdit::Remove {
        must_be_unused(context, symbol).await?;
    }
    let LocatedSymbol { path, file, extent, .. } = symbol;
    let text = edit_block(&file.text, extent.range, edit);
    must_be_whole(path, Some(file), &text)?;
    let mut plan = EditPlan::new("edit_symbol");
    plan_write(&mut plan, path, Some(file), &text, LineEnds::AsGiven);
    Ok((plan, text))
}

/// Refuses to remove a definition that is used or may be used.
async fn must_be_unused(context: &Context, symbol: &LocatedSymbol) -> Result<(), ToolError> {
    let mut uses = symbol.uses(context, MAX_LISTED_PLACES).await?;
    let name = &symbol.extent.name;
    if !uses.places.is_empty() {
        if uses.found.verdict != Verdict::Hints {
            context.name_enclosing_symbols(&mut uses.places).await;
        }
        let what =
            format!("`{name}` is used {}: {}; nothing was changed", uses.times(), shown_places(&uses.places));
        let error = ToolError::new(ErrorCode::Conflict, what).with_hint("remove these uses first");
        let details = LocationsOutput {
            has_more: uses.count > uses.places.len(),
            locations: uses.places.into(),
            count: uses.count,
            ..LocationsOutput::default()
        };
        return Err(error.into_answer().with_details(&Answer { output: details, ..uses.found }));
    }
    match uses.found.verdict {
        // The text search found the name nowhere else.
        Verdict::Complete | Verdict::Hints => Ok(()),
        Verdict::Partial | Verdict::NoData => {
            let reason =
                uses.found.server_status.detail.unwrap_or_else(|| "the answer is incomplete".to_owned());
            let what = format!("the uses of `{name}` are unknown: {reason}; nothing was changed");
            Err(ToolError::new(ErrorCode::Timeout, what).with_hint("try again when the server is ready"))
        }
    }
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
