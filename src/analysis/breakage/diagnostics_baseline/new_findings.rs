//! The new findings that a difference between two trees causes in any file.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::{Baseline, BreakageMode, BreakageWatch, DIFFERENCE_CHECK_TIMEOUT, Earlier, comparison, is_gone};
use crate::analysis::answer::{DiagnosticItem, Verdict};
use crate::analysis::breakage::delta::{FileComparison, compare};
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::impact::EditImpact;
use crate::analysis::check::file_report::FileReport;
use crate::analysis::context::{Context, LanguageFile};
use crate::lsp::documents::view::View;
use crate::text::LineMap;
use crate::workspace::WorkspacePath;

/// The new findings of a difference.
#[derive(Debug)]
pub(crate) struct NewFindings {
    /// The checked files of the later tree, with only their new findings.
    pub reports: Vec<FileReport>,
    /// The files that may be affected but could not be judged, each with the reason.
    pub unjudged: Vec<(WorkspacePath, String)>,
    /// The reasons that there may be more, in sentences.
    pub gaps: Vec<String>,
}

impl BreakageWatch {
    /// A watch without files, to be widened.
    pub(crate) fn without_edits(mode: BreakageMode) -> Self {
        Self {
            subjects: Vec::new(),
            mode,
            impact: EditImpact::default(),
            renamed: None,
            until: Instant::now(),
            ends: Instant::now(),
        }
    }

    /// Adds all files of `subjects` to the check.
    pub(crate) fn widen(&mut self, subjects: impl IntoIterator<Item = LanguageFile>) {
        let mut known: BTreeSet<WorkspacePath> = self.paths().cloned().collect();
        let new = subjects.into_iter().filter(|subject| known.insert(subject.path.clone()));
        self.subjects.extend(new);
    }

    /// Keeps the files that `retain` keeps.
    pub(crate) fn retain(&mut self, retain: impl FnOnce(&mut Vec<LanguageFile>)) {
        retain(&mut self.subjects);
    }

    /// Checks the later tree, which is on disk, and the earlier tree for files with findings: a
    /// file that is clean now has no new ones.
    pub(crate) async fn find_new(
        self,
        context: &Context,
        edits: &[EditedText],
        earlier: Earlier,
    ) -> NewFindings {
        let Self { subjects, mode, impact, renamed, .. } = self;
        let subjects: Vec<LanguageFile> =
            subjects.into_iter().filter(|subject| !is_gone(edits, &subject.path)).collect();
        let mut baseline =
            Baseline { subjects, before: BTreeMap::new(), mode, impact, renamed, earlier, ends: None };
        let mut found = NewFindings { reports: Vec::new(), unjudged: Vec::new(), gaps: Vec::new() };
        let mut after = baseline.check_subjects(context, edits, &mut found).await;
        let late = Instant::now() + DIFFERENCE_CHECK_TIMEOUT;
        let spreads = baseline.begin_spread(context, edits, &View::disk(), &after, late).await;
        let unknown =
            baseline.check_transitive(context, edits, spreads, &View::disk(), &mut after, late).await;
        found.gaps.extend(baseline.search_gap(unknown));
        found.gaps.extend(baseline.unchecked_gap(context, edits, &after));
        found.unjudged.append(&mut baseline.impact.unreadable);
        let left_out = std::mem::take(&mut baseline.impact.left_out);
        found
            .unjudged
            .extend(left_out.into_iter().map(|path| (path, "too many files use the change".to_owned())));
        found.reports = after.into_values().map(|report| baseline.retain_new(edits, report)).collect();
        found
    }
}

