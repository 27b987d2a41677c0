//! Servers that die.

use std::time::Duration;

use lsp_tools::answer::HoverOutput;
use lsp_tools::{Answer, ServerState, Target, Verdict};
use serde_json::json;

use super::play::{Play, SOON, TEXT, failure, in_time, timed};
use crate::support::{count_processes, fingerprint, wait_until};

/// The points at which a first request meets the crash.
const POINTS: [&str; 6] =
    ["initialize", "initialized", "did_open", "first_request", "mid_reply", "did_change"];

fn crash(at: &str, times: Option<u64>) -> serde_json::Value {
    let mut crash = json!({"at": at, "code": 7, "stderr": ["out of cheese", "redo from start"]});
    if let Some(times) = times {
        crash["times"] = json!(times);
    }
    json!({ "crash": crash })
}

#[tokio::test(flavor = "multi_thread")]
async fn server_crashing_once_is_restarted_and_answer_notes_it() {
    for at in POINTS.into_iter().filter(|at| *at != "initialize") {
        let play = Play::new(&crash(at, Some(1)));
        if at == "did_change" {
            play.seen("a.scr").await;
            play.project.write("a.scr", "def foo\nfoo bar baz\n");
        }
        let (answer, took) = timed(play.hover("a.scr")).await;
        let answer = answer.unwrap_or_else(|error| panic!("{at}: {error:?}"));
        let text = play.project.read("a.scr");
        assert!(answer.output.contents.ends_with(&fingerprint(&text)), "{at}: {answer:?}");
        assert_eq!(answer.verdict, Verdict::Complete, "{at}");
        let notes = answer.notes.join("\n");
        assert!(
            notes.contains("exit status 7") && notes.contains("redo from start"),
            "{at}: {notes:?}, {took:?}"
        );
        assert_eq!(play.log().starts(), 2, "{at}");
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_crashing_always_is_reported_with_status_and_stderr() {
    for at in ["start", "initialize", "initialized", "did_open", "first_request", "mid_reply"] {
        let play = Play::new(&crash(at, None));
        for question in 0..3 {
            let (answer, took) = timed(play.hover("a.scr")).await;
            let (state, detail) = failure(answer);
            assert_eq!(state, ServerState::Crashed, "{at} {question}: {detail}");
            assert!(detail.contains("exit status 7"), "{at} {question}: {detail}");
            assert!(detail.contains("out of cheese | redo from start"), "{at} {question}: {detail}");
            assert!(took < Duration::from_secs(40), "{at} {question}: {took:?}");
        }
        // An immediate second request does not restart the server immediately. If the machine is so
        // busy that the pause is over by then, the next pause is twice as long, and the fifth is
        // three minutes.
        for asked in 1.. {
            let (_, detail) = failure(in_time(play.hover("a.scr")).await);
            if detail.contains("next attempt in") {
                break;
            }
            assert!(asked < 4, "{at}: {detail}");
        }
        assert!(play.log().starts() <= 6, "{at}: {}", play.log().starts());
        in_time(play.runtime.shutdown()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_is_restarted_and_documents_are_reopened() {
    let play = Play::with(&json!({}), "", [("a.scr", TEXT), ("b.scr", "def b\n"), ("c.scr", "def c\n")]);
    for path in ["a.scr", "b.scr", "c.scr"] {
        play.seen(path).await;
    }
    assert_eq!(play.log().count("textDocument/didOpen"), 3);
    kill_unnoticed(&play);
    assert!(play.seen("a.scr").await.ends_with(&fingerprint(TEXT)));
    assert_eq!(play.log().starts(), 2);
    let opened = play.log().params("textDocument/didOpen");
    let again: std::collections::BTreeSet<&str> = opened[3..]
        .iter()
        .filter_map(|params| params["textDocument"]["uri"].as_str()?.rsplit('/').next())
        .collect();
    assert_eq!(again.into_iter().collect::<Vec<_>>(), ["a.scr", "b.scr", "c.scr"]);
    play.end().await;
}

/// Kills the server and waits until it is gone, without asking it.
fn kill_unnoticed(play: &Play) {
    let pid = play.log().events("start").last().expect("a start")["pid"].as_i64().expect("a pid");
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a kill");
    wait_until("the supervisor is gone too", SOON, || count_processes(&play.project.marker()) == 0);
}

/// The first answer of a server: the second crash causes a pause, during which the text answers.
async fn served(play: &Play) -> Answer<HoverOutput> {
    loop {
        let answer = play.hover("a.scr").await.expect("a hover");
        if answer.verdict != Verdict::Hints {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn tells_the_crash(notes: &[String]) -> bool {
    notes.iter().any(|note| {
        note.contains("was started again") && note.contains("SIGKILL") && note.contains("mene | tekel")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_server_crash_is_noted_by_next_answer_only() {
    let play = Play::new(&json!({"stderr": ["mene", "tekel"]}));
    for round in 1..=2 {
        play.seen("a.scr").await;
        kill_unnoticed(&play);
        let answer = in_time(served(&play)).await;
        assert!(tells_the_crash(&answer.notes), "{round}: {:?}", answer.notes);
        let answer = in_time(play.hover("a.scr")).await.expect("a hover");
        assert_eq!(answer.notes, Vec::<String>::new(), "{round}");
        let answer = in_time(play.check("a.scr")).await.expect("a check");
        assert!(!tells_the_crash(&answer.notes), "{round}: {:?}", answer.notes);
    }
    assert_eq!(play.log().starts(), 3);
    in_time(play.runtime.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_server_crash_is_noted_by_diagnostics() {
    let play = Play::new(&json!({"stderr": ["mene", "tekel"]}));
    in_time(play.check("a.scr")).await.expect("a check");
    kill_unnoticed(&play);
    // Until the end of its output is read, its findings in this very text are known without a
    // request.
    let answer = in_time(async {
        loop {
            let answer = play.check("a.scr").await.expect("a check");
            if play.log().starts() > 1 {
                return answer;
            }
            assert_eq!((answer.verdict, answer.notes), (Verdict::Complete, Vec::new()));
        }
    })
    .await;
    assert!(tells_the_crash(&answer.notes), "{:?}", answer.notes);
    let answer = in_time(play.hover("a.scr")).await.expect("a hover");
    assert_eq!(answer.notes, Vec::<String>::new());
    in_time(play.runtime.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_server_crash_is_noted_by_symbols() {
    for target in [Target::File("a.scr".into()), Target::Name("foo".into())] {
        let play = Play::new(&json!({"stderr": ["mene", "tekel"]}));
        play.seen("a.scr").await;
        kill_unnoticed(&play);
        let answer = in_time(play.runtime.symbols(target.clone(), 10)).await.expect("symbols");
        assert_eq!(answer.verdict, Verdict::Complete, "{answer:?}");
        assert!(tells_the_crash(&answer.notes), "{target:?}: {:?}", answer.notes);
        let answer = in_time(play.hover("a.scr")).await.expect("a hover");
        assert_eq!(answer.notes, Vec::<String>::new());
        in_time(play.runtime.shutdown()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn symbols_request_crashing_server_is_retried_once() {
    for target in [Target::File("a.scr".into()), Target::Name("foo".into())] {
        let play = Play::new(&crash("first_request", Some(1)));
        let answer = in_time(play.runtime.symbols(target, 10)).await.expect("symbols");
        let found = !answer.output.symbols.is_empty();
        assert_eq!((answer.verdict, found), (Verdict::Complete, true), "{answer:?}");
        let notes = answer.notes.join("\n");
        assert!(notes.contains("exit status 7") && notes.contains("redo from start"), "{notes}");
        assert_eq!(play.log().starts(), 2);
        play.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn multi_root_server_crash_is_restarted_once_and_noted() {
    let scenario = json!({
        "stderr": ["mene", "tekel"],
        "capabilities": {"workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}}},
    });
    let files = [("one/scr.toml", ""), ("one/a.scr", TEXT), ("two/scr.toml", ""), ("two/a.scr", TEXT)];
    let play = Play::with(&scenario, "root-markers = [\"scr.toml\"]", files);
    play.seen("one/a.scr").await;
    play.seen("two/a.scr").await;
    kill_unnoticed(&play);
    let answer = in_time(play.hover("two/a.scr")).await.expect("a hover");
    assert!(tells_the_crash(&answer.notes), "{:?}", answer.notes);
    let answer = in_time(play.hover("one/a.scr")).await.expect("a hover");
    assert_eq!(answer.notes, Vec::<String>::new());
    assert_eq!(play.log().starts(), 2);
    assert_eq!(play.log().count("workspace/didChangeWorkspaceFolders"), 2, "once for each start");
    in_time(play.runtime.shutdown()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_flight_requests_are_answered_when_server_dies() {
    let scenario = json!({
        "answers": {"textDocument/hover": {"never": true}},
        "rules": [{"at": "textDocument/definition", "when": "before", "times": 0, "do": {"crash": {"code": 9, "stderr": ["bye"]}}}],
    });
    let play = Play::new(&scenario);
    play.check("a.scr").await.expect("a check");
    let hovers = futures::future::join_all((0..8).map(|_| play.hover("a.scr")));
    let both = async {
        let crash = async {
            while play.log().count("textDocument/hover") < 8 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            play.runtime.definition(super::play::at("a.scr", 1, 0)).await
        };
        tokio::join!(hovers, crash)
    };
    let (hovers, definition) = in_time(both).await;
    // The definition request kills each server, and the hovers are never answered.
    assert_eq!(failure(definition).0, ServerState::Crashed);
    for hover in hovers {
        let (_, detail) = failure(hover);
        assert!(detail.contains("exit status 9") || detail.contains("textDocument/hover"), "{detail}");
    }
    in_time(play.runtime.shutdown()).await;
}
