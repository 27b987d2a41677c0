//! The common input of all machine formats of a check: its diagnostics and files, for every kind of
//! check.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::answer::{Answer, DiagnosticItem, DiagnosticsOutput, FileVerdict, RelatedItem, Verdict};
use crate::lsp::model::Severity;
use crate::text::Range;

/// The reason why a file without diagnostics is not called clean if the list was truncated.
const CUT: &str = "not all findings are shown (--limit)";

/// A report of a check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckReport<'a> {
    /// The diagnostics, sorted by file and position.
    pub findings: Vec<ReportedFinding<'a>>,
    /// All checked files, sorted by path, including those with diagnostics.
    pub files: Vec<ReportedFile<'a>>,
    /// The verdict of the whole check.
    pub verdict: Verdict,
    /// Notes, as sentences.
    pub notes: Vec<Cow<'a, str>>,
}

/// A diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportedFinding<'a> {
    /// The path, relative to the workspace; absolute, or a URI, for files elsewhere.
    pub path: Cow<'a, str>,
    /// The range, 0-based, in Unicode scalar values.
    pub range: Range,
    /// The severity.
    pub severity: Severity,
    /// The rule's code.
    pub code: Option<&'a str>,
    /// The checker, if the server names one.
    pub source: Option<&'a str>,
    /// The server's key in the catalogue.
    pub server: &'a str,
    /// The message.
    pub message: &'a str,
    /// Related places.
    pub related: &'a [RelatedItem],
}

/// A checked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportedFile<'a> {
    /// The path as in diagnostics.
    pub path: Cow<'a, str>,
    /// The verdict of the file.
    pub verdict: Verdict,
    /// The reason if the verdict is not `complete`.
    pub detail: Option<Cow<'a, str>>,
}

impl<'a> CheckReport<'a> {
    /// Creates the report of a check of the files `looked_at`. Those in `incomplete` were not
    /// checked completely.
    pub(crate) fn new(
        findings: Vec<ReportedFinding<'a>>,
        looked_at: impl IntoIterator<Item = Cow<'a, str>>,
        incomplete: Vec<ReportedFile<'a>>,
        verdict: Verdict,
    ) -> Self {
        let complete = |path: Cow<'a, str>| ReportedFile { path, verdict: Verdict::Complete, detail: None };
        let mut files: BTreeMap<Cow<'a, str>, ReportedFile<'a>> = looked_at
            .into_iter()
            .chain(findings.iter().map(|finding| finding.path.clone()))
            .map(|path| (path.clone(), complete(path)))
            .collect();
        files.extend(incomplete.into_iter().map(|file| (file.path.clone(), file)));
        Self { findings, files: files.into_values().collect(), verdict, notes: Vec::new() }
    }

    /// Returns true if every file has an answer.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.verdict, Verdict::Complete | Verdict::Partial)
            && self.files.iter().all(|file| file.verdict != Verdict::NoData)
    }

    /// The files that were not checked completely.
    pub(crate) fn incomplete(&self) -> impl Iterator<Item = &ReportedFile<'a>> {
        self.files.iter().filter(|file| file.verdict != Verdict::Complete)
    }
}

impl<'a> From<&'a Answer<DiagnosticsOutput>> for CheckReport<'a> {
    fn from(answer: &'a Answer<DiagnosticsOutput>) -> Self {
        let output = &answer.output;
        let findings = output.diagnostics.iter().map(ReportedFinding::from).collect();
        let looked_at = output.looked_at.iter().map(|path| path.as_str().into());
        let incomplete = output.incomplete.iter().map(ReportedFile::from).collect();
        let mut report = Self::new(findings, looked_at, incomplete, answer.verdict);
        report.notes = answer.notes.iter().map(|note| note.as_str().into()).collect();
        if output.has_more {
            report.doubt_files_without_findings();
        }
        report
    }
}

impl CheckReport<'_> {
    fn doubt_files_without_findings(&mut self) {
        let found: BTreeSet<&str> = self.findings.iter().map(|finding| finding.path.as_ref()).collect();
        for file in &mut self.files {
            if file.verdict == Verdict::Complete && !found.contains(file.path.as_ref()) {
                (file.verdict, file.detail) = (Verdict::Partial, Some(CUT.into()));
            }
        }
    }
}

