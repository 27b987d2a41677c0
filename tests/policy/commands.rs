//! The language commands of the shell go the way of every call: rules, hooks and the audit log hold for each of them.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use super::stage::executable;
use crate::support::Project;

/// Each command that asks about code, with the tool that it is.
const COMMANDS: &[(&str, &[&str])] = &[
    ("lsp_hover", &["hover", "a.scr:1:5"]),
    ("lsp_definition", &["definition", "a.scr:2:1"]),
    ("lsp_declaration", &["declaration", "a.scr:2:1"]),
    ("lsp_type_definition", &["type-definition", "a.scr:2:1"]),
    ("lsp_implementation", &["implementation", "a.scr:2:1"]),
    ("lsp_references", &["references", "a.scr:1:5"]),
    ("lsp_symbols", &["symbols", "a.scr"]),
    ("lsp_calls", &["calls", "a.scr:1:5"]),
    ("lsp_types", &["types", "a.scr:1:5"]),
    ("lsp_signature", &["signature", "a.scr:2:1"]),
    ("lsp_completion", &["completion", "a.scr:2:1"]),
    ("lsp_diagnostics", &["check", "a.scr"]),
];

struct Shell(Project);

impl Shell {
    fn with(settings: &str) -> Self {
        let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\nfoo\n")]);
        fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
        Self(project)
    }

    fn script(&self, name: &str, body: &str) -> String {
        executable(self.0.beside("logs").join(name), body)
    }

