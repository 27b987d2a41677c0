//! The check of files that an edit reaches beyond the users of the changed definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::{Baseline, BreakageMode, check_files_until, was_looked_at};
use crate::analysis::answer::{ServerState, Verdict};
use crate::analysis::breakage::declaration_changes::DeclarationChanges;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::{occurrences, related_endings};
use crate::analysis::breakage::transitive_impact::{
    AppearanceComparison, FileTextPair, Spread, SpreadOutcome, SpreadStep,
};
use crate::analysis::check::file_report::FileReport;
use crate::analysis::context::{Context, LanguageFile};
use crate::config::spec::UncheckedAspect;
use crate::lsp::documents::view::View;
use crate::workspace::{WalkLimits, WorkspacePath};

/// The timeout of the check beyond the direct users, if diagnostics were requested.
const TRANSITIVE_CHECK_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout of that check for a difference between trees.
const DIFFERENCE_TRANSITIVE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// The most steps from a user of an edit to the users of that user; a difference has no limit.
const MAX_TRANSITIVE_CHECK_DEPTH: usize = 4;
/// The time limit for listing the files of the workspace.
const BREAKAGE_WALK_TIMEOUT: Duration = Duration::from_secs(1);

/// The spread of the edits of one language, with its first step begun.
#[derive(Debug)]
struct LanguageSpread<'c> {
    language: String,
    changed: DeclarationChanges,
    spread: Spread<'c>,
    step: Result<SpreadStep, SpreadOutcome>,
}

/// The begun spreads of all languages.
#[derive(Debug)]
pub(super) struct BegunSpreads<'c> {
    languages: Vec<LanguageSpread<'c>>,
    /// The rest of the time limit.
    left: Duration,
}

