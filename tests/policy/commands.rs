//! The commands of the shell take the path of every call: rules, hooks and the audit log apply to
//! each of them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use clap::{Command, CommandFactory as _};
use lsp_tools::internals::cli::Cli;
use serde_json::{Value, json};

use super::stage::executable;
use crate::support::Project;

/// A patch of the project's file.
const PATCH: &str = "--- a/a.scr\n+++ b/a.scr\n@@ -1,2 +1,2 @@\n def foo\n-foo\n+bar\n";

/// A command line that calls a tool.
struct ToolCommand {
    tool: &'static str,
    effect: &'static str,
    words: &'static [&'static str],
    /// An argument of the call in a hook's input: its JSON pointer, and its value without quotes.
    argument: (&'static str, &'static str),
}

const fn reading(
    tool: &'static str,
    words: &'static [&'static str],
    argument: (&'static str, &'static str),
) -> ToolCommand {
    ToolCommand { tool, effect: "read", words, argument }
}

const fn editing(
    tool: &'static str,
    words: &'static [&'static str],
    argument: (&'static str, &'static str),
) -> ToolCommand {
    ToolCommand { tool, effect: "edit", words, argument }
}

const OF_FILE: (&str, &str) = ("/path", "a.scr");

/// Each command that calls a tool, with each of its tools; `reach::command` tests that `tests
/// --run` calls `bash`.
const COMMANDS: &[ToolCommand] = &[
    reading("lsp_hover", &["hover", "a.scr:1:5"], OF_FILE),
    reading("lsp_definition", &["definition", "a.scr:2:1"], OF_FILE),
    reading("lsp_declaration", &["declaration", "a.scr:2:1"], OF_FILE),
    reading("lsp_type_definition", &["type-definition", "a.scr:2:1"], OF_FILE),
    reading("lsp_implementation", &["implementation", "a.scr:2:1"], OF_FILE),
    reading("lsp_references", &["references", "a.scr:1:5"], OF_FILE),
    reading("lsp_symbols", &["symbols", "a.scr"], OF_FILE),
    reading("lsp_calls", &["calls", "a.scr:1:5"], OF_FILE),
    reading("lsp_types", &["types", "a.scr:1:5"], OF_FILE),
    reading("lsp_signature", &["signature", "a.scr:2:1"], OF_FILE),
    reading("lsp_completion", &["completion", "a.scr:2:1"], OF_FILE),
    reading("explore", &["explore", "a.scr:1:5"], OF_FILE),
    reading("lsp_diagnostics", &["check", "a.scr"], ("/paths/0", "a.scr")),
    reading("lsp_changes", &["check", "--against", "HEAD"], ("/against", "HEAD")),
    reading("lsp_changes", &["check", "--index"], ("/index", "true")),
    reading("lsp_changes", &["check", "--merge-branches", "one", "two"], ("/merge_branches/1", "two")),
    reading("lsp_tests", &["tests", "--against", "HEAD"], ("/against", "HEAD")),
    reading("lsp_tests", &["tests", "a.scr:1:5"], OF_FILE),
    reading("read", &["read", "a.scr"], OF_FILE),
    reading("list", &["list", "."], ("/path", ".")),
    reading("glob", &["glob", "*.scr"], ("/pattern", "*.scr")),
    reading("grep", &["grep", "foo"], ("/pattern", "foo")),
    editing("edit", &["edit", "a.scr", "--old", "def", "--new", "fun", "--dry-run"], OF_FILE),
    editing("edit_symbol", &["edit", "a.scr:foo", "--delete", "--dry-run"], OF_FILE),
    editing("move_symbol", &["edit", "a.scr:foo", "--to", "b.scr", "--dry-run"], OF_FILE),
    editing("write", &["write", "a.scr", "--content", "x", "--dry-run"], OF_FILE),
    editing("patch", &["patch", "a.patch", "--dry-run"], ("/patch", PATCH)),
    editing("move", &["move", "a.scr", "b.scr", "--dry-run"], ("/from", "a.scr")),
    editing("delete", &["delete", "a.scr", "--dry-run"], OF_FILE),
    editing("undo", &["undo"], ("", "{}")),
    editing("undo", &["undo", "--list"], ("/list", "true")),
    editing("undo", &["copilot", "undo", "turn-1"], ("/group", "turn-1")),
    editing("lsp_rename", &["rename", "a.scr:1:5", "bar", "--dry-run"], ("/new_name", "bar")),
    editing("lsp_code_actions", &["actions", "a.scr:1"], OF_FILE),
    editing("lsp_code_actions", &["actions", "a.scr:1", "--apply", "It", "--dry-run"], OF_FILE),
    editing("lsp_format", &["format", "a.scr", "--dry-run"], OF_FILE),
    editing("fix", &["fix", "source.fixAll", "a.scr", "--dry-run"], ("/paths/0", "a.scr")),
    reading("lsp_servers", &["servers"], ("", "{}")),
    reading("read", &["tools", "call", "read", "{\"path\": \"a.scr\"}"], OF_FILE),
];

