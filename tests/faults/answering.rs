//! Servers that are silent, slow, or need repeated requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lsp_tools::{ErrorCode, ServerState, Verdict};
use serde_json::json;

use super::play::{Play, SOON, TEXT, at, failure, in_time, timed};
use crate::support::fingerprint;

#[tokio::test(flavor = "multi_thread")]
async fn server_never_answering_request_times_out_and_is_cancelled() {
    let play =
        Play::limited(&json!({"answers": {"textDocument/hover": {"never": true}}}), Duration::from_secs(1));
    let (answer, took) = timed(play.hover("a.scr")).await;
    let (state, detail) = failure(answer);
    assert_eq!(state, ServerState::Timeout);
    assert!(detail.contains("textDocument/hover"), "{detail}");
    assert!(took < SOON, "{took:?}");
    let asked = &play.log().messages().into_iter().find(|message| message["method"] == "textDocument/hover");
    let id = asked.as_ref().expect("a hover")["id"].clone();
    play.log().wait_for("the cancellation of the hover", SOON, |log| {
        log.params("$/cancelRequest").into_iter().find(|params| params["id"] == id)
    });
    // The session survives: the next request is answered.
    let outline = in_time(play.runtime.symbols(lsp_tools::Target::File("a.scr".into()), 10)).await;
    let outline = outline.expect("an outline");
    assert_eq!(outline.verdict, Verdict::Complete, "{outline:?}");
    assert_eq!(play.log().starts(), 1, "{outline:?} {:?}", play.log().messages());
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_server_makes_symbols_partial_only_where_its_files_have_the_name() {
    let files = [("a.scr", TEXT), ("README.md", "# Notes\n"), ("more.lua", "function bar()\nend\n")];
    let play = Play::with(&json!({}), "", files);
    let target = || lsp_tools::Target::Name("foo".into());
    let answer = in_time(play.runtime.symbols(target(), 10)).await.expect("symbols");
    assert_eq!((answer.verdict, answer.output.count), (Verdict::Complete, 1), "{answer:?}");
    play.project.write("README.md", "# foo\n");
    let answer = in_time(play.runtime.symbols(target(), 10)).await.expect("symbols");
    assert_eq!(answer.verdict, Verdict::Complete, "prose defines no symbol of code: {answer:?}");
    play.project.write("more.lua", "function foo()\nend\n");
    let answer = in_time(play.runtime.symbols(target(), 10)).await.expect("symbols");
    assert_eq!(answer.verdict, Verdict::Partial, "{answer:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_never_initializing_times_out_and_leaves_no_process() {
    let play = Play::limited(&json!({"answers": {"initialize": {"never": true}}}), Duration::from_secs(1));
    let (answer, _) = timed(play.hover("a.scr")).await;
    let (state, detail) = failure(answer);
    assert!(matches!(state, ServerState::Starting | ServerState::Timeout), "{state:?}: {detail}");
    assert!(detail.contains("still starting"), "{detail}");
    in_time(play.runtime.shutdown()).await;
    assert_eq!(crate::support::count_processes(&play.project.marker()), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_ends_at_its_deadline_and_names_servers_that_it_did_not_reach() {
    let silent = json!({"answers": {"textDocument/documentSymbol": {"never": true}}});
    let play = Play::limited(&silent, Duration::from_secs(2));
    let (found, took) = timed(play.runtime.doctor()).await;
    assert!(took < SOON / 2, "{took:?}");
    let [server] = &found.servers[..] else { panic!("{found:?}") };
    let finding = &server.findings.last().expect("a finding").message;
    assert!(finding.starts_with("not checked within 2 s"), "{finding}");
    assert!(!found.well && server.found.is_some() && server.probe.is_none(), "{found:?}");
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn delayed_answer_within_deadline_is_returned() {
    let play = Play::new(&json!({"answers": {"textDocument/hover": {"delay_ms": 700}}}));
    let answer = in_time(play.hover("a.scr")).await.expect("a hover");
    assert_eq!(answer.output.contents, format!("def v1 {}", fingerprint(TEXT)));
    assert_eq!(answer.verdict, Verdict::Complete);
    play.end().await;
}

/// A position may have moved in the text that the answer is about.
#[tokio::test(flavor = "multi_thread")]
async fn name_that_moves_while_the_server_answers_is_asked_about_where_it_is_now() {
    let play = Play::new(&json!({"answers": {"textDocument/hover": {"delay_ms": 1500}}}));
    let target = lsp_tools::Target::NameOnLine { path: "a.scr".into(), line0: 1, name: "bar".into() };
    let (log, file) = (play.log(), play.project.path("a.scr"));
    let moving = tokio::task::spawn_blocking(move || {
        log.wait_for("the first hover", SOON, |log| {
            log.messages().into_iter().find(|message| message["method"] == "textDocument/hover")
        });
        std::fs::write(file, "def foo\nfoo qux\nfoo bar\n").expect("written");
    });
    let answer = in_time(play.runtime.hover(target)).await;
    moving.await.expect("moved");
    let answer = answer.expect("a hover");
    assert!(answer.output.contents.starts_with("bar v2 "), "{answer:?}");
    assert_eq!(answer.verdict, Verdict::Complete);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn file_that_keeps_changing_is_asked_about_five_times_at_most() {
    let play = Play::new(&json!({"answers": {"textDocument/hover": {"delay_ms": 200}}}));
    let (log, file) = (play.log(), play.project.path("a.scr"));
    let end = Arc::new(AtomicBool::new(false));
    let is_over = end.clone();
    let writing = tokio::task::spawn_blocking(move || {
        for round in 1.. {
            let asked = log.wait_for("another hover or the end", SOON, |log| {
                let asked = log.count("textDocument/hover") >= round;
                (asked || is_over.load(Ordering::Relaxed)).then_some(asked)
            });
            if !asked {
                return;
            }
            std::fs::write(&file, format!("{TEXT}{}", "foo\n".repeat(round))).expect("written");
        }
    });
    let error = in_time(play.hover("a.scr")).await.expect_err("no answer");
    end.store(true, Ordering::Relaxed);
    writing.await.expect("the writer ends");
    assert_eq!(error.code, ErrorCode::Conflict, "{error}");
    assert!(error.error.contains("kept changing"), "{error}");
    assert_eq!(play.log().count("textDocument/hover"), 5);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_after_deadline_does_not_disturb_next_request() {
    let scenario = json!({"answers": {"textDocument/hover": {"delay_ms": 1500, "ignores_cancel": true}}});
    let play = Play::limited(&scenario, Duration::from_millis(1000));
    assert_eq!(failure(in_time(play.hover("a.scr")).await).0, ServerState::Timeout);
    play.log().wait_for("the late answer", SOON, |log| {
        let asked = log.messages().into_iter().find(|message| message["method"] == "textDocument/hover")?;
        log.lines().into_iter().find(|line| line["sent"] == asked["id"])
    });
    let definition = in_time(play.runtime.definition(at("a.scr", 1, 0))).await.expect("a definition");
    assert_eq!(definition.output.count, 1);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn content_modified_or_server_cancelled_request_is_retried() {
    for code in [-32801, -32802] {
        let first = json!({"times": 3, "error": {"code": code, "message": "again", "data": {"retriggerRequest": true}}});
        let play = Play::new(&json!({"answers": {"textDocument/hover": {"first": first}}}));
        assert!(play.seen("a.scr").await.ends_with(&fingerprint(TEXT)));
        assert_eq!(play.log().count("textDocument/hover"), 4, "{code}");
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_end_at_the_deadline() {
    let error = json!({"code": -32801, "message": "content modified"});
    let play =
        Play::limited(&json!({"answers": {"textDocument/hover": {"error": error}}}), Duration::from_secs(1));
    let (answer, _) = timed(play.hover("a.scr")).await;
    let (_, detail) = failure(answer);
    assert!(detail.contains("content modified"), "{detail}");
    assert!(play.log().count("textDocument/hover") > 2);
    play.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_caller_request_is_cancelled_at_server() {
    let play = Play::new(&json!({"answers": {"textDocument/hover": {"never": true}}}));
    {
        let asking = play.hover("a.scr");
        let mut asking = std::pin::pin!(asking);
        let arrived = async {
            while play.log().count("textDocument/hover") == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        in_time(async {
            tokio::select! {
                answer = asking.as_mut() => panic!("answered: {answer:?}"),
                () = arrived => {}
            }
        })
        .await;
    }
    let asked = play.log().messages().into_iter().find(|message| message["method"] == "textDocument/hover");
    let id = asked.expect("a hover")["id"].clone();
    play.log().wait_for("a cancellation", SOON, |log| {
        log.params("$/cancelRequest").into_iter().find(|params| params["id"] == id)
    });
    play.end().await;
}
