//! Refused edits, which leave the disk unchanged.

use crate::platform::files::symlink;

use crate::skipped::skipped;
use crate::workspace::edit::error::ConflictFinding;
use crate::workspace::edit::{
    EditError, EditLimits, EditOptions, EditPlan, PathPrecondition, TransactionManager,
};

use super::bench::{Bench, snapshot};

/// Commits `change`, which must be refused, and returns the error.
fn refused(bench: &Bench, change: impl FnOnce(&mut EditPlan)) -> EditError {
    let before = bench.snapshot();
    let mut plan = bench.plan();
    // An earlier operation of the plan must not happen either.
    plan.write(&bench.path("innocent"), "changed", PathPrecondition::Any);
    change(&mut plan);
    let error = bench.edits.commit(&plan).unwrap_err();
    assert_eq!(bench.snapshot(), before, "{error}");
    error
}

#[test]
fn control_path_edit_in_every_way_is_refused() {
    let bench = Bench::new();
    bench.put("innocent", "x");
    bench.put(".git/config", "[core]\n");
    bench.put(".vscode/settings.json", "{}");
    bench.put("theirs/.git", "gitdir: ../elsewhere");
    for name in ["HEAD", "objects/x", "refs/x", "config"] {
        bench.put(&format!("bare/{name}"), "");
    }
    symlink(".git", bench.root().join("g")).unwrap();
    symlink(".git/config", bench.root().join("c")).unwrap();
    symlink("../.vscode", bench.root().join("theirs/v")).unwrap();
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        "theirs/.git",
        "g/config",
        "c",
        "theirs/v/settings.json",
        ".GIT/config",
        ".mcp.json",
        "sub/.mcp.json",
        ".vscode/tasks.json",
        ".Cursor/MCP.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".lsp-tools/servers.toml",
        "lsp-tools.toml",
        ".envrc",
        ".bashrc",
        "bare/config",
        "bare/hooks/post-checkout",
    ] {
        let wanted = bench.path(path);
        let mut errors = vec![
            refused(&bench, |plan| _ = plan.write(&wanted, "x", PathPrecondition::Any)),
            refused(&bench, |plan| _ = plan.create_dir(&wanted)),
        ];
        // A link to a control path may be renamed, replaced and deleted; its target may not.
        if path != "c" {
            let innocent = bench.path("innocent");
            errors.extend([
                refused(&bench, |plan| _ = plan.rename(&innocent, &wanted, PathPrecondition::Any, true)),
                refused(&bench, |plan| _ = plan.delete(&wanted, PathPrecondition::Any)),
                refused(&bench, |plan| {
                    _ = plan.rename(&wanted, &bench.path("away"), PathPrecondition::Any, false)
                }),
            ]);
        }
        for error in errors {
            assert!(matches!(error, EditError::Control { .. }), "{path}: {error}");
        }
    }
    for change in [
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete_tree(&bench.path("theirs")),
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete_tree(&bench.path(".vscode")),
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete_tree(&bench.path(".git")),
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.rename(&bench.path("theirs"), &bench.path("t"), PathPrecondition::Any, false)
        },
        |bench: &Bench, plan: &mut EditPlan| {
            plan.write(&bench.path("staging/settings.json"), "{}", PathPrecondition::Any);
            plan.rename(&bench.path("staging"), &bench.path("sub/.vscode"), PathPrecondition::Any, false);
        },
    ] {
        let error = refused(&bench, |plan| change(&bench, plan));
        assert!(matches!(error, EditError::Control { .. }), "{error}");
    }
    let error =
        refused(&bench, |plan| _ = plan.write(&bench.path(".git/config"), "x", PathPrecondition::Any));
    assert_eq!(
        error.to_string(),
        "`.git/config` is not edited: git's own files control the programs that git runs; \
         a person can change it in an editor or a shell of their own"
    );
}

#[test]
fn git_repository_assembled_from_parts_is_refused() {
    let parts = [
        &["b/config", "b/HEAD", "b/refs/heads/k", "b/objects/k"][..],
        &["b/objects/k", "b/config", "b/refs/heads/k", "b/head"],
        &["b/config", "b/HEAD", "b/commondir"],
    ];
    for parts in parts {
        let bench = Bench::new();
        bench.put("innocent", "x");
        let error = refused(&bench, |plan| {
            for part in parts {
                plan.write(&bench.path(part), "x", PathPrecondition::Any);
            }
        });
        assert!(matches!(error, EditError::Control { .. }), "{parts:?} at once: {error}");
        let (last, first) = parts.split_last().unwrap();
        for part in first {
            let mut plan = bench.plan();
            plan.write(&bench.path(part), "x", PathPrecondition::Any);
            bench.edits.commit(&plan).unwrap();
        }
        let error = refused(&bench, |plan| _ = plan.write(&bench.path(last), "x", PathPrecondition::Any));
        assert!(error.to_string().contains("would make its folder a git repository"), "{error}");
        // A name that is brought there in another way.
        let error = refused(&bench, |plan| {
            plan.write(&bench.path("made/last"), "x", PathPrecondition::Any);
            let top = last.split('/').take(2).collect::<Vec<_>>().join("/");
            let from = if last.matches('/').count() > 1 { "made" } else { "made/last" };
            plan.rename(&bench.path(from), &bench.path(&top), PathPrecondition::Any, false);
        });
        assert!(matches!(error, EditError::Control { .. }), "{parts:?} by a move: {error}");
    }
}

