//! The contract, success and failure.

use std::time::Duration;

use lsp_tools::internals::config::Profile;
use lsp_tools::internals::policy::{CallerAccess, Effect};
use lsp_tools::{Caller, Position, ResultType, Schema, Target};
use serde_json::{Value, json};

use super::scene::{SOON, Scene, in_time};
use crate::support::{Project, write_executable};

#[tokio::test]
async fn bash_answer_has_all_contract_fields() {
    let scene = Scene::new();
    let answer = scene.bash("echo out; echo err >&2").await;
    let fields: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted =
        ["ok", "command", "exit_code", "stdout", "stderr", "truncated", "duration_ms", "changed", "sandbox"];
    assert_eq!(fields, wanted);
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["exit_code"], 0);
    assert_eq!((answer["stdout"].as_str(), answer["stderr"].as_str()), (Some("out\n"), Some("err\n")));
    assert_eq!(answer["truncated"], false);
    assert_eq!(answer["changed"], json!([]));
    assert!(answer["duration_ms"].as_u64().is_some_and(|ms| ms < 10_000), "{answer}");
}

#[tokio::test]
async fn bash_shell_is_bin_sh_in_root_without_stdin_or_tty() {
    let scene = Scene::new();
    let root = scene.project.root().display().to_string();
    assert_eq!(scene.stdout("pwd -P; echo $0").await, format!("{root}\n/bin/sh\n"));
    assert_eq!(scene.stdout("cat; echo end").await, "end\n");
    let no_terminal =
        scene.bash("test -t 0 || test -t 1 || test -t 2 || (exec 3</dev/tty) 2>/dev/null").await;
    assert_ne!(no_terminal["exit_code"], 0, "{no_terminal}");
}

/// `ok` states whether the command ended; its own result is the exit status.
#[tokio::test]
async fn bash_nonzero_exit_status_is_not_a_tool_failure() {
    let scene = Scene::new();
    for (command, code) in
        [("exit 3", 3), ("no-such-command-here", 127), ("kill -9 $$", 137), ("exit 200", 200)]
    {
        let answer = scene.bash(command).await;
        assert_eq!(
            (&answer["ok"], &answer["exit_code"]),
            (&json!(true), &json!(code)),
            "{command}: {answer}"
        );
    }
}

#[tokio::test]
async fn bash_timeout_answer_is_124_with_output_so_far() {
    let scene = Scene::new();
    let arguments = json!({"command": "echo early; echo late >&2; sleep 98", "timeout_ms": 500});
    let result = scene.call("bash", arguments).await;
    assert_eq!(result.kind, ResultType::Failure);
    let answer = result.value;
    assert_eq!((&answer["ok"], &answer["exit_code"]), (&json!(false), &json!(124)), "{answer}");
    assert_eq!((answer["stdout"].as_str(), answer["stderr"].as_str()), (Some("early\n"), Some("late\n")));
    assert_eq!(
        (&answer["code"], &answer["error"]),
        (&json!("timeout"), &json!("the command was ended after 500 ms"))
    );
    assert!(answer["duration_ms"].as_u64().is_some_and(|ms| ms >= 500), "{answer}");
    // A command that exits with 124 by itself did not time out.
    assert_eq!(scene.bash("exit 124").await["ok"], true);
}

#[tokio::test]
async fn bash_settings_bound_timeout_and_output() {
    let scene = Scene::with("[bash]\ntimeout-ms = 300\nmax-timeout-ms = 600\noutput-bytes = 1_000\n");
    let answer = scene.call("bash", json!({"command": "sleep 98"})).await.value;
    assert_eq!(answer["error"], "the command was ended after 300 ms", "{answer}");
    let answer = scene.call("bash", json!({"command": "sleep 98", "timeout_ms": 90_000})).await.value;
    let error = "the command was ended after 600 ms, the most that `bash.max-timeout-ms` allows";
    assert_eq!(answer["error"], error, "{answer}");
    let answer = scene.bash("seq 1 10000").await;
    assert!(answer["stdout"].as_str().unwrap().len() < 1_100, "{answer}");
    assert_eq!(answer["truncated"], true);
}

