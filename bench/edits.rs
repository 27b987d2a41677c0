//! The time of `write`, `edit` and `patch`: bare, with diagnostics, and as a dry run. The baseline
//! is a write of the same bytes with one `fsync` in the same run.
//!
//! `cargo bench --bench edits -- [--rounds=N] [--real] [--httpx=DIR] [--toolkit=DIR]
//! [--pflag=DIR]`. The project is a copy of `fixtures/python` with the tests' pyright
//! (`LSP_TOOLS_BENCH_DATA` names another prefix). Prints medians and writes
//! `target/bench/edits.json`. With `--real` or a folder, real projects are edited instead; see
//! `support/real_edits.rs`.

#[path = "support/archives.rs"]
mod archives;
#[path = "support/raw_client.rs"]
mod raw_client;
#[path = "support/real_edits.rs"]
mod real_edits;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lsp_tools::{CallRequest, Caller, Folders, Runtime, RuntimeOptions};
use real_edits::PROJECTS;
use serde_json::{Value, json};

const FILE: &str = "greet/messages.py";
const OLD: &str = "sentence = f\"{HELLO[person.language]}, {person.title()}!\"";
const NEW: &str = "sentence = f\"{HELLO[person.language]}, {person.titel()}!\"";

#[tokio::main]
async fn main() -> Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir()?;
    if PROJECTS.iter().any(|project| given(project.name).is_some())
        || std::env::args().any(|word| word == "--real")
    {
        return measure_real(package, folder.path()).await;
    }
    let rounds: usize = given("rounds").map_or(Ok(30), |rounds| rounds.parse())?;
    let project = folder.path().join("project");
    copy(&package.join("fixtures/python"), &project)?;
    let runtime = open(folder.path(), &project)?;
    let rows = measure(&runtime, &project, rounds).await;
    runtime.shutdown().await;
    report(package, &rows?)
}

