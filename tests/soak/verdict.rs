//! Comparison of the product's answers with the truth, and the final table.

use std::fmt;
use std::time::Duration;

use super::edits::Edit;
use super::oracle::{Finding, Oracle, Truth};
use super::product::Answered;

/// The number of rounds between checks by a fresh server if there is no doubt.
const SAMPLE: u64 = 25;
/// The number of rounds between progress messages.
const TELLING: u64 = 50;

/// An edit and the product's answers after it.
pub struct Round {
    pub number: u64,
    pub edit: Edit,
    pub diagnostics: Answered<Vec<Finding>>,
    pub diagnosed: Duration,
    pub hover: Option<Answered<Vec<String>>>,
    pub hovered: Duration,
}

/// The results of all rounds.
pub struct Report {
    name: &'static str,
    seed: u64,
    rounds: u64,
    /// Rounds with an answer that is right for the text before the edit.
    pub stale: u64,
    /// Rounds with an answer that is right for neither text.
    pub different: u64,
    /// Rounds with an incomplete answer.
    pub missing: u64,
    /// Rounds without an answer of a fresh server.
    pub undecided: u64,
    /// Diagnostics and non-empty hovers in all answers: a soak without either proves nothing.
    seen: (usize, usize),
    diagnosed: Vec<Duration>,
    hovered: Vec<Duration>,
    failures: Vec<String>,
}

impl Report {
    pub fn new(name: &'static str, seed: u64) -> Self {
        Self {
            name,
            seed,
            rounds: 0,
            stale: 0,
            different: 0,
            missing: 0,
            undecided: 0,
            seen: (0, 0),
            diagnosed: Vec::new(),
            hovered: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Compares the answers of a round with those of a fresh server.
    pub fn judge(&mut self, round: Round, oracle: &mut Oracle) {
        self.rounds += 1;
        self.diagnosed.push(round.diagnosed);
        self.hovered.extend(round.hover.is_some().then_some(round.hovered));
        if let Answered::Complete(findings) = &round.diagnostics {
            self.seen.0 += findings.len();
        }
        if let Some(Answered::Complete(words)) = &round.hover {
            self.seen.1 += usize::from(!words.is_empty());
        }
        let Edit { path, text, spot, .. } = &round.edit;
        oracle.follow(path, text);
        let missing = match (&round.diagnostics, &round.hover) {
            (Answered::Missing(why), _) => Some(format!("diagnostics: {why}")),
            (_, Some(Answered::Missing(why))) => Some(format!("hover: {why}")),
            _ => None,
        };
        if let Some(why) = missing {
            self.missing += 1;
            return self.note(&round, "missing", why);
        }
        let quick = oracle.fresh_document(path, text, *spot);
        let agreed = quick.as_ref().is_ok_and(|truth| agrees(&round, truth));
        if agreed && !round.number.is_multiple_of(SAMPLE) {
            return;
        }
        if oracle.fresh_server(path, text, *spot).is_ok_and(|truth| agrees(&round, &truth)) {
            return;
        }
        match oracle.patient_server(path, text, *spot) {
            Ok(truth) if agrees(&round, &truth) => {}
            Ok(truth) => self.wrong(&round, &truth, oracle),
            Err(error) => {
                self.undecided += 1;
                self.note(&round, "undecided", error.to_string());
            }
        }
    }

    fn wrong(&mut self, round: &Round, truth: &Truth, oracle: &mut Oracle) {
        let Edit { path, text, before, spot, .. } = &round.edit;
        // The text before the edit, on disk too, during this question.
        oracle.follow(path, before);
        let old = oracle.patient_server(path, before, *spot);
        oracle.follow(path, text);
        let of_old_text = old.is_ok_and(|old| {
            (says(&round.diagnostics, &truth.findings) || says(&round.diagnostics, &old.findings))
                && match (&round.hover, &truth.hover, &old.hover) {
                    (Some(said), Some(now), Some(then)) => says(said, now) || says(said, then),
                    _ => true,
                }
        });
        let (kind, count) =
            if of_old_text { ("stale", &mut self.stale) } else { ("different", &mut self.different) };
        *count += 1;
        let mut what = String::new();
        if let Answered::Complete(said) = &round.diagnostics {
            let only_said: Vec<_> = said.iter().filter(|finding| !truth.findings.contains(finding)).collect();
            let not_said: Vec<_> = truth.findings.iter().filter(|finding| !said.contains(finding)).collect();
            what += &format!("said only: {only_said:?}; not said: {not_said:?}");
        }
        if let (Some(Answered::Complete(said)), Some(truth)) = (&round.hover, &truth.hover)
            && said != truth
        {
            what += &format!("; hover at {:?} said: {said:?}; right: {truth:?}", round.edit.spot);
        }
        self.note(round, kind, what);
    }

    /// Shows progress in runs of minutes.
    pub fn tell_progress(&self) {
        if self.rounds.is_multiple_of(TELLING) {
            let wrong = self.stale + self.different + self.missing + self.undecided;
            eprintln!("{}: {} edits so far, {wrong} in doubt", self.name, self.rounds);
        }
    }

    fn note(&mut self, round: &Round, kind: &str, what: String) {
        let Edit { path, kind: edit, way, .. } = &round.edit;
        let failure = format!("round {}, {path}, {edit} ({way:?}): {kind}: {what}", round.number);
        eprintln!("{failure}");
        self.failures.push(failure);
    }

    /// Fails unless every answer was present and right, and there was something to compare.
    #[track_caller]
    pub fn assert_clean(&self) {
        let (findings, hovers) = self.seen;
        assert!(
            findings > 0 && hovers > 0,
            "the server finds nothing wrong, or knows nothing (a linter missing?): {self}"
        );
        assert!(self.failures.is_empty(), "{self}");
    }
}

fn says<T: PartialEq>(answer: &Answered<T>, truth: &T) -> bool {
    matches!(answer, Answered::Complete(said) if said == truth)
}

fn agrees(round: &Round, truth: &Truth) -> bool {
    let hover = match (&round.hover, &truth.hover) {
        (Some(said), Some(truth)) => says(said, truth),
        (None, None) => true,
        _ => false,
    };
    hover && says(&round.diagnostics, &truth.findings)
}

/// The median and the 99th percentile.
fn spread(durations: &[Duration]) -> String {
    let mut sorted = durations.to_vec();
    sorted.sort();
    let at =
        |share: usize| sorted.get(sorted.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
    format!("{:.1?} (p99 {:.1?})", at(50), at(99))
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{}: {} edits (SOAK_SEED={}): stale {}, different {}, missing {}, undecided {}; diagnostics {}, hover {}; \
             {} findings, {} hovers seen",
            self.name,
            self.rounds,
            self.seed,
            self.stale,
            self.different,
            self.missing,
            self.undecided,
            spread(&self.diagnosed),
            spread(&self.hovered),
            self.seen.0,
            self.seen.1,
        )?;
        self.failures.iter().take(20).try_for_each(|failure| writeln!(formatter, "  {failure}"))?;
        match self.failures.len().saturating_sub(20) {
            0 => Ok(()),
            more => writeln!(formatter, "  and {more} more"),
        }
    }
}