#[tokio::test]
async fn bash_wrong_arguments_error_names_the_field() {
    let scene = Scene::new();
    for (arguments, wanted) in [
        (json!({}), "bash: `command` is missing (a text)"),
        (json!({"comand": "ls", "command": "ls"}), "bash: unknown field `comand`; did you mean `command`?"),
        (
            json!({"command": "ls", "timeout_ms": 0}),
            "bash: `timeout_ms` is 0, accepted: a whole number, 1 or more",
        ),
        (json!({"command": "a\0b"}), "`command` contains a zero byte"),
        (
            json!({"command": "#".repeat(131_072)}),
            "`command` is longer than the system's limit of 130930 bytes",
        ),
    ] {
        let answer = scene.call("bash", arguments).await.value;
        assert_eq!(
            (&answer["code"], answer["error"].as_str()),
            (&json!("invalid_args"), Some(wanted)),
            "{answer}"
        );
    }
    assert!(scene.call("bash", json!({"command": ""})).await.value["code"] == "invalid_args");
    let long = "#".repeat(130930);
    assert_eq!(scene.bash(&long).await["exit_code"], 0);
}

/// Every answer has the promised shape.
#[tokio::test]
async fn bash_tools_answers_conform_to_output_schema() {
    let scene = Scene::new();
    let id = scene.start("echo > file; sleep 92").await;
    let access = CallerAccess { profile: Some(Profile::All), ..CallerAccess::default() };
    let everything = Caller { access, ..Caller::default() };
    for (tool, arguments) in [
        ("bash", json!({"command": "seq 1 10000; echo > new"})),
        ("bash", json!({"command": "sleep 91", "timeout_ms": 100})),
        ("bash", json!({"command": "true", "background": true})),
        ("bash_output", json!({"id": id})),
        ("bash_kill", json!({"id": id})),
    ] {
        let definitions = scene.runtime.definitions(&everything);
        let definition = definitions.into_iter().find(|definition| definition.card.name == tool).unwrap();
        let schema = definition.output_schema().unwrap();
        assert_eq!(schema["type"], "object", "{schema}");
        let field = if tool == "bash" { "command" } else { "state" };
        assert!(schema["properties"].get(field).is_some(), "{schema}");
        let answer = scene.call(tool, arguments).await.value;
        let checked = Schema::new(schema.clone()).check(tool, &answer);
        assert!(checked.is_ok(), "{answer}: {checked:?} {schema}");
    }
}

/// A server is notified of a change when the command ends, not at the next request.
#[tokio::test(flavor = "multi_thread")]
async fn language_servers_are_notified_of_files_changed_by_command() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\n")]);
    let scene = Scene::open(&project, "");
    let position = Target::Position { path: "a.scr".into(), position: Position::new(0, 4) };
    in_time(scene.runtime.hover(position)).await.expect("a hover");
    let log = scene.project.log();
    assert_eq!(log.count("textDocument/didChange"), 0);
    scene.bash("echo foo >> a.scr").await;
    log.wait_for("the change", SOON, |log| (log.count("textDocument/didChange") > 0).then_some(()));
    in_time(scene.runtime.shutdown()).await;
}

