//! One character typed into a file of 50 MB.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use lsp_tools::internals::runtime::Overlays;
use lsp_tools::internals::text::{Buffer, TextChange};
use lsp_tools::internals::workspace::Workspace;
use lsp_tools::{Folders, Position, Runtime, RuntimeOptions, Target};

use super::stats::{Samples, ms};
use super::table::Row;
use super::{Plan, sink};

const SIZE: usize = 50_000_000;
const LINE: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron\n";
/// The maximum time to synchronize the server's text.
const SYNC: Duration = Duration::from_millis(2);
/// The maximum size of the sent change, in bytes.
const WIRE: f64 = 1024.0;

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(fs::write(path, text)?)
}

/// Measures the whole path through the runtime with a server that stores nothing, then each part.
pub async fn run(plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("project");
    fs::create_dir_all(root.join(".git"))?;
    let mut text = LINE.repeat(SIZE / LINE.len());
    let path = root.join("big.sink");
    write(&path, &text)?;
    let runtime = open(folder.path(), &root)?;
    let target = Target::Position { path: path.clone(), position: Position { line: 3, character: 2 } };
    let hover = async || -> anyhow::Result<(Duration, String)> {
        let started = Instant::now();
        let answer = runtime.hover(target.clone()).await.map_err(|error| anyhow!("{}", error.error))?;
        Ok((started.elapsed(), answer.output.contents))
    };
    hover().await?;
    // Longer than the time for which a fresh modification time is not trusted.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    let (mut idle, mut edited) = (Samples::default(), Samples::default());
    let mut wire = 0.0_f64;
    for round in 0..plan.big_rounds {
        hover().await?;
        idle.push(hover().await?.0);
        let at = (round + 1) * (SIZE / (plan.big_rounds + 2));
        text.replace_range(at..=at, "X");
        write(&path, &text)?;
        let (took, said) = hover().await?;
        edited.push(took);
        wire = wire.max(said.trim().parse::<f64>().map_err(|_| anyhow!("the sink answers {said:?}"))?);
        tokio::time::sleep(Duration::from_millis(2_100)).await;
    }
    let (unsaved_idle, unsaved) = in_memory(&runtime, &path, plan, &mut text, &hover).await?;
    runtime.shutdown().await;
    let added = ms(edited.median()) - ms(idle.median());
    let added_in_memory = ms(unsaved.median()) - ms(unsaved_idle.median());
    let mut rows = vec![
        row(
            "to the answer after an edit",
            &edited,
            Some(&idle),
            format!("{added:+.1} ms"),
            "≤ 1.3 × reading, see below",
            None,
        ),
        row(
            "to the answer after a change of unsaved text",
            &unsaved,
            Some(&unsaved_idle),
            format!("{added_in_memory:+.1} ms"),
            "≤ +2 ms (sync)",
            Some(added_in_memory <= ms(SYNC)),
        ),
        Row {
            bench: "big",
            subject: "50 MB file".to_owned(),
            what: "didChange on the wire".to_owned(),
            ours: wire,
            raw: None,
            unit: "B",
            judged: String::new(),
            budget: "< 1 KB".to_owned(),
            met: Some(wire < WIRE),
        },
    ];
    rows.extend(parts(&root, plan, &mut text)?);
    Ok(rows)
}

/// The time of an answer for unsaved text, unchanged and after one typed character.
async fn in_memory(
    runtime: &Runtime,
    path: &Path,
    plan: &Plan,
    text: &mut String,
    hover: &impl AsyncFn() -> anyhow::Result<(Duration, String)>,
) -> anyhow::Result<(Samples, Samples)> {
    let overlays = Arc::new(Overlays::default());
    let path = runtime.workspace().path(path)?;
    let mut buffer = Buffer::new(text);
    runtime.share_overlays(&overlays);
    let (mut idle, mut changed) = (Samples::default(), Samples::default());
    for round in 0..plan.big_rounds + 1 {
        let at = (round + 1) * (SIZE / (plan.big_rounds + 4));
        text.insert(at, 'Z');
        buffer.apply(&TextChange::to_text(&buffer, text).ok_or_else(|| anyhow!("no change was found"))?);
        let started = Instant::now();
        overlays.set_buffer(path.clone(), buffer.clone());
        hover().await?;
        let took = started.elapsed();
        // The first round opens the document at the server.
        if round > 0 {
            changed.push(took);
        }
        idle.push(hover().await?.0);
    }
    Ok((idle, changed))
}

fn row(
    what: &str,
    ours: &Samples,
    raw: Option<&Samples>,
    judged: String,
    budget: &str,
    met: Option<bool>,
) -> Row {
    Row {
        bench: "big",
        subject: "50 MB file".to_owned(),
        what: what.to_owned(),
        ours: ms(ours.median()),
        raw: raw.map(|raw| ms(raw.median())),
        unit: "ms",
        judged,
        budget: budget.to_owned(),
        met,
    }
}

/// The parts: reading the file, finding the change, applying it.
fn parts(root: &Path, plan: &Plan, text: &mut String) -> anyhow::Result<Vec<Row>> {
    let workspace = Workspace::open(root)?;
    let path = workspace.path(Path::new("big.sink"))?;
    let (mut read, mut plain, mut differ, mut apply) = Default::default();
    let all: [&mut Samples; 4] = [&mut read, &mut plain, &mut differ, &mut apply];
    let [read, plain, differ, apply] = all;
    let mut buffer = Buffer::new(text);
    for round in 0..plan.big_rounds {
        let at = (round + 1) * (SIZE / (plan.big_rounds + 3));
        text.replace_range(at..=at, "Y");
        write(&root.join("big.sink"), text)?;
        let started = Instant::now();
        let bytes = fs::read(root.join("big.sink"))?;
        plain.push(started.elapsed());
        drop(bytes);
        let started = Instant::now();
        let file = workspace.read_text_up_to(&path, 1 << 30)?;
        read.push(started.elapsed());
        let started = Instant::now();
        let change =
            TextChange::to_text(&buffer, &file.text).ok_or_else(|| anyhow!("no change was found"))?;
        differ.push(started.elapsed());
        let started = Instant::now();
        buffer.apply(&change);
        apply.push(started.elapsed());
    }
    Ok(vec![
        row("part: read and decode", read, Some(plain), "raw: fs::read".to_owned(), "", None),
        row("part: find the change", differ, None, String::new(), "", None),
        row("part: apply it to the rope", apply, None, String::new(), "", None),
    ])
}

/// A runtime whose only server stores nothing.
fn open(folder: &Path, root: &Path) -> anyhow::Result<Runtime> {
    let config = folder.join("config");
    fs::create_dir_all(&config)?;
    let program = std::env::current_exe()?;
    let servers = format!(
        "[language.sink]\nextensions = [\"sink\"]\nservers = [\"sink\"]\n[server.sink]\nlanguages = [\"sink\"]\ncommand = [{:?}, {:?}]\n",
        program.display().to_string(),
        sink::ARGUMENT
    );
    fs::write(config.join("servers.toml"), servers)?;
    let folders = Folders {
        config,
        data: folder.join("data"),
        state: folder.join("state"),
        cache: folder.join("cache"),
        home: None,
    };
    let options = RuntimeOptions {
        workspace: Some(root.to_owned()),
        cwd: root.to_owned(),
        timeout: Some(Duration::from_secs(60)),
        ..RuntimeOptions::default()
    };
    Runtime::open_with(options, folders).map_err(|error| anyhow!("{}", error.error))
}
