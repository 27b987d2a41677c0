//! What the runtime itself holds in memory with three servers open.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, anyhow};
use lsp_tools::Runtime;

use super::stage::Stage;
use super::table::Row;

/// The argument that makes this program the one that is measured.
pub const ARGUMENT: &str = "__memory";
const SERVERS: [&str; 3] = ["pyright", "typescript-language-server", "clangd"];
/// Of the runtime's own process.
const LIMIT_MB: f64 = 25.0;

/// Measures in a process of its own.
pub fn run(data: &Path) -> anyhow::Result<Vec<Row>> {
    let output = Command::new(std::env::current_exe()?).arg(ARGUMENT).arg(data).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let figures: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [own, supervisors, open] = figures[..] else {
        return Err(anyhow!(
            "the measured process says {said:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    };
    let row = |what: String, ours: f64, met: Option<bool>| Row {
        bench: "memory",
        subject: format!("{open:.0} servers open"),
        what,
        ours,
        raw: None,
        unit: "MB",
        judged: String::new(),
        budget: met.map_or_else(String::new, |_| format!("≤ {LIMIT_MB} MB")),
        met,
    };
    Ok(vec![
        row("the runtime's process, RSS".to_owned(), own, Some(own <= LIMIT_MB)),
        row("its supervisors together, RSS".to_owned(), supervisors, None),
    ])
}

/// The measured process: opens the servers, asks each, and prints its own size and that of its children, in MB.
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
    let own = rss_mb("self")?;
    let mut supervisors = 0.0;
    for task in fs::read_dir("/proc/self/task")? {
        let children = fs::read_to_string(task?.path().join("children"))?;
        for child in children.split_whitespace() {
            supervisors += rss_mb(child)?;
        }
    }
    println!("{own:.2} {supervisors:.2} {}", open.len());
    for (_, runtime) in open {
        runtime.shutdown().await;
    }
    Ok(())
}

fn rss_mb(process: &str) -> anyhow::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
    let kb: f64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
    Ok(kb / 1024.0)
}
