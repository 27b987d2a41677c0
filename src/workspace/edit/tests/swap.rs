//! A folder that is swapped for a link that leads out, again and again, while files in it are read
//! and written.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::bench::{Bench, snapshot};
use crate::platform::files::{CWD, RenameFlags, renameat_with, symlink};
use crate::workspace::ReadError;
use crate::workspace::edit::{EditError, PathPrecondition};

const OPERATIONS: u64 = 100_000;
/// The interval of writes; all other steps are reads.
const WRITE_EVERY: u64 = 100;

/// Stops the exchanges.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges the folder with the link, each time in one step, until `stop` is set; returns the
/// number of exchanges.
fn swap(root: &Path, stop: &AtomicBool) -> u64 {
    let (folder, link) = (root.join("d"), root.join("link"));
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) || swaps % 2 == 1 {
        renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        swaps += 1;
    }
    swaps
}

#[test]
#[ignore = "slow: just slow"]
fn row_06_folder_swapped_for_symlink_never_leads_out() {
    let bench = Bench::in_memory();
    let outside = bench.outer.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "secret").unwrap();
    std::fs::write(outside.join("gone"), "secret").unwrap();
    bench.put("d/f", "inside");
    symlink(&outside, bench.root().join("link")).unwrap();
    let before = snapshot(&outside);
    let started = std::time::Instant::now();
    let stop = AtomicBool::new(false);
    let (done, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    let swaps = std::thread::scope(|scope| {
        let swapper = scope.spawn(|| swap(&bench.root(), &stop));
        // The exchanges stop even if an operation fails the test.
        let stopping = Stop(&stop);
        for operation in 0..OPERATIONS {
            let went = if operation % WRITE_EVERY == 0 { write(&bench, operation) } else { read(&bench) };
            (if went { &done } else { &refused }).fetch_add(1, Ordering::Relaxed);
        }
        drop(stopping);
        swapper.join().unwrap()
    });
    let (done, refused) = (done.into_inner(), refused.into_inner());
    println!("{swaps} swaps, {done} operations done, {refused} refused, {:?}", started.elapsed());
    assert_eq!(snapshot(&outside), before, "nothing outside was touched");
    assert!(swaps > 100 && done > 100 && refused > 100, "both sides must have had their turns");
    bench.edits.recover().unwrap();
    assert_eq!(bench.leftovers(), Vec::<std::path::PathBuf>::new());
}

fn read(bench: &Bench) -> bool {
    match bench.workspace.read_text(&bench.path("d/f")) {
        Ok(file) => {
            assert!(!file.text.contains("secret"), "read what lies outside");
            true
        }
        Err(error @ ReadError::Io { .. }) => panic!("{error}"),
        Err(_) => false,
    }
}

/// Performs, by turns, a write, creation, deletion, move out and back, folder creation and undo in
/// the folder.
fn write(bench: &Bench, operation: u64) -> bool {
    let mut plan = bench.plan();
    match operation / WRITE_EVERY % 7 {
        0 => plan.write(&bench.path("d/f"), format!("inside {operation}"), PathPrecondition::Any),
        1 => plan.write(&bench.path("d/gone"), "inside", PathPrecondition::Absent),
        2 => plan.delete(&bench.path("d/gone"), PathPrecondition::Any),
        3 => plan.rename(&bench.path("d/f"), &bench.path("moved"), PathPrecondition::Any, true),
        4 => plan.rename(&bench.path("moved"), &bench.path("d/f"), PathPrecondition::Any, true),
        5 => plan.create_dir(&bench.path("d/x/y")),
        _ => plan.write(&bench.path("d/x/y/z"), "inside", PathPrecondition::Any),
    };
    let done = match operation % 3 {
        0 => bench.edits.undo_latest(None).map(drop),
        _ => bench.edits.commit(&plan).map(drop),
    };
    match done {
        Ok(()) => true,
        // The other program's exchange must cause no error of ours or of the system.
        Err(error @ (EditError::Journal { .. } | EditError::Io { .. } | EditError::Unfinished { .. })) => {
            panic!("{error}")
        }
        Err(_) => false,
    }
}
