//! Special files in place of files that we read: pipes, devices, folders, endless files. Each
//! command ends soon, in bounded memory; and a signal ends a hanging one.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::mcp::Mcp;
use crate::support::{Project, count_processes, wait_until};

/// The time limit of a command on a slow machine.
const SOON: Duration = Duration::from_secs(60);
/// A limit above the memory of an answer and below that of reading an endless device.
const KILOBYTES: u64 = 4 << 20;

pub const SETTINGS: [&str; 2] = [".lsp-tools/lsp-tools.toml", ".lsp-tools/servers.toml"];

/// Control files that we, or programs that we start, read.
pub const CONTROL: [&str; 26] = [
    ".gitignore",
    ".ignore",
    "sub/.gitignore",
    "sub/.ignore",
    ".git/info/exclude",
    ".git/HEAD",
    ".git/config",
    ".git/index",
    ".git/packed-refs",
    ".git/commondir",
    ".mcp.json",
    ".github/hooks/hooks.json",
    ".claude/skills/one/SKILL.md",
    ".github/skills/one/SKILL.md",
    ".lsp-tools/skills/one/SKILL.md",
    ".lsp-tools/tools/one.json",
    ".lsp-tools/tools/two.py",
    ".venv/pyvenv.cfg",
    ".pdm-python",
    "pyproject.toml",
    "Cargo.toml",
    "package.json",
    "tsconfig.json",
    "go.work",
    "compile_commands.json",
    "AGENTS.md",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Fifo,
    Zero,
    Random,
    Socket,
    Directory,
    Sparse,
}

impl Kind {
    /// Makes a file of this kind at `path`.
    pub fn put(self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        match self {
            Self::Fifo => {
                rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).expect("a pipe");
            }
            Self::Zero => symlink("/dev/zero", path).expect("a link"),
            Self::Random => symlink("/dev/urandom", path).expect("a link"),
            // The path of a socket must be short, so it is created elsewhere and moved.
            Self::Socket => {
                let short = tempfile::TempDir::with_prefix("s").expect("a folder");
                drop(UnixListener::bind(short.path().join("s")).expect("a socket"));
                fs::rename(short.path().join("s"), path).expect("a socket");
            }
            Self::Directory => fs::create_dir(path).expect("a folder"),
            Self::Sparse => File::create(path).expect("a file").set_len(1 << 40).expect("a size"),
        }
    }
}

fn project(kind: Kind, files: &[&str]) -> Project {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def one\n"), ("sub/b.scr", "one\n")]);
    for file in files {
        kind.put(&project.path(file));
    }
    project
}

/// The output of the program, which must end in time and in bounded memory.
fn run(project: &Project, words: &[&str]) -> Output {
    attempt(project, words).unwrap_or_else(|fault| panic!("{words:?}: {fault}"))
}

