//! The cost of a complete answer: our tools, `rg` with windows of lines, and other programs. `just
//! answers`
//!
//! 200 questions on ten packages from PyPI and npm: who uses X, what is X, where is X, what does
//! this edit break. A seed selects the symbols and edits. The expected answers come from the
//! languages' own tools. For Python: definitions by `ast`, uses that jedi and ty agree on (our
//! server is pyright), errors by pyright's command line. For TypeScript: the language service and
//! `tsc`. Each arm is a fixed policy (`arms.rs`, `peers.rs`) that stops when its answers are
//! complete (`seen.rs`). The bytes of its answers and its calls are counted.
//!
//! `cargo bench --bench answers -- [--packages N] [--questions N] [--only KIND] [--peers NAMES]
//! [--seed N] [--jobs N] [--show]`. Packages, witnesses and peers are fetched once below
//! `target/bench`. The product's own installer puts servers beside those of the tests
//! (`LSP_TOOLS_BENCH_DATA` names another prefix). Prints tables and writes
//! `target/bench/answers.json`.

#[path = "../support/archives.rs"]
mod archives;
mod arms;
#[path = "../breaks/edits.rs"]
mod edits;
mod ground;
#[path = "../check_parity/lines.rs"]
#[allow(dead_code, reason = "check_parity uses the other command lines")]
mod lines;
#[path = "../support/mcp_host.rs"]
mod mcp_host;
mod peers;
mod questions;
mod report;
mod seen;
#[path = "../breaks/truth.rs"]
#[allow(dead_code, reason = "breaks reads structured answers")]
mod truth;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use clap::Parser;

use arms::{Arm, Grep, Ours};
use ground::{PACKAGES, Package, Tools};
use peers::Peer;
use questions::{Files, KINDS, Kind, Question};
use report::{Asked, Taken};
use seen::Transcript;

/// Measures the cost of complete answers.
#[derive(Debug, Parser)]
struct Options {
    /// The number of packages, at most ten.
    #[arg(long, default_value_t = PACKAGES.len())]
    packages: usize,
    /// The number of questions of each kind per package.
    #[arg(long, default_value_t = 5)]
    questions: usize,
    /// Only questions of this kind.
    #[arg(long)]
    only: Option<Kind>,
    /// The other programs to compare with; `none` for none.
    #[arg(long, value_delimiter = ',', default_values = peers::NAMES)]
    peers: Vec<String>,
    /// The seed that selects symbols and edits.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of packages measured in parallel.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Print every answer.
    #[arg(long)]
    show: bool,
    /// Given by Cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = root.join("target/bench/answers");
    // Short like the paths of real projects, because some peers answer absolute paths.
    let folder = tempfile::Builder::new().prefix("qa").tempdir()?;
    let tools = Tools::ready(&folder.path().join("lsp-tools"), &kept)?;
    let is_wanted = |peer: &Peer<'_>| options.peers.iter().any(|name| name == peer.name());
    let mut absent = BTreeMap::new();
    for peer in peers::all(&tools, &kept).into_iter().filter(is_wanted) {
        if let Err(error) = peer.install() {
            absent.insert(peer.name(), format!("{}: {error:#}", peer.version()));
        }
    }
    let arms = || {
        let mut arms: Vec<Box<dyn Arm + '_>> = vec![
            Box::new(Ours::new(&tools, &folder.path().join("lsp-tools"), false)),
            Box::new(Ours::new(&tools, &folder.path().join("lsp-tools"), true)),
            Box::new(Grep::new(false)),
            Box::new(Grep::new(true)),
        ];
        for peer in peers::all(&tools, &kept).into_iter().filter(is_wanted) {
            if !absent.contains_key(peer.name()) {
                arms.push(Box::new(peer));
            }
        }
        arms
    };
    // Most of the time is spent waiting for servers.
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Vec<Asked>)>> {
        let (mut arms, mut done) = (arms(), Vec::new());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(package) = PACKAGES.iter().take(options.packages).nth(index) else { return Ok(done) };
            let began = Instant::now();
            let asked = measure(package, folder.path(), &tools, &mut arms, &options)
                .with_context(|| format!("in {}", package.name))?;
            eprintln!("{} took {:.0} s", package.name, began.elapsed().as_secs_f64());
            done.push((index, asked));
        }
    };
    let mut done = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            done.extend(worker.join().map_err(|_| anyhow!("a worker panicked"))??);
        }
        Ok(())
    })?;
    done.sort_by_key(|(index, _)| *index);
    let asked: Vec<Asked> = done.into_iter().flat_map(|(_, asked)| asked).collect();
    let names: Vec<&'static str> = arms().iter().map(|arm| arm.name()).collect();
    report::report(&root.join("target/bench/answers.json"), &asked, &names, &absent)
}

