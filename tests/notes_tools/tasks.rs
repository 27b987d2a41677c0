//! `task`: another agent's program gets its order, its output is read, and it ends.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lsp_tools::Caller;
use lsp_tools::internals::policy::LeaveGiven;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::house::{again, assert_fails, open};
use crate::support::{Marker, Project, TestWorkspace, write_executable};

/// A house whose agents are these shell scripts.
fn agents(scripts: &[(&str, &str)]) -> TestWorkspace {
    let project = Project::new([]);
    let mut settings = String::new();
    for (name, script) in scripts {
        let runner = json!(["/bin/sh", "-c", script]);
        settings.push_str(&format!("[agents.{name}]\ndescription = \"the {name}\"\nrunner = {runner}\n"));
    }
    with(project, &settings)
}

fn with(project: Project, settings: &str) -> TestWorkspace {
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    open(&project)
}

fn task(agent: &str) -> Value {
    json!({"agent": agent, "objective": "find out"})
}

#[tokio::test]
async fn task_sends_order_to_runner_and_returns_summary() {
    let house = agents(&[
        ("plain", "cat > order.json; env > environment; echo; echo '  It is so. '; echo told >&2"),
        ("object", r#"echo '{"summary": "It is so.", "events": [{"type": "tool"}]}'"#),
        ("deaf", "echo 'It is so.'"),
    ]);
    for agent in ["plain", "object", "deaf"] {
        let done = house.call("task", task(agent)).await.value;
        assert_eq!(done, json!({"ok": true, "agent": agent, "summary": "It is so."}));
    }
    let order: Value = serde_json::from_str(&house.project.read("order.json")).expect("JSON");
    let session = order["session"].as_str().expect("a session");
    assert!(session.starts_with("default."), "{session}");
    let expected = json!({"agent": "plain", "objective": "find out", "tools": null,
        "workspace": house.project.root(), "session": session, "depth": 1});
    assert_eq!(order, expected);
    let environment = house.project.read("environment");
    for line in ["LSP_TOOLS_AGENT=plain", &format!("LSP_TOOLS_SESSION={session}")] {
        assert!(environment.lines().any(|given| given == line), "{line} is not in {environment}");
    }
}

#[tokio::test]
async fn task_runner_failure_is_reported_with_its_cause() {
    let house = agents(&[
        ("status", "echo half; echo /secret/path >&2; exit 3"),
        ("said", r#"echo '{"error": "no network"}'"#),
        ("silent", "cat >/dev/null"),
        ("killed", "kill -9 $$"),
    ]);
    for (agent, words) in [
        ("status", "the runner of the agent status ended with exit status 3"),
        ("said", "failed: no network"),
        ("silent", "without a summary"),
        ("killed", "signal 9"),
    ] {
        let done = house.call("task", task(agent)).await;
        assert_fails(&done, "server_failed", words);
        assert!(!done.value.to_string().contains("/secret"), "{:?}", done.value);
    }
}

#[tokio::test]
async fn task_with_invalid_agent_or_arguments_is_refused() {
    let project = Project::new([]);
    let own = project.path("run.sh");
    write_executable(&own, "#!/bin/sh\necho ran > ran; echo done\n");
    let settings = format!(
        "[agents.researcher]\ndescription = \"looks things up\"\n[agents.gone]\nrunner = [\"no-such-program-anywhere\"]\n\
         [agents.empty]\nrunner = []\n[agents.relative]\nrunner = [\"./run.sh\"]\n[agents.own]\nrunner = [{:?}]\n",
        own.display().to_string()
    );
    let house = with(project, &settings);
    for (arguments, code, words) in [
        (task("researchr"), "not_found", "did you mean `researcher`?"),
        (task("researcher"), "unsupported", "has no runner"),
        (task("empty"), "unsupported", "has no runner"),
        (task("gone"), "not_found", "was not found"),
        (task("relative"), "not_found", "was not found"),
        (task("own"), "denied", "lies in the workspace"),
        (json!({"agent": "own", "objective": " "}), "invalid_args", "`objective`"),
        (json!({"agent": "own", "objective": "x".repeat(70_000)}), "invalid_args", "70000 bytes"),
        (json!({"agent": "own"}), "invalid_args", "`objective` is missing"),
    ] {
        assert_fails(&house.call("task", arguments).await, code, words);
    }
    let hint = house.call("task", task("nobody")).await.value["hint"].to_string();
    assert!(hint.contains("researcher (looks things up)"), "{hint}");
    assert!(!house.project.path("ran").exists());
    // Without an approver.
    assert_fails(&house.call_unasked("task", task("own")).await, "denied", "");
}

#[tokio::test]
async fn row_1_untrusted_project_agent_runner_does_not_run() {
    let project = Project::new([(
        ".lsp-tools/lsp-tools.toml",
        "[agents.evil]\nrunner = [\"/bin/sh\", \"-c\", \"echo x > PWNED; echo ran\"]\n",
    )]);
    let house = open(&project);
    assert_fails(&house.call("task", task("evil")).await, "unsupported", "has no runner");
    assert!(!house.project.path("PWNED").exists());
    house.grant_trust().await;
    let house = again(house);
    assert_eq!(house.call("task", task("evil")).await.value["summary"], "ran");
}

#[tokio::test]
#[cfg_attr(not(linux_kernel), ignore = "a child that left its group and lost its parent is not found")]
async fn row_12_task_runner_child_processes_end_with_it() {
    let marker = Marker::new();
    let sleep = format!("exec -a {} sleep 98", marker.as_str());
    let script = format!("setsid bash -c '{sleep}' & (trap '' TERM; {sleep}) & sleep 0.3; echo done");
    let runner = json!(["/bin/bash", "-c", script]);
    let house = with(Project::new([]), &format!("[agents.parent]\nrunner = {runner}\n"));
    let begun = Instant::now();
    assert_eq!(house.call("task", task("parent")).await.value["summary"], "done");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    until("all it started is gone", || marker.living() == 0).await;
}

#[tokio::test]
async fn row_41_task_ends_at_timeout_and_on_cancellation() {
    let marker = Marker::new();
    let script = format!("touch started; bash -c 'exec -a {} sleep 95' & wait", marker.as_str());
    let runner = json!(["/bin/bash", "-c", script]);
    let settings = format!("[deadlines]\ntask = 1500\n[agents.slow]\nrunner = {runner}\n");
    let house = with(Project::new([]), &settings);
    assert_fails(&house.call("task", task("slow")).await, "timeout", "more than 1.5s");
    until("the late one is gone", || marker.living() == 0).await;

    let path = house.project.path("started");
    fs::remove_file(&path).expect("the task was started");
    let cancelled = CancellationToken::new();
    let started = async {
        until("the task is started", || path.exists()).await;
        cancelled.cancel();
    };
    let (done, ()) = tokio::join!(house.call_until(cancelled.clone(), "task", task("slow")), started);
    assert_fails(&done, "cancelled", "");
    until("the cancelled one is gone", || marker.living() == 0).await;
}

/// Waits for a condition, up to a limit.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "not soon: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn row_46_subtask_tools_and_depth_are_limited_by_parent() {
    let project = Project::new([]);
    let runner = json!(["/bin/sh", "-c", "echo order:; cat"]);
    let settings = format!(
        "[agents.lead]\ntools = [\"lsp_*\", \"task\"]\nrunner = {runner}\n[agents.worker]\ntools = [\"lsp_hover\", \"bash\", \"task\"]\nrunner = {runner}\n"
    );
    let house = with(project, &settings);
    let order = |caller: Caller, agent: &'static str| {
        let house = &house;
        async move {
            let done = house.call_as(&caller, &LeaveGiven, "task", task(agent)).await;
            assert!(done.ok(), "{:?}", done.value);
            let order = done.value["summary"].as_str().and_then(|text| text.strip_prefix("order:\n"));
            serde_json::from_str::<Value>(order.expect("its input")).expect("the order")
        }
    };
    let on_behalf = |agent: &str| Caller { agent: Some(agent.to_owned()), ..Caller::default() };
    assert_eq!(order(Caller::default(), "worker").await["tools"], json!(["lsp_hover", "bash", "task"]));
    let below = order(on_behalf("lead"), "worker").await;
    assert_eq!((&below["tools"], &below["depth"]), (&json!(["lsp_hover", "task"]), &json!(2)));
    let deepest = order(on_behalf("lead/worker"), "lead").await;
    assert_eq!(deepest["depth"], 3);
    let caller = on_behalf("lead/worker/lead");
    let deeper = house.call_as(&caller, &LeaveGiven, "task", task("worker")).await;
    assert_fails(&deeper, "denied", "delegated at most 3 times");
}

