//! `lsp_diagnostics`: errors and warnings of files, as they are now.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::analysis::answer::{Answer, DiagnosticsOutput, Verdict};
use crate::analysis::ask::fallback;
use crate::analysis::check::checked_files::{BeforeCheck, CheckRequest, check};
use crate::analysis::context::Context;
use crate::analysis::error::ToolError;
use crate::lsp::model::Severity;
use crate::policy::request::CallSubjects;
use crate::tools::api::address::shown_path;
use crate::tools::api::tool::{Call, Card, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The arguments of `lsp_diagnostics`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DiagnosticsArgs {
    /// File or folder (the workspace).
    #[serde(serialize_with = "shown_path", skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Several files or folders.
    #[serde(serialize_with = "shown_paths", skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathBuf>>,
    /// Default `information`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_severity: Option<Severity>,
    /// Default: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// Maximum wait in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout_ms: Option<u64>,
    /// Options for callers in this process only. Arguments changed by a hook come without them.
    #[serde(skip)]
    pub in_process: InProcess,
}

/// Options of a check for callers in this process, beside the tool's arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct InProcess {
    /// True if no stored reports of an earlier check are used.
    pub asks_anew: bool,
    /// A request about the same files that is sent before the check.
    pub(crate) first: Option<Arc<dyn BeforeCheck>>,
    /// True if findings of syntax trees count as an answer without any server, because the caller
    /// reads the verdict.
    pub reads_verdict: bool,
}

impl DiagnosticsArgs {
    fn all_paths(&self) -> impl Iterator<Item = &PathBuf> {
        let one = self.path.as_ref().filter(|path| !path.as_os_str().is_empty());
        one.into_iter().chain(self.paths.iter().flatten())
    }

    fn request(&self) -> CheckRequest {
        CheckRequest {
            paths: self.all_paths().cloned().collect(),
            min_severity: self.min_severity,
            limit: self.limit,
            timeout: self.timeout_ms.map(Duration::from_millis),
            asks_anew: self.in_process.asks_anew || self.in_process.first.is_some(),
            first: self.in_process.first.clone(),
        }
    }
}

fn shown_paths<S: Serializer>(paths: &Option<Vec<PathBuf>>, serializer: S) -> Result<S::Ok, S::Error> {
    let shown =
        paths.as_ref().map(|paths| paths.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>());
    shown.serialize(serializer)
}

/// The `lsp_diagnostics` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspDiagnostics;

impl Tool for LspDiagnostics {
    type Args = DiagnosticsArgs;
    type Output = Answer<DiagnosticsOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_diagnostics",
            "Diagnostics",
            "Errors and warnings of language servers in files or folders, as they are now. Edits report theirs by themselves. \
             `no_data` or `partial` does not mean clean.",
        )
        .with_rank(2)
        .overlaid().in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &DiagnosticsArgs) -> Result<CallSubjects, ToolError> {
        let paths: Result<_, _> = args.all_paths().map(|path| context.path(path)).collect();
        Ok(CallSubjects { paths: paths?, ..CallSubjects::default() })
    }

    async fn run(
        &self,
        call: Call<'_>,
        args: DiagnosticsArgs,
    ) -> Result<Answer<DiagnosticsOutput>, ToolError> {
        let mut answer = check(call.context, &args.request()).await?;
        call.context.name_symbols_of_findings(&mut answer.output.diagnostics).await;
        match no_server_error(&answer).filter(|_| !args.in_process.reads_verdict) {
            Some(error) => Err(error.with_details(&answer)),
            None => Ok(answer),
        }
    }
}

/// The error for an answer without any server, because a program would read an empty list as a
/// clean file. Its details contain the findings of the syntax trees.
fn no_server_error(answer: &Answer<DiagnosticsOutput>) -> Option<ToolError> {
    if answer.verdict != Verdict::Hints {
        return None;
    }
    let statuses = match answer.servers.as_slice() {
        [] => std::slice::from_ref(&answer.server_status),
        several => several,
    };
    let refusals: Vec<ToolError> = statuses.iter().map(fallback::state_error).collect();
    let reason = unique_words(refusals.iter().map(|refusal| refusal.error.as_str()));
    let mut advice = unique_words(refusals.iter().filter_map(|refusal| refusal.hint.as_deref()));
    advice.push(match answer.output.files > answer.output.unchecked {
        true => "`diagnostics` has syntax errors only; search for others with `grep`",
        false => "nothing was checked, not even the syntax",
    });
    let files = match answer.output.files {
        1 => "the file".to_owned(),
        several => format!("any of {several} files"),
    };
    let error = format!("no server has checked {files}: {}", reason.join("; "));
    Some(ToolError::new(refusals.last()?.code, error).with_hint(advice.join("; ")))
}

/// `words` in their order, each once.
fn unique_words<'w>(words: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    words.fold(Vec::new(), |mut all, word| {
        if !all.contains(&word) {
            all.push(word);
        }
        all
    })
}
