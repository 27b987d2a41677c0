//! Preservation of everything but the edited bytes.

use std::sync::Arc;

use crate::platform::OsStrExt;
use crate::platform::files::{MetadataExt, PermissionsExt, XattrFlags, chown, getxattr, setxattr, symlink};

use crate::workspace::edit::{ChangedEntryKind, FileOperation, LineEnds, PathPrecondition};
use crate::workspace::{ChangeFeed, ChangeKind, SourceNames};

use super::bench::{Bench, is_root};

#[derive(Debug)]
struct NoSources;

impl SourceNames for NoSources {
    fn has(&self, _: &str) -> bool {
        false
    }
}

#[test]
fn edit_keeps_bytes_outside_the_replaced_span() {
    for content in ["a5\r\nb\r\n", "\u{feff}a5\r\nb\nc", "a5\nno end", "\u{feff}5\r\r\nx\r", "é5\u{2028}\n"]
    {
        let bench = Bench::new();
        bench.put("f", content);
        let file = bench.workspace.read_text(&bench.path("f")).unwrap();
        let mut plan = bench.plan();
        let new = file.with_text(&file.text.replace('5', "six"), LineEnds::AsGiven);
        plan.write(&bench.path("f"), new, PathPrecondition::Hash(file.content_hash()));
        let committed = bench.edits.commit(&plan).unwrap();
        assert_eq!(bench.read("f"), content.replace('5', "six").as_bytes());
        let [change] = committed.files.as_slice() else { panic!("{committed:?}") };
        assert_eq!(change.operation, FileOperation::Modified);
        assert_eq!(change.before.as_deref(), Some(file.text.as_str()));
        assert_eq!(change.before_hash, Some(file.content_hash()));
        assert_eq!(
            change.after_hash,
            Some(bench.workspace.read_text(&bench.path("f")).unwrap().content_hash())
        );
        assert_eq!(change.after.as_deref(), Some(file.text.replace('5', "six").as_str()));
    }
}

