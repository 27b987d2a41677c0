//! `list`: the entries of a directory.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::context::{Context, from_read_error};
use crate::analysis::error::ToolError;
use crate::policy::request::CallSubjects;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::{DirectoryEntry, EntryKind, LinkTarget, ListQuery, WorkDeadline, WorkspacePath};

/// The default and the largest number of entries in one answer.
const DEFAULT_LIST_ENTRIES: usize = 200;
const MAX_LIST_ENTRIES: usize = 5_000;

/// The default timeout.
const DEFAULT_LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// The arguments of `list`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub(crate) struct ListArgs {
    /// Default: the root.
    pub path: Option<String>,
    /// Everything below, except hidden and git-ignored files.
    pub recursive: Option<bool>,
    /// Default 200.
    pub limit: Option<i64>,
}

/// The answer of `list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListOutput {
    /// The directory, relative to the workspace; `.` for the root.
    pub path: String,
    /// Its entries, by path.
    pub items: Vec<ListItem>,
    /// True if there are more.
    pub has_more: bool,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ListItem {
    /// The last component of the path.
    pub name: String,
    /// Relative to the workspace.
    pub path: String,
    /// A directory, or a link to one in the workspace.
    pub is_dir: bool,
    /// Bytes in a regular file; 0 for anything else.
    pub size_bytes: u64,
    /// `symlink`, or another type that is neither a file nor a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The target of a link: a path in the workspace, `(outside)` or `(nothing)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// True if `name` escapes characters that cannot be shown: `\n`, `\u{202e}`, `\xff` for a byte
    /// that is not UTF-8, `\\` for a backslash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escaped: bool,
}

/// The `list` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListTool;

impl Tool for ListTool {
    type Args = ListArgs;
    type Output = ListOutput;

    fn card(&self) -> Card {
        Card::reading(
            "list",
            "List a directory",
            "Entries of a directory, hidden ones too. To find files by name use `glob`.",
        )
        .with_rank(12)
    }

    fn subjects(&self, context: &Context, args: &ListArgs) -> Result<CallSubjects, ToolError> {
        Ok(CallSubjects { paths: vec![directory(context, args.path.as_deref())?], ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: ListArgs) -> Result<ListOutput, ToolError> {
        run(call.context, args).await
    }
}

/// Returns the entries of a directory.
///
/// # Errors
/// A directory that is missing, not a directory, or outside the workspace.
pub(crate) async fn run(context: &Context, args: ListArgs) -> Result<ListOutput, ToolError> {
    let under = directory(context, args.path.as_deref())?;
    let query = ListQuery {
        under: under.clone(),
        recursive: args.recursive.unwrap_or(false),
        max: clamp_count(args.limit, DEFAULT_LIST_ENTRIES, MAX_LIST_ENTRIES),
        deadline: WorkDeadline::new(Instant::now() + context.timeout.unwrap_or(DEFAULT_LIST_TIMEOUT)),
    };
    let _ends_with_us = query.deadline.cancel_on_drop();
    let listing = context.run_in_background(move |workspace| workspace.list(&query)).await?;
    let listing = listing.map_err(from_read_error)?;
    let mut notes = Vec::new();
    if listing.timed_out {
        notes.push("the time limit was reached; there may be more entries".to_owned());
    }
    if listing.hidden > 0 {
        notes.push(left_out_note(listing.hidden));
    }
    notes.extend(listing.gaps);
    Ok(ListOutput {
        path: under.display(),
        items: listing.entries.iter().map(item).collect(),
        has_more: listing.has_more || listing.timed_out,
        notes,
    })
}

/// The requested directory; the root if none is given.
pub(super) fn directory(context: &Context, given: Option<&str>) -> Result<WorkspacePath, ToolError> {
    match given.filter(|path| !path.is_empty()) {
        Some(path) => context.path(path.as_ref()),
        None => Ok(WorkspacePath::root()),
    }
}

/// The note that some files are hidden.
pub(super) fn left_out_note(files: usize) -> String {
    format!("{files} omitted, because a rule forbids reading them")
}

/// A number of results: the default if none above zero is given, and at most `most`.
pub(crate) fn clamp_count(given: Option<i64>, default: usize, most: usize) -> usize {
    given
        .and_then(|given| usize::try_from(given).ok())
        .filter(|given| *given > 0)
        .map_or(default, |given| given.min(most))
}

fn item(entry: &DirectoryEntry) -> ListItem {
    let shown = entry.path.display();
    let name = shown.rsplit('/').next().unwrap_or(&shown).to_owned();
    let (kind, target) = match &entry.kind {
        EntryKind::File | EntryKind::Directory => (None, None),
        EntryKind::Special(what) => (Some((*what).to_owned()), None),
        EntryKind::Symlink(target) => (Some("symlink".to_owned()), Some(shown_target(target))),
    };
    let is_dir = matches!(
        entry.kind,
        EntryKind::Directory | EntryKind::Symlink(LinkTarget::Inside { is_dir: true, .. })
    );
    ListItem {
        name,
        path: shown,
        is_dir,
        size_bytes: entry.size,
        kind,
        target,
        escaped: entry.path.is_escaped(),
    }
}

fn shown_target(target: &LinkTarget) -> String {
    match target {
        LinkTarget::Inside { path, .. } => path.display(),
        LinkTarget::Outside => "(outside)".to_owned(),
        LinkTarget::Nothing => "(nothing)".to_owned(),
    }
}
