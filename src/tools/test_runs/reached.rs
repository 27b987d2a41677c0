//! The commands that run the tests which reach a change, one for each project that they belong to.

use std::collections::{BTreeMap, BTreeSet};

use super::nearest::{nearest_plans, word_below};
use super::{SelectedTest, TestRunPlan, TestSelection};
use crate::tools::context::Context;
use crate::tools::test_reach::output::{ReachedTest, TestRun};
use crate::workspace::WorkspacePath;

/// The most tests that one command names; of more, whole files run.
const MAX_NAMED_TESTS: usize = 400;
/// The longest command that names tests, in bytes: a shell takes one word of 128 KiB.
const MAX_COMMAND_BYTES: usize = 60_000;
/// The most projects that get a command.
const MAX_PROJECTS: usize = 20;

/// The commands that run `tests`.
pub(crate) fn runs_of(context: &Context, tests: &[ReachedTest]) -> Vec<TestRun> {
    let mut by_file: BTreeMap<WorkspacePath, BTreeSet<Option<&str>>> = BTreeMap::new();
    for test in tests {
        if let Ok(path) = context.workspace.path(test.path.as_ref()) {
            by_file.entry(path).or_default().insert(test.name.as_deref());
        }
    }
    let read = |path: &WorkspacePath| context.saved_text(path).ok();
    let mut runs = Vec::new();
    while let Some(first) = by_file.keys().next().cloned() {
        let start = first.parent().unwrap_or_else(WorkspacePath::root);
        let select = |folder: &WorkspacePath, is_exact: bool| selection(&by_file, folder, is_exact);
        let plans_of = |is_exact: bool| {
            nearest_plans(&context.workspace, &read, &start, &|folder| select(folder, is_exact))
        };
        let is_short = |plan: &TestRunPlan| plan.command.len() <= MAX_COMMAND_BYTES;
        let found = plans_of(true)
            .filter(|found| found.plans.first().is_some_and(is_short))
            .or_else(|| plans_of(false));
        let Some(found) = found.filter(|_| runs.len() < MAX_PROJECTS) else {
            by_file.remove(&first);
            continue;
        };
        by_file.retain(|path, _| !path.as_path().starts_with(found.folder.as_path()));
        if let Some(TestRunPlan { command, why, notes }) = found.plans.into_iter().next() {
            runs.push(TestRun { command, why, notes });
        }
    }
    runs
}

/// What is wanted of the tests in `folder`; without `is_exact`, or where they are too many, whole files.
fn selection(
    by_file: &BTreeMap<WorkspacePath, BTreeSet<Option<&str>>>,
    folder: &WorkspacePath,
    is_exact: bool,
) -> TestSelection {
    let inside = by_file.iter().filter_map(|(path, names)| Some((word_below(folder, path)?, names)));
    let inside: Vec<_> = inside.collect();
    let count: usize = inside.iter().map(|(_, names)| names.len()).sum();
    let mut wanted = TestSelection::default();
    for (file, names) in inside {
        if is_exact && count <= MAX_NAMED_TESTS && !names.contains(&None) {
            let test = |name: &&str| SelectedTest { file: file.clone(), name: (*name).to_owned() };
            wanted.tests.extend(names.iter().flatten().map(test));
        }
        wanted.files.push(file);
    }
    wanted
}
