//! The commands that run a project's tests, all or some of them, determined from its files.
//!
//! Each kind of project is a function of [`ProjectFolder`] without other inputs. [`nearest`] finds
//! the folder whose files determine the test command, and [`runs_of`] the commands for the tests
//! that reach a change.

mod cargo;
mod compiled;
mod nearest;
mod reached;
mod recipes;
mod scripted;
mod start_failure;

pub(crate) use nearest::{ProjectPlans, ProjectReader, nearest_plans, word_below};
pub(crate) use reached::{PlannedRuns, runs_of};
pub(crate) use start_failure::EndedRun;

use crate::text::shell_word;

/// A folder of a project.
pub(crate) trait ProjectFolder {
    /// The names of its entries.
    fn names(&self) -> &[String];

    /// Returns true if there is an entry at `path` below it.
    fn has(&self, path: &str) -> bool;

    /// The text of the file at `path` below it, if it may be read.
    fn text(&self, path: &str) -> Option<String>;

    /// The interpreter of the project's Python environment.
    fn python(&self) -> Option<ProjectPython>;

    /// Returns true if no folder above determines a test command, so that weak signs count.
    fn is_last_resort(&self) -> bool {
        true
    }

    /// Returns true if a name in it has this ending.
    fn has_name_ending(&self, end: &str) -> bool {
        self.names().iter().any(|name| name.ends_with(end))
    }
}

/// The interpreter of a project's Python environment.
#[derive(Debug, Clone)]
pub(crate) struct ProjectPython {
    /// The program, for a shell in the project's folder.
    pub(crate) program: String,
    /// True if pip is installed there.
    pub(crate) has_pip: bool,
}

/// The tests to run.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestSelection {
    /// Test files, relative to the folder; all if empty.
    pub(crate) files: Vec<String>,
    /// Names of tests or parts of them; all if empty.
    pub(crate) names: Vec<String>,
    /// Tests that are known exactly, in these files. If there are some, `names` is empty.
    pub(crate) tests: Vec<SelectedTest>,
}

/// One test that is known exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SelectedTest {
    /// The file, relative to the folder.
    pub(crate) file: String,
    /// The qualified test name, separated by dots (`TestCart.test_add`), or its titles joined by
    /// spaces.
    pub(crate) name: String,
    /// True if the runner knows the test by exactly this name.
    pub(crate) is_exact: bool,
}

/// The note of a plan that selects files and not their tests.
const ALL_OF_FILES: &str = "some of the files were requested whole; all tests of the files run";

impl TestSelection {
    /// The part of the selection for a runner of files with these `endings`. `None` if files are
    /// selected and none of them is for this runner. Folders, and files with unknown endings, are
    /// for every runner.
    fn of_endings(&self, endings: &[&str]) -> Option<Self> {
        let is_own = |file: &String| {
            let ending =
                file.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
            let is_known = || RUNNERS.iter().any(|runner| runner.endings.contains(&ending));
            endings.is_empty() || endings.contains(&ending) || !is_known()
        };
        let files: Vec<String> = self.files.iter().filter(|file| is_own(file)).cloned().collect();
        if files.is_empty() && !self.files.is_empty() {
            return None;
        }
        let tests = self.tests.iter().filter(|test| is_own(&test.file)).cloned().collect();
        Some(Self { files, names: self.names.clone(), tests })
    }

    /// The selection for runners that match parts of names: the last part of each, and no names if
    /// files are selected as a whole.
    fn by_parts_of_names(&self) -> Self {
        if !self.tests.is_empty() && self.whole_files().next().is_some() {
            return Self { files: self.files.clone(), ..Self::default() };
        }
        let last = |test: &SelectedTest| test.name.rsplit('.').next().unwrap_or(&test.name).to_owned();
        let mut names: Vec<String> = self.names.iter().cloned().chain(self.tests.iter().map(last)).collect();
        names.sort();
        names.dedup();
        Self { files: self.files.clone(), names, tests: Vec::new() }
    }

    /// The selection for runners that match only whole names: files with other tests are
    /// selected as a whole.
    fn by_whole_names(&self) -> Self {
        let is_exact = |file: &String| self.tests.iter().all(|test| test.file != *file || test.is_exact);
        let tests = self.tests.iter().filter(|test| is_exact(&test.file)).cloned().collect();
        Self { files: self.files.clone(), names: self.names.clone(), tests }
    }

    /// The files without a selected test, which run as a whole.
    fn whole_files(&self) -> impl Iterator<Item = &String> {
        self.files.iter().filter(|file| self.tests.iter().all(|test| test.file != **file))
    }
}

