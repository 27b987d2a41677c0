//! The reports of a check: in the requested format, and in files.

use std::fs;

use super::{CliContext, as_json};
use crate::cli::args::{CliOutputFormat, ReportFile};
use crate::cli::render::report::CheckReport;
use crate::cli::render::{github, gitlab, junit, sarif};
use crate::tools::error::{ErrorCode, ToolError};

/// Renders the report in `format`. Returns `None` for formats made from the answer itself.
pub(super) fn report_text(
    report: &CheckReport<'_>,
    format: CliOutputFormat,
    cli: CliContext<'_>,
) -> Result<Option<String>, ToolError> {
    match format {
        CliOutputFormat::Sarif => as_json(&sarif::render(report), cli).map(Some),
        CliOutputFormat::Github => Ok(Some(github::render(report))),
        CliOutputFormat::Gitlab => as_json(&gitlab::render(report), cli).map(Some),
        CliOutputFormat::Junit => Ok(Some(junit::render(report))),
        // Formats of tool lists were refused before.
        _ => Ok(None),
    }
}

/// Writes the report into each of `files`.
pub(super) fn write_reports(
    report: &CheckReport<'_>,
    files: &[ReportFile],
    cli: CliContext<'_>,
) -> Result<(), ToolError> {
    for ReportFile { format, file } in files {
        let text = report_text(report, *format, cli)?.unwrap_or_default();
        fs::write(cli.cwd.join(file), text).map_err(|error| {
            let error = format!("the report `{}` cannot be written: {error}", file.display());
            ToolError::new(ErrorCode::InvalidArgs, error)
        })?;
    }
    Ok(())
}
