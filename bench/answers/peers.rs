//! Other programs from PyPI and npm, at pinned versions. Each is asked over MCP with the tool that
//! its descriptions name for each kind of question.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::archives::run;
use super::arms::{Arm, LONGEST};
use super::ground::{Package, Tools};
use super::mcp_host::McpHost;
use super::questions::{Kind, Question, absolute, name_path, range};
use super::seen::{Numbering, Transcript};

/// The pause between two attempts at a server that is not ready.
const AGAIN: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Serena,
    AgentLsp,
    Lodesman,
    CodeGraph,
}

pub struct Peer<'a> {
    who: Who,
    name: &'static str,
    packages: &'static [&'static str],
    tools: &'a Tools,
    /// The folder of its packages, which is also its home.
    folder: PathBuf,
    project: PathBuf,
    host: Option<McpHost>,
}

/// Serena and lodesman start servers with `uvx`, which is also a package.
pub const NAMES: [&str; 4] = ["serena", "agent-lsp", "lodesman", "codegraph"];

pub fn all<'a>(tools: &'a Tools, kept: &Path) -> Vec<Peer<'a>> {
    let peer = |who, name, packages| Peer {
        who,
        name,
        packages,
        tools,
        folder: kept.join("peers").join(name),
        project: PathBuf::new(),
        host: None,
    };
    vec![
        peer(Who::Serena, NAMES[0], &["serena-agent==2.1.0", "uv==0.13.9"]),
        peer(Who::AgentLsp, NAMES[1], &["agent-lsp==0.23.5"]),
        peer(Who::Lodesman, NAMES[2], &["lodesman-mcp==0.6.0", "uv==0.13.9"]),
        peer(Who::CodeGraph, NAMES[3], &["@colbymchenry/codegraph@1.6.1"]),
    ]
}

