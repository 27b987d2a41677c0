//! The check of a merge before it is made: the new findings of each branch, and those of their
//! combination.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compared_texts::ComparedTexts;
use super::judge::{GIT_TIMEOUT, JudgeOptions, judge, short_id};
use super::other_tree::{EarlierCommit, OtherTree};
use super::output::{BranchFindings, ChangesOutput, CombinedFinding, MergeConflict, MergeReport};
use crate::analysis::answer::{Answer, DiagnosticItem, Verdict};
use crate::analysis::breakage::declaration_changes::DeclarationChanges;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::language_of;
use crate::analysis::check::checked_files::{CheckRequest, DEFAULT_DIAGNOSTIC_LIMIT};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::trees::git_access::{OpenRepository, from_git_error};
use crate::process::git::merge::{MergeOutcome, merge};
use crate::process::git::revision;
use crate::process::git::revision::{ComparedTree, Comparison};
use crate::process::git::shadow::GitDeadline;
use crate::text::identifiers_in;
use crate::workspace::WorkspacePath;

/// The most branches of one merge.
const MAX_MERGED_BRANCHES: usize = 16;

/// A branch, and its changes.
struct MergedBranch {
    /// The given name.
    name: String,
    /// The id of its commit.
    commit: String,
    texts: ComparedTexts,
}

/// The parts of a merge: its branches, and the commit that each of them is compared with.
struct MergeTrees<'a> {
    context: &'a Context,
    opened: &'a Arc<OpenRepository>,
    base: String,
    /// The tree of `base`, which is written out once for all comparisons.
    earlier: Arc<EarlierCommit>,
    branches: Vec<MergedBranch>,
}

/// Merges `branches` one after the other and compares the result with `base`, by default their
/// common ancestor.
///
/// # Errors
/// If git fails, or a branch is unknown.
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
    let each = GitDeadline::Each(GIT_TIMEOUT);
    let mut opened = OpenRepository::open(context, WorkspacePath::root(), each).await?;
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
        None => {
            let named: Vec<(&str, &str)> =
                commits.iter().map(|(name, id)| (name.as_str(), id.as_str())).collect();
            revision::common_ancestor(shadow, repository, &named).await
        }
    }
    .map_err(from_git_error)?;
    let (merged, left, conflicts) = merge_all(context, &opened, &base, commits).await?;
    let limit = options.findings.limit;
    let options = &JudgeOptions {
        findings: CheckRequest { limit: Some(usize::MAX), ..options.findings.clone() },
        ..options.clone()
    };
    let report = MergeReport {
        branches: branches.to_vec(),
        conflicts,
        by_branch: Vec::new(),
        by_combination: 0,
        combined: Vec::new(),
    };
    let earlier = EarlierCommit::new(context, &opened, base.clone(), options.trusts_trees);
    let trees = MergeTrees { context, opened: &opened, base, earlier, branches: left };
    let judged = trees.judge_merge(&merged, report, options).await;
    trees.earlier.close().await;
    let (mut answer, report) = judged?;
    let found = &mut answer.output.found;
    found.has_more |= found.diagnostics.len() > limit.unwrap_or(DEFAULT_DIAGNOSTIC_LIMIT);
    found.diagnostics.truncate(limit.unwrap_or(DEFAULT_DIAGNOSTIC_LIMIT));
    if !report.conflicts.is_empty() {
        let out: BTreeSet<&str> = report.conflicts.iter().map(|conflict| conflict.branch.as_str()).collect();
        let out: Vec<&str> = out.into_iter().collect();
        answer.notes.push(format!("omitted, because git cannot merge it: {}", out.join(", ")));
        answer.verdict.lower();
    }
    answer.output.merge = Some(report);
    Ok(answer)
}

/// The commit of all branches without conflicts, those branches, and the conflicts.
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

