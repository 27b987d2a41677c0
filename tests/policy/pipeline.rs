use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use lsp_tools::internals::policy::Effect;
use lsp_tools::{
    Approval, ApprovalRequest, Approver, Call, CallRequest, Caller, Card, ResultType, Tool, ToolError,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, code, error};

#[tokio::test]
async fn pipeline_runs_hooks_approval_and_tool_in_order() {
    let mut stage = Stage::new("");
    let log = stage.project.beside("logs").join("order");
    let mark = |what: &str| format!("cat > /dev/null; echo {what} >> '{}'", log.display());
    stage.hook("pre", "one", &mark("pre-one"));
    stage.hook("pre", "two", &mark("pre-two"));
    stage.hook("post", "three", &mark("post"));
    let runtime = stage.runtime();
    let result = stage.call_with(&runtime, "test_run", json!({"text": "x"}), Approval::Once).await;
    assert!(result.ok(), "{:?}", result.value);
    assert_eq!(
        stage.diary(),
        ["asked: test_run runs a program, for which the default rule is `ask`", "run test_run x"]
    );
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "pre-one\npre-two\npost\n");

    let refused = Approval::Refused { why: Some("not today".into()) };
    let result = stage.call_with(&runtime, "test_run", json!({}), refused).await;
    assert_eq!(
        (result.kind, error(&result)),
        (
            ResultType::Rejected,
            "test_run was refused: not today; test_run runs a program, for which the default rule is `ask`"
        )
    );
    assert_eq!(
        result.value["hint"],
        "to allow it, put `allow = [\"test_run\"]` under [permissions] in lsp-tools.toml"
    );
    assert_eq!(stage.diary(), ["asked: test_run runs a program, for which the default rule is `ask`"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 3, "no hook runs for a refused call");
}

/// Records in one file the times of questions and of the tool's run.
struct Witness(PathBuf);

impl Witness {
    fn note(&self, what: &str) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.0);
        writeln!(file.expect("the log"), "{what}").expect("it can be written");
    }
}

impl Approver for Witness {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        self.note("asked");
        Box::pin(std::future::ready(Approval::Once))
    }
}

impl Tool for Witness {
    type Args = Map<String, Value>;
    type Output = String;

    fn card(&self) -> Card {
        Card::new("witness", "Witness", "Says when it ran.", Effect::Execute)
    }

    async fn run(&self, call: Call<'_>, _: Self::Args) -> Result<String, ToolError> {
        self.note(if call.cancelled.is_cancelled() { "ran too late" } else { "ran" });
        Ok("words".to_owned())
    }
}

/// The steps of the SDK's document: permission, pre-hook, tool, completed result, post-hook, end of
/// the call.
#[tokio::test]
async fn pipeline_steps_follow_one_another_as_documented() {
    let mut stage = Stage::new("");
    let log = stage.project.beside("logs").join("order");
    let audit = stage.project.beside("state").join("audit.jsonl");
    let mark = |what: &str, input: &str| {
        let ended = format!("$(cat '{}' 2>/dev/null | wc -l)", audit.display());
        format!("{input}; echo {what} with {ended} ended >> '{}'", log.display())
    };
    stage.hook("pre", "one", &mark("pre", "cat > /dev/null"));
    stage.hook("post", "two", &mark("post", "grep -q '\"text\":\"words\"' || exit 0"));
    let mut runtime = stage.runtime();
    runtime.add_tool(Witness(log.clone())).expect("a tool");
    let approver = Witness(log.clone());
    let request = CallRequest::new("witness", json!({}), &stage.caller).approved_by(&approver);
    let result = runtime.call(request).await;
    assert!(result.ok(), "{:?}", result.value);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "asked\npre with 0 ended\nran\npost with 0 ended\n");
    assert_eq!(stage.audit().len(), 1, "the call is written down at its end");
}

#[tokio::test]
async fn approval_unavailable_denial_hint_names_working_allow_rule() {
    let stage = Stage::new("");
    let runtime = stage.runtime();
    for (tool, arguments, rule) in [
        ("test_run", json!({"command": "git status"}), "test_run(git status)"),
        ("test_run", json!({"command": "ls; rm x"}), "test_run"),
        ("test_fetch", json!({"url": "https://docs.rs/serde?q=1"}), "test_fetch(docs.rs)"),
    ] {
        let result = stage.call(&runtime, tool, arguments.clone()).await;
        assert_eq!((result.kind, code(&result)), (ResultType::Denied, "denied"));
        let hint = result.value["hint"].as_str().unwrap();
        assert_eq!(
            hint,
            format!("to allow it, put `allow = [\"{rule}\"]` under [permissions] in lsp-tools.toml")
        );
        assert_eq!(stage.diary().len(), 1);
        let mut told = Stage::new(&format!("permissions.allow = ['{rule}']\n"));
        told.caller = stage.caller.clone();
        let runtime = told.runtime();
        assert!(told.call(&runtime, tool, arguments).await.ok(), "the rule from the hint works");
    }
}

#[tokio::test]
async fn approval_for_session_covers_same_call_and_never_a_deny() {
    let mut stage = Stage::new("permissions.deny = ['test_run(rm)']\n");
    let runtime = stage.runtime();
    let ls = json!({"command": "ls"});
    assert!(stage.call_with(&runtime, "test_run", ls.clone(), Approval::ForSession).await.ok());
    assert!(stage.call(&runtime, "test_run", ls.clone()).await.ok(), "no approval is needed");
    assert_eq!(code(&stage.call(&runtime, "test_run", json!({"command": "ls -la"})).await), "denied");
    let rm = stage.call_with(&runtime, "test_run", json!({"command": "rm x"}), Approval::ForSession).await;
    assert!(error(&rm).contains("`test_run(rm)`"), "{}", error(&rm));
    stage.caller.session = "another".into();
    assert_eq!(code(&stage.call(&runtime, "test_run", ls.clone()).await), "denied");
    stage.caller.session = "default".into();
    runtime.end_session("default");
    assert_eq!(code(&stage.call(&runtime, "test_run", ls).await), "denied");
}

