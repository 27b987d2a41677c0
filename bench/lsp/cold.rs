//! A hover from a cold start: the command as a process compared with a raw client; and the cost of
//! the supervisor.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::Plan;
use super::stage::Stage;
use super::stats::{Samples, ms};
use super::table::Row;

/// The maximum ratio to a raw client's cold start.
const RATIO: f64 = 1.05;

/// The `lsp-tools` program beside this bench.
pub fn binary() -> anyhow::Result<PathBuf> {
    let running = std::env::current_exe()?;
    let found = running
        .ancestors()
        .skip(1)
        .take(2)
        .map(|folder| folder.join("lsp-tools"))
        .find(|path| path.is_file());
    found.context("lsp-tools is not built: cargo build --bins")
}

/// Cold hovers, alternating between the two clients.
pub fn run(stage: &Stage, plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let binary = binary()?;
    let says = stage.sample.hover.as_ref().map_or("", |hover| hover.says.as_str());
    let folders = stage.folders()?;
    let (mut first, mut whole) = (Samples::default(), Samples::default());
    let (mut raw_first, mut raw_whole) = (Samples::default(), Samples::default());
    for round in 0..=plan.cold_rounds {
        let started = Instant::now();
        let raw = stage.raw()?;
        let raw_answered = started.elapsed();
        raw.client.stop(Duration::from_secs(5))?;
        let raw_ended = started.elapsed();
        let started = Instant::now();
        let address =
            format!("{}:{}:{}", stage.sample.file, stage.position.line + 1, stage.position.character + 1);
        let mut child = Command::new(&binary)
            .args(["--format", "json", "hover", &address])
            .current_dir(stage.our_root())
            .env("LSP_TOOLS_CONFIG_DIR", &folders.config)
            .env("LSP_TOOLS_DATA_DIR", &folders.data)
            .env("LSP_TOOLS_STATE_DIR", &folders.state)
            .env("LSP_TOOLS_CACHE_DIR", &folders.cache)
            .env("LSP_TOOLS_NO_DAEMON", "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut answered = None;
        let mut text = String::new();
        for line in BufReader::new(stdout).lines() {
            answered.get_or_insert_with(|| started.elapsed());
            text += &line?;
        }
        child.wait()?;
        let ended = started.elapsed();
        anyhow::ensure!(text.contains(says), "the cold hover answers {text}");
        // The first round only warms the disk cache.
        if round > 0 {
            raw_first.push(raw_answered);
            raw_whole.push(raw_ended);
            first.push(answered.unwrap_or(ended));
            whole.push(ended);
        }
    }
    let row = |what: &str, ours: &Samples, raw: &Samples, judged: bool| {
        let ratio = ms(ours.median()) / ms(raw.median());
        Row {
            bench: "cold",
            subject: stage.server.clone(),
            what: format!("{what}, median of {}", ours.len()),
            ours: ms(ours.median()),
            raw: Some(ms(raw.median())),
            unit: "ms",
            judged: format!("× {ratio:.3}"),
            budget: if judged { format!("≤ × {RATIO}") } else { String::new() },
            met: judged.then_some(ratio <= RATIO),
        }
    };
    Ok(vec![row("to the answer", &first, &raw_first, true), row("to the end", &whole, &raw_whole, false)])
}

/// The cost of starting a program under the supervisor.
pub fn supervisor(plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let binary = binary()?;
    let program = Path::new("/bin/true");
    let (mut ours, mut plain) = (Samples::default(), Samples::default());
    for _ in 0..plan.warm_rounds / 10 {
        let started = Instant::now();
        Command::new(program).status()?;
        plain.push(started.elapsed());
        let started = Instant::now();
        let parent = std::process::id().to_string();
        Command::new(&binary).args(["__supervise", &parent, "kernel"]).arg(program).status()?;
        ours.push(started.elapsed());
    }
    Ok(vec![Row {
        bench: "cold",
        subject: "supervisor".to_owned(),
        what: format!("start and end, median of {}", ours.len()),
        ours: ms(ours.median()),
        raw: Some(ms(plain.median())),
        unit: "ms",
        judged: format!("{:+.2} ms", ms(ours.median()) - ms(plain.median())),
        budget: String::new(),
        met: None,
    }])
}
