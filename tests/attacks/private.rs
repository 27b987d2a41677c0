//! Other users of the machine cannot read any stored data.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::support::Project;

const TEXT: &str = "def foo\nfoo bar\n";

/// Runs the product in a new home, with a umask that leaves everything readable.
fn run(project: &Project, words: &[&str], input: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 022; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_lsp-tools")]).args(words);
    for name in ["LSP_TOOLS_CONFIG_DIR", "LSP_TOOLS_DATA_DIR", "LSP_TOOLS_STATE_DIR", "LSP_TOOLS_CACHE_DIR"] {
        command.env_remove(name);
    }
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
        command.env_remove(name);
    }
    command.env("HOME", project.beside("home")).env("LSP_TOOLS_LOG", "debug").env("LSP_TOOLS_NO_DAEMON", "");
    command.env("XDG_RUNTIME_DIR", project.beside("run"));
    let given = project.beside("logs").join("input");
    fs::write(&given, input).expect("the input");
    command.current_dir(project.root()).stdin(fs::File::open(given).expect("the input"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().expect("the product")
}

/// A project whose user has a new home, with settings of his own and nothing else.
fn project() -> Project {
    let project = Project::scripted(&json!({}), "", [("a.scr", TEXT)]);
    let settings = project.beside("home").join(".config/lsp-tools");
    fs::create_dir_all(&settings).expect("a folder");
    fs::copy(project.beside("config").join("servers.toml"), settings.join("servers.toml")).expect("a file");
    fs::DirBuilder::new().mode(0o700).create(project.beside("run")).expect("a folder");
    project
}

/// The files at and below `folder`.
fn all(folder: PathBuf) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![folder]);
    while let Some(path) = waiting.pop() {
        if path.symlink_metadata().expect("a file").is_dir() {
            waiting
                .extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        }
        found.push(path);
    }
    found
}

fn open_to_others(folder: &Path) -> Vec<String> {
    let mode = |path: &PathBuf| path.symlink_metadata().expect("a file").permissions().mode();
    let open = |path: &PathBuf| !path.is_symlink() && mode(path) & 0o077 != 0;
    all(folder.to_owned())
        .iter()
        .filter(|path| open(path))
        .map(|path| format!("{:o} {}", mode(path) & 0o7777, path.display()))
        .collect()
}

#[test]
fn row_48_kept_files_of_every_command_are_private_to_user() {
    let project = project();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion":
        "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let write = r#"{"path":"b.scr","content":"def new\n"}"#;
    let commands: [(&[&str], &str); 10] = [
        (&["--no-daemon", "hover", "a.scr:1:5"], ""),
        (&["--no-daemon", "tools", "call", "write", write], ""),
        (&["--no-daemon", "tools", "call", "undo", "{}"], ""),
        (&["--no-daemon", "tools", "call", "bash", r#"{"command":"echo word"}"#], ""),
        (
            &["--no-daemon", "tools", "call", "memory", r#"{"command":"save","path":"a.md","content":"x"}"#],
            "",
        ),
        (&["--no-daemon", "trust", "--yes"], ""),
        (&["--no-daemon", "mcp"], &format!("{initialize}\n")),
        (&["daemon", "start"], ""),
        (&["hover", "a.scr:1:5"], ""),
        (&["daemon", "stop"], ""),
    ];
    for (words, input) in commands {
        let output = run(&project, words, input);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|code| code <= 1), "{words:?}: {told}");
    }
    let home = project.beside("home");
    let kept = all(home.join(".local"));
    for name in ["audit.jsonl", "trust.json", "images", "record.json", "lsp-tools.20"] {
        let is = |path: &PathBuf| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(name));
        assert!(name == "trust.json" || kept.iter().any(is), "{name} is among the checked files: {kept:#?}");
    }
    assert_eq!(open_to_others(&home.join(".local")), [""; 0]);
    assert_eq!(open_to_others(&project.beside("run")), [""; 0]);
    if home.join(".cache").exists() {
        assert_eq!(open_to_others(&home.join(".cache")), [""; 0]);
    }
}

#[test]
fn row_48_state_folder_open_to_others_is_closed_or_refused() {
    let project = project();
    let state = project.beside("home").join(".local/state/lsp-tools");
    let log = state.join("log");
    fs::create_dir_all(&log).expect("a folder");
    fs::write(log.join("lsp-tools.2020-01-01.log"), "words of servers").expect("a file");
    for path in [&log.join("lsp-tools.2020-01-01.log"), &log, &state] {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }
    assert!(run(&project, &["--no-daemon", "hover", "a.scr:1:5"], "").status.success());
    assert_eq!(open_to_others(&state), [""; 0]);

    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).expect("a mode");
    let output = run(&project, &["--no-daemon", "hover", "a.scr:1:5"], "");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("other users can write to"), "{told}");
    if rustix::process::geteuid().is_root() {
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("a mode");
        std::os::unix::fs::chown(&state, Some(65_534), None).expect("an owner");
        let output = run(&project, &["--no-daemon", "hover", "a.scr:1:5"], "");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains("belongs to another user"), "{told}");
    }
}
