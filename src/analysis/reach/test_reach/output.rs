//! The tests that reach a change, in the form of answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::items::budget::json_size;
use crate::analysis::items::short_range::ShortRange;

/// The bytes of a file in an answer beside its path and the names of its tests.
const FILE_OVERHEAD_BYTES: usize = 24;

/// The connection of a test with a change: the weakest link of the path. Strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReachKind {
    /// The test itself changed.
    Changed,
    /// Every link is a call.
    Calls,
    /// Every link is a use that a server knows, or a test runner's rule (a fixture, a set-up).
    References,
    /// At least one link is only a mention in the type of a parameter, variable or result.
    Mentions,
    /// At least one link is only a name: a member of a value of unknown type, or a method called by
    /// a library.
    Names,
    /// The file imports the changed code, but no use is known.
    Imports,
}

/// A test that reaches a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReachedTest {
    /// The path, relative to the workspace.
    pub path: String,
    /// The qualified test name (`TestCart.test_add`, or titles joined by a space); `None` for a
    /// whole file.
    pub name: Option<String>,
    /// The range of its name.
    pub at: Option<ShortRange>,
    /// True if the runner knows the test by exactly this name.
    pub is_exact: bool,
    /// The weakest link.
    pub how: ReachKind,
    /// The links as `path:symbol`, from the test's use to the change; empty for a changed test.
    pub way: Vec<String>,
}

/// Tests that reach a change along the same path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestsByWay {
    /// The weakest link.
    pub how: ReachKind,
    /// The intermediate symbols as `path:symbol`, from the code that the tests use to the changed
    /// code; empty for changed tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<String>,
    /// The number of tests.
    pub count: usize,
    /// The tests.
    pub files: Vec<TestsOfFile>,
}

/// Tests of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestsOfFile {
    /// Relative to the workspace.
    pub path: String,
    /// Qualified test names (`TestCart.test_add`, or titles joined by a space); empty for the whole
    /// file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Groups the sorted `tests` by their paths: at most `limit` tests, and as many as fit into
/// `bytes`. The first test is always listed.
pub(super) fn by_way(tests: &[ReachedTest], limit: usize, bytes: usize) -> Vec<TestsByWay> {
    let mut groups: Vec<TestsByWay> = Vec::new();
    let mut left = bytes;
    for tests in tests.chunk_by(|one, other| (one.how, &one.way) == (other.how, &other.way)) {
        let listed: usize =
            groups.iter().flat_map(|group| &group.files).map(|file| file.names.len().max(1)).sum();
        let ReachedTest { how, way, .. } = tests[0].clone();
        let mut group = TestsByWay { how, way, count: tests.len(), files: Vec::new() };
        let mut size = json_size(&group);
        for test in tests.iter().take(limit.saturating_sub(listed)) {
            let is_known = group.files.last().is_some_and(|file| file.path == test.path);
            size += test.name.as_ref().map_or(0, |name| name.len() + 3);
            size += if is_known { 0 } else { test.path.len() + FILE_OVERHEAD_BYTES };
            if size > left && !(groups.is_empty() && group.files.is_empty()) {
                break;
            }
            match (group.files.last_mut().filter(|_| is_known), &test.name) {
                (Some(file), Some(name)) => file.names.push(name.clone()),
                _ => group.files.push(TestsOfFile {
                    path: test.path.clone(),
                    names: test.name.iter().cloned().collect(),
                }),
            }
        }
        let is_cut = size > left;
        left = left.saturating_sub(size);
        groups.extend(Some(group).filter(|group| !group.files.is_empty()));
        if is_cut {
            break;
        }
    }
    groups
}

/// A command that runs tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestRun {
    /// For a shell at the root of the workspace.
    pub command: String,
    /// The project file that the command comes from.
    pub why: String,
    /// Parts of the request that the command does not cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The command that installs the tests' requirements, if known.
    #[serde(skip)]
    pub set_up: Option<String>,
}

/// The tests that reach a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TestReachOutput {
    /// The changed symbols, as `path:symbol`.
    pub changed: Vec<String>,
    /// True if the change reaches all known tests of these languages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_suite: bool,
    /// The tests by path, strongest links first, then shortest paths.
    pub tests: Vec<TestsByWay>,
    /// The number of tests, without files that only import the changed code.
    pub count: usize,
    /// The number of files that only import the changed code.
    pub importing_files: usize,
    /// True if there are more entries in `tests` or `changed`.
    pub has_more: bool,
    /// Commands that run the tests, or the importing files if there are no other tests.
    pub runs: Vec<TestRun>,
    /// Test files that no command runs, because the project does not say how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_run: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(path: &str, name: &str, way: &[&str]) -> ReachedTest {
        ReachedTest {
            path: path.to_owned(),
            name: Some(name.to_owned()),
            at: None,
            is_exact: true,
            how: ReachKind::Calls,
            way: way.iter().map(|link| (*link).to_owned()).collect(),
        }
    }

    #[test]
    fn tests_are_grouped_by_way_within_limit_and_bytes() {
        let tests = [
            test("a.py", "one", &["m.py:f"]),
            test("a.py", "two", &["m.py:f"]),
            test("b.py", "three", &["m.py:f"]),
            test("b.py", "four", &["n.py:g", "m.py:f"]),
        ];
        let listed = |limit: usize, bytes: usize| {
            let groups = by_way(&tests, limit, bytes);
            let names = |file: &TestsOfFile| format!("{}: {}", file.path, file.names.join(" "));
            let files = |group: &TestsByWay| group.files.iter().map(names).collect::<Vec<_>>();
            groups.iter().map(|group| (group.count, files(group))).collect::<Vec<_>>()
        };
        let whole = vec!["a.py: one two".to_owned(), "b.py: three".to_owned()];
        assert_eq!(listed(10, 10_000), [(3, whole), (1, vec!["b.py: four".to_owned()])]);
        assert_eq!(listed(2, 10_000), [(3, vec!["a.py: one two".to_owned()])]);
        assert_eq!(listed(10, 1), [(3, vec!["a.py: one".to_owned()])], "the first is always listed");
        assert_eq!(listed(10, 110).len(), 1);
    }
}
