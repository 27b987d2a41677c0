//! The comparison of two trees: the findings in the later one that are not in the earlier.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::compared_texts::{ComparedTexts, UnreadReason};
use super::configuration::{importers_of_data, reconfigured_files, users_of_data};
use super::interfaces::changed_interfaces;
use super::other_tree::{EarlierCommit, OtherTree, context_over};
use super::output::{ChangesOutput, UnjudgedFile, WORK_TREE};
use crate::analysis::answer::Answer;
use crate::analysis::breakage::diagnostics_baseline::{
    BreakageMode, BreakageWatch, Earlier, EarlierTree, NewFindings, view_before_edits,
};
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::language_of;
use crate::analysis::check::checked_files;
use crate::analysis::check::checked_files::CheckRequest;
use crate::analysis::check::file_report::FileReport;
use crate::analysis::check::left_out_files::{CheckScopes, LeftOutFiles};
use crate::analysis::check::notebook_check::uncompared_notebooks;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::analysis::trees::git_access::{OpenRepository, from_git_error};
use crate::config::PrimaryLanguages;
use crate::lsp::documents::view::View;
use crate::process::git::difference::unwatched_paths;
use crate::process::git::revision::{ComparedTree, Comparison, is_ancestor_of_head};
use crate::process::git::shadow::GitDeadline;
use crate::workspace::WorkspacePath;

/// The timeout of one git command.
pub(super) const GIT_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// The number of digits of a commit's id in an answer.
const SHOWN_ID_DIGITS: usize = 10;

/// The reason that no code of a trusted project was run.
const UNTRUSTED_BY_HISTORY: &str = "the other commit is not an ancestor of HEAD, so no code of either tree was run, although the project is trusted: `--trust-trees` on the command line allows it";

/// Options of a comparison.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeOptions {
    /// The lowest severity and the most findings to list.
    pub findings: CheckRequest,
    /// True if the changed declarations are listed.
    pub interfaces: bool,
    /// True if servers may run code of the compared trees, of any origin, wherever they may run the
    /// project's.
    pub trusts_trees: bool,
    /// The index of the commit in progress, if git passed one to the calling hook.
    pub index_file: Option<PathBuf>,
}

/// The differences between the commit that `given` names and a later tree, and the new findings.
///
/// # Errors
/// If git fails, or the commit is unknown.
pub(crate) async fn compare_with(
    context: &Context,
    given: &str,
    index: bool,
    options: &JudgeOptions,
) -> Result<Answer<ChangesOutput>, ToolError> {
    let each = GitDeadline::Each(GIT_TIMEOUT);
    let mut opened = OpenRepository::open(context, WorkspacePath::root(), each).await?;
    if index {
        opened.shadow.keep_objects_apart().map_err(from_git_error)?;
        if let Some(file) = &options.index_file {
            opened.shadow.use_index(&opened.repository, file).map_err(from_git_error)?;
        }
    }
    let opened = Arc::new(opened);
    let comparison = Comparison::resolve(&opened.shadow, &opened.repository, given, index)
        .await
        .map_err(from_git_error)?;
    let mut texts = ComparedTexts::read(context, &opened, &comparison).await?;
    let compared = describe(&comparison);
    let is_own = options.trusts_trees || is_own_history(&opened, &comparison).await;
    let before = EarlierCommit::new(context, &opened, comparison.before.clone(), is_own);
    let unwatched = unwatched_paths(&opened.shadow, &opened.repository).await.map_err(from_git_error)?;
    if comparison.after == ComparedTree::WorkTree
        || unwatched.is_empty() && is_work_tree(context, &opened, &comparison, &texts).await?
    {
        texts.unwatched = unwatched.len();
        if !is_own && trust_decides_findings(context, &texts.edits) {
            let untrusted = context_over(context, context.workspace.clone(), false);
            let mut answer = judge(&untrusted, &texts, &before, true, compared, options).await;
            answer.notes.push(UNTRUSTED_BY_HISTORY.to_owned());
            tokio::join!(before.close(), untrusted.manager.shutdown());
            return Ok(answer);
        }
        let answer = judge(context, &texts, &before, false, compared, options).await;
        before.close().await;
        return Ok(answer);
    }
    let later = OtherTree::write(context, &opened, &comparison.after, is_own).await?;
    let mut answer = judge(&later.context, &texts, &before, true, compared, options).await;
    later.complete_answer(context, &mut answer);
    tokio::join!(before.close(), later.close());
    Ok(answer)
}

