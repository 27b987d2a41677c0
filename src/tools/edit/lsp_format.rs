//! `lsp_format`: formatting of a file by its language server.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::editing::{EditRunOptions, EditingTurn};
use super::move_file::EditsOutput;
use super::proposals;
use crate::analysis::ask::fallback;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::documents::edits::{FORMAT, FORMAT_RANGE, Proposal, ProposalError};
use crate::lsp::session::live_session::Session;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::{Position, Range};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The arguments of `lsp_format`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct FormatArgs {
    /// The file.
    pub path: String,
    /// First line of a range, 0-based.
    pub start_line: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Only preview.
    pub dry_run: Option<bool>,
}

/// The `lsp_format` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspFormat;

impl Tool for LspFormat {
    type Args = FormatArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new(
            "lsp_format",
            "Format a file",
            "Formats a file, or lines of it, as its language server does; answers a diff. To sort imports use `fix`. \
             Example: {\"path\": \"shop/cart.py\"}.",
            Effect::Edit,
        )
        .idempotent()
        .with_rank(19)
        .undoable().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &FormatArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![context.path(args.path.as_ref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: FormatArgs) -> Result<EditsOutput, ToolError> {
        let context = call.context;
        let path = context.path(args.path.as_ref())?;
        let range = lines(&args)?;
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, None));
        loop {
            let Some(proposal) = turn.or_replan(format_proposal(context, &path, range).await)? else {
                continue;
            };
            let plan = proposals::plan_proposal(context, "lsp_format", &proposal);
            let Some(plan) = turn.or_replan(plan)? else { continue };
            if let Some(done) = turn.run_plan(plan).await? {
                return Ok(done.into());
            }
        }
    }
}

fn lines(args: &FormatArgs) -> Result<Option<Range>, ToolError> {
    match (args.start_line, args.end_line) {
        (None, None) => Ok(None),
        (Some(first), Some(last)) if first <= last => {
            Ok(Some(Range::new(Position::new(first, 0), Position::new(last + 1, 0))))
        }
        _ => {
            let what = "lsp_format: give `start_line` and `end_line` together, the first not after the last";
            Err(ToolError::new(ErrorCode::InvalidArgs, what))
        }
    }
}

/// The edit of the first server that can format the language.
async fn format_proposal(
    context: &Context,
    path: &WorkspacePath,
    range: Option<Range>,
) -> Result<Proposal, ToolError> {
    let subject = context.language_file(path.clone())?;
    context.must_be_text(path)?;
    context.prepare_for([&subject].into_iter()).await?;
    let deadline = context.deadline(context.config.settings.deadlines.edit);
    context.manager.refresh().await;
    let started = Instant::now();
    let mut status = context.no_server(&subject, started);
    let method = if range.is_some() { FORMAT_RANGE } else { FORMAT };
    for (server, _) in context.servers_for(&subject, |features| features.format) {
        let session = match context.session(server, &subject, deadline).await {
            Ok(session) => session,
            Err(reason) => {
                status = reason;
                continue;
            }
        };
        match format(context, &session, path, range, method, deadline).await {
            Ok(Some(proposal)) => return Ok(proposal),
            Ok(None) => {
                status = context.unsupported_status(server, &subject, method, started);
            }
            Err(ProposalError::Ask(error)) => {
                status = context.failed_status(&session, &subject, &error, started).await;
            }
            Err(error) => return Err(proposals::from_server(error)),
        }
    }
    Err(fallback::refusal_error(&status))
}

/// The edit of one server; `None` if it does not support formatting.
async fn format(
    context: &Context,
    session: &Session,
    path: &WorkspacePath,
    range: Option<Range>,
    method: &str,
    deadline: Instant,
) -> Result<Option<Proposal>, ProposalError> {
    let _view_guard = session.enter_view(&context.view, deadline).await?;
    let (synced, snapshot) = session.sync(path).await?;
    drop(synced);
    if !session.offers(method, path, &snapshot.language_id)
        && !session.wait_for_registration(method, path, &snapshot.language_id, deadline).await
    {
        return Ok(None);
    }
    session.format(path, range, deadline).await.map(Some)
}
