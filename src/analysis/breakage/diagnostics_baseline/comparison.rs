//! The delta of an edit, made of the findings before and after it, with the reasons that it may be
//! incomplete.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Baseline, RenamedSymbol, is_gone};
use crate::analysis::answer::{DiagnosticItem, ServerState, ServerStatus, Verdict};
use crate::analysis::breakage::delta::{
    DiagnosticsDelta, FLOOR, FileComparison, compare, delta_item, shorten, shorten_gone,
};
use crate::analysis::breakage::delta_item::DeltaItem;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::breakage::transitive_impact::SEARCH_CUT;
use crate::analysis::check::file_report::FileReport;
use crate::analysis::context::Context;
use crate::analysis::items::named_places::abbreviate_list;
use crate::config::spec::{ServerSpec, UncheckedAspect};
use crate::lsp::model::Severity;
use crate::text::{LineMap, replace_word, words_in};
use crate::workspace::WorkspacePath;

/// The maximum number of omitted files that a note names.
const MAX_NAMED_OMITTED_FILES: usize = 5;

impl Baseline {
    /// Adds notes on effects that only show once an edit is written.
    pub(super) fn add_dry_run_notes(
        &self,
        context: &Context,
        edits: &[EditedText],
        delta: &mut DiagnosticsDelta,
    ) {
        let others =
            self.subjects.iter().filter(|subject| !edits.iter().any(|edit| edit.path == subject.path));
        let blind: BTreeSet<&str> = others
            .flat_map(|subject| context.servers_for(subject, |features| features.diagnostics))
            .filter(|(_, server)| !server.diagnostics.sees_unsaved)
            .map(|(key, _)| key)
            .collect();
        if !blind.is_empty() {
            let names: Vec<&str> = blind.iter().copied().collect();
            delta.notes.push(format!(
                "{} may read other files from disk: errors in them may appear only after the edit is written",
                names.join(", ")
            ));
        }
        let vanishing = edits.iter().any(|edit| edit.renamed_from.is_some() || edit.after.is_none());
        if vanishing {
            // No server can be shown that an existing file is deleted.
            delta
                .notes
                .push("errors from a deleted or moved file appear only after the edit is made".to_owned());
        }
        let is_in_new_folder = |edit: &EditedText| {
            let above = edit.path.parent();
            edit.before.is_none() && above.is_some_and(|above| !context.workspace.exists(&above))
        };
        let new_folder = edits.iter().any(is_in_new_folder);
        if new_folder {
            // Servers resolve a module on disk before they look at open documents.
            delta.notes.push("servers may miss a new file in a folder that does not exist yet".to_owned());
        }
        if vanishing || new_folder || !blind.is_empty() {
            delta.verdict.lower();
        }
    }

    pub(super) fn delta(
        &self,
        edits: &[EditedText],
        after: &BTreeMap<WorkspacePath, FileReport>,
        unknown: Option<String>,
    ) -> DiagnosticsDelta {
        let (mut added, mut gone, mut unchanged) = (Vec::new(), Vec::new(), 0);
        let mut renamed_away = Vec::new();
        for (path, report) in after {
            let edit = edits.iter().find(|edit| edit.path == *path);
            let old = edit.and_then(|edit| edit.renamed_from.as_ref()).unwrap_or(path);
            renamed_away.push(old.clone());
            let known = self.before.get(old);
            if [known, Some(report)].into_iter().flatten().any(|one| one.verdict == Verdict::NoData) {
                // The findings of a file that was checked only once would all seem new or removed.
                continue;
            }
            let lines =
                edit.and_then(|edit| Some(LineMap::between(edit.before.as_ref()?, edit.after.as_ref()?)));
            let before = known.map(|known| known.comparable(Some(report))).unwrap_or_default();
            let before = match &self.renamed {
                Some(renamed) => Cow::Owned(before.iter().map(|item| renamed.applied_to(item)).collect()),
                None => before,
            };
            let after = report.comparable(known);
            let compared =
                FileComparison { before: &before, after: &after, lines: &lines.unwrap_or_default() };
            let (new, lost, stayed) = compare(&compared);
            added.extend(new.into_iter().map(delta_item));
            gone.extend(lost.into_iter().map(delta_item));
            unchanged += stayed;
        }
        for (path, report) in &self.before {
            if !renamed_away.contains(path) && is_gone(edits, path) {
                gone.extend(report.items.iter().map(delta_item));
            }
        }
        let hints = added.iter().filter(|item| item.severity > FLOOR).count();
        added.retain(|item| item.severity <= FLOOR);
        let (more, has_more) = shorten(&mut added);
        gone.retain(|item| item.severity <= FLOOR);
        let removed = gone.len();
        shorten_gone(&mut gone);
        let errors = after.values().flat_map(|report| &report.items);
        let errors = errors.filter(|item| item.severity == Severity::Error).count();
        let (mut verdict, state, mut notes) = self.verdict(edits, after);
        let cuts = self.cuts(unknown);
        if !cuts.is_empty() {
            verdict.lower();
        }
        notes.extend(cuts);
        let files = after.keys().map(WorkspacePath::display).collect();
        DiagnosticsDelta {
            added,
            more,
            has_more,
            hints,
            removed,
            gone,
            unchanged,
            errors,
            verdict,
            state,
            files,
            notes,
        }
    }

