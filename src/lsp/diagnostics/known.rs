//! The findings that a server has reported already, without a new request.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lsp::model::Severity;
use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// The number of findings of a file that are reported in full, the worst first.
const MAX_KNOWN_FINDINGS: usize = 8;
/// The maximum length of a known message.
const MAX_KNOWN_MESSAGE_CHARS: usize = 300;

/// The findings of a server in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownFindings {
    /// The numbers of errors, warnings, remarks and hints.
    pub(crate) counts: [usize; 4],
    /// The first of them.
    pub(crate) first: Vec<KnownFinding>,
}

/// A short form of one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownFinding {
    /// The severity.
    pub(crate) severity: Severity,
    /// Its line, counted from 0.
    pub(crate) line: u32,
    /// The rule's code.
    pub(crate) code: Option<String>,
    /// The message.
    pub(crate) message: String,
}

impl KnownFindings {
    fn add(&mut self, severity: Severity, finding: impl FnOnce() -> KnownFinding) {
        self.counts[usize::from(severity.number()) - 1] += 1;
        if self.first.len() < MAX_KNOWN_FINDINGS {
            self.first.push(finding());
        } else if let Some(milder) = self.first.iter_mut().rev().find(|known| known.severity > severity) {
            *milder = finding();
        }
    }

    fn add_raw(&mut self, item: &Value) {
        let severity = match item["severity"].as_u64() {
            Some(2) => Severity::Warning,
            Some(3) => Severity::Information,
            Some(4) => Severity::Hint,
            _ => Severity::Error,
        };
        self.add(severity, || KnownFinding {
            severity,
            line: item["range"]["start"]["line"]
                .as_u64()
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(0),
            code: match &item["code"] {
                Value::String(code) => Some(code.clone()),
                Value::Number(code) => Some(code.to_string()),
                _ => None,
            },
            message: cut(item["message"].as_str().unwrap_or_default()),
        });
    }
}

fn cut(message: &str) -> String {
    message.chars().take(MAX_KNOWN_MESSAGE_CHARS).collect()
}

impl Session {
    /// Returns the findings of each file that the server has reported and not withdrawn: pushed
    /// ones, and answers about files as they are on disk.
    pub(crate) fn known_findings(&self) -> BTreeMap<WorkspacePath, KnownFindings> {
        let mut known: BTreeMap<WorkspacePath, KnownFindings> = BTreeMap::new();
        for (path, items) in self.state.pushed_findings() {
            let is_left_out = |item: &Value| {
                self.leaves_out(&path, item["source"].as_str(), item["message"].as_str().unwrap_or_default())
            };
            let visible = items.iter().filter(|item| self.is_about_text(item) && !is_left_out(item));
            let mut findings = KnownFindings::default();
            visible.for_each(|item| findings.add_raw(item));
            known.insert(path, findings);
        }
        let kept = self.diagnostics_cache.lock();
        for (path, fresh) in kept.iter(self.disk_revision()) {
            let mut findings = KnownFindings::default();
            for item in &fresh.items {
                findings.add(item.severity, || KnownFinding {
                    severity: item.severity,
                    line: item.range.start.line,
                    code: item.code.clone(),
                    message: cut(&item.message),
                });
            }
            known.insert(path.clone(), findings);
        }
        drop(kept);
        known.values_mut().for_each(|findings| findings.first.sort_by_key(|one| (one.severity, one.line)));
        known
    }
}