impl Baseline {
    /// Begins the search for files beyond `after` that the edit reaches, while the servers have the
    /// text after it.
    pub(super) async fn begin_spread<'c>(
        &mut self,
        context: &'c Context,
        edits: &[EditedText],
        view: &View,
        after: &BTreeMap<WorkspacePath, FileReport>,
        until: Instant,
    ) -> BegunSpreads<'c> {
        let ends = Instant::now() + self.transitive_timeout();
        let until = until.min(ends);
        let checked = text_pairs(context, edits, after.keys());
        let mut languages = Vec::new();
        for (language, changed) in std::mem::take(&mut self.impact.changed) {
            let Some(comparison) = self.comparison_across_files(context, &language, after) else { continue };
            let mut spread = Spread::new(context, language.clone(), &changed, comparison);
            let step = spread.begin_step(&checked, view, until).await;
            languages.push(LanguageSpread { language, changed, spread, step });
        }
        BegunSpreads { languages, left: ends.saturating_duration_since(Instant::now()) }
    }

    /// Checks further files while a declaration in the checked ones changes its interface. Returns
    /// the reason that the check may be incomplete.
    pub(super) async fn check_transitive(
        &mut self,
        context: &Context,
        edits: &[EditedText],
        spreads: BegunSpreads<'_>,
        view: &View,
        after: &mut BTreeMap<WorkspacePath, FileReport>,
        until: Instant,
    ) -> Option<String> {
        let until = until.min(Instant::now() + spreads.left);
        // In a trial, the caller's view is the state before the edit.
        let is_trial = edits.iter().any(|edit| view.unsaved(&edit.path).is_some());
        let old = if is_trial { context.view.clone() } else { self.earlier.view.clone() };
        let mut unknown = None;
        for spread in spreads.languages {
            let gap = self.follow_spread(context, edits, spread, (&old, view), until, after).await;
            unknown = unknown.or(gap);
        }
        unknown
    }

    async fn follow_spread(
        &mut self,
        context: &Context,
        edits: &[EditedText],
        spread: LanguageSpread<'_>,
        (old, view): (&View, &View),
        until: Instant,
        after: &mut BTreeMap<WorkspacePath, FileReport>,
    ) -> Option<String> {
        let LanguageSpread { language, changed, mut spread, mut step } = spread;
        let most_files = self.mode.most_files();
        for depth in 0.. {
            let outcome = match step {
                Ok(step) => spread.end_step(step, old, until).await,
                Err(outcome) => outcome,
            };
            let beyond = match outcome {
                SpreadOutcome::Same => return None,
                SpreadOutcome::Files(files) => files,
                SpreadOutcome::Unknown(reason) => {
                    tracing::debug!("all files of {language} are checked: {reason}");
                    let (rest, all) = remaining_files(context, &language, after, &changed, self.mode).await;
                    let is_wanted =
                        self.mode != BreakageMode::Unsaid || rest.len() + after.len() <= most_files;
                    let subjects = if is_wanted { rest } else { Vec::new() };
                    let told =
                        self.check_more_files(context, edits, subjects, (old, view), until, after).await;
                    return (!(is_wanted && all && told)).then_some(reason);
                }
            };
            let subjects: Vec<LanguageFile> =
                beyond.into_iter().filter_map(|path| context.language_file(path).ok()).collect();
            let is_limited = !matches!(self.mode, BreakageMode::Difference { .. });
            let too_many = subjects.len() + after.len() > most_files
                || (is_limited && depth == MAX_TRANSITIVE_CHECK_DEPTH);
            if too_many || !self.check_more_files(context, edits, subjects, (old, view), until, after).await {
                break;
            }
            step = spread.begin_step(&text_pairs(context, edits, after.keys()), view, until).await;
        }
        Some("more files use the changed interface".to_owned())
    }

    fn transitive_timeout(&self) -> Duration {
        match self.mode {
            BreakageMode::Difference { .. } => DIFFERENCE_TRANSITIVE_TIMEOUT,
            _ => TRANSITIVE_CHECK_TIMEOUT,
        }
    }

    /// The way to detect changes that other files can see; `None` if the servers that responded do
    /// not check files against each other. For an edit, only servers that can be asked count.
    fn comparison_across_files(
        &self,
        context: &Context,
        language: &str,
        after: &BTreeMap<WorkspacePath, FileReport>,
    ) -> Option<AppearanceComparison> {
        let servers = context.catalogue().servers_for(language);
        let answered = |server: &str| {
            after.values().flat_map(|report| &report.statuses).any(|status| {
                status.server == server && matches!(status.state, ServerState::Ready | ServerState::Indexing)
            })
        };
        let checking: Vec<_> = servers
            .iter()
            .filter(|(key, server)| !server.unchecked.contains(&UncheckedAspect::Types) && answered(key))
            .collect();
        match () {
            () if checking.iter().any(|(_, server)| server.diagnostics.sees_unsaved) => {
                Some(AppearanceComparison::Asked)
            }
            () if matches!(self.mode, BreakageMode::Difference { .. }) && !checking.is_empty() => {
                Some(AppearanceComparison::Assumed)
            }
            () => None,
        }
    }

    /// The findings in `subjects`, under their earlier paths, before the change.
    pub(super) async fn check_earlier(
        &self,
        context: &Context,
        subjects: Vec<LanguageFile>,
        until: Instant,
    ) -> BTreeMap<WorkspacePath, FileReport> {
        if subjects.is_empty() {
            return BTreeMap::new();
        }
        match &self.earlier.tree {
            None => check_files_until(context, subjects, &self.earlier.view, self.mode, until).await,
            Some(tree) => match tree.context().await {
                Some(earlier) => {
                    let mut found =
                        check_files_until(earlier, subjects, &View::disk(), self.mode, until).await;
                    // A message may contain an absolute path, which differs in another tree.
                    let root = |context: &Context| context.workspace.root().display().to_string();
                    let (there, here) = (root(earlier), root(context));
                    for item in found.values_mut().flat_map(FileReport::all_items_mut) {
                        item.message = item.message.replace(&there, &here);
                    }
                    found
                }
                None => BTreeMap::new(),
            },
        }
    }

    /// Checks `subjects` and adds them to `after`, and the earlier findings of those that have
    /// findings now. Returns true if all were checked completely.
    pub(super) async fn check_more_files(
        &mut self,
        context: &Context,
        edits: &[EditedText],
        subjects: Vec<LanguageFile>,
        (old, new): (&View, &View),
        until: Instant,
        after: &mut BTreeMap<WorkspacePath, FileReport>,
    ) -> bool {
        let count = subjects.len();
        let mut found = check_files_until(context, subjects.clone(), new, self.mode, until).await;
        self.drop_known(context, edits, &mut found);
        let is_all = found.len() == count && found.values().all(|report| report.verdict == Verdict::Complete);
        // A file without findings after the edit has no new ones, so its old text needs no check.
        let with_findings: Vec<LanguageFile> = subjects
            .into_iter()
            .filter(|subject| found.get(&subject.path).is_some_and(|report| !report.items.is_empty()))
            .collect();
        let wanted = with_findings.len();
        let before = match &self.earlier.tree {
            Some(_) => self.check_earlier(context, with_findings, until).await,
            None => check_files_until(context, with_findings, old, self.mode, until).await,
        };
        let is_known =
            before.len() == wanted && before.values().all(|report| report.verdict == Verdict::Complete);
        for (path, report) in found {
            if report.items.is_empty() || before.get(&path).is_some_and(was_looked_at) {
                after.insert(path, report);
            }
        }
        self.before.extend(before);
        is_all && is_known
    }
}

