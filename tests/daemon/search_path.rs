//! A PATH with a folder of the workspace: no program of the project is started under a usual name.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use super::house::{House, said};
use crate::support::write_executable;

/// Names of programs that lsp-tools starts, or that the programs started by it search for.
const NAMES: [&str; 16] = [
    "git",
    "node",
    "npm",
    "python3",
    "python",
    "go",
    "cargo",
    "rustup",
    "java",
    "pylsp",
    "ruff",
    "pyright-langserver",
    "copilot",
    "claude",
    "codex",
    "lsp-tools",
];

/// A house whose project is a repository with a program for each of the names; each leaves a mark.
fn house_with_programs() -> House {
    let house = House::new();
    let project = &house.project;
    fs::create_dir_all(project.path("bin")).expect("a folder");
    fs::create_dir_all(project.beside("marks")).expect("a folder");
    for name in NAMES {
        let mark = project.beside("marks").join(name);
        write_executable(project.path("bin").join(name), format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
    }
    for words in [&["init", "-q"][..], &["add", "."]] {
        let done = Command::new("git").args(words).current_dir(project.root()).status().expect("git");
        assert!(done.success(), "{words:?}");
    }
    project.write("a.py", "x = 1\n");
    house
}

fn marks(house: &House) -> Vec<PathBuf> {
    let entries = fs::read_dir(house.project.beside("marks")).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
#[ignore = "slow: just slow"]
fn program_of_the_workspace_on_path_is_never_started() {
    let house = house_with_programs();
    let project = &house.project;
    symlink(project.path("bin"), project.beside("into")).expect("a link");
    symlink(project.beside("elsewhere"), project.path("out")).expect("a link");
    fs::rename(project.path("bin"), project.beside("elsewhere")).expect("a folder");
    // First the folder of programs outside, which only the project's link selects; then the one
    // inside.
    for inside in [false, true] {
        if inside {
            fs::rename(project.beside("elsewhere"), project.path("bin")).expect("a folder");
        }
        let chosen = if inside {
            vec![project.path("bin"), project.beside("into"), "/proc/self/cwd/bin".into(), "bin".into()]
        } else {
            vec![project.path("out"), "/proc/self/cwd/out".into()]
        };
        for folder in chosen {
            let mut path = OsString::from(&folder);
            path.push(":");
            path.push(env::var_os("PATH").unwrap_or_default());
            for (words, alone) in [
                (&["tools", "call", "changed_files", "{}"][..], true),
                (&["tools", "call", "changed_files", "{}"], false),
                (&["check", "--against", "HEAD"], true),
                (&["doctor"], true),
                (&["doctor"], false),
                (&["init"], true),
                (&["hover", "a.py:1:1"], false),
            ] {
                let mut command = house.command(words);
                command.env("PATH", &path);
                if alone {
                    command.env("LSP_TOOLS_NO_DAEMON", "1");
                }
                let answer = said(command, "", &words.join(" "));
                let started = marks(&house);
                assert!(started.is_empty(), "{} {words:?}: {started:?}\n{answer:?}", folder.display());
            }
        }
    }
}
