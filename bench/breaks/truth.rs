//! The findings of pyright's command line for a whole package and those of an answer, in one form.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lsp_tools::internals::text::LineMap;
use serde_json::Value;

use super::edits::Edit;

/// A file, a 0-based line and a rule.
pub type Finding = (String, u32, String);
/// The errors of a package, possibly with duplicates.
pub type Findings = Vec<Finding>;

/// The pyright program that the product's installer installed.
pub struct Pyright(PathBuf);

impl Pyright {
    /// The newest pyright below `data`, which the server also uses.
    pub fn installed(data: &Path) -> Result<Self> {
        let folder = data.join("servers/pyright");
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let program = entry?.path().join("npm/node_modules/pyright/index.js");
            if program.is_file() {
                found.push((program.metadata()?.modified()?, program));
            }
        }
        found.sort();
        Ok(Self(found.pop().context("pyright is not installed")?.1))
    }

    /// Every error in `project`, and the duration of the check.
    pub fn check(&self, project: &Path) -> Result<(Findings, Duration)> {
        let began = Instant::now();
        let output = Command::new("node").arg(&self.0).arg("--outputjson").current_dir(project).output()?;
        let took = began.elapsed();
        // Status 1 means that there are errors.
        ensure!(
            matches!(output.status.code(), Some(0 | 1)),
            "pyright: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let root = std::fs::canonicalize(project)?;
        let mut found = Vec::new();
        for item in answer["generalDiagnostics"].as_array().into_iter().flatten() {
            if item["severity"] == "error" {
                let file = Path::new(item["file"].as_str().unwrap_or_default());
                let path = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().into_owned();
                found.push((path, line(&item["range"]), rule(&item["rule"])));
            }
        }
        found.sort();
        Ok((found, took))
    }
}

fn line(range: &Value) -> u32 {
    range["start"]["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(u32::MAX)
}

fn rule(rule: &Value) -> String {
    rule.as_str().unwrap_or_default().to_owned()
}

/// The errors of `after` that are not in `before`, with lines mapped through the edit.
pub fn added(edit: &Edit, before: &Findings, after: &Findings) -> BTreeMap<Finding, usize> {
    let lines = LineMap::between(&edit.before, &edit.after);
    let mut old: BTreeMap<(String, Option<u32>, String), usize> = BTreeMap::new();
    for (path, line, rule) in before {
        let line = if *path == edit.path { lines.new_line(*line) } else { Some(*line) };
        *old.entry((path.clone(), line, rule.clone())).or_default() += 1;
    }
    let mut new: BTreeMap<Finding, usize> = BTreeMap::new();
    for finding in after {
        let (path, line, rule) = finding;
        let edited = (path.clone(), None, rule.clone());
        let there = (path.clone(), Some(*line), rule.clone());
        let known = [there, edited].into_iter().find(|key| old.get(key).is_some_and(|count| *count > 0));
        match known.and_then(|key| old.get_mut(&key)) {
            Some(count) => *count -= 1,
            None => *new.entry(finding.clone()).or_default() += 1,
        }
    }
    new
}

/// The 0-based line of a `line:column` position in our answers.
fn start_line(at: &Value) -> u32 {
    let line = at.as_str().and_then(|at| at.split(':').next());
    line.and_then(|line| line.parse::<u32>().ok()?.checked_sub(1)).unwrap_or(u32::MAX)
}

/// The errors that a delta names, in full or abbreviated.
pub fn of_delta(delta: &Value) -> Findings {
    let mut found = Vec::new();
    for item in delta["added"].as_array().into_iter().flatten().filter(|item| item["severity"] == "error") {
        found.push((
            item["path"].as_str().unwrap_or_default().to_owned(),
            start_line(&item["at"]),
            rule(&item["code"]),
        ));
    }
    for item in delta["more"].as_array().into_iter().flatten() {
        let path = item["path"].as_str().unwrap_or_default();
        for at in item["at"].as_array().into_iter().flatten() {
            found.push((path.to_owned(), start_line(at), rule(&item["code"])));
        }
    }
    found
}

/// A finding for the report, 1-based.
pub fn words((path, line, rule): &Finding) -> String {
    format!("{path}:{} {rule}", line + 1)
}