/// A test command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestRunPlan {
    /// The command, for a shell in the folder.
    pub(crate) command: String,
    /// The file or setting that determines it.
    pub(crate) why: String,
    /// Notes on parts of the selection that it ignores.
    pub(crate) notes: Vec<String>,
    /// The selected files whose tests it runs.
    pub(crate) files: Vec<String>,
    /// The command that installs the dependencies of the tests, if known.
    pub(crate) set_up: Option<String>,
}

impl TestRunPlan {
    fn new(command: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            why: reason.into(),
            notes: Vec::new(),
            files: Vec::new(),
            set_up: None,
        }
    }

    /// Appends words to the command, quoted if necessary.
    fn with_words(mut self, words: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for word in words {
            self.command.push(' ');
            self.command.push_str(&shell_word(word.as_ref()));
        }
        self
    }

    /// Appends `option` with a pattern that matches each of `names`, if there are any.
    fn with_any_of(self, option: &str, names: &[String]) -> Self {
        if names.is_empty() {
            return self;
        }
        self.with_words([option, &any_of(names)])
    }

    /// Sets the command that installs the dependencies of the tests.
    fn with_set_up(self, set_up: impl Into<String>) -> Self {
        Self { set_up: Some(set_up.into()), ..self }
    }

    /// Adds a note that the runner ignores the selected tests.
    fn without_names(self, wanted: &TestSelection) -> Self {
        let left_out = !wanted.names.is_empty();
        self.with_note_if(left_out, "this runner takes no test names here; all tests of the files run")
    }

    /// Adds a note that the runner ignores the selected files.
    fn without_files(self, wanted: &TestSelection) -> Self {
        let left_out = !wanted.files.is_empty();
        self.with_note_if(left_out, "this runner takes no files here; all tests run")
    }

    fn with_note_if(mut self, so: bool, note: &str) -> Self {
        if so {
            self.notes.push(note.to_owned());
        }
        self
    }
}

type TestPlanner = fn(&dyn ProjectFolder, &TestSelection) -> Option<TestRunPlan>;

/// A kind of project.
struct TestRunner {
    planner: TestPlanner,
    /// The endings of the files whose tests it runs; all if empty.
    endings: &'static [&'static str],
    /// Converts a selection to the names that the runner can match.
    narrow: fn(&TestSelection) -> TestSelection,
}

const fn by_whole_names(planner: TestPlanner, endings: &'static [&'static str]) -> TestRunner {
    TestRunner { planner, endings, narrow: TestSelection::by_whole_names }
}

const fn by_parts(planner: TestPlanner, endings: &'static [&'static str]) -> TestRunner {
    TestRunner { planner, endings, narrow: TestSelection::by_parts_of_names }
}

const SCRIPTS: &[&str] = &["ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs"];
const JVM: &[&str] = &["java", "kt", "groovy", "scala"];

/// All kinds. Languages come before a `justfile` or `Makefile`, whose recipes cannot select tests.
static RUNNERS: &[TestRunner] = &[
    // Its filters match parts of names as well as whole ones.
    TestRunner { planner: cargo::cargo, endings: &["rs"], narrow: TestSelection::clone },
    by_whole_names(compiled::go, &["go"]),
    by_whole_names(scripted::node, SCRIPTS),
    by_whole_names(scripted::python, &["py"]),
    by_parts(scripted::deno, SCRIPTS),
    by_parts(compiled::maven, JVM),
    by_parts(compiled::gradle, JVM),
    by_parts(compiled::dotnet, &["cs", "fs", "vb"]),
    by_parts(compiled::swift, &["swift"]),
    by_parts(scripted::mix, &["ex", "exs"]),
    by_parts(scripted::ruby, &["rb"]),
    by_parts(scripted::php, &["php"]),
    by_parts(scripted::dart, &["dart"]),
    by_parts(compiled::cmake, &["c", "cc", "cpp", "cxx", "m", "mm"]),
    by_parts(recipes::just, &[]),
    by_parts(recipes::make, &[]),
];

/// The test commands of `folder`, the best first.
pub(super) fn plans(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Vec<TestRunPlan> {
    let plan = |runner: &TestRunner| {
        let own = wanted.of_endings(runner.endings)?;
        let own = (runner.narrow)(&own);
        let plan = (runner.planner)(folder, &own)?;
        Some(TestRunPlan { files: own.files, ..plan })
    };
    RUNNERS.iter().filter_map(plan).collect()
}

/// A pattern that matches each of `names` and tests within them.
fn any_of(names: &[String]) -> String {
    names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|")
}

/// The names of files without folders and extensions.
fn stems(files: &[String]) -> Vec<String> {
    let stem = |file: &String| {
        let name = file.rsplit('/').next().unwrap_or(file);
        name.split('.').next().unwrap_or(name).to_owned()
    };
    files.iter().map(stem).collect()
}

#[cfg(test)]
mod tests;
