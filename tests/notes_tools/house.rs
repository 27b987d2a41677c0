//! Workspaces with notes, skills and tasks.

use std::time::Duration;

use lsp_tools::ToolResult;

use crate::support::{Project, TestWorkspace, TestWorkspaceBuilder, failure_of};

/// A workspace of these files, without servers.
pub fn open_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> TestWorkspace {
    open(&Project::new(files))
}

/// A workspace on an existing project.
pub fn open(project: &Project) -> TestWorkspace {
    opening(project).open()
}

/// The same project with another process's runtime, which has read the settings again.
pub fn again(house: TestWorkspace) -> TestWorkspace {
    open(&house.project)
}

/// The same project with a workspace inside it.
pub fn within(house: TestWorkspace, folder: &str) -> TestWorkspace {
    opening(&house.project).workspace(house.project.path(folder)).open()
}

fn opening(project: &Project) -> TestWorkspaceBuilder {
    project.opening().timeout(None).answering_within(Duration::from_secs(120))
}

/// Asserts that a call failed with this code and that its message contains these words.
pub fn assert_fails(result: &ToolResult, code: &str, words: &str) {
    let (given, error) = failure_of(result);
    assert!(given == code && error.contains(words), "wanted {code}: …{words}…, got {given}: {error}");
}
