//! The soak: another process edits real files, and every answer after an edit must equal that of a
//! fresh server.
//!
//! One round: an edit is drawn ([`edits`]), a shell writes it to the disk in one of several ways
//! ([`outside`]), and the product immediately gets requests for the file's diagnostics and for a
//! hover ([`product`]). Then the oracle ([`oracle`]) opens the same text in a server that has never
//! read the file, and the two are compared ([`verdict`]). Nothing may be stale, different or
//! missing.
//!
//! The tests on real servers are ignored by default: `SOAK_EDITS=300 cargo test soak:: -- --ignored
//! --nocapture`. `SOAK_SEED` repeats a run; each failure prints its seed. The other tests (`just
//! slow`) test the soak itself on the scripted server: a right product passes, and one that is
//! stale, silent or dropping findings is caught.

mod edits;
mod oracle;
mod outside;
mod product;
mod runtime;
mod subjects;
mod verdict;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::support::Project;
use crate::support::raw_client::Start;
use serde_json::json;

use edits::Editor;
use oracle::Oracle;
use product::{Faulty, Flaw, Product, RawEditor};
use runtime::Ours;
use subjects::Subject;
use verdict::{Report, Round};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// Edits the files of `subject` in `project` and compares the answers of `product` with a fresh
/// server, started with `start` in a copy of the project.
fn soak(
    subject: &Subject,
    project: &Project,
    start: &Start,
    product: &mut dyn Product,
    rounds: u64,
) -> Report {
    let default_seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs());
    let seed = setting("SOAK_SEED", default_seed);
    let mut report = Report::new(subject.name, seed);
    let mut editor = Editor::new(seed, subject, project);
    let mut oracle = Oracle::new(subject, start);
    for number in 1..=rounds {
        let edit = editor.next_edit();
        outside::write(&project.path(&edit.path), &edit.text, edit.way);
        let begun = Instant::now();
        let diagnostics = product.diagnostics(&edit.path);
        let diagnosed = begun.elapsed();
        let begun = Instant::now();
        let hover = edit.spot.map(|spot| product.hover(&edit.path, spot));
        let round = Round { number, edit, diagnostics, diagnosed, hover, hovered: begun.elapsed() };
        report.judge(round, &mut oracle);
        report.tell_progress();
    }
    report
}

fn soak_real(subject: &Subject) {
    let (project, start) = subject.real_project();
    let rounds = setting("SOAK_EDITS", 300);
    let report = match std::env::var_os("SOAK_CONTROL") {
        // A careful editor on the same server sets the standard: its differences come from the
        // server.
        Some(_) => soak(subject, &project, &start, &mut RawEditor::new(subject, start.clone()), rounds),
        None => soak(subject, &project, &start, &mut Ours::open(&project, subject.prefix()), rounds),
    };
    println!("{report}");
    report.assert_clean();
}

#[test]
#[ignore = "minutes; needs real servers: `just soak`"]
fn pylsp_soak_answers_are_never_stale() {
    soak_real(&subjects::PYLSP);
}

#[test]
#[ignore = "minutes; needs real servers: `just soak`"]
fn bash_language_server_soak_answers_are_never_stale() {
    soak_real(&subjects::BASH);
}

#[test]
#[ignore = "minutes; needs real servers: `just soak`"]
fn pyright_soak_answers_are_never_stale() {
    soak_real(&subjects::PYRIGHT);
}

#[test]
#[ignore = "minutes; needs real servers: `just soak`"]
fn typescript_language_server_soak_answers_are_never_stale() {
    soak_real(&subjects::TYPESCRIPT);
}

#[test]
#[ignore = "minutes; needs real servers: `just soak`"]
fn clangd_soak_answers_are_never_stale() {
    soak_real(&subjects::CLANGD);
}

const SCRIPTED_FILES: [(&str, &str); 2] = [
    ("a.scr", "def alpha\ndef beta\nalpha beta\nWRONG alpha\n"),
    ("sub/b.scr", "def gamma\n😀 gamma é alpha\n\tgamma gamma\n"),
];

/// A soak on the scripted server, with a product that has this flaw.
fn soak_scripted(scenario: &serde_json::Value, flaw: Option<Flaw>) -> Report {
    let mut scenario = scenario.clone();
    scenario["hover_version"] = json!(false);
    let project = Project::scripted(&scenario, "", SCRIPTED_FILES);
    let subject = subjects::SCRIPTED;
    let start = subject.scripted_start(&project);
    let mut product = Faulty::new(RawEditor::new(&subject, start.clone()), flaw);
    soak(&subject, &project, &start, &mut product, 40)
}

#[test]
#[ignore = "slow: just slow"]
fn soak_of_correct_product_passes_in_push_and_pull_mode() {
    for diagnostics in [
        json!({"mode": "push_versioned", "debounce_ms": 5, "stale_first": true, "twice": true}),
        json!({"mode": "pull"}),
    ] {
        soak_scripted(&json!({"diagnostics": diagnostics}), None).assert_clean();
    }
}

#[test]
#[ignore = "rare: just rare"]
fn soak_of_product_one_edit_behind_counts_stale() {
    let report = soak_scripted(&json!({}), Some(Flaw::OneEditBehind));
    assert!(report.stale > 5, "{report}");
}

#[test]
#[ignore = "rare: just rare"]
fn soak_of_product_with_late_hovers_is_caught() {
    let report = soak_scripted(&json!({}), Some(Flaw::HoverOneBehind));
    assert!(report.different + report.stale > 5, "{report}");
}

#[test]
#[ignore = "rare: just rare"]
fn soak_of_product_always_clean_is_caught() {
    let report = soak_scripted(&json!({}), Some(Flaw::AlwaysClean));
    assert!(report.different + report.stale > 5, "{report}");
}

#[test]
fn soak_of_product_without_answers_counts_missing() {
    let report = soak_scripted(&json!({}), Some(Flaw::NoData));
    assert_eq!(report.missing, 40, "{report}");
}

#[test]
fn soak_seed_reproduces_its_edit_sequence() {
    let project = Project::scripted(&json!({}), "", SCRIPTED_FILES);
    let sequence = |seed: u64| {
        let mut editor = Editor::new(seed, &subjects::SCRIPTED, &project);
        (0..60).map(|_| editor.next_edit()).map(|edit| (edit.kind, edit.path, edit.text)).collect::<Vec<_>>()
    };
    assert_eq!(sequence(5), sequence(5));
    assert_ne!(sequence(5), sequence(6));
    let kinds: std::collections::BTreeSet<&str> = sequence(5).into_iter().map(|(kind, ..)| kind).collect();
    assert!(kinds.len() >= 8, "60 edits are of many kinds: {kinds:?}");
}
