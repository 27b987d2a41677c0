//! The check of a merge that nobody has made yet: what its branches break by themselves, and what only their combination breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::time::Instant;

use super::compared_texts::ComparedTexts;
use super::judge::{GIT_TIMEOUT, JudgeOptions, judge, short_id};
use super::other_tree::{EarlierCommit, OtherTree};
use super::output::{BranchFindings, ChangesOutput, CombinedFinding, MergeConflict, MergeReport};
use crate::text::identifiers_in;
use crate::tools::answer::{Answer, DiagnosticItem, Verdict};
use crate::tools::context::Context;
use crate::tools::declaration_changes::DeclarationChanges;
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::git::merge::{MergeOutcome, common_ancestor, merge};
use crate::tools::git::revision::{self, ComparedTree, Comparison};
use crate::tools::git_access::{OpenRepository, from_git_error};
use crate::tools::impact::{EditedText, language_of};
use crate::tools::lsp_diagnostics::{DEFAULT_DIAGNOSTIC_LIMIT, DiagnosticsArgs};
use crate::workspace::WorkspacePath;

/// The most branches of one merge.
const MAX_MERGED_BRANCHES: usize = 16;

/// A branch, and what it changes.
struct MergedBranch {
    /// As it was given.
    name: String,
    /// The id of its commit.
    commit: String,
    texts: ComparedTexts,
}

/// Merges `branches` one after the other and tells what that breaks against `base`, which is their common ancestor where it is
/// not given.
///
/// # Errors
/// Where git's data cannot be had, or a branch is not known.
pub(crate) async fn check_merge(
    context: &Context,
    branches: &[String],
    base: Option<&str>,
    options: &JudgeOptions,
) -> Result<Answer<ChangesOutput>, ToolError> {
    if !(2..=MAX_MERGED_BRANCHES).contains(&branches.len()) {
        let what = format!("a merge has 2 to {MAX_MERGED_BRANCHES} branches, not {}", branches.len());
        return Err(ToolError::new(ErrorCode::InvalidArgs, what));
    }
    let deadline = Instant::now() + GIT_TIMEOUT;
    let mut opened = OpenRepository::open(context, WorkspacePath::root(), deadline).await?;
    opened.shadow.keep_objects_apart().map_err(from_git_error)?;
    let opened = Arc::new(opened);
    let OpenRepository { repository, shadow } = &*opened;
    let mut commits = Vec::new();
    for name in branches {
        let id = revision::commit(shadow, repository, name).await.map_err(from_git_error)?;
        commits.push((name.clone(), id));
    }
    let base = match base {
        Some(name) => revision::commit(shadow, repository, name).await,
        None => common_ancestor(shadow, repository, &commits).await,
    }
    .map_err(from_git_error)?;
    let (merged, left, conflicts) = merge_all(context, &opened, &base, commits).await?;
    let limit = options.findings.limit;
    let options = &JudgeOptions {
        findings: DiagnosticsArgs { limit: Some(usize::MAX), ..options.findings.clone() },
        ..options.clone()
    };
    let mut answer = judge_commit(context, &opened, &base, &merged, options).await?;
    let mut report = MergeReport {
        branches: branches.to_vec(),
        conflicts,
        by_branch: Vec::new(),
        by_combination: 0,
        combined: Vec::new(),
    };
    attribute(context, &opened, (&base, &left), &mut answer, &mut report, options).await?;
    let found = &mut answer.output.found;
    found.has_more |= found.diagnostics.len() > limit.unwrap_or(DEFAULT_DIAGNOSTIC_LIMIT);
    found.diagnostics.truncate(limit.unwrap_or(DEFAULT_DIAGNOSTIC_LIMIT));
    if !report.conflicts.is_empty() {
        let out: BTreeSet<&str> = report.conflicts.iter().map(|conflict| conflict.branch.as_str()).collect();
        let out: Vec<&str> = out.into_iter().collect();
        answer.notes.push(format!("left out, since git cannot merge it: {}", out.join(", ")));
        if answer.verdict == Verdict::Complete {
            answer.verdict = Verdict::Partial;
        }
    }
    answer.output.merge = Some(report);
    Ok(answer)
}

/// The commit that holds all branches that fit together, those branches, and what did not fit.
async fn merge_all(
    context: &Context,
    opened: &OpenRepository,
    base: &str,
    commits: Vec<(String, String)>,
) -> Result<(String, Vec<MergedBranch>, Vec<MergeConflict>), ToolError> {
    let OpenRepository { repository, shadow } = opened;
    let (mut merged, mut left, mut conflicts) = (None::<String>, Vec::new(), Vec::new());
    for (name, commit) in commits {
        merged = Some(match merged {
            None => commit.clone(),
            Some(before) => {
                match merge(shadow, repository, &before, &commit).await.map_err(from_git_error)? {
                    MergeOutcome::Clean(id) => id,
                    MergeOutcome::Conflict(paths) => {
                        conflicts.extend(paths.into_iter().map(|path| {
                            let shown = context.workspace.path(&repository.top.join(&path));
                            let path =
                                shown.map_or_else(|_| path.display().to_string(), |path| path.display());
                            MergeConflict { path, branch: name.clone() }
                        }));
                        merged = Some(before);
                        continue;
                    }
                }
            }
        });
        let comparison = Comparison { before: base.to_owned(), after: ComparedTree::Object(commit.clone()) };
        let texts = ComparedTexts::read(context, opened, &comparison).await?;
        left.push(MergedBranch { name, commit, texts });
    }
    Ok((merged.unwrap_or_else(|| base.to_owned()), left, conflicts))
}

