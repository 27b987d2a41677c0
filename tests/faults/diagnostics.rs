//! Diagnostics in every way servers have of giving them: never those of an older text, and silence is not cleanness.

use lsp_tools::tools::answer::Verdict;
use serde_json::{Value, json};

use crate::play::{Play, in_time};

/// Each way of giving diagnostics: the scenario's `diagnostics`, and what the catalogue says of it.
fn modes() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("versioned", json!({}), ""),
        ("versioned, known", json!({}), "diagnostics = {source = \"versioned-push\"}"),
        ("versioned, stale first", json!({"stale_first": true, "debounce_ms": 30}), ""),
        ("versioned, twice", json!({"twice": true}), ""),
        ("versioned, debounced", json!({"debounce_ms": 80}), ""),
        ("unversioned, known", json!({"mode": "push_unversioned"}), "diagnostics = {source = \"push\", quiet-ms = 20}"),
        ("pull", json!({"mode": "pull"}), ""),
        ("pull, registered late", json!({"mode": "pull", "register_after_ms": 150}), ""),
        ("on save", json!({"only_on_save": true}), "diagnostics = {source = \"versioned-push\", on-save = true}"),
        ("empty first", json!({"empty_first": true, "debounce_ms": 50}), "diagnostics = {source = \"versioned-push\", first-empty-is-noise = true}"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_and_right_in_turn_is_never_stale_in_any_mode() {
    for (name, diagnostics, table) in modes() {
        let play = Play::with(&json!({ "diagnostics": diagnostics }), table, [("a.scr", "def foo\n")]);
        let begun = std::time::Instant::now();
        for round in 0..30 {
            let text = if round % 2 == 0 { "def foo WRONG\n".to_owned() } else { format!("def foo {round}\n") };
            play.project.write("a.scr", &text);
            if let Some(stale) = play.stale("a.scr").await {
                panic!("{name}, round {round}: {stale}");
            }
        }
        eprintln!("{name}: {:?}", begun.elapsed());
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_no_data_and_never_clean() {
    let play = Play::limited(&json!({"diagnostics": {"mode": "none"}}), std::time::Duration::from_secs(1));
    let answer = in_time(play.check("a.scr")).await.expect("a check");
    assert_eq!(answer.verdict, Verdict::NoData, "{answer:?}");
    play.end().await;
}
