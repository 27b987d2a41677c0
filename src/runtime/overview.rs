//! The overview of a workspace for a watching user: servers, findings, edits and unsaved texts.
//!
//! The overview shows known state and queries no server. Paths that the rules hide from reading are
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::Runtime;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::path_limits::PathLimits;
use crate::lsp::diagnostics::known::KnownFinding;
use crate::lsp::servers::manager::SlotActivity;
use crate::policy::request::{CallSubjects, Effect, PolicyRequest, PolicyVerdict};
use crate::text::diff::{DiffOptions, unified_diff};
use crate::tools::api::tool::Caller;
use crate::tools::edit::editing::from_edit_error;
use crate::tools::edit::undo::{PastEdit, to_past_edit};
use crate::tools::language::servers::ServerRunState;
use crate::workspace::edit::{EditId, FileOperation, HistoryEntry};
use crate::workspace::{Workspace, WorkspacePath};

/// The number of edits shown.
const MAX_SHOWN_EDITS: usize = 30;
/// The number of files with findings shown, the worst first.
const MAX_SHOWN_FILES: usize = 400;
/// The size limit of one file's diff, in bytes.
const MAX_SHOWN_DIFF_BYTES: usize = 64 << 10;
/// The length limit of a server's log line, in characters.
const MAX_SHOWN_WORDS_CHARS: usize = 400;
/// The replacement for a path that the rules hide.
pub(crate) const HIDDEN: &str = "[hidden by a rule]";

/// The paths that the rules hide from reading, applied to the overview.
#[derive(Debug, Clone)]
pub(crate) struct OverviewVeil {
    workspace: Workspace,
    /// True if a rule may hide a path.
    is_active: bool,
    /// True if all files are hidden.
    hides_all: bool,
}

/// A running, failed or starting server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ServerOverview {
    /// The server's key in the catalogue.
    pub(crate) server: String,
    /// The folder that the server serves; empty for the workspace itself.
    pub(crate) root: String,
    /// The server's current state.
    pub(crate) state: ServerRunState,
    /// The process id.
    pub(crate) pid: Option<u32>,
    /// The resident memory of the process and its children, in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// The median and the 99th percentile of recent response times, in milliseconds.
    pub(crate) latency_ms: Option<(f64, f64)>,
    /// The number of open documents.
    pub(crate) open_documents: usize,
    /// The number of restarts.
    pub(crate) restarts: u32,
    /// The work that its answers wait for.
    pub(crate) waits_for: Option<String>,
    /// The reason why it does not run, or the capability it lacks.
    pub(crate) detail: Option<String>,
    /// The latest messages and the end of the standard error.
    pub(crate) last_words: Vec<String>,
}

/// A file with findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileOverview {
    /// The path, relative to the workspace.
    pub(crate) path: String,
    /// The numbers of errors, warnings, information messages and hints.
    pub(crate) counts: [usize; 4],
    /// The servers that reported the findings.
    pub(crate) servers: Vec<String>,
    /// The first findings.
    pub(crate) first: Vec<Value>,
}

/// Files with findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FilesOverview {
    /// The files, those with most errors first.
    pub(crate) files: Vec<FileOverview>,
    /// The number of files that servers have reported on, including those without findings.
    pub(crate) known: usize,
    /// The number of files with findings that are missing from the list.
    pub(crate) left_out: usize,
    /// The files without a finding.
    #[serde(skip)]
    pub(crate) clean: BTreeSet<String>,
}

/// An unsaved text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct UnsavedOverview {
    /// The prefix of the editor's session id; `None` if a handle of `lsp_overlay` holds the text.
    pub(crate) session: Option<String>,
    /// The path, relative to the workspace.
    pub(crate) path: String,
    /// The number of lines.
    pub(crate) lines: usize,
    /// The number of lines that the disk lacks.
    pub(crate) additions: usize,
    /// The number of lines that only the disk has.
    pub(crate) deletions: usize,
}