/// What the tree of `commit` breaks against that of `base`.
async fn judge_commit(
    context: &Context,
    opened: &Arc<OpenRepository>,
    base: &str,
    commit: &str,
    options: &JudgeOptions,
) -> Result<Answer<ChangesOutput>, ToolError> {
    let comparison = Comparison { before: base.to_owned(), after: ComparedTree::Object(commit.to_owned()) };
    let texts = ComparedTexts::read(context, opened, &comparison).await?;
    let earlier = EarlierCommit::new(context, opened, base.to_owned(), false);
    let later = OtherTree::write(context, opened, &comparison.after, false).await?;
    let compared = format!("{} → merge", short_id(base));
    let answer = judge(&later.context, &texts, earlier, true, compared, options).await;
    later.close().await;
    Ok(answer)
}

/// Tells whose the findings of the merge are. Where it brings none, nobody else is looked at.
async fn attribute(
    context: &Context,
    opened: &Arc<OpenRepository>,
    (base, branches): (&str, &[MergedBranch]),
    answer: &mut Answer<ChangesOutput>,
    report: &mut MergeReport,
    options: &JudgeOptions,
) -> Result<(), ToolError> {
    let mut left: Vec<DiagnosticItem> = answer.output.found.diagnostics.clone();
    for branch in branches {
        let mut own = Vec::new();
        if !left.is_empty() {
            let options = JudgeOptions { interfaces: false, ..options.clone() };
            let alone = judge_commit(context, opened, base, &branch.commit, &options).await?;
            if alone.verdict != Verdict::Complete {
                let what = format!("what {} breaks by itself may not be all", branch.name);
                answer.notes.push(what);
            }
            own = alone.output.found.diagnostics;
        }
        report.by_branch.push(BranchFindings { branch: branch.name.clone(), findings: own.len() });
        left.retain(|item| {
            let known = own.iter().position(|known| words_of(known) == words_of(item));
            known.map(|at| own.swap_remove(at)).is_none()
        });
    }
    report.by_combination = left.len();
    let changed: Vec<(&MergedBranch, Vec<DeclarationChanges>)> =
        branches.iter().map(|branch| (branch, declarations(context, &branch.texts.edits))).collect();
    report.combined = left.iter().map(|item| combined(item, &changed)).collect();
    Ok(())
}

/// What a finding says, wherever it stands: a merge moves lines.
type FindingWords<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

fn words_of(item: &DiagnosticItem) -> FindingWords<'_> {
    (&item.path, &item.server, item.code.as_deref(), &item.message)
}

fn declarations(context: &Context, edits: &[EditedText]) -> Vec<DeclarationChanges> {
    let mut by_language: BTreeMap<String, Vec<&EditedText>> = BTreeMap::new();
    for edit in edits {
        let text = edit.after.as_deref().or(edit.before.as_deref());
        if let Some(language) = language_of(context, &edit.path, text) {
            by_language.entry(language).or_default().push(edit);
        }
    }
    let changes = |(language, edits): (String, Vec<&EditedText>)| {
        DeclarationChanges::from_edits(&language, edits.into_iter())
    };
    by_language.into_iter().map(changes).collect()
}

/// Which branches meet in a finding.
fn combined(item: &DiagnosticItem, changed: &[(&MergedBranch, Vec<DeclarationChanges>)]) -> CombinedFinding {
    let words = identifiers_in(&item.message, 0);
    let edits_it =
        |branch: &MergedBranch| branch.texts.edits.iter().any(|edit| edit.path.display() == item.path);
    let declares = |changes: &DeclarationChanges| {
        words.iter().any(|word| changes.names.contains(&word.name) || changes.imported.contains(&word.name))
    };
    let names = |wanted: &dyn Fn(&MergedBranch, &[DeclarationChanges]) -> bool| -> Vec<String> {
        let meant = changed.iter().filter(|(branch, changes)| wanted(branch, changes));
        meant.map(|(branch, _)| branch.name.clone()).collect()
    };
    CombinedFinding {
        path: item.path.clone(),
        line: item.range.start.line,
        changed_by: names(&|branch, _| edits_it(branch)),
        used_from: names(&|_, changes| changes.iter().any(declares)),
    }
}
