//! Undo of each kind of change, of groups, of undos, and the conflicts that protect later changes.

use crate::platform::files::{PermissionsExt, symlink};

use crate::workspace::edit::{
    EditError, EditId, EditLimits, EditOptions, FileOperation, PathPrecondition, TransactionManager,
};

use super::bench::{Bench, Snapshot};

/// Files, folders, modes, links and bytes of all kinds.
fn filled() -> Bench {
    let bench = Bench::new();
    bench.put("a.txt", "a\r\nb");
    bench.put("bin", [0, 159, 146, 150, 255]);
    bench.put("run.sh", "#!/bin/sh\n");
    bench.put("d/x", "x");
    bench.put("d/e/y", "\u{feff}y");
    bench.put("d/empty", "");
    std::fs::create_dir(bench.root().join("d/hollow")).unwrap();
    symlink("../a.txt", bench.root().join("d/link")).unwrap();
    for (path, mode) in [("run.sh", 0o751), ("d/x", 0o604), ("d/e", 0o750)] {
        std::fs::set_permissions(bench.root().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    bench
}

/// Does `change`, undoes it, and redoes it: each time the tree is as before.
fn there_and_back(name: &str, change: impl Fn(&Bench, &mut crate::workspace::edit::EditPlan)) -> Snapshot {
    let bench = filled();
    let before = bench.snapshot();
    let mut plan = bench.plan();
    change(&bench, &mut plan);
    let preview = bench.edits.preview(&plan).unwrap();
    assert_eq!(bench.snapshot(), before, "{name}: a preview touches nothing");
    let committed = bench.edits.commit(&plan).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(preview, committed.files, "{name}");
    let after = bench.snapshot();
    assert_ne!(before, after, "{name}");
    let back =
        bench.edits.undo(committed.id.unwrap(), None).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(bench.snapshot(), before, "{name}: undone");
    bench.edits.undo(back.id.unwrap(), None).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(bench.snapshot(), after, "{name}: done again");
    bench.edits.undo_latest(None).unwrap();
    assert_eq!(bench.snapshot(), before, "{name}: undone again");
    after
}

#[test]
fn undo_restores_every_kind_of_change() {
    there_and_back("write", |bench, plan| {
        plan.write(&bench.path("a.txt"), "other", PathPrecondition::Any);
        plan.write(&bench.path("bin"), [255, 0], PathPrecondition::Any);
        plan.write(&bench.path("run.sh"), "", PathPrecondition::Any);
        plan.write(&bench.path("new/deep/f"), "made", PathPrecondition::Absent);
    });
    there_and_back("delete", |bench, plan| {
        for path in ["a.txt", "run.sh", "d/link", "d/hollow"] {
            plan.delete(&bench.path(path), PathPrecondition::Any);
        }
    });
    let after = there_and_back("delete a tree", |bench, plan| {
        plan.delete_tree(&bench.path("d"));
    });
    assert!(after.keys().all(|path| !path.starts_with("d")));
    there_and_back("rename", |bench, plan| {
        plan.rename(&bench.path("a.txt"), &bench.path("into/b.txt"), PathPrecondition::Any, false);
        plan.rename(&bench.path("d"), &bench.path("into/d2"), PathPrecondition::Any, false);
    });
    there_and_back("overwrite", |bench, plan| {
        plan.rename(&bench.path("a.txt"), &bench.path("run.sh"), PathPrecondition::Any, true);
    });
    there_and_back("mkdir", |bench, plan| {
        plan.create_dir(&bench.path("one/two"));
    });
}

#[test]
fn plan_operations_see_effects_of_earlier_ones() {
    let after = there_and_back("rename and edit", |bench, plan| {
        // The edit of a renamed module, as a server writes it: edit under the old name, rename the
        // folder, edit under the new one.
        plan.write(&bench.path("d/x"), "first", PathPrecondition::Any);
        plan.rename(&bench.path("d"), &bench.path("lib"), PathPrecondition::Any, false);
        plan.write(&bench.path("lib/e/y"), "second", PathPrecondition::Any);
        plan.rename(&bench.path("lib/x"), &bench.path("lib/z"), PathPrecondition::Any, false);
        plan.write(&bench.path("d/x"), "a new one in the old place", PathPrecondition::Absent);
    });
    let content = |path: &str| after.get(std::path::Path::new(path)).map(|(_, content)| content.as_slice());
    assert_eq!(content("lib/z"), Some(b"first".as_slice()));
    assert_eq!(content("lib/e/y"), Some(b"second".as_slice()));
    assert_eq!(content("d/x"), Some(b"a new one in the old place".as_slice()));
    assert_eq!(content("lib/x"), None);
    let after = there_and_back("swap", |bench, plan| {
        plan.rename(&bench.path("a.txt"), &bench.path("t"), PathPrecondition::Any, false);
        plan.rename(&bench.path("bin"), &bench.path("a.txt"), PathPrecondition::Any, false);
        plan.rename(&bench.path("t"), &bench.path("bin"), PathPrecondition::Any, false);
    });
    assert_eq!(after[std::path::Path::new("bin")].1, b"a\r\nb");
    let after = there_and_back("made and renamed", |bench, plan| {
        plan.write(&bench.path("draft"), "1", PathPrecondition::Absent);
        plan.write(&bench.path("draft"), "2", PathPrecondition::Any);
        plan.rename(&bench.path("draft"), &bench.path("final"), PathPrecondition::Any, false);
        plan.write(&bench.path("never"), "3", PathPrecondition::Absent)
            .delete(&bench.path("never"), PathPrecondition::Any);
    });
    assert_eq!(after[std::path::Path::new("final")].1, b"2");
    there_and_back("deleted and made again", |bench, plan| {
        plan.delete(&bench.path("run.sh"), PathPrecondition::Any);
        plan.write(&bench.path("run.sh"), "again", PathPrecondition::Absent);
    });
}

#[test]
fn commit_reports_changed_files_and_folders() {
    let bench = filled();
    let mut plan = bench.plan();
    plan.write(&bench.path("a.txt"), "other", PathPrecondition::Any);
    plan.write(&bench.path("sub/n"), "new", PathPrecondition::Absent);
    plan.rename(&bench.path("run.sh"), &bench.path("r2.sh"), PathPrecondition::Any, false);
    plan.delete_tree(&bench.path("d"));
    let committed = bench.edits.commit(&plan).unwrap();
    let told: Vec<(String, &FileOperation, Option<&str>, Option<&str>)> = committed
        .files
        .iter()
        .map(|change| {
            (change.path.display(), &change.operation, change.before.as_deref(), change.after.as_deref())
        })
        .collect();
    let from = FileOperation::Renamed { from: bench.path("run.sh") };
    let sh = Some("#!/bin/sh\n");
    assert_eq!(
        told,
        [
            ("a.txt".to_owned(), &FileOperation::Modified, Some("a\r\nb"), Some("other")),
            ("d/e/y".to_owned(), &FileOperation::Deleted, Some("y"), None),
            ("d/empty".to_owned(), &FileOperation::Deleted, Some(""), None),
            ("d/link".to_owned(), &FileOperation::Deleted, None, None),
            ("d/x".to_owned(), &FileOperation::Deleted, Some("x"), None),
            ("r2.sh".to_owned(), &from, sh, sh),
            ("sub/n".to_owned(), &FileOperation::Created, None, Some("new")),
        ]
    );
    let dirs = |dirs: &[crate::workspace::WorkspacePath]| -> Vec<String> {
        dirs.iter().map(|path| path.display()).collect()
    };
    assert_eq!(dirs(&committed.created_dirs), ["sub"]);
    assert_eq!(dirs(&committed.removed_dirs), ["d", "d/e", "d/hollow"]);
}

#[test]
fn undo_group_reverts_all_its_edits_in_one() {
    let bench = filled();
    bench.write("a.txt", "before the turn").unwrap();
    let before = bench.snapshot();
    for step in 0..6 {
        let mut plan = bench.plan().in_group(Some("turn 1"));
        match step {
            0 => plan.write(&bench.path("a.txt"), "one", PathPrecondition::Any),
            1 => plan.write(&bench.path("a.txt"), "two", PathPrecondition::Any),
            2 => plan.rename(&bench.path("a.txt"), &bench.path("b.txt"), PathPrecondition::Any, false),
            3 => plan.write(&bench.path("a.txt"), "another", PathPrecondition::Absent),
            4 => plan.delete_tree(&bench.path("d")),
            _ => plan.write(&bench.path("d/again"), "made", PathPrecondition::Absent),
        };
        bench.edits.commit(&plan).unwrap();
    }
    // One of them was taken back within the turn already.
    bench.edits.undo_latest(Some("turn 1")).unwrap();
    let committed = bench.edits.undo_group("turn 1", Some("turn 2")).unwrap();
    assert_eq!(bench.snapshot(), before);
    let nothing = bench.edits.undo_group("turn 1", None).unwrap_err();
    assert!(
        matches!(&nothing, EditError::NothingToUndo { group: Some(group) } if group == "turn 1"),
        "{nothing}"
    );
    let history = bench.edits.history().unwrap();
    assert_eq!(history[0].id, committed.id.unwrap());
    assert_eq!(history[0].undoes.len(), 5);
    assert_eq!(history[0].group.as_deref(), Some("turn 2"));
    assert_eq!(
        history.iter().filter(|entry| entry.is_in_effect()).count(),
        3,
        "the first write and two undos"
    );
}

#[test]
fn undo_of_file_changed_since_is_a_conflict() {
    let bench = filled();
    let mut plan = bench.plan();
    plan.write(&bench.path("a.txt"), "ours", PathPrecondition::Any).write(
        &bench.path("n"),
        "new",
        PathPrecondition::Absent,
    );
    plan.delete(&bench.path("run.sh"), PathPrecondition::Any);
    let id = bench.edits.commit(&plan).unwrap().id.unwrap();
    for (path, theirs) in [("a.txt", "theirs"), ("n", "theirs"), ("run.sh", "theirs")] {
        let ours = std::fs::read(bench.root().join(path)).ok();
        bench.put(path, theirs);
        let before = bench.snapshot();
        let error = bench.edits.undo(id, None).unwrap_err();
        let EditError::UndoConflict(conflicts) = &error else { panic!("{path}: {error}") };
        assert_eq!(conflicts[0].path.display(), path);
        assert_eq!(bench.snapshot(), before, "{path}: nothing was changed");
        match ours {
            Some(ours) => bench.put(path, ours),
            None => std::fs::remove_file(bench.root().join(path)).unwrap(),
        }
    }
    bench.edits.undo(id, None).unwrap();
    let by = bench.edits.history().unwrap()[0].id;
    let again = bench.edits.undo(id, None).unwrap_err();
    assert!(matches!(again, EditError::AlreadyUndone { by: found, .. } if found == by), "{again}");
    let unknown: EditId = "e999".parse().unwrap();
    assert_eq!(
        bench.edits.undo(unknown, None).unwrap_err().to_string(),
        "there is no edit e999 in the history of this workspace; `undo` with `list` (at a shell: `undo --list`) lists them"
    );
}

#[test]
fn undo_keeps_created_folder_that_others_use() {
    let bench = Bench::new();
    let mut plan = bench.plan();
    plan.write(&bench.path("made/here/f"), "x", PathPrecondition::Absent);
    let id = bench.edits.commit(&plan).unwrap().id.unwrap();
    bench.put("made/theirs", "y");
    bench.edits.undo(id, None).unwrap();
    let left: Vec<_> = bench.snapshot().into_keys().map(|path| path.display().to_string()).collect();
    assert_eq!(left, ["made", "made/theirs"]);
}

#[test]
fn edit_journal_is_bounded_and_private() {
    let bench = Bench::new();
    let limits = EditLimits { journal_entries: 20, journal_bytes: 40_000, ..EditLimits::default() };
    let state = bench.outer.path().join("bounded");
    let edits =
        TransactionManager::new(bench.workspace.clone(), EditOptions { limits, ..EditOptions::new(&state) });
    for round in 0..64 {
        let mut plan = bench.plan();
        plan.write(&bench.path("f"), format!("{round}").repeat(1000), PathPrecondition::Any);
        edits.commit(&plan).unwrap();
    }
    let history = edits.history().unwrap();
    assert!((2..=20).contains(&history.len()), "{}", history.len());
    assert_eq!(history[0].id.to_string(), "e64");
    edits.undo_latest(None).unwrap();
    assert_eq!(bench.read("f"), "62".repeat(1000).as_bytes());
    for (path, (mode, _)) in super::bench::snapshot(&state) {
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
}
