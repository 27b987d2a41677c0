//! `run_tests`: the project's own tests, by the command that its files name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::adapter::{AliasAdapter, AliasMetadata, WrittenBy};
use super::context::{AliasContext, AliasError};
use super::runners::{ProjectFolder, TestRunPlan, TestSelection, plans};
use super::terminal::command_answer;
use super::{AliasAnswer, AliasClass};
use crate::policy::request::Effect;
use crate::text::shell_word;
use crate::workspace::{ListQuery, WorkDeadline, WorkspacePath};

/// Entries of a folder that are looked at for signs of a runner.
const MAX_TEST_FOLDER_ENTRIES: usize = 5_000;
/// How long looking at one folder may take.
const LOOK: std::time::Duration = std::time::Duration::from_secs(2);

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
    let mut folder = match files.first() {
        Some(file) => file.parent().unwrap_or_else(WorkspacePath::root),
        None => WorkspacePath::root(),
    };
    loop {
        let below =
            |file: &WorkspacePath| file.as_path().strip_prefix(folder.as_path()).ok().map(ToOwned::to_owned);
        let (inside, outside): (Vec<_>, Vec<_>) =
            files.iter().map(|file| (file, below(file))).partition(|(_, below)| below.is_some());
        // A name that begins with `-` would be an option.
        let word = |name: String| if name.starts_with('-') { format!("./{name}") } else { name };
        let inside =
            inside.into_iter().filter_map(|(_, below)| below?.into_os_string().into_string().ok().map(word));
        let wanted = TestSelection { files: inside.collect(), names: names.to_vec() };
        let mut plans = plans(&InWorkspace::new(context, &folder), &wanted).into_iter();
        if let Some(mut plan) = plans.next() {
            let others: Vec<String> = plans.map(|other| format!("`{}`", other.command)).collect();
            if !others.is_empty() {
                plan.notes.push(format!("there are other ways too: {}", others.join(", ")));
            }
            for (file, _) in outside {
                plan.notes.push(format!("{} belongs to another project and was left out", file.display()));
            }
            if !folder.is_root() {
                plan.command = format!("cd {} && {}", shell_word(&folder.display()), plan.command);
            }
            return Some(plan);
        }
        if folder.is_root() {
            return None;
        }
        folder = folder.parent().unwrap_or_else(WorkspacePath::root);
    }
}

fn nothing() -> AliasError {
    AliasError::new(
        "it is not known how the tests of this project are run: no Cargo.toml, go.mod, package.json with a test script, \
         pytest or unittest files, pom.xml, build.gradle, *.csproj, mix.exs, Gemfile, phpunit.xml, pubspec.yaml, Package.swift, \
         deno.json, CMake tests, justfile or Makefile with a test target was found; run them with run_in_terminal",
    )
}

/// A folder of the workspace.
struct InWorkspace<'a> {
    context: &'a AliasContext<'a>,
    folder: &'a WorkspacePath,
    names: Vec<String>,
}

impl<'a> InWorkspace<'a> {
    fn new(context: &'a AliasContext<'a>, folder: &'a WorkspacePath) -> Self {
        let query = ListQuery {
            under: folder.clone(),
            recursive: false,
            max: MAX_TEST_FOLDER_ENTRIES,
            deadline: WorkDeadline::new(std::time::Instant::now() + LOOK),
        };
        let entries =
            context.runtime.workspace().list(&query).map(|listing| listing.entries).unwrap_or_default();
        let names = entries.iter().map(|entry| entry.path.name_lossy().into_owned()).collect();
        Self { context, folder, names }
    }
}

impl ProjectFolder for InWorkspace<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn has(&self, path: &str) -> bool {
        self.folder.join(path).is_ok_and(|path| self.context.runtime.workspace().exists(&path))
    }

    fn text(&self, path: &str) -> Option<String> {
        self.context.text_of(&self.folder.join(path).ok()?)
    }
}
