//! The trial of one server on its sample: start, hover, definitions, and diagnostics that follow
//! edits on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lsp_tools::answer::ServerStatus;
use lsp_tools::internals::analysis::InstallState;
use lsp_tools::{Folders, Runtime, RuntimeOptions, ServerState, Target, TrustRequest, Verdict};
use serde::Serialize;

use super::samples::{Sample, Wrong};

/// The result of one step.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum Cell {
    /// As expected.
    Right { ms: u64 },
    /// Not tried.
    Skipped { why: String },
    /// Not as expected.
    Wrong { ms: u64, why: String },
}

/// The results of one server.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The server's key.
    pub server: String,
    /// The packages that were installed, with their versions; empty if unknown.
    pub version: String,
    /// The result of `install`.
    pub installed: Cell,
    /// The first answer, including the start: it must come from this server.
    pub initialized: Cell,
    pub hover: Cell,
    pub definition: Cell,
    /// Diagnostics of the right text, then wrong, right, wrong; the slowest time.
    pub diagnostics: Cell,
    /// Resident memory of the server at the end.
    pub memory_mb: Option<u64>,
    /// The time until the server stopped.
    pub stopped_ms: u64,
}

impl Row {
    /// A row in which only the installation was tried.
    pub fn only(server: &str, installed: Cell) -> Self {
        let not = || Cell::Skipped { why: "not installed".into() };
        Self {
            server: server.to_owned(),
            version: String::new(),
            installed,
            initialized: not(),
            hover: not(),
            definition: not(),
            diagnostics: not(),
            memory_mb: None,
            stopped_ms: 0,
        }
    }

    /// All cells with their names.
    pub fn cells(&self) -> [(&'static str, &Cell); 5] {
        [
            ("installed", &self.installed),
            ("initialized", &self.initialized),
            ("hover", &self.hover),
            ("definition", &self.definition),
            ("diagnostics", &self.diagnostics),
        ]
    }

    /// Whether any result differs from the expected one.
    pub fn is_wrong(&self) -> bool {
        self.cells().iter().any(|(_, cell)| matches!(cell, Cell::Wrong { .. }))
    }
}

pub struct Trial<'a> {
    /// The server's key.
    pub server: &'a str,
    /// The sample to try it on.
    pub sample: &'a Sample,
    /// The prefix of installed servers.
    pub data: &'a Path,
    /// Whether to install it; otherwise it must be installed.
    pub install: bool,
    /// The timeout of each request.
    pub timeout: Duration,
    /// The folder for recorded messages.
    pub trace: Option<PathBuf>,
}

fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Trial<'_> {
    /// Writes the sample, starts the server, sends requests, edits, and stops it.
    pub async fn run(&self) -> anyhow::Result<Row> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("project");
        fs::create_dir_all(root.join(".git"))?;
        self.sample.write(&root)?;
        let runtime = self.open(folder.path(), &root).await?;
        let (installed, version) = self.install(&runtime).await;
        if matches!(installed, Cell::Wrong { .. }) {
            return Ok(Row::only(self.server, installed));
        }
        let (initialized, hover) = self.hover(&runtime, &root).await;
        let definition = self.definition(&runtime, &root).await;
        let diagnostics = self.diagnostics(&runtime, &root).await;
        let running = runtime.servers().await.servers;
        let memory = running.iter().find(|row| row.server == self.server).and_then(|row| row.memory_bytes);
        let stopping = Instant::now();
        runtime.shutdown().await;
        Ok(Row {
            server: self.server.to_owned(),
            version,
            installed,
            initialized,
            hover,
            definition,
            diagnostics,
            memory_mb: memory.map(|bytes| bytes >> 20),
            stopped_ms: ms(stopping),
        })
    }

    /// A runtime on a trusted project, in which only this server handles the language.
    async fn open(&self, folder: &Path, root: &Path) -> anyhow::Result<Runtime> {
        let config = folder.join("config");
        fs::create_dir_all(&config)?;
        let prefer = format!("prefer.{:?} = [{:?}]\n", self.sample.language, self.server);
        fs::write(config.join("lsp-tools.toml"), prefer)?;
        let folders = Folders {
            config,
            data: self.data.to_owned(),
            state: folder.join("state"),
            cache: folder.join("cache"),
            home: None,
        };
        let open = || {
            let options = RuntimeOptions {
                workspace: Some(root.to_owned()),
                cwd: root.to_owned(),
                timeout: Some(self.timeout),
                trace: self.trace.clone(),
                ..RuntimeOptions::default()
            };
            Runtime::open_with(options, folders.clone()).map_err(|error| anyhow::anyhow!("{}", error.error))
        };
        let refused = |error: lsp_tools::ToolError| anyhow::anyhow!("{}", error.error);
        let runtime = open()?;
        let shown = runtime.trust(TrustRequest::Show).await.map_err(refused)?;
        runtime.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.map_err(refused)?;
        open()
    }

    /// Installs the server. Also returns its packages with their versions.
    async fn install(&self, runtime: &Runtime) -> (Cell, String) {
        if !self.install {
            return (Cell::Skipped { why: "there".into() }, String::new());
        }
        let started = Instant::now();
        let output = match runtime.install(vec![self.server.to_owned()]).await {
            Ok(output) => output,
            Err(error) => return (Cell::Wrong { ms: ms(started), why: error.error }, String::new()),
        };
        let item = output.items.first();
        let installed = match item {
            Some(item) if item.state == InstallState::AlreadyInstalled => {
                Cell::Skipped { why: "there".into() }
            }
            Some(item) if item.state == InstallState::Installed => Cell::Right { ms: item.took_ms },
            item => Cell::Wrong { ms: ms(started), why: format!("{item:?}") },
        };
        (installed, item.map(|item| item.packages.join(", ")).unwrap_or_default())
    }

    fn target(&self, root: &Path, at: &str) -> anyhow::Result<Target> {
        let (line, name) = at.split_once(':').ok_or_else(|| anyhow::anyhow!("{at} is not LINE:NAME"))?;
        let line0 = line.parse::<u32>()?.saturating_sub(1);
        Ok(Target::NameOnLine { path: root.join(&self.sample.file), line0, name: name.to_owned() })
    }

    /// The reason why the answer did not come from this server, if so.
    fn no_answer(&self, status: &ServerStatus, verdict: Verdict) -> Option<String> {
        let answers = matches!(status.state, ServerState::Ready | ServerState::Indexing);
        let right = status.server == self.server && answers && verdict == Verdict::Complete;
        let detail = status.detail.as_deref().unwrap_or_default();
        (!right).then(|| format!("{} {:?} {verdict:?} {detail}", status.server, status.state))
    }

    /// Tries the start of the server and its hover.
    async fn hover(&self, runtime: &Runtime, root: &Path) -> (Cell, Cell) {
        let started = Instant::now();
        let at = self.sample.hover.as_ref().map_or("1:", |hover| hover.at.as_str());
        let target = match self.target(root, at) {
            Ok(target) if self.sample.hover.is_some() => target,
            Ok(_) => Target::File(root.join(&self.sample.file)),
            Err(error) => {
                return (Cell::Wrong { ms: 0, why: error.to_string() }, Cell::Skipped { why: String::new() });
            }
        };
        let skipped = self.sample.without.hover.clone().or(self.sample.hover.is_none().then(String::new));
        if let Some(why) = skipped {
            let checked = runtime.diagnose(vec![root.join(&self.sample.file)], None, 100).await;
            let took = ms(started);
            let running = runtime.servers().await.servers;
            let runs = running.iter().any(|row| row.server == self.server && row.pid.is_some());
            let initialized = match checked {
                Ok(_) if runs => Cell::Right { ms: took },
                Ok(answer) => Cell::Wrong { ms: took, why: format!("{:?}", answer.server_status) },
                Err(error) => Cell::Wrong { ms: took, why: error.error },
            };
            return (initialized, Cell::Skipped { why });
        }
        let answer = match runtime.hover(target.clone()).await {
            Ok(answer) => answer,
            Err(error) => {
                let wrong = Cell::Wrong { ms: ms(started), why: error.error };
                return (wrong, Cell::Skipped { why: "no session".into() });
            }
        };
        let took = ms(started);
        let initialized = match alive(&answer.server_status) {
            true => Cell::Right { ms: took },
            false => Cell::Wrong { ms: took, why: format!("{:?}", answer.server_status) },
        };
        let says = self.sample.hover.as_ref().map_or("", |hover| hover.says.as_str());
        let hover = if let Some(why) = self.no_answer(&answer.server_status, answer.verdict) {
            Cell::Wrong { ms: took, why }
        } else if answer.output.contents.contains(says) {
            let again = Instant::now();
            let second = runtime.hover(target).await;
            match second {
                Ok(second) if second.output.contents == answer.output.contents => {
                    Cell::Right { ms: ms(again) }
                }
                Ok(second) => {
                    let why =
                        format!("first {:?}, then {:?}", answer.output.contents, second.output.contents);
                    Cell::Wrong { ms: ms(again), why }
                }
                Err(error) => Cell::Wrong { ms: ms(again), why: error.error },
            }
        } else {
            Cell::Wrong { ms: took, why: format!("says {:?}", answer.output.contents) }
        };
        (initialized, hover)
    }

    async fn definition(&self, runtime: &Runtime, root: &Path) -> Cell {
        if let Some(why) = &self.sample.without.definition {
            return Cell::Skipped { why: why.clone() };
        }
        let Some(wanted) = &self.sample.definition else { return Cell::Skipped { why: String::new() } };
        let target = match self.target(root, &wanted.at) {
            Ok(target) => target,
            Err(error) => return Cell::Wrong { ms: 0, why: error.to_string() },
        };
        let started = Instant::now();
        let answer = match runtime.definition(target).await {
            Ok(answer) => answer,
            Err(error) => return Cell::Wrong { ms: ms(started), why: error.error },
        };
        let took = ms(started);
        if let Some(why) = self.no_answer(&answer.server_status, answer.verdict) {
            return Cell::Wrong { ms: took, why };
        }
        let places: Vec<String> = answer
            .output
            .locations
            .iter()
            .map(|place| format!("{}:{}", place.path, place.range.start.line + 1))
            .collect();
        match places.contains(&wanted.leads) {
            true => Cell::Right { ms: took },
            false => Cell::Wrong { ms: took, why: format!("leads to {places:?}") },
        }
    }

    async fn diagnostics(&self, runtime: &Runtime, root: &Path) -> Cell {
        if let Some(why) = &self.sample.without.diagnostics {
            return Cell::Skipped { why: why.clone() };
        }
        let Some(wrong) = &self.sample.wrong else { return Cell::Skipped { why: String::new() } };
        match self.follow(runtime, root, wrong).await {
            Ok((ms, None)) => Cell::Right { ms },
            Ok((ms, Some(why))) => Cell::Wrong { ms, why },
            Err(error) => Cell::Wrong { ms: 0, why: error.to_string() },
        }
    }

    /// Edits the file to right, wrong, right, wrong. Returns the slowest time and the deviations
    /// from the expected diagnostics.
    async fn follow(
        &self,
        runtime: &Runtime,
        root: &Path,
        wrong: &Wrong,
    ) -> anyhow::Result<(u64, Option<String>)> {
        let (right_text, wrong_text) = self.sample.texts(wrong)?;
        let path = root.join(&self.sample.file);
        let mut slowest = 0;
        let mut troubles = Vec::new();
        for (step, is_wrong) in
            [("right", false), ("then wrong", true), ("right again", false), ("wrong again", true)]
        {
            fs::write(&path, if is_wrong { &wrong_text } else { &right_text })?;
            let started = Instant::now();
            let answer = match runtime.diagnose(vec![path.clone()], None, 100).await {
                Ok(answer) => answer,
                Err(error) => return Ok((ms(started), Some(format!("{step}: {}", error.error)))),
            };
            let took = ms(started);
            slowest = slowest.max(took);
            let said: Vec<String> = answer
                .output
                .diagnostics
                .iter()
                .map(|item| format!("{} [{}]", item.message, item.code.as_deref().unwrap_or_default()))
                .collect();
            let hit = said.iter().any(|said| said.to_lowercase().contains(&wrong.says.to_lowercase()));
            if let Some(why) = self.no_answer(&answer.server_status, answer.verdict) {
                troubles.push(format!("{step} ({took} ms): {why} {said:?}"));
            } else if hit != is_wrong {
                troubles.push(format!("{step} ({took} ms): says {said:?}"));
            }
        }
        Ok((slowest, (!troubles.is_empty()).then(|| troubles.join("; "))))
    }
}

/// Whether the status belongs to a running server.
fn alive(status: &ServerStatus) -> bool {
    matches!(status.state, ServerState::Ready | ServerState::Indexing | ServerState::Unsupported)
}
