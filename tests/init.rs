//! `init`: what hosts read is written so that they start us, what else is there stays, and what they know of language servers
//! becomes ours.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::Project;

fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(None);
    command
        .args(arguments)
        .env("HOME", project.beside("data"))
        .env("XDG_CONFIG_HOME", project.beside("cache"));
    for variable in ["CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR"] {
        command.env_remove(variable);
    }
    command
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    command(project, arguments).output().expect("lsp-tools runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn init_writes_host_file_once_and_prints_diff() {
    let project = Project::new([(
        ".vscode/mcp.json",
        "{\n  // ours\n  \"inputs\": [],\n  \"servers\": {\"x\": {\"command\": \"x\"}}\n}\n",
    )]);
    let first = run(&project, &["init", "vscode", "--profile", "lsp"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert!(text(&first.stdout).contains("+    \"lsp-tools\": {"), "{}", text(&first.stdout));
    let written = project.read(".vscode/mcp.json");
    assert!(
        written.contains("// ours\n  \"inputs\": [],") && written.contains("\"x\": {\"command\": \"x\"}"),
        "{written}"
    );
    let second = run(&project, &["init", "vscode", "--profile", "lsp"]);
    assert_eq!((second.status.code(), second.stdout.len()), (Some(0), 0));
    assert!(text(&second.stderr).contains("says so already"), "{}", text(&second.stderr));
    assert_eq!(project.read(".vscode/mcp.json"), written);
    let other = run(&project, &["init", "vscode", "--profile", "all"]);
    assert_eq!(other.status.code(), Some(4));
    assert!(text(&other.stderr).contains("--force"), "{}", text(&other.stderr));
    assert_eq!(project.read(".vscode/mcp.json"), written);
    assert_eq!(run(&project, &["init", "vscode", "--profile", "all", "--force"]).status.code(), Some(0));
    assert!(project.read(".vscode/mcp.json").contains("\"all\""));
}

/// What is written starts a program that is there.
#[test]
fn init_for_every_host_writes_an_existing_program() {
    let project = Project::new([]);
    for host in ["claude-code", "copilot-cli", "vscode", "cursor", "codex", "opencode", "zed", "gemini"] {
        let output = run(&project, &["init", host, "--format", "json"]);
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        assert_eq!((answer["ok"].clone(), answer["written"].clone()), (json!(true), json!(true)), "{host}");
        let file = fs::read_to_string(answer["path"].as_str().unwrap()).unwrap();
        let program = env!("CARGO_BIN_EXE_lsp-tools");
        assert!(file.contains(program) && file.contains("\"mcp\""), "{host}: {file}");
        assert!(file.ends_with('\n'), "{host}: {file:?}");
        let again = run(&project, &["init", host, "--format", "json"]);
        assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap()["changed"], false, "{host}");
    }
}

#[test]
fn init_print_option_writes_no_file() {
    let project = Project::new([]);
    let output = run(&project, &["init", "claude-code", "--print"]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["mcpServers"]["lsp-tools"]["args"], json!(["mcp"]));
    assert!(!project.path(".mcp.json").exists());
    assert_eq!(run(&project, &["init", "emacs"]).status.code(), Some(2));
    assert_eq!(run(&project, &["init"]).status.code(), Some(2));
    let none = run(&project, &["init", "zed", "--editor-door"]);
    assert!(text(&none.stderr).contains("from extensions alone"), "{}", text(&none.stderr));
}

/// A file that cannot be kept is not touched, and neither is one that lies elsewhere.
#[test]
fn init_leaves_broken_or_linked_host_file_untouched() {
    let project = Project::new([(".mcp.json", "{\"mcpServers\": ")]);
    let broken = run(&project, &["init", "claude-code"]);
    assert_eq!(broken.status.code(), Some(2));
    assert!(text(&broken.stderr).contains("cannot be read as JSON"), "{}", text(&broken.stderr));
    assert_eq!(project.read(".mcp.json"), "{\"mcpServers\": ");
    let elsewhere = project.beside("logs").join("settings.json");
    fs::write(&elsewhere, "{}").unwrap();
    fs::create_dir(project.path(".gemini")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, project.path(".gemini/settings.json")).unwrap();
    let outside = run(&project, &["init", "gemini"]);
    assert!(text(&outside.stderr).contains("leads out of the project"), "{}", text(&outside.stderr));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "{}");
}

#[test]
fn init_import_turns_foreign_server_config_into_ours() {
    let project = Project::new([(
        ".github/lsp.json",
        r#"{"lspServers": {
            "odd": {"command": "odd-language-server", "args": ["--stdio"], "fileExtensions": {".odd": "oddlang"}, "rootUri": "."}
        }}"#,
    )]);
    let output = run(&project, &["init", "import"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("left out: odd: `rootUri` has no place"),
        "{}",
        text(&output.stderr)
    );
    let written = project.read(".lsp-tools/servers.toml");
    assert!(written.contains("[server.odd]") && written.contains("[language.oddlang]"), "{written}");
    assert_eq!(run(&project, &["init", "import"]).stdout.len(), 0);
    assert_eq!(run(&project, &["trust", "--yes"]).status.code(), Some(0));
    project.write("a.odd", "x\n");
    let servers = run(&project, &["servers", "--format", "json"]);
    assert!(
        text(&servers.stdout).contains("odd-language-server")
            || text(&servers.stdout).contains("\"oddlang\""),
        "{}",
        text(&servers.stdout)
    );
    let users = run(&project, &["init", "import", ".github/lsp.json", "--scope", "user"]);
    assert_eq!(users.status.code(), Some(0), "{}", text(&users.stderr));
    assert!(
        fs::read_to_string(project.beside("config").join("servers.toml")).unwrap().contains("[server.odd]")
    );
    let nothing = Project::new([]);
    assert_eq!(run(&nothing, &["init", "import"]).status.code(), Some(1));
}
