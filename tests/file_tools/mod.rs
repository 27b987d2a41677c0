//! The tools that read files, called by name as agents call them: their tables of arguments and
//! answers, and their failures.

mod finding;
mod marks;
mod reading;

use std::time::Duration;

use crate::support::{Project, TestWorkspace};
use serde_json::Value;

/// A workspace of these files, without an approver.
pub fn open_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> TestWorkspace {
    open(&Project::new(files))
}

/// A workspace on an existing project, without an approver.
pub fn open(project: &Project) -> TestWorkspace {
    project.opening().timeout(None).nobody_to_ask().answering_within(Duration::from_secs(60)).open()
}

/// Returns true if a note of `answer` contains `part`.
pub fn notes(answer: &Value, part: &str) -> bool {
    let notes = answer["notes"].as_array();
    notes.into_iter().flatten().any(|note| note.as_str().is_some_and(|note| note.contains(part)))
}
