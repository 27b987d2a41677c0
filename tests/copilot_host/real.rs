//! The whole loop on the real command line, with no network but loopback: a stand-in model calls
//! tools, reads their results, and continues.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::house::{Ran, host, run};
use super::model::{Model, Says};
use crate::support::{Project, real_servers};

const APP: &str =
    "def area(width: int, height: int) -> int:\n    return width * height\n\n\nprint(area(3, 4))\n";
const RIGHT: &str = "width * height";
const WRONG: &str = "str(width * height)";

/// The real command line and a prefix with pyright, installed by the product; `None` if the package
/// is not available.
fn real() -> Option<&'static (PathBuf, PathBuf)> {
    static REAL: OnceLock<Option<(PathBuf, PathBuf)>> = OnceLock::new();
    REAL.get_or_init(install).as_ref()
}

fn install() -> Option<(PathBuf, PathBuf)> {
    let prefix = real_servers(&["pyright"]);
    let program = prefix.join("servers/copilot-cli/current/npm/node_modules/.bin/copilot");
    let lock = File::create(prefix.join("tests.lock")).expect("the lock of the servers");
    lock.lock().expect("the lock of the servers");
    if !program.is_file() {
        // The command installs it and then starts a session, which fails at this address.
        let project = Project::new([]);
        let mut command = host(&project, Some(&prefix));
        command.args(["--install", "--limit", "100ms", "x"]);
        command.env("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:9/v1").env("COPILOT_MODEL", "none");
        command.env("XDG_CACHE_HOME", cache());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let without = std::env::split_paths(&path).filter(|folder| !folder.join("copilot").exists());
        command.env("PATH", std::env::join_paths(without).expect("a path"));
        let ran = run(command);
        if !program.is_file() {
            crate::support::skipped(&format!("npm does not bring @github/copilot: {}", ran.err));
            return None;
        }
    }
    Some((prefix, program))
}

/// The folder into which the command line unpacks itself: 200 MB, once for all tests.
fn cache() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_lsp-tools")).ancestors().nth(2).expect("target");
    let cache = target.join("test-copilot");
    fs::create_dir_all(&cache).expect("a cache");
    cache
}

fn project() -> Project {
    let project = Project::new([("app.py", APP), (".git/HEAD", "ref: refs/heads/main\n")]);
    fs::write(project.beside("config").join("servers.toml"), "[language.python]\nservers = [\"pyright\"]\n")
        .unwrap();
    project
}

fn hosted(project: &Project, model: &Model, arguments: &[&str]) -> Command {
    let (prefix, program) = real().expect("asked before");
    let mut command = host(project, Some(prefix));
    command.arg("--cli").arg(program).args(arguments).envs(model.environment());
    command.env("XDG_CACHE_HOME", cache());
    command
}

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "app.py", "edits": [{"old": old, "new": new}], "diagnostics": true})
}

