//! `run_tests`: the project's own tests, by the command that its files name.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bash::{Bash, BashArgs, BashOutcome, BashOutput};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::reach::test_runs::{
    EndedRun, ProjectPlans, ProjectReader, TestRunPlan, TestSelection, nearest_plans, word_below,
};
use crate::policy::request::{CallSubjects, Effect};
use crate::tools::api::tool::{Call, Card, Tool};
use crate::workspace::WorkspacePath;

/// The arguments of `run_tests`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunTestsArgs {
    /// Paths of test files; all tests if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Names of tests, or parts of names; all tests of the files if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_names: Option<Vec<String>>,
    /// Timeout in milliseconds (120000).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout: Option<u64>,
    /// The plan that rules and the approver judged; it runs even if the project's files have
    /// changed.
    #[serde(skip)]
    judged: OnceLock<TestRunPlan>,
}

/// The answer of `run_tests`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RunTestsOutput {
    /// True if the command exited with status 0.
    pub passed: bool,
    /// The reason for this command.
    pub why: String,
    /// Parts of the request that the command does not cover.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The command's result, as in `bash`.
    #[serde(flatten)]
    pub run: BashOutput,
}

/// The `run_tests` tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunTestsTool;

impl Tool for RunTestsTool {
    type Args = RunTestsArgs;
    type Output = RunTestsOutput;

    fn card(&self) -> Card {
        Card::new(
            "run_tests",
            "Run tests",
            "Runs the project's tests, or those of some files or names, by the command that its own files name (Cargo.toml, package.json, \
             pyproject.toml, go.mod, Makefile and others). Answers that command, whether it `passed`, its output and exit code; a runner that cannot start is an error. \
             `lsp_tests` names the tests that a change reaches. Example: {\"files\": [\"tests/test_cart.py\"]}.",
            Effect::Execute,
        )
        .destructive()
        .beyond_core()
        .long()
    }

    fn subjects(&self, context: &Context, args: &RunTestsArgs) -> Result<CallSubjects, ToolError> {
        let files = args.files.iter().flatten().map(|file| context.path(file.as_ref()));
        let files: Vec<WorkspacePath> = files.collect::<Result<_, _>>()?;
        let names = args.test_names.as_deref().unwrap_or_default();
        let plan = test_plan(context, &files, names).ok_or_else(unknown_runner)?;
        let commands = vec![args.judged.get_or_init(|| plan).command.clone()];
        Ok(CallSubjects { paths: files, commands, in_shell: true, ..CallSubjects::default() })
    }

    async fn run(&self, call: Call<'_>, args: RunTestsArgs) -> Result<RunTestsOutput, ToolError> {
        let TestRunPlan { command, why, notes, set_up, .. } =
            args.judged.into_inner().ok_or_else(unknown_runner)?;
        let run =
            Bash.run(call, BashArgs { command, timeout_ms: args.timeout, ..BashArgs::default() }).await?;
        let mut passed = false;
        if let BashOutcome::Ended(ended) = &run.outcome {
            let output = [ended.written.stdout.as_str(), ended.written.stderr.as_str()];
            let exit_code = i64::from(ended.exit_code);
            let ended = EndedRun { command: &run.command, set_up: set_up.as_deref(), exit_code, output };
            if let Some(failure) = ended.start_failure() {
                return Err(failure.with_details(&run));
            }
            passed = exit_code == 0;
        }
        Ok(RunTestsOutput { passed, why, notes, run })
    }
}

/// The test plan of the nearest folder above the first file, or of the root, that has a recognized
/// test command.
fn test_plan(context: &Context, files: &[WorkspacePath], names: &[String]) -> Option<TestRunPlan> {
    let start = match files.first() {
        Some(file) => file.parent().unwrap_or_else(WorkspacePath::root),
        None => WorkspacePath::root(),
    };
    let select = |folder: &WorkspacePath| {
        let inside = files.iter().filter_map(|file| word_below(folder, file));
        TestSelection { files: inside.collect(), names: names.to_vec(), tests: Vec::new() }
    };
    let found = ProjectReader::with(context, |projects| nearest_plans(projects, &start, &select));
    let ProjectPlans { folder, plans } = found?;
    let mut plans = plans.into_iter();
    let mut plan = plans.next()?;
    let others: Vec<String> = plans.map(|other| format!("`{}`", other.command)).collect();
    if !others.is_empty() {
        plan.notes.push(format!("there are other ways too: {}", others.join(", ")));
    }
    let is_run =
        |file: &&WorkspacePath| word_below(&folder, file).is_some_and(|word| plan.files.contains(&word));
    let left_out: Vec<&WorkspacePath> = files.iter().filter(|file| !is_run(file)).collect();
    for file in left_out {
        plan.notes.push(format!("{} belongs to another project and was left out", file.display()));
    }
    Some(plan)
}

fn unknown_runner() -> ToolError {
    ToolError::new(
        ErrorCode::NotFound,
        "it is not known how the tests of this project are run: no Cargo.toml, go.mod, package.json with a test script, pytest or unittest \
         files, pom.xml, build.gradle, *.csproj, mix.exs, Gemfile, phpunit.xml, pubspec.yaml, Package.swift, deno.json, CMake tests, \
         justfile or Makefile with a test target was found",
    )
    .with_hint("run them as a command, with `bash`")
}
