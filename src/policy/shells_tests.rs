//! Compares the patterns for commands with real shells: random texts are run where every program
//! only records its arguments.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::command::{CommandPattern, allowed_by, forbids};
use super::shell::Script;
use super::shell_words::ShellWord;
use crate::executable::write_executable;
use crate::platform::files::symlink;

/// An empty folder, and a folder of programs that append their names and arguments, ended by NUL
/// and line feed, to `log`.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["bin", "here"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        for name in ["ls", "git", "rm"] {
            let log = folder.path().join("log");
            let body = format!("printf '%s\\0' {name} \"$@\" >> '{0}'; printf '\\n' >> '{0}'", log.display());
            write_executable(folder.path().join("bin").join(name), format!("#!/bin/sh\n{body}\n"));
        }
        symlink("/bin/sh", folder.path().join("bin/sh")).expect("a link");
        Self { folder }
    }

    /// The programs that `shell` runs for `text`, each with its arguments.
    fn run(&self, shell: &str, text: &str) -> Vec<Vec<String>> {
        let log = self.folder.path().join("log");
        fs::write(&log, "").expect("a log");
        let mut command = Command::new(shell);
        command.args(["-c", text]).env_clear().env("PATH", self.folder.path().join("bin"));
        command.current_dir(self.folder.path().join("here"));
        // Background processes hold the pipe too, so `output` returns only after all have ended.
        command.stdin(Stdio::null()).output().expect("a shell");
        let noted = fs::read(&log).expect("a log");
        let lines = String::from_utf8_lossy(&noted).into_owned();
        lines.split_terminator("\0\n").map(|line| line.split('\0').map(str::to_owned).collect()).collect()
    }
}

const SHELLS: [&str; 2] = ["/bin/sh", "/bin/bash"];

fn text(pieces: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 1..most).prop_map(|pieces| pieces.concat())
}

const MILD: &[&str] = &[
    "ls ",
    "git ",
    "ls",
    " ",
    " ",
    "a",
    "b",
    "-x",
    "'",
    "\"",
    "\\",
    "; ls ",
    " && git ",
    " || ls ",
    "#",
    "~",
    "=",
    "%",
    "!",
    "2>&1",
    ">/dev/null",
    "é",
    "\u{a0}",
    "5",
    "[",
    "*",
    "{",
    ",",
    "}",
    "$",
    "^",
    "\t",
];

const WILD: &[&str] = &[
    "rm", "rm ", "rm x", "r", "m ", "ls ", " ", ";", "&&", "|", " & ", "$(", ")", "`", "'", "\"", "\\", "\n",
    "{", "}", ",", "eval ", "exec ", "command ", "sh -c ", "$'", "\\x72", "! ", "if ", "; then ", "; fi",
    "#", "<<E\n", "E\n", "<<<", "[",
];

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_global_rejects: 1_000_000, ..Config::default() }
}

#[test]
#[ignore = "slow: just slow"]
fn allowed_shell_text_runs_only_the_parsed_words() {
    let stage = Stage::new();
    assert!(Path::new(SHELLS[1]).exists(), "this test needs bash");
    let tried = Cell::new(0);
    proptest!(config(4_000), |(text in text(MILD, 12))| {
        let patterns = [CommandPattern::new("ls **"), CommandPattern::new("git **")];
        let text = format!("ls {text}");
        if allowed_by(&patterns.iter().collect::<Vec<_>>(), &text).is_err() {
            return Ok(());
        }
        tried.set(tried.get() + 1);
        let script = Script::read(&text);
        let read: Vec<Vec<String>> = script
            .commands
            .iter()
            .map(|command| command.words.iter().filter_map(ShellWord::text).map(str::to_owned).collect())
            .collect();
        for shell in SHELLS {
            let mut expected = read.iter();
            // Commands after `||` may not run: the commands that ran are a subsequence of those
            // read.
            for ran in stage.run(shell, &text) {
                prop_assert!(expected.any(|words| *words == ran), "{shell} {text:?} ran {ran:?} of {read:?}");
            }
        }
    });
    let tried = tried.get();
    assert!(tried > 300, "only {tried} texts were allowed");
}

#[test]
#[ignore = "slow: just slow"]
fn shell_text_running_denied_command_is_never_allowed() {
    let stage = Stage::new();
    let (ran, missed) = (Cell::new(0), RefCell::new(Vec::new()));
    proptest!(config(3_000), |(text in text(WILD, 10))| {
        for shell in SHELLS {
            if stage.run(shell, &text).iter().any(|words| words[0] == "rm") {
                ran.set(ran.get() + 1);
                if !forbids(&CommandPattern::new("rm"), &text) {
                    missed.borrow_mut().push(text.clone());
                    let patterns = [CommandPattern::new("**")];
                    prop_assert!(allowed_by(&[&patterns[0]], &text).is_err(), "{shell} {text:?}");
                }
            }
        }
    });
    let (ran, missed) = (ran.get(), missed.into_inner());
    assert!(ran > 50, "only {ran} texts ran it");
    assert!(missed.is_empty(), "ran and not forbidden: {missed:?}");
}
