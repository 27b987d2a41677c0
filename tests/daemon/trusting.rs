//! A person at a terminal, imitated by `script` (util-linux), must decide on trust in the project's
//! programs.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use super::house::House;
use crate::support::Project;

/// A project whose server runs its code, so that it starts only if the project is trusted.
fn house() -> House {
    let files = [("a.scr", "def foo\nfoo WRONG\n")];
    House::of(Project::scripted(&json!({"hover_version": false}), "runs-project-code = true", files))
}

/// The output of a hover for a person at a terminal who types `typed`; `None` without `script`.
pub fn at_a_terminal(house: &House, words: &str, typed: &str) -> Option<String> {
    let mut plain = house.command(&[]);
    plain.env_remove("CI");
    let line = format!("'{}' {words}", env!("CARGO_BIN_EXE_lsp-tools"));
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(house.project.root());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match terminal.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("SKIPPED: no terminal can be played: script: {error}");
            return None;
        }
    };
    // Typed ahead, as a terminal allows; the pipe stays open until the command has ended.
    let mut keys = child.stdin.take().expect("stdin");
    keys.write_all(typed.as_bytes()).expect("typing");
    let output = child.wait_with_output().expect("an end");
    drop(keys);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

const HOVER: &str = "--color never hover a.scr:1:5";
const QUESTION: &str = "This project wants to run: the server scripted (runs code of this project";

#[test]
fn trust_prompt_answered_yes_server_answers_the_query() {
    for words in [HOVER.to_owned(), format!("--no-daemon {HOVER}")] {
        let house = house();
        let Some(seen) = at_a_terminal(&house, &words, "y\n") else { return };
        assert_eq!(seen.matches(QUESTION).count(), 1, "{seen}");
        assert!(seen.contains("Trust it? [y/N/never] "), "{seen}");
        assert!(!seen.contains("text search"), "the answer before is not shown: {seen}");
        assert_eq!(house.project.log().starts(), 1, "{seen}");
        let again = at_a_terminal(&house, &words, "").expect("a terminal");
        assert!(!again.contains(QUESTION) && !again.contains("text search"), "{again}");
    }
}

#[test]
fn trust_prompt_declined_is_not_repeated_and_trust_later_works() {
    let house = house();
    let Some(seen) = at_a_terminal(&house, HOVER, "\n") else { return };
    assert!(seen.contains(QUESTION) && seen.contains("text search"), "{seen}");
    let again = at_a_terminal(&house, HOVER, "y\n").expect("a terminal");
    assert!(!again.contains(QUESTION) && again.contains("text search"), "{again}");
    assert_eq!(house.project.log().starts(), 0);
    assert_eq!(house.run(&["trust", "--yes"]).code, Some(0));
    let trusted = at_a_terminal(&house, HOVER, "").expect("a terminal");
    assert!(!trusted.contains(QUESTION) && !trusted.contains("text search"), "{trusted}");
}

#[test]
fn trust_prompt_without_terminal_or_for_json_is_not_shown() {
    let house = house();
    let json = at_a_terminal(&house, "--format json hover a.scr:1:5", "y\n");
    assert!(json.is_none_or(|seen| !seen.contains(QUESTION)));
    let said = house.run(&["hover", "a.scr:1:5"]);
    assert!(!said.err.contains(QUESTION) && said.err.contains("lsp-tools trust"), "{said:?}");
    assert_eq!(house.project.log().starts(), 0);
}
