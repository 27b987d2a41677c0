//! The command `check` for a difference between git trees, and for a merge of branches.

use super::check_report::{report_text, write_reports};
use crate::analysis::answer::{Answer, DiagnosticsOutput, FileVerdict, Verdict};
use crate::analysis::error::ToolError;
use crate::analysis::trees::changes::output::{ChangesOutput, WORK_TREE};
use crate::cli::args::{CheckCommandArgs, CliOutputFormat};
use crate::cli::commands::{CliContext, Reply, answer_reply, reply_with_verdict};
use crate::cli::render::reports::report::CheckReport;
use crate::cli::render::{changes, diagnostics};
use crate::tools::vcs::lsp_changes::{ChangesArgs, ChangesInProcess};

/// Checks the difference named by `arguments`.
pub(super) async fn run(arguments: CheckCommandArgs, cli: CliContext<'_>) -> Result<Reply, ToolError> {
    let shows_interfaces = matches!(cli.format, CliOutputFormat::Text | CliOutputFormat::Json);
    let args = ChangesArgs {
        against: arguments.against,
        index: arguments.index.then_some(true),
        merge_branches: Some(arguments.merge_branches).filter(|branches| !branches.is_empty()),
        min_severity: arguments.severity.map(Into::into),
        limit: Some(arguments.limit.unwrap_or(usize::MAX)),
        in_process: ChangesInProcess {
            without_interfaces: !shows_interfaces,
            trusts_trees: arguments.trust_trees,
            asks_anew: arguments.no_store,
            index_file: arguments.index_file,
        },
    };
    let answer = cli.runtime.changes(args).await?;
    let check = as_check(&answer);
    let report = CheckReport::from(&check);
    write_reports(&report, &arguments.report, cli)?;
    if cli.format == CliOutputFormat::Json {
        return answer_reply(cli, answer, |_| String::new(), "");
    }
    if let Some(out) = report_text(&report, cli.format, cli)? {
        let nothing = diagnostics::totals(&check.output, check.verdict, &cli.console.err);
        return Ok(reply_with_verdict(cli, &answer, out, &nothing));
    }
    Ok(text(answer, cli))
}

/// Converts the answer to that of a check of files. Files that could not be checked or merged have
/// no data.
fn as_check(answer: &Answer<ChangesOutput>) -> Answer<DiagnosticsOutput> {
    let mut output = answer.output.found.clone();
    output.incomplete.extend(answer.output.unjudged.iter().map(|file| FileVerdict {
        path: file.path.clone(),
        verdict: Verdict::NoData,
        detail: Some(file.why.clone()),
    }));
    let conflicts = answer.output.merge.iter().flat_map(|merge| &merge.conflicts);
    output.incomplete.extend(conflicts.map(|conflict| FileVerdict {
        path: conflict.path.clone(),
        verdict: Verdict::NoData,
        detail: Some(format!("merge conflict at {}", conflict.branch)),
    }));
    Answer {
        ok: answer.ok,
        output,
        resolved: None,
        server_status: answer.server_status.clone(),
        servers: answer.servers.clone(),
        verdict: answer.verdict,
        notes: answer.notes.clone(),
    }
}

fn text(mut answer: Answer<ChangesOutput>, cli: CliContext<'_>) -> Reply {
    let before = cli.paths.respell(&mut answer);
    let is_on_disk = answer.output.compared.ends_with(WORK_TREE);
    let line =
        |path: &str, line: u32| is_on_disk.then(|| cli.runtime.read_line(before.get(path)?, line)).flatten();
    let out = changes::render(&answer.output, answer.verdict, &cli.console.out, &line);
    reply_with_verdict(cli, &answer, out, "")
}
