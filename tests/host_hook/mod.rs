//! The hooks of hosts: the answers of `lsp-tools hook`, its time limits, and the loops of real
//! hosts (`just hosts`).

mod model;
mod real;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemon::house::{House, SOON, Said, said};
use crate::notes_tools::changed_files::git;
use crate::support::{Project, real_servers, wait_until};

/// The time limit of a hook, also on a slow machine.
const ENDED: Duration = Duration::from_secs(20);

fn hook(house: &House, words: &[&str], told: &Value) -> Said {
    let mut command = house.command(&["hook"]);
    command.args(words);
    said(command, &told.to_string(), &words.join(" "))
}

/// Pyright, installed for a daemon that is not running yet.
fn cold_pyright() -> House {
    let mut house = House::of(Project::of_fixture("python"));
    house.prefix = Some(real_servers(&["pyright"]));
    fs::write(
        house.project.beside("config").join("servers.toml"),
        "[language.python]\nservers = [\"pyright\"]\n",
    )
    .unwrap();
    house
}

/// Pyright in a separate daemon, which has loaded the project.
fn pyright() -> House {
    let house = cold_pyright();
    let warm = house.run(&["check", "greet", "--timeout", "60"]);
    assert!(warm.out.contains("broken.py"), "{warm:?}");
    house
}

fn context(said: &Said) -> String {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// An edit by a host, made and reported.
fn edited(house: &House, path: &str, old: &str, new: &str) -> Value {
    let before = house.project.read(path);
    house.project.write(path, before.replacen(old, new, 1));
    json!({
        "hook_event_name": "PostToolUse", "cwd": house.project.root(), "tool_name": "Edit",
        "tool_input": {"file_path": house.project.path(path), "old_string": old, "new_string": new},
        "tool_response": {"originalFile": before},
    })
}

#[test]
#[ignore = "slow: just slow"]
fn edit_hook_tells_errors_that_an_edit_brought_in_other_files() {
    let house = pyright();
    let told = edited(&house, "greet/messages.py", "person: Person, *,", "person: Person, greeting: str, *,");
    let words = context(&hook(&house, &["claude-code", "edit", "--timeout", "30"], &told));
    assert!(words.contains("greet/app.py:9:13: error: Argument missing"), "{words}");
    assert!(words.contains("1 new error") && !words.contains("broken.py"), "{words}");
    // Earlier findings do not belong to this edit.
    let back = edited(&house, "greet/messages.py", "person: Person, greeting: str, *,", "person: Person, *,");
    let words = context(&hook(&house, &["claude-code", "edit", "--timeout", "30"], &back));
    assert!(words.contains("no new problems") && !words.contains("error:"), "{words}");
}

#[test]
#[ignore = "slow: just slow"]
fn edit_hook_on_a_fresh_daemon_uses_its_time_and_tells_the_errors() {
    let house = cold_pyright();
    let told = edited(&house, "greet/messages.py", "person: Person, *,", "person: Person, greeting: str, *,");
    let words = context(&hook(&house, &["claude-code", "edit", "--timeout", "60"], &told));
    assert!(words.contains("greet/app.py:9:13: error: Argument missing"), "{words}");
}

#[test]
#[ignore = "slow: just slow"]
fn start_hook_has_the_servers_of_the_project_started() {
    let house = cold_pyright();
    let begun = hook(&house, &["claude-code", "start"], &json!({"cwd": house.project.root()}));
    assert_eq!((begun.code, begun.out.as_str(), begun.err.as_str()), (Some(0), "", ""), "{begun:?}");
    wait_until("pyright runs", SOON, || house.run(&["servers"]).out.contains("pyright"));
}

#[test]
#[ignore = "slow: just slow"]
fn edit_hook_without_text_before_tells_errors_that_are_there() {
    let house = pyright();
    let told = json!({
        "cwd": house.project.root(), "tool_name": "write_file",
        "tool_input": {"file_path": "greet/broken.py", "content": ""},
    });
    let words = context(&hook(&house, &["gemini", "edit", "--timeout", "30"], &told));
    assert!(words.contains("from this edit or from before") && words.contains("greet/broken.py:"), "{words}");
}

#[test]
#[ignore = "slow: just slow"]
fn search_hook_tells_definition_and_references_of_a_symbol() {
    let house = pyright();
    let search = |pattern: &str| {
        let told = json!({"hook_event_name": "PreToolUse", "cwd": house.project.root(), "tool_input": {"pattern": pattern}});
        hook(&house, &["claude-code", "search", "--timeout", "30"], &told)
    };
    let words = context(&search(r"def compose\("));
    assert!(words.contains("`compose` is defined at greet/messages.py:8:5 (function)"), "{words}");
    assert!(words.contains("; referenced in 5 places of 3 files"), "{words}");
    let command = json!({"tool_name": "Bash", "cwd": house.project.root(), "tool_input": {"command": "grep -rn Person.title . | head"}});
    let words = context(&hook(&house, &["codex", "search", "--timeout", "30"], &command));
    assert!(words.contains("greet/people.py:20:9 (method of Person)"), "{words}");
    for pattern in ["nowhere_defined", "some words"] {
        assert_eq!(search(pattern).out, "", "{pattern}");
    }
}

/// A hook does not show anything that rules hide from tools.
#[test]
#[ignore = "slow: just slow"]
fn hook_tells_nothing_of_what_rules_hide() {
    let house = pyright();
    let settings = "[permissions]\ndeny = ['*(greet/messages.py)']\n";
    fs::write(house.project.beside("config").join("lsp-tools.toml"), settings).unwrap();
    let told = json!({"cwd": house.project.root(), "tool_input": {"pattern": "compose"}});
    let said = hook(&house, &["claude-code", "search", "--timeout", "30"], &told);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
    let told = edited(&house, "greet/messages.py", "person: Person, *,", "person: Person, greeting: str, *,");
    let words = context(&hook(&house, &["claude-code", "edit", "--timeout", "30"], &told));
    assert!(words.starts_with("lsp-tools: not checked: ") && !words.contains("Argument"), "{words}");
}

/// The text for a host's model.
fn words_for(host: &str, said: &Said) -> String {
    let value: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| json!(said.out));
    let told = match host {
        "opencode" => value,
        "copilot-cli" => value["additionalContext"].clone(),
        _ => value["hookSpecificOutput"]["additionalContext"].clone(),
    };
    told.as_str().unwrap_or_else(|| panic!("{said:?}")).trim_end().to_owned()
}

