//! Diagnostics of notebooks: those of the code cells, at their places in the notebook's file.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::findings::{BackgroundFindings, DiagnosticsCompleteness, RawDiagnostics, ServerFileDiagnostics};
use super::pull::{PULL, pull_params};
use crate::config::spec::{DiagnosticsRule, DiagnosticsSource, NotebookRule};
use crate::lsp::documents::open_documents::Snapshot;
use crate::lsp::documents::open_notebook::OpenNotebook;
use crate::lsp::model::{Diagnostic, FileRef};
use crate::lsp::session::ask::{AskError, MAX_MOVING_FILE_RETRIES, readiness_deadline};
use crate::lsp::session::bounded_answer::{BoundedAnswer, bounded_answer};
use crate::lsp::session::decode::PositionDecoder;
use crate::lsp::session::live_session::Session;
use crate::lsp::session::request::DependencyScope;
use crate::text::notebook_code::NotebookCode;
use crate::workspace::WorkspacePath;

/// The pause before a failed request about a cell is repeated.
const CELL_RETRY_DELAY: Duration = Duration::from_millis(50);

impl Session {
    /// Returns the server's findings in the code cells in `language` of the notebook at `path` on
    /// disk.
    pub(crate) async fn notebook_diagnostics(
        &self,
        path: &WorkspacePath,
        language: &str,
        deadline: Instant,
    ) -> Result<ServerFileDiagnostics, AskError> {
        let _use_guard = self.mark_in_use();
        self.reload_if_due(deadline).await;
        for _ in 0..=MAX_MOVING_FILE_RETRIES {
            let notebook = self.notebook(path).await?;
            let code = match NotebookCode::parse(&notebook.buffer.to_string()) {
                Ok(code) => code,
                Err(error) => {
                    let known = DiagnosticsCompleteness::NoData(format!("{}: {error}", path.display()));
                    return Ok(in_notebook(&notebook, known));
                }
            };
            let Ok(mut opened) = timeout_at(deadline, self.notebooks.lock()).await else {
                let reason = format!("{} was still checking another notebook", self.server());
                return Ok(in_notebook(&notebook, DiagnosticsCompleteness::NoData(reason)));
            };
            *opened += 1;
            let open = self.open_notebook(&notebook, &code, language, *opened);
            let found = self.cell_diagnostics(&notebook, &code, &open, deadline).await?;
            drop(open);
            drop(opened);
            if self.is_current(&notebook) {
                return Ok(self.judge_findings(path, found, deadline).await);
            }
        }
        Err(AskError::Moving { path: path.display() })
    }

    /// The findings in all cells of an open notebook.
    async fn cell_diagnostics(
        &self,
        notebook: &Snapshot,
        code: &NotebookCode,
        open: &OpenNotebook<'_>,
        deadline: Instant,
    ) -> Result<ServerFileDiagnostics, AskError> {
        let mut found = in_notebook(notebook, DiagnosticsCompleteness::Complete);
        let working = self.wait_ready(DependencyScope::Project, readiness_deadline(deadline)).await;
        let mut gaps: Vec<String> = working.iter().map(|work| work.sentence(self.server())).collect();
        if code.left_out > 0 {
            gaps.push(format!("{} cells of {} were not read", code.left_out, notebook.path.display()));
        }
        let mut silent = 0;
        let mut texts = PositionDecoder::of_workspace(self).with_deadline(deadline);
        open.cells.iter().for_each(|cell| texts.set_own(virtual_file(cell), cell.buffer.clone()));
        for (index, cell) in open.cells.iter().enumerate() {
            let raw = self.findings_in_cell(cell, deadline).await?;
            silent += usize::from(matches!(raw.known, DiagnosticsCompleteness::NoData(_)));
            gaps.extend(raw.known.reason().cloned());
            found.notes.extend(raw.notes.iter().cloned());
            texts.set_own(virtual_file(cell), cell.buffer.clone());
            let mut items: Vec<_> = raw.items.iter().filter_map(|item| texts.diagnostic(item)).collect();
            items.iter_mut().for_each(|item| move_to_file(item, notebook, code, (open, index)));
            found.items.extend(items);
        }
        found.notes.dedup();
        found.known = match gaps.into_iter().next() {
            Some(reason) if silent == open.cells.len() && silent > 0 => {
                DiagnosticsCompleteness::NoData(reason)
            }
            Some(reason) => DiagnosticsCompleteness::Partial(reason),
            None => DiagnosticsCompleteness::Complete,
        };
        Ok(found)
    }

