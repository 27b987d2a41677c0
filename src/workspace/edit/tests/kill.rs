//! A process killed in the middle of transactions: every file is old or new at once, and after
//! recovery all of them are.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use crate::workspace::edit::{EditPlan, PathPrecondition};

use super::bench::{self, Bench, Dice, Snapshot};

const FILES: u64 = 4;
const ROUNDS: u64 = 60;

/// The content of every file in generation `generation`; large enough to be written in several
/// steps.
fn content(generation: u64, file: u64) -> String {
    let head = format!("generation {generation} file {file}\n");
    let tail = format!("end of {generation}\n");
    head.clone() + &format!("{generation:08}\n").repeat(400) + &tail
}

fn folder(generation: u64) -> &'static str {
    if generation.is_multiple_of(2) { "even" } else { "odd" }
}

/// The content of the workspace in `generation`: four files in a folder whose name changes, and a
/// tree that comes and goes.
fn expected(generation: u64) -> Vec<(String, String)> {
    let folder = folder(generation);
    let mut files: Vec<_> =
        (0..FILES).map(|file| (format!("{folder}/f{file}"), content(generation, file))).collect();
    files.push((format!("tree-{folder}/deep/leaf"), content(generation, 99)));
    files.sort();
    files
}

fn next(
    bench: &(crate::workspace::Workspace, crate::workspace::edit::TransactionManager),
    generation: u64,
) -> EditPlan {
    let path = |path: String| bench.0.path(path.as_ref()).unwrap();
    let (old, new) = (folder(generation), folder(generation + 1));
    let mut plan = EditPlan::new("next");
    for file in 0..FILES {
        let hash = crate::workspace::edit::ContentHash::compute(content(generation, file).as_bytes());
        plan.write(
            &path(format!("{old}/f{file}")),
            content(generation + 1, file),
            PathPrecondition::Hash(hash),
        );
    }
    plan.rename(&path(old.to_owned()), &path(new.to_owned()), PathPrecondition::Any, false);
    plan.delete_tree(&path(format!("tree-{old}")));
    plan.write(&path(format!("tree-{new}/deep/leaf")), content(generation + 1, 99), PathPrecondition::Absent);
    plan
}

fn generation_of(snapshot: &Snapshot) -> Option<u64> {
    let (_, first) = snapshot.get(Path::new("even/f0")).or_else(|| snapshot.get(Path::new("odd/f0")))?;
    String::from_utf8_lossy(first).split(' ').nth(1)?.parse().ok()
}

fn files(snapshot: &Snapshot) -> Vec<(String, String)> {
    let text = |(path, (mode, bytes)): (&std::path::PathBuf, &(u32, Vec<u8>))| {
        let is_dir = mode & 0o170_000 == 0o040_000;
        (!is_dir).then(|| (path.display().to_string(), String::from_utf8_lossy(bytes).into_owned()))
    };
    snapshot.iter().filter_map(text).collect()
}

/// Goes from generation to generation, up to the given one or until it is killed.
#[test]
#[ignore = "a process of its own for the test below"]
fn generations() {
    let Some((outer, word)) = bench::told() else { return };
    let opened = bench::open(&outer);
    let (start, end) = word.split_once(' ').unwrap();
    for generation in start.parse().unwrap()..end.parse::<u64>().unwrap() {
        opened.1.commit(&next(&opened, generation)).unwrap();
        println!("reached {}", generation + 1);
    }
}

#[test]
#[ignore = "slow: just slow"]
fn row_09_killed_mid_transaction_files_are_whole_and_recovery_is_atomic() {
    let bench = Bench::new();
    for (path, text) in expected(0) {
        bench.put(&path, text);
    }
    let mut dice = Dice::new();
    let (mut generation, mut interrupted, mut taken_back) = (0, 0, 0);
    for round in 0..ROUNDS {
        let (reached, pause) = run_and_kill(&bench, generation, &mut dice);
        let context = format!("round {round}, killed {pause:?} after generation {reached}");
        for (path, (_, bytes)) in bench.snapshot().iter().filter(|(path, _)| !bench::is_temporary(path)) {
            let text = String::from_utf8_lossy(bytes);
            assert!(bytes.is_empty() || is_whole(&text), "{context}: {} is torn", path.display());
        }
        let recovered = bench.edits.recover().unwrap_or_else(|error| panic!("{context}: {error}"));
        let snapshot = bench.snapshot();
        let now = generation_of(&snapshot).unwrap_or_else(|| panic!("{context}: {:?}", snapshot.keys()));
        assert!(now == reached || now == reached + 1, "{context}: now {now}");
        assert_eq!(files(&snapshot), expected(now), "{context}");
        assert_eq!(bench.leftovers(), Vec::<std::path::PathBuf>::new(), "{context}");
        assert!(
            recovered.iter().all(|recovered| recovered.left_alone.is_empty()),
            "{context}: {recovered:?}"
        );
        interrupted += recovered.len();
        taken_back += recovered.iter().filter(|recovered| !recovered.finished).count();
        assert!(bench.edits.recover().unwrap().is_empty(), "{context}: it is in order now");
        generation = now;
    }
    println!(
        "{generation} generations, {interrupted} interrupted transactions, {taken_back} of them taken back"
    );
    assert!(generation > ROUNDS / 2 && taken_back > 0, "the kills must meet transactions");
    // The history that many processes wrote still leads back.
    bench.edits.undo_latest(None).unwrap();
    assert_eq!(files(&bench.snapshot()), expected(generation - 1));
}