#[tokio::test]
async fn move_or_delete_of_folder_with_denied_file_is_denied() {
    for rule in ["*(**/*.pem)", "*(x.pem)", "effect:edit(*.pem)", "read(x.pem)", "*(w/**/x.pem)"] {
        let mut stage = Stage::new(&format!("permissions.deny = ['{rule}']\n"));
        stage.caller = Caller::at_shell();
        stage.project.write("a/b/x.pem", "key\n");
        stage.project.write("a/t.txt", "text\n");
        let runtime = stage.runtime();
        let calls = [
            ("move", json!({"from": "a", "to": "w"})),
            ("delete", json!({"path": "a", "recursive": true})),
            ("delete", json!({"path": "a", "recursive": true, "dry_run": true})),
        ];
        for (tool, arguments) in calls {
            // A rule about another folder applies only to targets there.
            if rule.contains("(w/") && tool == "delete" {
                continue;
            }
            let result = stage.call(&runtime, tool, arguments.clone()).await;
            assert_eq!(code(&result), "denied", "{rule} {tool} {arguments}");
        }
        assert_eq!(stage.project.read("a/b/x.pem"), "key\n", "{rule}");
        let other = stage.call(&runtime, "delete", json!({"path": "a/t.txt"})).await;
        assert!(other.ok(), "{rule}: {}", error(&other));
    }
}

#[tokio::test]
async fn undo_of_folder_move_with_denied_file_is_denied() {
    let mut stage = Stage::new("");
    stage.caller = Caller::at_shell();
    stage.project.write("a/b/x.pem", "key\n");
    let moved = stage.call(&stage.runtime(), "move", json!({"from": "a", "to": "w"})).await;
    assert!(moved.ok(), "{}", error(&moved));
    stage.settings("permissions.deny = ['*(**/*.pem)']\n");
    for arguments in [json!({}), json!({"id": moved.value["undo"]})] {
        let undone = stage.call(&stage.runtime(), "undo", arguments.clone()).await;
        assert_eq!(code(&undone), "denied", "{arguments}: {}", undone.value);
        assert_eq!(stage.project.read("w/b/x.pem"), "key\n");
    }
}

#[tokio::test]
async fn approval_once_does_not_cover_the_next_call() {
    let stage = Stage::new("");
    let runtime = stage.runtime();
    let ls = json!({"command": "ls"});
    assert!(stage.call_with(&runtime, "test_run", ls.clone(), Approval::Once).await.ok());
    assert_eq!(code(&stage.call(&runtime, "test_run", ls).await), "denied");
}

#[tokio::test]
async fn shell_caller_needs_no_approval_but_deny_rules_apply() {
    let mut stage = Stage::new("permissions.deny = ['test_run(rm)']\n");
    stage.caller = Caller::at_shell();
    let runtime = stage.runtime();
    assert!(stage.call(&runtime, "test_run", json!({"command": "make | tee log"})).await.ok());
    assert_eq!(code(&stage.call(&runtime, "test_run", json!({"command": "rm x"})).await), "denied");
    assert_eq!(stage.diary(), ["run test_run"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn call_past_tool_deadline_times_out_and_tool_is_cancelled() {
    let stage = Stage::new("deadlines.tool = 200\n");
    let runtime = stage.runtime();
    let started = Instant::now();
    let result = stage.call(&runtime, "test_read", json!({"text": "sleep"})).await;
    assert_eq!(code(&result), "timeout");
    assert!(error(&result).contains("longer than 200 ms"), "{}", error(&result));
    assert!(started.elapsed() < Duration::from_secs(60));
    stage.wait_for("told to stop");
    assert_eq!(stage.audit()[0]["outcome"], "timeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_call_cancels_its_tool() {
    let stage = Stage::new("");
    let runtime = stage.runtime();
    let cancelled = CancellationToken::new();
    let request = CallRequest::new("test_read", json!({"text": "sleep"}), &stage.caller)
        .with_cancellation(cancelled.clone());
    let (result, ()) = tokio::join!(runtime.call(request), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancelled.cancel();
    });
    assert_eq!(code(&result), "cancelled");
    stage.wait_for("told to stop");
}

#[tokio::test]
async fn tool_panic_is_internal_error_without_details() {
    let stage = Stage::new("");
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_read", json!({"text": "panic"})).await;
    assert_eq!(code(&result), "internal");
    assert!(!result.text_for_model().contains("secret detail"));
    assert_eq!(result.error.as_deref(), Some("secret detail"));
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok(), "the next call works");
}

#[tokio::test]
async fn approval_request_without_call_describes_or_denies_it() {
    let stage = Stage::new("permissions.deny = ['test_edit(secret)']\n");
    let runtime = stage.runtime();
    let ask = |tool: &str, arguments| runtime.approval_request(&stage.caller, tool, &arguments);
    assert_eq!(ask("test_read", json!({"path": null})).unwrap(), None);
    let asked = ask("test_run", json!({"command": "ls"})).unwrap().unwrap();
    assert_eq!((asked.tool.as_str(), asked.commands.as_slice()), ("test_run", &["ls".to_owned()][..]));
    let denied = ask("test_edit", json!({"path": "secret/key"})).unwrap_err();
    assert!(denied.error.contains("test_edit(secret)"), "{}", denied.error);
    assert!(ask("test_raed", json!({})).is_err());
    assert!(stage.diary().is_empty() && stage.audit().is_empty());
}
