//! The judge of an edit: selects the servers for its check, and judges it once it is made or tried.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::new_findings::{earlier_path, is_about_files};
use super::{Baseline, BreakageMode, BreakageWatch, module_names, view_before_edits};
use crate::analysis::answer::{DiagnosticItem, Verdict};
use crate::analysis::breakage::delta::DiagnosticsDelta;
use crate::analysis::breakage::edit_judgement::{DiagnosticsStatement, EditJudgement};
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::check::file_report::FileReport;
use crate::analysis::context::{Context, LanguageFile};
use crate::config::spec::{DiagnosticsSource, ServerSpec, UncheckedAspect};
use crate::lsp::documents::view::View;
use crate::lsp::servers::manager::SessionUnavailable;
use crate::text::words_in;
use crate::workspace::WorkspacePath;

/// The judge of one edit.
#[derive(Debug)]
pub(crate) enum EditJudge {
    /// Compares with the findings before the edit.
    Baseline(Box<Baseline>),
    /// Nothing was checked before the edit: the texts before it are shown to the servers as unsaved
    /// texts.
    Afterwards(BreakageMode),
    /// There is nothing to compare.
    Statement(DiagnosticsStatement),
}

impl EditJudge {
    /// Judges `edits`, which are on disk, or in `view` only.
    pub(crate) async fn judge(self, context: &Context, edits: &[EditedText], view: &View) -> EditJudgement {
        match self {
            Self::Baseline(baseline) => baseline.compare(context, edits, view).await.into(),
            Self::Statement(statement) => statement.into(),
            Self::Afterwards(mode) => {
                // The positions of the changes are those in the earlier texts.
                let before = Context { view: view_before_edits(view, edits), ..context.clone() };
                match BreakageWatch::for_edits(&before, edits, mode).await {
                    Ok(watch) => {
                        let baseline = watch.without_baseline(view, edits);
                        let mut delta = baseline.compare(context, edits, view).await;
                        add_blind_note(context, edits, &mut delta);
                        delta.into()
                    }
                    Err(statement) => statement.into(),
                }
            }
        }
    }
}

/// Adds a note on servers that see other files only as they are on disk, and so cannot be shown the
/// earlier state.
fn add_blind_note(context: &Context, edits: &[EditedText], delta: &mut DiagnosticsDelta) {
    let others = delta.files.iter().filter(|path| !edits.iter().any(|edit| edit.path.display() == **path));
    let others = others.filter_map(|path| context.workspace.path(path.as_ref()).ok());
    let subjects: Vec<LanguageFile> =
        others.filter_map(|path| context.language_file_unchecked(path).ok()).collect();
    let mut servers = subjects.iter().flat_map(|subject| judging_servers(context, subject));
    if let Some((server, _)) = servers.find(|(_, server)| !server.diagnostics.sees_unsaved) {
        let note = format!("{server} reads other files from disk: their earlier diagnostics are unknown");
        delta.notes.push(note);
        delta.verdict.lower();
    }
}

/// Checks that some server can check a file, and starts servers that do not run.
///
/// # Errors
/// The reason that no server can. If diagnostics are requested, a file without a server gets a
/// syntax check instead.
pub(super) fn check_askable(
    context: &Context,
    subject: &LanguageFile,
    mode: BreakageMode,
) -> Result<(), DiagnosticsStatement> {
    let servers = context.servers_for(subject, |features| features.diagnostics);
    if servers.is_empty() {
        return match mode {
            BreakageMode::Wanted if subject.language.is_some() => Ok(()),
            _ => Err(without_server(context, subject)),
        };
    }
    if mode != BreakageMode::Unsaid {
        return Ok(());
    }
    let path = &subject.path;
    let resting = servers.iter().filter(|(key, _)| context.manager.running_session(key, path).is_none());
    let resting: Vec<&str> = resting.map(|(key, _)| *key).collect();
    let runs = resting.len() < servers.len();
    let (mut installed, mut refused) = (None, None);
    for server in resting {
        match context.manager.locate(server, path) {
            Ok(_) => drop(installed.get_or_insert(server)),
            Err(reason) => drop(refused.get_or_insert((server, reason))),
        }
    }
    match (installed, refused) {
        _ if runs => context.start_servers_for(subject),
        (Some(_), _) if context.keeps_servers() => context.start_servers_for(subject),
        (Some(server), _) => {
            let reason = format!(
                "not checked: {server} is not running; run `lsp-tools check`, or edit with `--diagnostics`"
            );
            return Err(DiagnosticsStatement::no_data(reason));
        }
        (None, Some((server, reason))) => return Err(unavailable(context, subject, server, &reason)),
        (None, None) => {}
    }
    Ok(())
}

