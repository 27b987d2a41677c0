//! Concurrent writers, with and without knowledge of each other.

use std::path::PathBuf;
use std::time::Duration;

use crate::workspace::edit::{EditError, LineEnds, PathPrecondition};

use super::bench::{self, Bench};

const EDITS: usize = 40;

/// Edits its own lines of one file, one commit each; prints the number of successful commits.
#[test]
#[ignore = "a process of its own for the tests below"]
fn writer() {
    let Some((outer, name)) = bench::told() else { return };
    let (workspace, edits) = bench::open(&outer);
    let path = workspace.path("shared".as_ref()).unwrap();
    let (mut applied, mut conflicts) = (0, 0);
    for line in 0..EDITS {
        let file = workspace.read_text(&path).unwrap();
        let new = file.text.replace(&format!("{name} {line} old\n"), &format!("{name} {line} new\n"));
        assert_ne!(new, file.text, "nobody else edits this line");
        let mut plan = crate::workspace::edit::EditPlan::new("race");
        let bytes = file.with_text(&new, LineEnds::AsGiven);
        plan.write(&path, bytes, PathPrecondition::Hash(file.content_hash()));
        match edits.commit(&plan) {
            Ok(committed) => applied += usize::from(committed.id.is_some()),
            Err(EditError::Conflict(_)) => conflicts += 1,
            Err(error) => panic!("{error}"),
        }
    }
    println!("\napplied {applied} conflicts {conflicts}");
}

fn lines(writers: &[&str]) -> String {
    let line = |writer: &str, line: usize| format!("{writer} {line} old\n");
    writers.iter().flat_map(|writer| (0..EDITS).map(move |number| line(writer, number))).collect()
}

/// Starts the writers, and returns the numbers of successful and refused commits.
fn race(bench: &Bench, writers: &[&str]) -> (usize, usize) {
    let children: Vec<_> = writers
        .iter()
        .map(|name| bench::child("workspace::edit::tests::race::writer", bench.outer.path(), name))
        .collect();
    children.into_iter().fold((0, 0), |(applied, conflicts), child| {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let said =
            text.lines().find_map(|line| line.strip_prefix("applied ")).unwrap_or_else(|| panic!("{text}"));
        let (one, other) = said.split_once(" conflicts ").unwrap();
        (applied + one.parse::<usize>().unwrap(), conflicts + other.parse::<usize>().unwrap())
    })
}

#[test]
#[ignore = "slow: just slow"]
fn two_processes_editing_one_file_lose_no_commit() {
    let bench = Bench::new();
    let writers = ["one", "two"];
    bench.put("shared", lines(&writers));
    let (applied, conflicts) = race(&bench, &writers);
    let text = String::from_utf8(bench.read("shared")).unwrap();
    let changed = text.lines().filter(|line| line.ends_with(" new")).count();
    println!("{applied} applied, {conflicts} conflicts");
    assert_eq!(changed, applied);
    assert_eq!(applied + conflicts, 2 * EDITS);
    assert!(applied >= EDITS, "one of two always wins");
    assert_eq!(bench.edits.history().unwrap().len(), applied);
    assert_eq!(bench.leftovers(), Vec::<PathBuf>::new());
    // All of it back again, newest first.
    for _ in 0..applied {
        bench.edits.undo_latest(None).unwrap();
    }
    assert_eq!(String::from_utf8(bench.read("shared")).unwrap(), lines(&writers));
}

#[test]
fn outside_writer_racing_our_edits_loses_nothing() {
    let bench = Bench::new();
    bench.put("shared", lines(&["one"]) + "outside 0\n");
    let mut child = bench::child("workspace::edit::tests::race::writer", bench.outer.path(), "one");
    let (file, other) = (bench.root().join("shared"), bench.root().join("theirs"));
    let mut written = 0;
    while child.try_wait().unwrap().is_none() {
        // Saves like an editor: a whole new file in the place of the old one.
        let text = std::fs::read_to_string(&file).unwrap();
        let old = format!("outside {written}\n");
        assert!(text.ends_with(&old), "our edit took `{old}` away: {}", &text[text.len() - 20..]);
        written += 1;
        std::fs::write(&other, text.replace(&old, &format!("outside {written}\n"))).unwrap();
        std::fs::rename(&other, &file).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.ends_with(&format!("outside {written}\n")));
    assert!(written > 10, "{written}");
    assert_eq!(bench.leftovers(), Vec::<PathBuf>::new());
}

#[test]
fn threads_editing_one_file_lose_no_increment() {
    let bench = Bench::in_memory();
    bench.put("n", "0");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    loop {
                        let file = bench.workspace.read_text(&bench.path("n")).unwrap();
                        let next = (file.text.parse::<u32>().unwrap() + 1).to_string();
                        let mut plan = bench.plan();
                        plan.write(&bench.path("n"), next, PathPrecondition::Hash(file.content_hash()));
                        match bench.edits.commit(&plan) {
                            Ok(_) => break,
                            Err(EditError::Conflict(_)) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    assert_eq!(bench.read("n"), b"100");
}
