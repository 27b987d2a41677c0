//! Search of a large tree compared with the `rg` program in the same run: equal lines, and the
//! ratio of the times.
//!
//! `cargo bench --bench grep -- [--tree=DIR] [--rounds=N]`. The default tree is cargo's folder of
//! package sources. `rg` is taken from PATH, or installed with apt if possible. The table is also
//! written to `target/bench/grep.json`. The product's time is that of the library call; rg's is
//! that of its process with its output read. If the budget is exceeded, the exit status is 1.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use lsp_tools::internals::workspace::{
    CaseMode, GrepPattern, GrepQuery, GrepResult, GrepWanted, Selection, WorkDeadline, Workspace,
    WorkspacePath,
};
use serde_json::json;

/// The maximum time of a search, as a multiple of rg's time.
const BUDGET: f64 = 1.1;

/// One search, for both programs.
struct Case {
    name: &'static str,
    pattern: &'static str,
    flags: &'static [&'static str],
}

const CASES: [Case; 9] = [
    Case { name: "rare literal", pattern: "LARGEST_PARSED", flags: &[] },
    Case { name: "literal", pattern: "BTreeMap::new()", flags: &["-F"] },
    Case { name: "frequent literal", pattern: "fn ", flags: &[] },
    Case { name: "word", pattern: "self", flags: &["-w"] },
    Case { name: "ignoring case", pattern: "deadline", flags: &["-i"] },
    Case { name: "regex", pattern: r"fn \w+_\w+\(&mut self", flags: &[] },
    Case { name: "regex without literal", pattern: r"[A-Z]{5}[0-9]{3}", flags: &[] },
    Case { name: "files", pattern: "unsafe", flags: &["-l"] },
    Case { name: "in *.rs", pattern: "impl Drop", flags: &["-g", "*.rs"] },
];

