//! Requests before the server is ready: their answers, and the next request, which does not restart
//! the wait.

use std::time::Duration;

use lsp_tools::internals::analysis::RetryAdvice;
use lsp_tools::{Answer, Client, Runtime, ServerState, Target, Verdict};
use serde_json::json;

use super::play::{Play, SOON, TEXT, at, failure, in_time, timed};

const FILES: [(&str, &str); 2] = [("a.scr", TEXT), ("b.scr", "foo foo foo foo\n")];
/// The number of occurrences of `foo` in [`FILES`].
const ALL: usize = 6;
/// The server reports when it has read the project; until then even hovers are unreliable.
const QUIESCENT: &str = "readiness = {server-status = true}";

/// The runtime for a caller with this timeout.
fn patient(play: &Play, timeout: Duration, patience: RetryAdvice) -> Runtime {
    play.runtime.for_client(Client { timeout: Some(timeout), patience, ..Client::default() })
}

/// The number in "12 s so far".
fn so_far(detail: &str) -> u64 {
    let (before, _) = detail.split_once(" s so far").unwrap_or_else(|| panic!("no time in {detail:?}"));
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("no number in {detail:?}"))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn server_start_outliving_request_is_joined_by_next_one() {
    let play = Play::new(&json!({"answers": {"initialize": {"delay_ms": 4_500}}}));
    let hasty = patient(&play, Duration::from_millis(1_800), RetryAdvice::Command);
    let mut times = Vec::new();
    for _ in 0..2 {
        let answer = in_time(hasty.hover(at("a.scr", 0, 0))).await.expect("an answer from the text");
        assert_eq!(answer.verdict, Verdict::Hints);
        assert_eq!(answer.server_status.state, ServerState::Starting);
        let hint = answer.server_status.hint.clone().unwrap_or_default();
        assert!(hint.ends_with("try again, or wait longer with --timeout 60"), "{hint}");
        times.push(so_far(answer.server_status.detail.as_deref().unwrap_or_default()));
    }
    assert!(times[0] >= 1 && times[1] >= 3, "the time counts from the start: {times:?}");
    let answer = in_time(play.hover("a.scr")).await.expect("a hover");
    assert_eq!(answer.verdict, Verdict::Complete);
    assert!(answer.server_status.waited_ms < 4_000, "{:?}", answer.server_status);
    assert_eq!(play.log().starts(), 1);
    play.end().await;
}