#[tokio::test]
async fn row_46_concurrent_tasks_over_limit_are_denied() {
    let project = Project::new([]);
    // Not in the project: a program there would need trust.
    let go = project.beside("logs").join("go");
    let script =
        format!("touch started.$$; while [ ! -e '{}' ]; do sleep 0.05; done; echo done", go.display());
    let wait = json!(["/bin/sh", "-c", script]);
    let house = with(project, &format!("[agents.a]\nrunner = {wait}\n"));
    let started = |root: &Path| {
        let names = fs::read_dir(root).expect("a folder").flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with("started")).count()
    };
    let root = house.project.root();
    let running = futures::future::join_all((0..8).map(|_| house.call("task", task("a"))));
    let one_more = async {
        until("eight run", || started(&root) == 8).await;
        let refused = house.call("task", task("a")).await;
        fs::write(&go, "").expect("a file");
        refused
    };
    let (done, refused) = tokio::join!(running, one_more);
    assert_fails(&refused, "denied", "8 tasks are running");
    assert!(done.iter().all(lsp_tools::ToolResult::ok));
    assert!(house.call("task", task("a")).await.ok());
}

#[tokio::test]
#[ignore = "slow: just slow"]
async fn row_32_endless_task_runner_output_is_truncated() {
    let house = agents(&[("loud", "yes noise >&2 & yes summary | head -c 3000000; kill $!")]);
    let done = house.call("task", task("loud")).await.value;
    assert_eq!(done["truncated"], true);
    assert_eq!(done["summary"].as_str().map(str::len), Some(24_000));
}
