//! Test commands of task runners: a recipe or target called `test`.

use super::{ProjectFolder, TestRunPlan, TestSelection};

const JUSTFILES: &[&str] = &["justfile", "Justfile", ".justfile"];
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

pub(super) fn just(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    target(folder, wanted, JUSTFILES, "just")
}

pub(super) fn make(folder: &dyn ProjectFolder, wanted: &TestSelection) -> Option<TestRunPlan> {
    target(folder, wanted, MAKEFILES, "make")
}

fn target(
    folder: &dyn ProjectFolder,
    wanted: &TestSelection,
    files: &[&str],
    program: &str,
) -> Option<TestRunPlan> {
    files.iter().find_map(|file| {
        let text = folder.text(file)?;
        let word = ["test", "tests", "check"]
            .into_iter()
            .find(|word| text.lines().any(|line| is_rule_of(line, word)))?;
        let plan = TestRunPlan::new(format!("{program} {word}"), format!("{file} has `{word}`"));
        Some(plan.without_files(wanted).without_names(wanted))
    })
}

/// Returns true if `line` begins the rule of `word`: `test:`, `test: build`, `test *args:`, but not
/// `test := …`.
fn is_rule_of(line: &str, word: &str) -> bool {
    let Some(rest) = line.strip_prefix('@').unwrap_or(line).strip_prefix(word) else { return false };
    let Some((parameters, after)) = rest.split_once(':') else { return false };
    !after.starts_with('=') && (parameters.is_empty() || parameters.starts_with(' '))
}