/// Commands that call tools in another way, and their tests.
const BY_OTHER_TESTS: &[(&str, &str)] = &[
    ("mcp call", "mounted::rules::server_wide_permission_rule_allows_and_denies_its_tools"),
    ("index", "code_index::index_tells_nothing_of_files_that_a_rule_hides"),
    ("hook", "host_hook::hook_tells_nothing_of_what_rules_hide"),
    ("install", "policy::commands::trust_and_install_commands_are_audited_and_deniable"),
    ("trust", "policy::commands::trust_and_install_commands_are_audited_and_deniable"),
];

/// Commands that start a front end, through which calls by name come.
const DOORS: &[&str] =
    &["mcp", "lsp", "copilot agent", "copilot chat", "copilot host", "daemon start", "daemon run", "view"];

/// Commands without tools, for the program, its processes and lists, and the user's own settings.
const WITHOUT_TOOL: &[&str] = &[
    "doctor",
    "policy check",
    "store status",
    "store key",
    "store pull",
    "store push",
    "store forget",
    "tools list",
    "tools show",
    "tools schema",
    "mcp list",
    "mcp show",
    "mcp approve",
    "mcp doctor",
    "copilot",
    "copilot status",
    "copilot tools",
    "copilot sign-in",
    "daemon stop",
    "daemon status",
    "daemon logs",
    "init",
    "completions",
    "man",
    "schema",
];

/// The paths of all visible commands below `path`.
fn command_paths(path: &str, command: &Command, found: &mut Vec<String>) {
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    if !path.is_empty() && !command.is_subcommand_required_set() {
        found.push(path.to_owned());
    }
    for inner in inner {
        command_paths(format!("{path} {}", inner.get_name()).trim_start(), inner, found);
    }
}

#[test]
fn command_of_the_program_is_either_tried_below_or_known_to_call_no_tool() {
    let mut all = Vec::new();
    command_paths("", &Cli::command(), &mut all);
    // The words of `copilot undo` begin with two paths, and mean the longer one.
    let path_of = |row: &ToolCommand| {
        let line = format!("{} ", row.words.join(" "));
        let fits = |path: &&String| line.starts_with(&format!("{path} "));
        all.iter().filter(fits).max_by_key(|path| path.len()).expect("a command")
    };
    let tried: BTreeSet<&String> = COMMANDS.iter().map(path_of).collect();
    let elsewhere = BY_OTHER_TESTS.iter().map(|(path, _)| *path);
    let named: Vec<&str> = elsewhere.chain([DOORS, WITHOUT_TOOL].concat()).collect();
    let times =
        |path: &String| named.iter().filter(|name| *name == path).count() + usize::from(tried.contains(path));
    let wrong: Vec<&String> = all.iter().filter(|path| times(path) != 1).collect();
    assert!(wrong.is_empty(), "not in just one of the lists in {}: {wrong:?}", file!());
    let gone: BTreeSet<&str> =
        named.into_iter().filter(|name| !all.iter().any(|path| path == name)).collect();
    assert!(gone.is_empty(), "no commands any more: {gone:?}");
}