const HOSTS: [&str; 6] = ["claude-code", "codex", "copilot-cli", "gemini", "opencode", "qwen-code"];

#[test]
fn edit_hook_of_every_host_answers_one_line_where_nothing_can_be_judged() {
    let house = House::new();
    fs::write(house.project.path("notes.toml"), "a = 1\n").unwrap();
    for (path, reason) in [
        ("notes.toml", "not checked: no server for TOML"),
        ("/etc/passwd", "not checked: `/etc/passwd` lies outside"),
        ("missing.scr", "not checked: "),
    ] {
        for host in HOSTS {
            let told = json!({
                "cwd": house.project.root(), "tool_input": {"file_path": path, "old_string": "1", "new_string": "1"},
                "tool_response": {"originalFile": "a = 0\n"},
            });
            let said = hook(&house, &[host, "edit"], &told);
            let words = words_for(host, &said);
            assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
            assert!(words.contains(reason) && words.lines().count() == 1, "{host} {path}: {words}");
        }
    }
}

#[test]
fn edit_hook_without_a_daemon_says_that_nothing_was_judged() {
    let house = House::new();
    // A file in place of the socket folder: no daemon can start.
    fs::write(house.sockets(), "").unwrap();
    let told = edited(&house, "a.scr", "foo WRONG", "foo");
    for host in HOSTS {
        let said = hook(&house, &[host, "edit"], &told);
        let words = words_for(host, &said);
        assert!(
            words.starts_with("lsp-tools: not checked: ") && words.lines().count() == 1,
            "{host}: {said:?}"
        );
        assert_eq!(said.code, Some(0), "{said:?}");
    }
}

#[test]
fn hook_that_fails_or_is_switched_off_is_silent_and_succeeds() {
    let house = House::new();
    let search = json!({"cwd": house.project.root(), "tool_input": {"pattern": "foo"}});
    for (words, told) in [
        (&["claude-code", "search"][..], json!("no event")),
        (&["claude-code", "edit"], json!({"tool_input": {"command": "ls"}})),
        (&["claude-code", "search"], json!({"cwd": "/nowhere", "tool_input": {"pattern": "nowhere_at_all"}})),
    ] {
        let said = hook(&house, words, &told);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""), "{told}");
    }
    for words in [&["unknown-host", "search"][..], &["claude-code", "unknown"], &[]] {
        let said = hook(&house, words, &search);
        assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{words:?}");
    }
    let mut off = house.command(&["hook", "claude-code", "search"]);
    off.env("LSP_TOOLS_HOOKS", "off");
    let started = house.daemons().len();
    assert_eq!(said(off, &search.to_string(), "off").out, "");
    assert_eq!(house.daemons().len(), started);
}

