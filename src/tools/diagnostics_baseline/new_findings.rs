//! The findings that a difference between two trees brings anywhere.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::{Baseline, BreakageMode, BreakageWatch, DIFFERENCE_CHECK_TIMEOUT, Earlier, is_gone};
use crate::lsp::view::View;
use crate::text::LineMap;
use crate::tools::answer::Verdict;
use crate::tools::context::{Context, LanguageFile};
use crate::tools::delta::{FileComparison, compare};
use crate::tools::impact::{EditImpact, EditedText};
use crate::tools::lsp_diagnostics::FileReport;
use crate::workspace::WorkspacePath;

/// What a difference brings.
#[derive(Debug)]
pub(crate) struct NewFindings {
    /// The files that were looked at in the later tree, with nothing but what is new in them.
    pub reports: Vec<FileReport>,
    /// The files that it may concern and of which nothing can be said, each with the reason.
    pub unjudged: Vec<(WorkspacePath, String)>,
    /// Why there may be more, in sentences.
    pub gaps: Vec<String>,
}

impl BreakageWatch {
    /// A watch over what is added to it.
    pub(crate) fn without_edits() -> Self {
        Self { subjects: Vec::new(), mode: BreakageMode::Difference, impact: EditImpact::default() }
    }

    /// Has all files of `subjects` looked at as well.
    pub(crate) fn widen(&mut self, subjects: impl IntoIterator<Item = LanguageFile>) {
        for subject in subjects {
            if !self.subjects.iter().any(|known| known.path == subject.path) {
                self.subjects.push(subject);
            }
        }
    }

    /// Leaves of the files that are looked at those that `retain` does.
    pub(crate) fn retain(&mut self, retain: impl FnOnce(&mut Vec<LanguageFile>)) {
        retain(&mut self.subjects);
    }

    /// Looks at the later tree, which is on disk, and where something is found in it at the earlier one: what is clean now
    /// holds nothing new.
    pub(crate) async fn find_new(
        self,
        context: &Context,
        edits: &[EditedText],
        earlier: Earlier,
    ) -> NewFindings {
        let Self { subjects, mode, impact } = self;
        let subjects: Vec<LanguageFile> =
            subjects.into_iter().filter(|subject| !is_gone(edits, &subject.path)).collect();
        let mut baseline = Baseline { subjects, before: BTreeMap::new(), mode, impact, earlier };
        let mut found = NewFindings { reports: Vec::new(), unjudged: Vec::new(), gaps: Vec::new() };
        let mut after = baseline.check_subjects(context, edits, &mut found).await;
        let unknown = baseline.check_transitive(context, edits, &View::disk(), &mut after).await;
        found
            .gaps
            .extend(unknown.map(|why| format!("{why}: files that were not looked at may break as well")));
        if baseline.impact.cut {
            found.gaps.push("the time was up before all files were searched for what changed".to_owned());
        }
        let left_out = std::mem::take(&mut baseline.impact.left_out);
        found
            .unjudged
            .extend(left_out.into_iter().map(|path| (path, "too many files use what changed".to_owned())));
        found.reports = after.into_values().map(|report| baseline.retain_new(edits, report)).collect();
        found
    }
}

impl Baseline {
    /// Looks at the subjects as they are now, and at those with findings as they were.
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
            let why = match self.before.get(old) {
                Some(before) if before.verdict != Verdict::NoData => return true,
                Some(before) => before.detail.clone(),
                None => None,
            };
            let why = why.unwrap_or_else(|| "the earlier file could not be looked at".to_owned());
            found.unjudged.push((path.clone(), format!("what was found in it before is not known: {why}")));
            false
        });
        after
    }

    /// Leaves in `report` what was not there before.
    fn retain_new(&self, edits: &[EditedText], mut report: FileReport) -> FileReport {
        let edit = edits.iter().find(|edit| edit.path == report.path);
        let known = earlier_path(edits, &report.path).and_then(|path| self.before.get(path));
        let lines = edit.and_then(|edit| Some(LineMap::between(edit.before.as_ref()?, edit.after.as_ref()?)));
        let before = known.map(|known| known.items.as_slice()).unwrap_or_default();
        let compared = FileComparison { before, after: &report.items, lines: &lines.unwrap_or_default() };
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

/// The path at which a file stood before `edits`; `None` where they make it.
fn earlier_path<'a>(edits: &'a [EditedText], path: &'a WorkspacePath) -> Option<&'a WorkspacePath> {
    match edits.iter().find(|edit| edit.path == *path) {
        None => Some(path),
        Some(edit) => edit.renamed_from.as_ref().or_else(|| edit.before.is_some().then_some(path)),
    }
}