/// An activated environment is first in the caller's `PATH`, and many login profiles reset `PATH`.
#[test]
fn bash_caller_path_precedes_path_of_login_profile() {
    let profile = "PATH=/usr/bin:/bin; FROM_PROFILE=read; export PATH FROM_PROFILE\n";
    let project = Project::new([("home/.profile", profile)]);
    write_executable(project.path("active/bin/python"), "#!/bin/sh\necho the active one\n");
    let path = format!("{}:{}", project.path("active/bin").display(), std::env::var("PATH").unwrap());
    let mut command = project.command(None);
    command.env("PATH", path).env("HOME", project.path("home"));
    let arguments = json!({"command": "python; echo $FROM_PROFILE; env | grep -c CALLER_PATH"}).to_string();
    let output = command.args(["tools", "call", "bash", &arguments, "--format", "json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["stdout"], "the active one\nread\n0\n", "{answer}");
}

/// Common commands of users.
#[tokio::test]
async fn sandboxed_command_can_run_git_and_cargo() {
    let scene = Scene::new();
    let commit = "git init -q . && git add -A && \
                  git -c user.name=n -c user.email=e@example.org commit -qm first && git log --oneline | wc -l";
    assert_eq!(scene.stdout(commit).await, "1\n");
    let build = "mkdir -p c/src && cd c && echo 'fn main() { println!(\"built\") }' > src/main.rs && \
                 printf '[package]\nname = \"c\"\nedition = \"2024\"\n[workspace]\n' > Cargo.toml && \
                 CARGO_TARGET_DIR=target cargo run -q --offline";
    let answer = scene.bash_for_long(build).await;
    assert_eq!((&answer["stdout"], &answer["sandbox"]), (&json!("built\n"), &json!("landlock")), "{answer}");
}

fn changed(answer: &Value) -> Vec<(String, String)> {
    let files = answer["changed"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    files.iter().map(|file| (text(&file["operation"]), text(&file["path"]))).collect()
}

#[tokio::test]
async fn bash_answer_lists_files_changed_by_command() {
    let scene = Scene::new();
    // The first command of a runtime, before anything is watched.
    let answer =
        scene.bash("rm a.txt; echo more >> src/b.txt; mkdir -p new/deep; echo > new/deep/c.txt").await;
    let wanted = [("deleted", "a.txt"), ("created", "new/deep/c.txt"), ("modified", "src/b.txt")];
    assert_eq!(changed(&answer), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())), "{answer}");
    assert_eq!(answer.get("changed_truncated"), None);

    let answer = scene.bash("mkdir ignored; echo > ignored/x; echo > gone; rm gone; cat src/b.txt").await;
    assert_eq!(changed(&answer), [], "{answer}");
    let answer = scene.bash("mv src/b.txt src/d.txt").await;
    let wanted = [("deleted", "src/b.txt"), ("created", "src/d.txt")];
    assert_eq!(changed(&answer), wanted.map(|(a, b)| (a.to_owned(), b.to_owned())), "{answer}");
    // Earlier changes by others do not belong to this command.
    scene.project.write("before.txt", "x");
    assert_eq!(changed(&scene.bash("true").await), []);
}

#[tokio::test]
async fn bash_changed_files_beyond_limit_are_truncated() {
    let scene = Scene::new();
    let answer = scene.bash("for n in $(seq 250); do echo > f$n; done").await;
    assert_eq!((changed(&answer).len(), &answer["changed_truncated"]), (200, &json!(true)));
}

/// Two commands at once: each reports all changes during its run, in any order.
#[tokio::test]
async fn concurrent_commands_each_report_files_changed_meanwhile() {
    let scene = Scene::new();
    scene.bash("true").await;
    let slow = scene.bash("echo > slow-1; while ! test -e quick-1; do sleep 0.05; done; sleep 0.3");
    let quick = scene.bash("while ! test -e slow-1; do sleep 0.05; done; echo > quick-1");
    let (slow, quick) = tokio::join!(slow, quick);
    let wanted = [("created", "quick-1"), ("created", "slow-1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(changed(&slow), wanted);
    assert!(changed(&quick).contains(&wanted[0]), "{quick}");
}

#[tokio::test]
async fn bash_approval_request_names_the_command() {
    let scene = Scene::new();
    let caller = Caller::default();
    let arguments = json!({"command": "make all"});
    let asked = scene.runtime.approval_request(&caller, "bash", &arguments).unwrap().unwrap();
    assert_eq!((asked.effect, asked.commands), (Effect::Execute, vec!["make all".to_owned()]));
    for tool in ["bash_output", "bash_kill"] {
        let asked = scene.runtime.approval_request(&caller, tool, &json!({"id": "sh-0"})).unwrap();
        assert!(asked.is_none(), "{tool}");
    }
}

/// The bound is loose: it only shows that there is no unnecessary wait.
#[tokio::test]
async fn short_command_is_answered_without_delay() {
    let scene = Scene::new();
    scene.bash("true").await;
    let begun = std::time::Instant::now();
    for _ in 0..5 {
        scene.bash("true").await;
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
