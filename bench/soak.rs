//! Throughput and memory of one daemon with many clients over a long time: `cargo bench --bench
//! soak -- [--calls N] [--program PATH]`.
//!
//! Eight hosts speak MCP to `lsp-tools mcp`, each with eight calls in flight, so that 64 callers
//! share one daemon and one server. First, the throughput of hovers is compared with a raw client
//! of the same server with as many requests in flight. Then 100,000 mixed calls run, during which
//! the memory of the daemon is measured fifty times.
//!
//! Prints a table and writes `target/bench/soak.json`. The server is the tests' pyright.

#[path = "support/raw_client.rs"]
mod raw_client;
#[path = "servers/samples.rs"]
#[allow(dead_code, reason = "the matrix of servers uses the rest")]
mod samples;
#[path = "lsp/stage.rs"]
#[allow(dead_code, reason = "the other benches use the rest")]
mod stage;
#[path = "lsp/stats.rs"]
#[allow(dead_code, reason = "the other benches use the rest")]
mod stats;
#[path = "lsp/table.rs"]
mod table;

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use lsp_tools::Position;
use serde_json::{Value, json};

use stage::{Raw, Stage};
use stats::Samples;
use table::Row;

const SERVER: &str = "pyright";
const CLIENTS: usize = 8;
const IN_FLIGHT: usize = 8;
/// The minimum share of the raw client's throughput.
const SHARE: f64 = 0.95;
/// The maximum growth of the daemon from warm to the end. It covers the allocator's reserve, not a
/// cost per call.
const GROWTH: f64 = 1.1;
/// The number of memory measurements.
const LOOKS: u64 = 50;
/// The number of hovers per caller between two time measurements.
const HOVERS_EACH: usize = 20;

/// Measures many clients of one daemon over a long time.
#[derive(Debug, Parser)]
struct Options {
    /// The number of calls of all kinds.
    #[arg(long, default_value_t = 100_000)]
    calls: u64,
    /// The number of throughput measurements.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// The program to measure, instead of the one built with this bench.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Given by Cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
    let Some(stage) = Stage::set(SERVER, &target.join("test-servers"))? else {
        anyhow::bail!("{SERVER} is not installed: cargo test real_servers:: installs it");
    };
    let program = match options.program {
        Some(program) => program,
        None => built()?,
    };
    let ground = Ground { stage, program };
    let measured = ground.measure(options.calls, options.rounds);
    let stopped = ground.command()?.args(["daemon", "stop"]).status();
    let rows = measured?;
    stopped?;
    table::print_head();
    rows.iter().for_each(table::print);
    table::write(&target.join("bench/soak.json"), &rows)
}

/// The `lsp-tools` program beside this bench.
fn built() -> anyhow::Result<PathBuf> {
    let running = std::env::current_exe()?;
    let mut folders = running.ancestors().skip(1).take(2).map(|folder| folder.join("lsp-tools"));
    folders.find(|path| path.is_file()).context("lsp-tools is not built: cargo build --bins")
}

/// The measured server and program.
struct Ground {
    stage: Stage,
    program: PathBuf,
}

