//! `init` writes entries with which hosts start lsp-tools, and leaves all other entries unchanged.

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
    let said = text(&first.stderr);
    assert!(said.contains("checked: the server starts; the host shows 12 tools: "), "{said}");
    let written = project.read(".vscode/mcp.json");
    assert!(
        written.contains("// ours\n  \"inputs\": [],") && written.contains("\"x\": {\"command\": \"x\"}"),
        "{written}"
    );
    let second = run(&project, &["init", "vscode", "--profile", "lsp"]);
    assert_eq!((second.status.code(), second.stdout.len()), (Some(0), 0));
    assert!(text(&second.stderr).contains("is up to date"), "{}", text(&second.stderr));
    assert_eq!(project.read(".vscode/mcp.json"), written);
    let other = run(&project, &["init", "vscode", "--profile", "all"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stderr).contains("--force"), "{}", text(&other.stderr));
    assert_eq!(project.read(".vscode/mcp.json"), written);
    assert_eq!(run(&project, &["init", "vscode", "--profile", "all", "--force"]).status.code(), Some(0));
    assert!(project.read(".vscode/mcp.json").contains("\"all\""));
}

/// The written entry starts an existing program.
#[test]
#[ignore = "slow: just slow"]
fn init_for_every_host_writes_an_existing_program() {
    let project = Project::new([]);
    for host in [
        "claude-code",
        "cline",
        "codex",
        "copilot-cli",
        "crush",
        "cursor",
        "gemini",
        "goose",
        "kiro",
        "opencode",
        "qwen-code",
        "vscode",
        "windsurf",
        "zed",
    ] {
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
    assert_eq!(
        shown["mcpServers"]["lsp-tools"]["args"],
        json!(["mcp", "--profile", "lsp", "--text-answers"])
    );
    assert!(!project.path(".mcp.json").exists());
    assert_eq!(run(&project, &["init", "emacs"]).status.code(), Some(2));
    assert_eq!(run(&project, &["init", "--hooks"]).status.code(), Some(2));
    let none = run(&project, &["init", "zed", "--editor-door"]);
    assert!(text(&none.stderr).contains("only from extensions"), "{}", text(&none.stderr));
}

/// The JSON output of `init` for `host` without an entry.
fn listed(project: &Project, host: &str) -> Value {
    let output = run(project, &["init", "--format", "json"]);
    let answer: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let hosts = answer["hosts"].as_array().expect("hosts");
    hosts.iter().find(|one| one["host"] == host).unwrap_or_else(|| panic!("{hosts:?}")).clone()
}

#[test]
#[ignore = "slow: just slow"]
fn init_without_host_lists_hosts_found_and_command_that_is_left() {
    let project = Project::new([]);
    let nothing = command(&project, &["init"]).env("PATH", "").output().unwrap();
    assert_eq!(nothing.status.code(), Some(1), "{}", text(&nothing.stderr));
    assert!(text(&nothing.stdout).contains("gemini       not found"), "{}", text(&nothing.stdout));
    fs::create_dir_all(project.beside("data").join(".gemini")).unwrap();
    let found = listed(&project, "gemini");
    assert_eq!((&found["found"], &found["next"]), (&json!(true), &json!("lsp-tools init gemini")));
    assert_eq!(run(&project, &["init", "gemini"]).status.code(), Some(0));
    let entered = listed(&project, "gemini");
    assert_eq!(entered["entered"], json!([project.path(".gemini/settings.json")]));
    assert_eq!(entered["next"], "lsp-tools init gemini --hooks --instructions");
    assert_eq!(run(&project, &["init", "gemini", "--hooks", "--instructions"]).status.code(), Some(0));
    let done = listed(&project, "gemini");
    assert_eq!((&done["next"], &done["instructions"]), (&Value::Null, &json!([project.path("GEMINI.md")])));
    assert_eq!(listed(&project, "zed")["next"], Value::Null, "a host that is not installed needs no command");
    // Every name in the list can be typed.
    for line in text(&nothing.stdout).lines().skip(1) {
        let host = line.split_whitespace().next().unwrap_or_default();
        let typed = run(&project, &["init", host, "--print"]);
        assert_eq!(typed.status.code(), Some(0), "{host}: {}", text(&typed.stderr));
    }
    let shown = run(&project, &["init"]);
    assert_eq!(shown.status.code(), Some(0));
    let line =
        text(&shown.stdout).lines().find(|line| line.starts_with("gemini")).unwrap_or_default().to_owned();
    assert!(line.contains("~/.gemini") && line.contains("GEMINI.md") && line.ends_with("done"), "{line}");
}

/// Hooks and instructions for every host that supports them; none remain after removal.
#[test]
#[ignore = "slow: just slow"]
fn init_remove_takes_out_entry_hooks_and_instructions() {
    let mine = "# Mine\n\nBe brief.\n";
    let settings =
        "{\n  // mine\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\"matcher\": \"x\"}\n    ]\n  }\n}\n";
    for host in ["claude-code", "codex", "copilot-cli", "gemini", "opencode", "qwen-code"] {
        let files = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"];
        let project = Project::new(files.map(|file| (file, mine)));
        project.write(".claude/settings.json", settings);
        project.write(".claude/agents/reviewer.md", "---\nname: reviewer\n---\nReview.\n");
        let output = run(&project, &["init", host, "--hooks", "--instructions", "--format", "json"]);
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        let files: Vec<&str> =
            answer["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
        assert!(files.len() >= 2, "{host}: {files:?}");
        let all: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        for part in ["\"mcp\"", "lsp-tools:begin"] {
            assert!(all.contains(part), "{host}: {part}: {all}");
        }
        let hook = if host == "opencode" {
            "\"hook\", \"opencode\"".to_owned()
        } else {
            format!(" hook {host} edit")
        };
        assert!(all.contains(&hook), "{host}: {all}");
        let again = run(&project, &["init", host, "--hooks", "--instructions"]);
        assert_eq!(
            (again.status.code(), again.stdout.len()),
            (Some(0), 0),
            "{host}: {}",
            text(&again.stdout)
        );
        let removed = run(&project, &["init", host, "--remove"]);
        assert_eq!(removed.status.code(), Some(0), "{host}: {}", text(&removed.stderr));
        for file in files {
            let left = fs::read_to_string(file).unwrap_or_default();
            assert!(!left.contains("lsp-tools"), "{host}: {file}: {left}");
        }
        assert_eq!((project.read("CLAUDE.md").as_str(), project.read("AGENTS.md").as_str()), (mine, mine));
        assert_eq!(
            project.read(".claude/settings.json").replace(char::is_whitespace, ""),
            settings.replace(char::is_whitespace, "")
        );
        assert_eq!(project.read(".claude/agents/reviewer.md"), "---\nname: reviewer\n---\nReview.\n");
        let nothing = run(&project, &["init", host, "--remove"]);
        assert_eq!((nothing.status.code(), nothing.stdout.len()), (Some(0), 0), "{host}");
    }
}

/// A different existing entry does not prevent the hooks, and stays unchanged.
#[test]
fn init_hooks_leave_another_entry_alone() {
    let entry = "{\"mcpServers\": {\"lsp-tools\": {\"command\": \"lsp-tools\", \"args\": [\"mcp\"]}}}\n";
    let project = Project::new([(".mcp.json", entry)]);
    let output = run(&project, &["init", "claude-code", "--hooks"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(project.read(".mcp.json"), entry);
    assert!(project.read(".claude/settings.json").contains("hook claude-code search"));
    let none = run(&project, &["init", "zed", "--hooks"]);
    assert!(text(&none.stderr).contains("--instructions works with it"), "{}", text(&none.stderr));
    let user = run(&project, &["init", "cursor", "--instructions", "--scope", "user"]);
    assert!(text(&user.stderr).contains("--scope project"), "{}", text(&user.stderr));
}

/// A file without a possible backup is not changed, nor is a file elsewhere.
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

/// `--remove` reverts `init` to the byte: files with empty tables, files on one line, files that
/// did not exist.
#[test]
#[ignore = "slow: just slow"]
fn init_remove_restores_the_bytes_and_folders_that_were_there() {
    let files = [
        ("claude-code", ".mcp.json", "{ }"),
        ("claude-code", ".mcp.json", "{\"mcpServers\":{},\"e\":1}"),
        ("claude-code", ".claude/settings.json", "{\"x\":1}"),
        ("claude-code", "CLAUDE.md", "# Mine, without a last line end"),
        ("cursor", ".cursor/mcp.json", "{ }"),
        ("vscode", ".vscode/mcp.json", "{\"servers\":{}}"),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": {}, \"a\": [1,\n2]}\r\n"),
        ("qwen-code", ".qwen/settings.json", "\u{feff}{ }"),
        ("opencode", "opencode.json", "{\"mcp\":{}}"),
        ("opencode", "AGENTS.md", ""),
    ];
    for (host, file, text_before) in files {
        for options in [&[][..], &["--hooks", "--instructions"]] {
            let project = Project::new([("a.py", "x = 1\n")]);
            let is_there = project.path(file);
            fs::create_dir_all(is_there.parent().unwrap()).unwrap();
            fs::write(&is_there, text_before).unwrap();
            let before = tree(&project.root());
            let init = [&["init", host], options].concat();
            let has_hooks = run(&project, &init).status.code() == Some(0);
            assert!(has_hooks || !options.is_empty(), "{init:?}");
            assert_eq!(run(&project, &["init", host, "--remove"]).status.code(), Some(0), "{host}");
            assert_eq!(tree(&project.root()), before, "{init:?} with {file}");
        }
    }
}

/// Every path below `folder` with the content of files.
fn tree(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(tree(&entry));
        }
        let content = fs::read(&entry).ok();
        found.push((entry, content));
    }
    found.sort();
    found
}

/// A file that changed after `init` keeps its changes, and is not deleted because the user had it
/// before.
#[test]
fn init_remove_keeps_changes_made_since_and_the_file() {
    let project = Project::new([(".mcp.json", "{ }")]);
    assert_eq!(run(&project, &["init", "claude-code"]).status.code(), Some(0));
    let written = project.read(".mcp.json");
    project.write(".mcp.json", written.replacen('{', "{ ", 1));
    assert_eq!(run(&project, &["init", "claude-code", "--remove"]).status.code(), Some(0));
    let left: Value = serde_json::from_str(&project.read(".mcp.json")).unwrap();
    assert_eq!(left, json!({}));
}

/// Files of hosts contain secrets, beside our entry or in an entry that replaces it.
#[test]
fn init_prints_no_line_that_the_host_file_had_before() {
    let secret = "s3cret";
    let beside = format!("{{\n  \"apiKey\": \"{secret}\"\n}}\n");
    let one_line = format!("{{\"apiKey\":\"{secret}\"}}");
    let other = format!(
        "{{\"mcpServers\": {{\"lsp-tools\": {{\"command\": \"x\", \"env\": {{\"KEY\": \"{secret}\"}}}}}}}}\n"
    );
    for before in [beside, one_line, other] {
        let project = Project::new([]);
        let file = project.beside("data").join(".gemini/settings.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &before).unwrap();
        for options in [&[][..], &["--force"], &["--hooks"], &["--format", "json"], &["--remove"]] {
            let words = [&["init", "gemini", "--scope", "user"], options].concat();
            let output = run(&project, &words);
            let shown = text(&output.stdout) + &text(&output.stderr);
            assert!(!shown.contains(secret), "{before}: {options:?}: {shown}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
}

/// A link of the project may lead to another instruction file, but not to a file that controls
/// programs.
#[test]
fn init_instructions_through_a_link_change_no_control_file() {
    let config = "[core]\n\tbare = false\n";
    let project = Project::new([(".git/config", config), ("AGENTS.md", "# Mine\n")]);
    std::os::unix::fs::symlink(".git/config", project.path("CLAUDE.md")).unwrap();
    let refused = run(&project, &["init", "claude-code", "--instructions"]);
    assert_eq!(refused.status.code(), Some(5), "{}", text(&refused.stderr));
    assert_eq!(project.read(".git/config"), config);
    fs::remove_file(project.path("CLAUDE.md")).unwrap();
    std::os::unix::fs::symlink("AGENTS.md", project.path("CLAUDE.md")).unwrap();
    let followed = run(&project, &["init", "claude-code", "--instructions"]);
    assert_eq!(followed.status.code(), Some(0), "{}", text(&followed.stderr));
    assert!(
        project.read("AGENTS.md").starts_with("# Mine\n")
            && project.read("AGENTS.md").contains("lsp-tools:begin")
    );
    assert!(project.path("CLAUDE.md").symlink_metadata().unwrap().is_symlink());
}

/// A folder that is replaced by a link during the write does not redirect it.
#[test]
#[ignore = "slow: just slow"]
fn init_during_folder_exchange_writes_nothing_outside() {
    let project = Project::new([]);
    let outside = project.beside("outside");
    fs::create_dir(&outside).unwrap();
    let (folder, link, spare) = (project.path(".cursor"), project.path("link"), project.path("spare"));
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let names = [(&folder, &spare), (&link, &folder), (&folder, &link), (&spare, &folder)];
                names.into_iter().for_each(|(from, to)| drop(fs::rename(from, to)));
            }
        });
        for _ in 0..40 {
            run(&project, &["init", "cursor"]);
            run(&project, &["init", "cursor", "--remove"]);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
