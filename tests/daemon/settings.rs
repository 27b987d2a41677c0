//! The daemon follows the settings.

use std::fs;

use serde_json::json;

use super::house::{House, SOON, ended};
use crate::support::wait_until;

#[test]
fn settings_changed_apply_from_next_command() {
    let house = House::new();
    let file = house.project.beside("config").join("lsp-tools.toml");
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    let pid = house.pid();
    fs::write(&file, "disabled = [\"scripted\"]\n").unwrap();
    let off = house.run(&["hover", "a.scr:1:5"]);
    assert_ne!(off.code, Some(0), "{off:?}");
    assert_eq!(off, house.run_alone(&["hover", "a.scr:1:5"]));
    wait_until("the server of the former settings ends", SOON, || house.servers() == 0);
    fs::remove_file(&file).unwrap();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    assert_eq!(house.pid(), pid, "it is the same daemon");
}

#[test]
fn settings_broken_error_is_same_as_without_daemon_until_mended() {
    let house = House::new();
    let file = house.project.beside("config").join("lsp-tools.toml");
    let good = house.run(&["hover", "a.scr:1:5"]);
    fs::write(&file, "no-such-word = 1\n").unwrap();
    let broken = house.run(&["hover", "a.scr:1:5"]);
    assert_eq!((broken.code, broken.clone()), (Some(2), house.run_alone(&["hover", "a.scr:1:5"])));
    fs::remove_file(&file).unwrap();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]), good);
    assert_eq!(house.project.log().starts(), 1, "the server has stayed");
}

#[test]
fn settings_broken_no_daemon_starts_and_error_is_the_same() {
    let house = House::new();
    fs::write(house.project.beside("config").join("lsp-tools.toml"), "no-such-word = 1\n").unwrap();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]), house.run_alone(&["hover", "a.scr:1:5"]));
    let start = house.run(&["daemon", "start"]);
    assert!(start.code == Some(2) && start.err.contains("no-such-word"), "{start:?}");
    // It reports the failed start before its process ends.
    wait_until("the failed daemon is gone", SOON, || house.daemons().is_empty());
}

#[test]
fn settings_changed_mid_command_running_one_keeps_old_settings() {
    let house = House::playing(&json!({"answers": {"textDocument/hover": {"delay_ms": 2_000}}}));
    house.run(&["daemon", "start"]);
    let slow = house.begin(&["hover", "a.scr:1:5"]);
    wait_until("it is asked", SOON, || house.project.log().count("textDocument/hover") > 0);
    fs::write(house.project.beside("config").join("lsp-tools.toml"), "disabled = [\"scripted\"]\n").unwrap();
    assert_ne!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    assert_eq!(ended(slow, "hover").code, Some(0));
    wait_until("then its server ends", SOON, || house.servers() == 0);
}

#[test]
fn trust_granted_by_other_process_applies_at_once() {
    let house = House::new();
    house.run(&["hover", "a.scr:1:5"]);
    let other = crate::support::Project::new([(
        ".lsp-tools/servers.toml",
        "[server.pylsp]\ncommand = [\"nowhere\"]\n",
    )]);
    let mut trust = house.command(&["trust", "--yes", "--workspace"]);
    trust.arg(other.root());
    assert_eq!(super::house::said(trust, "", "trust").code, Some(0));
    house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(house.project.log().starts(), 1, "another project's trust restarts nothing here");

    house.project.write(".lsp-tools/lsp-tools.toml", "disabled = [\"scripted\"]\n");
    let untrusted = house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(untrusted.code, Some(0), "{untrusted:?}");
    assert_eq!(house.run(&["trust", "--yes"]).code, Some(0));
    let trusted = house.run(&["hover", "a.scr:1:5"]);
    assert_eq!(trusted, house.run_alone(&["hover", "a.scr:1:5"]));
    assert_ne!(trusted.code, Some(0), "{trusted:?}");
}

/// Saving settings without a change does not cause a second start.
#[test]
fn settings_rewritten_unchanged_keep_servers_running() {
    let house = House::new();
    let file = house.project.beside("config").join("lsp-tools.toml");
    fs::write(&file, "deadlines.hover = 30_000\n").unwrap();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    for _ in 0..3 {
        fs::write(&file, "deadlines.hover = 30_000\n").unwrap();
        assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    }
    assert_eq!(house.project.log().starts(), 1);
    fs::write(&file, "deadlines.hover = 31_000\n").unwrap();
    assert_eq!(house.run(&["hover", "a.scr:1:5"]).code, Some(0));
    assert_eq!(house.project.log().starts(), 2, "another text counts");
}

#[test]
fn mcp_file_listed_in_settings_is_reread_when_changed() {
    let house = House::new();
    let file = house.project.beside("config").join("mcp.json");
    let settings = format!("[mcp]\nfiles = [{:?}]\n", file.to_str().unwrap());
    fs::write(house.project.beside("config").join("lsp-tools.toml"), settings).unwrap();
    let names = || {
        let listed = house.run(&["--format", "json", "mcp", "list"]);
        let listed: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
        let names = listed["servers"].as_array().unwrap().iter();
        names.map(|server| server["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names().is_empty());
    let pid = house.pid();
    fs::write(&file, r#"{"mcpServers": {"late": {"command": "no-such-program-anywhere"}}}"#).unwrap();
    assert_eq!(names(), ["late"]);
    fs::write(&file, r#"{"mcpServers": {"later": {"command": "no-such-program-anywhere"}}}"#).unwrap();
    assert_eq!(names(), ["later"]);
    assert_eq!(house.pid(), pid, "it is the same daemon");
}
