//! Diagnostics after edits on disk that make a file wrong, right, wrong, …

use std::fs;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use serde_json::Value;

use super::Plan;
use super::stage::{Findings, Stage};
use super::stats::{Samples, ms};
use super::table::Row;

/// The maximum time added to the raw server's time to the right findings.
const ADDED: Duration = Duration::from_millis(50);

/// Edits and requests diagnostics, alternating between the two clients.
pub async fn run(stage: &Stage, findings: Findings, plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let Some(wrong) = stage.sample.wrong.clone() else { return Ok(Vec::new()) };
    let (right_text, wrong_text) = stage.sample.texts(&wrong)?;
    let says = wrong.says.to_lowercase();
    let runtime = stage.runtime().await?;
    let mut raw = stage.raw()?;
    let refused = |error: lsp_tools::ToolError| anyhow!("{}", error.error);
    runtime.diagnose(vec![stage.our_file()], None, 100).await.map_err(refused)?;
    // Indexed by whether the text was wrong.
    let mut ours = [Samples::default(), Samples::default()];
    let mut theirs = [Samples::default(), Samples::default()];
    let mut faults = 0;
    for round in 0..plan.edits {
        let is_wrong = round % 2 == 0;
        // Each text is new, so that no server answers from a cache.
        let tail = format!("{}\n", " ".repeat(round / 2 % 7));
        let text = if is_wrong { &wrong_text } else { &right_text }.clone() + &tail;
        let started = Instant::now();
        raw.findings_after(&text, findings, |items| {
            is_wrong == items.iter().any(|item: &Value| item.to_string().to_lowercase().contains(&says))
        })?;
        theirs[usize::from(is_wrong)].push(started.elapsed());
        fs::write(stage.our_file(), &text)?;
        let started = Instant::now();
        let answer = runtime.diagnose(vec![stage.our_file()], None, 100).await.map_err(refused)?;
        ours[usize::from(is_wrong)].push(started.elapsed());
        let found = answer.output.diagnostics.iter().any(|item| item.message.to_lowercase().contains(&says));
        let coded =
            |code: &Option<String>| code.as_ref().is_some_and(|code| code.to_lowercase().contains(&says));
        let found = found || answer.output.diagnostics.iter().any(|item| coded(&item.code));
        faults += usize::from(found != is_wrong || answer.verdict != lsp_tools::Verdict::Complete);
    }
    runtime.shutdown().await;
    anyhow::ensure!(faults == 0, "{faults} of {} answers were not about the text", plan.edits);
    Ok([("wrong text", 1), ("right text", 0)]
        .into_iter()
        .map(|(what, index)| {
            let added = ms(ours[index].median()) - ms(theirs[index].median());
            Row {
                bench: "fresh",
                subject: stage.server.clone(),
                what: format!("{what}, median of {}", ours[index].len()),
                ours: ms(ours[index].median()),
                raw: Some(ms(theirs[index].median())),
                unit: "ms",
                judged: format!("{added:+.1} ms"),
                budget: format!("≤ +{} ms", ADDED.as_millis()),
                met: Some(added <= ms(ADDED)),
            }
        })
        .collect())
}
