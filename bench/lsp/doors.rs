//! A warm hover through the front ends, and the start of MCP, compared with a raw client of the
//! same server. MCP on standard streams and the whole command both use the daemon. The two clients
//! alternate.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use lsp_tools::Position;
use serde_json::{Value, json};

use super::Plan;
use super::cold::binary;
use super::memory::{self, Memory};
use super::stage::Stage;
use super::stats::{Samples, ms, us};
use super::table::Row;

/// The maximum time that MCP and the daemon add together: at the median and at the 99th percentile.
const MCP_ADDED: Duration = Duration::from_micros(350);
const MCP_LATE: Duration = Duration::from_millis(1);
/// The maximum time that a whole process adds at the median.
const PROCESS_ADDED: Duration = Duration::from_millis(8);
/// The maximum time from the start of the process to the answer of `initialize`.
const START: Duration = Duration::from_millis(10);

/// Measures MCP, the command and the start.
pub fn run(stage: &Stage, plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let measured = measure(stage, plan);
    let stopped = command(stage)?.args(["daemon", "stop"]).status();
    let rows = measured?;
    stopped?;
    Ok(rows)
}

fn measure(stage: &Stage, plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let mut raw = stage.raw()?;
    let mut host = Host::start(stage)?;
    let (mut mcp, mut process, mut theirs, mut beside) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let begun = Instant::now();
    for round in 0..plan.warm_rounds + plan.warm_up {
        if begun.elapsed() > plan.longest && mcp.len() > 20 {
            break;
        }
        let started = Instant::now();
        raw.ask("textDocument/hover", stage.position)?;
        let took_raw = started.elapsed();
        let started = Instant::now();
        host.hover(stage)?;
        if round >= plan.warm_up {
            theirs.push(took_raw);
            mcp.push(started.elapsed());
        }
    }
    for round in 0..plan.warm_rounds / 10 + 2 {
        let started = Instant::now();
        raw.ask("textDocument/hover", stage.position)?;
        let took_raw = started.elapsed();
        let started = Instant::now();
        hover_by_command(stage)?;
        // The first rounds warm the disk cache.
        if round >= 2 {
            beside.push(took_raw);
            process.push(started.elapsed());
        }
    }
    let memory = memory_rows(stage, &host)?;
    drop(host);
    let mut starts = Samples::default();
    for _ in 0..plan.warm_rounds / 10 {
        starts.push(Host::start(stage)?.answered);
    }
    let mut rows = rows(stage, &mcp, &theirs, &process, &beside, &starts);
    rows.extend(memory);
    Ok(rows)
}

/// The memory of the daemon and of the MCP front end after all requests.
fn memory_rows(stage: &Stage, host: &Host) -> anyhow::Result<Vec<Row>> {
    let output = command(stage)?.args(["--format", "json", "daemon", "status"]).output()?;
    let status: Value = serde_json::from_slice(&output.stdout)?;
    let daemon = status.get("pid").context("no daemon runs")?;
    let (daemon, door) = (Memory::of(&daemon.to_string())?, Memory::of(&host.child.id().to_string())?);
    Ok(vec![
        memory::row(&stage.server, "the daemon with one server", daemon, memory::RUNTIME_LIMIT_MB),
        memory::row(&stage.server, "the MCP front end", door, memory::DOOR_LIMIT_MB),
    ])
}

fn rows(
    stage: &Stage,
    mcp: &Samples,
    theirs: &Samples,
    process: &Samples,
    beside: &Samples,
    starts: &Samples,
) -> Vec<Row> {
    let row = |what: String, ours: f64, raw: Option<f64>, unit: &'static str, most: f64| Row {
        bench: "doors",
        subject: stage.server.clone(),
        what,
        ours,
        raw,
        unit,
        judged: raw.map_or_else(String::new, |raw| format!("{:+.1} {unit}", ours - raw)),
        budget: format!("≤ {}{most} {unit}", if raw.is_some() { "+" } else { "" }),
        met: Some(ours - raw.unwrap_or_default() <= most),
    };
    vec![
        row(
            format!("hover by MCP, median of {}", mcp.len()),
            us(mcp.median()),
            Some(us(theirs.median())),
            "µs",
            us(MCP_ADDED),
        ),
        row(
            "hover by MCP, 99th percentile".to_owned(),
            us(mcp.quantile(0.99)),
            Some(us(theirs.quantile(0.99))),
            "µs",
            us(MCP_LATE),
        ),
        row(
            format!("`lsp-tools hover`, whole, median of {}", process.len()),
            ms(process.median()),
            Some(ms(beside.median())),
            "ms",
            ms(PROCESS_ADDED),
        ),
        row(
            format!("start to initialize, median of {}", starts.len()),
            ms(starts.median()),
            None,
            "ms",
            ms(START),
        ),
    ]
}

/// The command in the library's copy of the sample, with the stage's folders.
fn command(stage: &Stage) -> anyhow::Result<Command> {
    let folders = stage.folders()?;
    let mut command = Command::new(binary()?);
    command
        .current_dir(stage.our_root())
        .env_remove("LSP_TOOLS_NO_DAEMON")
        .env("LSP_TOOLS_CONFIG_DIR", &folders.config)
        .env("LSP_TOOLS_DATA_DIR", &folders.data)
        .env("LSP_TOOLS_STATE_DIR", &folders.state)
        .env("LSP_TOOLS_CACHE_DIR", &folders.cache)
        .stderr(Stdio::null());
    Ok(command)
}

fn hover_by_command(stage: &Stage) -> anyhow::Result<()> {
    let at = format!("{}:{}:{}", stage.sample.file, stage.position.line + 1, stage.position.character + 1);
    let output = command(stage)?.args(["--format", "json", "hover", &at]).output()?;
    says(stage, &String::from_utf8_lossy(&output.stdout))
}

fn says(stage: &Stage, answer: &str) -> anyhow::Result<()> {
    let expected = stage.sample.hover.as_ref().map_or("", |hover| hover.says.as_str());
    anyhow::ensure!(answer.contains(expected), "the hover answers {answer}");
    Ok(())
}

/// A host of `lsp-tools mcp`.
struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The time from the start of the process to the first answer.
    answered: Duration,
    id: u64,
}

impl Host {
    fn start(stage: &Stage) -> anyhow::Result<Self> {
        let started = Instant::now();
        let mut child = command(stage)?.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut host = Self { child, input, output, answered: Duration::ZERO, id: 0 };
        let client = json!({"name": "bench", "version": "1"});
        host.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        host.answered = started.elapsed();
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(host)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("closed")?;
        let mut line = message.to_string();
        line.push('\n');
        input.write_all(line.as_bytes())?;
        Ok(input.flush()?)
    }

    /// Sends a request and returns the line with its answer.
    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<String> {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))?;
        let wanted = format!("\"id\":{}", self.id);
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.output.read_line(&mut line)? > 0, "the server closed its output");
            // Notifications have no id.
            if line.contains(&wanted) {
                return Ok(line);
            }
        }
    }

    fn hover(&mut self, stage: &Stage) -> anyhow::Result<()> {
        let Position { line, character } = stage.position;
        let arguments = json!({"path": stage.sample.file, "line": line, "character": character});
        let answer = self.ask("tools/call", &json!({"name": "lsp_hover", "arguments": arguments}))?;
        says(stage, &answer)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.input = None;
        // The child ends with its input.
        let _status = self.child.wait();
    }
}