    /// The findings in one cell of an open notebook, pulled or pushed.
    async fn findings_in_cell(&self, cell: &Snapshot, deadline: Instant) -> Result<RawDiagnostics, AskError> {
        let without = |reason: String| {
            RawDiagnostics::without_findings(cell.clone(), DiagnosticsCompleteness::NoData(reason))
        };
        let DiagnosticsRule { source, notebooks, .. } = self.state.spec.diagnostics;
        if matches!(source, DiagnosticsSource::None | DiagnosticsSource::Tsserver) {
            return Ok(without(format!("{} has no diagnostics for notebooks", self.server())));
        }
        if self.offers(PULL, &cell.path, &cell.language_id)
            || source == DiagnosticsSource::Pull
                && self.wait_for_offer(&cell.path, &cell.language_id, deadline).await
        {
            let pulled = self.pull_cell(cell, deadline).await?;
            // The pushes for a notebook come before the response to a pull.
            let pushed = self.state.pushes(&cell.path);
            let is_pushed = notebooks == NotebookRule::PushedCells && pushed.version == Some(cell.version);
            let items = if is_pushed { pushed.items.clone() } else { pulled.items.clone() };
            return Ok(RawDiagnostics { items, ..pulled });
        }
        if source == DiagnosticsSource::Pull {
            return Ok(without(format!("{} did not register diagnostics in time", self.server())));
        }
        let barrier = std::pin::pin!(self.wait_for_barrier(self.start_barrier(cell)?, deadline));
        let pushed = self.listen_for_push(&cell.path, cell.clone(), false, barrier, deadline).await?;
        let odd = || without(format!("{} sent no diagnostics for this version of a cell", self.server()));
        Ok(self.without_failed_checks(pushed.unwrap_or_else(odd)))
    }

    async fn pull_cell(&self, cell: &Snapshot, deadline: Instant) -> Result<RawDiagnostics, AskError> {
        let (mut items, mut left) = (Vec::new(), 0);
        for identifier in self.identifiers(&cell.path, cell) {
            let params = pull_params(cell, identifier.as_deref());
            let BoundedAnswer { value, left_out } = loop {
                match bounded_answer(self.connection.start(PULL, &params)?, deadline).await {
                    Err(error) if error.is_transient() && Instant::now() + CELL_RETRY_DELAY < deadline => {
                        // The server names no moment at which it can answer.
                        tokio::time::sleep(CELL_RETRY_DELAY).await;
                    }
                    answered => break answered?,
                }
            };
            items.extend(value["items"].as_array().cloned().unwrap_or_default());
            left += left_out;
        }
        let known = match left {
            0 => DiagnosticsCompleteness::Complete,
            left => DiagnosticsCompleteness::Partial(self.too_much(left)),
        };
        Ok(RawDiagnostics { items: Arc::new(items), ..RawDiagnostics::without_findings(cell.clone(), known) })
    }
}

/// The document of a cell, as places of answers name it.
fn virtual_file(cell: &Snapshot) -> FileRef {
    FileRef::Virtual(cell.uri.to_string())
}

/// Gives a finding in the cell at `index` its place in the notebook's file.
fn move_to_file(
    item: &mut Diagnostic,
    notebook: &Snapshot,
    code: &NotebookCode,
    (open, index): (&OpenNotebook<'_>, usize),
) {
    let Some(cell) = code.cells.get(index) else { return };
    item.range = cell.range_in_file(&notebook.buffer, item.range);
    item.cell = Some(cell.number);
    for (location, _) in &mut item.related {
        let of_cell = open.cells.iter().position(|cell| virtual_file(cell) == location.file);
        if let Some(cell) = of_cell.and_then(|index| code.cells.get(index)) {
            location.range = cell.range_in_file(&notebook.buffer, location.range);
            location.file = FileRef::Inside(notebook.path.clone());
        }
    }
}

/// An empty result for a notebook, with its completeness.
fn in_notebook(notebook: &Snapshot, known: DiagnosticsCompleteness) -> ServerFileDiagnostics {
    ServerFileDiagnostics {
        items: Vec::new(),
        known,
        text: notebook.buffer.clone(),
        notes: Vec::new(),
        background: BackgroundFindings::None,
    }
}
