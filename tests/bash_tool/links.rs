//! Links that a command leaves for the next one: its writable folders are named by path, and each
//! start opens them again.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::sandbox::outside;
use super::scene::Scene;
use crate::support::Project;

/// The output of a shell command with `variables`.
fn bash(project: &Project, variables: &[(&str, &Path)], command: &str) -> Value {
    let mut lsp_tools = project.command(None);
    lsp_tools.envs(variables.iter().copied());
    let arguments = json!({"command": command}).to_string();
    let output: Output = lsp_tools
        .args(["tools", "call", "bash", &arguments, "--format", "json"])
        .output()
        .expect("lsp-tools");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn exchanged(folder: &Path, target: &Path) -> String {
    let (folder, target) = (folder.display(), target.display());
    format!("mv '{folder}' '{folder}.old' && ln -s '{target}' '{folder}' && echo exchanged")
}

#[test]
fn temporary_folder_swapped_for_symlink_grants_no_write() {
    let project = Project::new([("a.txt", "a\n")]);
    let (victim, temporary) = (outside(), project.beside("tmp"));
    fs::create_dir_all(&temporary).expect("a folder");
    let variables = [("TMPDIR", temporary.as_path())];
    let first = bash(&project, &variables, &exchanged(&temporary, victim.path()));
    assert_eq!((&first["stdout"], &first["sandbox"]), (&json!("exchanged\n"), &json!("landlock")), "{first}");
    let attack = format!("echo x > '{}/kept'", victim.path().display());
    assert_ne!(bash(&project, &variables, &attack)["exit_code"], 0);
    assert_eq!(fs::read_to_string(victim.path().join("kept")).unwrap(), "kept");
}

#[test]
fn caches_folder_swapped_for_symlink_grants_no_write() {
    let project = Project::new([("a.txt", "a\n")]);
    let (victim, temporary) = (outside(), project.beside("tmp"));
    // Outside the writable folders: our own folder replaces only such a cargo home, if it exists.
    let users = outside();
    let variables = [("CARGO_HOME", users.path())];
    let first = bash(&project, &variables, "echo $CARGO_HOME");
    let caches = first["stdout"].as_str().unwrap().trim();
    let own =
        Path::new(caches).ancestors().find(|folder| folder.ends_with("own")).expect("the folder of caches");
    assert!(own.starts_with(temporary.parent().unwrap()), "below a folder that commands write: {caches}");
    bash(&project, &variables, &exchanged(own, victim.path()));
    let attack = format!("echo x > '{}/kept'", victim.path().display());
    assert_ne!(bash(&project, &variables, &attack)["exit_code"], 0);
    assert_eq!(fs::read_to_string(victim.path().join("kept")).unwrap(), "kept");
}

#[tokio::test]
async fn workspace_swapped_for_symlink_grants_no_write_and_no_read() {
    let scene = Scene::new();
    let (root, victim) = (scene.project.root(), outside());
    let first = scene.bash(&exchanged(&root, victim.path())).await;
    assert_eq!((&first["stdout"], &first["sandbox"]), (&json!("exchanged\n"), &json!("landlock")), "{first}");
    let second = scene.bash(&format!("echo x > '{}/kept'", victim.path().display())).await;
    assert_ne!(second["exit_code"], 0, "{second}");
    assert_eq!(fs::read_to_string(victim.path().join("kept")).unwrap(), "kept");
    let read = scene.call("read", json!({"path": "kept"})).await;
    assert!(!read.ok(), "{}", read.value);
}

#[tokio::test]
async fn writable_folder_setting_swapped_for_symlink_grants_no_write() {
    let outer = outside();
    let victim = outside();
    let root = outer.path().join("w");
    fs::create_dir_all(root.join("build")).expect("folders");
    let project = Project::new([("a.txt", "a\n")]);
    let settings = format!("[bash]\nwritable = [{}]\n", json!(root.join("build")));
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let bash = |command: &str| {
        let mut lsp_tools = project.command(None);
        let arguments = json!({"command": command}).to_string();
        lsp_tools.current_dir(&root).args(["--workspace"]).arg(&root);
        let output = lsp_tools.args(["tools", "call", "bash", &arguments, "--format", "json"]).output();
        serde_json::from_slice::<Value>(&output.expect("lsp-tools").stdout).expect("JSON")
    };
    let first = bash(&exchanged(&root.join("build"), victim.path()));
    assert_eq!(first["stdout"], "exchanged\n", "{first}");
    let second = bash(&format!("echo x > '{}/kept'", victim.path().display()));
    assert_ne!(second["exit_code"], 0, "{second}");
    assert_eq!(fs::read_to_string(victim.path().join("kept")).unwrap(), "kept");
}
