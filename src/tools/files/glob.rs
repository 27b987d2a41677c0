//! `glob`: files by the pattern of their paths.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::{clamp_count, directory, left_out_note};
use crate::analysis::context::{Context, from_read_error};
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::CallSubjects;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::{GlobOrder, GlobQuery, SelectError, WorkDeadline};

/// The default and the largest number of paths in one answer.
const DEFAULT_GLOB_PATHS: usize = 200;
const MAX_GLOB_PATHS: usize = 5_000;

/// The default timeout.
const DEFAULT_GLOB_TIMEOUT: Duration = Duration::from_secs(10);

/// The arguments of `glob`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct GlobArgs {
    /// `src/**/*.{ts,tsx}`; relative.
    pub pattern: String,
    /// Base folder (the root).
    pub path: Option<String>,
    /// Default `path`.
    pub sort: Option<Sort>,
    /// Include hidden files.
    pub hidden: Option<bool>,
    /// Include git-ignored files.
    pub no_ignore: Option<bool>,
    /// Default 200.
    pub limit: Option<i64>,
}

/// The order of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the field that takes it says what each word means; said twice it costs tokens
pub(crate) enum Sort {
    Path,
    Newest,
}

/// The answer of `glob`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct GlobOutput {
    /// Files, relative to the workspace.
    pub matches: Vec<String>,
    /// True if there are more.
    pub has_more: bool,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The `glob` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GlobTool;

impl Tool for GlobTool {
    type Args = GlobArgs;
    type Output = GlobOutput;

    fn card(&self) -> Card {
        Card::reading(
            "glob",
            "Find files",
            "Files whose paths match a pattern, without hidden and git-ignored ones. To search in files use `grep`.",
        ).with_rank(11)
    }

    fn subjects(&self, context: &Context, args: &GlobArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![directory(context, args.path.as_deref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: GlobArgs) -> Result<GlobOutput, ToolError> {
        run(call.context, args).await
    }
}

/// Returns the matching files.
///
/// # Errors
/// An invalid or absolute pattern, or one with `..`; a directory that is missing, not a directory,
/// or outside the workspace.
pub(crate) async fn run(context: &Context, args: GlobArgs) -> Result<GlobOutput, ToolError> {
    let query = GlobQuery {
        under: directory(context, args.path.as_deref())?,
        hidden: args.hidden.unwrap_or(false),
        no_ignore: args.no_ignore.unwrap_or(false),
        order: match args.sort {
            None | Some(Sort::Path) => GlobOrder::Path,
            Some(Sort::Newest) => GlobOrder::Newest,
        },
        max: clamp_count(args.limit, DEFAULT_GLOB_PATHS, MAX_GLOB_PATHS),
        deadline: WorkDeadline::new(Instant::now() + context.timeout.unwrap_or(DEFAULT_GLOB_TIMEOUT)),
        pattern: args.pattern.clone(),
    };
    let _ends_with_us = query.deadline.cancel_on_drop();
    let found = context.run_in_background(move |workspace| workspace.glob(&query)).await?;
    let found = found.map_err(from_select_error)?;
    let mut notes = Vec::new();
    if found.cut_short {
        notes.push("the time limit was reached; there may be other files".to_owned());
    }
    if found.hidden > 0 {
        notes.push(left_out_note(found.hidden));
    }
    notes.extend(found.gaps);
    if found.paths.is_empty() && !args.pattern.contains('/') {
        let pattern = &args.pattern;
        notes.push(format!("`{pattern}` searches one directory only; `**/{pattern}` searches all below it"));
    }
    Ok(GlobOutput {
        matches: found.paths.iter().map(|path| path.display()).collect(),
        has_more: found.has_more || found.cut_short,
        notes,
    })
}

/// The tool error for an invalid selection of files.
pub(super) fn from_select_error(error: SelectError) -> ToolError {
    match error {
        SelectError::Place(error) => from_read_error(error),
        SelectError::Outside { .. } => ToolError::new(ErrorCode::OutsideWorkspace, error.to_string()),
        other => ToolError::new(ErrorCode::InvalidArgs, other.to_string()),
    }
}
