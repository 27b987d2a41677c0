//! The protocol of `copilot host`, on a scripted command line.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::house::{PATIENCE, Played, call, end, host, leave, requested, run};
use crate::support::{Marker, Project, count_processes, wait_until, write_executable};

#[test]
fn session_create_offers_our_tools_and_disables_repository_config() {
    let played =
        Played::steps([json!({"event": {"type": "assistant.message", "data": {"content": "Hello."}}})]);
    played.settings("[agents.reader]\ndescription = 'Reads'\ntools = ['read', 'lsp_hover']\n");
    let ran = played.run(&["what", "is", "this"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "Hello.\n"), "{}", ran.err);
    let session = &played.asked("session.create")[0];
    for (key, wanted) in [
        ("enableFileHooks", json!(false)),
        ("enableConfigDiscovery", json!(false)),
        ("enableHostGitOperations", json!(false)),
        ("enableSessionTelemetry", json!(false)),
        ("requestPermission", json!(true)),
        ("hooks", json!(true)),
        ("envValueMode", json!("direct")),
        ("streaming", json!(true)),
        ("workingDirectory", json!(played.project.root())),
    ] {
        assert_eq!(session[key], wanted, "{key}");
    }
    let tools = session["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in &names {
        assert!(
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "{name}"
        );
    }
    assert!(names.contains(&"edit") && names.contains(&"lsp_diagnostics"), "{names:?}");
    assert!(!names.contains(&"lsp") && !names.contains(&"task"), "{names:?}");
    for tool in tools {
        assert_eq!(tool["overridesBuiltInTool"], true);
        assert_eq!(tool["parameters"]["type"], "object", "{tool}");
        assert!(!tool["description"].as_str().unwrap().is_empty());
    }
    let available = session["availableTools"].as_array().unwrap();
    assert!(
        available.contains(&json!("custom:*")) && available.contains(&json!("builtin:task")),
        "{available:?}"
    );
    for gone in ["builtin:bash", "builtin:view"] {
        assert!(!available.contains(&json!(gone)), "{gone} would bypass our tools");
    }
    let agent = &session["customAgents"][0];
    assert_eq!(
        (&agent["name"], &agent["tools"]),
        (&json!("reader"), &json!(["lsp_hover", "lsp_tools_read"]))
    );
    assert_eq!(played.asked("session.send")[0]["prompt"], "what is this");
    assert_eq!(played.asked("session.destroy").len(), 1);
}

