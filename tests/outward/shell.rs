use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::Project;

fn run(project: &Project, arguments: &[&str], input: &str) -> Output {
    let mut command = project.command(None);
    command.arg("tools").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn tools_command_lists_shows_and_calls_tools() {
    let project = Project::new([("a.txt", "one\ntwo\n")]);
    let list = run(&project, &["list"], "");
    let text = String::from_utf8(list.stdout).unwrap();
    assert!(text.contains("lsp_definition") && !text.contains("fetch_web_page"), "{text}");
    let listed = json(&run(&project, &["list", "--profile", "lsp", "--format", "json"], ""));
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    let others: Vec<&str> = names.filter(|name| !name.starts_with("lsp_")).collect();
    let with_undo = ["explore", "fix", "tools", "undo"];
    assert_eq!(others, with_undo, "every caller that gets an `undo` can use it: {listed}");

    let shown = String::from_utf8(run(&project, &["show", "read"], "").stdout).unwrap();
    assert!(shown.starts_with("read (read)") && shown.contains("required"), "{shown}");

    let called = run(&project, &["call", "read", "{\"path\": \"a.txt\"}", "--format", "json"], "");
    assert_eq!((json(&called)["content"].as_str(), called.status.code()), (Some("one\ntwo\n"), Some(0)));
    let called =
        run(&project, &["call", "read", "-", "--format", "json"], "{\"path\": \"a.txt\", \"offset\": 2}");
    assert_eq!(json(&called)["start_line"], 2);
}

#[test]
fn tools_call_exit_status_reflects_its_outcome() {
    let project = Project::new([("a.txt", "one\n")]);
    std::fs::write(project.beside("config").join("lsp-tools.toml"), "[permissions]\ndeny = [\"list\"]\n")
        .unwrap();
    for (arguments, status) in [
        (&["call", "nosuch"][..], 2),
        (&["call", "read", "{"], 2),
        (&["call", "read", "{\"paht\": \"a\"}"], 2),
        (&["call", "read", "{\"path\": \"missing\"}"], 2),
        (&["call", "list"], 5),
        (&["show", "nosuch"], 2),
        (&["call", "read", "{\"path\": \"a.txt\"}", "--format", "mcp"], 2),
    ] {
        let output = run(&project, arguments, "");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    for verb in ["call", "show"] {
        let told = run(&project, &[verb, "nosuch"], "").stderr;
        assert!(String::from_utf8_lossy(&told).starts_with("error: unknown tool: nosuch\n"), "{told:?}");
    }
}

#[test]
fn tools_schema_formats_have_their_own_shape() {
    let project = Project::new([("a.txt", "a")]);
    for (format, place) in [
        ("mcp", "/tools/0/inputSchema/type"),
        ("openai", "/0/function/parameters/type"),
        ("anthropic", "/0/input_schema/type"),
        ("gemini", "/0/functionDeclarations/0/parameters/type"),
        ("copilot", "/tools/0/inputSchema/type"),
    ] {
        let schema = json(&run(&project, &["schema", "--format", format], ""));
        let kind = schema.pointer(place).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(kind.to_lowercase(), "object", "{format}: {schema:#}");
    }
    let one = json(&run(&project, &["show", "lsp_hover", "--format", "anthropic"], ""));
    assert_eq!(one["name"], "lsp_hover");
}

#[test]
fn tools_call_from_outside_workspace_uses_root_for_relative_paths() {
    let project = Project::new([("sub/a.txt", "inside\n")]);
    std::fs::create_dir(project.beside("elsewhere")).expect("a folder");
    let call = |folder: &str, path: &str| {
        let mut command = project.command(None);
        command.current_dir(project.beside(folder)).arg("--workspace").arg(project.root());
        let output = command
            .args(["--format", "json", "tools", "call", "read", &format!("{{\"path\": \"{path}\"}}")])
            .output();
        let output = output.expect("lsp-tools");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    assert_eq!(call("elsewhere", "sub/a.txt")["content"], "inside\n");
    assert_eq!(call("code/project/sub", "a.txt")["content"], "inside\n", "from within, as typed");
    assert_eq!(call("elsewhere", "../elsewhere/a.txt")["code"], "outside_workspace");
}
