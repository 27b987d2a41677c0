//! Directories with all kinds of entries.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::platform::OsStrExt;
use crate::platform::files::{CWD, Mode, mkfifoat, symlink};

fn query(under: WorkspacePath) -> ListQuery {
    ListQuery {
        under,
        recursive: false,
        max: 100,
        deadline: WorkDeadline::new(Instant::now() + Duration::from_secs(60)),
    }
}

/// A workspace with a file, a directory, links of all kinds, a pipe and a name that is no UTF-8.
fn workspace() -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("w");
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::write(dir.path().join("secret"), "").unwrap();
    fs::write(root.join("a.rs"), "12345").unwrap();
    fs::write(root.join(".hidden"), "").unwrap();
    fs::write(root.join("src/b.rs"), "").unwrap();
    fs::write(root.join("src/deep/c.rs"), "").unwrap();
    fs::write(root.join(OsStr::from_bytes(b"n\xff\\")), "").unwrap();
    symlink("src/b.rs", root.join("to-file")).unwrap();
    symlink("src", root.join("to-dir")).unwrap();
    symlink("../secret", root.join("to-outside")).unwrap();
    symlink("gone", root.join("to-nothing")).unwrap();
    symlink("to-itself", root.join("to-itself")).unwrap();
    mkfifoat(CWD, root.join("pipe"), Mode::RWXU).unwrap();
    let workspace = Workspace::open(&root).unwrap();
    (dir, workspace)
}

fn shown(listing: &DirectoryListing) -> Vec<String> {
    let kind = |entry: &DirectoryEntry| match &entry.kind {
        EntryKind::File => format!("{} bytes", entry.size),
        EntryKind::Directory => "directory".to_owned(),
        EntryKind::Symlink(LinkTarget::Inside { path, is_dir }) => {
            format!("-> {}{}", path.display(), if *is_dir { "/" } else { "" })
        }
        EntryKind::Symlink(LinkTarget::Outside) => "-> outside".to_owned(),
        EntryKind::Symlink(LinkTarget::Nothing) => "-> nothing".to_owned(),
        EntryKind::Special(what) => (*what).to_owned(),
    };
    listing.entries.iter().map(|entry| format!("{}: {}", entry.path.display(), kind(entry))).collect()
}

#[test]
fn list_shows_the_kind_of_every_directory_entry() {
    let (_keep, workspace) = workspace();
    let listing = workspace.list(&query(WorkspacePath::root())).unwrap();
    let expected = [
        ".hidden: 0 bytes",
        "a.rs: 5 bytes",
        "n\\xff\\\\: 0 bytes",
        "pipe: a named pipe (FIFO)",
        "src: directory",
        "to-dir: -> src/",
        "to-file: -> src/b.rs",
        "to-itself: -> nothing",
        "to-nothing: -> nothing",
        "to-outside: -> outside",
    ];
    let shown = shown(&listing);
    let without_escapes: Vec<&str> = shown.iter().map(String::as_str).collect();
    assert_eq!(without_escapes, expected);
    assert!(!listing.has_more && !listing.timed_out);
    assert!(listing.entries[2].path.is_escaped());
}

#[test]
fn list_of_directory_symlink_works_inside_workspace_only() {
    let (_keep, workspace) = workspace();
    let list = |path: &str| workspace.list(&query(workspace.path(Path::new(path)).unwrap()));
    assert_eq!(shown(&list("to-dir").unwrap()), ["to-dir/b.rs: 0 bytes", "to-dir/deep: directory"]);
    assert!(matches!(list("to-outside"), Err(ReadError::Outside { .. })));
    assert!(matches!(list("gone"), Err(ReadError::NotFound { .. })));
    assert!(matches!(list("a.rs"), Err(ReadError::NotADirectory { .. })));
    assert!(matches!(list("pipe"), Err(ReadError::NotADirectory { .. })));
}

#[test]
fn recursive_list_obeys_gitignore_and_includes_directories() {
    let (_keep, workspace) = workspace();
    let below = |path: &str| {
        let query = ListQuery { recursive: true, ..query(workspace.path(Path::new(path)).unwrap()) };
        workspace.list(&query).unwrap().entries.iter().map(|entry| entry.path.display()).collect::<Vec<_>>()
    };
    assert_eq!(below("src"), ["src/b.rs", "src/deep", "src/deep/c.rs"]);
    let all = below("");
    assert!(all.contains(&"src/deep/c.rs".to_owned()) && all.contains(&"to-dir".to_owned()));
    assert!(!all.iter().any(|path| path.starts_with(".hidden") || path.starts_with("to-dir/")), "{all:?}");
}

#[test]
fn list_over_limit_returns_the_first_entries() {
    let (_keep, workspace) = workspace();
    let all = workspace.list(&query(WorkspacePath::root())).unwrap();
    for recursive in [false, true] {
        let some = ListQuery { max: 3, recursive, ..query(WorkspacePath::root()) };
        let some = workspace.list(&some).unwrap();
        assert!(some.has_more);
        assert_eq!(some.entries.len(), 3);
        if !recursive {
            assert_eq!(some.entries, all.entries[..3]);
        }
    }
    let late = ListQuery { deadline: WorkDeadline::new(Instant::now()), ..query(WorkspacePath::root()) };
    assert!(workspace.list(&late).unwrap().timed_out);
}