impl Ground {
    fn command(&self) -> anyhow::Result<Command> {
        let folders = self.stage.folders()?;
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.stage.our_root())
            .env_remove("LSP_TOOLS_NO_DAEMON")
            .env("LSP_TOOLS_CONFIG_DIR", &folders.config)
            .env("LSP_TOOLS_DATA_DIR", &folders.data)
            .env("LSP_TOOLS_STATE_DIR", &folders.state)
            .env("LSP_TOOLS_CACHE_DIR", &folders.cache)
            .stderr(Stdio::null());
        Ok(command)
    }

    fn measure(&self, calls: u64, rounds: usize) -> anyhow::Result<Vec<Row>> {
        let mut hosts: Vec<Host> = (0..CLIENTS).map(|_| Host::start(self)).collect::<anyhow::Result<_>>()?;
        let hover = [self.hover()];
        // The first call waits for the server.
        hosts[0].make(&hover, 1, 1, &AtomicU64::new(0))?;
        let daemon = self.daemon()?;
        let mut rows = self.throughput(&mut hosts, rounds)?;
        rows.extend(self.soak(&mut hosts, calls, daemon)?);
        Ok(rows)
    }

    /// The throughput of hovers, alternating with the raw client.
    fn throughput(&self, hosts: &mut [Host], rounds: usize) -> anyhow::Result<Vec<Row>> {
        let mut raw = self.stage.raw()?;
        let (mut ours, mut theirs) = (Samples::default(), Samples::default());
        let hover = [self.hover()];
        let all = CLIENTS * IN_FLIGHT * HOVERS_EACH;
        for _ in 0..rounds {
            theirs.push(pipelined(&mut raw, &self.stage, all)?);
            let begun = Instant::now();
            each(hosts, |host| host.make(&hover, IN_FLIGHT * HOVERS_EACH, IN_FLIGHT, &AtomicU64::new(0)))?;
            ours.push(begun.elapsed());
        }
        let per_second = |samples: &Samples| all as f64 / samples.median().as_secs_f64();
        let share = per_second(&ours) / per_second(&theirs);
        Ok(vec![Row {
            bench: "soak",
            subject: SERVER.to_owned(),
            what: format!("{CLIENTS} hosts, {} callers, hovers", CLIENTS * IN_FLIGHT),
            ours: per_second(&ours),
            raw: Some(per_second(&theirs)),
            unit: "/s",
            judged: format!("× {share:.3}"),
            budget: format!("≥ × {SHARE}"),
            met: Some(share >= SHARE),
        }])
    }

    /// Makes all kinds of calls and measures the daemon's memory meanwhile.
    fn soak(&self, hosts: &mut [Host], calls: u64, daemon: u32) -> anyhow::Result<Vec<Row>> {
        let mixture = self.mixture();
        let done = AtomicU64::new(0);
        let each_makes = usize::try_from(calls)? / CLIENTS;
        let begun = Instant::now();
        let memory = std::thread::scope(|scope| {
            let watching = scope.spawn(|| watch(daemon, &done, each_makes as u64 * CLIENTS as u64));
            let made = each(hosts, |host| host.make(&mixture, each_makes, IN_FLIGHT, &done));
            // Ends the watching thread, since no more calls are made.
            done.store(u64::MAX / 2, Ordering::Relaxed);
            let memory = watching.join().map_err(|_| anyhow::anyhow!("the memory watcher panicked"))?;
            made.and(memory)
        })?;
        let took = begun.elapsed();
        for (number, mb) in memory.iter().enumerate() {
            println!("after {:>3} %: {mb:.1} MB", (number as u64 + 1) * 100 / LOOKS);
        }
        // The first fifth is the warm-up.
        let part = |from: usize, to: usize| {
            let mut part: Vec<f64> = memory[memory.len() * from / 10..memory.len() * to / 10].to_vec();
            part.sort_by(f64::total_cmp);
            part.get(part.len() / 2).copied().unwrap_or_default()
        };
        let (warm, end) = (part(2, 4), part(8, 10));
        let row = |what: &str, ours: f64, unit, judged: String, budget: String, met| Row {
            bench: "soak",
            subject: format!("{calls} calls of {} kinds", mixture.len()),
            what: what.to_owned(),
            ours,
            raw: None,
            unit,
            judged,
            budget,
            met,
        };
        Ok(vec![
            row(
                "calls per second",
                calls as f64 / took.as_secs_f64(),
                "/s",
                String::new(),
                String::new(),
                None,
            ),
            row("memory of the daemon when warm, RSS", warm, "MB", String::new(), String::new(), None),
            row(
                "memory of the daemon at the end, RSS",
                end,
                "MB",
                format!("× {:.3}", end / warm),
                format!("≤ × {GROWTH}"),
                Some(end <= warm * GROWTH),
            ),
        ])
    }

    fn hover(&self) -> Call {
        let Position { line, character } = self.stage.position;
        let place = json!({"path": self.stage.sample.file, "line": line, "character": character});
        let says = self.stage.sample.hover.as_ref().map_or("", |hover| hover.says.as_str());
        Call::new("lsp_hover", place, says)
    }

    /// The mix of calls of an agent, with frequent ones repeated. Every answer is checked.
    fn mixture(&self) -> Vec<Call> {
        let Position { line, character } = self.stage.position;
        let file = &self.stage.sample.file;
        let place = json!({"path": file, "line": line, "character": character});
        let todo = json!({"todos": [{"id": "1", "content": "soak", "status": "pending", "priority": "low"}]});
        vec![
            self.hover(),
            Call::new("read", json!({"path": file}), "\"ok\":true"),
            Call::new("lsp_definition", place.clone(), "\"ok\":true"),
            self.hover(),
            Call::new("lsp_symbols", json!({"path": file}), "\"ok\":true"),
            Call::new("grep", json!({"pattern": "def "}), "\"ok\":true"),
            self.hover(),
            Call::new("lsp_references", place, "\"ok\":true"),
            Call::new("list", json!({}), "\"ok\":true"),
            Call::new("lsp_diagnostics", json!({"path": file}), "\"ok\":true"),
            Call::new("todowrite", todo, "\"ok\":true"),
            Call::new("read", json!({"path": "not-there.py"}), "not_found"),
        ]
    }

    /// The daemon's process id.
    fn daemon(&self) -> anyhow::Result<u32> {
        let output = self.command()?.args(["daemon", "status", "--format", "json"]).output()?;
        let status: Value = serde_json::from_slice(&output.stdout)?;
        Ok(u32::try_from(status["pid"].as_u64().context("no daemon runs")?)?)
    }
}