#[test]
fn edit_journal_inside_workspace_is_not_editable() {
    let bench = Bench::new();
    let inside = bench.root().join("home/state");
    let edits = TransactionManager::new(bench.workspace.clone(), EditOptions::new(&inside));
    let mut plan = bench.plan();
    plan.write(&bench.path("f"), "x", PathPrecondition::Any);
    edits.commit(&plan).unwrap();
    let before = bench.snapshot();
    let edits = TransactionManager::new(bench.workspace.clone(), EditOptions::new(&inside));
    for change in [
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.write(&bench.path("home/state/edits/x"), "x", PathPrecondition::Any)
        },
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete_tree(&bench.path("home")),
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.rename(&bench.path("home"), &bench.path("h"), PathPrecondition::Any, false)
        },
    ] {
        let mut plan = bench.plan();
        change(&bench, &mut plan);
        let error = edits.commit(&plan).unwrap_err();
        assert!(matches!(error, EditError::Control { .. }), "{error}");
        assert_eq!(bench.snapshot(), before);
    }
}

#[test]
fn symlink_out_of_workspace_edit_is_refused() {
    let bench = Bench::new();
    bench.put("innocent", "x");
    let outside = bench.outer.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "theirs").unwrap();
    let root = bench.root();
    symlink("../outside/f", root.join("file")).unwrap();
    symlink(&outside, root.join("folder")).unwrap();
    symlink("../outside/new", root.join("dangling")).unwrap();
    symlink("/proc/self/cwd", root.join("magic")).unwrap();
    symlink("round", root.join("round")).unwrap();
    let before = snapshot(&outside);
    for path in ["file", "folder/f", "folder/new/deep", "dangling", "magic/x"] {
        let error = refused(&bench, |plan| _ = plan.write(&bench.path(path), "x", PathPrecondition::Any));
        assert!(matches!(error, EditError::Outside { .. }), "{path}: {error}");
    }
    for change in [
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete(&bench.path("folder/f"), PathPrecondition::Any),
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete_tree(&bench.path("folder/sub")),
        |bench: &Bench, plan: &mut EditPlan| _ = plan.create_dir(&bench.path("folder/sub")),
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.rename(&bench.path("folder/f"), &bench.path("mine"), PathPrecondition::Any, false)
        },
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.rename(&bench.path("innocent"), &bench.path("folder/mine"), PathPrecondition::Any, false)
        },
    ] {
        let error = refused(&bench, |plan| change(&bench, plan));
        assert!(matches!(error, EditError::Outside { .. }), "{error}");
    }
    let error = refused(&bench, |plan| _ = plan.write(&bench.path("round"), "x", PathPrecondition::Any));
    assert!(matches!(error, EditError::LinkLoop { .. }), "{error}");
    // The links themselves may be deleted, and their targets stay.
    let mut plan = bench.plan();
    plan.delete_tree(&bench.path("folder")).delete(&bench.path("file"), PathPrecondition::Any);
    bench.edits.commit(&plan).unwrap();
    assert_eq!(snapshot(&outside), before);
}