impl Peer<'_> {
    /// Fetches its packages once.
    pub fn install(&self) -> Result<()> {
        let done = self.folder.join("made");
        if done.is_file() {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        if self.packages.iter().all(|package| package.contains("==")) {
            let venv = self.folder.join("venv");
            run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
            run(Command::new(venv.join("bin/pip")).args(["install", "-q"]).args(self.packages))?;
        } else {
            let words = ["install", "--no-fund", "--no-audit", "--silent", "--prefix"];
            run(Command::new("npm").args(words).arg(&self.folder).args(self.packages))?;
        }
        Ok(fs::write(done, "")?)
    }

    pub fn version(&self) -> &'static str {
        self.packages.first().copied().unwrap_or_default()
    }

    fn program(&self, name: &str) -> PathBuf {
        let of_python = self.folder.join("venv/bin").join(name);
        if of_python.is_file() { of_python } else { self.folder.join("node_modules/.bin").join(name) }
    }

    /// A command of this peer, with its own home and with our servers on PATH.
    fn command(&self, name: &str, project: &Path) -> Result<Command> {
        let mut command = Command::new(self.program(name));
        let mut folders: Vec<PathBuf> = self.tools.programs().to_vec();
        folders.push(self.folder.join("venv/bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        // agent-lsp starts every server that it finds and exits if one fails, as rustup's proxy
        // does here.
        folders.extend(std::env::split_paths(&path).filter(|folder| !folder.join("rust-analyzer").exists()));
        let home = self.folder.join("home");
        fs::create_dir_all(&home)?;
        command
            .env("PATH", std::env::join_paths(folders)?)
            .env("HOME", home)
            .env("UV_PYTHON_DOWNLOADS", "never")
            .env("CODEGRAPH_TELEMETRY", "0")
            .current_dir(project);
        Ok(command)
    }

    fn call(&mut self, transcript: &mut Transcript<'_>, tool: &str, arguments: &Value) -> Result<bool> {
        let host = self.host.as_mut().context("not open")?;
        let (mut answer, _) = host.call(tool, arguments)?;
        // agent-lsp reports that it cannot answer yet, without a way to wait. Repeats are not
        // counted.
        let deadline = Instant::now() + LONGEST;
        while answer.contains("still being indexed") && Instant::now() < deadline {
            std::thread::sleep(AGAIN);
            (answer, _) = host.call(tool, arguments)?;
        }
        Ok(transcript.take(format!("{tool} {arguments}"), &answer))
    }

    fn serena(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        let symbol = &question.symbol;
        let named = json!({"name_path": name_path(symbol, "/"), "relative_path": symbol.path});
        if matches!(question.kind, Kind::Uses | Kind::Breaks) {
            self.call(transcript, "find_referencing_symbols", &named)?;
            return Ok(());
        }
        let text = fs::read_to_string(self.project.join(&question.at.path))?;
        let line = text.lines().nth(question.at.line as usize).unwrap_or_default();
        let at = line.char_indices().nth(question.at.character as usize).map_or(0, |(at, _)| at);
        let behind = line.get(at + symbol.name.len()..).unwrap_or_default();
        let regex = format!("{}({}){}", regex::escape(&line[..at]), symbol.name, regex::escape(behind));
        let place = json!({"relative_path": question.at.path, "regex": regex, "include_info": question.kind == Kind::What});
        self.call(transcript, "find_declaration", &place)?;
        Ok(())
    }

    fn agent_lsp(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        let file = |path: &str| absolute(&self.project, path);
        let at = json!({"file_path": file(&question.at.path), "line": question.at.line + 1, "column": question.at.character + 1});
        if let Some(edit) = &question.edit {
            let ((line, column), (end_line, end_column), new) = range(edit);
            let preview = json!({
                "workspace_root": self.project, "language": if edit.path.ends_with(".py") { "python" } else { "typescript" },
                "file_path": file(&edit.path), "start_line": line, "start_column": column, "end_line": end_line,
                "end_column": end_column, "new_text": new, "scope": "workspace",
            });
            if self.call(transcript, "preview_edit", &preview)? {
                return Ok(());
            }
        }
        let tool = match question.kind {
            Kind::What => "inspect_symbol",
            Kind::Where => "go_to_definition",
            _ => "find_references",
        };
        self.call(transcript, tool, &at)?;
        Ok(())
    }

    fn lodesman(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        let symbol = &question.symbol;
        let address = match question.kind {
            // Variables are addressed by position, all else by declaration.
            Kind::Breaks if symbol.kind == "variable" => {
                format!("{}:{}:{}", symbol.path, symbol.line + 1, symbol.character + 1)
            }
            _ => format!("{}:{}", symbol.path, name_path(symbol, ".")),
        };
        let (tool, arguments) = match question.kind {
            Kind::Uses | Kind::Breaks => ("find_references", json!({"symbol": address})),
            Kind::Where => ("find_symbol", json!({"name": symbol.name})),
            Kind::What => ("get_symbol_body", json!({"symbol": symbol.name})),
        };
        if !self.call(transcript, tool, &arguments)? && question.kind == Kind::What {
            // The name alone was ambiguous; the answer contains the addresses.
            self.call(transcript, tool, &json!({"symbol": address}))?;
        }
        Ok(())
    }

    fn codegraph(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        let name = name_path(&question.symbol, ".");
        let query = match question.kind {
            Kind::Uses => format!("who uses {name} in {}", question.at.path),
            Kind::What => format!("what is {name}"),
            Kind::Where => format!("where is {name} defined"),
            Kind::Breaks => format!("what breaks if I change {name} in {}", question.at.path),
        };
        self.call(transcript, "codegraph_explore", &json!({"query": query}))?;
        Ok(())
    }
}

impl Arm for Peer<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn base(&self) -> u32 {
        u32::from(self.who != Who::Serena)
    }

    fn numbering(&self) -> Numbering {
        if self.who == Who::AgentLsp { Numbering::After } else { Numbering::Before }
    }

    fn open(&mut self, _: &Package, project: &Path) -> Result<()> {
        project.clone_into(&mut self.project);
        let mut command = match self.who {
            Who::Serena => {
                let mut command = self.command("serena", project)?;
                command.args(["start-mcp-server", "--context", "ide", "--agent-interface", "tools"]);
                command.args(["--enable-web-dashboard", "false", "--project"]).arg(project);
                command
            }
            Who::AgentLsp => self.command("agent-lsp", project)?,
            Who::Lodesman => self.command("lodesman-mcp", project)?,
            Who::CodeGraph => {
                run(self.command("codegraph", project)?.arg("init"))?;
                self.command("codegraph", project)?
            }
        };
        if self.who == Who::CodeGraph {
            command.args(["serve", "--mcp"]);
        }
        let mut host = McpHost::start(command, LONGEST)?;
        if self.who == Who::AgentLsp {
            host.call("start_lsp", &json!({"root_dir": project}))?;
        }
        self.host = Some(host);
        Ok(())
    }

    fn ask(&mut self, question: &Question, transcript: &mut Transcript<'_>) -> Result<()> {
        match self.who {
            Who::Serena => self.serena(question, transcript),
            Who::AgentLsp => self.agent_lsp(question, transcript),
            Who::Lodesman => self.lodesman(question, transcript),
            Who::CodeGraph => self.codegraph(question, transcript),
        }
    }

    fn close(&mut self) {
        self.host = None;
    }
}
