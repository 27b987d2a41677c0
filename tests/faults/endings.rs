//! Servers that do not end on request, and the processes they leave behind.

use std::time::Duration;

use serde_json::json;

use super::play::{Play, SOON, in_time};
use crate::support::{Marker, count_processes, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_sends_shutdown_and_exit_first() {
    let play = Play::new(&json!({}));
    play.seen("a.scr").await;
    let log = play.log();
    in_time(play.runtime.shutdown()).await;
    let methods: Vec<_> = log
        .messages()
        .into_iter()
        .filter_map(|message| Some(message["method"].as_str()?.to_owned()))
        .collect();
    assert_eq!(methods.iter().rev().take(2).rev().collect::<Vec<_>>(), ["shutdown", "exit"]);
    assert_eq!(log.events("exit")[0]["code"], 0);
    assert_eq!(count_processes(&play.project.marker()), 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn server_refusing_to_exit_is_killed_by_shutdown() {
    for exit in ["needs_eof", "refuses"] {
        let play = Play::new(&json!({ "exit": exit }));
        play.seen("a.scr").await;
        assert!(count_processes(&play.project.marker()) > 0);
        in_time(play.runtime.shutdown()).await;
        assert_eq!(count_processes(&play.project.marker()), 0, "{exit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn server_child_processes_are_gone_after_shutdown() {
    for (setsid, exit) in [(false, "normal"), (true, "normal"), (true, "refuses")] {
        let marker = Marker::new();
        let child = json!({"marker": marker.as_str(), "ignores_sigterm": true, "setsid": setsid, "holds_stdout": true});
        let play = Play::new(&json!({"fork_child": child, "exit": exit}));
        play.seen("a.scr").await;
        // It has its marker once it runs its own program.
        wait_until("the child lives", SOON, || marker.living() == 1);
        in_time(play.runtime.shutdown()).await;
        assert_eq!((marker.living(), count_processes(&play.project.marker())), (0, 0), "{setsid} {exit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(linux_kernel), ignore = "a child that left the group of its crashed parent is not found")]
async fn child_processes_of_crashed_server_are_killed() {
    let marker = Marker::new();
    let child =
        json!({"marker": marker.as_str(), "ignores_sigterm": true, "setsid": true, "holds_stdout": true});
    let play =
        Play::new(&json!({"fork_child": child, "crash": {"at": "first_request", "code": 3, "times": 1}}));
    play.seen("a.scr").await;
    wait_until("only the second server's child is left", SOON, || marker.living() == 1);
    in_time(play.runtime.shutdown()).await;
    assert_eq!(marker.living(), 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just slow"]
async fn dropped_runtime_ends_its_servers() {
    let marker = Marker::new();
    let child = json!({"marker": marker.as_str(), "ignores_sigterm": true, "setsid": true});
    // One that runs, and one that is still starting.
    for initialize in [json!({}), json!({"initialize": {"never": true}})] {
        let scenario = json!({"fork_child": child, "exit": "refuses", "answers": initialize});
        let play = Play::limited(&scenario, Duration::from_secs(2));
        let _answer_or_timeout = in_time(play.hover("a.scr")).await;
        let project = play.project.clone();
        drop(play);
        let left = || marker.living() + count_processes(&project.marker());
        wait_until("nothing is left", SOON, || left() == 0);
    }
}
