//! Does `check` say what the servers' own command lines say? `just check-parity`
//!
//! Real packages from PyPI and npm, as they are and with an import taken out of every fifth file, are checked with the product and with
//! the command line of the very same server: pyright, basedpyright, ty, pyrefly, ruff, tsc, clangd and shellcheck. Compared by file,
//! line and rule; `SAME` has the rules that are one finding in two words. What differs and is not in `OWN` (the servers' own doing, each
//! with its reason) makes the exit status 1.
//!
//! `cargo bench --bench check_parity -- [--only=SERVER] [--differences]`. Packages are fetched once into `target/bench/check_parity`;
//! servers are installed by the product's own installer beside the tests' (`LSP_TOOLS_BENCH_DATA` names another prefix).

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

/// What is compared with what, and on which packages.
struct Case {
    server: &'static str,
    language: &'static str,
    /// Of the files that are compared.
    endings: &'static [&'static str],
    packages: &'static [&'static str],
    line: fn(&Servers, &Path) -> Result<Findings>,
}

/// As their authors publish them: source packages, with their tests and their settings.
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

/// Servers that run programs of a project, and therefore not in one without trust.
const NEED_TRUST: [&str; 1] = ["pyrefly"];

/// Differences that are the server's own: server, rule, why.
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

/// Rules that are one finding in two words: server, rule, what it counts as, why.
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

/// The product, with nothing of the user's.
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
    // Settings of pyright at the top hold for what lies below, whatever manifests there are.
    let is_configured = case.server.ends_with("pyright") && has_pyright_settings(&project);
    let is_one = case.language != "python" || case.server == "ruff" || is_configured;
    let line = |servers: &Servers, project: &Path| match is_one {
        true => (case.line)(servers, project),
        false => lines::of_all_projects(servers, project, case.line),
    };
    let mut expected = line(servers, &project).with_context(|| format!("{} on {package}", case.server))?;
    let (mut found, verdict) = check(folder, servers, case, &project)?;
    if case.server == "ty" {
        // It says some findings twice, of which its command line shows no difference: places count, and not how often.
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

/// What `check` says of the files of the language, and how far that can be relied on.
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
    let words = ["--no-daemon", "--timeout", "120", "--format", "json", "check", "--limit", "1000000"];
    // Which files of a Python project are checked its settings say, to both.
    let files = match case.language {
        "python" => vec![".".to_owned()],
        _ => lines::files(project, case.endings)?,
    };
    let output = command.args(words).args(files).current_dir(project).output()?;
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Value = serde_json::from_slice(&output.stdout).with_context(said)?;
    let items = answer["diagnostics"].as_array().with_context(said)?;
    let mut found = Findings::new();
    // Others of the catalogue speak of the other languages in a folder.
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
