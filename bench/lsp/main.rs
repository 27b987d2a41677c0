//! The latency budgets for language servers, each compared with a raw client of the same server in
//! the same run. The clients alternate, so that drift of the machine cancels out: `cargo bench
//! --bench lsp -- [--quick] [BENCH…]`.
//!
//! Prints a table and writes `target/bench/lsp.json`. Servers are taken from `LSP_TOOLS_DATA_DIR`,
//! else from the build folder into which the tests install them. A missing server is reported and
//! left out.

mod big;
mod cold;
mod doors;
mod fresh;
mod memory;
#[path = "../support/raw_client.rs"]
mod raw_client;
#[path = "../servers/samples.rs"]
#[allow(dead_code, reason = "the matrix of servers uses the rest")]
mod samples;
mod sink;
mod stage;
mod stats;
mod table;
mod warm;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use lsp_tools::Folders;

use stage::Stage;
use table::Row;

const BENCHES: [&str; 7] = ["warm", "callers", "doors", "fresh", "cold", "big", "memory"];

/// Measures the budgets that concern language servers.
#[derive(Debug, Parser)]
struct Options {
    /// Only these benches; all if empty.
    #[arg(value_parser = BENCHES)]
    benches: Vec<String>,
    /// Only these servers.
    #[arg(long, value_delimiter = ',')]
    servers: Vec<String>,
    /// Run a tenth of the rounds.
    #[arg(long)]
    quick: bool,
    /// Given by Cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

/// The number of repetitions of each measurement.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// The time after which a loop over warm answers ends, even if rounds remain.
    longest: Duration,
    warm_up: usize,
    warm_rounds: usize,
    caller_rounds: usize,
    calls_each: usize,
    edits: usize,
    cold_rounds: usize,
    big_rounds: usize,
}

impl Plan {
    const FULL: Self = Self {
        longest: Duration::from_secs(20),
        warm_up: 50,
        warm_rounds: 1_000,
        caller_rounds: 7,
        calls_each: 20,
        edits: 40,
        cold_rounds: 7,
        big_rounds: 7,
    };
    const QUICK: Self = Self {
        longest: Duration::from_secs(5),
        warm_up: 10,
        warm_rounds: 200,
        caller_rounds: 3,
        calls_each: 5,
        edits: 8,
        cold_rounds: 2,
        big_rounds: 2,
    };
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == sink::ARGUMENT => return sink::serve(),
        Some(first) if first == memory::ARGUMENT => {
            let data = PathBuf::from(arguments.next().unwrap_or_default());
            return runtime()?.block_on(memory::measured(&data));
        }
        _ => {}
    }
    runtime()?.block_on(measure(&Options::parse()))
}

/// A runtime like the command line's.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

async fn measure(options: &Options) -> anyhow::Result<()> {
    let plan = if options.quick { Plan::QUICK } else { Plan::FULL };
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
    let data = match std::env::var_os("LSP_TOOLS_DATA_DIR") {
        Some(_) => Folders::find()?.data,
        None => target.join("test-servers"),
    };
    let wanted = |bench: &str| options.benches.is_empty() || options.benches.iter().any(|name| name == bench);
    let mut rows = Vec::new();
    table::print_head();
    for (server, findings) in stage::SERVERS {
        if !options.servers.is_empty() && !options.servers.iter().any(|name| name == server) {
            continue;
        }
        let Some(stage) = Stage::set(server, &data)? else {
            println!("{server} is not installed in {}: left out", data.display());
            continue;
        };
        if wanted("warm") {
            keep(&mut rows, "warm", server, warm::warm(&stage, &plan).await);
        }
        if wanted("callers") {
            keep(&mut rows, "callers", server, warm::callers(&stage, &plan).await);
        }
        if wanted("doors") {
            keep(&mut rows, "doors", server, doors::run(&stage, &plan));
        }
        if wanted("fresh") {
            keep(&mut rows, "fresh", server, fresh::run(&stage, findings, &plan).await);
        }
        if wanted("cold") {
            // The files are in their original state again.
            let stage = Stage::set(server, &data)?.unwrap_or(stage);
            keep(&mut rows, "cold", server, cold::run(&stage, &plan));
        }
    }
    if wanted("cold") {
        keep(&mut rows, "cold", "supervisor", cold::supervisor(&plan));
    }
    if wanted("big") {
        keep(&mut rows, "big", "50 MB file", big::run(&plan).await);
    }
    if wanted("memory") {
        keep(&mut rows, "memory", "three servers", memory::run(&data));
    }
    table::write(&target.join("bench/lsp.json"), &rows)?;
    let missed = rows.iter().filter(|row| row.met == Some(false)).count();
    println!("{} budgets, {missed} not met", rows.iter().filter(|row| row.met.is_some()).count());
    Ok(())
}

/// Prints and stores the rows of one bench. A failure becomes a row that is not met.
fn keep(rows: &mut Vec<Row>, bench: &'static str, subject: &str, measured: anyhow::Result<Vec<Row>>) {
    let measured = measured.unwrap_or_else(|error| {
        vec![Row {
            bench,
            subject: subject.to_owned(),
            what: format!("failed: {error}"),
            ours: 0.0,
            raw: None,
            unit: "",
            judged: String::new(),
            budget: "an answer".to_owned(),
            met: Some(false),
        }]
    });
    for row in measured {
        table::print(&row);
        rows.push(row);
    }
}
