//! `check`

use super::{Door, Reply, answered, as_json, worded};
use crate::cli::args::{Check, Format};
use crate::cli::render::{diagnostics, github, sarif};
use crate::tools::answer::{Answer, DiagnosticsOutput};
use crate::tools::error::ToolError;

/// What is wrong with files, folders or the workspace.
pub async fn run(arguments: Check, door: Door<'_>) -> Result<Reply, ToolError> {
    let severity = arguments.severity.map(Into::into);
    let limit = arguments.limit.unwrap_or(usize::MAX);
    let answer = door.runtime.check(arguments.paths, severity, limit).await?;
    match door.format {
        Format::Json => answered(door, answer, |_| String::new(), ""),
        Format::Sarif => {
            let log = as_json(&sarif::render(&answer.output, answer.verdict), door)?;
            Ok(worded(door, &answer, log, ""))
        }
        Format::Github => {
            let nothing = diagnostics::totals(&answer.output, answer.verdict, &door.console.err);
            Ok(worded(door, &answer, github::render(&answer.output), &nothing))
        }
        // The formats of tool lists have been refused by then.
        _ => Ok(text(answer, door)),
    }
}

fn text(mut answer: Answer<DiagnosticsOutput>, door: Door<'_>) -> Reply {
    let before = door.paths.respell(&mut answer);
    let line = |path: &str, line: u32| door.runtime.read_line(before.get(path)?, line);
    let out = diagnostics::render(&answer.output, answer.verdict, &door.console.out, &line);
    worded(door, &answer, out, "")
}