    /// The findings after the edit that may be new, likely ones first. The findings before the edit
    /// are not all known yet.
    pub(super) fn likely_new(
        &self,
        edits: &[EditedText],
        after: &BTreeMap<WorkspacePath, FileReport>,
    ) -> Vec<DeltaItem> {
        let mut added = self.delta(edits, after, None).added;
        let known: BTreeSet<String> = self.before.keys().map(WorkspacePath::display).collect();
        let is_changed =
            |word: &str| self.impact.changed.values().any(|changed| changed.names.contains(word));
        added.sort_by_key(|item| !known.contains(&item.path) && !words_in(&item.message).any(is_changed));
        added
    }

    /// Notes on files that were not checked though the edit may affect them.
    fn cuts(&self, unknown: Option<String>) -> Vec<String> {
        let left_out = &self.impact.left_out;
        let count = left_out.len();
        let named =
            abbreviate_list(left_out.iter().map(WorkspacePath::display), count, MAX_NAMED_OMITTED_FILES);
        let omitted =
            (count > 0).then(|| format!("{count} more files use the change and were not checked: {named}"));
        omitted.into_iter().chain(self.search_gap(unknown)).collect()
    }

    /// The reason that unchecked files may have new errors, in a sentence.
    pub(super) fn search_gap(&self, unknown: Option<String>) -> Option<String> {
        let reason = unknown.or_else(|| self.impact.cut.then(|| SEARCH_CUT.to_owned()))?;
        Some(format!("{reason}: files that were not checked may break as well"))
    }

    /// The verdict: complete if every file was, both times; no data if no file has any, or the
    /// edited files have none.
    fn verdict(
        &self,
        edits: &[EditedText],
        after: &BTreeMap<WorkspacePath, FileReport>,
    ) -> (Verdict, Option<ServerState>, Vec<String>) {
        let reports: Vec<&FileReport> = self.before.values().chain(after.values()).collect();
        let all = |verdict: Verdict| reports.iter().all(|report| report.verdict == verdict);
        let is_edited = |path: &WorkspacePath| {
            edits.iter().any(|edit| edit.path == *path || edit.renamed_from.as_ref() == Some(path))
        };
        let silent = |report: &&&FileReport| report.verdict == Verdict::NoData && is_edited(&report.path);
        let (late, mut notes) = late_servers(&reports);
        let mut lacking: Vec<String> = reports
            .iter()
            .filter(|report| report.verdict != Verdict::Complete && late_status(report).is_none())
            .filter_map(|report| Some(format!("{}: {}", report.path.display(), report.detail.as_ref()?)))
            .collect();
        lacking.sort();
        lacking.dedup();
        notes.extend(lacking);
        notes.truncate(3);
        let reported: BTreeSet<&WorkspacePath> = reports.iter().map(|report| &report.path).collect();
        let missing = self
            .subjects
            .iter()
            .any(|subject| !reported.contains(&subject.path) && !is_gone(edits, &subject.path));
        let verdict = match () {
            () if all(Verdict::NoData) || reports.iter().any(|report| silent(&report)) => Verdict::NoData,
            () if all(Verdict::Hints) => Verdict::Hints,
            () if all(Verdict::Complete) && !missing => Verdict::Complete,
            () => Verdict::Partial,
        };
        (verdict, late, notes)
    }
}

