//! The compared programs ("arms"), each with one fixed way of asking each kind of question.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use regex::Regex;
use serde_json::json;

use super::ground::{Package, Tools, ours};
use super::mcp_host::McpHost;
use super::questions::{Kind, Question, replacement};
use super::seen::{Numbering, Transcript};

/// The maximum wait for one answer.
pub const LONGEST: Duration = Duration::from_secs(60);
/// The number of lines above and below a hit.
const AROUND: usize = 20;

/// A program that answers questions.
pub trait Arm {
    fn name(&self) -> &'static str;

    /// The line number that its answers give to the first line of a file.
    fn base(&self) -> u32 {
        1
    }

    fn numbering(&self) -> Numbering {
        Numbering::Before
    }

    /// Opens its own copy of a package. The cost of this is not counted.
    fn open(&mut self, package: &Package, project: &Path) -> Result<()>;

    /// Asks until the answers are complete or nothing is left to ask.
    fn ask(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()>;

    fn close(&mut self) {}
}

/// The product over MCP, with the tool that its descriptions name for each kind.
pub struct Ours<'a> {
    pub tools: &'a Tools,
    pub folder: PathBuf,
    /// Whether to use `explore` for each kind that it answers, as its description says.
    pub explores: bool,
    project: PathBuf,
    host: Option<McpHost>,
}

impl<'a> Ours<'a> {
    pub fn new(tools: &'a Tools, folder: &Path, explores: bool) -> Self {
        Self { tools, folder: folder.to_owned(), explores, project: PathBuf::new(), host: None }
    }
}

impl Arm for Ours<'_> {
    fn name(&self) -> &'static str {
        if self.explores { "ours, explore" } else { "ours" }
    }

    fn numbering(&self) -> Numbering {
        Numbering::After
    }

    fn open(&mut self, _: &Package, project: &Path) -> Result<()> {
        project.clone_into(&mut self.project);
        let mut command = ours(&self.folder, &self.tools.data);
        command.args(["mcp", "--no-daemon", "--profile", "all"]).current_dir(project);
        self.host = Some(McpHost::start(command, LONGEST)?);
        Ok(())
    }

    fn ask(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        let host = self.host.as_mut().context("not open")?;
        let mut at =
            json!({"path": question.at.path, "line": question.at.line, "symbol": question.symbol.name});
        let text = std::fs::read_to_string(self.project.join(&question.at.path))?;
        let line = text.lines().nth(question.at.line as usize).unwrap_or_default();
        if line.matches(&question.symbol.name).count() > 1 {
            // A line and a name do not identify the symbol.
            at = json!({"path": question.at.path, "line": question.at.line, "character": question.at.character});
        }
        let (tool, arguments) = match (question.kind, &question.edit) {
            (Kind::Breaks, Some(edit)) => {
                let (old, new) = replacement(edit);
                let edits = json!([{"old": old, "new": new}]);
                ("edit", json!({"path": edit.path, "edits": edits, "dry_run": true, "diagnostics": true}))
            }
            _ if self.explores => ("explore", at),
            (Kind::Uses, _) => ("lsp_references", at),
            (Kind::What, _) => ("lsp_hover", at),
            _ => ("lsp_definition", at),
        };
        let (answer, _) = host.call(tool, &arguments)?;
        let is_whole = transcript.take(format!("{tool} {arguments}"), &answer);
        // For details beyond a hover, the descriptions name `explore`.
        if !is_whole && tool == "lsp_hover" {
            transcript.false_complete = says_complete(&answer);
            let mut whole = arguments;
            whole["budget"] = json!(400);
            let (answer, _) = host.call("explore", &whole)?;
            transcript.take(format!("explore {whole}"), &answer);
            return Ok(());
        }
        // A truncated list is requested again in full.
        let goes_on = answer.contains("has_more: true");
        if !is_whole && goes_on && tool == "lsp_references" {
            let mut all = arguments;
            all["limit"] = json!(5000);
            let (answer, _) = host.call(tool, &all)?;
            transcript.take(format!("{tool} {all}"), &answer);
        }
        let is_silent = transcript
            .answers
            .last()
            .is_some_and(|(_, answer)| says_complete(answer) && !answer.contains("has_more: true"));
        transcript.false_complete = is_silent && !transcript.is_whole() && !self.explores;
        Ok(())
    }

    fn close(&mut self) {
        self.host = None;
    }
}

