//! The contribution of each stage of the resolution: scopes, imports and members, beyond a ranking
//! by name alone.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use lsp_tools::internals::config::Catalogue;
use lsp_tools::internals::syntax::{DEADLINE, ResolutionStage, definition_up_to};

use super::{Truth, percent, place_of};

/// The stages of the resolution, each including those before it, with their labels.
const STAGES: [(&str, ResolutionStage); 4] = [
    ("by name alone", ResolutionStage::Names),
    ("+ scopes", ResolutionStage::Scopes),
    ("+ imports", ResolutionStage::Imports),
    ("+ members", ResolutionStage::Members),
];

/// The number of used names whose first candidate is right, at each of the [`STAGES`].
#[derive(Default)]
pub(super) struct StageShare {
    uses: usize,
    right: [usize; STAGES.len()],
}

/// Counts right first candidates for names that are used, not defined, at each of the [`STAGES`].
pub(super) fn measure(truth: &[Truth]) -> Result<StageShare> {
    let mut share = StageShare::default();
    let is_use = |truth: &&Truth| truth.is_name() && !truth.is_own_definition();
    for truth in truth.iter().filter(is_use) {
        let (workspace, subject) = truth.workspace_and_subject()?;
        share.uses += 1;
        for (right, (_, last)) in share.right.iter_mut().zip(STAGES) {
            let deadline = Instant::now() + DEADLINE;
            let hints = definition_up_to(last, &workspace, Catalogue::built_in(), &subject, deadline)?;
            let first = hints.candidates.first().and_then(|first| place_of(&first.location));
            *right += usize::from(first.is_some_and(|first| truth.definitions.contains(&first)));
        }
    }
    Ok(share)
}

/// Prints a table with a row for each language.
pub(super) fn print(shares: &BTreeMap<&str, StageShare>) {
    println!("| language | uses | {} |", STAGES.map(|(name, _)| name).join(" | "));
    println!("|---|---|{}", "---|".repeat(STAGES.len()));
    for (language, share) in shares {
        let right = share.right.map(|right| format!("{:.1} %", percent(right, share.uses)));
        println!("| {language} | {} | {} |", share.uses, right.join(" | "));
    }
}