fn is_whole(text: &str) -> bool {
    let mut words = text.split([' ', '\n']);
    let (Some("generation"), Some(generation), Some("file"), Some(file)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    text == content(generation.parse().unwrap(), file.parse().unwrap())
}

/// Starts a process at `generation` and kills it at some moment after its first commit. Returns the
/// last generation that it reported, and the moment.
fn run_and_kill(bench: &Bench, generation: u64, dice: &mut Dice) -> (u64, Duration) {
    let mut child = bench::child(
        "workspace::edit::tests::kill::generations",
        bench.outer.path(),
        &format!("{generation} {}", u64::MAX),
    );
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (said, hear) = mpsc::channel();
    let listener = std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Some(reached) = line.strip_prefix("reached ") {
                said.send(reached.parse::<u64>().unwrap()).ok();
            }
        }
    });
    let first = hear.recv_timeout(Duration::from_secs(30)).expect("the child commits nothing");
    let pause = Duration::from_micros(dice.below(30_000));
    std::thread::sleep(pause);
    child.kill().unwrap();
    child.wait().unwrap();
    listener.join().unwrap();
    (hear.try_iter().last().unwrap_or(first), pause)
}

/// The system calls that the sweep lets fail: those that change or sync names and contents.
const CALLS: [&str; 8] =
    ["renameat2", "rename", "fsync", "fdatasync", "unlinkat", "mkdirat", "write", "fchmod"];
const FAULTS: [&str; 3] = ["signal=KILL", "error=EIO", "error=ENOSPC"];

/// Every fault at every call of two transactions, one after the other. Some minutes; needs strace.
#[test]
#[ignore = "run by hand: cargo test workspace::edit::tests::kill::sweep -- --ignored --nocapture"]
fn syscall_faults_in_transaction_never_tear_files() {
    for call in CALLS {
        for fault in FAULTS {
            let mut met = 0;
            while met < 200 && meets_fault(call, fault, met + 1) {
                met += 1;
            }
            println!("{call} {fault}: {met}");
            assert!(met > 0 || call == "fchmod", "{call} is never called");
        }
    }
}

/// Returns true if two transactions reach call number `number`, at which the fault strikes. Checks
/// that all is in order afterwards.
fn meets_fault(call: &str, fault: &str, number: u64) -> bool {
    let bench = Bench::in_memory();
    for (path, text) in expected(0) {
        bench.put(&path, text);
    }
    let log = bench.outer.path().join("log");
    let status = std::process::Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={call}"), "-e"])
        .arg(format!("inject={call}:{fault}:when={number}"))
        .arg("-o")
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "workspace::edit::tests::kill::generations",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("EDIT_PATH_OUTER", bench.outer.path())
        .env("EDIT_PATH_WORD", "0 2")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("strace is needed");
    let context = format!("{call} {fault} at {number}, {status}");
    for (path, (_, bytes)) in bench.snapshot().iter().filter(|(path, _)| !bench::is_temporary(path)) {
        let text = String::from_utf8_lossy(bytes);
        assert!(bytes.is_empty() || is_whole(&text), "{context}: {} is torn", path.display());
    }
    bench.edits.recover().unwrap_or_else(|error| panic!("{context}: {error}"));
    let snapshot = bench.snapshot();
    let now = generation_of(&snapshot).unwrap_or_else(|| panic!("{context}: {:?}", snapshot.keys()));
    assert_eq!(files(&snapshot), expected(now), "{context}");
    assert_eq!(bench.leftovers(), Vec::<std::path::PathBuf>::new(), "{context}");
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.contains("INJECTED") || log.contains("killed by SIGKILL")
}
