//! A trial of every server in the catalogue that installs from PyPI, npm or crates, on a small
//! sample: `just servers`.
//!
//! Prints a line per server while it runs and a table at the end, and writes
//! `target/bench/servers.json`. The exit status is 1 if a server did not do what its sample
//! expects.

mod record;
mod samples;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use lsp_tools::Folders;
use lsp_tools::internals::config::Catalogue;

use samples::Samples;
use trial::{Cell, Row, Trial};

/// Tries the servers of the catalogue.
#[derive(Debug, Parser)]
struct Options {
    /// Only these servers.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Skip servers that are not installed.
    #[arg(long)]
    installed: bool,
    /// Seconds for each request.
    #[arg(long, default_value_t = 30)]
    timeout: u64,
    /// A folder for recordings of each server's messages.
    #[arg(long)]
    trace: Option<PathBuf>,
    /// The date (YYYY-MM-DD) under which to record the results in `bench/results/servers.toml`.
    #[arg(long)]
    record: Option<String>,
    /// Given by Cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let samples = Samples::read()?;
    // Servers are installed in a build folder unless the environment names another.
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
    let data = match std::env::var_os("LSP_TOOLS_DATA_DIR") {
        Some(_) => Folders::find()?.data,
        None => target.join("test-servers"),
    };
    let mut rows = Vec::new();
    for key in chosen(&options) {
        if options.installed && !data.join("servers").join(key).exists() {
            continue;
        }
        let Some(sample) = samples.of(key) else {
            println!("{key}: has no sample");
            continue;
        };
        let trace = options.trace.as_ref().map(|folder| folder.join(format!("{key}.jsonl")));
        let timeout = Duration::from_secs(options.timeout);
        let trial =
            Trial { server: key, sample: &sample, data: &data, install: !options.installed, timeout, trace };
        let row = match trial.run().await {
            Ok(row) => row,
            Err(error) => Row::only(key, Cell::Wrong { ms: 0, why: error.to_string() }),
        };
        print_row(&row);
        rows.push(row);
    }
    write(&target.join("bench"), &rows)?;
    if let Some(date) = &options.record {
        record::record(&rows, date)?;
    }
    print_end(&rows);
    std::process::exit(i32::from(rows.iter().any(Row::is_wrong)));
}

/// The selected servers, or all that install from PyPI, npm or crates.
fn chosen(options: &Options) -> Vec<&'static str> {
    let all = Catalogue::built_in().servers.iter();
    all.filter(|(key, server)| match options.only.as_slice() {
        [] => {
            !(server.install.pip.is_empty()
                && server.install.npm.is_empty()
                && server.install.cargo.is_empty())
        }
        only => only.contains(key),
    })
    .map(|(key, _)| key.as_str())
    .collect()
}

fn print_row(row: &Row) {
    let cell = |cell: &Cell| match cell {
        Cell::Right { ms } => format!("{ms} ms"),
        Cell::Skipped { .. } => "–".to_owned(),
        Cell::Wrong { .. } => "WRONG".to_owned(),
    };
    let memory = row.memory_mb.map_or("–".to_owned(), |memory| format!("{memory} MB"));
    print!("{:<26}", row.server);
    for (_, value) in row.cells() {
        print!("{:>11}", cell(value));
    }
    println!("{memory:>9}{:>8} ms", row.stopped_ms);
    for (name, cell) in row.cells() {
        if let Cell::Wrong { why, .. } = cell {
            println!("    {name}: {}", why.chars().take(1_200).collect::<String>());
        }
    }
}

fn print_end(rows: &[Row]) {
    println!(
        "\n{:<26}{:>11}{:>11}{:>11}{:>11}{:>11}{:>9}{:>11}",
        "server", "installed", "first", "hover", "definition", "diagnostics", "memory", "stopped"
    );
    for row in rows {
        print_row(row);
    }
    let wrong = rows.iter().filter(|row| row.is_wrong()).count();
    println!("{} servers, {wrong} with something wrong", rows.len());
}

fn write(folder: &Path, rows: &[Row]) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("servers.json"), serde_json::to_string_pretty(rows)?)?;
    Ok(())
}