fn main() -> Result<ExitCode> {
    let argument =
        |name: &str| std::env::args().find_map(|given| given.strip_prefix(name).map(str::to_owned));
    let tree = argument("--tree=").map_or_else(default_tree, |tree| Ok(PathBuf::from(tree)))?;
    let rounds: usize = argument("--rounds=").map_or(Ok(7), |given| given.parse())?;
    let rg = ripgrep()?;
    let workspace = Workspace::open(&tree)?;
    let files = run(&workspace, &query(&CASES[0]))?.searched;
    println!("{} files below {}; {}", files, tree.display(), version(&rg)?);
    println!("{:<24}{:>9}{:>12}{:>12}{:>9}", "search", "lines", "ours ms", "rg ms", "ratio");
    let mut rows = Vec::new();
    let mut texts = Texts::default();
    for case in &CASES {
        let (lines, ours, theirs) = measure(&workspace, &rg, case, rounds, &mut texts)?;
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!(
            "{:<24}{lines:>9}{:>12.1}{:>12.1}{ratio:>9.2}",
            case.name,
            milliseconds(ours),
            milliseconds(theirs)
        );
        rows.push(json!({
            "search": case.name, "pattern": case.pattern, "flags": case.flags, "lines": lines,
            "ours_ms": milliseconds(ours), "rg_ms": milliseconds(theirs), "ratio": ratio,
        }));
    }
    let ratios = rows.iter().filter_map(|row| row["ratio"].as_f64());
    let worst = ratios.clone().fold(0.0, f64::max);
    let mean = (ratios.map(f64::ln).sum::<f64>() / rows.len() as f64).exp();
    println!("geometric mean {mean:.2}, worst {worst:.2}, budget {BUDGET}");
    let report = json!({
        "tree": tree, "files": files, "rounds": rounds, "budget": BUDGET,
        "geometric_mean": mean, "worst": worst, "searches": rows,
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("grep.json"), serde_json::to_string_pretty(&report)?)?;
    Ok(if mean <= BUDGET { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn default_tree() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let tree = home.context("neither CARGO_HOME nor HOME is set; give --tree=DIR")?.join("registry/src");
    if !tree.is_dir() {
        bail!("{} is missing; give a large tree with --tree=DIR", tree.display());
    }
    Ok(tree)
}

/// The `rg` program, installed with apt if missing.
fn ripgrep() -> Result<PathBuf> {
    if let Ok(rg) = which::which("rg") {
        return Ok(rg);
    }
    eprintln!("rg is missing; installing it with apt-get");
    let installed =
        Command::new("apt-get").args(["install", "-y", "-qq", "ripgrep"]).stdout(Stdio::null()).status();
    match installed {
        Ok(status) if status.success() => Ok(which::which("rg")?),
        _ => bail!("rg is not installed and apt-get could not install it; put ripgrep on the PATH"),
    }
}

fn version(rg: &Path) -> Result<String> {
    let told = Command::new(rg).arg("--version").output()?.stdout;
    Ok(String::from_utf8_lossy(&told).lines().next().unwrap_or_default().to_owned())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The number of lines that both find, and the median time of each.
fn measure(
    workspace: &Workspace,
    rg: &Path,
    case: &Case,
    rounds: usize,
    texts: &mut Texts,
) -> Result<(usize, Duration, Duration)> {
    let query = query(case);
    let ours = found(&run(workspace, &query)?, &query);
    let theirs = parsed(&rg_output(rg, case, workspace.root())?, &query)?;
    let ours = texts.comparable(workspace, ours);
    let theirs = texts.comparable(workspace, theirs);
    if let Some(missed) = theirs.difference(&ours).next() {
        bail!("{}: {}:{} is found by rg only", case.name, missed.0, missed.1);
    }
    if let Some(extra) = ours.difference(&theirs).next() {
        bail!("{}: {}:{} is not found by rg", case.name, extra.0, extra.1);
    }
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let begun = Instant::now();
        std::hint::black_box(run(workspace, &query)?);
        our_times.push(begun.elapsed());
        let begun = Instant::now();
        std::hint::black_box(rg_output(rg, case, workspace.root())?);
        their_times.push(begun.elapsed());
    }
    our_times.sort_unstable();
    their_times.sort_unstable();
    Ok((ours.len(), our_times[rounds / 2], their_times[rounds / 2]))
}

fn query(case: &Case) -> GrepQuery {
    let has = |flag: &str| case.flags.contains(&flag);
    let glob = case.flags.iter().skip_while(|flag| **flag != "-g").nth(1);
    GrepQuery {
        pattern: GrepPattern {
            text: case.pattern.to_owned(),
            fixed: has("-F"),
            case: if has("-i") { CaseMode::Insensitive } else { CaseMode::Sensitive },
            whole_word: has("-w"),
            multiline: false,
            invert: false,
        },
        under: WorkspacePath::root(),
        select: Selection {
            globs: glob.map(|glob| (*glob).to_owned()).into_iter().collect(),
            ..Selection::default()
        },
        wanted: if has("-l") { GrepWanted::Files } else { GrepWanted::Lines { before: 0, after: 0 } },
        max: usize::MAX,
        deadline: WorkDeadline::new(Instant::now() + Duration::from_secs(600)),
    }
}

fn run(workspace: &Workspace, query: &GrepQuery) -> Result<GrepResult> {
    Ok(workspace.grep(query)?)
}

fn rg_output(rg: &Path, case: &Case, root: &Path) -> Result<Vec<u8>> {
    let mut command = Command::new(rg);
    command.args(["--no-config", "--no-messages", "--no-require-git", "--no-ignore-parent", "--color=never"]);
    command.args(["--no-heading", "--line-number", "--with-filename", "--null"]);
    command.args(case.flags).args(["-e", case.pattern, "./"]).current_dir(root).stdin(Stdio::null());
    Ok(command.output()?.stdout)
}

/// Paths with 1-based lines, or 0 for a whole file.
type Lines = BTreeSet<(String, u64)>;

fn found(result: &GrepResult, query: &GrepQuery) -> Lines {
    let mut lines = Lines::new();
    for file in &result.files {
        let path = file.path.display();
        if query.wanted == GrepWanted::Files {
            lines.insert((path, 0));
        } else {
            lines.extend(file.lines.iter().map(|line| (path.clone(), u64::from(line.start.line) + 1)));
        }
    }
    lines
}

/// Parses rg's output: `./path NUL line:text`, or `./path NUL` for files.
fn parsed(output: &[u8], query: &GrepQuery) -> Result<Lines> {
    let mut lines = Lines::new();
    if query.wanted == GrepWanted::Files {
        for path in output.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            lines.insert((shown(path), 0));
        }
        return Ok(lines);
    }
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Some(end) = line.iter().position(|byte| *byte == 0) else { continue };
        let number = line[end + 1..].split(|byte| *byte == b':').next().unwrap_or_default();
        let Ok(number) = std::str::from_utf8(number)?.parse() else { continue };
        lines.insert((shown(&line[..end]), number));
    }
    Ok(lines)
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path.strip_prefix(b"./").unwrap_or(path)).into_owned()
}

/// The files that both programs read as the same text, by path.
#[derive(Default)]
struct Texts(HashMap<String, bool>);

impl Texts {
    /// Removes files that the two treat differently by design. rg shows the part of a binary file
    /// before its first NUL byte, and does not end a line at a lone carriage return. The product
    /// skips generated folders (`node_modules`, build output).
    fn comparable(&mut self, workspace: &Workspace, lines: Lines) -> Lines {
        let mut is_comparable = |path: &String| {
            *self.0.entry(path.clone()).or_insert_with(|| {
                let litter = ["node_modules/", "__pycache__/", "target/", "venv/", "bower_components/"];
                let Ok(text) = fs::read(workspace.root().join(path)) else { return false };
                let lone = text.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
                !text.contains(&0) && !lone && !litter.iter().any(|folder| path.contains(folder))
            })
        };
        lines.into_iter().filter(|(path, _)| is_comparable(path)).collect()
    }
}