/// Like [`run`], but returns faults.
pub fn attempt(project: &Project, words: &[&str]) -> Result<Output, String> {
    let limited = format!("ulimit -d {KILOBYTES}; exec \"$0\" \"$@\"");
    let plain = project.command(None);
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(limited).arg(plain.get_program()).args(words).current_dir(project.root());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    let end = std::time::Instant::now() + SOON;
    while child.try_wait().expect("its status").is_none() {
        if std::time::Instant::now() > end {
            child.kill().expect("its end");
            child.wait().expect("its end");
            return Err("it does not end".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let done = child.wait_with_output().expect("its output");
    let said = String::from_utf8_lossy(&done.stderr);
    match done.status.code() {
        Some(0..=5) if !said.contains("panicked") => Ok(done),
        _ => Err(format!("{:?} {said}", done.status)),
    }
}

/// Makes every control file of this kind; every command must still answer.
fn control_files(kind: Kind) {
    let project = project(kind, &CONTROL);
    for words in [
        &["list", "--recursive"][..],
        &["grep", "one"],
        &["hover", "a.scr:1:one"],
        &["check", "a.scr"],
        &["status"],
        &["doctor"],
        &["tools", "call", "changed_files", "{}"],
        &["trust"],
    ] {
        let done = run(&project, words);
        if words[0] == "grep" {
            let out = String::from_utf8_lossy(&done.stdout);
            assert!(out.contains("a.scr:1") && out.contains("sub/b.scr:1"), "{kind:?}: {out}");
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(said.contains(".gitignore` was not read"), "{kind:?}: {said}");
        }
    }
    let mut client = Mcp::modern(&project, None, json!({}));
    let answer = client.call("grep", json!({"pattern": "one"}));
    assert!(answer.to_string().contains("a.scr"), "{kind:?}: {answer}");
}

/// Settings of this kind are refused by name, at once.
fn settings(kind: Kind) {
    for file in SETTINGS {
        let project = project(kind, &[file]);
        for words in [&["list"][..], &["hover", "a.scr:1:one"], &["mcp", "--no-daemon"]] {
            let done = run(&project, words);
            let said = String::from_utf8_lossy(&done.stderr);
            let name = file.rsplit('/').next().expect("a name");
            assert!(said.contains(name), "{kind:?} {words:?}: {said}");
        }
    }
}

#[test]
fn control_files_that_are_fifos_commands_end_soon() {
    control_files(Kind::Fifo);
    settings(Kind::Fifo);
}

#[test]
#[ignore = "slow: just slow"]
fn control_files_that_are_endless_devices_commands_end_soon() {
    control_files(Kind::Zero);
    settings(Kind::Zero);
    settings(Kind::Random);
    control_files(Kind::Random);
}

#[test]
#[ignore = "slow: just slow"]
fn control_files_that_are_sockets_or_folders_commands_end_soon() {
    control_files(Kind::Socket);
    settings(Kind::Socket);
    control_files(Kind::Directory);
    settings(Kind::Directory);
}

#[test]
fn control_files_that_are_huge_sparse_files_commands_end_soon() {
    control_files(Kind::Sparse);
    settings(Kind::Sparse);
}

#[tokio::test(flavor = "multi_thread")]
async fn ignore_file_that_is_a_fifo_is_noted_and_others_apply() {
    let project = Project::new([
        ("a.txt", "one\n"),
        ("b.log", "one\n"),
        ("sub/c.txt", "one\n"),
        ("sub/d.tmp", "one\n"),
    ]);
    project.write(".gitignore", "*.log\n");
    project.write("rules", "*.tmp\n");
    Kind::Fifo.put(&project.path("sub/.ignore"));
    symlink("../rules", project.path("sub/.gitignore")).expect("a link");
    let workspace = project.open();
    for (tool, arguments, field) in [
        ("grep", json!({"pattern": "one", "semantic": false}), "matches"),
        ("glob", json!({"pattern": "**/*"}), "matches"),
        ("list", json!({"recursive": true}), "items"),
    ] {
        let answer = workspace.ok(tool, arguments).await;
        let found = answer[field].to_string();
        assert!(found.contains("a.txt") && found.contains("c.txt"), "{tool}: {answer}");
        assert!(!found.contains("b.log") && !found.contains("d.tmp"), "{tool}: {answer}");
        let notes = answer["notes"].to_string();
        assert!(notes.contains("`sub/.ignore` was not read") && notes.contains("FIFO"), "{tool}: {notes}");
        assert_eq!(notes.matches("was not read").count(), 1, "{tool}: {notes}");
    }
}

#[test]
fn parent_repository_with_special_files_grep_still_answers() {
    for kind in [Kind::Fifo, Kind::Zero, Kind::Sparse] {
        let project = project(kind, &[]);
        for file in [".gitignore", ".ignore", ".git/info/exclude"] {
            kind.put(&project.beside("code").join(file));
        }
        let done = run(&project, &["grep", "one"]);
        assert!(String::from_utf8_lossy(&done.stdout).contains("a.scr:1"), "{kind:?}");
    }
    // A working tree whose repository is elsewhere, named by a file.
    let project = project(Kind::Fifo, &[]);
    let own = project.beside("logs").join("own");
    project.write(".git", format!("gitdir: {}\n", own.display()));
    Kind::Fifo.put(&own.join("commondir"));
    let done = run(&project, &["grep", "one"]);
    assert!(String::from_utf8_lossy(&done.stdout).contains("a.scr:1"));
}

#[test]
fn command_waiting_on_anything_is_ended_by_signal() {
    let never = json!({"answers": {"textDocument/hover": {"never": true}}});
    for signal in [Signal::TERM, Signal::INT] {
        let project = Project::scripted(&never, "", [("a.scr", "def one\n")]);
        Kind::Fifo.put(&project.path("pipe"));
        for words in [
            // A server that does not answer, and a command with a long timeout.
            &["hover", "a.scr:1:one", "--timeout", "600"][..],
            // A file that a typed command may name; no process ever writes to it.
            &["patch", "pipe"],
        ] {
            let mut child = project
                .command(None)
                .args(words)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program");
            let pid = Pid::from_child(&child);
            let is_under_way = || match words[0] {
                "hover" => project.log().count("textDocument/hover") > 0,
                _ => listens(pid),
            };
            wait_until("it is under way", SOON, is_under_way);
            kill_process(pid, signal).expect("a signal");
            let mut status = None;
            wait_until(&format!("{signal:?} ends {words:?}"), SOON, || {
                status = child.try_wait().expect("its status");
                status.is_some()
            });
            assert_eq!(status.and_then(|status| status.code()), Some(130), "{signal:?} {words:?}");
            wait_until("its servers are gone", SOON, || count_processes(&project.marker()) == 0);
        }
    }
}

/// Returns true if the process handles signals, which begins after its start.
fn listens(pid: Pid) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).into_iter().flatten();
    let is_watch = |thread: fs::DirEntry| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim() == "signals")
    };
    threads.flatten().any(is_watch)
}
