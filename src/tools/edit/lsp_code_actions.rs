//! `lsp_code_actions`: the code actions that servers offer at a place, and the application of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::Instant;

use super::editing::{EditRunOptions, EditingTurn, FileResult, ToolEditResult};
use super::proposals;
use crate::analysis::answer::ServerStatus;
use crate::analysis::ask::fallback;
use crate::analysis::breakage::edit_judgement::EditJudgement;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::items::budget;
use crate::analysis::items::budget::{ListBudget, MAX_DIAGNOSTICS_PER_ACTION};
use crate::analysis::target::Target;
use crate::lsp::documents::edits::{CODE_ACTION, OfferedAction, Proposal, ProposalError};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::readiness::UnfinishedWork;
use crate::policy::request::{CallSubjects, Effect};
use crate::text::{Position, Range};
use crate::tools::api::address::place_at;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The arguments of `lsp_code_actions`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct CodeActionsArgs {
    /// The file.
    pub path: Option<PathBuf>,
    /// 0-based; else the whole file.
    pub line: Option<u32>,
    /// 0-based; else the whole line.
    pub character: Option<u32>,
    /// Last line, if several.
    pub end_line: Option<u32>,
    /// Instead of these: `path:line:column`, 1-based.
    pub at: Option<String>,
    /// `quickfix`, `refactor`, `source.organizeImports`, …
    pub kind: Option<String>,
    /// Title of the action to apply; else actions are listed.
    pub apply: Option<String>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The file, and the arguments with the position of `at` as numbers.
fn placed(
    context: &Context,
    mut args: CodeActionsArgs,
) -> Result<(WorkspacePath, CodeActionsArgs), ToolError> {
    let invalid = |what: &str| ToolError::new(ErrorCode::InvalidArgs, format!("lsp_code_actions: {what}"));
    if let Some(at) = args.at.take() {
        let (path, start) = match place_at(context, args.path.as_deref(), &at)? {
            Target::Position { path, position } => (path, (position.line, Some(position.character))),
            Target::NameOnLine { path, line0, .. } => (path, (line0, None)),
            Target::NameInFile { .. } | Target::Name(_) | Target::File(_) => {
                return Err(invalid("`at` has no line; give `path:line:column`"));
            }
        };
        (args.path, args.line, args.character) = (Some(path), Some(start.0), start.1);
    }
    let path = args.path.as_ref().ok_or_else(|| invalid("give `path` or `at`"))?;
    Ok((context.path(path)?, args))
}

/// A code action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ActionItem {
    /// The title, as `apply` takes it.
    pub title: String,
    /// LSP's kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The server's key.
    pub server: String,
    /// True if the server prefers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preferred: bool,
    /// The reason why it is not available now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
    /// The diagnostics that it fixes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<String>,
}

/// The output of `lsp_code_actions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CodeActionsOutput {
    /// The available actions, if none was to be applied.
    pub actions: Vec<ActionItem>,
    /// The changed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<FileResult>,
    /// The id that `undo` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The diagnostics added and removed by an applied action.
    #[serde(flatten)]
    pub judgement: Option<EditJudgement>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The `lsp_code_actions` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspCodeActions;

impl Tool for LspCodeActions {
    type Args = CodeActionsArgs;
    type Output = CodeActionsOutput;

    fn card(&self) -> Card {
        Card::new(
            "lsp_code_actions",
            "Code actions",
            "Quick fixes and refactorings for a line or file: lists them, or does one (`apply`). For many files use `fix`. \
             Example: {\"path\": \"shop/cart.py\", \"line\": 3, \"kind\": \"quickfix\"}.",
            Effect::Edit,
        )
        .with_rank(18)
        .undoable().beyond_core()
    }

