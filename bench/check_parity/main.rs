//! Comparison of `check` with the servers' own command lines. `just check-parity`
//!
//! Real packages from PyPI and npm are checked with the product and with the command line of the
//! same server. They are checked unchanged, and with an import removed from every fifth file.
//! Servers: pyright, basedpyright, ty, pyrefly, ruff, tsc, clangd and shellcheck. Findings are
//! compared by file, line and rule; `SAME` lists rules that are equivalent. A difference that is
//! not in `OWN` (differences of the servers themselves, with reasons) makes the exit status 1.
//!
//! `cargo bench --bench check_parity -- [--only=SERVER] [--differences]`. Packages are fetched once
//! into `target/bench/check_parity`. The product's own installer puts servers beside those of the
//! tests (`LSP_TOOLS_BENCH_DATA` names another prefix).

#[path = "../support/archives.rs"]
mod archives;
mod lines;
mod packages;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use lines::{Finding, Findings, Servers};

/// A server, its command line, and the packages to compare them on.
struct Case {
    server: &'static str,
    language: &'static str,
    /// The extensions of the compared files.
    endings: &'static [&'static str],
    packages: &'static [&'static str],
    line: fn(&Servers, &Path) -> Result<Findings>,
}

/// Source packages as published, with their tests and settings.
const PYTHON: [&str; 10] = [
    "requests==2.32.3",
    "click==8.1.7",
    "flask==3.0.3",
    "jinja2==3.1.4",
    "attrs==24.2.0",
    "httpx==0.27.2",
    "packaging==24.1",
    "itsdangerous==2.2.0",
    "starlette==0.38.5",
    "marshmallow==3.22.0",
];

const CASES: [Case; 8] = [
    Case { server: "pyright", language: "python", endings: &["py"], packages: &PYTHON, line: lines::pyright },
    Case {
        server: "basedpyright",
        language: "python",
        endings: &["py"],
        packages: &PYTHON,
        line: lines::basedpyright,
    },
    Case { server: "ty", language: "python", endings: &["py"], packages: &PYTHON, line: lines::ty },
    Case { server: "pyrefly", language: "python", endings: &["py"], packages: &PYTHON, line: lines::pyrefly },
    Case { server: "ruff", language: "python", endings: &["py"], packages: &PYTHON, line: lines::ruff },
    Case {
        server: "typescript-language-server",
        language: "typescript",
        endings: &["ts", "tsx"],
        packages: &["rxjs@7.8.1", "reselect@5.1.1"],
        line: lines::tsc,
    },
    Case {
        server: "clangd",
        language: "c",
        endings: &["c", "h"],
        packages: &["lz4==4.3.3"],
        line: lines::clangd,
    },
    Case {
        server: "bash-language-server",
        language: "shell",
        endings: &[],
        packages: &["bats@1.11.0"],
        line: lines::shellcheck,
    },
];

/// Servers that run programs of a project and therefore need trust.
const NEED_TRUST: [&str; 1] = ["pyrefly"];

/// Differences of the servers themselves: server, rule, reason.
const OWN: [(&str, &str, &str); 2] = [
    (
        "basedpyright",
        "reportImportCycles",
        "which circles it names, and at which of their files, depends on the order of the files: its command line names others where it \
         is given them in another order",
    ),
    (
        "pyrefly",
        "*",
        "the command line reads the settings of mypy, takes another preset, and shows errors alone; the server finds what the \
         command line does, and more",
    ),
];

/// Equivalent rules: server, rule, canonical rule, reason.
const SAME: [(&str, &str, &str, &str); 1] = [(
    "typescript-language-server",
    "2552",
    "2304",
    "both say that a name is not found; the compiler adds what may be meant (2552) to the first ten of them that it comes upon, \
     and which these are depends on the order of the files",
)];

struct Row {
    server: &'static str,
    package: String,
    line: usize,
    ours: usize,
    same: usize,
    explained: usize,
    differences: Vec<String>,
    verdict: String,
}

