//! Pulled diagnostics: LSP 3.17, *Pull Diagnostics*.

use std::sync::Arc;

use lsp_types::request::DocumentDiagnosticRequest;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::background_check::{CheckDemand, CheckFindings};
use super::findings::{BackgroundFindings, DiagnosticsCompleteness, RawDiagnostics};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::session::ask::{AskError, SessionAnswer};
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::{DependencyScope, DocumentRequest, Untyped};
use crate::workspace::WorkspacePath;

/// The method that requests the diagnostics of a document (LSP 3.17).
pub(super) const PULL: &str = "textDocument/diagnostic";

impl Session {
    /// Requests the diagnostics of `path`. If the server registers pull diagnostics only after its
    /// start, waits for that. If it pushes some instead, takes those.
    pub(super) async fn pull_diagnostics(
        &self,
        path: &WorkspacePath,
        demand: CheckDemand,
        deadline: Instant,
    ) -> Result<RawDiagnostics, AskError> {
        let (mut synced, mut snapshot) = self.sync(path).await?;
        if let Some(document) = synced.document().filter(|document| document.asked_signature) {
            self.resend_text(document);
            snapshot = document.snapshot();
        }
        drop(synced);
        let is_offered = || self.offers(PULL, path, &snapshot.language_id);
        let is_pushed = || self.state.push_count(path) > 0;
        self.wait_until(deadline, || is_offered() || is_pushed()).await;
        if !is_offered() {
            // An earlier version of the server.
            if is_pushed() {
                return self.pushed_diagnostics(path, deadline).await;
            }
            let known = DiagnosticsCompleteness::NoData(format!(
                "{} did not register diagnostics in time",
                self.server()
            ));
            return Ok(RawDiagnostics::without_findings(snapshot, known));
        }
        let mut answer = self.pull_once(path, &snapshot, deadline).await?;
        if answer.unfinished_work.is_some() {
            // Findings given while the project is being read are often wrong; the ones given
            // afterwards are not.
            let still = self.wait_for_idle(deadline).await;
            if still.is_none() {
                answer = self.pull_once(path, &snapshot, deadline).await?;
            }
            answer.unfinished_work = still;
        }
        let demand = if answer.unfinished_work.is_some() { CheckDemand::AsKnown } else { demand };
        let checked = self.background_check(demand, &answer.snapshot, deadline).await?;
        let (more, left_out) = self.background_findings(&checked, &answer.snapshot, &answer.value);
        let background = match &checked {
            CheckFindings::None => BackgroundFindings::None,
            CheckFindings::Current => BackgroundFindings::Whole(more.len()),
            CheckFindings::Outdated(_) => BackgroundFindings::Missing(more.len()),
        };
        let left_out = left_out + answer.left_out;
        let known = match (answer.unfinished_work, checked) {
            (Some(work), _) => DiagnosticsCompleteness::Partial(work.sentence(self.server())),
            (None, CheckFindings::Outdated(Some(reason))) => DiagnosticsCompleteness::Partial(reason),
            _ if left_out > 0 => DiagnosticsCompleteness::Partial(self.too_much(left_out)),
            _ => DiagnosticsCompleteness::Complete,
        };
        let mut items = answer.value;
        items.extend(more);
        Ok(RawDiagnostics {
            items: Arc::new(items),
            snapshot: answer.snapshot,
            known,
            notes: Vec::new(),
            background,
        })
    }

    /// One round: a request for each `identifier` under which the server offers diagnostics.
    async fn pull_once(
        &self,
        path: &WorkspacePath,
        snapshot: &Snapshot,
        deadline: Instant,
    ) -> Result<SessionAnswer<Vec<Value>>, AskError> {
        let (mut all, mut left_out) = (Vec::new(), 0);
        let mut last = None;
        for identifier in self.identifiers(path, snapshot) {
            let params = |snapshot: &Snapshot, _| Some(pull_params(snapshot, identifier.as_deref()));
            let request =
                DocumentRequest::new::<Untyped<DocumentDiagnosticRequest>>(DependencyScope::File, params);
            let answer = self.ask(path, &request, deadline).await?;
            all.extend(answer.value["items"].as_array().cloned().unwrap_or_default());
            left_out += answer.left_out;
            last = Some(answer);
        }
        // There is always at least one identifier: that of the unnamed offer.
        let (snapshot, working) =
            last.map_or((snapshot.clone(), None), |last| (last.snapshot, last.unfinished_work));
        Ok(SessionAnswer { value: all, snapshot, unfinished_work: working, undecodable: 0, left_out })
    }

    pub(super) fn identifiers(&self, path: &WorkspacePath, snapshot: &Snapshot) -> Vec<Option<String>> {
        let absolute = self.workspace.absolute(path);
        let mut found: Vec<Option<String>> = self.state.with_registrations(|known| {
            known
                .all_options(PULL, &snapshot.language_id, &absolute)
                .map(|options| options["identifier"].as_str().map(str::to_owned))
                .collect()
        });
        if self.capabilities.announces(PULL) {
            found.push(self.capabilities.diagnostic_identifier());
        }
        found.sort();
        found.dedup();
        if found.is_empty() {
            found.push(None);
        }
        found
    }

    /// Returns the findings of the background check that are not among `answered`, if they are
    /// about this text, and the number of further findings that were not read.
    fn background_findings(
        &self,
        checked: &CheckFindings,
        snapshot: &Snapshot,
        answered: &[Value],
    ) -> (Vec<Value>, usize) {
        if matches!(checked, CheckFindings::None) {
            return (Vec::new(), 0);
        }
        let pushes = self.state.pushes(&snapshot.path);
        let is_of_this_text = matches!(checked, CheckFindings::Current)
            || pushes.count > snapshot.pushes_before
                && pushes.version.is_none_or(|version| version == snapshot.version);
        if !is_of_this_text {
            return (Vec::new(), 0);
        }
        let is_same = |a: &Value, b: &Value| a["range"] == b["range"] && a["message"] == b["message"];
        let is_new = |item: &&Value| !answered.iter().any(|known| is_same(known, item));
        (pushes.items.iter().filter(is_new).cloned().collect(), pushes.left_out)
    }
}

/// The parameters of a pull of diagnostics (LSP 3.17, *DocumentDiagnosticParams*). By that type,
/// members that are not there would be `null`, which the specification does not allow.
pub(super) fn pull_params(snapshot: &Snapshot, identifier: Option<&str>) -> Value {
    match identifier {
        Some(identifier) => json!({ "textDocument": snapshot.identifier(), "identifier": identifier }),
        None => json!({ "textDocument": snapshot.identifier() }),
    }
}