/// A host that never closes standard input, and a server that never answers.
#[test]
fn late_hook_ends_by_itself_with_success() {
    let house = House::playing(&json!({"answers": {"workspace/symbol": {"never": true}}}));
    let begun = Instant::now();
    let mut open = house.command(&["hook", "claude-code", "search", "--timeout", "1"]);
    let mut child = open.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    wait_until("the end of the hook", SOON, || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let told = json!({"cwd": house.project.root(), "tool_input": {"pattern": "foo"}});
    let late = hook(&house, &["claude-code", "search", "--timeout", "1"], &told);
    assert_eq!((late.code, late.err.as_str()), (Some(0), ""), "{late:?}");
    assert!(begun.elapsed() < ENDED, "{:?}", begun.elapsed());
}

/// Commits the project of `house` as a new repository.
fn commit(house: &House) {
    let root = house.project.root();
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        git(&root, words);
    }
}

fn turn_hook(house: &House, event: &str, more: &Value) -> Said {
    let mut told = json!({"session_id": "s", "cwd": house.project.root()});
    told.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let said = hook(house, &["claude-code", event, "--timeout", "30"], &told);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    said
}

/// The reason that holds up the end of a turn; empty if there is none.
fn held_up(house: &House, more: &Value) -> String {
    let said = turn_hook(house, "stop", more);
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_default();
    assert!(said.out.is_empty() || answer["decision"] == "block", "{said:?}");
    answer["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn end_of_turn_is_held_up_once_for_what_the_turn_broke() {
    let house = House::new();
    commit(&house);
    let (write, none) = (|path: &str, text: &str| house.project.write(path, text), json!({}));
    // Neither committed errors nor those of a file that was changed before the turn count.
    write("b.scr", "foo\nWRONG\n");
    turn_hook(&house, "turn", &none);
    assert_eq!(held_up(&house, &none), "", "nothing was edited");
    write("a.scr", "def foo\nfoo WRONG\nbar WRONG\n");
    write("b.scr", "foo\nfoo\nWRONG\n");
    write("new.scr", "WRONG\n");
    let words = held_up(&house, &none);
    assert!(words.starts_with("lsp-tools, about this turn's edits:\n"), "{words}");
    assert!(
        words.contains("a.scr:3:5: error: WRONG") && words.contains("new.scr:1:1: error: WRONG"),
        "{words}"
    );
    assert!(words.contains("2 new errors") && !words.contains("b.scr"), "{words}");
    assert_eq!(held_up(&house, &none), "", "once");

    // The errors of the last turn are old for the next turn.
    turn_hook(&house, "turn", &none);
    write("a.scr", "def foo\n\nfoo WRONG\nbar WRONG\n");
    assert_eq!(held_up(&house, &none), "");
    // A file restored to its committed text, and a deleted one.
    write("b.scr", "foo\n");
    fs::remove_file(house.project.path("new.scr")).unwrap();
    assert_eq!(held_up(&house, &none), "");
    write("new.scr", "WRONG\n");
    assert_eq!(held_up(&house, &none), "", "the file was there when the turn began");
    write("b.scr", "WRONG WRONG\n");
    assert_eq!(held_up(&house, &json!({"session_id": "other"})), "", "a session whose turn is unknown");
    assert_eq!(held_up(&house, &json!({"stop_hook_active": true})), "", "a hook already continued the turn");
    assert!(held_up(&house, &none).contains("1 new error"));
}

#[test]
fn end_of_turn_is_not_checked_without_repository_or_by_settings() {
    let house = House::new();
    let none = json!({});
    turn_hook(&house, "turn", &none);
    house.project.write("a.scr", "WRONG WRONG\n");
    assert_eq!(held_up(&house, &none), "");
    commit(&house);
    fs::write(house.project.beside("config").join("lsp-tools.toml"), "end-of-turn-gate = false\n").unwrap();
    turn_hook(&house, "turn", &none);
    house.project.write("a.scr", "WRONG WRONG WRONG\n");
    assert_eq!(held_up(&house, &none), "");
}

/// The first request for a signature must not hide the effects of a change in another file.
#[test]
#[ignore = "slow: just slow"]
fn end_of_turn_on_a_fresh_daemon_is_held_up_where_users_are_opened_first() {
    let (def, import) = ("def add(a: int, b: int) -> int:\n    return a + b\n", "from pk.m import add\n\n");
    let project = Project::new([
        ("pyproject.toml", "[project]\nname = \"x\"\nversion = \"1\"\n"),
        ("pk/__init__.py", ""),
        ("pk/m.py", def),
        ("pk/u.py", &format!("{import}print(add(1, 2))\n")),
        ("pk/bad.py", &format!("{import}x: int = \"old\"\nprint(add(1, 2))\n")),
    ]);
    let mut house = House::of(project);
    house.prefix = Some(real_servers(&["pyright", "ruff"]));
    commit(&house);
    turn_hook(&house, "turn", &json!({}));
    edited(&house, "pk/m.py", "b: int", "b: int, c: int");
    let words = held_up(&house, &json!({}));
    assert!(words.contains("pk/u.py:3:7: error") && words.contains("pk/bad.py:4:7: error"), "{words}");
    assert!(!words.contains("bad.py:3"), "{words}");
}

/// The server has not loaded the project when the turn ends.
#[test]
#[ignore = "slow: just slow"]
fn end_of_turn_on_a_fresh_daemon_is_held_up_for_other_files() {
    let house = cold_pyright();
    commit(&house);
    turn_hook(&house, "turn", &json!({}));
    edited(&house, "greet/messages.py", "person: Person, *,", "person: Person, greeting: str, *,");
    let words = held_up(&house, &json!({}));
    assert!(words.contains("greet/app.py:9:13: error: Argument missing"), "{words}");
}

#[test]
#[ignore = "slow: just slow"]
fn end_of_turn_is_held_up_for_importers_of_a_removed_or_moved_module() {
    for ends in ["removed", "moved"] {
        let house = pyright();
        commit(&house);
        turn_hook(&house, "turn", &json!({}));
        let module = house.project.path("greet/messages.py");
        match ends {
            "removed" => fs::remove_file(&module).unwrap(),
            _ => fs::rename(&module, house.project.path("greet/words.py")).unwrap(),
        }
        let words = held_up(&house, &json!({}));
        assert!(words.contains("greet/app.py:3:6: error: Import \"greet.messages\""), "{ends}: {words}");
        assert!(!words.contains("greet/broken.py"), "{ends}: {words}");
    }
}

/// Rules apply to the check of a turn.
#[test]
fn end_of_turn_shows_nothing_of_hidden_files() {
    let house = House::new();
    fs::write(
        house.project.beside("config").join("lsp-tools.toml"),
        "[permissions]\ndeny = ['*(secret.scr)']\n",
    )
    .unwrap();
    commit(&house);
    turn_hook(&house, "turn", &json!({}));
    house.project.write("secret.scr", "WRONG\n");
    assert_eq!(held_up(&house, &json!({})), "");
    house.project.write("a.scr", "WRONG WRONG\n");
    let words = held_up(&house, &json!({}));
    assert!(words.contains("a.scr:1:7") && !words.contains("secret"), "{words}");
}

#[test]
fn end_of_turn_knows_moved_files_and_those_that_it_cannot_compare() {
    let house = House::new();
    house.project.write("old.scr", "foo WRONG\n");
    commit(&house);
    house.project.write("latin.scr", "");
    fs::write(house.project.path("latin.scr"), b"WRONG \xe4\n").unwrap();
    let none = json!({});
    turn_hook(&house, "turn", &none);
    fs::rename(house.project.path("old.scr"), house.project.path("new.scr")).unwrap();
    house.project.write("latin.scr", "WRONG\n");
    assert_eq!(held_up(&house, &none), "", "its errors are old, or not known");
    house.project.write("a.scr", "WRONG\nWRONG\n");
    // The start of an earlier turn does not persist if a later one is not recorded.
    fs::rename(house.project.path(".git"), house.project.path("git")).unwrap();
    turn_hook(&house, "turn", &none);
    fs::rename(house.project.path("git"), house.project.path(".git")).unwrap();
    assert_eq!(held_up(&house, &none), "");
}
