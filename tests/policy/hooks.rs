use std::time::{Duration, Instant};

use lsp_tools::{Approval, ResultType};
use serde_json::{Value, json};

use super::stage::{Stage, code, error};
use crate::support::{count_processes, wait_until};

fn with(event: &str, body: &str) -> Stage {
    let mut stage = Stage::new("");
    stage.hook(event, "the-hook", body);
    stage
}

#[tokio::test]
async fn pre_hook_receives_call_and_may_stay_silent() {
    let mut stage = Stage::new("");
    let seen = stage.project.beside("logs").join("seen");
    stage.hook("pre", "the-hook", &format!("cat > '{}'; pwd >&2", seen.display()));
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_edit", json!({"path": "src/a.rs", "text": null})).await;
    assert_eq!(result.value, json!({"ok": true, "said": ""}));
    let told: Value = serde_json::from_str(&std::fs::read_to_string(seen).unwrap()).unwrap();
    let root = stage.project.root().to_string_lossy().into_owned();
    assert_eq!(
        told,
        json!({
            "event": "pre", "tool": "test_edit", "effect": "edit", "arguments": {"path": "src/a.rs"},
            "session": "default", "workspace": root,
        })
    );
}

#[tokio::test]
async fn pre_hook_failure_denies_the_call() {
    for (body, wanted) in [
        ("exit 3", "the hook `the-hook` failed with exit status 3"),
        ("kill -9 $$", "the hook `the-hook` failed with signal 9 (SIGKILL)"),
        ("echo nonsense", "wrote an invalid answer"),
        ("echo '{\"decison\": \"allow\"}'", "unknown field `decison`"),
        ("echo '{} {}'", "wrote an invalid answer"),
        ("echo '{\"decision\": \"allow\"}'; exit 1", "failed with exit status 1"),
        ("yes", "wrote more than 4194304 bytes"),
        (
            "echo '{\"decision\": \"deny\", \"why\": \"not on Fridays\"}'",
            "the hook `the-hook` forbids test_read: not on Fridays",
        ),
        ("echo '{\"decision\": \"deny\"}'", "forbids test_read: it gave no reason"),
    ] {
        let stage = with("pre", body);
        let runtime = stage.runtime();
        let result = stage.call(&runtime, "test_read", json!({})).await;
        assert_eq!(
            (result.kind, code(&result)),
            (ResultType::Denied, "denied"),
            "{body}: {:?}",
            result.value
        );
        assert!(error(&result).contains(wanted), "{body}: {}", error(&result));
        assert!(stage.diary().is_empty(), "{body}");
        let entry = &stage.audit()[0];
        assert_eq!((&entry["hook"], &entry["decision"]), (&json!("the-hook"), &json!("deny")), "{body}");
    }
}

#[tokio::test]
async fn pre_hook_program_missing_denies_the_call() {
    for command in ["['/no/such/hook']", "['no-such-hook-anywhere']", "['/etc/passwd']"] {
        let stage = Stage::new(&format!("[[hooks.pre]]\ncommand = {command}\n"));
        let runtime = stage.runtime();
        let result = stage.call(&runtime, "test_read", json!({})).await;
        assert!(error(&result).contains("is not a program"), "{command}: {}", error(&result));
        assert!(!error(&result).contains("/no/such"), "the machine's paths stay inside: {}", error(&result));
    }
}

