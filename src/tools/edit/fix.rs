//! `fix`: one kind of source action (organized imports), or the quick fixes of one rule, in files
//! and folders, as one edit.

pub(crate) mod fix_rule;

use std::collections::BTreeSet;

use futures::StreamExt;
use futures::stream;
use schemars::JsonSchema;
use serde::Deserialize;

use self::fix_rule::{RuleFix, propose_rule_fixes};
use super::editing::{EditRunOptions, EditingTurn};
use super::lsp_code_actions::{CodeActionsArgs, collect_code_actions, left_out_note};
use super::move_file::EditsOutput;
use super::proposals;
use crate::analysis::check::files_with_server::files_with_server;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::lsp::documents::edits::{Proposal, ProposedFile};
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};

/// The number of files that are processed concurrently.
const MAX_CONCURRENT_FIXED_FILES: usize = 4;
/// The prefix of kinds that concern a whole file.
const SOURCE_KIND: &str = "source";
/// The kind of actions that fix one finding.
const QUICK_FIX: &str = "quickfix";

/// The arguments of `fix`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct FixArgs {
    /// `source.organizeImports`, `source.fixAll`, …; `quickfix` with `rule`.
    pub kind: String,
    /// Diagnostic code: `F401`.
    pub rule: Option<String>,
    /// Start of the quick fix's title.
    pub title: Option<String>,
    /// Files and folders.
    pub paths: Vec<String>,
    /// Only preview.
    pub dry_run: Option<bool>,
    /// Report new diagnostics.
    pub diagnostics: Option<bool>,
}

/// The `fix` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fix;

impl Tool for Fix {
    type Args = FixArgs;
    type Output = EditsOutput;

    fn card(&self) -> Card {
        Card::new("fix", "Fix files", DESCRIPTION, Effect::Edit)
            .undoable()
            .long()
            .beyond_core()
            .in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &FixArgs) -> Result<CallSubjects, ToolError> {
        let paths = args.paths.iter().map(|path| context.path(path.as_ref())).collect::<Result<_, _>>()?;
        Ok(CallSubjects { paths, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: FixArgs) -> Result<EditsOutput, ToolError> {
        let wanted = wanted_fix(&args)?;
        let files = fixed_files(call.context, &args.paths)?;
        let mut turn = EditingTurn::without_claim(&call, EditRunOptions::new(args.dry_run, args.diagnostics));
        loop {
            let proposed = Box::pin(propose_fixes(call.context, &wanted, &files)).await;
            let Some((proposal, notes)) = turn.or_replan(proposed)? else { continue };
            let plan = proposals::plan_proposal(call.context, "fix", &proposal);
            let Some(plan) = turn.or_replan(plan)? else { continue };
            if let Some(done) = turn.run_plan(plan).await? {
                let mut output = EditsOutput { notes, ..done.into() };
                if output.results.is_empty() {
                    output.notes.push(format!("`{wanted}` changes nothing there"));
                }
                return Ok(output);
            }
        }
    }
}

const DESCRIPTION: &str = "Does one kind of source action of language servers in files and folders, with one undo: organize imports, fix all, or \
             all quick fixes of one `rule`. For one place use `lsp_code_actions`.";

/// The fix applied to each file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WantedFix {
    /// The source action of this kind.
    Source(String),
    /// The quick fixes of a rule.
    Rule(RuleFix),
}

impl std::fmt::Display for WantedFix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Source(kind) => f.write_str(kind),
            Self::Rule(fix) => write!(f, "{QUICK_FIX} {}", fix.rule),
        }
    }
}

fn wanted_fix(args: &FixArgs) -> Result<WantedFix, ToolError> {
    let refuse = |what: &str| Err(ToolError::new(ErrorCode::InvalidArgs, format!("fix: {what}")));
    match (&args.rule, args.kind == QUICK_FIX) {
        (Some(rule), true) if !rule.trim().is_empty() => {
            let title = args.title.clone().unwrap_or_default();
            Ok(WantedFix::Rule(RuleFix { rule: rule.trim().to_owned(), title }))
        }
        (_, true) => refuse("`quickfix` requires the `rule` to fix, such as F401"),
        (Some(_), false) => refuse("`rule` requires the kind `quickfix`"),
        (None, false) if args.title.is_some() => refuse("`title` requires the kind `quickfix`"),
        (None, false) => source_kind(&args.kind).map(WantedFix::Source),
    }
}

/// `kind` with the common prefix of source actions.
fn source_kind(kind: &str) -> Result<String, ToolError> {
    let first = kind.split('.').next().unwrap_or_default();
    match first {
        SOURCE_KIND if kind.len() > SOURCE_KIND.len() + 1 => Ok(kind.to_owned()),
        "" | SOURCE_KIND | QUICK_FIX | "refactor" => {
            let what = format!("fix: `{kind}` is not a kind of action for a whole file");
            Err(ToolError::new(ErrorCode::InvalidArgs, what).with_hint(
                "give one such as source.organizeImports or source.fixAll; `lsp_code_actions` lists what a file is offered",
            ))
        }
        _ => Ok(format!("{SOURCE_KIND}.{kind}")),
    }
}

