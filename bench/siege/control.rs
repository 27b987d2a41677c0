//! Control files that alternate between a file, a pipe, an endless device and a folder while
//! commands read them.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::chaos::Dice;
use crate::report::Row;
use crate::special_files::{CONTROL, Kind, SETTINGS, attempt};
use crate::support::Project;

const KINDS: [Kind; 6] = [Kind::Fifo, Kind::Zero, Kind::Random, Kind::Socket, Kind::Directory, Kind::Sparse];
const COMMANDS: [&[&str]; 6] = [
    &["list", "--recursive"],
    &["grep", "one"],
    &["hover", "a.scr:1:one"],
    &["check", "a.scr"],
    &["tools", "call", "changed_files", "{}"],
    &["trust"],
];
/// The number of concurrent commands.
const WORKERS: u64 = 2;

pub fn run(time: Duration) -> Vec<Row> {
    let project = Project::scripted(&json!({}), "", [("a.scr", "def one\n"), ("sub/b.scr", "one\n")]);
    let (exchanges, commands, faults) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (project, exchanges, commands, faults, over) = (&project, &exchanges, &commands, &faults, &over);
        scope.spawn(move || exchange(project, exchanges, over));
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| {
                scope.spawn(move || {
                    let (mut dice, end) = (Dice(7 + number), Instant::now() + time);
                    while Instant::now() < end {
                        let words = COMMANDS[dice.below(COMMANDS.len())];
                        if let Err(fault) = attempt(project, words) {
                            eprintln!("{words:?}: {fault}");
                            faults.fetch_add(1, Ordering::Relaxed);
                        }
                        commands.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().expect("a worker");
        }
        over.store(true, Ordering::Relaxed);
    });
    let [exchanges, commands, faults] = [exchanges, commands, faults].map(AtomicUsize::into_inner);
    let tried = format!(
        "{commands} commands under {exchanges} exchanges of {} files",
        CONTROL.len() + SETTINGS.len()
    );
    vec![Row::new(
        "control",
        tried,
        commands.min(exchanges),
        [("hangs, excessive memory and crashes", faults)],
    )]
}

/// Replaces one control file after the other by another kind of file.
fn exchange(project: &Project, exchanges: &AtomicUsize, over: &AtomicBool) {
    let mut dice = Dice(99);
    let files: Vec<&str> = CONTROL.into_iter().chain(SETTINGS).collect();
    while !over.load(Ordering::Relaxed) {
        let path = project.path(files[dice.below(files.len())]);
        remove(&path);
        match dice.below(KINDS.len() + 1) {
            // An empty file, and before it a moment without any.
            0 => fs::write(&path, "").expect("a file"),
            kind => KINDS[kind - 1].put(&path),
        }
        exchanges.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn remove(path: &Path) {
    let gone = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => fs::create_dir_all(path.parent().expect("a folder")),
    };
    gone.expect("an empty place");
}