fn main() -> Result<()> {
    let (mut only, mut tells) = (None, false);
    for given in std::env::args().skip(1) {
        match given.split_once('=') {
            Some(("--only", server)) => only = Some(server.to_owned()),
            _ if given == "--differences" => tells = true,
            _ => ensure!(given == "--bench", "{given} is unknown"),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = std::env::var_os("LSP_TOOLS_BENCH_DATA")
        .map_or_else(|| root.join("target/test-servers"), PathBuf::from);
    let kept = root.join("target/bench/check_parity");
    let folder = tempfile::Builder::new().prefix("check-parity").tempdir()?;
    let python = packages::environment(&kept)?;
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| only.as_ref().is_none_or(|only| only == case.server)) {
        install(folder.path(), &data, case.server)?;
        let servers = Servers::new(data.clone(), &python)?;
        for package in case.packages {
            for broken in [false, true] {
                let row = compare(folder.path(), &kept, &servers, case, package, broken)?;
                if rows.is_empty() {
                    println!(
                        "| server | package | command line | `check` | the same | the server's own | other | verdict |"
                    );
                    println!("|---|---|---|---|---|---|---|---|");
                }
                row.print();
                rows.push(row);
            }
        }
    }
    report(&rows, tells)
}

/// The product's command, without the user's settings.
fn ours(folder: &Path, data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
    for (name, below) in [("CONFIG", "config"), ("STATE", "state"), ("CACHE", "cache")] {
        command.env(format!("LSP_TOOLS_{name}_DIR"), folder.join(below));
    }
    command.env("LSP_TOOLS_DATA_DIR", data).env_remove("VIRTUAL_ENV");
    command
}

fn install(folder: &Path, data: &Path, server: &str) -> Result<()> {
    let status = ours(folder, data).args(["install", server]).stdout(std::process::Stdio::null()).status()?;
    ensure!(status.success(), "{server} could not be installed");
    Ok(())
}

fn compare(
    folder: &Path,
    kept: &Path,
    servers: &Servers,
    case: &Case,
    package: &str,
    broken: bool,
) -> Result<Row> {
    let name = format!("{package}{}", if broken { ", imports taken out" } else { "" });
    let project =
        folder.join("of/projects").join(case.server).join(name.replace(", ", "-").replace(' ', "-"));
    packages::make(kept, package, &project)?;
    if broken {
        packages::take_out_imports(&project, case.endings)?;
    }
    // If pyright is configured at the root, that applies to everything below, whatever manifests
    // there are.
    let is_configured = case.server.ends_with("pyright") && has_pyright_settings(&project);
    let is_one = case.language != "python" || case.server == "ruff" || is_configured;
    let line = |servers: &Servers, project: &Path| match is_one {
        true => (case.line)(servers, project),
        false => lines::of_all_projects(servers, project, case.line),
    };
    let mut expected = line(servers, &project).with_context(|| format!("{} on {package}", case.server))?;
    let (mut found, verdict) = check(folder, servers, case, &project)?;
    if case.server == "ty" {
        // Some findings are reported twice, which the command line does not show, so duplicates are
        // ignored.
        for findings in [&mut expected, &mut found] {
            findings.sort();
            findings.dedup();
        }
    }
    for finding in expected.iter_mut().chain(&mut found) {
        count_as_same(case.server, finding);
    }
    let (mut left, mut same) = (counted(&found), 0);
    let (mut explained, mut differences) = (0, Vec::new());
    let mut differs = |finding: &Finding, who: &str| match why(case.server, &finding.2) {
        Some(_) => explained += 1,
        None => differences.push(format!("{who}: {}:{} {}", finding.0, finding.1, finding.2)),
    };
    for finding in &expected {
        match left.get_mut(finding).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                same += 1;
            }
            None => differs(finding, "only the command line"),
        }
    }
    for (finding, count) in left {
        (0..count).for_each(|_| differs(&finding, "only check"));
    }
    Ok(Row {
        server: case.server,
        package: name,
        line: expected.len(),
        ours: found.len(),
        same,
        explained,
        differences,
        verdict,
    })
}

fn has_pyright_settings(project: &Path) -> bool {
    let text = std::fs::read_to_string(project.join("pyproject.toml")).unwrap_or_default();
    text.contains("[tool.pyright]") || project.join("pyrightconfig.json").exists()
}

fn why(server: &str, rule: &str) -> Option<&'static str> {
    OWN.iter().find(|(own, known, _)| *own == server && [rule, "*"].contains(known)).map(|(_, _, why)| *why)
}

fn count_as_same(server: &str, finding: &mut Finding) {
    let same = SAME.iter().find(|(own, rule, _, _)| *own == server && *rule == finding.2);
    if let Some((_, _, rule, _)) = same {
        finding.2 = (*rule).to_owned();
    }
}

fn counted(findings: &[Finding]) -> BTreeMap<Finding, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.clone()).or_default() += 1;
    }
    counts
}

/// The findings of `check` for the files of the language, and the verdict.
fn check(folder: &Path, servers: &Servers, case: &Case, project: &Path) -> Result<(Findings, String)> {
    let config = folder.join("config");
    std::fs::create_dir_all(&config)?;
    let preferred = format!("prefer.{} = [\"{}\"]\n", case.language, case.server);
    std::fs::write(config.join("lsp-tools.toml"), preferred)?;
    if NEED_TRUST.contains(&case.server) {
        let status = ours(folder, servers.data())
            .args(["trust", "--yes"])
            .current_dir(project)
            .stdout(std::process::Stdio::null())
            .status()?;
        ensure!(status.success(), "the project could not be trusted");
    }
    let mut command = ours(folder, servers.data());
    servers.on_path(&mut command)?;
    let words =
        ["--no-daemon", "--timeout", "120", "--format", "json", "check", "--no-store", "--limit", "1000000"];
    // The settings of a Python project select the checked files for both.
    let files = match case.language {
        "python" => vec![".".to_owned()],
        _ => lines::files(project, case.endings)?,
    };
    let output = command.args(words).args(files).current_dir(project).output()?;
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Value = serde_json::from_slice(&output.stdout).with_context(said)?;
    let items = answer["diagnostics"].as_array().with_context(said)?;
    let mut found = Findings::new();
    // Other servers of the catalogue report on the other languages in a folder.
    let is_own = |item: &&Value| case.language != "python" || item["server"] == case.server;
    for item in items.iter().filter(is_own) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let line = text(&item["at"]).split(':').next().and_then(|line| line.parse().ok()).unwrap_or(u64::MAX);
        found.push((text(&item["path"]), line, text(&item["code"])));
    }
    Ok((found, answer["verdict"].as_str().unwrap_or("none").to_owned()))
}

impl Row {
    fn print(&self) {
        let Self { server, package, line, ours, same, explained, verdict, .. } = self;
        let other = self.differences.len();
        println!("| {server} | {package} | {line} | {ours} | {same} | {explained} | {other} | {verdict} |");
    }
}

fn report(rows: &[Row], tells: bool) -> Result<()> {
    for row in rows.iter().filter(|row| !row.differences.is_empty()) {
        println!("\n{} on {}:", row.server, row.package);
        let most = if tells { usize::MAX } else { 10 };
        row.differences.iter().take(most).for_each(|difference| println!("  {difference}"));
    }
    let differ: usize = rows.iter().map(|row| row.differences.len()).sum();
    ensure!(differ == 0, "{differ} findings differ and are not known as the servers' own");
    Ok(())
}