/// The files in `paths`, including those of folders, each once.
fn fixed_files(context: &Context, paths: &[String]) -> Result<Vec<LanguageFile>, ToolError> {
    let mut files = Vec::new();
    for given in paths {
        let path = context.path(given.as_ref())?;
        if context.workspace.absolute(&path).is_dir() {
            files.extend(files_with_server(context, &path, |features| features.actions)?);
        } else {
            files.push(context.language_file(path)?);
        }
    }
    let mut known = BTreeSet::new();
    files.retain(|file| known.insert(file.path.clone()));
    if files.is_empty() {
        let what = match paths {
            [] => "fix: `paths` names no file or folder".to_owned(),
            paths => {
                format!("{} has no file that an installed server has actions for", paths.join(", "))
            }
        };
        return Err(ToolError::new(ErrorCode::InvalidArgs, what).with_hint(
            "name files or folders of a language whose server is installed; `lsp_servers` lists them",
        ));
    }
    Ok(files)
}

/// The edits that servers propose for `files`, and notes.
async fn propose_fixes(
    context: &Context,
    wanted: &WantedFix,
    files: &[LanguageFile],
) -> Result<(Proposal, Vec<String>), ToolError> {
    let ask = |file| {
        Box::pin(async move {
            let proposed = match wanted {
                WantedFix::Source(kind) => propose_fix(context, kind, file).await,
                WantedFix::Rule(fix) => propose_rule_fixes(context, fix, file).await,
            };
            (file, proposed)
        })
    };
    let requests: Vec<_> = files.iter().map(ask).collect();
    let mut requests = stream::iter(requests).buffered(MAX_CONCURRENT_FIXED_FILES);
    let (mut whole, mut notes) = (Proposal::default(), BTreeSet::new());
    let mut refused: Vec<(&LanguageFile, ToolError)> = Vec::new();
    while let Some((file, answer)) = requests.next().await {
        match answer {
            Ok((proposal, more)) => {
                notes.extend(more);
                let is_new = |one: &ProposedFile| whole.files.iter().all(|known| known.path != one.path);
                let new: Vec<_> = proposal.files.into_iter().filter(is_new).collect();
                whole.files.extend(new);
            }
            Err(error) if error.code == ErrorCode::Conflict => return Err(error),
            Err(error) => refused.push((file, error)),
        }
    }
    let count = refused.len();
    if let Some((file, error)) = refused.into_iter().next() {
        if count == files.len() {
            return Err(error);
        }
        let path = file.path.display();
        notes.insert(format!("{count} of {} files were not fixed; {path}: {}", files.len(), error.error));
    }
    Ok((whole, notes.into_iter().collect()))
}

/// The edit from the first server that would change one file.
async fn propose_fix(
    context: &Context,
    kind: &str,
    file: &LanguageFile,
) -> Result<(Proposal, Vec<String>), ToolError> {
    let deadline = context.deadline(context.config.settings.deadlines.edit);
    let arguments = CodeActionsArgs { kind: Some(kind.to_owned()), ..CodeActionsArgs::default() };
    let offers = collect_code_actions(context, file, &arguments, deadline).await?;
    let mut notes = offers.notes;
    for offer in offers.found.iter().filter(|offer| offer.action.disabled.is_none()) {
        let proposal = offer.proposal(context, deadline).await?;
        if !proposal.is_empty() {
            notes.extend(left_out_note(&proposal));
            return Ok((proposal, notes));
        }
    }
    Ok((Proposal::default(), notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_goes_with_quick_fixes_alone() {
        let wanted = |kind: &str, rule: Option<&str>| {
            let rule = rule.map(str::to_owned);
            wanted_fix(&FixArgs { kind: kind.to_owned(), rule, ..FixArgs::default() })
        };
        assert_eq!(wanted("quickfix", Some("F401")).unwrap().to_string(), "quickfix F401");
        assert!(wanted("quickfix", None).unwrap_err().error.contains("requires the `rule`"));
        assert!(wanted("quickfix", Some(" ")).unwrap_err().error.contains("requires the `rule`"));
        assert!(wanted("source.fixAll", Some("F401")).unwrap_err().error.contains("requires the kind"));
    }

    #[test]
    fn kind_of_whole_file_may_leave_its_first_word_out() {
        assert_eq!(source_kind("organizeImports").unwrap(), "source.organizeImports");
        assert_eq!(source_kind("source.fixAll.ruff").unwrap(), "source.fixAll.ruff");
        for kind in ["", "source", "source.", "quickfix", "refactor.extract"] {
            let error = source_kind(kind).unwrap_err();
            assert!(error.error.contains("not a kind of action for a whole file"), "{kind}: {error:?}");
        }
    }
}