/// The value of the option `--NAME=VALUE`.
fn given(name: &str) -> Option<String> {
    std::env::args()
        .find_map(|word| Some(word.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

/// The prefix of installed servers.
fn prefix() -> PathBuf {
    let installed = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-servers");
    std::env::var_os("LSP_TOOLS_BENCH_DATA").map_or_else(installed, PathBuf::from)
}

/// The program of a server: the installed one, else the one on PATH.
fn server_program(name: &str) -> Option<String> {
    let servers = fs::read_dir(prefix().join("servers")).into_iter().flatten().flatten();
    let installed = servers.flat_map(|server| {
        ["venv/bin", "npm/node_modules/.bin"]
            .map(|folder| server.path().join("current").join(folder).join(name))
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = installed.chain(std::env::split_paths(&path).map(|folder| folder.join(name)));
    found.filter(|program| program.is_file()).map(|program| program.to_string_lossy().into_owned()).next()
}

/// A runtime on `project`, with its own user folders in `folder`.
fn open(folder: &Path, project: &Path) -> Result<Runtime> {
    let config = folder.join("config");
    fs::create_dir_all(&config)?;
    fs::write(config.join("lsp-tools.toml"), "prefer.python = [\"pyright\"]\n")?;
    let at = |name: &str| folder.join(name);
    let folders = Folders { config, data: prefix(), state: at("state"), cache: at("cache"), home: None };
    let options = RuntimeOptions {
        workspace: Some(project.to_owned()),
        cwd: project.to_owned(),
        supervisor: Some(env!("CARGO_BIN_EXE_lsp-tools").into()),
        ..RuntimeOptions::default()
    };
    Ok(Runtime::open_with(options, folders)?)
}

async fn measure_real(package: &Path, folder: &Path) -> Result<()> {
    let rounds: usize = given("rounds").map_or(Ok(5), |rounds| rounds.parse())?;
    let named = PROJECTS.iter().any(|project| given(project.name).is_some());
    let mut rows = Vec::new();
    for project in PROJECTS.iter().filter(|project| !named || given(project.name).is_some()) {
        if server_program(
            &lsp_tools::internals::config::Catalogue::built_in().servers[project.server].command[0],
        )
        .is_none()
        {
            println!("{:<10} left out: {} is not installed", project.name, project.server);
            continue;
        }
        let kept = package.join("target/bench/packages");
        let Some(root) = project.place(&kept, given(project.name).map(PathBuf::from), folder)? else {
            println!("{:<10} left out: give its folder", project.name);
            continue;
        };
        let runtime = open(folder, &root)?;
        let measured = project.measure(&runtime, &root, rounds).await;
        runtime.shutdown().await;
        let (line, row) = measured?.row();
        println!("{line}");
        rows.push(row);
    }
    write_json(package, "real-edits.json", &Value::from(rows))
}

async fn measure(runtime: &Runtime, project: &Path, rounds: usize) -> Result<Vec<(&'static str, Duration)>> {
    let right = fs::read_to_string(project.join(FILE))?;
    let wrong = right.replace(OLD, NEW);
    ensure!(right != wrong, "the fixture has changed");
    let mut rows = vec![("write and fsync alone", raw(project, &right, rounds)?)];
    let texts = [wrong.as_str(), right.as_str()];
    for (name, more) in [("write", json!({"diagnostics": false})), ("write, no server running", json!({}))] {
        let arguments = |turn: usize| with(json!({"path": FILE, "content": texts[turn]}), &more);
        rows.push((name, median(runtime, "write", rounds, arguments).await?));
    }
    // From here on the server runs, and edits with the default diagnostics are compared.
    let started = call(runtime, "lsp_diagnostics", json!({"path": "greet"})).await?;
    ensure!(started["verdict"] == "complete", "pyright does not answer: {started}");
    let edits = [json!([{"old": OLD, "new": NEW}]), json!([{"old": NEW, "new": OLD}])];
    for (name, more) in [
        ("edit without diagnostics", json!({"diagnostics": false})),
        ("edit, default diagnostics", json!({})),
        ("edit with diagnostics", json!({"diagnostics": true})),
    ] {
        let arguments = |turn: usize| with(json!({"path": FILE, "edits": edits[turn].clone()}), &more);
        rows.push((name, median(runtime, "edit", rounds, arguments).await?));
    }
    let trial = |_| json!({"path": FILE, "edits": edits[0].clone(), "dry_run": true});
    rows.push(("edit, dry run", median(runtime, "edit", rounds, trial).await?));
    let patch = |from: &str, to: &str| {
        format!("*** Begin Patch\n*** Update File: {FILE}\n@@\n-    {from}\n+    {to}\n*** End Patch\n")
    };
    let patches = [patch(OLD, NEW), patch(NEW, OLD)];
    for (name, more) in [
        ("patch without diagnostics", json!({"diagnostics": false})),
        ("patch with diagnostics", json!({"diagnostics": true})),
    ] {
        let arguments = |turn: usize| with(json!({"patch": patches[turn]}), &more);
        rows.push((name, median(runtime, "patch", rounds, arguments).await?));
    }
    Ok(rows)
}

/// The median of `rounds` calls. Every second call undoes the one before.
async fn median(
    runtime: &Runtime,
    name: &str,
    rounds: usize,
    arguments: impl Fn(usize) -> Value,
) -> Result<Duration> {
    let mut times = Vec::with_capacity(rounds);
    for turn in 0..rounds.next_multiple_of(2) {
        let arguments = arguments(turn % 2);
        let started = Instant::now();
        call(runtime, name, arguments).await?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2])
}

async fn call(runtime: &Runtime, name: &str, arguments: Value) -> Result<Value> {
    let caller = Caller::default();
    let result = runtime.call(CallRequest::new(name, arguments, &caller)).await;
    ensure!(result.ok(), "{name}: {}", result.value);
    Ok(result.value)
}

fn with(mut arguments: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    arguments
}

fn raw(project: &Path, text: &str, rounds: usize) -> Result<Duration> {
    let path = project.join("raw.tmp");
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let started = Instant::now();
        let mut file = fs::File::create(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        times.push(started.elapsed());
    }
    fs::remove_file(path)?;
    times.sort();
    Ok(times[times.len() / 2])
}

fn report(package: &Path, rows: &[(&str, Duration)]) -> Result<()> {
    println!("{:<28}{:>10}", "median of", "ms");
    for (name, time) in rows {
        println!("{name:<28}{:>10.2}", time.as_secs_f64() * 1e3);
    }
    let table: Value =
        rows.iter().map(|(name, time)| json!({"what": name, "ms": time.as_secs_f64() * 1e3})).collect();
    write_json(package, "edits.json", &table)
}

fn write_json(package: &Path, name: &str, table: &Value) -> Result<()> {
    let folder = package.join("target/bench");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), serde_json::to_vec_pretty(table)?)
        .with_context(|| format!("target/bench/{name}"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
