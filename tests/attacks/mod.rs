//! Attacks and faults against tools, each through the path of every call. The number of a test is
//! its row in the table of attacks that the product was built against.

mod budgets;
mod calls;
mod hidden;
mod hygiene;
mod long_paths;
mod named_files;
mod paths;
mod private;
mod servers;
mod special_files;
mod together;
mod trusted;

use crate::support::{Project, TestWorkspace};

/// A workspace on `project`, with the user's settings `text`.
fn with_settings(project: &Project, text: &str) -> TestWorkspace {
    std::fs::write(project.beside("config").join("lsp-tools.toml"), text).expect("settings");
    project.open()
}

/// Every file of the project with its content, by path.
fn everything(project: &Project) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let (mut found, mut folders) = (Vec::new(), vec![project.root()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push((entry.path(), std::fs::read(entry.path()).expect("a file")));
            }
        }
    }
    found.sort();
    found
}
