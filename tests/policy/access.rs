use std::fs;
use std::os::unix::fs::symlink;

use lsp_tools::internals::config::Profile;
use lsp_tools::internals::policy::{CallerAccess, PolicyVerdict};
use lsp_tools::{Call, Caller, Card, Runtime, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::stage::{Stage, code, error};

fn offered(stage: &Stage, settings_of_caller: CallerAccess) -> Vec<String> {
    let caller = Caller { access: settings_of_caller, ..Caller::default() };
    let runtime = stage.runtime();
    let definitions = runtime.definitions(&caller);
    definitions.iter().map(|definition| definition.card.name.to_string()).collect()
}

#[tokio::test]
async fn excluded_tool_is_not_listed_and_call_is_denied() {
    let stage = Stage::new("[permissions]\navailable = ['test_*', 'lsp_hover']\nexcluded = ['test_edit']\n");
    let names = offered(&stage, CallerAccess::default());
    assert_eq!(names, ["lsp_hover", "test_fetch", "test_read", "test_run"]);
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_edit", json!({})).await;
    assert_eq!(
        (code(&result), error(&result)),
        ("denied", "test_edit is in the list `excluded` of the user's settings; it can be taken out there")
    );
    assert!(stage.diary().is_empty());
    let lsp = CallerAccess { profile: Some(Profile::Lsp), ..CallerAccess::default() };
    assert_eq!(offered(&stage, lsp), ["lsp_hover"]);
    let read_only = CallerAccess { profile: Some(Profile::ReadOnly), ..CallerAccess::default() };
    assert_eq!(offered(&stage, read_only), ["lsp_hover", "test_read"]);
}

/// A tool of an embedder with the profile `lsp`, and not `core`, on its card.
struct Measures;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nothing {}

impl Tool for Measures {
    type Args = Nothing;
    type Output = Nothing;

    fn card(&self) -> Card {
        Card::reading("measures", "Measures", "Measures code.").beyond_core().in_lsp_profile()
    }

    async fn run(&self, _call: Call<'_>, args: Nothing) -> Result<Nothing, ToolError> {
        Ok(args)
    }
}

#[tokio::test]
async fn embedder_tool_is_in_the_profiles_that_its_card_says() {
    let stage = Stage::new("");
    let mut runtime = stage.runtime();
    runtime.add_tool(Measures).expect("a tool");
    let lists = |runtime: &Runtime, profile: Option<Profile>| {
        let access = CallerAccess { profile, ..CallerAccess::default() };
        let listed = runtime.definitions(&Caller { access, ..Caller::default() });
        let has = |name: &str| listed.iter().any(|definition| definition.card.name == name);
        (has("measures"), has("test_read"))
    };
    assert_eq!(lists(&runtime, None), (false, true));
    assert_eq!(lists(&runtime, Some(Profile::Lsp)), (true, false));
    fs::write(stage.project.beside("config").join("lsp-tools.toml"), "limits.answer-items = 50\n").unwrap();
    let reopened = runtime.reopen_if_changed().expect("settings").expect("another runtime");
    assert_eq!(lists(&reopened, Some(Profile::Lsp)), (true, false));
    assert_eq!(lists(&reopened, None), (false, true));
}

#[tokio::test]
async fn agent_tools_are_limited_by_agent_and_session_rules() {
    let mut stage = Stage::new(
        "[permissions]\nexcluded = ['test_fetch']\n[agents.scribe]\ntools = ['test_read', 'test_edit', 'test_fetch']\n\
         deny = ['test_edit(secret)']\n",
    );
    stage.caller.agent = Some("scribe".into());
    let runtime = stage.runtime();
    let definitions = runtime.definitions(&stage.caller);
    let names: Vec<&str> = definitions.iter().map(|definition| definition.card.name.as_ref()).collect();
    assert_eq!(names, ["test_edit", "test_read"]);
    assert!(stage.call(&runtime, "test_edit", json!({"path": "src/a.rs"})).await.ok());
    assert_eq!(code(&stage.call(&runtime, "test_edit", json!({"path": "secret/key"})).await), "denied");
    assert_eq!(code(&stage.call(&runtime, "test_run", json!({})).await), "denied");
    stage.caller.agent = Some("scirbe".into());
    let result = stage.call(&runtime, "test_read", json!({})).await;
    assert!(error(&result).ends_with("; did you mean `scribe`?"), "{}", error(&result));
}

#[tokio::test]
async fn symlink_does_not_bypass_permission_rule() {
    let stage = Stage::new("permissions.deny = ['*(secret)']\n");
    symlink("../secret", stage.project.path("src/innocent")).unwrap();
    symlink("secret/new", stage.project.path("fresh")).unwrap();
    let runtime = stage.runtime();
    for path in
        ["secret/key", "src/../secret/key", "src/innocent/key", "src/innocent/new", "fresh", "SECRET/key"]
    {
        let result = stage.call(&runtime, "test_read", json!({"path": path})).await;
        assert_eq!(code(&result), "denied", "{path}");
    }
    assert!(stage.call(&runtime, "test_read", json!({"path": "src/a.rs"})).await.ok());
    assert_eq!(
        code(&stage.call(&runtime, "test_edit", json!({"path": "."})).await),
        "denied",
        "the folder above"
    );
    assert!(stage.call(&runtime, "test_read", json!({"path": "."})).await.ok());
}

#[tokio::test]
async fn untrusted_project_settings_may_deny_but_not_allow() {
    let stage = Stage::new("");
    let hook = stage.script("evil", "touch PWNED; cat > /dev/null");
    let settings = format!(
        "[permissions]\nallow = ['test_run', 'test_fetch']\ndeny = ['test_edit(src)']\n[[hooks.pre]]\ncommand = [{}]\n",
        json!(hook)
    );
    stage.project.write(".lsp-tools/lsp-tools.toml", &settings);
    let runtime = stage.runtime();
    assert_eq!(code(&stage.call(&runtime, "test_run", json!({"command": "ls"})).await), "denied");
    let result = stage.call(&runtime, "test_edit", json!({"path": "src/a.rs"})).await;
    assert!(error(&result).contains("in .lsp-tools/lsp-tools.toml forbids it"), "{}", error(&result));
    assert!(stage.call(&runtime, "test_read", json!({})).await.ok());
    assert!(!stage.project.path("PWNED").exists(), "no hook of an untrusted project runs");
    assert!(
        runtime.startup_hints().iter().any(|line| line.contains("permissions.allow")),
        "{:?}",
        runtime.startup_hints()
    );
}

#[tokio::test]
async fn trusted_project_hook_changed_after_trust_does_not_run() {
    use lsp_tools::TrustRequest;
    let stage = Stage::new("");
    let hook = |body: &str| super::stage::executable(stage.project.path("check.sh"), body);
    hook("cat > /dev/null; touch seen");
    stage.project.write(".lsp-tools/lsp-tools.toml", "[[hooks.pre]]\ncommand = ['./check.sh']\n");
    let asked = stage.runtime().trust(TrustRequest::Show).await.unwrap();
    assert!(asked.items.iter().any(|item| item.name == "the program `check.sh`"), "{:?}", asked.items);
    stage.runtime().trust(TrustRequest::Grant { fingerprint: asked.fingerprint }).await.unwrap();
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_read", json!({})).await;
    assert!(result.ok(), "{:?}", result.value);
    assert!(stage.project.path("seen").exists());
    hook("cat > /dev/null; touch PWNED");
    let result = stage.call(&runtime, "test_read", json!({})).await;
    assert!(
        error(&result).contains("`./check.sh` of this project, which is not trusted"),
        "{}",
        error(&result)
    );
    assert!(!stage.project.path("PWNED").exists());
}

#[tokio::test]
async fn user_hook_with_project_script_needs_trust() {
    let mut stage = Stage::new("");
    stage.settings("[[hooks.pre]]\ncommand = ['sh', 'src/hook.sh']\n");
    stage.project.write("src/hook.sh", "touch PWNED");
    let runtime = stage.runtime();
    let result = stage.call(&runtime, "test_read", json!({})).await;
    assert!(error(&result).contains("`src/hook.sh` of this project"), "{}", error(&result));
    assert!(!stage.project.path("PWNED").exists());
}

#[tokio::test]
async fn invalid_permission_rule_prevents_runtime_open() {
    let stage = Stage::new("[permissions]\ndeny = ['bash(a|b)']\n");
    let error = stage.try_runtime().expect_err("a wrong rule").error;
    assert!(error.contains("lsp-tools.toml` line 2: the rule `bash(a|b)`"), "{error}");
}

#[tokio::test]
async fn permission_check_without_call_reports_verdict() {
    let stage =
        Stage::new("[permissions]\nallow = ['bash(git status)']\ndeny = ['bash(rm)', 'test_edit(secret)']\n");
    let runtime = stage.runtime();
    for (command, expected) in [
        ("git status", PolicyVerdict::Allow),
        ("git status; ls", PolicyVerdict::Ask),
        ("ls; rm x", PolicyVerdict::Deny),
    ] {
        assert_eq!(runtime.check_command(&stage.caller, command).verdict, expected, "{command}");
    }
    let check = |arguments: Value| runtime.check_call(&stage.caller, "test_edit", &arguments);
    assert_eq!(check(json!({"path": "secret/key"})).unwrap().rule.as_deref(), Some("test_edit(secret)"));
    assert_eq!(check(json!({"path": "src"})).unwrap().verdict, PolicyVerdict::Allow);
    assert!(check(json!({"pth": "src"})).is_err());
    assert!(stage.audit().is_empty());
}

#[test]
fn policy_check_command_prints_verdict_and_status() {
    let stage = Stage::new("");
    let settings = "[permissions]\nallow = ['bash(git status)']\ndeny = ['bash(rm)']\n";
    std::fs::write(stage.project.beside("config").join("lsp-tools.toml"), settings).unwrap();
    for (words, status, start) in [
        (&["--", "git", "status"][..], 0, "allow: `bash(git status)` allows it"),
        (&["--", "git status; rm x"], 5, "deny: the rule `bash(rm)` in the user's settings forbids it"),
        (&["--", "ls", ";", "rm"], 1, "ask: bash runs a program"),
        (&["lsp_hover", "{\"path\": \"src/a.rs\", \"symbol\": \"x\"}"], 0, "allow: reading is allowed"),
        (&["lsp_hover", "{"], 2, ""),
        (&[], 2, ""),
        (&["--agent", "nobody", "--", "ls"], 5, "deny: there is no agent `nobody`"),
    ] {
        let output = stage.project.command(None).args(["policy", "check"]).args(words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{words:?} {text} {output:?}");
        assert!(text.starts_with(start), "{words:?} {text}");
    }
    let json = stage
        .project
        .command(None)
        .args(["policy", "check", "--format", "json", "--", "rm x"])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["decision"], &json["rule"], &json["ok"]),
        (&json!("deny"), &json!("bash(rm)"), &json!(true))
    );
}