/// Whether an answer states that it is complete. The answer to an edit has a verdict instead.
fn says_complete(answer: &str) -> bool {
    answer.lines().any(|line| matches!(line.trim(), "complete" | "verdict: complete"))
}

/// `rg`, then windows of lines around its hits; or its output alone.
pub struct Grep {
    /// Whether only the output of `rg` counts, without windows.
    pub is_bare: bool,
    project: PathBuf,
}

impl Grep {
    pub fn new(is_bare: bool) -> Self {
        Self { is_bare, project: PathBuf::new() }
    }

    fn run(&self, words: &[&str]) -> Result<String> {
        let output = Command::new("rg")
            .args(["--no-config", "--sort", "path", "-n"])
            .args(words)
            .arg(".")
            .current_dir(&self.project)
            .output()?;
        Ok(String::from_utf8_lossy(&output.stdout).replace("\n./", "\n").trim_start_matches("./").to_owned())
    }

    /// The hits in reading order: for "where" questions, probable definitions first.
    fn hits(&self, question: &Question, found: &str) -> Result<Vec<(String, usize)>> {
        let definition = Regex::new(&definition(&question.symbol.name))?;
        let mut hits = Vec::new();
        for line in found.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(path), Some(number), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let Ok(number) = number.parse::<usize>() else { continue };
            let is_later = matches!(question.kind, Kind::What | Kind::Where) && !definition.is_match(text);
            hits.push((is_later, path.to_owned(), number - 1));
        }
        hits.sort_by_key(|(is_later, _, _)| *is_later);
        Ok(hits.into_iter().map(|(_, path, line)| (path, line)).collect())
    }
}

/// A regular expression for definitions of `name` in Python and TypeScript.
fn definition(name: &str) -> String {
    format!(
        r"\b(def|class|function\*?|interface|type|enum|const|let)\s+{name}\b|^\s+((public|private|protected|static|async|readonly)\s+)*{name}\s*[<(].*\{{?$|^\s*(self\.)?{name}\s*[:=]"
    )
}

impl Arm for Grep {
    fn name(&self) -> &'static str {
        if self.is_bare { "rg alone" } else { "rg + windows" }
    }

    fn open(&mut self, _: &Package, project: &Path) -> Result<()> {
        project.clone_into(&mut self.project);
        Ok(())
    }

    fn ask(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        let name = &question.symbol.name;
        if self.is_bare && matches!(question.kind, Kind::What | Kind::Where) {
            let pattern = definition(name);
            let context: &[&str] = if question.kind == Kind::What { &["-A", "12"] } else { &[] };
            let words = [context, &["-e", &pattern]].concat();
            if transcript.take(format!("rg -n {} DEFINITION", context.join(" ")), &self.run(&words)?) {
                return Ok(());
            }
            let words = [
                &["-A", "40", "-w"][..if question.kind == Kind::What { 3 } else { 0 }],
                &["-w", "-F", "-e", name],
            ]
            .concat();
            transcript.take(format!("rg {}", words.join(" ")), &self.run(&words)?);
            return Ok(());
        }
        let found = self.run(&["-w", "-F", "-e", name])?;
        if self.is_bare {
            transcript.take(format!("rg -n -w {name}"), &found);
            return Ok(());
        }
        transcript.count(format!("rg -n -w {name}"), &found);
        let mut shown: BTreeSet<(String, usize)> = BTreeSet::new();
        for (path, line) in self.hits(question, &found)? {
            // This line is the position of the question, or was part of an earlier window.
            let is_known =
                question.kind != Kind::What && path == question.at.path && line == question.at.line as usize;
            if is_known || shown.contains(&(path.clone(), line)) {
                continue;
            }
            let length = std::fs::read_to_string(self.project.join(&path))?.lines().count();
            let window = (line.saturating_sub(AROUND), (line + AROUND + 1).min(length));
            shown.extend((window.0..window.1).map(|line| (path.clone(), line)));
            let call = format!("sed -n {},{}p {path}", window.0 + 1, window.1);
            if transcript.window(call, &path, window) {
                break;
            }
        }
        Ok(())
    }
}
