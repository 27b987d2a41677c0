//! Hooks files of a repository (`.github/hooks/*.json`): they run only after their owner has
//! trusted them.

use std::fs;

use lsp_tools::internals::tools::TrustOutput;
use lsp_tools::{Approval, Runtime, TrustRequest};
use serde_json::{Value, json};

use super::stage::{Stage, code, error, executable};

const FILE: &str = ".github/hooks/guard.json";

/// A project whose hooks file has these hooks; its scripts are files of the project.
fn with(hooks: &Value, scripts: &[(&str, &str)]) -> Stage {
    let stage = Stage::new("");
    stage.project.write(FILE, json!({"version": 1, "hooks": hooks}).to_string());
    for (name, body) in scripts {
        executable(stage.project.path(name), body);
    }
    stage
}

async fn trust(runtime: &Runtime) -> TrustOutput {
    let shown = runtime.trust(TrustRequest::Show).await.expect("a list");
    runtime.trust(TrustRequest::Grant { fingerprint: shown.fingerprint }).await.expect("a grant")
}

fn bash(command: &str) -> Value {
    json!([{"type": "command", "bash": command, "timeoutSec": 5}])
}

#[tokio::test]
async fn hooks_file_untrusted_does_not_run() {
    let stage = with(&json!({"preToolUse": bash("touch ran; exit 2")}), &[]);
    let runtime = stage.runtime();
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok());
    assert!(!stage.project.path("ran").exists());
    let granted = trust(&runtime).await;
    assert!(
        granted.trusted && granted.items.iter().any(|item| item.name.contains("guard.json")),
        "{granted:?}"
    );
    let denied = stage.call(&runtime, "test_read", json!({})).await;
    assert_eq!(code(&denied), "denied");
    assert!(error(&denied).contains("the hook `guard.json` forbids test_read"), "{}", error(&denied));
    assert!(stage.project.path("ran").exists());
}

/// The entry of `init copilot-cli --hooks` makes the command line call lsp-tools; it needs no
/// trust, and lsp-tools does not run it itself.
#[tokio::test]
async fn hooks_file_by_which_host_asks_us_is_passed_over() {
    let stage = Stage::new("");
    let hook = |command: &str| json!({"version": 1, "hooks": {"preToolUse": bash(command)}}).to_string();
    stage.project.write(".github/hooks/lsp-tools.json", hook("touch ran; lsp-tools hook copilot-cli search"));
    let runtime = stage.runtime();
    let shown = runtime.trust(TrustRequest::Show).await.expect("a list");
    assert!(!shown.items.iter().any(|item| item.name.contains("lsp-tools.json")), "{shown:?}");
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok());
    // The file name alone does not make a file ours.
    stage.project.write(".github/hooks/lsp-tools.json", hook("exit 2"));
    let runtime = stage.runtime();
    trust(&runtime).await;
    assert_eq!(code(&stage.call(&runtime, "test_read", json!({})).await), "denied");
}

#[tokio::test]
async fn hooks_file_command_gets_input_in_its_own_dialect() {
    let command = "cat >> told; echo >> told";
    let claude = json!({"matcher": "TEST_EDIT", "hooks": [{"type": "command", "command": command}]});
    let hooks = json!({"preToolUse": bash(command), "PreToolUse": [claude], "postToolUse": bash(command)});
    let stage = with(&hooks, &[]);
    let runtime = stage.runtime();
    trust(&runtime).await;
    let arguments = json!({"path": "src/a.rs", "text": "x"});
    let result = stage.call(&runtime, "test_edit", arguments.clone()).await;
    assert!(result.ok(), "{:?}", result.value);
    let text = stage.project.read("told");
    let told: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let root = json!(stage.project.root());
    let of_claude = told.iter().find(|told| told["hook_event_name"] == "PreToolUse").expect("Claude's");
    assert_eq!((&of_claude["tool_name"], &of_claude["tool_input"]), (&json!("test_edit"), &arguments));
    assert_eq!((&of_claude["session_id"], &of_claude["cwd"]), (&json!("default"), &root));
    let before = told.iter().find(|told| told["toolArgs"] == arguments && told["toolResult"].is_null());
    let before = before.expect("Copilot's");
    assert_eq!(
        (&before["toolName"], &before["sessionId"], &before["cwd"]),
        (&json!("test_edit"), &json!("default"), &root)
    );
    assert!(before["timestamp"].as_u64().is_some_and(|milliseconds| milliseconds > 1_500_000_000_000));
    let after = told.iter().find(|told| told["toolResult"].is_object()).expect("the result");
    assert_eq!(after["toolResult"]["resultType"], "success");
    // The matcher is matched against whole names.
    fs::remove_file(stage.project.path("told")).unwrap();
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok());
    assert!(!stage.project.read("told").contains("hook_event_name"));
}

