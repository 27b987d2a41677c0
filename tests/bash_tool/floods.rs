//! Endless output, output of the wrong kind, and output for terminals.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::scene::Scene;
use crate::support::Project;
use crate::support::mcp::Mcp;

/// The time limit for a gigabyte on a busy machine.
const LONGEST: Duration = Duration::from_secs(500);

/// A limit far above the program's need and far below the size of the flood.
const MAX_PEAK_BYTES: u64 = 128 << 20;

/// The maximum resident memory of a process, in bytes.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// The answer of `bash` in a separate program with a memory limit.
fn flooded_by(command: &str) -> Value {
    let project = Project::new([("a.txt", "a\n")]);
    let settings = "[permissions]\nallow = ['bash']\n";
    fs::write(project.beside("config").join("lsp-tools.toml"), settings).expect("settings");
    let mut client = Mcp::legacy(&project, None, json!({}));
    let arguments = json!({"command": command, "timeout_ms": 500_000});
    let id = client.request("tools/call", json!({"name": "bash", "arguments": arguments}));
    let answer = client.find_within(LONGEST, |message| message["id"] == json!(id)).expect("an answer");
    let peak = peak(client.pid());
    assert!(peak < MAX_PEAK_BYTES, "{} MB", peak >> 20);
    answer["result"]["structuredContent"].clone()
}

#[test]
#[ignore = "slow: just slow"]
fn row_32_output_flood_memory_and_answer_are_bounded() {
    let answer = flooded_by("timeout 2 yes; echo ended");
    let stdout = answer["stdout"].as_str().unwrap();
    assert!(stdout.len() < 10_100, "{}", stdout.len());
    assert!(stdout.starts_with("y\ny\n") && stdout.ends_with("y\nended\n"));
    assert_eq!(answer["truncated"], true);
    assert!(answer["left_out"]["stdout"].as_u64().unwrap() > 1_000_000, "{}", answer["left_out"]);
}

#[test]
#[ignore = "slow: just slow"]
fn row_32_gigabyte_output_left_out_bytes_are_counted_exactly() {
    let line = "x".repeat(99);
    let answer = flooded_by(&format!("yes {line} | head -c 1000000000; printf end >&2"));
    assert_eq!((&answer["exit_code"], &answer["stderr"]), (&json!(0), &json!("end")));
    let stdout = answer["stdout"].as_str().unwrap();
    let left_out = answer["left_out"]["stdout"].as_u64().unwrap();
    let marker = format!("[{left_out} bytes left out]\n");
    let shown = stdout.replace(&marker, "");
    assert_eq!(shown.len() as u64 + left_out, 1_000_000_000);
    assert!(shown.lines().all(|shown| shown == line), "the cuts fall between lines");
}

#[tokio::test]
async fn row_32_endless_line_is_cut_between_characters() {
    let scene = Scene::new();
    let answer = scene.bash("printf '€%.0s' $(seq 20000)").await;
    let stdout = answer["stdout"].as_str().unwrap();
    let left_out = answer["left_out"]["stdout"].as_u64().unwrap();
    assert!(!stdout.contains('\u{fffd}'));
    assert_eq!(stdout.matches('€').count() as u64 * 3 + left_out, 60_000);
}

#[tokio::test]
async fn row_32_binary_output_becomes_valid_text() {
    let scene = Scene::new();
    let answer = scene.bash("head -c 3000000 /dev/urandom; head -c 1000 /dev/zero >&2").await;
    assert_eq!(answer["exit_code"], 0);
    assert!(answer["stdout"].as_str().unwrap().len() < 40_000);
    assert_eq!(answer["stderr"], "");
    let cut = scene.stdout(r"printf 'a\377\376b\342\202'").await;
    assert_eq!(cut, "a\u{fffd}b\u{fffd}");
}

#[tokio::test]
async fn row_39_terminal_escapes_are_stripped_unless_raw() {
    let scene = Scene::new();
    let command = r"printf '\033]52;c;aGFoYQ==\007\033[31mred\033[0m\t\033]0;title\033\\\033[2J.\010\n'";
    assert_eq!(scene.stdout(command).await, "red\t.\n");
    let raw = scene.call("bash", json!({"command": command, "raw": true})).await.value;
    let raw = raw["stdout"].as_str().unwrap();
    assert!(raw.starts_with("\u{1b}]52;c;aGFoYQ==\u{7}\u{1b}[31mred"), "{raw:?}");
}
