//! `find_test_files`: the tests of a source file, and the source of a test, by the conventions of
//! its language.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::glob::{self, GlobArgs};
use super::grep::{self, GrepArgs};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::policy::request::CallSubjects;
use crate::syntax::test_conventions::{TestFileKind, kind, nearness};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The most files listed for each given one.
const MAX_RELATED_TEST_FILES: usize = 10;
/// The most files with these names among which the nearest are chosen.
const MAX_TEST_FILE_CANDIDATES: i64 = 1_000;
/// Patterns for the first line of tests within a source file, by extension.
const INLINE: &[(&str, &str)] =
    &[("rs", r"^\s*#\[(cfg\(test\)|test|tokio::test)"), ("zig", r#"^\s*test\s+(".*"\s*)?\{"#)];

/// The arguments of `find_test_files`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindTestFilesArgs {
    /// Paths of sources or tests.
    #[schemars(length(min = 1, max = 20))]
    pub file_paths: Vec<String>,
}

/// The answer of `find_test_files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FindTestFilesOutput {
    /// One entry for each given path.
    pub files: Vec<RelatedTestFiles>,
}

/// The related files of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RelatedTestFiles {
    /// Relative to the workspace.
    pub path: String,
    /// The file's kind, by its name.
    pub kind: TestRelation,
    /// The file's tests, or the files that it tests; nearest first, relative to the workspace.
    pub related: Vec<String>,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// The 1-based line where tests begin in the file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_tests_line: Option<u32>,
    /// The names searched for, if nothing was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The kind of a file by test naming conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TestRelation {
    /// A source.
    Source,
    /// A test.
    Test,
    /// No naming convention is known for the file.
    Unknown,
}

/// The `find_test_files` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FindTestFilesTool;

impl Tool for FindTestFilesTool {
    type Args = FindTestFilesArgs;
    type Output = FindTestFilesOutput;

    fn card(&self) -> Card {
        Card::reading(
            "find_test_files",
            "Find tests",
            "The tests of a source file, or the source of a test, by the language's naming conventions, nearest first. For tests that reach a symbol use `lsp_tests`. \
             Example: {\"filePaths\": [\"src/cart.py\"]}.",
        )
        .beyond_core()
    }

    fn subjects(&self, context: &Context, args: &FindTestFilesArgs) -> Result<CallSubjects, ToolError> {
        let paths = args.file_paths.iter().map(|path| context.path(path.as_ref()));
        Ok(CallSubjects { paths: paths.collect::<Result<_, _>>()?, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: FindTestFilesArgs) -> Result<FindTestFilesOutput, ToolError> {
        let mut files = Vec::new();
        for given in &args.file_paths {
            files.push(related_files(call.context, &call.context.path(given.as_ref())?).await?);
        }
        Ok(FindTestFilesOutput { files })
    }
}

async fn related_files(context: &Context, path: &WorkspacePath) -> Result<RelatedTestFiles, ToolError> {
    if !context.workspace.exists(path) {
        return Err(ToolError::new(ErrorCode::NotFound, format!("there is no {}", path.display())));
    }
    let inline_tests_line = inline_tests_line(context, path).await?;
    let path = path.display();
    let parts: Vec<&str> = path.split('/').collect();
    let (kind, mut names) = match kind(&parts) {
        TestFileKind::Test(names) => (TestRelation::Test, names),
        TestFileKind::Source(names) => (TestRelation::Source, names),
        TestFileKind::Unknown if inline_tests_line.is_some() => (TestRelation::Source, Vec::new()),
        TestFileKind::Unknown => (TestRelation::Unknown, Vec::new()),
    };
    let (related, has_more) = match names.is_empty() {
        true => (Vec::new(), false),
        false => nearest_named(context, &parts, &names).await?,
    };
    if !related.is_empty() || inline_tests_line.is_some() {
        names.clear();
    }
    Ok(RelatedTestFiles { path, kind, related, has_more, inline_tests_line, names })
}

/// The files with one of these names, the nearest first, and true if there are more.
async fn nearest_named(
    context: &Context,
    of: &[&str],
    names: &[String],
) -> Result<(Vec<String>, bool), ToolError> {
    let names: Vec<String> = names.iter().map(|name| globset::escape(name)).collect();
    let pattern = format!("**/{{{}}}", names.join(","));
    let limit = Some(MAX_TEST_FILE_CANDIDATES);
    let named = glob::run(context, GlobArgs { pattern, limit, ..GlobArgs::default() }).await?;
    let own = of.join("/");
    let mut found: Vec<String> = named.matches.into_iter().filter(|path| *path != own).collect();
    let rank = |path: &String| {
        let parts: Vec<&str> = path.split('/').collect();
        (Reverse(nearness(of, &parts)), parts.len())
    };
    found.sort_by_cached_key(|path| (rank(path), path.clone()));
    let has_more = named.has_more || found.len() > MAX_RELATED_TEST_FILES;
    found.truncate(MAX_RELATED_TEST_FILES);
    Ok((found, has_more))
}

/// The first line of tests in the source file itself, 1-based.
async fn inline_tests_line(context: &Context, path: &WorkspacePath) -> Result<Option<u32>, ToolError> {
    let extension = path.extension().unwrap_or_default();
    let Some((_, pattern)) = INLINE.iter().find(|(of, _)| *of == extension) else { return Ok(None) };
    let search = GrepArgs {
        pattern: (*pattern).to_owned(),
        // Absolute, because relative paths start at the caller's folder.
        path: Some(context.workspace.absolute(path).to_string_lossy().into_owned()),
        max_matches: Some(1),
        semantic: Some(false),
        ..GrepArgs::default()
    };
    Ok(grep::run(context, search, None).await?.matches.first().map(|found| found.line))
}