/// Reads, breaks the file, sees the error, repairs it; tool names are `prefix` and the name.
fn breaking_and_repairing(names: [&'static str; 2]) -> Model {
    let [diagnostics, edits] = names;
    Model::saying(vec![
        Says::Calls(vec![(diagnostics, json!({"path": "app.py"}))]),
        Says::Calls(vec![(edits, edit(RIGHT, WRONG))]),
        Says::Calls(vec![(edits, edit(WRONG, RIGHT))]),
        Says::Words("The edit broke `area`; it is sound again."),
    ])
}

fn assert_seen(model: &Model, project: &Project) {
    let results = model.results();
    assert_eq!(results.len(), 3, "{results:?}");
    assert!(results[0].contains("count: 0") && results[0].contains("complete"), "{}", results[0]);
    assert!(results[1].contains("reportReturnType") && results[1].contains("errors: 1"), "{}", results[1]);
    assert!(results[2].contains("removed: 1") && results[2].contains("errors: 0"), "{}", results[2]);
    assert_eq!(project.read("app.py"), APP);
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn model_breaks_file_sees_diagnostics_and_repairs_it() {
    if real().is_none() {
        return;
    }
    for (way, streamed) in [("--limit=300", true), ("--no-stream", false)] {
        let project = project();
        let model = breaking_and_repairing(["lsp_diagnostics", "edit"]);
        let plain = hosted(&project, &model, &[way, "Is app.py sound?"]);
        let ran = together(&plain);
        assert_eq!(ran.status, 0, "{}", ran.out);
        assert_seen(&model, &project);
        assert!(model.asked().iter().all(|request| (request["stream"] == true) == streamed));
        assert!(ran.out.contains("it is sound again."), "{}", ran.out);
        keep(streamed, "host", &ran.out);
    }
}

/// Both streams interleaved, as a person sees them.
fn together(command: &Command) -> Ran {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(command.get_program()).args(command.get_args());
    shell.stdin(Stdio::null());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    run(shell)
}

/// Writes a transcript for the documentation if `TRANSCRIPTS` names a folder.
fn keep(wanted: bool, name: &str, text: &str) {
    if let Some(folder) = std::env::var_os("TRANSCRIPTS").filter(|_| wanted) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("copilot-{name}.txt"));
        // The session number means nothing to a reader.
        let lines = text.lines().map(|line| match line.split_once("undo --group ") {
            Some((before, _)) => format!("{before}undo --group SESSION\n"),
            None => format!("{}\n", line.trim_end()),
        });
        fs::write(file, lines.collect::<String>()).expect("a transcript");
    }
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn copilot_cli_configured_by_init_runs_same_loop_over_mcp() {
    let Some((prefix, program)) = real() else { return };
    let project = project();
    let home = project.beside("home");
    fs::create_dir_all(&home).unwrap();
    let prepared = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(project.root()).stdin(Stdio::null());
        command.envs(project.environment(Some(prefix)));
        command.env("HOME", &home).env("COPILOT_HOME", home.join("copilot")).env("XDG_CACHE_HOME", cache());
        command
    };
    let ours = Path::new(env!("CARGO_BIN_EXE_lsp-tools"));
    for arguments in
        [vec!["init", "copilot", "--profile", "core"], vec!["init", "copilot-cli", "--editor-door"]]
    {
        let ran = run(prepared(ours, &arguments));
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    let mounted = run(prepared(program, &["mcp", "get", "lsp-tools"]));
    assert!(mounted.out.contains("Status: Enabled") && mounted.out.contains("Source: User"), "{mounted:?}");
    let servers = run(prepared(program, &["lsp", "list"]));
    assert!(servers.out.contains("lsp-tools (") && servers.out.contains(".py"), "{servers:?}");

    let model = Model::saying(vec![
        Says::Calls(vec![("lsp-tools-lsp_diagnostics", json!({"path": "app.py"}))]),
        Says::Calls(vec![("lsp-tools-edit", edit(RIGHT, WRONG))]),
        Says::Calls(vec![("lsp-tools-edit", edit(WRONG, RIGHT))]),
        // The server's findings during its start are not final.
        hover(),
        hover(),
        hover(),
        Says::Words("Sound again."),
    ]);
    let mut command =
        prepared(program, &["-p", "Is app.py sound?", "--allow-all-tools", "--no-auto-update", "--no-color"]);
    command.envs(model.environment());
    let ran = together(&command);
    assert_eq!(ran.status, 0, "{}", ran.out);
    let results = model.results();
    assert!(results[1].contains("reportReturnType") && results[2].contains("removed: 1"), "{results:?}");
    // Its own tool for language servers gets the answer from ours.
    assert!(results[3..].iter().any(|result| result.contains("(function) def area(")), "{results:?}");
    assert_eq!(project.read("app.py"), APP);
    keep(true, "mcp", &as_the_model_saw_it(&model));
}

fn hover() -> Says {
    Says::Calls(vec![("lsp", json!({"operation": "hover", "file": "app.py", "line": 5, "character": 8}))])
}

/// The model's calls and their results. Of results that are both text and JSON, the text.
fn as_the_model_saw_it(model: &Model) -> String {
    let asked = model.asked();
    let messages = asked.last().and_then(|request| request["messages"].as_array()).expect("messages");
    let mut text = String::new();
    for message in messages {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let word = |key: &str| function[key].as_str().unwrap_or_default().to_owned();
            text.push_str(&format!("→ {} {}\n", word("name"), word("arguments")));
        }
        if message["role"] == "tool" {
            let content = message["content"].as_str().unwrap_or_default();
            let content = content.split("\n\n{\"ok\"").next().unwrap_or_default();
            text.extend(content.lines().map(|line| format!("    {line}\n")));
        }
    }
    text
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn copilot_session_can_use_our_mcp_server() {
    if real().is_none() {
        return;
    }
    let project = project();
    let file = project.beside("config").join("mcp.json");
    let server = json!({
        "command": env!("CARGO_BIN_EXE_lsp-tools"), "args": ["mcp", "--profile", "read-only"],
        "env": {"LSP_TOOLS_NO_DAEMON": "1"}, "timeout": 60000,
    });
    fs::write(&file, json!({"mcpServers": {"tools": server}}).to_string()).unwrap();
    fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\nallow = ['tools/*']\n")
        .unwrap();
    let model = Model::saying(vec![
        Says::Calls(vec![("tools-lsp_hover", json!({"path": "app.py", "symbol": "area"}))]),
        Says::Words("A function."),
    ]);
    let file = file.to_string_lossy().into_owned();
    let ran = run(hosted(&project, &model, &["--mcp-config", &file, "What is area?"]));
    assert_eq!((ran.status, ran.out.as_str()), (0, "A function.\n"), "{}", ran.err);
    assert!(model.results()[0].contains("def area("), "{:?}", model.results());
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn permission_rules_agents_and_hooks_apply_on_real_copilot_cli() {
    if real().is_none() {
        return;
    }
    let project = project();
    let trace = project.beside("logs").join("ran");
    let hooks = json!({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": format!("touch '{}'", trace.display())}]}});
    project.write(".github/hooks/all.json", hooks.to_string());
    let settings = "[permissions]\ndeny = ['edit(app.py)']\n[agents.reader]\ndescription = 'Reads code'\ntools = ['read', 'lsp_hover']\n";
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).unwrap();
    let model = Model::new(|request, nth| {
        let of_agent = request["messages"][0].to_string().contains("You are the agent `reader`");
        let has_result =
            request["messages"].as_array().is_some_and(|all| all.iter().any(|one| one["role"] == "tool"));
        match (of_agent, has_result, nth) {
            (true, false, _) => Says::Calls(vec![
                ("lsp_tools_read", json!({"path": "app.py"})),
                ("lsp_tools_write", json!({"path": "b.py", "content": ""})),
            ]),
            (true, true, _) => Says::Words("I have read it."),
            (false, _, 0) => Says::Calls(vec![
                ("edit", edit(RIGHT, WRONG)),
                ("bash", json!({"command": "touch ran-it"})),
                ("glob", json!({"pattern": "*"})),
            ]),
            (false, _, 1) => Says::Calls(vec![(
                "task",
                json!({"agent_type": "reader", "name": "one", "description": "read", "prompt": "Read app.py", "mode": "sync"}),
            )]),
            _ => Says::Words("Done."),
        }
    });
    let mut command = hosted(&project, &model, &["Do all sorts of things."]);
    command.env("COPILOT_ALLOW_ALL", "true");
    let ran = run(command);
    assert_eq!((ran.status, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    let results = model.results();
    assert!(results[0].contains("edit(app.py)"), "{results:?}");
    assert!(results[1].contains("cannot ask a user"), "{results:?}");
    assert!(results[2].contains("app.py"), "{results:?}");
    assert!(results[3].contains("I have read it."), "{results:?}");
    assert!(
        project.read("app.py") == APP && !project.path("ran-it").exists() && !project.path("b.py").exists()
    );
    assert!(!trace.exists(), "a hook of an untrusted repository has run");
    let of_agent =
        |request: &&Value| request["messages"][0].to_string().contains("You are the agent `reader`");
    let asked = model.asked();
    let request = asked.iter().find(of_agent).expect("the agent asked");
    let tools = request["tools"].as_array().expect("tools").iter();
    let names: Vec<&str> = tools.filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert_eq!(names, ["lsp_hover", "lsp_tools_read"]);
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn session_resumed_uses_tools_of_current_profile() {
    if real().is_none() {
        return;
    }
    let project = project();
    let model = Model::saying(vec![Says::Words("One."), Says::Words("Two.")]);
    let first = run(hosted(&project, &model, &["--format", "json", "The word is heron."]));
    let last: Value =
        serde_json::from_str(first.out.lines().last().unwrap_or_default()).expect("a last line");
    let session = last["session"].as_str().expect("a session").to_owned();
    let second =
        run(hosted(&project, &model, &["--resume", &session, "--profile", "read-only", "Which word?"]));
    assert_eq!((second.status, second.out.as_str()), (0, "Two.\n"), "{}", second.err);
    let asked = model.asked();
    let request = asked.last().expect("a request");
    assert!(request["messages"].to_string().contains("heron"));
    let tools = request["tools"].as_array().expect("tools");
    assert!(!tools.iter().any(|tool| tool["function"]["name"] == "edit"));
    let unknown = run(hosted(&project, &model, &["--resume", "11111111-2222-3333-4444-555555555555", "x"]));
    assert!(unknown.status == 4 && unknown.err.contains("session.resume"), "{unknown:?}");
}

#[test]
#[ignore = "installs GitHub's program, some hundred megabytes, and runs it: just hosts"]
fn signed_out_error_names_copilot_login() {
    let Some((prefix, program)) = real() else { return };
    let project = project();
    let mut command = host(&project, Some(prefix));
    command.arg("--cli").arg(program).arg("Hello").env("XDG_CACHE_HOME", cache());
    for name in ["GH_TOKEN", "GITHUB_TOKEN"] {
        command.env_remove(name);
    }
    // The check for a signed-in user needs no network.
    command.env("https_proxy", "http://127.0.0.1:9").env("HTTPS_PROXY", "http://127.0.0.1:9");
    let ran = run(command);
    assert!(ran.status == 4 && ran.err.contains("copilot login"), "{ran:?}");
}