#[test]
fn available_and_excluded_lists_filter_our_and_builtin_tools() {
    let played = Played::steps([]);
    let ran = played.run(&["x", "--available", "read,lsp_*,task", "--excluded", "lsp_rename", "--no-stream"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let session = &played.asked("session.create")[0];
    let tools = session["tools"].as_array().unwrap();
    let named = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    assert!(named("lsp_tools_read") && named("lsp_hover") && !named("lsp_rename") && !named("edit"));
    assert_eq!(session["availableTools"], json!(["custom:*", "builtin:task"]));
    assert_eq!((&session["excludedTools"], &session["streaming"]), (&json!(["lsp_rename"]), &json!(false)));
}

#[test]
fn concurrent_tool_calls_each_get_a_text_result() {
    let long = "y".repeat(1000) + "\n";
    let played = Played::steps([
        call("1", "lsp_tools_read", json!({"path": "a.txt"})),
        call("2", "lsp_tools_read", json!({"path": "missing.txt"})),
        call("3", "lsp_tools_read", json!({"path": 5})),
        call("4", "no_such_tool", json!({})),
        call("5", "lsp_tools_read", json!({"path": "../outside"})),
        call("6", "lsp_tools_read", json!({"path": "long.txt"})),
        call("late", "glob", json!({"pattern": "*"})),
        call("1", "lsp_tools_read", json!({"path": "a.txt"})),
        json!({"wait": 7}),
        // By its end, the answer to the late request has been processed.
        call("8", "glob", json!({"pattern": "*"})),
        json!({"wait": 1}),
    ]);
    played.project.write("long.txt", long.repeat(60));
    let ran = played.run(&["x"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let first = played.result("1");
    assert_eq!(first["resultType"], "success");
    assert!(first["textResultForLlm"].as_str().unwrap().contains("one"), "{first}");
    for (request, words) in
        [("2", "missing.txt"), ("3", "path"), ("4", "unknown tool: no_such_tool"), ("5", "workspace")]
    {
        let result = played.result(request);
        assert_eq!(result["resultType"], "failure", "{result}");
        assert!(result["textResultForLlm"].as_str().unwrap().contains(words), "{result}");
        assert!(result.get("error").is_none(), "it would hide the text: {result}");
    }
    assert!(played.result("6")["textResultForLlm"].as_str().unwrap().len() < 20_480);
    assert!(ran.err.contains("an answer came too late"), "{}", ran.err);
}

#[test]
fn permission_requests_are_decided_by_rules_with_feedback() {
    let wanted = |kind: &str, key: &str, value: &str| json!({"kind": kind, key: value, "toolCallId": "c"});
    let played = Played::steps([
        leave("allowed", wanted("shell", "fullCommandText", "git status")),
        leave("asked", wanted("shell", "fullCommandText", "rm -rf /")),
        leave("write", wanted("write", "fileName", "a.txt")),
        leave("denied", wanted("write", "fileName", "secret/key")),
        leave("outside", wanted("read", "path", "/etc/passwd")),
        leave("link", wanted("read", "path", "link")),
        leave("url", wanted("url", "url", "https://example.com/")),
        leave("mcp", json!({"kind": "mcp", "serverName": "s", "toolName": "t", "readOnly": true})),
        leave("allowed-mcp", json!({"kind": "mcp", "serverName": "good", "toolName": "t"})),
        leave("hook", json!({"kind": "hook", "toolName": "view", "hookMessage": "look"})),
        leave("new", json!({"kind": "of tomorrow"})),
        leave(
            "ours",
            json!({"kind": "custom-tool", "toolName": "lsp_tools_read", "args": {"path": "a.txt"}, "toolCallId": "c"}),
        ),
        leave(
            "ours-denied",
            json!({"kind": "custom-tool", "toolName": "lsp_tools_write", "args": {"path": "secret/x", "content": ""}}),
        ),
        requested(
            "permission.requested",
            "settled",
            json!({"resolvedByHook": true, "permissionRequest": {"kind": "shell"}}),
        ),
        json!({"wait": 13}),
    ]);
    played
        .settings("[permissions]\nallow = ['bash(git status)', 'good/*']\ndeny = ['effect:edit(secret)']\n");
    std::os::unix::fs::symlink("/etc/hostname", played.project.path("link")).unwrap();
    let ran = played.run(&["x"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    for request in ["allowed", "write", "allowed-mcp", "ours"] {
        assert_eq!(played.result(request), json!({"kind": "approve-once"}), "{request}");
    }
    for (request, words) in [
        ("asked", "cannot ask a user"),
        ("denied", "effect:edit(secret)"),
        ("outside", "outside of the workspace"),
        ("link", "outside of the workspace"),
        ("url", "cannot ask a user"),
        ("mcp", "cannot ask a user"),
        ("hook", "look"),
        ("new", "of tomorrow"),
        ("ours-denied", "effect:edit(secret)"),
    ] {
        let result = played.result(request);
        assert_eq!(result["kind"], "reject", "{request}: {result}");
        assert!(result["feedback"].as_str().unwrap().contains(words), "{request}: {result}");
    }
    let settled = played.told().into_iter().any(|message| message["params"]["requestId"] == "settled");
    assert!(!settled, "a hook's decision is final");
}

#[test]
fn subagent_tool_calls_are_limited_by_agent_settings() {
    let by = |mut step: Value, agent: &str| {
        step["event"]["agentId"] = json!(agent);
        step
    };
    let started = |id: &str, name: &str| {
        by(json!({"event": {"type": "subagent.started", "data": {"agentName": name}}}), id)
    };
    let played = Played::steps([
        started("a1", "reader"),
        started("a2", "explore"),
        by(call("known", "lsp_tools_write", json!({"path": "b.txt", "content": "x"})), "a1"),
        by(call("theirs", "lsp_tools_write", json!({"path": "c.txt", "content": "x"})), "a2"),
        json!({"foreign": {"type": "session.idle", "data": {}}}),
        json!({"wait": 2}),
    ]);
    played.settings("[agents.reader]\ntools = ['read']\n");
    let ran = played.run(&["x"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(played.result("known")["resultType"], "denied");
    assert_eq!(played.result("theirs")["resultType"], "success");
    assert!(!played.project.path("b.txt").exists() && played.project.path("c.txt").exists());
    let undone = run({
        let mut command = played.project.command(None);
        command.args(["undo", "--group", "11111111-2222"]);
        command
    });
    assert!(undone.status == 0 && !played.project.path("c.txt").exists(), "{undone:?}");
}

#[test]
fn hooks_run_before_and_after_builtin_tools() {
    let ask = |hook: &str, input: Value| json!({"ask": {"method": "hooks.invoke", "params": {"hookType": hook, "input": input}}});
    let played = Played::steps([
        ask("preToolUse", json!({"toolName": "task", "toolArgs": {"prompt": "go"}})),
        ask("preToolUse", json!({"toolName": "lsp_tools_read", "toolArgs": {"path": "a.txt"}})),
        ask(
            "postToolUse",
            json!({"toolName": "task", "toolArgs": {}, "toolResult": {"textResultForLlm": "done"}}),
        ),
        ask("sessionStart", json!({"source": "new"})),
        json!({"ask": {"method": "userInput.request", "params": {}}}),
        json!({"wait": 5}),
    ]);
    let hook = played.project.beside("logs").join("hook");
    write_executable(&hook, "#!/bin/sh\necho '{\"decision\": \"deny\", \"why\": \"not today\"}'\n");
    let after = played.project.beside("logs").join("after");
    write_executable(&after, "#!/bin/sh\necho '{\"result\": {\"textResultForLlm\": \"changed\"}}'\n");
    played.settings(&format!(
        "[[hooks.pre]]\ncommand = [{:?}]\n[[hooks.post]]\ncommand = [{:?}]\n",
        hook, after
    ));
    let ran = played.run(&["x"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let answer = |id: &str| {
        let told = played.told();
        told.into_iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("no answer to {id}"))
    };
    let denied = &answer("ask-0")["result"]["output"];
    assert_eq!(denied["permissionDecision"], "deny");
    assert!(denied["permissionDecisionReason"].as_str().unwrap().contains("not today"), "{denied}");
    assert_eq!(answer("ask-1")["result"]["output"], Value::Null, "hooks run where our own call runs");
    assert_eq!(answer("ask-2")["result"]["output"]["modifiedResult"]["textResultForLlm"], "changed");
    assert_eq!(answer("ask-3")["result"]["output"], Value::Null);
    assert_eq!(answer("ask-4")["error"]["code"], -32601);
}

#[test]
#[ignore = "slow: just slow"]
fn protocol_failures_are_reported_with_status_4() {
    for (play, status, words) in [
        (
            json!({"hello": {"protocolVersion": 4, "version": "9.9"}}),
            4,
            "9.9 speaks protocol 4, and 3 is needed",
        ),
        (json!({"refuse": "bad name"}), 4, "refused session.create (-32602): bad name"),
        (json!({"create": {}}), 4, "the response of the Copilot command line to session.create"),
        (
            json!({"after": [{"exit": 3}]}),
            4,
            "ended in the middle of a session; its last words: no such luck",
        ),
        (json!({"after": [{"raw": "Content-Length: 99999999999\r\n\r\n{"}]}), 4, "wrote an invalid message"),
        // An invalid message is ignored.
        (
            json!({"after": [{"raw": "Content-Length: 2\r\n\r\n{]Content-Length: 2\r\n\r\n{}"}, {"event": {"type": "session.error", "data": {"errorType": "query", "message": "heard"}}}]}),
            4,
            "the session failed (query): heard",
        ),
        (
            json!({"after": [{"event": {"type": "session.error", "data": {"errorType": "query", "message": "No GitHub OAuth token"}}}]}),
            4,
            "sign in with `copilot login`",
        ),
    ] {
        let played = Played::new(&play);
        let ran = played.run(&["x"]);
        assert!(ran.status == status && ran.err.contains(words), "{play}: {ran:?}");
    }
    let silent = Played::new(&json!({"after": []}));
    let ran = silent.run(&["x", "--limit", "2"]);
    assert!(ran.status == 4 && ran.err.contains("longer than 2 s"), "{ran:?}");
    let json = silent.run(&["x", "--limit", "2", "--format", "json"]);
    let last: Value = serde_json::from_str(json.out.lines().last().unwrap_or_default()).unwrap();
    assert_eq!((&last["ok"], &last["code"]), (&json!(false), &json!("timeout")));
}

#[test]
fn invalid_host_options_are_refused_before_start() {
    let project = Project::new([]);
    let with = |arguments: &[&str], env: &[(&str, &str)]| {
        let mut command = host(&project, None);
        command.args(arguments).envs(env.iter().copied()).env("PATH", "/nonexistent");
        run(command)
    };
    let url = ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:9/v1");
    for (arguments, env, words) in [
        (vec!["x"], vec![], "npm install -g @github/copilot"),
        (vec!["x", "--cli", "/nonexistent/copilot"], vec![], "not a program at /nonexistent/copilot"),
        (vec![], vec![], "the prompt is missing"),
        (vec!["x"], vec![url], "set without a model"),
        (
            vec!["x"],
            vec![url, ("COPILOT_MODEL", "m"), ("COPILOT_PROVIDER_API_KEY", "placeholder-value")],
            "lsp-tools passes none",
        ),
    ] {
        let ran = with(&arguments, &env);
        assert!(ran.err.contains(words), "{arguments:?}: {ran:?}");
        assert!(ran.status != 0 && !ran.err.contains("placeholder-value"), "{ran:?}");
    }
    let played = Played::steps([]);
    let ran = played.run(&["x", "--agent", "nobody"]);
    assert!(ran.status == 2 && ran.err.contains("there is no agent `nobody`"), "{ran:?}");
}

#[test]
fn json_format_prints_event_lines_and_prompt_comes_from_stdin() {
    let played = Played::steps([json!({"event": {"type": "assistant.message", "data": {"content": "Hi."}}})]);
    let mut command = played.command(&["--format", "json"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"from a pipe\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(kinds, ["assistant.message", "session.idle"]);
    let last = lines.last().unwrap();
    assert_eq!((&last["ok"], &last["answer"], &last["calls"]), (&json!(true), &json!("Hi."), &json!(0)));
    assert_eq!(played.asked("session.send")[0]["prompt"], "from a pipe\n");
}

#[test]
fn session_interrupted_is_aborted_and_leaves_no_processes() {
    let sleeping = Marker::new();
    let command = format!("sleep 300; : {}", sleeping.as_str());
    let played =
        Played::new(&json!({"after": [call("1", "bash", json!({"command": command})), {"wait": 100}]}));
    played.settings("[permissions]\nallow = ['bash']\n");
    let child = played.start(&["x"]);
    played.wait_for("session.send");
    let marker = played.project.beside("logs").join("copilot").to_string_lossy().into_owned();
    wait_until("the command runs", PATIENCE, || sleeping.living() > 0);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(end(child), 130);
    assert_eq!(played.asked("session.abort").len(), 1);
    assert_eq!(played.asked("session.destroy").len(), 1);
    assert!(played.asked("session.tools.handlePendingToolCall").is_empty(), "no call waits for it");
    wait_until("nothing is left", PATIENCE, || count_processes(&marker) == 0 && sleeping.living() == 0);
}
