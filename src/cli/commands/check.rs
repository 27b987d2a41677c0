//! The command `check`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::check_report::report_text;
use super::{CliContext, Reply, answer_reply, as_json, check_changes, reply_with_verdict};
use crate::cli::args::{CheckCommandArgs, CliOutputFormat};
use crate::cli::exit::CliExitStatus;
use crate::cli::input::named_file;
use crate::cli::render::report::CheckReport;
use crate::cli::render::{diagnostics, merge, sarif_report};
use crate::lsp::model::Severity;
use crate::tools::answer::{Answer, DiagnosticsOutput, Verdict};
use crate::tools::error::{ErrorCode, ToolError};
use crate::tools::lsp_diagnostics::{DiagnosticsArgs, InProcess};

/// Checks files, folders or the workspace.
pub(super) async fn run(arguments: CheckCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    if !arguments.merge.is_empty() {
        return merge_logs(&arguments.merge, cli);
    }
    if arguments.against.is_some() || arguments.index || !arguments.merge_branches.is_empty() {
        return check_changes::run(arguments, cli).await;
    }
    let args = DiagnosticsArgs {
        paths: Some(arguments.paths),
        min_severity: arguments.severity.map(Into::into),
        limit: Some(arguments.limit.unwrap_or(usize::MAX)),
        in_process: InProcess { shard: arguments.shard, ..InProcess::default() },
        ..DiagnosticsArgs::default()
    };
    let answer = cli.runtime.check_all(args).await?;
    if cli.format == CliOutputFormat::Json {
        return answer_reply(cli, answer, |_| String::new(), "");
    }
    match report_text(&CheckReport::from(&answer), cli)? {
        Some(out) => {
            let nothing = diagnostics::totals(&answer.output, answer.verdict, &cli.console.err);
            Ok(reply_with_verdict(cli, &answer, out, &nothing))
        }
        None => Ok(text(answer, cli)),
    }
}

fn unusable_file_error(file: &Path, error: &dyn std::error::Error) -> ToolError {
    let error = format!("{} cannot be merged: {error}", file.display());
    ToolError::new(ErrorCode::InvalidArgs, error)
}

/// Merges the logs of parts into one log, or into the requested format, with the exit status of a
/// single check.
fn merge_logs(files: &[PathBuf], cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let read = |file: &PathBuf| {
        let text = named_file(&cli.cwd.join(file)).map_err(|error| unusable_file_error(file, &error))?;
        serde_json::from_str(&text).map_err(|error| unusable_file_error(file, &error))
    };
    let logs = files.iter().map(read).collect::<Result<Vec<Value>, _>>()?;
    let merged =
        merge::merge_logs(&logs).map_err(|(index, error)| unusable_file_error(&files[index], &error))?;
    let report = sarif_report::read(&merged);
    let out = match cli.format {
        CliOutputFormat::Text | CliOutputFormat::Json | CliOutputFormat::Sarif => None,
        _ => report_text(&report, cli)?,
    };
    let out = out.map_or_else(|| as_json(&merged, cli), Ok)?;
    Ok(Reply { out, lines: Vec::new(), status: merged_status(&report) })
}

fn merged_status(report: &CheckReport<'_>) -> CliExitStatus {
    let grave = report.findings.iter().any(|finding| finding.severity <= Severity::Warning);
    match report.verdict {
        Verdict::Hints => CliExitStatus::Hints,
        Verdict::NoData => CliExitStatus::Failed,
        Verdict::Complete | Verdict::Partial if grave => CliExitStatus::Unpleasant,
        Verdict::Complete | Verdict::Partial if !report.is_answered() => CliExitStatus::Failed,
        Verdict::Complete | Verdict::Partial => CliExitStatus::Answered,
    }
}

fn text(mut answer: Answer<DiagnosticsOutput>, cli: CliContext<'_>) -> Reply {
    let before = cli.paths.respell(&mut answer);
    let line = |path: &str, line: u32| cli.runtime.read_line(before.get(path)?, line);
    let out = diagnostics::render(&answer.output, answer.verdict, &cli.console.out, &line);
    reply_with_verdict(cli, &answer, out, "")
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::cli::render::report::{ReportedFile, ReportedFinding};
    use crate::text::{Position, Range};

    #[test]
    fn status_of_merged_parts_is_that_of_one_check_of_everything() {
        use Verdict::{Complete, Hints, NoData, Partial};
        let finding = |severity: Severity| ReportedFinding {
            path: "a.py".into(),
            range: Range::empty(Position::new(0, 0)),
            severity,
            code: None,
            source: None,
            server: "pylsp",
            message: "bad",
            related: &[],
        };
        let cases = [
            (None, Complete, Complete, 0),
            (Some(Severity::Information), Complete, Complete, 0),
            (Some(Severity::Warning), Complete, Complete, 1),
            (Some(Severity::Error), NoData, Partial, 1),
            (None, NoData, Partial, 4),
            (None, Partial, Partial, 0),
            (None, NoData, NoData, 4),
            (None, Hints, Hints, 3),
        ];
        for (severity, file, verdict, expected) in cases {
            let incomplete = vec![ReportedFile { path: Cow::Borrowed("b.py"), verdict: file, detail: None }];
            let findings = severity.map(finding).into_iter().collect();
            let report = CheckReport::new(findings, [], incomplete, verdict);
            assert_eq!(merged_status(&report).code(), expected, "{severity:?} {file:?} {verdict:?}");
        }
    }
}