fn without_server(context: &Context, subject: &LanguageFile) -> DiagnosticsStatement {
    let known = subject.language.as_ref().and_then(|key| context.catalogue().languages.get(key));
    let subject = match (known, subject.path.extension()) {
        (Some(language), _) => language.name.clone(),
        (None, Some(extension)) => format!(".{extension} files"),
        (None, None) => subject.path.name_lossy().into_owned(),
    };
    DiagnosticsStatement::hints(format!("not checked: no server for {subject}"))
}

fn unavailable(
    context: &Context,
    subject: &LanguageFile,
    server: &str,
    reason: &SessionUnavailable,
) -> DiagnosticsStatement {
    let language = subject.language.as_deref();
    if !matches!(reason, SessionUnavailable::Missing { .. }) {
        return DiagnosticsStatement::hints(format!("not checked: {reason}"));
    }
    // Data formats of a project need no server.
    if language.is_some_and(|language| context.catalogue().is_data(language)) {
        return without_server(context, subject);
    }
    let install = context.installer_command(server, language).or_else(|| context.install_command(server));
    let run = install.map(|command| format!(", run: {command}")).unwrap_or_default();
    DiagnosticsStatement::hints(format!("not checked: {server} is not installed{run}"))
}

/// Returns true if the servers of a file check unsaved texts on demand. The findings before an edit
/// can then be requested after it, only if they are needed.
pub(super) fn can_be_shown_later(context: &Context, subject: &LanguageFile) -> bool {
    let on_demand = |source| matches!(source, DiagnosticsSource::Pull | DiagnosticsSource::Tsserver);
    let judging = judging_servers(context, subject);
    judging.iter().all(|(_, server)| server.diagnostics.sees_unsaved && on_demand(server.diagnostics.source))
}

/// The servers that an edit of another file can affect. Linters that check neither imports nor
/// types only check the file itself.
fn judging_servers<'a>(context: &'a Context, subject: &LanguageFile) -> Vec<(&'a str, &'a ServerSpec)> {
    let mut servers = context.servers_for(subject, |features| features.diagnostics);
    let is_blind = |server: &ServerSpec| {
        [UncheckedAspect::Imports, UncheckedAspect::Types]
            .iter()
            .all(|aspect| server.unchecked.contains(aspect))
    };
    servers.retain(|(_, server)| !is_blind(server));
    servers
}

/// Removes findings on the absence of files that `edits` delete or move from `reports` on the state
/// before: no server can be shown that a file is still there.
fn drop_missing_files(
    context: &Context,
    edits: &[EditedText],
    reports: &mut BTreeMap<WorkspacePath, FileReport>,
) {
    let sources = edits.iter().filter_map(|edit| match &edit.renamed_from {
        Some(from) => Some(from),
        None => edit.after.is_none().then_some(&edit.path),
    });
    let names: BTreeSet<String> = sources.flat_map(module_names).collect();
    let is_missing = |item: &DiagnosticItem| {
        is_about_files(context, item) && words_in(&item.message).any(|word| names.contains(word))
    };
    for report in reports.values_mut().filter(|_| !names.is_empty()) {
        report.items.retain(|item| !is_missing(item));
    }
}

/// Returns true if the servers of a file need not be asked again about the text on disk.
pub(super) fn is_kept(context: &Context, subject: &LanguageFile) -> bool {
    let keeps = |(server, _): &(&str, &ServerSpec)| {
        let session = context.manager.running_session(server, &subject.path);
        session.is_some_and(|session| session.kept_diagnostics(&subject.path).is_some())
    };
    context.view.is_disk() && judging_servers(context, subject).iter().all(keeps)
}

impl Baseline {
    /// Checks the earlier texts of files that were not checked before the edit. A file without
    /// findings after the edit has no new ones, so only files with findings are checked.
    pub(super) async fn look_back(
        &mut self,
        context: &Context,
        edits: &[EditedText],
        after: &mut BTreeMap<WorkspacePath, FileReport>,
        until: Instant,
    ) {
        let mut wanted = BTreeMap::new();
        for report in after.values().filter(|report| report.verdict != Verdict::NoData) {
            let Some(old) = earlier_path(edits, &report.path) else { continue };
            if self.before.get(old).is_some_and(|before| before.verdict != Verdict::NoData) {
                continue;
            }
            self.before.remove(old);
            if !report.items.is_empty() {
                let subject = self.subjects.iter().find(|subject| subject.path == report.path);
                let language = subject.and_then(|subject| subject.language.clone());
                wanted.insert(report.path.clone(), LanguageFile { path: old.clone(), language });
            }
        }
        let subjects: Vec<LanguageFile> = wanted.values().cloned().collect();
        let mut found = self.check_earlier(context, subjects, until).await;
        if self.earlier.tree.is_none() {
            drop_missing_files(context, edits, &mut found);
        }
        after.retain(|path, _| wanted.get(path).is_none_or(|subject| found.contains_key(&subject.path)));
        self.before.extend(found);
    }
}