#[test]
fn special_files_and_impossible_moves_are_refused() {
    let bench = Bench::new();
    bench.put("innocent", "x");
    bench.put("f", "x");
    bench.put("d/inner", "x");
    std::fs::hard_link(bench.root().join("f"), bench.root().join("second")).unwrap();
    let fifo = bench.root().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(bench.root().join("socket")).unwrap();
    // A snapshot would wait at the pipe for ever.
    let refused = |change: &dyn Fn(&mut EditPlan)| {
        let mut plan = bench.plan();
        plan.write(&bench.path("innocent"), "changed", PathPrecondition::Any);
        change(&mut plan);
        let error = bench.edits.commit(&plan).unwrap_err();
        assert_eq!(bench.read("innocent"), b"x");
        error
    };
    for path in ["fifo", "socket"] {
        let error = refused(&|plan| _ = plan.write(&bench.path(path), "x", PathPrecondition::Any));
        assert!(matches!(error, EditError::Special { .. }), "{path}: {error}");
        let error = refused(&|plan| _ = plan.delete(&bench.path(path), PathPrecondition::Any));
        assert!(matches!(error, EditError::Special { .. }), "{path}: {error}");
    }
    let error = refused(&|plan| _ = plan.write(&bench.path("f"), "y", PathPrecondition::Any));
    assert!(matches!(error, EditError::HardLinked { names: 2, .. }), "{error}");
    let error = refused(&|plan| _ = plan.write(&bench.path("d"), "y", PathPrecondition::Any));
    assert!(matches!(error, EditError::Directory { .. }), "{error}");
    let error = refused(&|plan| _ = plan.write(&bench.path("f/x"), "y", PathPrecondition::Any));
    assert!(matches!(error, EditError::NotADirectory { .. }), "{error}");
    let error = refused(&|plan| _ = plan.delete(&bench.path("d"), PathPrecondition::Any));
    assert!(matches!(error, EditError::NotEmpty { .. }), "{error}");
    let error = refused(&|plan| _ = plan.delete(&bench.path("missing"), PathPrecondition::Any));
    assert!(matches!(error, EditError::NotFound { .. }), "{error}");
    let error =
        refused(&|plan| _ = plan.rename(&bench.path("f"), &bench.path("d"), PathPrecondition::Any, true));
    assert!(matches!(error, EditError::Exists { .. }), "{error}");
    let error =
        refused(&|plan| _ = plan.rename(&bench.path("d"), &bench.path("d/e"), PathPrecondition::Any, false));
    assert!(matches!(error, EditError::Contradiction { .. }), "{error}");
    let error = refused(&|plan| _ = plan.delete_tree(&bench.path(".")));
    assert!(matches!(error, EditError::Directory { .. }), "{error}");
}

#[test]
fn file_larger_than_limit_edit_is_refused() {
    let bench = Bench::new();
    bench.put("innocent", "x");
    bench.put("large", vec![b'x'; 2000]);
    bench.put("d/large", vec![b'x'; 2000]);
    let limits = EditLimits { file_bytes: 1000, ..EditLimits::default() };
    let options = EditOptions { limits, ..EditOptions::new(bench.outer.path().join("state")) };
    let edits = TransactionManager::new(bench.workspace.clone(), options);
    let before = bench.snapshot();
    for change in [
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.write(&bench.path("new"), vec![b'x'; 1001], PathPrecondition::Any)
        },
        |bench: &Bench, plan: &mut EditPlan| {
            _ = plan.write(&bench.path("large"), "small", PathPrecondition::Any)
        },
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete(&bench.path("large"), PathPrecondition::Any),
        |bench: &Bench, plan: &mut EditPlan| _ = plan.delete_tree(&bench.path("d")),
    ] {
        let mut plan = bench.plan();
        change(&bench, &mut plan);
        let error = edits.commit(&plan).unwrap_err();
        assert!(matches!(error, EditError::TooLarge { .. }), "{error}");
    }
    assert_eq!(bench.snapshot(), before);
    // A rename needs nothing to be kept.
    let mut plan = bench.plan();
    plan.rename(&bench.path("large"), &bench.path("larger"), PathPrecondition::Any, false);
    let id = edits.commit(&plan).unwrap().id.unwrap();
    edits.undo(id, None).unwrap();
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn edit_conflict_names_found_content_and_changes_nothing() {
    let bench = Bench::new();
    for path in ["innocent", "a", "b", "c"] {
        bench.put(path, "old");
    }
    let hash = bench.workspace.read_text(&bench.path("a")).unwrap().content_hash();
    bench.put("b", "theirs");
    std::fs::remove_file(bench.root().join("c")).unwrap();
    let error = refused(&bench, |plan| {
        for path in ["a", "b", "c"] {
            plan.write(&bench.path(path), "new", PathPrecondition::Hash(hash));
        }
        plan.write(&bench.path("a"), "newer", PathPrecondition::Absent);
    });
    let EditError::Conflict(conflicts) = &error else { panic!("{error}") };
    let found: Vec<(String, Option<&str>)> = conflicts
        .iter()
        .map(|conflict| match &conflict.found {
            ConflictFinding::File { text, .. } => (conflict.path.display(), text.as_deref()),
            _ => (conflict.path.display(), None),
        })
        .collect();
    assert_eq!(
        found,
        [("b".to_owned(), Some("theirs")), ("c".to_owned(), None), ("a".to_owned(), Some("new"))]
    );
    assert_eq!(
        error.to_string(),
        "`b` has changed since it was read, `c` is gone, `a` exists already; \
         nothing was changed; read it again and repeat the change"
    );
}

#[test]
fn unwritable_folder_edit_is_denied() {
    if super::bench::is_root() {
        skipped("root may write to any folder; run it as another user");
        return;
    }
    use crate::platform::files::PermissionsExt;
    let bench = Bench::new();
    bench.put("innocent", "x");
    bench.put("d/f", "x");
    std::fs::set_permissions(bench.root().join("d"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let error = refused(&bench, |plan| _ = plan.write(&bench.path("d/f"), "y", PathPrecondition::Any));
    assert!(matches!(error, EditError::Denied { .. }), "{error}");
    std::fs::set_permissions(bench.root().join("d"), std::fs::Permissions::from_mode(0o755)).unwrap();
}
