//! The share of the errors caused by an edit that the edit's answer names. `just breaks`
//!
//! Random edits (fixed seed) of real packages from PyPI run as dry runs with diagnostics, through
//! the library and pyright's server. The reference is pyright's command line over the whole package
//! before and after. Errors are compared by file, line and rule. Only edits that break something
//! count as edits; the others count for precision and the verdict.
//!
//! `cargo bench --bench breaks -- [--packages=N] [--edits=N] [--seed=N] [--only=PACKAGE]
//! [--misses]`. Packages are fetched once into `target/bench/breaks`. The product's own installer
//! puts pyright beside the tests' servers (`LSP_TOOLS_BENCH_DATA` names another prefix). Prints a
//! table and writes `target/bench/breaks.json`.

#[path = "../support/archives.rs"]
mod archives;
mod edits;
mod packages;
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lsp_tools::{CallRequest, Caller, Folders, Runtime, RuntimeOptions};
use serde_json::{Value, json};

use edits::{Edit, Random};
use truth::{Finding, Findings, Pyright};

/// The number of draws per wanted edit: many break nothing.
const DRAWS: usize = 5;

struct Options {
    packages: usize,
    edits: usize,
    seed: u64,
    only: Option<String>,
    misses: bool,
}

fn options() -> Result<Options> {
    let mut options = Options { packages: 10, edits: 10, seed: 1, only: None, misses: false };
    for given in std::env::args().skip(1) {
        match given.split_once('=') {
            Some(("--packages", number)) => options.packages = number.parse()?,
            Some(("--edits", number)) => options.edits = number.parse()?,
            Some(("--seed", number)) => options.seed = number.parse()?,
            Some(("--only", name)) => options.only = Some(name.to_owned()),
            _ if given == "--misses" => options.misses = true,
            _ => ensure!(given == "--bench", "{given} is unknown"),
        }
    }
    Ok(options)
}

/// The result of one edit.
struct Outcome {
    package: String,
    edit: Edit,
    /// The number of new errors by the command line, and of those named in the answer.
    expected: usize,
    named: usize,
    /// Errors in the answer that the command line does not report.
    wrong: Vec<String>,
    missed: Vec<String>,
    verdict: String,
    notes: Vec<String>,
    files: usize,
    bytes: usize,
    answer: Duration,
    check: Duration,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = options()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::Builder::new().prefix("breaks").tempdir()?;
    let data = std::env::var_os("LSP_TOOLS_BENCH_DATA")
        .map_or_else(|| root.join("target/test-servers"), PathBuf::from);
    let chosen = packages::PACKAGES
        .iter()
        .filter(|name| options.only.as_ref().is_none_or(|only| name.starts_with(only.as_str())));
    let mut outcomes = Vec::new();
    for name in chosen.take(options.packages) {
        let project = folder.path().join("work/of/packages").join(name);
        packages::fetch(&root.join("target/bench/breaks"), name, &project)?;
        let runtime = open(folder.path(), &data, &project)?;
        let tried = measure(&runtime, &data, &project, name, &options, &mut outcomes).await;
        runtime.shutdown().await;
        tried.with_context(|| format!("in {name}"))?;
    }
    report(root, &outcomes, &options)
}

fn open(folder: &Path, data: &Path, project: &Path) -> Result<Runtime> {
    let config = folder.join("config");
    std::fs::create_dir_all(&config)?;
    std::fs::write(config.join("lsp-tools.toml"), "prefer.python = [\"pyright\"]\n")?;
    let at = |name: &str| folder.join(name);
    let folders =
        Folders { config, data: data.to_owned(), state: at("state"), cache: at("cache"), home: None };
    let options = RuntimeOptions {
        workspace: Some(project.to_owned()),
        cwd: project.to_owned(),
        supervisor: Some(env!("CARGO_BIN_EXE_lsp-tools").into()),
        install_missing: true,
        ..RuntimeOptions::default()
    };
    Ok(Runtime::open_with(options, folders)?)
}

async fn call(runtime: &Runtime, name: &str, arguments: Value) -> Result<Value> {
    let caller = Caller::default();
    let result = runtime.call(CallRequest::new(name, arguments, &caller)).await;
    ensure!(result.ok(), "{name}: {}", result.value);
    Ok(result.value)
}