#[tokio::test]
async fn pre_hook_past_timeout_is_killed_with_children() {
    let mut stage = Stage::new("");
    let marker = format!("{}", stage.project.beside("logs").display());
    let script =
        stage.script("slow", r#"for way in "" setsid; do $way sh -c 'sleep 300; :' "$0" & done; wait"#);
    stage.settings(&format!("[[hooks.pre]]\ncommand = [{}]\ntimeout-ms = 300\n", json!(script)));
    let runtime = stage.runtime();
    let started = Instant::now();
    let result = stage.call(&runtime, "test_read", json!({})).await;
    assert!(error(&result).contains("did not answer within 300 ms and was ended"), "{}", error(&result));
    assert!(started.elapsed() < Duration::from_secs(60));
    wait_until("nothing of the hook is left", Duration::from_secs(60), || count_processes(&marker) == 0);
}

/// However a hook resists termination, the call is denied in time, and no process of the hook
/// remains.
#[tokio::test]
#[ignore = "slow: just slow"]
async fn pre_hook_resisting_termination_is_killed() {
    for (name, body) in [
        (
            "deaf",
            r#"trap '' TERM HUP INT; sh -c 'trap "" TERM; sleep 300; :' "$0" & sleep 300 & wait; wait; sleep 300"#,
        ),
        ("silent", "exec <&- >&- 2>&-; sleep 300 & wait"),
        ("loud", "while :; do echo 0123456789; done"),
        ("complaining", "while :; do echo 0123456789 >&2; done"),
        ("apart", r#"setsid sh -c 'while :; do sleep 1; done' "$0" >/dev/null 2>&1 <&- & exec sleep 300"#),
        ("stopped", "kill -STOP $$"),
        ("parents", "kill -STOP $PPID; sleep 300"),
    ] {
        let mut stage = Stage::new("");
        let marker = format!("{}", stage.project.beside("logs").display());
        let script = stage.script(name, body);
        stage.settings(&format!("[[hooks.pre]]\ncommand = [{}]\ntimeout-ms = 500\n", json!(script)));
        let runtime = stage.runtime();
        let started = Instant::now();
        let result = stage.call(&runtime, "test_read", json!({})).await;
        let took = started.elapsed();
        assert_eq!(result.value["code"], "denied", "{name}: {}", result.value);
        assert!(took < Duration::from_secs(60), "{name}: {took:?}");
        wait_until("nothing of the hook is left", Duration::from_secs(60), || count_processes(&marker) == 0);
    }
}

#[tokio::test]
async fn pre_hook_may_change_arguments_within_rules() {
    let change = |arguments: Value| format!("cat > /dev/null; echo '{}'", json!({"arguments": arguments}));
    let run = async |body: String, more: &str| {
        let mut stage = with("pre", &body);
        stage.settings(&format!("\n[permissions]\ndeny = ['test_edit(secret)']\n{more}"));
        let runtime = stage.runtime();
        let result = stage.call(&runtime, "test_edit", json!({"path": "src/a.rs", "text": "old"})).await;
        (result, stage)
    };
    let (result, _) = run(change(json!({"path": "src/b.rs", "text": "new"})), "").await;
    assert_eq!(result.value["said"], "new");
    let (result, stage) = run(change(json!({"path": "secret/key"})), "").await;
    assert!(error(&result).contains("`test_edit(secret)`"), "{}", error(&result));
    assert!(stage.diary().is_empty());
    assert_eq!(stage.audit()[0]["paths"], json!(["secret/key"]));
    let (result, _) = run(change(json!({"pth": "src"})), "").await;
    assert_eq!(code(&result), "invalid_args");
    assert!(
        error(&result).starts_with("the hook `the-hook` returned invalid arguments"),
        "{}",
        error(&result)
    );
    let (result, _) = run(change(json!({"path": "../outside"})), "").await;
    assert_eq!(code(&result), "outside_workspace");
    let (result, _) = run(change(json!({"path": "docs/a"})), "ask = ['test_edit(docs)']\n").await;
    assert_eq!(code(&result), "denied", "changed arguments need approval again");
}

#[tokio::test]
async fn pre_hook_cannot_override_deny_or_ask() {
    let mut stage = with(
        "pre",
        "cat > /dev/null; echo '{\"decision\": \"allow\", \"arguments\": {\"path\": \"src/a.rs\"}}'",
    );
    stage.settings("\n[permissions]\ndeny = ['test_edit(secret)']\n");
    let runtime = stage.runtime();
    assert_eq!(code(&stage.call(&runtime, "test_edit", json!({"path": "secret/key"})).await), "denied");
    assert_eq!(code(&stage.call(&runtime, "test_run", json!({})).await), "denied", "nor can it approve");
}

#[tokio::test]
async fn pre_hook_may_request_approval() {
    let stage = with("pre", "cat > /dev/null; echo '{\"decision\": \"ask\", \"why\": \"it is late\"}'");
    let runtime = stage.runtime();
    assert_eq!(code(&stage.call(&runtime, "test_read", json!({})).await), "denied");
    assert!(stage.call_with(&runtime, "test_read", json!({}), Approval::Once).await.ok());
    let asked = "asked: the hook `the-hook` wants approval: it is late";
    assert_eq!(stage.diary(), [asked, asked, "run test_read"]);
}

#[tokio::test]
async fn post_hook_may_change_the_result() {
    let stage =
        with("post", "grep -q '\"said\":\"secret\"' && echo '{\"result\": {\"said\": \"***\"}}'; true");
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_read", json!({"text": "secret"})).await;
    assert_eq!(result.value, json!({"ok": true, "said": "***"}));
    let result = stage.call(&runtime, "test_read", json!({"text": "open"})).await;
    assert_eq!(result.value["said"], "open");
    let failed = with("post", "echo '{\"result\": {\"ok\": false, \"error\": \"no\"}}'");
    let runtime = failed.runtime();
    assert_eq!(failed.call(&runtime, "test_read", json!({})).await.kind, ResultType::Failure);
}

#[tokio::test]
async fn post_hook_also_sees_failed_results() {
    let stage = with(
        "post",
        "grep -q '\"code\":\"not_found\"' && echo '{\"result\": {\"ok\": true, \"said\": \"default\"}}'",
    );
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_read", json!({"text": "fail"})).await;
    assert_eq!(result.value, json!({"ok": true, "said": "default"}));
}

#[tokio::test]
async fn post_hook_failure_is_noted_beside_the_answer() {
    for (body, wanted) in [
        ("exit 3", "failed with exit status 3"),
        ("echo nonsense", "wrote an invalid answer"),
        ("yes", "wrote more than"),
        ("echo '{\"decision\": \"deny\"}'", "unknown field `decision`"),
    ] {
        let stage = with("post", body);
        let runtime = stage.runtime();
        let result = stage.call(&runtime, "test_read", json!({"text": "x"})).await;
        assert_eq!((result.ok(), &result.value["said"]), (true, &json!("x")), "{body}");
        assert!(result.value["hook_error"].as_str().unwrap().contains(wanted), "{body}: {:?}", result.value);
    }
}

#[tokio::test]
async fn pre_hook_with_large_call_does_not_deadlock() {
    let stage = with("pre", "cat");
    let text = "x".repeat(1 << 20);
    let runtime = stage.runtime();
    // `cat` answers with its input, which is invalid; but nothing blocks.
    let result = stage.call(&runtime, "test_read", json!({"text": text})).await;
    assert!(error(&result).contains("unknown field `event`"), "{}", error(&result));
}