#[test]
fn edit_keeps_mode_xattrs_and_owner() {
    let bench = Bench::new();
    for mode in [0o640, 0o750, 0o600, 0o4755] {
        bench.put("f", "old");
        let path = bench.root().join("f");
        if is_root() {
            chown(&path, Some(12345), Some(54321)).unwrap();
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        setxattr(&path, "user.k", b"v\0w", XattrFlags::empty()).unwrap();
        bench.write("f", &format!("new {mode}")).unwrap();
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!(metadata.mode() & 0o7777, mode);
        if is_root() {
            assert_eq!((metadata.uid(), metadata.gid()), (12345, 54321));
        }
        let mut value = [0; 16];
        let length = getxattr(&path, "user.k", &mut value).unwrap();
        assert_eq!(&value[..length], b"v\0w");
    }
    assert_eq!(bench.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn write_sets_executable_bit_only_when_asked() {
    let bench = Bench::new();
    let mode = |path: &str| std::fs::metadata(bench.root().join(path)).unwrap().mode() & 0o777;
    let mut plan = bench.plan();
    plan.write(&bench.path("new"), "x", PathPrecondition::Absent);
    plan.write_with_mode(&bench.path("script"), "x", PathPrecondition::Absent, Some(true));
    bench.edits.commit(&plan).unwrap();
    bench.put("plain", "");
    assert_eq!(mode("new"), mode("plain"), "what the umask leaves");
    assert_eq!(mode("script") & 0o100, 0o100);
    // The mode alone is a change as well.
    let mut plan = bench.plan();
    plan.write_with_mode(&bench.path("new"), "x", PathPrecondition::Any, Some(true));
    let committed = bench.edits.commit(&plan).unwrap();
    assert_eq!(committed.files.len(), 1);
    assert_eq!(mode("new") & 0o500, 0o500);
    bench.edits.undo(committed.id.unwrap(), None).unwrap();
    assert_eq!(mode("new"), mode("plain"));
}

#[test]
fn write_through_symlink_edits_target_and_keeps_link() {
    let bench = Bench::new();
    bench.put("real/f", "old");
    symlink("real/f", bench.root().join("relative")).unwrap();
    symlink(bench.root().join("real/f"), bench.root().join("absolute")).unwrap();
    symlink("real", bench.root().join("folder")).unwrap();
    symlink("../folder/../real/f", bench.root().join("real/winding")).unwrap();
    symlink("real/made", bench.root().join("dangling")).unwrap();
    for (path, target) in [
        ("relative", "real/f"),
        ("absolute", "real/f"),
        ("folder/f", "real/f"),
        ("real/winding", "real/f"),
        ("dangling", "real/made"),
    ] {
        let mut plan = bench.plan();
        plan.write(&bench.path(path), format!("through {path}"), PathPrecondition::Any);
        let committed = bench.edits.commit(&plan).unwrap();
        assert_eq!(committed.files[0].path.display(), target);
        assert_eq!(bench.read(target), format!("through {path}").as_bytes());
    }
    for link in ["relative", "absolute", "folder", "real/winding", "dangling"] {
        assert!(std::fs::symlink_metadata(bench.root().join(link)).unwrap().is_symlink(), "{link}");
    }
    // Deleting and renaming are about the link itself.
    let mut plan = bench.plan();
    plan.delete(&bench.path("absolute"), PathPrecondition::Any);
    plan.rename(&bench.path("relative"), &bench.path("other"), PathPrecondition::Any, false);
    let committed = bench.edits.commit(&plan).unwrap();
    assert!(committed.files.iter().all(|change| change.kind == ChangedEntryKind::Link), "{committed:?}");
    assert!(bench.root().join("real/f").exists() && !bench.root().join("absolute").exists());
    bench.edits.undo(committed.id.unwrap(), None).unwrap();
    assert_eq!(std::fs::read_link(bench.root().join("absolute")).unwrap(), bench.root().join("real/f"));
    assert_eq!(std::fs::read_link(bench.root().join("relative")).unwrap().as_os_str().as_bytes(), b"real/f");
}

#[test]
fn write_of_identical_content_does_not_touch_file() {
    let bench = Bench::new();
    bench.put("f", "same");
    let before = std::fs::metadata(bench.root().join("f")).unwrap();
    let mut plan = bench.plan();
    plan.write(&bench.path("f"), "same", PathPrecondition::Any)
        .create_dir(&bench.path(".").join("d").unwrap());
    plan.rename(&bench.path("f"), &bench.path("f"), PathPrecondition::Any, false);
    let committed = bench.edits.commit(&plan).unwrap();
    assert_eq!(committed.files, []);
    let after = std::fs::metadata(bench.root().join("f")).unwrap();
    assert_eq!((before.ino(), before.ctime_nsec()), (after.ino(), after.ctime_nsec()));
    let mut plan = bench.plan();
    plan.write(&bench.path("f"), "same", PathPrecondition::Any);
    assert_eq!(bench.edits.commit(&plan).unwrap().id, None);
}

#[test]
fn change_feed_reports_edited_files_and_no_temporaries() {
    let bench = Bench::new();
    bench.put("changed", "old");
    bench.put("gone", "old");
    let feed = ChangeFeed::start(&bench.workspace, Arc::new(NoSources));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !feed.is_ready() {
        assert!(std::time::Instant::now() < deadline, "the feed does not start");
        std::thread::yield_now();
    }
    feed.drain();
    let mut plan = bench.plan();
    plan.write(&bench.path("changed"), "new", PathPrecondition::Any);
    plan.write(&bench.path("made"), "new", PathPrecondition::Absent);
    plan.delete(&bench.path("gone"), PathPrecondition::Any);
    bench.edits.commit(&plan).unwrap();
    let changes: Vec<_> =
        feed.drain().changes.into_iter().map(|(path, kind)| (path.display(), kind)).collect();
    let expected = [
        ("changed".to_owned(), ChangeKind::Changed),
        ("gone".to_owned(), ChangeKind::Deleted),
        ("made".to_owned(), ChangeKind::Created),
    ];
    assert_eq!(changes, expected);
}
