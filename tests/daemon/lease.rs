//! Two hosts with one workspace, each with a daemon, a state folder and locks of its own: one of them edits it at a time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::house::{House, SOON, Said, said};

const STALE: u64 = 3;

fn house() -> House {
    let house = House::new();
    let settings = format!("[edits]\nleasing = \"always\"\nstale-s = {STALE}\n");
    fs::write(house.project.beside("config").join("lsp-tools.toml"), settings).expect("the settings");
    house
}

/// A command as typed on the host called `host`, which has the workspace in common with others and nothing else.
fn on(house: &House, host: &str, words: &[&str]) -> Command {
    let mut command = house.command(words);
    for (name, folder) in [("LSP_TOOLS_STATE_DIR", "state"), ("XDG_RUNTIME_DIR", "run")] {
        let folder = house.project.beside(&format!("{folder}-{host}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("its mode");
        command.env(name, folder);
    }
    command.env("LSP_TOOLS_HOST", host);
    command
}

fn run(house: &House, host: &str, words: &[&str]) -> Said {
    said(on(house, host, words), "", &format!("{host}: {}", words.join(" ")))
}

fn write(house: &House, host: &str, text: &str) -> Said {
    run(house, host, &["write", "b.scr", "--content", text, "--format", "json"])
}

fn pid(house: &House, host: &str) -> i32 {
    let status = run(house, host, &["daemon", "status", "--format", "json"]);
    let status: Value =
        serde_json::from_str(&status.out).unwrap_or_else(|error| panic!("{error}: {status:?}"));
    status["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).expect("a daemon")
}

#[test]
#[ignore = "slow: just slow"]
fn second_host_may_read_but_not_edit_while_first_lives() {
    let house = &house();
    assert_eq!(write(house, "alpha", "def alpha\n").code, Some(0));
    let refused = write(house, "beta", "def beta\n");
    let answer: Value =
        serde_json::from_str(&refused.out).unwrap_or_else(|error| panic!("{error}: {refused:?}"));
    assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!("conflict")), "{answer}");
    let error = answer["error"].as_str().expect("a sentence");
    let (alpha, beta) = (pid(house, "alpha"), pid(house, "beta"));
    assert_ne!(alpha, beta);
    assert!(error.contains("`alpha`") && error.contains(&format!("process {alpha}")), "{error}");
    assert_eq!(house.project.read("b.scr"), "def alpha\n");
    // Reading, asking and trying are free.
    assert_eq!(run(house, "beta", &["read", "b.scr"]).code, Some(0));
    assert_eq!(run(house, "beta", &["hover", "a.scr:1:5"]).code, Some(0));
    let tried = ["edit", "b.scr", "--old", "alpha", "--new", "beta", "--dry-run"];
    assert_eq!(run(house, "beta", &tried).code, Some(0));
    // The holder goes on, also by commands that use no daemon.
    let mut alone = on(house, "alpha", &["write", "b.scr", "--content", "def alpha2\n"]);
    alone.env("LSP_TOOLS_NO_DAEMON", "1");
    assert_eq!(said(alone, "", "alpha, alone").code, Some(0));
    assert_eq!(write(house, "alpha", "def alpha3\n").code, Some(0));

    // A host that dies is waited for, and not longer.
    house.kill(alpha, Signal::KILL);
    let died = Instant::now();
    while write(house, "beta", "def beta\n").code != Some(0) {
        assert!(died.elapsed() < SOON, "the lease of a dead host is never over");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(died.elapsed() >= Duration::from_secs(STALE - 1), "{:?}", died.elapsed());
    assert_eq!(house.project.read("b.scr"), "def beta\n");
    assert_ne!(write(house, "alpha", "def alpha4\n").code, Some(0), "it is another's now");

    // One that is stopped gives it back at once.
    assert_eq!(run(house, "beta", &["daemon", "stop"]).code, Some(0));
    let stopped = Instant::now();
    while write(house, "alpha", "def alpha5\n").code != Some(0) {
        assert!(stopped.elapsed() < Duration::from_secs(STALE - 1), "it is waited for as if it had died");
    }
    assert_eq!(house.project.read("b.scr"), "def alpha5\n");
    for host in ["alpha", "beta"] {
        run(house, host, &["daemon", "stop"]);
    }
    house.wait_until_empty(Duration::from_secs(60));
}

#[test]
fn two_hosts_editing_concurrently_lose_no_write() {
    let house = &house();
    house.project.write("b.scr", "");
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let hosts = ["alpha", "beta"].map(|host| {
            scope.spawn(move || {
                let mut done = 0;
                for round in 0..6 {
                    let text = house.project.read("b.scr");
                    let line = format!("{text}{host} {round}\n");
                    let ended = write(house, host, &line);
                    assert!(matches!(ended.code, Some(0 | 1 | 2 | 4)), "{ended:?}");
                    done += usize::from(ended.code == Some(0));
                }
                done
            })
        });
        hosts.into_iter().map(|host| host.join().expect("an end")).collect()
    });
    // One of them had it all the time; what it was told was done is there.
    assert!(counts.contains(&6) && counts.contains(&0), "{counts:?}");
    assert_eq!(house.project.read("b.scr").lines().count(), 6);
    for host in ["alpha", "beta"] {
        run(house, host, &["daemon", "stop"]);
    }
    house.wait_until_empty(Duration::from_secs(60));
}