impl OverviewVeil {
    /// Returns true if `path` is hidden.
    pub(crate) fn hides(&self, path: &WorkspacePath) -> bool {
        self.hides_all || (self.is_active && self.workspace.is_path_hidden(path))
    }

    /// Like `hides`, for a path as spelled in a text. A text that is not a path in the workspace is
    /// not hidden.
    fn hides_spelled(&self, text: &str) -> bool {
        let path = text.strip_prefix("file://").unwrap_or(text).trim_end_matches(['.', '/', ':']);
        if !path.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            return false;
        }
        // A rule that hides all files does not hide every word of a text.
        let is_spelled =
            || path.contains(['/', '.']) || self.workspace.root().join(path).symlink_metadata().is_ok();
        self.workspace.path(std::path::Path::new(path)).is_ok_and(|path| self.hides(&path)) && is_spelled()
    }

    /// Replaces the names of hidden files in `text`.
    pub(crate) fn redact(&self, text: &str) -> String {
        if !self.is_active && !self.hides_all {
            return text.to_owned();
        }
        let is_edge =
            |character: char| character.is_whitespace() || "\"'`()[]{}<>,;=|&:*?!#$".contains(character);
        let mut out = String::with_capacity(text.len());
        for part in text.split_inclusive(is_edge) {
            let word = part.trim_end_matches(is_edge);
            if self.hides_spelled(word) {
                out.push_str(HIDDEN);
                out.push_str(&part[word.len()..]);
            } else {
                out.push_str(part);
            }
        }
        out
    }

    /// Replaces the names of hidden files in every string of `value`.
    pub(crate) fn redact_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_all(item)),
            Value::Object(map) => map.iter_mut().for_each(|(_, part)| self.redact_all(part)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl Runtime {
    /// Returns the veil that hides from the overview all paths that the rules hide from a reading
    /// agent.
    pub(crate) fn overview_veil(&self) -> OverviewVeil {
        let caller = Caller::default();
        let policy = self.policy_of(&caller);
        let subjects = CallSubjects::default();
        let request = |tool| PolicyRequest { tool, effect: Effect::Read, subjects: &subjects };
        let reading = request("read");
        let limits: Vec<PathLimits> =
            ["read", "grep", "lsp_diagnostics"].map(|tool| policy.limits(&request(tool))).into();
        let is_active = limits.iter().any(PathLimits::may_hide);
        let workspace = self.context.workspace.with_path_filter(std::sync::Arc::new(move |path| {
            limits.iter().any(|limits| limits.is_hidden(path))
        }));
        let hides_all = policy.decide(&reading).verdict == PolicyVerdict::Deny;
        OverviewVeil { workspace, is_active, hides_all }
    }

    /// Lists the servers that have been requested.
    pub(crate) async fn servers_overview(&self) -> Vec<ServerOverview> {
        let mut servers = Vec::new();
        for slot in self.context.manager.status() {
            let mut row = ServerOverview {
                server: slot.server,
                root: if slot.root.is_root() { String::new() } else { slot.root.display() },
                state: ServerRunState::Installed,
                pid: None,
                memory_bytes: None,
                latency_ms: None,
                open_documents: 0,
                restarts: slot.restarts,
                waits_for: None,
                detail: None,
                last_words: Vec::new(),
            };
            let session = match slot.run {
                SlotActivity::Resting => None,
                SlotActivity::Disabled { reason } => {
                    (row.state, row.detail) = (ServerRunState::Disabled, Some(reason));
                    None
                }
                SlotActivity::Starting { so_far, hold } => {
                    row.state = ServerRunState::Starting;
                    row.waits_for = Some(format!("its start, {} s so far", so_far.as_secs()));
                    row.detail = hold;
                    None
                }
                SlotActivity::Failed { why, last } => {
                    (row.state, row.detail) = (ServerRunState::Crashed, Some(why));
                    last
                }
                SlotActivity::Running(session) => {
                    row.pid = session.pid();
                    row.memory_bytes = session.resident_bytes().await;
                    row.waits_for = session.unfinished_work().map(|work| work.to_string());
                    row.state = match row.waits_for {
                        Some(_) => ServerRunState::Indexing,
                        None => ServerRunState::Ready,
                    };
                    let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
                    let latency = session.latency();
                    row.latency_ms = latency.map(|(median, p99)| (milliseconds(median), milliseconds(p99)));
                    row.open_documents = session.open_documents();
                    row.detail = session.health().or_else(|| session.shortfall_reason(&session.root));
                    Some(session)
                }
            };
            if let Some(session) = session {
                row.last_words.extend(session.messages());
                row.last_words.extend(session.stderr_tail());
            }
            let cut = |words: &String| words.chars().take(MAX_SHOWN_WORDS_CHARS).collect();
            row.last_words = row.last_words.iter().map(cut).collect();
            servers.push(row);
        }
        servers
    }

    /// Lists the files that servers have reported on. Evaluates rules for each file, so not for an
    /// async thread.
    pub(crate) fn files_overview(&self, redactor: &OverviewVeil) -> FilesOverview {
        let mut found: BTreeMap<WorkspacePath, FileOverview> = BTreeMap::new();
        for slot in self.context.manager.status() {
            let SlotActivity::Running(session) = slot.run else { continue };
            for (path, findings) in session.known_findings() {
                let shown = path.display();
                let file = found.entry(path).or_insert_with(|| FileOverview {
                    path: shown,
                    counts: [0; 4],
                    servers: Vec::new(),
                    first: Vec::new(),
                });
                file.counts.iter_mut().zip(findings.counts).for_each(|(sum, count)| *sum += count);
                if findings.counts.iter().any(|count| *count > 0) {
                    file.servers.push(session.server().to_owned());
                }
                file.first
                    .extend(findings.first.iter().map(|finding| finding_json(finding, session.server())));
            }
        }
        found.retain(|path, _| !redactor.hides(path));
        let known = found.len();
        let (mut files, clean): (Vec<FileOverview>, Vec<FileOverview>) =
            found.into_values().partition(|file| file.counts.iter().any(|count| *count > 0));
        files.sort_by(|one, other| other.counts.cmp(&one.counts).then_with(|| one.path.cmp(&other.path)));
        let left_out = files.len().saturating_sub(MAX_SHOWN_FILES);
        files.truncate(MAX_SHOWN_FILES);
        FilesOverview { files, known, left_out, clean: clean.into_iter().map(|file| file.path).collect() }
    }

    /// Lists the unsaved texts of editors and of holders of handles.
    pub(crate) fn unsaved_overview(&self, redactor: &OverviewVeil) -> Vec<UnsavedOverview> {
        let workspace = &self.context.workspace;
        let editors = self.known_overlays.views(workspace).into_iter();
        let editors =
            editors.map(|(session, view)| (Some(session.chars().take(8).collect::<String>()), view));
        let handles = self.state.overlays.views().into_iter().map(|view| (None, view));
        let mut unsaved = Vec::new();
        for (session, view) in editors.chain(handles) {
            for (path, text) in view.texts().into_iter().filter(|(path, _)| !redactor.hides(path)) {
                let disk = self.context.saved_text(&path).unwrap_or_default();
                let options = DiffOptions { context: 0, max_bytes: 0 };
                let diff = unified_diff(None, &disk, None, &text, options);
                unsaved.push(UnsavedOverview {
                    session: session.clone(),
                    path: path.display(),
                    lines: text.lines().count(),
                    additions: diff.additions,
                    deletions: diff.deletions,
                });
            }
        }
        unsaved
    }

    /// Lists the newest edits without their texts. Edits of hidden files alone are left out.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(crate) fn edits_overview(&self, redactor: &OverviewVeil) -> Result<Vec<PastEdit>, ToolError> {
        let history = self.context.edits.history().map_err(from_edit_error)?;
        let shown = history.into_iter().filter_map(|mut entry: HistoryEntry| {
            entry.files.retain(|(path, operation)| !hides_change(redactor, path, operation));
            (!entry.files.is_empty()).then(|| to_past_edit(&entry))
        });
        Ok(shown.take(MAX_SHOWN_EDITS).collect())
    }

    /// Returns the changes of the edit `id` to each visible file, as diffs.
    ///
    /// # Errors
    /// `not_found`, `invalid_args`, or the journal cannot be read.
    pub(crate) fn edit_overview(&self, id: &str, redactor: &OverviewVeil) -> Result<Value, ToolError> {
        let id: EditId = id
            .parse()
            .map_err(|_| ToolError::new(ErrorCode::InvalidArgs, "this is not the id of an edit"))?;
        let changes = self.context.edits.retrace(id).map_err(from_edit_error)?;
        let shown = changes.iter().filter(|change| !hides_change(redactor, &change.path, &change.operation));
        let files: Vec<Value> = shown
            .map(|change| {
                let path = change.path.display();
                let operation = change.operation.name();
                let from = change.operation.renamed_from().map(WorkspacePath::display);
                match &change.texts {
                    Ok((before, after)) => {
                        let options =
                            DiffOptions { max_bytes: MAX_SHOWN_DIFF_BYTES, ..DiffOptions::default() };
                        let old = before.as_ref().map(|_| from.as_deref().unwrap_or(&path));
                        let new = after.as_ref().map(|_| path.as_str());
                        let (before, after) =
                            (before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
                        let diff = unified_diff(old, before, new, after, options);
                        json!({"path": path, "operation": operation, "from": from, "diff": diff.text,
                               "additions": diff.additions, "deletions": diff.deletions})
                    }
                    Err(reason) => {
                        json!({"path": path, "operation": operation, "from": from, "no_diff": reason})
                    }
                }
            })
            .collect();
        Ok(json!({"id": id.to_string(), "files": files}))
    }
}

fn hides_change(redactor: &OverviewVeil, path: &WorkspacePath, operation: &FileOperation) -> bool {
    redactor.hides(path) || operation.renamed_from().is_some_and(|from| redactor.hides(from))
}

fn finding_json(finding: &KnownFinding, server: &str) -> Value {
    json!({
        "severity": finding.severity,
        "line": finding.line + 1,
        "code": finding.code,
        "message": finding.message,
        "server": server,
    })
}

#[cfg(test)]
mod tests {
    use crate::platform::canonicalize;
    use crate::platform::files::symlink;
    use std::path::Path;
    use std::sync::Arc;

    use super::*;

    #[test]
    #[cfg_attr(windows, ignore = "Wine makes no links")]
    fn veil_takes_hidden_names_out_of_texts_and_leaves_other_words() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("key.pem"), "x").unwrap();
        symlink("key.pem", temp.path().join("link.txt")).unwrap();
        let plain = Workspace::open(temp.path()).unwrap();
        let veil = |hides: fn(&WorkspacePath) -> bool| OverviewVeil {
            workspace: plain.with_path_filter(Arc::new(hides)),
            is_active: true,
            hides_all: false,
        };
        let keys = veil(|path| path.as_path() == Path::new("key.pem"));
        let absolute = canonicalize(temp.path()).unwrap().join("key.pem");
        for text in [
            "cat key.pem",
            "'key.pem'",
            "key.pem:3: no",
            "./key.pem.",
            "link.txt",
            &absolute.display().to_string(),
        ] {
            let shown = keys.redact(text);
            assert!(
                shown.contains(HIDDEN) && !shown.contains("key.pem") && !shown.contains("link"),
                "{text}: {shown}"
            );
        }
        assert_eq!(keys.redact("open.txt: key and pem, 3 < 4"), "open.txt: key and pem, 3 < 4");
        let mut value = json!({"paths": ["key.pem", "a"], "n": 1});
        keys.redact_all(&mut value);
        assert_eq!(value, json!({"paths": [HIDDEN, "a"], "n": 1}));
        assert_eq!(
            veil(|_| true).redact("the call of src/a.rs failed"),
            format!("the call of {HIDDEN} failed")
        );
    }
}
