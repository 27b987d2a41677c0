//! The text of a check's report in the requested format.

use super::{CliContext, as_json};
use crate::cli::args::CliOutputFormat;
use crate::cli::render::report::CheckReport;
use crate::cli::render::{github, gitlab, junit, sarif};
use crate::tools::error::ToolError;

/// Renders the report in the format of the command line. Returns `None` for formats made from the
/// answer itself.
pub(super) fn report_text(
    report: &CheckReport<'_>,
    cli: CliContext<'_>,
) -> Result<Option<String>, ToolError> {
    match cli.format {
        CliOutputFormat::Sarif => as_json(&sarif::render(report), cli).map(Some),
        CliOutputFormat::Github => Ok(Some(github::render(report))),
        CliOutputFormat::Gitlab => as_json(&gitlab::render(report), cli).map(Some),
        CliOutputFormat::Junit => Ok(Some(junit::render(report))),
        // Formats of tool lists were refused before.
        _ => Ok(None),
    }
}
