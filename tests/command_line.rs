//! The command line as a process: usage, help and its streams. No test here needs a language
//! server.

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn lsp_tools(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lsp-tools"));
    command.args(arguments).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE");
    command.env("LSP_TOOLS_NO_DAEMON", "1");
    command
}

fn run(arguments: &[&str]) -> Output {
    lsp_tools(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn wrong_usage_is_reported_on_stderr_with_status_2() {
    for arguments in [
        &[][..],
        &["hoover", "a.py"],
        &["hover"],
        &["hover", "a.py:1:1", "--timeout", "soon"],
        &["hover", "a.py:1:1", "--format", "sarif"],
        &["grep", "x", "--format", "gitlab"],
        &["tools", "list", "--format", "junit"],
        &["references", "a.py:1:1", "--limit", "0"],
        &["calls", "a.py:1:1", "--incoming", "--outgoing"],
        &["trust", "--yes", "--revoke"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_names_addresses_statuses_and_examples() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = text(&output.stdout);
    for said in ["FILE:LINE:COL", "FILE:LINE:NAME", "Exit status:", "lsp-tools hover src/app.py:12:greet"] {
        assert!(help.contains(said), "{said}: {help}");
    }
    for command in [
        "hover",
        "definition",
        "references",
        "symbols",
        "calls",
        "types",
        "check",
        "install",
        "trust",
        "read",
        "list",
        "glob",
        "grep",
        "edit",
        "write",
        "patch",
        "move",
        "delete",
        "undo",
        "rename",
        "actions",
        "format",
    ] {
        let help = text(&run(&[command, "--help"]).stdout);
        assert!(
            help.contains(&format!("lsp-tools {command}")) && help.contains("Example"),
            "{command}: {help}"
        );
    }
}

/// The lines of the log after a `servers` command with these settings and variables.
fn logged(settings: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let folder = |name: &str| home.path().join(name);
    std::fs::create_dir(folder("config")).unwrap();
    std::fs::create_dir(folder("project")).unwrap();
    std::fs::write(folder("config/lsp-tools.toml"), settings).unwrap();
    let mut command = lsp_tools(&["servers"]);
    command.current_dir(folder("project")).env_remove("LSP_TOOLS_LOG");
    for (variable, name) in [("CONFIG", "config"), ("DATA", "data"), ("STATE", "state"), ("CACHE", "cache")] {
        command.env(format!("LSP_TOOLS_{variable}_DIR"), folder(name));
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let files = std::fs::read_dir(folder("state/log")).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn log_level_comes_from_settings_unless_variable_overrides() {
    let debug = |lines: &[String]| lines.iter().any(|line| line.contains("DEBUG"));
    assert!(!debug(&logged("", &[])), "info is usual");
    assert!(debug(&logged("log.level = 'debug'\n", &[])));
    assert!(debug(&logged("log.level = 'off'\n", &[("LSP_TOOLS_LOG", "lsp_tools=debug")])));
    assert!(!debug(&logged("log.level = 'debug'\n", &[("LSP_TOOLS_LOG", "warn")])));
}

#[test]
fn closed_stdout_pipe_is_not_an_error() {
    let mut child =
        lsp_tools(&["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(told, "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn unwritable_stdout_is_error_with_status_4() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = lsp_tools(&["man"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).starts_with("error: the answer cannot be written: "), "{output:?}");
}

#[test]
fn color_is_only_for_terminals_or_on_demand() {
    let plain = run(&["hover", "a.py:1:1", "--format", "sarif"]);
    assert!(!text(&plain.stderr).contains('\x1b'), "{plain:?}");
    let coloured = run(&["hover", "a.py:1:1", "--format", "sarif", "--color", "always"]);
    assert!(text(&coloured.stderr).starts_with("\x1b[1m\x1b[31merror:\x1b[0m "), "{coloured:?}");
}