impl Baseline {
    /// Checks the present subjects, and the earlier state of those with findings.
    async fn check_subjects(
        &mut self,
        context: &Context,
        edits: &[EditedText],
        found: &mut NewFindings,
    ) -> BTreeMap<WorkspacePath, FileReport> {
        let until = Instant::now() + DIFFERENCE_CHECK_TIMEOUT;
        let now = View::disk();
        let mut after =
            super::check_files_until(context, self.subjects.clone(), &now, self.mode, until).await;
        for subject in &self.subjects {
            if !after.contains_key(&subject.path) {
                found.unjudged.push((subject.path.clone(), "it cannot be read".to_owned()));
            }
        }
        self.drop_known(context, edits, &mut after);
        let is_listed =
            |subject: &&LanguageFile| after.get(&subject.path).is_some_and(|report| !report.items.is_empty());
        let earlier: Vec<LanguageFile> = self
            .subjects
            .iter()
            .filter(is_listed)
            .filter_map(|subject| {
                let path = earlier_path(edits, &subject.path)?.clone();
                Some(LanguageFile { path, language: subject.language.clone() })
            })
            .collect();
        self.before = self.check_earlier(context, earlier, until).await;
        after.retain(|path, report| {
            let Some(old) = earlier_path(edits, path).filter(|_| !report.items.is_empty()) else {
                return true;
            };
            let reason = match self.before.get(old) {
                Some(before) if super::was_looked_at(before) => return true,
                Some(before) => before.detail.clone(),
                None => None,
            };
            let reason = reason.unwrap_or_else(|| "the earlier file could not be checked".to_owned());
            found.unjudged.push((path.clone(), format!("its earlier findings are unknown: {reason}")));
            false
        });
        after
    }

    /// Removes findings that need no comparison from reports on the later tree: those below the
    /// severity, and those certainly in the earlier tree. The latter are most findings of a
    /// project whose packages are not installed.
    pub(super) fn drop_known(
        &self,
        context: &Context,
        edits: &[EditedText],
        reports: &mut BTreeMap<WorkspacePath, FileReport>,
    ) {
        let BreakageMode::Difference { floor, .. } = self.mode else { return };
        // Without a tree of their own, the earlier files are the same files read in the same way.
        let same_files = self.earlier.tree.is_none();
        for report in reports.values_mut() {
            let same_text = !edits.iter().any(|edit| edit.path == report.path);
            report.items.retain(|item| {
                item.severity <= floor && !(same_files && same_text && is_about_files(context, item))
            });
        }
    }

    /// A note on aspects of the difference's effects that the servers do not check.
    fn unchecked_gap(
        &self,
        context: &Context,
        edits: &[EditedText],
        after: &BTreeMap<WorkspacePath, FileReport>,
    ) -> Option<String> {
        let concerns_others =
            self.impact.changed.values().any(|changed| {
                changed.is_module || !changed.names.is_empty() || !changed.imported.is_empty()
            });
        let is_concerned = concerns_others || edits.iter().any(|edit| edit.after.is_none());
        Some(comparison::unchecked_aspects(context, after)?.0).filter(|_| is_concerned)
    }

    /// Keeps the new findings of `report`.
    fn retain_new(&self, edits: &[EditedText], mut report: FileReport) -> FileReport {
        let edit = edits.iter().find(|edit| edit.path == report.path);
        let known = earlier_path(edits, &report.path).and_then(|path| self.before.get(path));
        let lines = edit.and_then(|edit| Some(LineMap::between(edit.before.as_ref()?, edit.after.as_ref()?)));
        let before = known.map(|known| known.comparable(Some(&report))).unwrap_or_default();
        let after = report.comparable(known);
        let compared = FileComparison { before: &before, after: &after, lines: &lines.unwrap_or_default() };
        report.items = compare(&compared).0.into_iter().cloned().collect();
        if let Some(known) = known.filter(|known| known.verdict == Verdict::Partial)
            && report.verdict == Verdict::Complete
        {
            report.verdict = Verdict::Partial;
            report.detail = known.detail.clone();
        }
        report
    }
}

/// Returns true if a finding depends on its own text and on the existence of files, but on no other
/// text.
pub(super) fn is_about_files(context: &Context, item: &DiagnosticItem) -> bool {
    let server = context.catalogue().servers.get(&item.server);
    let codes = server.map(|server| server.diagnostics.about_files.as_slice()).unwrap_or_default();
    item.code.as_ref().is_some_and(|code| codes.contains(code))
}

/// The path of a file before `edits`; `None` if they create it.
pub(super) fn earlier_path<'a>(
    edits: &'a [EditedText],
    path: &'a WorkspacePath,
) -> Option<&'a WorkspacePath> {
    match edits.iter().find(|edit| edit.path == *path) {
        None => Some(path),
        Some(edit) => edit.renamed_from.as_ref().or_else(|| edit.before.is_some().then_some(path)),
    }
}