impl MergeTrees<'_> {
    /// The new findings in the tree of `merged`, with their branches in `report`.
    async fn judge_merge(
        &self,
        merged: &str,
        mut report: MergeReport,
        options: &JudgeOptions,
    ) -> Result<(Answer<ChangesOutput>, MergeReport), ToolError> {
        let mut answer = self.judge(merged, options).await?;
        // The findings of the merge are reported even if their branches cannot be determined.
        if let Err(error) = self.attribute(&mut answer, &mut report, options).await {
            answer.notes.push(format!("the findings cannot be assigned to branches: {}", error.error));
        }
        Ok((answer, report))
    }

    /// The new findings in the tree of `commit` compared with the base.
    async fn judge(&self, commit: &str, options: &JudgeOptions) -> Result<Answer<ChangesOutput>, ToolError> {
        let after = ComparedTree::Object(commit.to_owned());
        let comparison = Comparison { before: self.base.clone(), after };
        let texts = ComparedTexts::read(self.context, self.opened, &comparison).await?;
        let later =
            OtherTree::write(self.context, self.opened, &comparison.after, options.trusts_trees).await?;
        let compared = format!("{} → merge", short_id(&self.base));
        let mut answer = judge(&later.context, &texts, &self.earlier, true, compared, options).await;
        later.complete_answer(self.context, &mut answer);
        later.close().await;
        Ok(answer)
    }

    /// Attributes the findings of the merge to branches. If there are none, the branches are not
    /// checked.
    async fn attribute(
        &self,
        answer: &mut Answer<ChangesOutput>,
        report: &mut MergeReport,
        options: &JudgeOptions,
    ) -> Result<(), ToolError> {
        let options = JudgeOptions { interfaces: false, ..options.clone() };
        let mut unclaimed: Vec<DiagnosticItem> = answer.output.found.diagnostics.clone();
        // Without findings of the merge, no branch needs a check.
        for branch in self.branches.iter().take_while(|_| !answer.output.found.diagnostics.is_empty()) {
            let alone = self.judge(&branch.commit, &options).await?;
            let is_known = alone.verdict != Verdict::NoData;
            if alone.verdict != Verdict::Complete {
                let what = "its own findings may be incomplete, so fewer may come from the combination";
                answer.notes.push(format!("{}: {what}", branch.name));
            }
            let mut own = alone.output.found.diagnostics;
            let findings = is_known.then_some(own.len());
            report.by_branch.push(BranchFindings { branch: branch.name.clone(), findings });
            unclaimed.retain(|item| {
                let words = words_of(item, &self.branches);
                let is_same = |known: &DiagnosticItem| words_of(known, &self.branches) == words;
                own.iter().position(is_same).map(|at| own.swap_remove(at)).is_none()
            });
        }
        report.by_combination = unclaimed.len();
        let changes = |branch: &MergedBranch| declarations(self.context, &branch.texts.edits);
        let changed: Vec<_> = self.branches.iter().map(|branch| (branch, changes(branch))).collect();
        report.combined = unclaimed.iter().map(|item| combined(item, &changed)).collect();
        Ok(())
    }
}

/// The identity of a finding without its position: a merge moves lines, and one branch may rename
/// the file of another.
type FindingWords<'a> = (String, &'a str, Option<&'a str>, &'a str);

fn words_of<'a>(item: &'a DiagnosticItem, branches: &[MergedBranch]) -> FindingWords<'a> {
    let renamed = branches.iter().flat_map(|branch| &branch.texts.edits).find_map(|edit| {
        let old = edit.renamed_from.as_ref()?;
        (old.display() == item.path).then(|| edit.path.display())
    });
    (renamed.unwrap_or_else(|| item.path.clone()), &item.server, item.code.as_deref(), &item.message)
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

/// The branches that together cause a finding.
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
        at: item.range.start,
        changed_by: names(&|branch, _| edits_it(branch)),
        used_from: names(&|_, changes| changes.iter().any(declares)),
    }
}