impl RenamedSymbol {
    /// A finding with the new name in place of the old one.
    fn applied_to(&self, item: &DiagnosticItem) -> DiagnosticItem {
        DiagnosticItem { message: replace_word(&item.message, &self.old, &self.new), ..item.clone() }
    }
}

/// The first server that had no time to report everything about a file.
fn late_status(report: &FileReport) -> Option<&ServerStatus> {
    const LATE: [ServerState; 3] = [ServerState::Starting, ServerState::Indexing, ServerState::Timeout];
    if report.verdict == Verdict::Complete {
        return None;
    }
    report.statuses.iter().find(|status| LATE.contains(&status.state))
}

/// The state of the first server that had no time to report everything, and a sentence for each of
/// them.
fn late_servers(reports: &[&FileReport]) -> (Option<ServerState>, Vec<String>) {
    let mut servers: BTreeMap<&str, (&ServerStatus, BTreeSet<String>)> = BTreeMap::new();
    for report in reports {
        if let Some(status) = late_status(report) {
            let (_, paths) = servers.entry(&status.server).or_insert((status, BTreeSet::new()));
            paths.insert(report.path.display());
        }
    }
    let sentence = |(status, paths): &(&ServerStatus, BTreeSet<String>)| {
        let server = &status.server;
        match (status.state, &status.detail) {
            (ServerState::Starting | ServerState::Indexing, Some(detail)) => {
                format!("not checked yet: {detail}")
            }
            (ServerState::Starting, None) => format!("not checked yet: {server} is starting"),
            _ => {
                let named = abbreviate_list(paths.iter().cloned(), paths.len(), MAX_NAMED_OMITTED_FILES);
                format!("not checked yet: {server} did not answer in time about {named}")
            }
        }
    };
    let state = servers.values().next().map(|(status, _)| status.state);
    (state, servers.values().map(sentence).collect())
}

/// Adds notes on aspects that servers without new findings do not check. If a file is moved or
/// deleted and imports are not checked, the verdict is lowered.
pub(super) fn add_unchecked_notes(
    context: &Context,
    edits: &[EditedText],
    after: &BTreeMap<WorkspacePath, FileReport>,
    delta: &mut DiagnosticsDelta,
) {
    let Some((sentence, unchecked)) = unchecked_aspects(context, after).filter(|_| delta.added.is_empty())
    else {
        return;
    };
    delta.notes.push(sentence);
    let vanishing = edits.iter().any(|edit| edit.renamed_from.is_some() || edit.after.is_none());
    if vanishing && unchecked.contains(&UncheckedAspect::Imports) {
        delta.verdict.lower();
    }
}

/// The aspects that none of the servers of some file checks, and a sentence about them; `None` if
/// there are none.
pub(super) fn unchecked_aspects(
    context: &Context,
    after: &BTreeMap<WorkspacePath, FileReport>,
) -> Option<(String, BTreeSet<UncheckedAspect>)> {
    let specs = |report: &FileReport| -> Vec<(String, &ServerSpec)> {
        let keys = report.statuses.iter().map(|status| &status.server);
        keys.filter_map(|key| Some((key.clone(), context.catalogue().servers.get(key)?))).collect()
    };
    let (mut servers, mut unchecked) = (BTreeSet::new(), BTreeSet::new());
    for report in after.values() {
        let asked_servers = specs(report);
        let Some((_, first)) = asked_servers.first() else { continue };
        let by_none =
            |gap: &&UncheckedAspect| asked_servers.iter().all(|(_, spec)| spec.unchecked.contains(gap));
        let gaps: Vec<UncheckedAspect> = first.unchecked.iter().filter(by_none).copied().collect();
        if !gaps.is_empty() {
            unchecked.extend(gaps);
            servers.extend(asked_servers.into_iter().map(|(key, _)| key));
        }
    }
    if unchecked.is_empty() {
        return None;
    }
    let names: Vec<&str> = servers.iter().map(String::as_str).collect();
    let gaps: Vec<&str> = unchecked.iter().map(|gap| gap.name()).collect();
    let (names, do_not) = (names.join(" and "), if names.len() == 1 { "does not" } else { "do not" });
    Some((format!("{names} {do_not} check {}", gaps.join(" or ")), unchecked))
}
