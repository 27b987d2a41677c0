//! The errors of a difference between git trees, on real servers: `lsp_changes` and `check
//! --against`.

mod against;
mod doubts;
mod hostile;
mod merges;
pub mod pairs;

use std::ops::Deref;
use std::path::Path;

use crate::notes_tools::changed_files::git;
use crate::support::{Project, TestWorkspace, start_of};
use serde_json::{Value, json};

/// A workspace at a shell, in git, with one commit of its files on the branch `main`.
pub struct Repository(pub TestWorkspace);

impl Deref for Repository {
    type Target = TestWorkspace;

    fn deref(&self) -> &TestWorkspace {
        &self.0
    }
}

impl Repository {
    pub fn new(servers: &[&str], files: &[(&str, &str)]) -> Self {
        Self::of(Project::new(files.iter().copied()).opening().servers(servers).at_shell().open())
    }

    pub fn of(workspace: TestWorkspace) -> Self {
        let repository = Self(workspace);
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit("first");
        repository
    }

    pub fn git(&self, args: &[&str]) -> String {
        git(&self.project.root(), args)
    }

    /// Commits everything; returns the id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A branch from `from` with a commit of `change`; the work tree is at `main` afterwards.
    pub fn branch(&self, name: &str, from: &str, change: impl FnOnce(&Project)) {
        self.git(&["checkout", "-q", "-b", name, from]);
        change(&self.project);
        self.commit(name);
        self.git(&["checkout", "-q", "main"]);
    }

    pub async fn changes(&self, arguments: Value) -> Value {
        self.answer("lsp_changes", arguments).await
    }

    pub async fn against(&self, reference: &str) -> Value {
        self.changes(json!({"against": reference})).await
    }
}

/// `path:line message` of each new finding, the line 0-based.
pub fn findings(answer: &Value) -> Vec<String> {
    let items = answer["diagnostics"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text = |item: &Value| {
        format!(
            "{}:{} {}",
            item["path"].as_str().unwrap_or_default(),
            start_of(item).0,
            item["message"].as_str().unwrap_or_default()
        )
    };
    items.iter().map(text).collect()
}

/// `removed name`, `renamed old → new`, `changed name`, each with the number of its users.
pub fn interfaces(answer: &Value) -> Vec<String> {
    let changes = answer["interfaces"].as_array().cloned().unwrap_or_default();
    let text = |change: &Value| {
        let word = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
        let now = change["now"].as_str().map(|now| format!(" → {now}")).unwrap_or_default();
        format!("{} {}{now}: {}", word("change"), word("name"), change["user_count"])
    };
    changes.iter().map(text).collect()
}

/// All files of a git repository except objects, and the files of the work tree.
pub fn state_of(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.ends_with(".git/objects") {
                let count = walk_count(&path);
                found.push((path.display().to_string(), count.to_string().into_bytes()));
            } else if entry.file_type().expect("a kind").is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                found.push((path.display().to_string(), bytes));
            }
        }
    }
    found.sort();
    found
}

fn walk_count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| if entry.path().is_dir() { walk_count(&entry.path()) } else { 1 }).sum()
}