/// Returns true if the servers of the edited files run project code in the trusted work tree, so
/// that they would find less in an untrusted tree.
fn trust_decides_findings(context: &Context, edits: &[EditedText]) -> bool {
    let mut servers = edits
        .iter()
        .flat_map(|edit| context.servers_for(&language_file(context, edit), |features| features.diagnostics));
    context.config.trust.is_trusted() && servers.any(|(_, server)| server.runs_project_code)
}

/// Returns true if both trees are the user's own: ancestors of HEAD, the disk or the index. Servers
/// may then run the code of both trees as they may run that of the work tree. Both trees are
/// treated the same, because their findings are compared.
async fn is_own_history(opened: &OpenRepository, comparison: &Comparison) -> bool {
    let is_own = |id| is_ancestor_of_head(&opened.shadow, &opened.repository, id);
    let is_later_own = match &comparison.after {
        ComparedTree::WorkTree | ComparedTree::Index => true,
        ComparedTree::Object(id) => is_own(id).await,
    };
    is_later_own && is_own(&comparison.before).await
}

/// Returns true if the later tree equals the content on disk, so that running servers can check it.
async fn is_work_tree(
    context: &Context,
    opened: &OpenRepository,
    comparison: &Comparison,
    texts: &ComparedTexts,
) -> Result<bool, ToolError> {
    let on_disk = Comparison { after: ComparedTree::WorkTree, ..comparison.clone() };
    let on_disk = ComparedTexts::read(context, opened, &on_disk).await?;
    let unread = |texts: &ComparedTexts| -> BTreeSet<WorkspacePath> {
        texts.unread.iter().map(|(path, _)| path.clone()).collect()
    };
    let by_path = |texts: &ComparedTexts| -> BTreeSet<(WorkspacePath, Option<String>)> {
        texts.edits.iter().map(|edit| (edit.path.clone(), edit.after.clone())).collect()
    };
    Ok(by_path(texts) == by_path(&on_disk) && unread(texts) == unread(&on_disk))
}

/// The first digits of a commit's id.
pub(super) fn short_id(id: &str) -> String {
    id.chars().take(SHOWN_ID_DIGITS).collect()
}

fn describe(comparison: &Comparison) -> String {
    let after = match &comparison.after {
        ComparedTree::Object(id) => short_id(id),
        ComparedTree::Index => "index".to_owned(),
        ComparedTree::WorkTree => WORK_TREE.to_owned(),
    };
    format!("{} → {after}", short_id(&comparison.before))
}

/// Compares the tree of `context`, which is on disk, with the earlier one. If `is_apart`, the tree
/// is not the work tree, so its earlier tree is written out and checked in the same way.
pub(super) async fn judge(
    context: &Context,
    texts: &ComparedTexts,
    earlier: &Arc<EarlierCommit>,
    is_apart: bool,
    compared: String,
    options: &JudgeOptions,
) -> Answer<ChangesOutput> {
    let (found, left_out) = find(context, texts, earlier.clone(), is_apart, options).await;
    let NewFindings { mut reports, unjudged, mut gaps } = found;
    gaps.extend(earlier.gaps());
    gaps.dedup();
    // Prose that no server here checks has no findings.
    reports.retain(|report| !(report.unchecked && report.path.is_prose()));
    let languages =
        reports.iter().filter_map(|report| report.statuses.first()).map(|status| &*status.language);
    let primary = PrimaryLanguages::of_files(context.catalogue(), languages);
    checked_files::set_secondary(&primary, &BTreeSet::new(), &mut reports);
    let mut answer = checked_files::answer(context, &options.findings, reports);
    context.name_symbols_of_findings(&mut answer.output.diagnostics).await;
    gaps.extend(texts.gaps());
    gaps.extend(uncompared_notebooks(texts.edits.iter().map(|edit| &edit.path)));
    let unjudged = unjudged_files(context, texts, unjudged);
    if !(gaps.is_empty() && unjudged.is_empty()) {
        answer.verdict.lower();
    }
    answer.notes.extend(gaps);
    answer.notes.extend(left_out.notes());
    let (interfaces, is_all) = match options.interfaces {
        true => changed_interfaces(context, &texts.edits).await,
        false => (Vec::new(), true),
    };
    if !is_all {
        answer.notes.push("more declarations changed than are listed".to_owned());
    }
    let Answer { ok, output: found, resolved, server_status, servers, verdict, notes } = answer;
    let changed_files = texts.edits.len() + texts.unread.len();
    let output = ChangesOutput { compared, changed_files, found, interfaces, unjudged, merge: None };
    Answer { ok, output, resolved, server_status, servers, verdict, notes }
}