impl<'a> From<&'a DiagnosticItem> for ReportedFinding<'a> {
    fn from(item: &'a DiagnosticItem) -> Self {
        Self {
            path: item.path.as_str().into(),
            range: item.range,
            severity: item.severity,
            code: item.code.as_deref(),
            source: Some(item.checker()),
            server: &item.server,
            message: &item.message,
            related: &item.related,
        }
    }
}

impl<'a> From<&'a FileVerdict> for ReportedFile<'a> {
    fn from(file: &'a FileVerdict) -> Self {
        Self {
            path: file.path.as_str().into(),
            verdict: file.verdict,
            detail: file.detail.as_deref().map(Cow::Borrowed),
        }
    }
}

impl<'a> ReportedFinding<'a> {
    /// Returns the violated rule; without a code the checker, or the server.
    pub(crate) fn rule(&self) -> &'a str {
        let named = [self.code, self.source];
        named.into_iter().flatten().find(|name| !name.is_empty()).unwrap_or(self.server)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::analysis::answer::{ServerState, ServerStatus};
    use crate::text::Position;

    /// A diagnostic of pylsp at line 3, columns 5 to 8.
    pub(in crate::cli::render) fn item(path: &str, code: Option<&str>) -> DiagnosticItem {
        DiagnosticItem {
            path: path.into(),
            range: Range::new(Position::new(2, 4), Position::new(2, 8)),
            severity: Severity::Warning,
            code: code.map(Into::into),
            source: None,
            server: "pylsp".into(),
            message: "bad".into(),
            enclosing: None,
            related: Vec::new(),
        }
    }

    /// Creates the answer of a check of these files with these diagnostics.
    pub(in crate::cli::render) fn answer(
        diagnostics: Vec<DiagnosticItem>,
        looked_at: &[&str],
        verdict: Verdict,
    ) -> Answer<DiagnosticsOutput> {
        let output = DiagnosticsOutput {
            count: diagnostics.len(),
            has_more: false,
            files: looked_at.len(),
            unchecked: 0,
            incomplete: Vec::new(),
            looked_at: looked_at.iter().map(|path| (*path).to_owned()).collect(),
            diagnostics,
        };
        let status = ServerStatus {
            language: "python".into(),
            server: "pylsp".into(),
            state: ServerState::Ready,
            detail: None,
            judge: None,
            install: None,
            hint: None,
            installer: None,
            waited_ms: 0,
        };
        Answer::new(output, None, status, verdict, Vec::new())
    }

    /// Creates the verdict of one file.
    pub(in crate::cli::render) fn file_verdict(path: &str, verdict: Verdict, detail: &str) -> FileVerdict {
        FileVerdict {
            path: path.into(),
            verdict,
            detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
        }
    }

    #[test]
    fn check_report_lists_each_file_once_with_its_verdict() {
        let mut answer =
            answer(vec![item("b.py", None), item("b.py", None)], &["c.py", "a.py"], Verdict::Partial);
        answer.output.incomplete = vec![file_verdict("c.py", Verdict::NoData, "silent")];
        let report = CheckReport::from(&answer);
        let files: Vec<(&str, Verdict)> =
            report.files.iter().map(|file| (file.path.as_ref(), file.verdict)).collect();
        assert_eq!(
            files,
            [("a.py", Verdict::Complete), ("b.py", Verdict::Complete), ("c.py", Verdict::NoData)]
        );
        assert!(!report.is_answered());
    }

    #[test]
    fn check_report_of_a_cut_list_calls_no_file_clean() {
        let mut answer = answer(vec![item("a.py", None)], &["a.py", "b.py"], Verdict::Complete);
        answer.output.has_more = true;
        let report = CheckReport::from(&answer);
        let doubted: Vec<&str> = report.incomplete().map(|file| file.path.as_ref()).collect();
        assert_eq!(doubted, ["b.py"]);
    }
}