#[tokio::test]
async fn hooks_file_failure_denies_the_call() {
    for (hooks, words) in [
        (json!({"preToolUse": bash("exit 1")}), "it ended with exit status 1"),
        (json!({"preToolUse": bash("echo not here >&2; exit 2")}), "not here"),
        (json!({"preToolUse": bash("no-such-program-at-all")}), "command not found"),
        (
            json!({"preToolUse": bash("echo '{\"permissionDecision\": \"deny\", \"permissionDecisionReason\": \"why\"}'")}),
            "forbids test_read: why",
        ),
        (json!({"preToolUse": bash("echo '{\"permissionDecision\": \"perhaps\"}'")}), "an invalid answer"),
        (json!({"preToolUse": [{"bash": "sleep 60", "timeoutSec": 0.3}]}), "did not answer within 300 ms"),
        (json!({"preToolUse": [{"type": "http", "url": "http://localhost"}]}), "type `http`"),
        (json!({"preToolUse": [{"bash": "true", "cwd": "/"}]}), "guard.json"),
    ] {
        let stage = with(&hooks, &[]);
        let runtime = stage.runtime();
        trust(&runtime).await;
        let denied = stage.call(&runtime, "test_read", json!({})).await;
        assert_eq!(code(&denied), "denied", "{hooks}: {:?}", denied.value);
        assert!(error(&denied).contains(words), "{hooks}: {}", error(&denied));
        assert!(stage.diary().is_empty(), "{hooks}");
    }
    for harmless in ["true", "echo I have looked", "echo '{}'", "echo '{\"permissionDecision\": \"allow\"}'"]
    {
        let stage = with(&json!({"preToolUse": bash(harmless)}), &[]);
        let runtime = stage.runtime();
        trust(&runtime).await;
        assert!(stage.call(&runtime, "test_read", json!({})).await.ok(), "{harmless}");
    }
}

#[tokio::test]
async fn hooks_file_changed_or_removed_after_trust_denies_calls() {
    let stage = with(&json!({"preToolUse": bash("./guard.sh")}), &[("guard.sh", "exit 0")]);
    trust(&stage.runtime()).await;
    let runtime = stage.runtime();
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok());
    executable(stage.project.path("guard.sh"), "exit 0 # changed");
    let denied = stage.call(&runtime, "test_read", json!({})).await;
    assert!(
        error(&denied).contains("`guard.sh` of this project, which is not trusted in its current state"),
        "{:?}",
        denied.value
    );
    stage.project.write(FILE, json!({"version": 1, "hooks": {}}).to_string());
    let denied = stage.call(&runtime, "test_read", json!({})).await;
    assert!(error(&denied).contains("has changed since it was trusted"), "{:?}", denied.value);
    fs::remove_file(stage.project.path(FILE)).unwrap();
    let denied = stage.call(&runtime, "test_read", json!({})).await;
    assert!(error(&denied).contains("is missing"), "{:?}", denied.value);
    trust(&runtime).await;
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok());
}

#[tokio::test]
async fn hooks_file_may_change_arguments_ask_and_add_context() {
    let change = "echo '{\"modifiedArgs\": {\"path\": \"src/b.rs\", \"text\": \"y\"}}'";
    let ask = "echo '{\"permissionDecision\": \"ask\", \"permissionDecisionReason\": \"sure?\"}'";
    let add = "echo '{\"additionalContext\": \"run the tests\"}'";
    let fail = "echo '{\"additionalContext\": \"never said\"}'";
    let hooks = json!({"preToolUse": [{"bash": change}, {"bash": ask}], "postToolUse": bash(add), "postToolUseFailure": bash(fail)});
    let stage = with(&hooks, &[]);
    let runtime = stage.runtime();
    trust(&runtime).await;
    let arguments = json!({"path": "src/a.rs", "text": "x"});
    let refused = stage.call(&runtime, "test_edit", arguments.clone()).await;
    assert!(error(&refused).contains("the hook `guard.json` wants approval: sure?"), "{:?}", refused.value);
    let result = stage.call_with(&runtime, "test_edit", arguments, Approval::Once).await;
    assert!(result.ok(), "{:?}", result.value);
    assert_eq!(result.value["hook_context"], "run the tests");
    assert_eq!(result.value["said"], "y");
}

/// A command may change the modes of its user's files: the sandbox has no rule for that.
#[tokio::test]
async fn trust_store_writable_by_others_denies_calls_without_hooks_file() {
    use std::os::unix::fs::PermissionsExt;
    let stage = with(&json!({"preToolUse": bash("exit 2")}), &[]);
    let runtime = stage.runtime();
    trust(&runtime).await;
    assert_eq!(code(&stage.call(&runtime, "test_read", json!({})).await), "denied");
    let text = stage.project.read(FILE);
    fs::remove_file(stage.project.path(FILE)).expect("a file");
    let store = stage.project.beside("state").join("trust.json");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o620)).expect("a mode");
    let denied = stage.call(&runtime, "test_read", json!({})).await;
    assert_eq!(code(&denied), "denied");
    assert!(error(&denied).contains("chmod go-w"), "{}", error(&denied));
    fs::set_permissions(&store, fs::Permissions::from_mode(0o600)).expect("a mode");
    stage.project.write(FILE, text);
    assert!(error(&stage.call(&runtime, "test_read", json!({})).await).contains("forbids test_read"));
}
