//! The tables: the cost of each arm for each kind of question, and every tie and loss by name.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::questions::{KINDS, Kind};

/// The result of one arm for one question.
pub struct Taken {
    pub arm: &'static str,
    pub bytes: usize,
    pub calls: usize,
    pub is_whole: bool,
    pub recall: f64,
    pub false_complete: bool,
    pub failed: Option<String>,
    pub missing: Vec<String>,
    pub seconds: f64,
}

pub struct Asked {
    pub kind: Kind,
    pub name: String,
    pub is_disputed: bool,
    pub truth: usize,
    pub taken: Vec<Taken>,
}

/// Our cost compared with the lowest of the others, in bytes or in calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Least,
    Tie,
    Loss,
}

const OURS: &str = "ours";
/// Our own arms, which are not among the compared ones.
const OWN: [&str; 2] = [OURS, "ours, explore"];

impl Asked {
    fn of(&self, arm: &str) -> Option<&Taken> {
        self.taken.iter().find(|taken| taken.arm == arm)
    }

    /// Our outcome against the cheapest of `others` with a complete answer.
    fn against(&self, others: &[&str], figure: fn(&Taken) -> usize) -> (Outcome, Option<&Taken>) {
        let whole = self.taken.iter().filter(|one| one.is_whole && others.contains(&one.arm));
        let least = whole.min_by_key(|one| figure(one));
        let outcome = match (self.of(OURS).filter(|ours| ours.is_whole), least) {
            (Some(ours), Some(least)) if figure(ours) == figure(least) => Outcome::Tie,
            (Some(ours), Some(least)) if figure(ours) > figure(least) => Outcome::Loss,
            (Some(_), _) => Outcome::Least,
            (None, _) => Outcome::Loss,
        };
        (outcome, least)
    }
}

fn bytes(taken: &Taken) -> usize {
    taken.bytes
}

fn calls(taken: &Taken) -> usize {
    taken.calls
}

fn median(mut all: Vec<usize>) -> usize {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn share(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Prints all tables and writes them to `path` as JSON.
pub fn report(
    path: &Path,
    asked: &[Asked],
    arms: &[&'static str],
    absent: &BTreeMap<&str, String>,
) -> Result<()> {
    for kind in KINDS.into_iter().filter(|kind| asked.iter().any(|one| one.kind == *kind)) {
        table(kind, asked, arms);
    }
    let others: Vec<&str> = arms.iter().copied().filter(|arm| !OWN.contains(arm)).collect();
    let required: Vec<&str> = others.iter().copied().filter(|arm| *arm != "rg alone").collect();
    println!(
        "\n| ours against | least in bytes | ties | losses | least in calls | ties | losses |\n|---|---|---|---|---|---|---|"
    );
    let groups = others.iter().map(|arm| ((*arm).to_owned(), vec![*arm]));
    let all = [
        ("rg + windows and all peers".to_owned(), required.clone()),
        ("all of them".to_owned(), others.clone()),
    ];
    for (name, group) in groups.chain(all) {
        let cells = [bytes, calls].map(|figure: fn(&Taken) -> usize| {
            let count =
                |wanted: Outcome| asked.iter().filter(|one| one.against(&group, figure).0 == wanted).count();
            let [least, ties, losses] = [Outcome::Least, Outcome::Tie, Outcome::Loss].map(count);
            format!("{least} ({:.1} %) | {ties} | {losses}", share(least, asked.len()))
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!("\nties and losses in bytes, against rg + windows and all peers:");
    for one in asked {
        let (outcome, least) = one.against(&required, bytes);
        if outcome == Outcome::Least {
            continue;
        }
        let ours = one.of(OURS).map_or_else(String::new, |ours| {
            format!("{} bytes{}", ours.bytes, if ours.is_whole { "" } else { ", NOT WHOLE" })
        });
        let least = least.map_or_else(|| "none".to_owned(), |least| format!("{} {}", least.arm, least.bytes));
        println!("  {outcome:?}: {}: ours {ours}; {least}", one.name);
    }
    println!(
        "\nof {} questions, {} are disputed (the witnesses name different lines; what both name is the truth)",
        asked.len(),
        asked.iter().filter(|one| one.is_disputed).count()
    );
    for one in asked {
        for taken in
            one.taken.iter().filter(|taken| OWN.contains(&taken.arm) && !taken.is_whole && taken.arm == OURS)
        {
            let complete = if taken.false_complete { ", SAID COMPLETE" } else { "" };
            let failed = taken.failed.as_deref().unwrap_or_default();
            println!("  not whole{complete}: {}: missing {} {failed}", one.name, taken.missing.join(", "));
        }
    }
    for (peer, why) in absent {
        println!("\n{peer} is not asked: {why}");
    }
    write(path, asked)
}

fn table(kind: Kind, asked: &[Asked], arms: &[&str]) {
    println!("\n### {}\n", kind.words());
    println!(
        "| arm | whole | mean recall | median bytes | median calls | `complete` and wrong | failures | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for arm in arms {
        let taken: Vec<&Taken> =
            asked.iter().filter(|one| one.kind == kind).filter_map(|one| one.of(arm)).collect();
        if taken.is_empty() {
            continue;
        }
        let count = |of: &dyn Fn(&Taken) -> bool| taken.iter().filter(|one| of(one)).count();
        let recall = taken.iter().map(|one| one.recall).sum::<f64>() / taken.len() as f64;
        let seconds: f64 = taken.iter().map(|one| one.seconds).sum();
        let figures = |figure: fn(&Taken) -> usize| median(taken.iter().map(|one| figure(one)).collect());
        println!(
            "| {arm} | {} of {} | {:.1} % | {} | {} | {} | {} | {seconds:.0} |",
            count(&|one| one.is_whole),
            taken.len(),
            100.0 * recall,
            figures(bytes),
            figures(calls),
            if OWN.contains(arm) { count(&|one| one.false_complete).to_string() } else { "–".to_owned() },
            count(&|one| one.failed.is_some()),
        );
    }
}

fn write(path: &Path, asked: &[Asked]) -> Result<()> {
    let of = |taken: &Taken| {
        json!({
            "arm": taken.arm, "bytes": taken.bytes, "calls": taken.calls, "whole": taken.is_whole, "recall": taken.recall,
            "false_complete": taken.false_complete, "failed": taken.failed, "missing": taken.missing, "seconds": taken.seconds,
        })
    };
    let all: Value = asked
        .iter()
        .map(|one| {
            json!({
                "kind": one.kind.words(), "question": one.name, "disputed": one.is_disputed, "truth": one.truth,
                "taken": one.taken.iter().map(of).collect::<Value>(),
            })
        })
        .collect();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, serde_json::to_vec_pretty(&all)?)?)
}