struct Shell(Project);

impl Shell {
    fn with(settings: &str) -> Self {
        let files = [("a.scr", "def foo\nfoo\n"), ("a.patch", PATCH)];
        let project = Project::scripted(&json!({}), "", files);
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
fn command_is_recorded_in_audit_log() {
    let shell = Shell::with("");
    for ToolCommand { tool, effect, words, argument } in COMMANDS {
        let output = shell.run(words);
        assert_ne!(output.status.code(), Some(5), "{words:?}: {}", told(&output));
        let entry = shell.entry();
        assert_eq!((&entry["tool"], &entry["session"]), (&json!(tool), &json!("shell")), "{entry}");
        assert_eq!((&entry["effect"], &entry["decision"]), (&json!(effect), &json!("allow")), "{entry}");
        if argument.1 == "a.scr" {
            assert_eq!(entry["paths"][0], "a.scr", "{entry}");
        }
    }
}

#[test]
fn command_with_deny_rule_is_denied() {
    for ToolCommand { tool, words, .. } in COMMANDS {
        let shell = Shell::with(&format!("[permissions]\ndeny = [{}]\n", json!(tool)));
        let output = shell.run(words);
        assert_eq!(output.status.code(), Some(5), "{words:?}: {}", told(&output));
        let entry = shell.entry();
        assert_eq!((&entry["tool"], &entry["outcome"]), (&json!(tool), &json!("denied")), "{words:?}");
    }
}

#[test]
fn command_pre_hook_sees_call_and_may_deny() {
    let shell = Shell::with("");
    let seen = shell.0.beside("logs").join("seen");
    let deny = "echo '{\"decision\": \"deny\", \"why\": \"not on Fridays\"}'";
    shell.hook("pre", &format!("cat > '{}'; {deny}", seen.display()));
    for ToolCommand { tool, words, argument: (pointer, value), .. } in COMMANDS {
        let output = shell.run(words);
        assert_eq!(output.status.code(), Some(5), "{words:?}: {}", told(&output));
        let wanted = format!("the hook `the-hook` forbids {tool}: not on Fridays");
        assert!(told(&output).contains(&wanted), "{words:?}: {}", told(&output));
        let input: Value = serde_json::from_slice(&fs::read(&seen).expect("what it saw")).expect("JSON");
        assert_eq!((&input["tool"], &input["session"]), (&json!(tool), &json!("shell")), "{input}");
        let argument = input["arguments"].pointer(pointer).expect("the argument");
        let argument = argument.as_str().map_or_else(|| argument.to_string(), str::to_owned);
        assert_eq!(argument, *value, "{words:?}: {input}");
        assert_eq!(shell.0.log().starts(), 0, "{words:?} went on to its server");
    }
}

#[test]
fn command_pre_hook_may_change_arguments() {
    let shell = Shell::with("");
    shell.hook("pre", "echo '{\"arguments\": {\"path\": \"a.scr\", \"line\": 1, \"symbol\": \"foo\"}}'");
    let output = shell.run(&["hover", "a.scr:1:5", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&answer["ok"], &answer["range"]["start"]["line"]), (&json!(true), &json!(1)), "{answer}");
}

#[test]
fn command_post_hook_may_replace_answer_and_failure_is_noted() {
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
    // An invalid answer from the tool is reported and not shown as an answer.
    shell.hook("post", "echo '{\"result\": {\"contents\": 7}}'");
    let output = shell.run(&["hover", "a.scr:1:5"]);
    assert_eq!(output.status.code(), Some(4), "{}", told(&output));
    assert!(
        told(&output).contains("the answer of lsp_hover that a hook returned is invalid"),
        "{}",
        told(&output)
    );
}

#[test]
fn servers_command_tells_what_a_hook_has_to_say() {
    let shell = Shell::with("");
    shell.hook("post", "exit 3");
    let output = shell.run(&["servers"]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("scripted") && shown.contains("the hook `the-hook` failed"), "{shown}");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
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
