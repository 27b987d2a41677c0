//! Output without end, of the wrong kind, and with a terminal in mind.

use std::fs;

use serde_json::json;

use super::scene::Scene;

/// Resident memory of this process, at its most, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[tokio::test]
async fn row_32_a_flood_is_bounded_in_memory_and_in_the_answer() {
    let scene = Scene::new();
    let answer = scene.bash("timeout 2 yes; echo ended").await;
    let stdout = answer["stdout"].as_str().unwrap();
    assert!(stdout.len() < 10_100, "{}", stdout.len());
    assert!(stdout.starts_with("y\ny\n") && stdout.ends_with("y\nended\n"));
    assert_eq!(answer["truncated"], true);
    assert!(answer["left_out"]["stdout"].as_u64().unwrap() > 1_000_000, "{}", answer["left_out"]);
    // Other tests run in the same process: the bound is theirs too.
    assert!(peak() < 200 << 20, "{} MB", peak() >> 20);
}

#[tokio::test]
async fn row_32_a_gigabyte_is_counted_to_the_byte() {
    let scene = Scene::new();
    let line = "x".repeat(99);
    let answer = scene.bash_for_long(&format!("yes {line} | head -c 1000000000; printf end >&2")).await;
    assert_eq!((&answer["exit_code"], &answer["stderr"]), (&json!(0), &json!("end")));
    let stdout = answer["stdout"].as_str().unwrap();
    let left_out = answer["left_out"]["stdout"].as_u64().unwrap();
    let marker = format!("[{left_out} bytes left out]\n");
    let shown = stdout.replace(&marker, "");
    assert_eq!(shown.len() as u64 + left_out, 1_000_000_000);
    assert!(shown.lines().all(|shown| shown == line), "the cuts fall between lines");
    assert!(peak() < 200 << 20, "{} MB", peak() >> 20);
}

#[tokio::test]
async fn row_32_one_endless_line_of_characters_is_cut_between_them() {
    let scene = Scene::new();
    let answer = scene.bash("printf '€%.0s' $(seq 20000)").await;
    let stdout = answer["stdout"].as_str().unwrap();
    let left_out = answer["left_out"]["stdout"].as_u64().unwrap();
    assert!(!stdout.contains('\u{fffd}'));
    assert_eq!(stdout.matches('€').count() as u64 * 3 + left_out, 60_000);
}

#[tokio::test]
async fn row_32_binary_output_is_text_in_the_end() {
    let scene = Scene::new();
    let answer = scene.bash("head -c 3000000 /dev/urandom; head -c 1000 /dev/zero >&2").await;
    assert_eq!(answer["exit_code"], 0);
    assert!(answer["stdout"].as_str().unwrap().len() < 40_000);
    assert_eq!(answer["stderr"], "");
    let cut = scene.stdout(r"printf 'a\377\376b\342\202'").await;
    assert_eq!(cut, "a\u{fffd}b\u{fffd}");
}

#[tokio::test]
async fn row_39_terminal_escapes_are_stripped_unless_asked_for() {
    let scene = Scene::new();
    let command = r"printf '\033]52;c;aGFoYQ==\007\033[31mred\033[0m\t\033]0;title\033\\\033[2J.\010\n'";
    assert_eq!(scene.stdout(command).await, "red\t.\n");
    let raw = scene.call("bash", json!({"command": command, "raw": true})).await.value;
    let raw = raw["stdout"].as_str().unwrap();
    assert!(raw.starts_with("\u{1b}]52;c;aGFoYQ==\u{7}\u{1b}[31mred"), "{raw:?}");
}
