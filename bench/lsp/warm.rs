//! Warm hover and definition through the library, and many concurrent callers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use lsp_tools::{Runtime, Target};

use super::Plan;
use super::stage::{Raw, Stage};
use super::stats::{Samples, ms, us};
use super::table::Row;

/// The maximum time added at the median to the raw client's.
const ADDED: Duration = Duration::from_micros(60);
const CALLERS: usize = 64;
/// The minimum share of the raw client's throughput.
const SHARE: f64 = 0.98;

async fn ask(runtime: &Runtime, method: &str, target: Target) -> anyhow::Result<()> {
    let refused = |error: lsp_tools::ToolError| anyhow!("{}", error.error);
    match method {
        "hover" => drop(runtime.hover(target).await.map_err(refused)?),
        _ => drop(runtime.definition(target).await.map_err(refused)?),
    }
    Ok(())
}

/// Hover and definition, alternating between the two clients.
pub async fn warm(stage: &Stage, plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let runtime = Arc::new(stage.runtime().await?);
    let mut raw = stage.raw()?;
    let mut rows = Vec::new();
    for method in ["hover", "definition"] {
        let long = format!("textDocument/{method}");
        let (mut ours, mut theirs) = (Samples::default(), Samples::default());
        let begun = Instant::now();
        for round in 0..plan.warm_rounds + plan.warm_up {
            // Some servers take a quarter of a second.
            if begun.elapsed() > plan.longest && ours.len() > 20 {
                break;
            }
            let started = Instant::now();
            raw.ask(&long, stage.position)?;
            let took_raw = started.elapsed();
            // Front ends send requests from tasks on worker threads, not from the blocked main
            // thread.
            let (runtime, target) = (runtime.clone(), stage.target());
            let timed = tokio::spawn(async move {
                let started = Instant::now();
                ask(&runtime, method, target).await?;
                anyhow::Ok(started.elapsed())
            });
            let took = timed.await??;
            if round >= plan.warm_up {
                theirs.push(took_raw);
                ours.push(took);
            }
        }
        let added = us(ours.median()) - us(theirs.median());
        rows.push(Row {
            bench: "warm",
            subject: stage.server.clone(),
            what: format!("{method}, median of {}", ours.len()),
            ours: us(ours.median()),
            raw: Some(us(theirs.median())),
            unit: "µs",
            judged: format!("{added:+.0} µs"),
            budget: format!("≤ +{} µs", ADDED.as_micros()),
            met: Some(added <= us(ADDED)),
        });
        rows.push(Row {
            bench: "warm",
            subject: stage.server.clone(),
            what: format!("{method}, 99th percentile"),
            ours: us(ours.quantile(0.99)),
            raw: Some(us(theirs.quantile(0.99))),
            unit: "µs",
            judged: format!("{:+.0} µs", us(ours.quantile(0.99)) - us(theirs.quantile(0.99))),
            budget: String::new(),
            met: None,
        });
    }
    runtime.shutdown().await;
    Ok(rows)
}

/// Many callers of one runtime, compared with a raw client with as many requests in flight.
pub async fn callers(stage: &Stage, plan: &Plan) -> anyhow::Result<Vec<Row>> {
    let runtime = Arc::new(stage.runtime().await?);
    let mut raw = stage.raw()?;
    ask(&runtime, "hover", stage.target()).await?;
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for _ in 0..plan.caller_rounds {
        theirs.push(pipelined(&mut raw, stage, plan.calls_each)?);
        let started = Instant::now();
        let tasks: Vec<_> = (0..CALLERS)
            .map(|_| {
                let (runtime, target, calls) = (runtime.clone(), stage.target(), plan.calls_each);
                tokio::spawn(async move {
                    for _ in 0..calls {
                        ask(&runtime, "hover", target.clone()).await?;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        ours.push(started.elapsed());
    }
    runtime.shutdown().await;
    let calls = (CALLERS * plan.calls_each) as f64;
    let per_second = |samples: &Samples| calls / samples.median().as_secs_f64();
    let share = per_second(&ours) / per_second(&theirs);
    Ok(vec![Row {
        bench: "callers",
        subject: stage.server.clone(),
        what: format!("{CALLERS} callers, hovers a second"),
        ours: per_second(&ours),
        raw: Some(per_second(&theirs)),
        unit: "/s",
        judged: format!("× {share:.3} ({:.1} ms)", ms(ours.median())),
        budget: format!("≥ × {SHARE}"),
        met: Some(share >= SHARE),
    }])
}

/// The raw client with `CALLERS` requests in flight at all times.
fn pipelined(raw: &mut Raw, stage: &Stage, calls_each: usize) -> anyhow::Result<Duration> {
    let params = serde_json::json!({
        "textDocument": { "uri": raw.uri },
        "position": { "line": stage.position.line, "character": stage.position.character }
    });
    let started = Instant::now();
    let mut flying = std::collections::VecDeque::new();
    for call in 0..CALLERS * calls_each {
        if call >= CALLERS
            && let Some(id) = flying.pop_front()
        {
            raw.client.wait(id)?;
        }
        flying.push_back(raw.client.send("textDocument/hover", &params)?);
    }
    for id in flying {
        raw.client.wait(id)?;
    }
    Ok(started.elapsed())
}
