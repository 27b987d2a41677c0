//! `run_tests`: the project's own tests, by the command that its files name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::adapter::{AliasAdapter, AliasClass, AliasMetadata, WrittenBy};
use super::answer::{AliasAnswer, AliasError};
use super::context::AliasContext;
use super::terminal::command_answer;
use crate::policy::request::Effect;
use crate::tools::test_runs::{ProjectPlans, TestRunPlan, TestSelection, nearest_plans, word_below};
use crate::workspace::WorkspacePath;

/// The arguments of `run_tests`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunTestsArgs {
    /// Absolute paths of test files; without them all tests run.
    files: Option<Vec<String>>,
    /// Names of tests, or parts of them; without them all tests of the files run.
    test_names: Option<Vec<String>>,
    /// Milliseconds until it is ended (120000).
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
}

/// The name.
pub(super) struct RunTests;

impl AliasAdapter for RunTests {
    type Args = RunTestsArgs;

    const ABOUT: AliasMetadata = AliasMetadata {
        name: "run_tests",
        title: "Run tests",
        description: "Runs the project's tests by the command that its own files name (Cargo.toml, package.json, pyproject.toml, \
                      go.mod, Makefile and others), and answers which command that was, its output and its exit code.",
        effect: Effect::Execute,
        class: AliasClass::New,
        by_default: true,
        why: "the server has no tool for it",
        uses: &["bash"],
        written_by: WrittenBy::Model,
    };

    async fn run(context: &AliasContext<'_>, args: RunTestsArgs) -> Result<AliasAnswer, AliasError> {
        let mut files = Vec::new();
        for file in args.files.iter().flatten() {
            files.push(context.path(file)?.1);
        }
        let names = args.test_names.unwrap_or_default();
        let found = found(context, &files, &names).ok_or_else(nothing)?;
        let mut head = format!("$ {}\n({})\n", found.command, found.why);
        for note in &found.notes {
            head.push_str(&format!("note: {note}\n"));
        }
        let arguments = json!({"command": found.command, "timeout_ms": args.timeout});
        let result = context.call_tool("bash", arguments).await;
        match command_answer(context, &result) {
            Ok(answer) => Ok(AliasAnswer { text: format!("{head}{}", answer.text), ..answer }),
            Err(refused) => Err(AliasError { text: format!("{head}{}", refused.text), ..refused }),
        }
    }
}

/// The command: of the nearest folder above the first file, or of the root, that shows how its tests are run.
fn found(context: &AliasContext<'_>, files: &[WorkspacePath], names: &[String]) -> Option<TestRunPlan> {
    let start = match files.first() {
        Some(file) => file.parent().unwrap_or_else(WorkspacePath::root),
        None => WorkspacePath::root(),
    };
    let select = |folder: &WorkspacePath| {
        let inside = files.iter().filter_map(|file| word_below(folder, file));
        TestSelection { files: inside.collect(), names: names.to_vec(), tests: Vec::new() }
    };
    let read = |path: &WorkspacePath| context.text_of(path);
    let ProjectPlans { folder, plans } = nearest_plans(context.runtime.workspace(), &read, &start, &select)?;
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

fn nothing() -> AliasError {
    AliasError::new(
        "it is not known how the tests of this project are run: no Cargo.toml, go.mod, package.json with a test script, \
         pytest or unittest files, pom.xml, build.gradle, *.csproj, mix.exs, Gemfile, phpunit.xml, pubspec.yaml, Package.swift, \
         deno.json, CMake tests, justfile or Makefile with a test target was found; run them with run_in_terminal",
    )
}
