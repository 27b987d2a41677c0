//! The command `check`.

use super::check_changes;
use super::check_report::{check_report_files, report_text, write_reports};
use crate::analysis::answer::{Answer, DiagnosticsOutput};
use crate::analysis::error::ToolError;
use crate::cli::args::{CheckCommandArgs, CliOutputFormat};
use crate::cli::commands::{CliContext, Reply, answer_reply, reply_with_verdict};
use crate::cli::render::diagnostics;
use crate::cli::render::reports::report::CheckReport;
use crate::tools::language::lsp_diagnostics::{DiagnosticsArgs, InProcess};

/// Checks files, folders or the workspace.
pub(crate) async fn run(arguments: CheckCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    check_report_files(&arguments.report, cli)?;
    if arguments.against.is_some() || arguments.index || !arguments.merge_branches.is_empty() {
        return check_changes::run(arguments, cli).await;
    }
    let args = DiagnosticsArgs {
        paths: Some(arguments.paths),
        min_severity: arguments.severity.map(Into::into),
        limit: Some(arguments.limit.unwrap_or(usize::MAX)),
        in_process: InProcess { asks_anew: arguments.no_store, ..InProcess::default() },
        ..DiagnosticsArgs::default()
    };
    let answer = cli.runtime.check_all(args).await?;
    let report = CheckReport::from(&answer);
    write_reports(&report, &arguments.report, cli)?;
    if cli.format == CliOutputFormat::Json {
        return answer_reply(cli, answer, |_| String::new(), "");
    }
    match report_text(&report, cli.format, cli)? {
        Some(out) => {
            let nothing = diagnostics::totals(&answer.output, answer.verdict, &cli.console.err);
            Ok(reply_with_verdict(cli, &answer, out, &nothing))
        }
        None => Ok(text(answer, cli)),
    }
}

fn text(mut answer: Answer<DiagnosticsOutput>, cli: CliContext<'_>) -> Reply {
    let before = cli.paths.respell(&mut answer);
    let line = |path: &str, line: u32| cli.runtime.read_line(before.get(path)?, line);
    let out = diagnostics::render(&answer.output, answer.verdict, &cli.console.out, &line);
    reply_with_verdict(cli, &answer, out, "")
}