async fn measure(
    runtime: &Runtime,
    data: &Path,
    project: &Path,
    package: &str,
    options: &Options,
    outcomes: &mut Vec<Outcome>,
) -> Result<()> {
    let files = packages::sources(project)?;
    let paths: Vec<&String> = files.iter().map(|(path, _)| path).collect();
    // Checks the whole package once, with enough time for a busy machine.
    let mut warm = Value::Null;
    for _ in 0..10 {
        warm = call(runtime, "lsp_diagnostics", json!({"paths": paths, "limit": 1, "timeout_ms": 300_000}))
            .await?;
        if warm["verdict"] == "complete" {
            break;
        }
    }
    ensure!(warm["verdict"] == "complete", "pyright does not answer: {warm}");
    let pyright = Pyright::installed(data)?;
    // A separate copy, so that the server sees only the trials.
    let copy = project.with_extension("checked");
    packages::fetch(&Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/breaks"), package, &copy)?;
    let (before, _) = pyright.check(&copy)?;
    let mut random = Random::new(options.seed, package);
    let (mut breaking, mut drawn) = (0, BTreeSet::new());
    for _ in 0..options.edits * DRAWS {
        if breaking == options.edits {
            break;
        }
        let Some(edit) = edits::draw(&files, &mut random) else { break };
        if !drawn.insert(edit.what.clone()) {
            continue;
        }
        let arguments =
            json!({"path": edit.path, "content": edit.after, "dry_run": true, "diagnostics": true});
        let began = Instant::now();
        let answer = call(runtime, "write", arguments).await?;
        let took = began.elapsed();
        std::fs::write(copy.join(&edit.path), &edit.after)?;
        let after = pyright.check(&copy);
        std::fs::write(copy.join(&edit.path), &edit.before)?;
        let (after, check) = after?;
        let outcome = compare(package, edit, &before, &after, &answer, took, check);
        breaking += usize::from(outcome.expected > 0);
        tell(&outcome, options.misses);
        outcomes.push(outcome);
    }
    Ok(())
}

fn compare(
    package: &str,
    edit: Edit,
    before: &Findings,
    after: &Findings,
    answer: &Value,
    took: Duration,
    check: Duration,
) -> Outcome {
    let expected = truth::added(&edit, before, after);
    let delta = &answer["diagnostics"];
    let mut told: BTreeMap<Finding, usize> = BTreeMap::new();
    for finding in truth::of_delta(delta) {
        *told.entry(finding).or_default() += 1;
    }
    let (mut named, mut missed) = (0, Vec::new());
    for (finding, count) in &expected {
        let both = told.get(finding).copied().unwrap_or(0).min(*count);
        named += both;
        missed.extend((both..*count).map(|_| truth::words(finding)));
    }
    let mut wrong = Vec::new();
    for (finding, count) in &told {
        wrong.extend((expected.get(finding).copied().unwrap_or(0)..*count).map(|_| truth::words(finding)));
    }
    let strings = |value: &Value| {
        value.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    Outcome {
        package: package.to_owned(),
        expected: expected.values().sum(),
        named,
        wrong,
        missed,
        verdict: delta["verdict"].as_str().unwrap_or("none").to_owned(),
        notes: strings(&delta["notes"]),
        files: delta["files"].as_array().map_or(0, Vec::len),
        bytes: delta.to_string().len(),
        answer: took,
        check,
        edit,
    }
}

fn tell(outcome: &Outcome, misses: bool) {
    let Outcome { package, edit, expected, named, wrong, verdict, files, .. } = outcome;
    println!(
        "{package:<18} {:<58} {named:>3}/{expected:<3} wrong {:<2} {verdict:<8} {files:>3} files {:>6.2}s of {:>5.2}s",
        edit.what,
        wrong.len(),
        outcome.answer.as_secs_f64(),
        outcome.check.as_secs_f64(),
    );
    if misses {
        wrong.iter().for_each(|one| println!("    wrong:  {one}"));
        outcome.missed.iter().for_each(|one| println!("    missed: {one}"));
        if !outcome.missed.is_empty() || verdict != "complete" {
            outcome.notes.iter().for_each(|one| println!("    said:   {one}"));
        }
    }
}

fn report(root: &Path, outcomes: &[Outcome], options: &Options) -> Result<()> {
    let sum = |of: &dyn Fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
    let count = |of: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|one| of(one)).count();
    let is_complete = |one: &Outcome| one.verdict == "complete";
    let (expected, named, wrong) =
        (sum(&|one| one.expected), sum(&|one| one.named), sum(&|one| one.wrong.len()));
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let median = |of: &dyn Fn(&Outcome) -> f64| {
        let mut all: Vec<f64> = outcomes.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let ratio = |one: &Outcome| one.answer.as_secs_f64() / one.check.as_secs_f64();
    let false_complete = count(&|one| is_complete(one) && !(one.missed.is_empty() && one.wrong.is_empty()));
    let rows = [
        ("edits that break something", count(&|one| one.expected > 0).to_string()),
        ("edits that break nothing", count(&|one| one.expected == 0).to_string()),
        ("errors by the command line", expected.to_string()),
        ("of those in the answers", format!("{named} ({:.1} %)", share(named, expected))),
        ("in the answers alone", format!("{wrong} (precision {:.1} %)", share(named, named + wrong))),
        (
            "complete",
            format!("{} ({:.0} %)", count(&is_complete), share(count(&is_complete), outcomes.len())),
        ),
        ("of those false", false_complete.to_string()),
        (
            "right, and not complete",
            count(&|one| !is_complete(one) && one.missed.is_empty() && one.wrong.is_empty()).to_string(),
        ),
        ("median answer", format!("{:.2} s", median(&|one| one.answer.as_secs_f64()))),
        ("median full check", format!("{:.2} s", median(&|one| one.check.as_secs_f64()))),
        ("median of answer / check", format!("{:.2}", median(&ratio))),
        ("median size of a delta", format!("{:.0} bytes", median(&|one| one.bytes as f64))),
    ];
    println!();
    rows.iter().for_each(|(what, figure)| println!("{what:<30}{figure:>24}"));
    println!("\nmissed:");
    for one in outcomes.iter().filter(|one| !one.missed.is_empty()) {
        println!(
            "  {} {}: {} of {}, {}; {}",
            one.package,
            one.edit.what,
            one.missed.len(),
            one.expected,
            one.verdict,
            one.notes.join("; ")
        );
    }
    let table: Value = json!({
        "seed": options.seed,
        "figures": rows.iter().map(|(what, figure)| json!({"what": what, "figure": figure})).collect::<Value>(),
        "edits": outcomes.iter().map(|one| json!({
            "package": one.package, "edit": one.edit.what, "name": one.edit.name, "expected": one.expected, "named": one.named, "wrong": one.wrong,
            "missed": one.missed, "verdict": one.verdict, "notes": one.notes, "files": one.files, "bytes": one.bytes,
            "answer_s": one.answer.as_secs_f64(), "check_s": one.check.as_secs_f64(),
        })).collect::<Value>(),
    });
    let folder = root.join("target/bench");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("breaks.json"), serde_json::to_vec_pretty(&table)?)
        .context("target/bench/breaks.json")
}
