//! What every machine format of a check is made from: its findings and its files, whatever kind of check it was.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::lsp::model::Severity;
use crate::text::Range;
use crate::tools::answer::{Answer, DiagnosticItem, DiagnosticsOutput, FileVerdict, RelatedItem, Verdict};

/// Why a file without findings is not called clean where the list of findings was cut.
const CUT: &str = "not all findings are shown (--limit)";

/// A check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckReport<'a> {
    /// Sorted by file and position.
    pub findings: Vec<ReportedFinding<'a>>,
    /// Every file looked at, sorted by path; those with findings are among them.
    pub files: Vec<ReportedFile<'a>>,
    /// How far all of it can be relied on.
    pub verdict: Verdict,
    /// What else is worth knowing, in sentences.
    pub notes: Vec<Cow<'a, str>>,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportedFinding<'a> {
    /// Relative to the workspace; absolute, or a URI, for what lies elsewhere.
    pub path: Cow<'a, str>,
    /// Where, 0-based, in Unicode scalar values.
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// The rule's code.
    pub code: Option<&'a str>,
    /// The checker, where the server names one.
    pub source: Option<&'a str>,
    /// The server's key.
    pub server: &'a str,
    /// What is wrong.
    pub message: &'a str,
    /// Other places that explain it.
    pub related: &'a [RelatedItem],
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportedFile<'a> {
    /// As findings name it.
    pub path: Cow<'a, str>,
    /// How far its findings can be relied on.
    pub verdict: Verdict,
    /// Why not complete.
    pub detail: Option<Cow<'a, str>>,
}

impl<'a> CheckReport<'a> {
    /// The report of a check of the files at the paths `looked_at`, of which those in `incomplete` were not judged whole.
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

    /// Whether every file got an answer.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.verdict, Verdict::Complete | Verdict::Partial)
            && self.files.iter().all(|file| file.verdict != Verdict::NoData)
    }

    /// The files that were not judged whole.
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
    /// The rule that it breaks; without a code its checker, or its server.
    pub(crate) fn rule(&self) -> &'a str {
        let named = [self.code, self.source];
        named.into_iter().flatten().find(|name| !name.is_empty()).unwrap_or(self.server)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::text::Position;
    use crate::tools::answer::{ServerState, ServerStatus};

    /// A finding of pylsp at line 3, columns 5 to 8.
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

    /// The answer with these findings, of a check that looked at the files of these names.
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
            install: None,
            hint: None,
            installer: None,
            waited_ms: 0,
        };
        Answer::new(output, None, status, verdict, Vec::new())
    }

    /// What is known of one file.
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
