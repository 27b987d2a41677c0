//! A full disk: the old bytes stay, no temporary file remains, and the error names the cause.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skipped::skipped;
use crate::workspace::Workspace;
use crate::workspace::edit::{EditError, EditOptions, PathPrecondition, TransactionManager};

use super::bench::{Bench, is_root};

/// A small file system of its own; removed when dropped.
struct Tiny(PathBuf);

impl Tiny {
    /// `None` if the system does not let us mount one.
    fn mount(at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mounted = is_root()
            && Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=128k", "tmpfs"])
                .arg(at)
                .status()
                .is_ok_and(|status| status.success());
        if !mounted {
            skipped("mounting a small file system needs root and mount(8)");
        }
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).status().ok();
    }
}

#[test]
fn row_09_disk_full_for_content_commit_fails_and_changes_nothing() {
    let bench = Bench::new();
    let Some(_tiny) = Tiny::mount(&bench.root()) else { return };
    // The root was opened before something was mounted over it.
    let workspace = Workspace::open(&bench.root()).unwrap();
    let edits = TransactionManager::new(workspace, EditOptions::new(bench.outer.path().join("state")));
    bench.put("a", "old a");
    bench.put("d/b", "old b");
    let before = bench.snapshot();
    let mut plan = bench.plan();
    plan.write(&bench.path("a"), "new a", PathPrecondition::Any);
    plan.rename(&bench.path("d"), &bench.path("e"), PathPrecondition::Any, false);
    plan.write(&bench.path("e/b"), vec![b'x'; 200_000], PathPrecondition::Any);
    let error = edits.commit(&plan).unwrap_err();
    assert!(matches!(error, EditError::NoSpace { .. }), "{error}");
    assert_eq!(bench.snapshot(), before);
    let mut plan = bench.plan();
    plan.write(&bench.path("a"), "new a", PathPrecondition::Any);
    edits.commit(&plan).unwrap();
    assert_eq!(bench.read("a"), b"new a");
}

#[test]
fn row_09_disk_full_for_journal_commit_fails_and_changes_nothing() {
    let bench = Bench::new();
    let state = bench.outer.path().join("tiny");
    let Some(_tiny) = Tiny::mount(&state) else { return };
    let edits = TransactionManager::new(bench.workspace.clone(), EditOptions::new(&state));
    bench.put("a", vec![b'x'; 200_000]);
    let before = bench.snapshot();
    let mut plan = bench.plan();
    plan.write(&bench.path("a"), "new", PathPrecondition::Any);
    let error = edits.commit(&plan).unwrap_err();
    assert!(matches!(error, EditError::Journal { .. }), "{error}");
    assert_eq!(bench.snapshot(), before);
    assert!(edits.history().unwrap().is_empty());
    bench.put("a", "small");
    edits.commit(&plan).unwrap();
    edits.undo_latest(None).unwrap();
    assert_eq!(bench.read("a"), b"small");
}
