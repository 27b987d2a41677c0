//! The reports of a check: in the requested format, and in files.

use std::fs;
use std::path::Path;

use crate::analysis::error::{ErrorCode, ToolError};
use crate::cli::args::{CliOutputFormat, ReportFile};
use crate::cli::commands::{CliContext, as_json};
use crate::cli::render::reports::report::CheckReport;
use crate::cli::render::reports::{github, gitlab, junit, sarif};

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

/// Refuses a file that cannot be written, before the check.
pub(super) fn check_report_files(files: &[ReportFile], cli: CliContext<'_>) -> Result<(), ToolError> {
    let has_folder = |file: &Path| cli.cwd.join(file).parent().is_some_and(Path::is_dir);
    match files.iter().find(|report| !has_folder(&report.file)) {
        Some(ReportFile { file, .. }) => {
            let error =
                format!("the report `{}` cannot be written: its folder does not exist", file.display());
            Err(ToolError::new(ErrorCode::InvalidArgs, error))
        }
        None => Ok(()),
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