/// A start that exceeds its limit is not ended and repeated endlessly.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn server_start_past_limit_gets_longer_limit_next_time() {
    let slow = json!({"answers": {"initialize": {"delay_ms": 2_000}}});
    let project = crate::support::Project::scripted(&slow, "", [("a.scr", TEXT)]);
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[deadlines]\nstart = 1_000\n")
        .expect("settings");
    let play = Play::open(&project, None);
    let asked = async {
        loop {
            let answer = play.hover("a.scr").await.expect("an answer");
            if answer.verdict == Verdict::Complete {
                return;
            }
            assert_eq!(answer.server_status.state, ServerState::Crashed, "{answer:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    in_time(asked).await;
    assert!(play.log().starts() <= 3, "{} starts", play.log().starts());
    in_time(play.runtime.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn indexing_outliving_request_is_joined_by_next_one() {
    let index = json!({"index": {"ms": 6_000, "steps": 11, "server_status": true}});
    let play = Play::with(&index, QUIESCENT, FILES);
    let hasty = patient(&play, Duration::from_millis(1_500), RetryAdvice::Tool);
    let mut times = Vec::new();
    for _ in 0..2 {
        let answer = in_time(hasty.references(at("a.scr", 0, 4), 100)).await.expect("references");
        assert_eq!((answer.verdict, answer.output.count), (Verdict::Partial, ALL / 2), "{answer:?}");
        assert_eq!(answer.server_status.state, ServerState::Indexing);
        let detail = answer.server_status.detail.unwrap_or_default();
        assert!(detail.starts_with("scripted is indexing: ") && detail.contains("/11 ("), "{detail}");
        let hint = answer.server_status.hint.unwrap_or_default();
        assert!(hint.ends_with("try again in some seconds"), "{hint}");
        times.push(so_far(&detail));
    }
    assert!(times[1] > times[0], "the time counts from the start: {times:?}");
    let answer = in_time(play.references("a.scr")).await.expect("references");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Complete, ALL), "{answer:?}");
    assert_eq!(play.log().starts(), 1);
    play.end().await;
}

/// A slow server would not finish its answer if the request were sent only shortly before the
/// deadline.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn answer_given_while_indexing_is_preferred_to_text_search() {
    let scenario = json!({
        "index": {"ms": 500, "never_ends": true, "server_status": true},
        "answers": {
            "textDocument/hover": {"delay_ms": 1_200},
            "textDocument/references": {"delay_ms": 1_200},
            "workspace/symbol": {"delay_ms": 1_200},
        },
    });
    let play = Play::with(&scenario, QUIESCENT, FILES);
    // The server is already running, so that its start does not count below.
    in_time(play.check("a.scr")).await.expect("a check");
    let hasty = patient(&play, Duration::from_millis(2_500), RetryAdvice::Tool);
    let hover = in_time(hasty.hover(at("a.scr", 1, 0))).await.expect("a hover");
    assert!(hover.output.contents.starts_with("foo v1"), "{hover:?}");
    assert_eq!((hover.verdict, hover.server_status.state), (Verdict::Partial, ServerState::Indexing));
    let references = in_time(hasty.references(at("a.scr", 0, 4), 100)).await.expect("references");
    assert_eq!((references.verdict, references.output.count), (Verdict::Partial, ALL / 2), "{references:?}");
    let symbols = in_time(hasty.symbols(Target::Name("foo".into()), 10)).await.expect("symbols");
    assert_eq!((symbols.verdict, symbols.server_status.state), (Verdict::Partial, ServerState::Indexing));
    assert_eq!(symbols.output.count, 1, "{symbols:?}");
    play.end().await;
}

/// A request keeps some servers from reading, so none is sent while there is time.
#[tokio::test(flavor = "multi_thread")]
async fn references_during_indexing_are_asked_once_when_idle() {
    let play = Play::with(&json!({"index": {"ms": 1_500, "server_status": true}}), QUIESCENT, FILES);
    let answer = in_time(play.references("a.scr")).await.expect("references");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Complete, ALL), "{answer:?}");
    assert_eq!(
        play.log().count("textDocument/references"),
        1,
        "a server is not disturbed while there is time"
    );
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hover_during_cache_priming_is_complete_at_once() {
    let index = json!({"index": {"ms": 500, "never_ends": true, "server_status": true}});
    let table = "readiness = {server-status = true, files-during = [\"Indexing\"]}";
    let play = Play::with(&index, table, FILES);
    let (hover, took) = timed(play.hover("a.scr")).await;
    let hover = hover.expect("a hover");
    assert_eq!((hover.verdict, hover.server_status.state), (Verdict::Complete, ServerState::Indexing));
    assert_eq!(hover.server_status.hint, None, "nothing better would come of asking again");
    assert!(took < SOON / 2, "{took:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn unanswered_request_while_indexing_reports_progress() {
    let scenario = json!({
        "index": {"ms": 500, "never_ends": true},
        "answers": {"textDocument/hover": {"never": true}, "textDocument/signatureHelp": {"never": true}},
    });
    let play = Play::open(
        &crate::support::Project::scripted(&scenario, "", FILES),
        Some(Duration::from_millis(1_500)),
    );
    let hover = in_time(play.hover("a.scr")).await.expect("an answer from the text");
    assert_eq!((hover.verdict, hover.server_status.state), (Verdict::Hints, ServerState::Indexing));
    let (_, detail) = failure::<_>(Ok::<Answer<_>, _>(hover));
    assert!(detail.starts_with("scripted is indexing: 4/4 (80 %), "), "{detail}");
    let refused = in_time(play.runtime.signature(at("a.scr", 1, 0))).await.expect_err("no answer");
    assert!(refused.error.starts_with("scripted is indexing: "), "{refused:?}");
    assert!(refused.hint.is_some_and(|hint| hint.contains("try again")), "nothing to do");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_health_error_answer_is_partial() {
    let status = json!({"health": "error", "quiescent": true, "message": "no such toolchain"});
    let rules = json!([{"at": "initialized", "do": {"notify": {"method": "experimental/serverStatus", "params": status}}}]);
    let play = Play::with(&json!({ "rules": rules }), QUIESCENT, FILES);
    let hover = in_time(play.hover("a.scr")).await.expect("a hover");
    assert_eq!(hover.verdict, Verdict::Partial, "{hover:?}");
    let detail = hover.server_status.detail.unwrap_or_default();
    assert_eq!(detail, "scripted could not read the project: no such toolchain");
    play.end().await;
}
