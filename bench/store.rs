//! The time of `check` with the answer store, as ratios to a check without it. `just bench-store`
//!
//! `cargo bench --bench store -- [--only=SERVER] [--rounds=N]`. The project is django, as published
//! (fetched once into `target/bench/store`), with an environment that has its requirements; the
//! servers are those of the tests (`LSP_TOOLS_BENCH_DATA` names another prefix). Each row is a
//! process of its own without a daemon; times are medians. Findings with and without the store are
//! compared.

#[path = "support/archives.rs"]
#[allow(dead_code, reason = "one of several packages")]
mod archives;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use archives::run;

const PACKAGE: &str = "django==5.2.8";
const REQUIREMENTS: [&str; 2] = ["asgiref", "sqlparse"];
/// Servers that check together, by the name of their row.
const CASES: [(&str, &str); 2] = [("pyright", "[\"pyright\"]"), ("ty, ruff", "[\"ty\", \"ruff\"]")];
/// The file that the compared change adds, with one error.
const ADDED: (&str, &str) =
    ("django/added.py", "from django.utils import timezone\n\nwhen: int = timezone.now()\n");

/// A user: settings, caches and state in one folder.
struct User<'a> {
    folder: &'a Path,
    data: &'a Path,
}

impl User<'_> {
    /// Uses the servers `prefer`, with the store or without.
    fn set(&self, prefer: &str, store: bool) -> Result<()> {
        fs::create_dir_all(self.folder.join("config"))?;
        let text = format!("prefer.python = {prefer}\nanswer-store = {store}\n");
        Ok(fs::write(self.folder.join("config/lsp-tools.toml"), text)?)
    }

    fn forget(&self) -> Result<()> {
        Ok(fs::remove_dir_all(self.folder.join("cache")).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?)
    }

    /// The time of a check, its findings, and whether they came from the store.
    fn check(&self, project: &Path, words: &[&str]) -> Result<(Duration, String, bool)> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
        command.args(["check", "--no-daemon", "--timeout", "600"]).args(words).current_dir(project);
        for (name, folder) in [("CONFIG", "config"), ("STATE", "state"), ("CACHE", "cache")] {
            command.env(format!("LSP_TOOLS_{name}_DIR"), self.folder.join(folder));
        }
        let start = Instant::now();
        let output = command.env("LSP_TOOLS_DATA_DIR", self.data).output()?;
        let (time, notes) = (start.elapsed(), String::from_utf8_lossy(&output.stderr).into_owned());
        ensure!(output.status.code().is_some_and(|status| status <= 1), "{command:?}: {notes}");
        Ok((time, String::from_utf8(output.stdout)?, notes.contains("are from a check")))
    }
}

fn main() -> Result<()> {
    let (mut only, mut rounds) = (None, 3);
    for given in std::env::args().skip(1) {
        match given.split_once('=') {
            Some(("--only", server)) => only = Some(server.to_owned()),
            Some(("--rounds", number)) => rounds = number.parse()?,
            _ => ensure!(given == "--bench", "{given} is unknown"),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = std::env::var_os("LSP_TOOLS_BENCH_DATA")
        .map_or_else(|| root.join("target/test-servers"), PathBuf::from);
    let folder = tempfile::Builder::new().prefix("bench-store").tempdir()?;
    let project = folder.path().join("of/some/depth/django");
    prepare(&root.join("target/bench/store"), &project)?;
    // Another worktree has the same name, because names of folders are names of packages.
    let worktree = folder.path().join("of/another/worktree/django");
    run(Command::new("git").args(["worktree", "add", "-q"]).arg(&worktree).current_dir(&project))?;
    run(Command::new("cp").args(["-a", ".venv"]).arg(&worktree).current_dir(&project))?;
    println!("| servers | what | seconds | ratio to a check without the store |\n|---|---|---|---|");
    for (name, prefer) in CASES.iter().filter(|case| only.as_ref().is_none_or(|only| case.0.contains(only))) {
        let user = User { folder: folder.path(), data: &data };
        measure(&user, (name, prefer), (&project, &worktree), rounds)?;
    }
    Ok(())
}

/// Unpacks the package with a repository and an environment.
fn prepare(kept: &Path, project: &Path) -> Result<()> {
    archives::unpack(&archives::fetched(kept, PACKAGE, false)?, project)?;
    fs::write(project.join("pyproject.toml"), "[project]\nname = \"django\"\nversion = \"5.2.8\"\n")?;
    fs::write(project.join(".gitignore"), ".venv\n")?;
    run(Command::new("python3").args(["-m", "venv", ".venv"]).current_dir(project))?;
    let pip = project.join(".venv/bin/pip");
    run(Command::new(pip).args(["install", "-q"]).args(REQUIREMENTS).current_dir(project))?;
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "all"]] {
        let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"];
        run(Command::new("git").args(author).args(words).current_dir(project))?;
    }
    Ok(())
}

fn measure(
    user: &User<'_>,
    (name, prefer): (&str, &str),
    (project, worktree): (&Path, &Path),
    rounds: usize,
) -> Result<()> {
    let status = median(rounds, || {
        let start = Instant::now();
        run(Command::new("git").args(["status", "--short"]).current_dir(project))?;
        Ok(start.elapsed())
    })?;
    user.set(prefer, false)?;
    let (mut plain, mut lookups) = (Vec::new(), Vec::new());
    let mut findings = None;
    // Alternately, so that other load on the machine counts for both.
    for _ in 0..rounds {
        user.set(prefer, false)?;
        let (time, found, _) = user.check(project, &[])?;
        plain.push(time);
        user.forget()?;
        user.set(prefer, true)?;
        lookups.push(user.check(project, &[])?.0);
        findings = Some(found);
    }
    let (plain, findings) = (middle(plain), findings.context("no round")?);
    let row = |what: &str, time: Duration| {
        let ratio = time.as_secs_f64() / plain.as_secs_f64();
        println!("| {name} | {what} | {:.3} | {ratio:.3} |", time.as_secs_f64());
    };
    row("`git status`", status);
    row("without the store", plain);
    row("with an empty store", middle(lookups));
    for (what, place) in [("unchanged tree", project), ("second worktree", worktree)] {
        let time = median(rounds, || {
            let (time, found, is_stored) = user.check(place, &[])?;
            ensure!(is_stored, "{name}, {what}: not from the store");
            ensure!(found == findings, "{name}, {what}: other findings than without the store");
            Ok(time)
        })?;
        row(what, time);
    }
    fs::write(project.join(ADDED.0), ADDED.1)?;
    let against = |store| -> Result<(Duration, String)> {
        user.set(prefer, store)?;
        let (time, found, _) = user.check(project, &["--against", "HEAD"])?;
        Ok((time, found))
    };
    let (without, with) = (against(false)?, against(true)?);
    fs::remove_file(project.join(ADDED.0))?;
    ensure!(without.1 == with.1, "{name}: `--against` differs:\n{}\n{}", without.1, with.1);
    row("a file added, `--against HEAD`, without the store", without.0);
    row("a file added, `--against HEAD`", with.0);
    Ok(())
}

fn median(rounds: usize, mut once: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    Ok(middle((0..rounds).map(|_| once()).collect::<Result<_>>()?))
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
