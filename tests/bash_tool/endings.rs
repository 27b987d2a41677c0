//! Commands that try to survive: in the background, in another session, ignoring SIGTERM, abandoned
//! by their caller.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::scene::{PROMPT, Scene};

/// Six processes that fork and exit endlessly, each in its own session: a scan of processes finds
/// only ids that are gone.
pub const COMETS: &str = r"
import os, time
end = time.time() + 100
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        while time.time() < end:
            if os.fork(): os._exit(0)
        os._exit(0)
print('flying', flush=True)
time.sleep(100)
";

/// A command that sleeps and is known by the marker.
fn sleeper(scene: &Scene) -> String {
    format!("sh -c 'sleep 99; : {}'", scene.marker.as_str())
}

#[tokio::test]
async fn row_12_background_child_holding_pipe_does_not_block_call() {
    for prefix in ["", "setsid ", "nohup ", "setsid setsid "] {
        let scene = Scene::new();
        let (answer, took) =
            scene.bash_for_a_second(&format!("echo told; {prefix}{} &", sleeper(&scene))).await;
        assert_eq!((&answer["ok"], &answer["exit_code"]), (&json!(true), &json!(0)), "{prefix}: {answer}");
        assert_eq!(answer["stdout"], "told\n", "{prefix}");
        assert!(took < PROMPT, "{prefix}: {took:?}");
        assert_eq!(scene.marker.living(), 0, "{prefix}");
    }
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn row_12_timeout_ends_whole_process_tree() {
    for prefix in ["", "setsid -w ", "trap '' TERM; ", "trap '' TERM INT HUP; setsid -w "] {
        let scene = Scene::new();
        let command = format!("echo told; {prefix}{}", sleeper(&scene));
        let (answer, took) = scene.bash_for_a_second(&command).await;
        assert_eq!((&answer["ok"], &answer["exit_code"]), (&json!(false), &json!(124)), "{prefix}: {answer}");
        assert_eq!(answer["stdout"], "told\n", "{prefix}");
        assert!(took < PROMPT, "{prefix}: {took:?}");
        assert_eq!(scene.marker.living(), 0, "{prefix}");
    }
}

/// With and without a process namespace.
#[tokio::test]
#[ignore = "slow: just slow"]
async fn fork_bomb_of_short_processes_is_ended_in_time() {
    for settings in ["", "[bash]\nsandbox = \"off\"\n"] {
        for ground in ["front", "back"] {
            let scene = Scene::with(settings);
            scene.project.write("comets.py", COMETS);
            let command = format!("exec python3 comets.py {}", scene.marker.as_str());
            let begun = std::time::Instant::now();
            if ground == "front" {
                // Python starts slowly while its processes use the whole machine.
                let (answer, took) = scene.bash_for(8_000, &command).await;
                assert_eq!(
                    (&answer["code"], &answer["stdout"]),
                    (&json!("timeout"), &json!("flying\n")),
                    "{answer}"
                );
                let error = answer["error"].as_str().unwrap();
                assert!(!error.contains("have not ended yet"), "{settings}: {error}");
                assert!(took < PROMPT, "{settings}: {took:?}");
            } else {
                let id = scene.start(&command).await;
                scene.output_until(&id, |all, _| all.contains("flying")).await;
                let killed = scene.call("bash_kill", json!({"id": id})).await.value;
                assert_eq!(killed["state"], "killed", "{killed}");
                assert!(begun.elapsed() < 2 * PROMPT, "{settings}: {:?}", begun.elapsed());
            }
            // A single scan may miss them.
            for _ in 0..20 {
                assert_eq!(scene.marker.living(), 0, "{settings} {ground}");
            }
        }
    }
}

#[tokio::test]
async fn row_12_command_killing_its_supervisor_is_still_ended() {
    let scene = Scene::new();
    let command =
        format!("kill -9 $PPID; kill -STOP $PPID; setsid {} & {}", sleeper(&scene), sleeper(&scene));
    let (answer, took) = scene.bash_for_a_second(&command).await;
    assert!(took < PROMPT, "{took:?} {answer}");
    scene.nothing_is_left().await;
}

/// If the command can name and signal its supervisor, as without a sandbox.
#[tokio::test]
#[ignore = "slow: just slow"]
async fn command_stopping_its_supervisor_is_still_ended() {
    let scene = Scene::with("[bash]\nsandbox = \"off\"\n");
    let command = format!("kill -STOP $PPID; setsid {} & {}", sleeper(&scene), sleeper(&scene));
    let (answer, took) = scene.bash_for_a_second(&command).await;
    assert_eq!(answer["code"], "timeout", "{answer}");
    assert!(took < 2 * PROMPT, "{took:?} {answer}");
    scene.nothing_is_left().await;
}

#[tokio::test]
async fn row_41_cancelled_call_ends_its_command() {
    let scene = Scene::new();
    let cancelled = CancellationToken::new();
    let command = format!("setsid {} & {}", sleeper(&scene), sleeper(&scene));
    let running = scene.call_until(cancelled.clone(), "bash", json!({"command": command}));
    let cancel = async {
        scene.lives(|count| count >= 3).await;
        cancelled.cancel();
    };
    let (result, ()) = tokio::join!(running, cancel);
    assert_eq!(result.value["code"], "cancelled", "{}", result.value);
    scene.nothing_is_left().await;
}

#[tokio::test]
async fn shutdown_ends_foreground_and_background_commands() {
    let scene = Scene::new();
    let id = scene.start(&format!("trap '' TERM; setsid {} & {}", sleeper(&scene), sleeper(&scene))).await;
    let arguments = json!({"command": sleeper(&scene)});
    let running = scene.call_until(CancellationToken::new(), "bash", arguments);
    let shutdown = async {
        scene.lives(|count| count >= 5).await;
        scene.runtime.shutdown().await;
        assert_eq!(scene.marker.living(), 0);
    };
    let (result, ()) = tokio::join!(running, shutdown);
    assert_eq!(result.value["code"], "cancelled", "{}", result.value);
    assert_eq!(scene.output(&id, 0).await["state"], "killed");
    let late = scene.call("bash", json!({"command": "true"})).await.value;
    assert_eq!((&late["ok"], &late["code"]), (&json!(false), &json!("cancelled")), "{late}");
}
