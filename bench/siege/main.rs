//! Attacks on the product's guarantees for some minutes: `just siege [MINUTES]`.
//!
//! Folders are exchanged for links that lead out while tools work in them. The daemon, supervisors,
//! servers and commands are killed. MCP and HTTP are flooded. Commands fork and exit endlessly.
//! Control files become pipes and devices. Each attack has its share of the time. Prints the number
//! of attempts and of violations, which must be zero, and writes `target/bench/siege.json`.
//!
//! The tests contain short forms of the attacks, whose code is shared here.

#[path = "../../tests/daemon/chaos.rs"]
#[allow(dead_code, reason = "the test of the daemon uses the rest")]
mod chaos;
mod comets;
mod control;
#[path = "../../tests/bash_tool/endings.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of `bash` use the rest")]
mod endings;
mod floods;
#[path = "../../tests/daemon/house.rs"]
#[allow(dead_code, reason = "the tests of the daemon use the rest")]
mod house;
#[path = "../../tests/mcp_server/http.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of the MCP server use the rest")]
mod http;
mod report;
#[path = "../../tests/bash_tool/scene.rs"]
#[allow(dead_code, reason = "the tests of `bash` use the rest")]
mod scene;
#[path = "../../tests/attacks/special_files.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of attacks use the rest")]
mod special_files;
#[path = "../../tests/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests use the rest")]
mod support;
mod swaps;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use report::Row;

/// Attacks the product's guarantees for some minutes.
#[derive(Debug, Parser)]
struct Options {
    /// The total time, in minutes.
    #[arg(default_value_t = 10.0)]
    minutes: f64,
    /// Only this attack: swaps, kills, floods, comets or control.
    #[arg(long)]
    only: Option<String>,
    /// Given by Cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

/// An attack: its name, its share of the time, and its function.
type Part = (&'static str, f64, fn(Duration) -> Vec<Row>);

const PARTS: [Part; 5] = [
    ("swaps", 0.3, swaps::run),
    ("kills", 0.3, kills),
    ("floods", 0.15, floods::run),
    ("comets", 0.1, comets::run),
    ("control", 0.15, control::run),
];

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let wanted = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    let mut rows = Vec::new();
    for (name, share, run) in PARTS.into_iter().filter(|(name, _, _)| wanted(name)) {
        let share = if options.only.is_some() { 1.0 } else { share };
        let time = Duration::from_secs_f64(options.minutes * 60.0 * share);
        eprintln!("{name}: {} s", time.as_secs());
        let of_part = run(time);
        of_part.iter().for_each(report::print);
        rows.extend(of_part);
    }
    report::write(&rows)?;
    let is_broken = rows.iter().any(Row::is_broken);
    Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Kills processes at random, like the daemon's test.
fn kills(time: Duration) -> Vec<Row> {
    use std::sync::atomic::Ordering::Relaxed;
    let fought = chaos::fight(time.as_secs());
    let [daemons, supervisors, servers, commands] =
        [&fought.daemons_killed, &fought.supervisors_killed, &fought.servers_killed, &fought.commands_killed]
            .map(|count| count.load(Relaxed));
    let tried = format!(
        "{} kills ({daemons} daemons, {supervisors} supervisors, {servers} servers and commands of bash, {commands} clients), {} confirmed writes",
        fought.kills(),
        fought.written.load(Relaxed)
    );
    vec![Row::new("kills", tried, fought.kills(), fought.faults())]
}