/// Runs `work` for all hosts in parallel.
fn each(hosts: &mut [Host], work: impl Fn(&mut Host) -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let all: Vec<_> = hosts.iter_mut().map(|host| scope.spawn(|| work(host))).collect();
        let ended =
            all.into_iter().map(|one| one.join().unwrap_or_else(|_| anyhow::bail!("a host panicked")));
        ended.collect()
    })
}

/// The memory of `daemon` after each part of `all` calls, in MB.
fn watch(daemon: u32, done: &AtomicU64, all: u64) -> anyhow::Result<Vec<f64>> {
    let mut seen = Vec::new();
    while (seen.len() as u64) < LOOKS {
        if done.load(Ordering::Relaxed) >= all * (seen.len() as u64 + 1) / LOOKS {
            seen.push(rss_mb(daemon)?);
        } else {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(seen)
}

fn rss_mb(process: u32) -> anyhow::Result<f64> {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
    let kb: f64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
    Ok(kb / 1024.0)
}

/// The raw client with as many requests in flight as all hosts together.
fn pipelined(raw: &mut Raw, stage: &Stage, all: usize) -> anyhow::Result<Duration> {
    let Position { line, character } = stage.position;
    let params =
        json!({"textDocument": {"uri": raw.uri}, "position": {"line": line, "character": character}});
    let begun = Instant::now();
    let mut flying = VecDeque::new();
    for call in 0..all {
        if call >= CLIENTS * IN_FLIGHT
            && let Some(id) = flying.pop_front()
        {
            raw.client.wait(id)?;
        }
        flying.push_back(raw.client.send("textDocument/hover", &params)?);
    }
    for id in flying {
        raw.client.wait(id)?;
    }
    Ok(begun.elapsed())
}

/// A call and a part of its expected answer.
struct Call {
    params: String,
    says: String,
}

impl Call {
    fn new(name: &str, arguments: Value, says: &str) -> Self {
        Self { params: json!({"name": name, "arguments": arguments}).to_string(), says: says.to_owned() }
    }
}

/// A host of `lsp-tools mcp`.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Host {
    fn start(ground: &Ground) -> anyhow::Result<Self> {
        let mut command = ground.command()?;
        let mut child = command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut host = Self { child, input, output, next: 1 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"},
        });
        host.write(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n"
        ))?;
        host.read(&mut String::new())?;
        host.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(host)
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("closed")?;
        Ok(input.write_all(text.as_bytes())?)
    }

    /// Reads the next answer into `line` and returns its id.
    fn read(&mut self, line: &mut String) -> anyhow::Result<u64> {
        #[derive(serde::Deserialize)]
        struct Head {
            id: Option<u64>,
        }
        loop {
            line.clear();
            anyhow::ensure!(self.output.read_line(line)? > 0, "the server closed its output");
            // Notifications have no id.
            if let Head { id: Some(id) } = serde_json::from_str(line)? {
                return Ok(id);
            }
        }
    }

    /// Makes `all` calls in turn with `in_flight` at a time, and checks every answer.
    fn make(&mut self, calls: &[Call], all: usize, in_flight: usize, done: &AtomicU64) -> anyhow::Result<()> {
        let first = self.next;
        let end = first + all as u64;
        let mut line = String::new();
        let mut answered = 0;
        while answered < all {
            if self.next < end && self.next - first < (answered + in_flight) as u64 {
                let id = self.next;
                let params = &calls[(id % calls.len() as u64) as usize].params;
                let request = format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n"
                );
                self.write(&request)?;
                self.next += 1;
                continue;
            }
            let id = self.read(&mut line)?;
            let says = &calls[(id % calls.len() as u64) as usize].says;
            anyhow::ensure!(line.contains(says.as_str()), "call {id} answered {line}");
            answered += 1;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.input = None;
        // The child ends with its input.
        let _status = self.child.wait();
    }
}
