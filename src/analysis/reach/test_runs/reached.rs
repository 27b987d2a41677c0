//! The commands that run the tests which reach a change: one for each runner of each project that
//! contains them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::nearest::{ProjectPlans, ProjectReader, nearest_plans, word_below};
use super::{SelectedTest, TestRunPlan, TestSelection};
use crate::analysis::context::Context;
use crate::analysis::reach::test_reach::output::{ReachedTest, TestRun};
use crate::workspace::WorkspacePath;

/// The most tests that one command names. If there are more, whole files run.
const MAX_NAMED_TESTS: usize = 400;
/// The longest command that names tests, in bytes: an answer has room for it.
const MAX_NAMING_COMMAND_BYTES: usize = 6_000;
/// The longest command that names files, in bytes: a shell accepts a word of at most 128 KiB.
const MAX_COMMAND_BYTES: usize = 60_000;
/// The most commands.
const MAX_RUNS: usize = 20;

/// The commands, and the files of tests that none of them runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedRuns {
    /// The commands, for a shell at the root of the workspace.
    pub(crate) runs: Vec<TestRun>,
    /// The paths, relative to the workspace, of files without a test command.
    pub(crate) without: Vec<String>,
}

/// The tests of some files: the name of each test and true if a runner knows it by exactly that, or
/// `None` for the file as a whole.
type ReachedFiles<'a> = BTreeMap<WorkspacePath, BTreeSet<Option<(&'a str, bool)>>>;

/// The commands that run `tests`. If these are the whole suite, the commands do not name them.
pub(crate) fn runs_of(context: &Context, tests: &[ReachedTest], whole_suite: bool) -> PlannedRuns {
    ProjectReader::with(context, |projects| plan_runs(projects, tests, whole_suite))
}

/// Like [`runs_of`], with the given reader of projects.
pub(super) fn plan_runs(reader: &ProjectReader<'_>, tests: &[ReachedTest], whole_suite: bool) -> PlannedRuns {
    let mut planned = PlannedRuns::default();
    let mut by_file = ReachedFiles::new();
    for test in tests {
        match reader.workspace.path(test.path.as_ref()) {
            Ok(path) => {
                let name = test.name.as_deref().map(|name| (name, test.is_exact));
                by_file.entry(path).or_default().insert(name);
            }
            Err(_) => planned.without.push(test.path.clone()),
        }
    }
    // Each file belongs to the nearest project that runs tests of its language.
    let mut known: HashMap<(Option<WorkspacePath>, Option<String>), Option<WorkspacePath>> = HashMap::new();
    let mut projects: BTreeMap<WorkspacePath, ReachedFiles<'_>> = BTreeMap::new();
    for (path, names) in by_file {
        let key = (path.parent(), path.extension().map(str::to_owned));
        let alone = BTreeMap::from([(path.clone(), names.clone())]);
        let start = path.parent().unwrap_or_else(WorkspacePath::root);
        let find_plan = || Some(nearest_plans(reader, &start, &|at| selection(&alone, at, true))?.folder);
        match known.entry(key).or_insert_with(find_plan) {
            Some(folder) => drop(projects.entry(folder.clone()).or_default().insert(path, names)),
            None => planned.without.push(path.display()),
        }
    }
    for (folder, mut files) in projects {
        while !files.is_empty() {
            let planning = || best_plan(reader, &folder, &files);
            let Some(found) = (planned.runs.len() < MAX_RUNS).then(planning).flatten() else { break };
            let (at, TestRunPlan { mut command, why, mut notes, files: covered, set_up }) = found;
            if whole_suite {
                let all = nearest_plans(reader, &at, &|_| TestSelection::default());
                let same = all.and_then(|all| all.plans.into_iter().find(|plan| plan.why == why));
                (command, notes) = same.map_or((command, notes), |plan| (plan.command, plan.notes));
            }
            let count = files.len();
            files.retain(|path, _| word_below(&at, path).is_none_or(|word| !covered.contains(&word)));
            if files.len() == count {
                break;
            }
            planned.runs.push(TestRun { command, why, notes, set_up });
        }
        planned.without.extend(files.keys().map(WorkspacePath::display));
    }
    planned
}

/// The best command for some of `files`, with its folder: by names of tests, else whole files,
/// within the shell's limits.
fn best_plan(
    reader: &ProjectReader<'_>,
    folder: &WorkspacePath,
    files: &ReachedFiles<'_>,
) -> Option<(WorkspacePath, TestRunPlan)> {
    [true, false].into_iter().find_map(|is_exact| {
        let select = |at: &WorkspacePath| selection(files, at, is_exact);
        let ProjectPlans { folder, plans } = nearest_plans(reader, folder, &select)?;
        let mut plan = plans.into_iter().next()?;
        if !is_exact && files.values().any(|names| !names.contains(&None)) {
            plan.notes.push("the tests are too many to name; all tests of these files run".to_owned());
        }
        let most = if is_exact { MAX_NAMING_COMMAND_BYTES } else { MAX_COMMAND_BYTES };
        (plan.command.len() <= most).then_some((folder, plan))
    })
}

/// The selection of the tests in `folder`; whole files without `is_exact`, or if the tests are too
/// many.
fn selection(files: &ReachedFiles<'_>, folder: &WorkspacePath, is_exact: bool) -> TestSelection {
    let inside = files.iter().filter_map(|(path, names)| Some((word_below(folder, path)?, names)));
    let inside: Vec<_> = inside.collect();
    let count: usize = inside.iter().map(|(_, names)| names.len()).sum();
    let mut wanted = TestSelection::default();
    for (file, names) in inside {
        if is_exact && count <= MAX_NAMED_TESTS && !names.contains(&None) {
            let test = |(name, is_exact): &(&str, bool)| SelectedTest {
                file: file.clone(),
                name: (*name).to_owned(),
                is_exact: *is_exact,
            };
            wanted.tests.extend(names.iter().flatten().map(test));
        }
        wanted.files.push(file);
    }
    wanted
}