/// Puts every question about one package to every arm, each in its own copy.
fn measure(
    package: &Package,
    folder: &Path,
    tools: &Tools,
    arms: &mut [Box<dyn Arm + '_>],
    options: &Options,
) -> Result<Vec<Asked>> {
    let kinds: Vec<Kind> =
        KINDS.into_iter().filter(|kind| options.only.is_none_or(|only| only == *kind)).collect();
    let project = package.put(folder.join("truth").join(package.folder()))?;
    let files = questions::files(&project, package.language)?;
    let questions = questions::draw(package, &project, tools, options.questions, options.seed, &kinds)?;
    eprintln!("{}: {} questions", package.name, questions.len());
    let asked_of = |question: &Question| Asked {
        kind: question.kind,
        name: question.name(),
        is_disputed: question.kind == Kind::Uses && !question.symbol.disputed.is_empty(),
        truth: question.lines.len(),
        taken: Vec::new(),
    };
    let mut asked: Vec<Asked> = questions.iter().map(asked_of).collect();
    for (index, arm) in arms.iter_mut().enumerate() {
        let own = package.put(folder.join(index.to_string()).join(package.folder()))?;
        let own = std::fs::canonicalize(own)?;
        let opened = arm.open(package, &own);
        for (at, question) in questions.iter().enumerate() {
            // `explore` does not answer for edits.
            if arm.name() == "ours, explore" && question.kind == Kind::Breaks {
                continue;
            }
            let taken = match &opened {
                Ok(()) => ask(arm.as_mut(), question, &files, options.show),
                Err(error) => failure(arm.name(), format!("{error:#}")),
            };
            asked[at].taken.push(taken);
        }
        arm.close();
    }
    Ok(asked)
}

fn failure(arm: &'static str, why: String) -> Taken {
    Taken {
        arm,
        bytes: 0,
        calls: 0,
        is_whole: false,
        recall: 0.0,
        false_complete: false,
        failed: Some(why),
        missing: Vec::new(),
        seconds: 0.0,
    }
}

fn ask(arm: &mut dyn Arm, question: &Question, files: &Files, shows: bool) -> Taken {
    let mut transcript = Transcript::new(question, files, arm.base(), arm.numbering());
    let began = Instant::now();
    let failed = arm.ask(question, &mut transcript).err().map(|error| format!("{error:#}"));
    let taken = Taken {
        arm: arm.name(),
        bytes: transcript.bytes,
        calls: transcript.calls,
        is_whole: transcript.is_whole(),
        recall: transcript.recall(),
        false_complete: transcript.false_complete,
        failed,
        missing: transcript.missing(),
        seconds: began.elapsed().as_secs_f64(),
    };
    if shows {
        println!(
            "\n##### {} | {} | {} bytes, {} calls, recall {:.2} {}",
            question.name(),
            taken.arm,
            taken.bytes,
            taken.calls,
            taken.recall,
            taken.missing.join(", ")
        );
        transcript.answers.iter().for_each(|(call, answer)| println!(">>> {call}\n{answer}"));
    }
    taken
}