/// The texts of the checked files, before and after `edits`.
fn text_pairs<'p>(
    context: &Context,
    edits: &[EditedText],
    paths: impl Iterator<Item = &'p WorkspacePath>,
) -> BTreeMap<WorkspacePath, FileTextPair> {
    let text = |path: &WorkspacePath| match edits.iter().find(|edit| edit.path == *path) {
        Some(edit) => Some(FileTextPair {
            before: edit.before.clone().unwrap_or_default(),
            after: edit.after.clone().unwrap_or_default(),
            is_near: true,
        }),
        None => {
            let text = context.text(path).ok()?.to_string();
            Some(FileTextPair { before: text.clone(), after: text, is_near: false })
        }
    };
    paths.filter_map(|path| Some((path.clone(), text(path)?))).collect()
}

/// The unchecked files of the language and of its server's other languages, those that name an
/// edited module first. The flag is true if the list is complete.
async fn remaining_files(
    context: &Context,
    language: &str,
    looked_at: &BTreeMap<WorkspacePath, FileReport>,
    changed: &DeclarationChanges,
    mode: BreakageMode,
) -> (Vec<LanguageFile>, bool) {
    let endings = related_endings(context, language);
    let without: BTreeSet<WorkspacePath> = looked_at.keys().cloned().collect();
    let (near, cut) = occurrences(context, language, changed.modules.clone(), &without).await;
    let limits = WalkLimits {
        max_files: context.config.settings.limits.walk_files,
        deadline: std::time::Instant::now() + BREAKAGE_WALK_TIMEOUT,
    };
    let (workspace, root) = (context.workspace.clone(), WorkspacePath::root());
    let walk = tokio::task::spawn_blocking(move || workspace.files(&root, &limits)).await;
    let Ok(walk) = walk else { return (Vec::new(), false) };
    let speaks =
        |path: &WorkspacePath| path.extension().is_some_and(|is| endings.iter().any(|one| one == is));
    let mut files: Vec<WorkspacePath> =
        walk.files.into_iter().filter(|path| speaks(path) && !without.contains(path)).collect();
    files.sort_by_key(|path| std::cmp::Reverse(near.get(path).map_or(0, Vec::len)));
    // The file limit of the default mode is too low for this step.
    let most = mode.most_files().max(BreakageMode::Wanted.most_files());
    let all = !cut && !walk.truncated && files.len() <= most;
    files.truncate(most);
    (files.into_iter().filter_map(|path| context.language_file(path).ok()).collect(), all)
}
