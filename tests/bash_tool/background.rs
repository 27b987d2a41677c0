//! Commands in the background.

use std::collections::BTreeSet;

use lsp_tools::Caller;
use lsp_tools::internals::policy::LeaveGiven;
use serde_json::json;

use super::scene::Scene;

#[tokio::test]
async fn background_command_returns_at_once_output_is_incremental() {
    let scene = Scene::new();
    let id = scene.start("echo one; while ! test -e go; do sleep 0.05; done; echo two; exit 7").await;
    let (first, answer) = scene.output_until(&id, |all, _| all.contains("one")).await;
    assert_eq!((first.as_str(), &answer["state"]), ("one\n", &json!("running")), "{answer}");
    assert_eq!(answer.get("exit_code"), None);
    assert_eq!(scene.output(&id, 0).await["stdout"], "");
    scene.project.write("go", "");
    let (rest, answer) = scene.output_until(&id, |_, answer| answer["state"] != "running").await;
    assert_eq!(rest, "two\n");
    assert_eq!((&answer["state"], &answer["exit_code"]), (&json!("exited"), &json!(7)), "{answer}");
    // A repeated request has no new output.
    let again = scene.output(&id, 0).await;
    assert_eq!((&again["stdout"], &again["exit_code"]), (&json!(""), &json!(7)));
}

#[tokio::test]
async fn background_output_wait_ends_with_first_output() {
    let scene = Scene::new();
    let id = scene.start("sleep 0.5; echo now; sleep 97").await;
    let begun = std::time::Instant::now();
    let answer = scene.output(&id, 20_000).await;
    assert_eq!((&answer["stdout"], &answer["state"]), (&json!("now\n"), &json!("running")), "{answer}");
    assert!(begun.elapsed().as_secs() < 60);
}

#[tokio::test]
async fn background_kill_ends_process_tree_and_returns_last_output() {
    let scene = Scene::new();
    let marked = format!("sh -c 'sleep 99; : {}'", scene.marker.as_str());
    let id = scene.start(&format!("trap '' TERM; setsid {marked} & echo up; {marked}")).await;
    scene.output_until(&id, |all, _| all.contains("up")).await;
    let answer = scene.call("bash_kill", json!({"id": id})).await.value;
    assert_eq!((&answer["ok"], &answer["state"]), (&json!(true), &json!("killed")), "{answer}");
    assert!(answer["exit_code"].as_i64().is_some_and(|code| code > 128), "{answer}");
    assert_eq!(scene.marker.living(), 0);
    // A repeated call has no effect.
    assert_eq!(scene.call("bash_kill", json!({"id": id})).await.value["state"], "killed");
}

#[tokio::test]
async fn background_command_past_timeout_is_ended() {
    let scene = Scene::new();
    let started =
        scene.call("bash", json!({"command": "sleep 96", "background": true, "timeout_ms": 300})).await;
    let id = started.value["id"].as_str().unwrap().to_owned();
    let (_, answer) = scene.output_until(&id, |_, answer| answer["state"] != "running").await;
    assert_eq!((&answer["state"], &answer["exit_code"]), (&json!("timed_out"), &json!(124)), "{answer}");
    // A timeout beyond the clock's range means none.
    let endless = json!({"command": "true", "background": true, "timeout_ms": u64::MAX});
    let id = scene.call("bash", endless).await.value["id"].as_str().unwrap().to_owned();
    let (_, answer) = scene.output_until(&id, |_, answer| answer["state"] != "running").await;
    assert_eq!(answer["state"], "exited", "{answer}");
}

#[tokio::test]
async fn row_42_background_ids_of_other_session_are_not_found() {
    let scene = Scene::new();
    let id = scene.start("echo secret; sleep 95").await;
    let other = Caller { session: "other".to_owned(), ..Caller::default() };
    for tool in ["bash_output", "bash_kill"] {
        let answer = scene.call_as(&other, &LeaveGiven, tool, json!({"id": id})).await.value;
        assert_eq!(answer["code"], "not_found", "{tool}: {answer}");
        assert!(!answer.to_string().contains("secret"), "{answer}");
        let hint = answer["hint"].as_str().unwrap();
        assert!(!hint.contains(&id), "{hint}");
    }
    let unknown = scene.output("sh-0000000000000001", 0).await;
    assert_eq!(unknown["hint"], format!("there are: {id}"));
    let (seen, answer) = scene.output_until(&id, |all, _| !all.is_empty()).await;
    assert_eq!((seen.as_str(), &answer["state"]), ("secret\n", &json!("running")));
    let mut ids = BTreeSet::from([id]);
    for _ in 0..5 {
        assert!(ids.insert(scene.start("true").await));
    }
}

#[tokio::test]
async fn background_commands_beyond_limit_are_refused_unless_one_ended() {
    let scene = Scene::with("[bash]\nbackground = 2\n");
    let first = scene.start("echo done").await;
    scene.output_until(&first, |_, answer| answer["state"] == "exited").await;
    scene.start("sleep 94").await;
    scene.start("sleep 94").await;
    assert_eq!(scene.output(&first, 0).await["code"], "not_found");
    let refused = scene.call("bash", json!({"command": "true", "background": true})).await.value;
    assert_eq!(refused["code"], "conflict", "{refused}");
    // Another session has its own limit.
    let other = Caller { session: "other".to_owned(), ..Caller::default() };
    let started = scene
        .call_as(&other, &LeaveGiven, "bash", json!({"command": "true", "background": true}))
        .await
        .value;
    assert_eq!(started["ok"], true, "{started}");
}

#[tokio::test]
async fn background_output_keeps_split_utf_8_characters_whole() {
    let scene = Scene::new();
    let id = scene.start(r"printf 'a\303'; while ! test -e go; do sleep 0.05; done; printf '\244b\n'").await;
    let (first, _) = scene.output_until(&id, |all, _| !all.is_empty()).await;
    assert_eq!(first, "a");
    scene.project.write("go", "");
    let (rest, _) = scene.output_until(&id, |_, answer| answer["state"] == "exited").await;
    assert_eq!(rest, "äb\n");
}
