//! The PyPI packages of `breaks`: fetched once, unpacked for each run, never committed.

use std::path::Path;

use anyhow::Result;

use super::archives;

/// Wheels without their dependencies, which neither the server nor the command line knows.
pub const PACKAGES: [&str; 10] = [
    "pluggy==1.5.0",
    "httpx==0.27.2",
    "werkzeug==3.0.4",
    "click==8.1.7",
    "rich==13.8.1",
    "jinja2==3.1.4",
    "flask==3.0.3",
    "tomlkit==0.13.2",
    "packaging==24.1",
    "starlette==0.38.5",
];

/// Unpacks `package` into `project`; wheels are cached in `kept`.
pub fn fetch(kept: &Path, package: &str, project: &Path) -> Result<()> {
    archives::unpack(&archives::fetched(kept, package, false)?, project)
}

/// Every Python file below `project`: its relative path and its text.
pub fn sources(project: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![project.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|is| is == "py") {
                let name = path.strip_prefix(project)?.to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(&path)?));
            }
        }
    }
    found.sort();
    Ok(found)
}
