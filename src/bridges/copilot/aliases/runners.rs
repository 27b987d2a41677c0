//! The command that runs a project's tests, from its files. Pure but for what [`ProjectFolder`] looks at.

mod compiled;
mod recipes;
mod scripted;

use crate::text::shell_word;

/// A folder of a project.
pub(super) trait ProjectFolder {
    /// The names in it.
    fn names(&self) -> &[String];

    /// Whether there is something at `path` below it.
    fn has(&self, path: &str) -> bool;

    /// The text of the file at `path` below it, if it may be read.
    fn text(&self, path: &str) -> Option<String>;

    /// Whether a name in it ends like this.
    fn has_name_ending(&self, end: &str) -> bool {
        self.names().iter().any(|name| name.ends_with(end))
    }
}

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub(super) struct TestSelection {
    /// Test files, relative to the folder; none means all.
    pub(crate) files: Vec<String>,
    /// Names of tests or parts of them; none means all.
    pub(crate) names: Vec<String>,
}

/// How it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestRunPlan {
    /// The command, for a shell in the folder.
    pub(crate) command: String,
    /// What says so.
    pub(crate) why: String,
    /// What it does not do of what was wanted.
    pub(crate) notes: Vec<String>,
}

impl TestRunPlan {
    fn new(command: impl Into<String>, why: impl Into<String>) -> Self {
        Self { command: command.into(), why: why.into(), notes: Vec::new() }
    }

    /// With more words at the end of the command, each quoted where it needs to be.
    fn with_words(mut self, words: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for word in words {
            self.command.push(' ');
            self.command.push_str(&shell_word(word.as_ref()));
        }
        self
    }

    /// Says that the runner is not told which tests are wanted.
    fn without_names(self, wanted: &TestSelection) -> Self {
        let left_out = !wanted.names.is_empty();
        self.with_note_if(left_out, "this runner is not told names of tests here; all tests of the files run")
    }

    /// The same for files.
    fn without_files(self, wanted: &TestSelection) -> Self {
        let left_out = !wanted.files.is_empty();
        self.with_note_if(left_out, "this runner is not told files here; all tests run")
    }

    fn with_note_if(mut self, so: bool, note: &str) -> Self {
        if so {
            self.notes.push(note.to_owned());
        }
        self
    }
}

type TestPlanner = fn(&dyn ProjectFolder, &TestSelection) -> Option<TestRunPlan>;

/// Every kind of project, languages before the words of a `justfile` or `Makefile`, which cannot be told what to run.
const KINDS: &[TestPlanner] = &[
    compiled::cargo,
    compiled::go,
    scripted::node,
    scripted::deno,
    scripted::python,
    compiled::maven,
    compiled::gradle,
    compiled::dotnet,
    compiled::swift,
    scripted::mix,
    scripted::ruby,
    scripted::php,
    scripted::dart,
    compiled::cmake,
    recipes::just,
    recipes::make,
];

/// The ways in which the tests of `folder` can be run, the best first.
pub(super) fn plans(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Vec<TestRunPlan> {
    KINDS.iter().filter_map(|kind| kind(folder, wanted)).collect()
}

/// One pattern that matches each of `names` and what they are part of.
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