    fn hook(&self, event: &str, body: &str) {
        let script = self.script("the-hook", body);
        let settings = format!("[[hooks.{event}]]\ncommand = [{}]\ntimeout-ms = 60000\n", json!(script));
        fs::write(self.0.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    }

    fn run(&self, words: &[&str]) -> Output {
        self.0.command(None).args(words).output().expect("lsp-tools")
    }

    /// The last entry of the audit log.
    fn entry(&self) -> Value {
        let text = fs::read_to_string(self.0.beside("state").join("audit.jsonl")).unwrap_or_default();
        text.lines().last().map_or(Value::Null, |line| serde_json::from_str(line).expect("JSON"))
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "slow: just slow"]
fn language_command_is_recorded_in_audit_log() {
    let shell = Shell::with("");
    for (tool, words) in COMMANDS {
        let output = shell.run(words);
        assert_ne!(output.status.code(), Some(5), "{tool}: {}", told(&output));
        let entry = shell.entry();
        assert_eq!((&entry["tool"], &entry["session"]), (&json!(tool), &json!("shell")), "{entry}");
        assert_eq!((&entry["effect"], &entry["decision"]), (&json!("read"), &json!("allow")), "{entry}");
        assert_eq!(entry["paths"], json!(["a.scr"]), "{entry}");
    }
}

#[test]
fn language_command_with_deny_rule_is_denied() {
    for (tool, words) in COMMANDS {
        let shell = Shell::with(&format!("[permissions]\ndeny = [{}]\n", json!(tool)));
        let output = shell.run(words);
        assert_eq!(output.status.code(), Some(5), "{tool}: {}", told(&output));
        assert_eq!(shell.entry()["outcome"], "denied", "{tool}");
    }
}

#[test]
fn language_command_pre_hook_sees_call_and_may_deny() {
    let shell = Shell::with("");
    let seen = shell.0.beside("logs").join("seen");
    let deny = "echo '{\"decision\": \"deny\", \"why\": \"not on Fridays\"}'";
    shell.hook("pre", &format!("cat > '{}'; {deny}", seen.display()));
    for (tool, words) in COMMANDS {
        let output = shell.run(words);
        assert_eq!(output.status.code(), Some(5), "{tool}: {}", told(&output));
        let wanted = format!("the hook `the-hook` forbids {tool}: not on Fridays");
        assert!(told(&output).contains(&wanted), "{tool}: {}", told(&output));
        let input: Value = serde_json::from_slice(&fs::read(&seen).expect("what it saw")).expect("JSON");
        assert_eq!((&input["tool"], &input["session"]), (&json!(tool), &json!("shell")), "{input}");
        let named = [&input["arguments"]["path"], &input["arguments"]["paths"][0]];
        assert!(named.contains(&&json!("a.scr")), "{input}");
        assert_eq!(shell.0.log().starts(), 0, "{tool} went on to its server");
    }
}

#[test]
fn language_command_pre_hook_may_change_arguments() {
    let shell = Shell::with("");
    shell.hook("pre", "echo '{\"arguments\": {\"path\": \"a.scr\", \"line\": 1, \"symbol\": \"foo\"}}'");
    let output = shell.run(&["hover", "a.scr:1:5", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&answer["ok"], &answer["resolved"]["path"]), (&json!(true), &json!("a.scr")), "{answer}");
    assert_eq!(answer["resolved"]["line"], 1, "{answer}");
}

#[test]
fn language_command_post_hook_may_replace_answer_and_failure_is_noted() {
    let shell = Shell::with("");
    shell.hook("post", "exit 3");
    let output = shell.run(&["hover", "a.scr:1:5"]);
    assert!(told(&output).contains("the hook `the-hook` failed with exit status 3"), "{}", told(&output));
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let seen = shell.0.beside("logs").join("seen");
    let replace = r#"{"result": {"contents": "another", "verdict": "complete", "server_status":
        {"language": "scr", "server": "s", "state": "ready", "waited_ms": 1}}}"#;
    shell.hook("post", &format!("cat > '{}'; echo '{}'", seen.display(), replace.replace('\n', "")));
    let output = shell.run(&["hover", "a.scr:1:5"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "another", "{}", told(&output));
    let input: Value = serde_json::from_slice(&fs::read(&seen).expect("what it saw")).expect("JSON");
    assert!(input["result"]["contents"].as_str().is_some_and(|text| text.contains("foo")), "{input}");
    // What is no answer of the tool is told, and not shown as one.
    shell.hook("post", "echo '{\"result\": {\"contents\": 7}}'");
    let output = shell.run(&["hover", "a.scr:1:5"]);
    assert_eq!(output.status.code(), Some(4), "{}", told(&output));
    assert!(
        told(&output).contains("what a hook put in the place of lsp_hover's answer is none"),
        "{}",
        told(&output)
    );
}

#[test]
fn trust_and_install_commands_are_audited_and_deniable() {
    let shell = Shell::with("");
    shell.0.write(".lsp-tools/servers.toml", "[server.own]\ncommand = [\"sh\"]\nlanguages = [\"python\"]\n");
    for (words, tool, outcome) in [
        (&["trust", "--yes"][..], "trust", "ok"),
        (&["trust", "--revoke"], "trust", "ok"),
        (&["install", "nosuchserver"], "install", "not_found"),
    ] {
        let output = shell.run(words);
        let entry = shell.entry();
        assert_eq!((&entry["tool"], &entry["session"]), (&json!(tool), &json!("shell")), "{}", told(&output));
        assert_eq!(entry["outcome"], outcome, "{entry} {}", told(&output));
    }
    let shell = Shell::with("[permissions]\ndeny = [\"install\", \"trust\"]\n");
    for words in [&["install", "pyright"][..], &["trust", "--revoke"]] {
        let output = shell.run(words);
        assert_eq!(output.status.code(), Some(5), "{words:?}: {}", told(&output));
        assert_eq!(shell.entry()["outcome"], "denied", "{words:?}");
    }
}

#[test]
fn install_option_of_query_is_bound_by_install_rule() {
    let shell = Shell::with("[permissions]\ndeny = [\"install\"]\n");
    shell.0.write("a.yaml", "a: 1\n");
    let output = shell.run(&["hover", "a.yaml:1:1", "--install"]);
    assert_eq!(output.status.code(), Some(5), "{}", told(&output));
    let text = fs::read_to_string(shell.0.beside("state").join("audit.jsonl")).expect("a log");
    let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let install = entries.iter().find(|entry| entry["tool"] == "install").expect("an entry");
    assert_eq!((&install["effect"], &install["outcome"]), (&json!("network"), &json!("denied")));
    assert!(!shell.0.beside("data").join("servers/yaml-language-server").exists());
}
