//! The system clock jumps ahead and back during operation: answers stay right, waits stay bounded,
//! stored data is found again.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Project, skipped};

const YEAR: i64 = 365 * 24 * 3_600;

/// A library that shifts the clock for the programs that load it.
fn clock_library(project: &Project) -> Option<PathBuf> {
    let (source, library) =
        (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/limits/clock.c"), project.beside("clock.so"));
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).output();
    match built {
        Ok(output) if output.status.success() => Some(library),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            skipped("moving the clock needs a C compiler");
            None
        }
    }
}

fn tool(client: &mut Mcp, name: &str, arguments: Value) -> Value {
    client.call(name, arguments)["structuredContent"].clone()
}

#[test]
fn system_clock_jumping_changes_no_answer() {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def foo\nfoo\n")]);
    let Some(library) = clock_library(&project) else { return };
    let settings = "[permissions]\nprofile = \"all\"\nallow = [\"*\"]\n";
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let clock = project.beside("clock");
    let jump = |seconds: i64| fs::write(&clock, seconds.to_string()).expect("a clock");
    jump(0);
    let mut command = project.command(None);
    command.env("LD_PRELOAD", &library).env("CLOCK_FILE", &clock);
    let mut client = Mcp::of(command, &[]);
    client.greet(json!({}));
    let mut years = Vec::new();
    for (round, years_ahead) in [0, 10, -30, 0, 30].into_iter().enumerate() {
        jump(years_ahead * YEAR);
        let name = format!("foo{round}");
        let hover = tool(&mut client, "lsp_hover", json!({"path": "a.scr", "line": 0, "character": 5}));
        assert_eq!(hover["verdict"], "complete", "{years_ahead}: {hover}");
        let old = if round == 0 { "foo".to_owned() } else { format!("foo{}", round - 1) };
        let edits = json!([{"old": format!("def {old}\n"), "new": format!("def {name}\n")}]);
        let edited = tool(&mut client, "edit", json!({"path": "a.scr", "edits": edits}));
        assert_eq!(edited["ok"], true, "{years_ahead}: {edited}");
        let told = tool(&mut client, "lsp_hover", json!({"path": "a.scr", "line": 0, "character": 5}));
        assert!(told["contents"].as_str().is_some_and(|text| text.contains(&name)), "{years_ahead}: {told}");
        let checked = tool(&mut client, "lsp_diagnostics", json!({"path": "a.scr"}));
        assert_eq!(checked["verdict"], "complete", "{years_ahead}: {checked}");
        let ran = tool(&mut client, "bash", json!({"command": "echo ran"}));
        assert_eq!(ran["stdout"], "ran\n", "{years_ahead}: {ran}");
        let todo = json!({"id": "1", "content": name, "status": "pending", "priority": "low"});
        let noted = tool(&mut client, "todowrite", json!({"session_id": "s", "todos": [todo]}));
        assert_eq!(noted["ok"], true, "{years_ahead}: {noted}");
        years.push((years_ahead, name));
    }
    // Undoes all edits in reverse order, regardless of their recorded times.
    for (years_ahead, name) in years.iter().rev() {
        assert!(project.read("a.scr").starts_with(&format!("def {name}\n")), "{years_ahead}: {name}");
        let undone = tool(&mut client, "undo", json!({}));
        assert_eq!(undone["ok"], true, "{years_ahead}: {undone}");
    }
    assert_eq!(project.read("a.scr"), "def foo\nfoo\n");
    let (status, _) = client.close();
    assert!(status.success(), "{status}");
    let log = fs::read_to_string(project.beside("state").join("audit.jsonl")).expect("the audit log");
    let entry = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let year =
        |line: &str| entry(line)["time"].as_str().expect("a time")[..4].parse::<i64>().expect("a year");
    let seen: std::collections::BTreeSet<i64> = log.lines().map(year).collect();
    assert!(
        seen.len() >= 4 && seen.last().zip(seen.first()).is_some_and(|(last, first)| last - first > 50),
        "{seen:?}"
    );
}