/// The files that could not be compared as text but that a server would have checked, and `others`.
fn unjudged_files(
    context: &Context,
    texts: &ComparedTexts,
    others: Vec<(WorkspacePath, String)>,
) -> Vec<UnjudgedFile> {
    // No server checks an image; the target of a link may be a source.
    let is_source = |path: &WorkspacePath| {
        let file = LanguageFile { path: path.clone(), language: language_of(context, path, None) };
        !context.servers_for(&file, |features| features.diagnostics).is_empty()
    };
    let is_told = |(path, why): &&(WorkspacePath, UnreadReason)| match why {
        UnreadReason::Submodule => false,
        UnreadReason::NoFile(_) => true,
        UnreadReason::Other(_) => is_source(path),
    };
    let unread = texts.unread.iter().filter(is_told).map(|(path, why)| (path.clone(), why.to_string()));
    let files = unread.chain(others).map(|(path, why)| UnjudgedFile { path: path.display(), why });
    let mut files: Vec<UnjudgedFile> = files.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup();
    files
}

async fn find(
    context: &Context,
    texts: &ComparedTexts,
    earlier: Arc<EarlierCommit>,
    is_apart: bool,
    options: &JudgeOptions,
) -> (NewFindings, LeftOutFiles) {
    let edits = &texts.edits;
    let nothing = NewFindings { reports: Vec::new(), unjudged: Vec::new(), gaps: Vec::new() };
    let mut gaps = Vec::new();
    let edited = edits.iter().filter(|edit| edit.after.is_some()).map(|edit| language_file(context, edit));
    let edited: Vec<LanguageFile> = edited.collect();
    if let Err(error) = context.prepare_for(edited.iter()).await {
        gaps.push(error.error);
    }
    let users = users_of_data(context, texts).await.unwrap_or_else(|error| {
        gaps.push(error.error);
        Vec::new()
    });
    let reconfigured = reconfigured_files(context, texts, &users).unwrap_or_else(|error| {
        gaps.push(error.error);
        Vec::new()
    });
    let is_reconfigured = !reconfigured.is_empty();
    let importers = importers_of_data(context, users);
    let wider: Vec<LanguageFile> = reconfigured.into_iter().chain(importers).collect();
    let findings = &options.findings;
    let mode = BreakageMode::Difference { floor: findings.floor(), asks_anew: findings.asks_anew };
    let watch = BreakageWatch::for_edits(context, edits, mode).await;
    let mut watch = match watch {
        Ok(watch) => watch,
        Err(_) if wider.is_empty() => return (NewFindings { gaps, ..nothing }, LeftOutFiles::default()),
        Err(_) => BreakageWatch::without_edits(mode),
    };
    watch.widen(wider);
    let mut scopes = CheckScopes::new(context, Vec::new());
    watch.retain(|subjects| subjects.retain(|subject| !scopes.leaves_out(subject)));
    let view = view_before_edits(&View::disk(), edits);
    let own_tree = is_apart || is_reconfigured || !texts_show_all(context, edits);
    let tree: Option<Arc<dyn EarlierTree>> = if own_tree { Some(earlier) } else { None };
    let mut found = Box::pin(watch.find_new(context, edits, Earlier { view, tree })).await;
    found.gaps.extend(gaps);
    // The search continues from file to file, and a file may have several servers.
    retain_checked(context, &mut scopes, &mut found.reports);
    (found, scopes.left_out)
}

/// Keeps the findings of files that the project's settings include in each server's check, as the
/// servers' command lines do.
fn retain_checked(context: &Context, scopes: &mut CheckScopes<'_>, reports: &mut Vec<FileReport>) {
    reports.retain_mut(|report| {
        let language = language_of(context, &report.path, None);
        let is_left_out = scopes.leaves_out(&LanguageFile { path: report.path.clone(), language });
        report.items.retain(|item| !scopes.left_out.has(&item.server, &report.path));
        !is_left_out
    });
}

fn language_file(context: &Context, edit: &EditedText) -> LanguageFile {
    let text = edit.after.as_deref().or(edit.before.as_deref());
    LanguageFile { path: edit.path.clone(), language: language_of(context, &edit.path, text) }
}

/// Returns true if unsaved earlier texts show servers the whole earlier tree: no file was added or
/// removed, and the servers use unsaved texts and not the disk.
fn texts_show_all(context: &Context, edits: &[EditedText]) -> bool {
    edits.iter().all(|edit| {
        let servers = context.servers_for(&language_file(context, edit), |features| features.diagnostics);
        let stays = edit.before.is_some() && edit.after.is_some() && edit.renamed_from.is_none();
        servers.is_empty() || (stays && servers.iter().all(|(_, server)| server.diagnostics.sees_unsaved))
    })
}
