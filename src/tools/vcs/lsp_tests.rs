//! `lsp_tests`: the tests that reach a change or a symbol, each with its path, and the commands
//! that run them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::analysis::answer::Answer;
use crate::analysis::ask::fallback;
use crate::analysis::breakage::edited_text::EditedText;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::names::definition::Definition;
use crate::analysis::reach::test_reach::output::TestReachOutput;
use crate::analysis::reach::test_reach::{
    DEFAULT_TEST_LIMIT, REACH_TIMEOUT, tests_reaching, tests_reaching_symbol,
};
use crate::analysis::trees::changes::compared_texts::ComparedTexts;
use crate::analysis::trees::git_access::{OpenRepository, from_git_error};
use crate::lsp::session::operations::Navigation;
use crate::policy::request::CallSubjects;
use crate::process::git::revision::{ComparedTree, Comparison};
use crate::tools::api::address::Address;
use crate::tools::api::only_paths::OnlyPaths;
use crate::tools::api::tool::{Call, Card, Tool};
use crate::tools::language::lsp_navigate;
use crate::workspace::WorkspacePath;

/// The most definitions of one name that are examined.
const MAX_DEFINITIONS: usize = 10;

/// The arguments of `lsp_tests`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestsArgs {
    /// Commit, or `A...`: where the branch left A.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Only changes in these files and folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<PathBuf>>,
    /// A symbol instead of a change.
    #[serde(flatten)]
    pub address: Address,
    /// Default: 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The `lsp_tests` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LspTests;

impl Tool for LspTests {
    type Args = TestsArgs;
    type Output = Answer<TestReachOutput>;

    fn card(&self) -> Card {
        Card::reading(
            "lsp_tests",
            "Tests that reach a change",
            "Tests that reach the changes since a git commit, or one symbol, by their ways there, and the command for just these. \
             Use it after an edit instead of running all. For all users use `lsp_references`.",
        )
        .long().beyond_core().in_lsp_profile()
    }

    fn subjects(&self, context: &Context, args: &TestsArgs) -> Result<CallSubjects, ToolError> {
        match args.address.path {
            Some(_) => args.address.subjects(context),
            None => Ok(CallSubjects { paths: vec![WorkspacePath::root()], ..CallSubjects::default() }),
        }
    }

    async fn run(&self, call: Call<'_>, args: TestsArgs) -> Result<Answer<TestReachOutput>, ToolError> {
        let context = call.context;
        let deadline = context.deadline(REACH_TIMEOUT);
        let limit = args.limit.unwrap_or(DEFAULT_TEST_LIMIT);
        if let Some(against) = &args.against {
            let (edits, gaps) = changed_texts(context, against, args.only.as_deref(), deadline).await?;
            let answer = Box::pin(tests_reaching(context, &edits, gaps, limit, deadline)).await?;
            return fallback::advised_answer(answer, |_| true);
        }
        let target = args.address.target(call.context)?;
        let found =
            Box::pin(lsp_navigate::run(context, Navigation::Definition, &target, Some(MAX_DEFINITIONS)));
        let definition = Definition::new(context, &target, &found.await?)?;
        let path = definition.path.ok_or_else(|| {
            ToolError::new(
                ErrorCode::NotFound,
                format!("{} lies outside the workspace", definition.place.path),
            )
        })?;
        let at = definition.place.range.start;
        let answer = Box::pin(tests_reaching_symbol(context, path, at, limit, deadline)).await?;
        fallback::advised_answer(answer, |_| true)
    }
}

/// The differences between the work tree and the commit `against`, in the files and folders `only`,
/// and notes on files that cannot be compared.
async fn changed_texts(
    context: &Context,
    against: &str,
    only: Option<&[PathBuf]>,
    deadline: Instant,
) -> Result<(Vec<EditedText>, Vec<String>), ToolError> {
    let only = OnlyPaths::new(context, only)?;
    let opened = OpenRepository::open(context, WorkspacePath::root(), deadline).await?;
    let comparison = Comparison::resolve(&opened.shadow, &opened.repository, against, false);
    let comparison = comparison.await.map_err(from_git_error)?;
    if comparison.after != ComparedTree::WorkTree {
        let what = format!("`{against}` names two commits; the tests are those of the work tree");
        return Err(ToolError::new(ErrorCode::InvalidArgs, what)
            .with_hint("name one commit, or `REF...` for where the branch left REF"));
    }
    let ComparedTexts { mut edits, unread, elsewhere, cut, .. } =
        ComparedTexts::read(context, &opened, &comparison).await?;
    let is_known = |path: &WorkspacePath| {
        let is_below = |known: &WorkspacePath| known.as_path().starts_with(path.as_path());
        let is_edited =
            |edit: &EditedText| is_below(&edit.path) || edit.renamed_from.as_ref().is_some_and(is_below);
        path.is_root() || context.workspace.exists(path) || edits.iter().any(is_edited)
    };
    if let Some(path) = only.iter().find(|path| !is_known(path)) {
        let what = format!("there is no {}, and nothing of that name changed", path.display());
        return Err(ToolError::new(ErrorCode::NotFound, what));
    }
    edits
        .retain(|edit| only.has(&edit.path) || edit.renamed_from.as_ref().is_some_and(|path| only.has(path)));
    let unread = unread.into_iter().filter(|(path, _)| only.has(path));
    let mut gaps: Vec<String> =
        unread.map(|(path, why)| format!("{} is not compared: {why}", path.display())).collect();
    gaps.extend(cut.then(|| "more files differ than are read".to_owned()));
    gaps.extend((elsewhere > 0).then(|| format!("{elsewhere} changed files lie outside the workspace")));
    Ok((edits, gaps))
}
