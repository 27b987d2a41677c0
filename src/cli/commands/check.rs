//! `check`

use super::{Door, Reply, answered, as_json};
use crate::cli::args::{Check, Format};
use crate::cli::exit;
use crate::cli::render::{diagnostics, github, sarif, verdict};
use crate::tools::error::ToolError;

/// What is wrong with files, folders or the workspace.
pub async fn run(arguments: Check, door: Door<'_>) -> Result<Reply, ToolError> {
    let severity = arguments.severity.map(Into::into);
    let limit = arguments.limit.unwrap_or(usize::MAX);
    let answer = door.runtime.check(arguments.paths, severity, limit).await?;
    let out = match door.format {
        Format::Sarif => as_json(&sarif::render(&answer.output, answer.verdict), door)?,
        Format::Github => github::render(&answer.output),
        Format::Text | Format::Json => {
            let line = |path: &str, line: u32| door.runtime.read_line(path, line);
            let look = &door.console.out;
            let text = |output: &_| diagnostics::render(output, answer.verdict, look, &line);
            return answered(door, &answer, text, "");
        }
    };
    let lines = verdict::lines(&answer, &door.console.err);
    Ok(Reply { out, lines, status: exit::of_answer(&answer) })
}
