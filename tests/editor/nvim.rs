//! Neovim as Debian ships it, with `lsp-tools lsp` as its language server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Project, real_servers, wait_until};

/// The upper bound of one whole session, on a slow and busy machine.
const LONGEST: Duration = Duration::from_secs(300);

#[test]
#[ignore = "slow: just slow"]
fn neovim_hover_definition_rename_and_unsaved_diagnostics_work() {
    if Command::new("nvim").arg("--version").output().is_err() {
        crate::support::skipped("there is no nvim on PATH; install Debian's `neovim`");
        return;
    }
    let servers = real_servers(&["pyright"]);
    let project = Project::of_fixture("python");
    project.write_settings("prefer.python = [\"pyright\"]\n");
    let seen = drive(&project, &servers);
    assert_eq!(seen["problem"], Value::Null, "{}", seen["problem"].as_str().unwrap_or_default());

    let hover = seen["hover"]["contents"]["value"].as_str().expect("a hover");
    assert!(hover.contains("compose") && hover.contains("Compose a greeting"), "{hover}");
    let target = &seen["definition"][0];
    let uri = target["uri"].as_str().or(target["targetUri"].as_str()).expect("a place");
    assert!(uri.ends_with("greet/messages.py"), "{target}");
    let names: Vec<&str> =
        seen["symbols"].as_array().expect("symbols").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"greet_all") && names.contains(&"main"), "{names:?}");

    let wrong = seen["unsaved"].as_array().expect("diagnostics");
    let wrong: Vec<&Value> = wrong
        .iter()
        .filter(|one| one["message"].as_str().is_some_and(|text| text.contains("not defined")))
        .collect();
    assert_eq!(wrong.len(), 1, "{}", seen["unsaved"]);
    // Neovim counts bytes: the crab has four. A column in UTF-16 units would be wrong by two.
    assert_eq!((wrong[0]["lnum"].as_u64(), wrong[0]["col"].as_u64()), (Some(21), Some(15)), "{wrong:?}");
    assert!(!seen["disk"].as_str().expect("the file").contains("nowhere_defined"));

    let lines: Vec<&str> =
        seen["renamed"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert!(lines[6].starts_with("def welcome_all("), "{lines:?}");
    assert!(lines[15].contains("in welcome_all("), "{lines:?}");
    assert!(project.read("greet/app.py").contains("def welcome_all("));
    let back = &seen["defined"][0];
    let range = if back["range"].is_object() { &back["range"] } else { &back["targetSelectionRange"] };
    assert_eq!(range["start"]["line"], 6, "{back}");
}

/// The number of processes in `folder`, the current folder of servers for that project.
pub fn working_in(folder: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let folders = processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
    folders.filter(|cwd| cwd.starts_with(folder)).count()
}

/// Runs the script in Neovim and returns its output. No process remains.
fn drive(project: &Project, servers: &Path) -> Value {
    let out = project.beside("logs").join("seen.json");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/editor/drive.lua");
    let mut command = Command::new("nvim");
    command.args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", script]);
    command.envs(project.environment(Some(servers)));
    command.env("LSP_TOOLS_TEST_ROOT", project.root());
    command.env("LSP_TOOLS_TEST_BIN", env!("CARGO_BIN_EXE_lsp-tools"));
    command.env("LSP_TOOLS_TEST_OUT", &out);
    for (name, folder) in [("HOME", "cache"), ("XDG_STATE_HOME", "cache"), ("XDG_DATA_HOME", "cache")] {
        command.env(name, project.beside(folder));
    }
    command.current_dir(project.root()).stdin(Stdio::null());
    let mut nvim = command.spawn().expect("nvim");
    let end = Instant::now() + LONGEST;
    while nvim.try_wait().expect("nvim").is_none() {
        if Instant::now() > end {
            nvim.kill().expect("nvim");
            panic!("nvim did not end within {LONGEST:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    wait_until("nothing is left running", Duration::from_secs(60), || working_in(&project.root()) == 0);
    let seen = std::fs::read_to_string(&out).expect("what nvim saw");
    serde_json::from_str(&seen).expect("JSON")
}
