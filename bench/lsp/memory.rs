//! The runtime's own memory with three servers open: its private pages (anonymous or dirty), and
//! its proportional set size (PSS).

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, anyhow};
use lsp_tools::Runtime;

use super::stage::Stage;
use super::table::Row;

/// The argument that turns this program into the measured one.
pub const ARGUMENT: &str = "__memory";
const SERVERS: [&str; 3] = ["pyright", "typescript-language-server", "clangd"];
/// The maximum private memory of the runtime's own process, of the MCP front end, and of one
/// supervisor.
pub const RUNTIME_LIMIT_MB: f64 = 8.0;
pub const DOOR_LIMIT_MB: f64 = 2.5;
pub const SUPERVISOR_LIMIT_MB: f64 = 1.0;

/// Measures in a separate process.
pub fn run(data: &Path) -> anyhow::Result<Vec<Row>> {
    let output = Command::new(std::env::current_exe()?).arg(ARGUMENT).arg(data).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [own, own_share, supervisor, supervisor_share, open] = figures[..] else {
        return Err(anyhow!(
            "the measured process printed {said:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    };
    let subject = format!("{open:.0} servers open");
    let memory = |private, share| Memory { private, share };
    Ok(vec![
        row(&subject, "the runtime's process", memory(own, own_share), RUNTIME_LIMIT_MB),
        row(&subject, "each of its supervisors", memory(supervisor, supervisor_share), SUPERVISOR_LIMIT_MB),
    ])
}

/// A row of the table for the private memory of a process.
pub fn row(subject: &str, what: &str, memory: Memory, limit: f64) -> Row {
    Row {
        bench: "memory",
        subject: subject.to_owned(),
        what: format!("{what}, private (PSS {:.1})", memory.share),
        ours: memory.private,
        raw: None,
        unit: "MB",
        judged: String::new(),
        budget: format!("≤ {limit} MB"),
        met: Some(memory.private <= limit),
    }
}

/// The measured process: opens the servers, sends a request to each, and prints its own size and
/// that of its children, in MB.
pub async fn measured(data: &Path) -> anyhow::Result<()> {
    let mut open: Vec<(Stage, Runtime)> = Vec::new();
    for server in SERVERS {
        if let Some(stage) = Stage::set(server, data)? {
            let runtime = stage.runtime().await?;
            for _ in 0..20 {
                runtime.hover(stage.target()).await.map_err(|error| anyhow!("{}", error.error))?;
            }
            open.push((stage, runtime));
        }
    }
    let own = Memory::of("self")?;
    let (mut private, mut share, mut count) = (0.0, 0.0, 0.0);
    for task in fs::read_dir("/proc/self/task")? {
        let children = fs::read_to_string(task?.path().join("children"))?;
        for child in children.split_whitespace() {
            let memory = Memory::of(child)?;
            private += memory.private;
            share += memory.share;
            count += 1.0;
        }
    }
    anyhow::ensure!(count > 0.0, "no supervisor runs");
    let Memory { private: own, share: own_share } = own;
    println!("{own:.2} {own_share:.2} {:.2} {:.2} {}", private / count, share / count, open.len());
    for (_, runtime) in open {
        runtime.shutdown().await;
    }
    Ok(())
}

/// The memory of a process, in MB.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Private pages that are not backed by a file.
    private: f64,
    /// The proportional set size (PSS).
    share: f64,
}

impl Memory {
    /// Reads the memory of a process, given by its id or `self`.
    pub fn of(process: &str) -> anyhow::Result<Self> {
        let maps = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
        let mb = |name: &str| -> anyhow::Result<f64> {
            let line =
                maps.lines().find(|line| line.starts_with(name)).with_context(|| format!("no {name}"))?;
            let kb: f64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
            Ok(kb / 1024.0)
        };
        Ok(Self { private: mb("Private_Dirty:")?, share: mb("Pss:")? })
    }
}