    fn subjects(&self, context: &Context, args: &CodeActionsArgs) -> Result<CallSubjects, ToolError> {
        let (path, _) = placed(context, args.clone())?;
        Ok(CallSubjects { paths: vec![path], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: CodeActionsArgs) -> Result<CodeActionsOutput, ToolError> {
        let context = call.context;
        let (path, args) = placed(context, args)?;
        let subject = context.language_file(path)?;
        let deadline = context.deadline(context.config.settings.deadlines.edit);
        let Some(title) = &args.apply else {
            let offers = collect_code_actions(context, &subject, &args, deadline).await?;
            let limit = context.config.settings.limits.answer_items;
            let actions =
                ListBudget::for_list(context, limit).fill(offers.found.iter().map(to_action_item), limit);
            let (mut notes, rest) = (offers.notes, offers.found.len() - actions.len());
            notes.extend((rest > 0).then(|| format!("{rest} more actions are omitted")));
            return Ok(CodeActionsOutput {
                actions,
                results: Vec::new(),
                undo: None,
                judgement: None,
                notes,
            });
        };
        let (done, mut notes) = apply(&call, &subject, &args, title).await?;
        if done.files.is_empty() {
            notes.push(format!("`{title}` changes nothing"));
        }
        Ok(CodeActionsOutput {
            actions: Vec::new(),
            results: done.files,
            undo: done.undo,
            judgement: Some(done.judgement),
            notes,
        })
    }
}

/// Applies the action with the title `title`.
async fn apply(
    call: &Call<'_>,
    subject: &LanguageFile,
    args: &CodeActionsArgs,
    title: &str,
) -> Result<(ToolEditResult, Vec<String>), ToolError> {
    let context = call.context;
    let mut turn = EditingTurn::without_claim(call, EditRunOptions::new(args.dry_run, args.diagnostics));
    loop {
        let deadline = context.deadline(context.config.settings.deadlines.edit);
        let CollectedCodeActions { found, mut notes } =
            collect_code_actions(context, subject, args, deadline).await?;
        let chosen = choose(found, title)?;
        let proposed = chosen.proposal(context, deadline).await;
        let Some(proposal) = turn.or_replan(proposed)? else { continue };
        let plan = proposals::plan_proposal(context, "lsp_code_actions", &proposal);
        let Some(plan) = turn.or_replan(plan)? else { continue };
        if let Some(done) = turn.run_plan(plan).await? {
            notes.extend(left_out_note(&proposal));
            return Ok((done, notes));
        }
    }
}

/// An action, and the server that offers it.
pub(super) struct ServerCodeAction {
    /// The server.
    pub(super) session: Arc<Session>,
    /// The offered action.
    pub(super) action: OfferedAction,
}

impl ServerCodeAction {
    /// The edit that the action would make.
    pub(super) async fn proposal(&self, context: &Context, deadline: Instant) -> Result<Proposal, ToolError> {
        let proposed = match self.session.enter_view(&context.view, deadline).await {
            Ok(_view_guard) => self.session.action_edit(&self.action, deadline).await,
            Err(error) => Err(error.into()),
        };
        proposed.map_err(proposals::from_server)
    }
}

/// The note that a command which the server wants to run after its edit is not run.
pub(super) fn left_out_note(proposal: &Proposal) -> Option<String> {
    proposal.left_out.as_ref().map(|command| format!("the server's command {command} was not run"))
}

/// The actions offered by servers.
pub(super) struct CollectedCodeActions {
    /// The actions, in the order of the servers and of each server's response.
    pub(super) found: Vec<ServerCodeAction>,
    /// Further notes.
    pub(super) notes: Vec<String>,
}

/// Requests actions from every server for the language that offers them. Fails if no server could
/// be asked.
pub(super) async fn collect_code_actions(
    context: &Context,
    subject: &LanguageFile,
    args: &CodeActionsArgs,
    deadline: Instant,
) -> Result<CollectedCodeActions, ToolError> {
    context.must_be_text(&subject.path)?;
    context.prepare_for([subject].into_iter()).await?;
    context.manager.refresh().await;
    let started = Instant::now();
    let mut offers = CollectedCodeActions { found: Vec::new(), notes: Vec::new() };
    let (mut answered, mut failure): (bool, Option<ServerStatus>) = (false, None);
    let servers = context.servers_for(subject, |features| features.actions);
    let mut servers: VecDeque<&str> = servers.into_iter().map(|(key, _)| key).collect();
    let mut is_substituted = false;
    while let Some(server) = servers.pop_front() {
        let session = match context.session(server, subject, deadline).await {
            Ok(session) => session,
            Err(status) => {
                offers.notes.push(format!("{server}: {}", status.detail.clone().unwrap_or_default()));
                failure.get_or_insert(status);
                continue;
            }
        };
        let asked = actions(context, &session, &subject.path, args, deadline).await;
        // A server may not know the kind of action, such as refactorings.
        let lacks = match &asked {
            Ok(offered) => offered.as_ref().is_none_or(|(list, _)| list.is_empty() && args.kind.is_some()),
            Err(_) => false,
        };
        if lacks
            && servers.is_empty()
            && offers.found.is_empty()
            && !is_substituted
            && let Some((other, note)) = context.substitute_server(server, subject, CODE_ACTION)
        {
            servers.push_back(other);
            offers.notes.push(note);
            is_substituted = true;
        }
        match asked {
            Ok(None) => {
                failure.get_or_insert(context.unsupported_status(server, subject, CODE_ACTION, started));
            }
            Ok(Some((actions, working))) => {
                answered = true;
                let differs = session.shortfall_reason(&subject.path);
                offers.notes.extend(differs.filter(|_| is_substituted && !actions.is_empty()));
                offers
                    .notes
                    .extend(working.map(|busy| format!("{}; try again for more", busy.sentence(server))));
                let found =
                    actions.into_iter().map(|action| ServerCodeAction { session: session.clone(), action });
                offers.found.extend(found);
            }
            Err(error) => {
                offers.notes.push(format!("{server}: {error}"));
                if let ProposalError::Ask(error) = &error {
                    failure.get_or_insert(context.failed_status(&session, subject, error, started).await);
                }
            }
        }
    }
    match answered {
        true => Ok(offers),
        false => {
            let status = failure.unwrap_or_else(|| context.no_server(subject, started));
            Err(fallback::refusal_error(&status))
        }
    }
}

type SessionCodeActions = Option<(Vec<OfferedAction>, Option<UnfinishedWork>)>;

async fn actions(
    context: &Context,
    session: &Session,
    path: &WorkspacePath,
    args: &CodeActionsArgs,
    deadline: Instant,
) -> Result<SessionCodeActions, ProposalError> {
    let _view_guard = session.enter_view(&context.view, deadline).await?;
    let (synced, snapshot) = session.sync(path).await?;
    drop(synced);
    if !session.offers(CODE_ACTION, path, &snapshot.language_id)
        && !session.wait_for_registration(CODE_ACTION, path, &snapshot.language_id, deadline).await
    {
        return Ok(None);
    }
    let buffer = &snapshot.buffer;
    let range = match (args.line, args.character) {
        (None, _) => Range::new(Position::new(0, 0), buffer.end()),
        (Some(line), Some(character)) if args.end_line.is_none() => {
            Range::empty(buffer.clamp(Position::new(line, character)))
        }
        (Some(line), character) => {
            let last = args.end_line.unwrap_or(line);
            let start = Position::new(line, character.unwrap_or(0));
            Range::new(buffer.clamp(start), buffer.clamp(Position::new(last, u32::MAX)))
        }
    };
    let found = session.code_actions(path, range, args.kind.as_deref(), deadline).await?;
    Ok(Some((found.list, found.unfinished_work)))
}

/// The action with the title `title`; an error with the available titles if there is no such
/// action.
fn choose(offers: Vec<ServerCodeAction>, title: &str) -> Result<ServerCodeAction, ToolError> {
    let titles: Vec<String> = offers.iter().map(|offer| format!("`{}`", offer.action.title)).collect();
    let mut fitting = offers.into_iter().filter(|offer| offer.action.title == title);
    fitting.next().ok_or_else(|| {
        let what = format!("no action here has the title `{title}`");
        let there = if titles.is_empty() { "none is available here".to_owned() } else { titles.join(", ") };
        ToolError::new(ErrorCode::NotFound, what).with_hint(format!("offered: {}", budget::message(&there)))
    })
}

fn to_action_item(offer: &ServerCodeAction) -> ActionItem {
    let action = &offer.action;
    ActionItem {
        title: budget::name(action.title.clone()),
        kind: budget::name(action.kind.clone()),
        server: offer.session.server().to_owned(),
        preferred: action.preferred,
        disabled: action.disabled.clone().map(budget::name),
        fixes: action.fixes.iter().take(MAX_DIAGNOSTICS_PER_ACTION).map(|fix| budget::message(fix)).collect(),
    }
}
