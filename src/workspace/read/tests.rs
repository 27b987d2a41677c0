//! Reading, from every kind of file that a workspace can hold.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::*;
use crate::platform::OsStrExt;
use crate::platform::files::{CWD, Mode, PermissionsExt, makedev, mkfifoat, mknodat, symlink};

fn workspace() -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("w")).unwrap();
    let workspace = Workspace::open(&dir.path().join("w")).unwrap();
    (dir, workspace)
}

fn read(workspace: &Workspace, path: &str) -> Result<TextFile, ReadError> {
    workspace.read_text(&workspace.path(Path::new(path)).unwrap())
}

/// Returns the error of reading `path`, which must come at once, and be the same as that of
/// stamping it.
fn refused(workspace: &Workspace, path: &str) -> String {
    let began = Instant::now();
    let error = read(workspace, path).unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(20), "{path}: {:?}", began.elapsed());
    let stamp = workspace.stamp(&workspace.path(Path::new(path)).unwrap()).unwrap_err().to_string();
    assert_eq!(error, stamp);
    error
}

#[test]
fn read_text_returns_content_bom_and_stamp() {
    let (_keep, workspace) = workspace();
    for (name, bytes, text, bom) in [
        ("empty", &b""[..], "", false),
        ("crlf", b"a\r\nb\nc\rd", "a\r\nb\nc\rd", false),
        ("bom", b"\xef\xbb\xbfa\n", "a\n", true),
        ("astral", "x = '😀e\u{301}'".as_bytes(), "x = '😀e\u{301}'", false),
    ] {
        fs::write(workspace.root().join(name), bytes).unwrap();
        let file = read(&workspace, name).unwrap();
        assert_eq!((file.text.as_str(), file.bom), (text, bom), "{name}");
        assert_eq!(file.stamp.size, bytes.len() as u64);
        assert_eq!(file.stamp, workspace.stamp(&workspace.path(Path::new(name)).unwrap()).unwrap());
    }
}

#[test]
fn file_stamp_differs_after_every_change() {
    let (_keep, workspace) = workspace();
    let path = workspace.path(Path::new("a")).unwrap();
    let file = workspace.absolute(&path);
    fs::write(&file, "one").unwrap();
    let old = fs::metadata(&file).unwrap();
    let first = workspace.stamp(&path).unwrap();
    std::thread::sleep(MAX_TIMESTAMP_GRANULARITY);
    assert!(first.is_settled(SystemTime::now() + MAX_TIMESTAMP_GRANULARITY));
    fs::write(&file, "two").unwrap();
    let second = workspace.stamp(&path).unwrap();
    // The moment of the change itself: the present one may be later by any time on a busy machine.
    assert!(!second.is_settled(fs::metadata(&file).unwrap().modified().unwrap()));
    assert_ne!(first, second);
    fs::File::options().write(true).open(&file).unwrap().set_modified(old.modified().unwrap()).unwrap();
    let third = workspace.stamp(&path).unwrap();
    assert_eq!(third.mtime_ns, first.mtime_ns);
    assert_ne!(third, first, "its time was set back");
    fs::write(workspace.root().join("b"), "two").unwrap();
    fs::rename(workspace.root().join("b"), &file).unwrap();
    assert_ne!(workspace.stamp(&path).unwrap().inode, third.inode);
}

#[test]
fn read_of_non_regular_file_or_outside_link_is_refused() {
    let (keep, workspace) = workspace();
    let root = workspace.root();
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("plain"), "").unwrap();
    fs::write(keep.path().join("secret"), "").unwrap();
    fs::create_dir(keep.path().join("w-evil")).unwrap();
    fs::write(keep.path().join("w-evil/a"), "").unwrap();
    mkfifoat(CWD, root.join("fifo"), Mode::RWXU).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    symlink("fifo", root.join("to-fifo")).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    symlink("../secret", root.join("l")).unwrap();
    symlink("../w-evil", root.join("ld")).unwrap();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    fs::write(root.join(std::ffi::OsStr::from_bytes(b"caf\xe9\n")), "text").unwrap();
    let socket = if cfg!(linux_kernel) { "a socket" } else { "a socket or a device without a driver" };
    let out = "leads out of the workspace through a symbolic link; only what lies inside can be read";
    for (path, expected) in [
        ("d", "`d` is a directory; give a file in it".to_owned()),
        (".", "`.` is a directory; give a file in it".to_owned()),
        ("fifo", "`fifo` is a named pipe (FIFO), not a regular file, and is never opened".to_owned()),
        ("to-fifo", "`to-fifo` is a named pipe (FIFO), not a regular file, and is never opened".to_owned()),
        ("socket", format!("`socket` is {socket}, not a regular file, and is never opened")),
        ("zero", format!("`zero` {out}")),
        ("l", format!("`l` {out}")),
        ("ld/a", format!("`ld/a` {out}")),
        (
            "a",
            "`a` cannot be followed: its symbolic links form a loop; remove or correct one of them"
                .to_owned(),
        ),
        ("dangling", "`dangling` does not exist".to_owned()),
        ("plain/x", "`plain/x` does not exist".to_owned()),
        ("no\u{1b}[31m", "`no\\u{1b}[31m` does not exist".to_owned()),
    ] {
        assert_eq!(refused(&workspace, path), expected);
    }
    let odd = WorkspacePath::new(std::ffi::OsStr::from_bytes(b"caf\xe9\n").into());
    assert_eq!(workspace.read_text(&odd).unwrap().text, "text");
    let long = workspace.read_text(&WorkspacePath::new("n".repeat(300).into())).unwrap_err().to_string();
    assert!(long.contains("is too long for the system"), "{long}");
}

#[test]
fn read_of_device_inside_workspace_is_refused() {
    let (_keep, workspace) = workspace();
    let made =
        mknodat(CWD, workspace.root().join("null"), FileType::CharacterDevice, Mode::RWXU, makedev(1, 3));
    // Only the system's administrator may make one.
    if made.is_ok() {
        assert_eq!(
            refused(&workspace, "null"),
            "`null` is a device, not a regular file, and is never opened"
        );
    }
}

#[test]
fn read_of_file_over_size_limit_is_refused_without_reading() {
    let (_keep, workspace) = workspace();
    fs::File::create(workspace.root().join("huge")).unwrap().set_len(200_000_000).unwrap();
    let error = read(&workspace, "huge").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`huge` has 190.7 MiB, more than the limit of 64.0 MiB; raise the limit or search in it instead"
    );
    // Reading up to the limit would take minutes.
    fs::File::create(workspace.root().join("vast")).unwrap().set_len(400_000_000_000).unwrap();
    let began = Instant::now();
    let vast = workspace.read_text_up_to(&workspace.path(Path::new("vast")).unwrap(), 300_000_000_000);
    assert!(matches!(vast, Err(ReadError::TooLarge { size: 400_000_000_000, .. })));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let path = workspace.path(Path::new("small")).unwrap();
    fs::write(workspace.root().join("small"), "12345").unwrap();
    assert!(workspace.read_text_up_to(&path, 5).is_ok());
    assert!(matches!(
        workspace.read_text_up_to(&path, 4),
        Err(ReadError::TooLarge { size: 5, limit: 4, .. })
    ));
}

#[test]
fn read_of_file_without_permission_is_denied() {
    let (_keep, workspace) = workspace();
    let file = workspace.root().join("locked");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    // The system's administrator may read it all the same.
    match read(&workspace, "locked") {
        Ok(text) => assert!(crate::platform::processes::geteuid().is_root() && text.text == "x"),
        Err(error) => assert!(matches!(error, ReadError::Denied { .. }), "{error}"),
    }
}

/// A reader never sees a mixture of two contents, nor a stamp of one with the text of the other.
#[test]
fn text_and_stamp_read_during_writes_are_consistent() {
    let (_keep, workspace) = workspace();
    let file = workspace.root().join("f");
    let contents = ["a".repeat(300_000), "b".repeat(299_999)];
    fs::write(&file, &contents[0]).unwrap();
    let stop = AtomicBool::new(false);
    let (mut read_some, mut changing) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                if round % 2 == 0 {
                    fs::write(file.with_extension("tmp"), &contents[round / 2 % 2]).unwrap();
                    fs::rename(file.with_extension("tmp"), &file).unwrap();
                } else {
                    let mut same = fs::File::create(&file).unwrap();
                    for chunk in contents[round / 2 % 2].as_bytes().chunks(50_000) {
                        same.write_all(chunk).unwrap();
                    }
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        for _ in 0..300 {
            match read(&workspace, "f") {
                Ok(found) => {
                    read_some += 1;
                    assert_eq!(found.stamp.size, found.text.len() as u64);
                    assert!(
                        contents.iter().any(|whole| whole.starts_with(&found.text)),
                        "a mixture was read"
                    );
                }
                Err(ReadError::Changing { .. }) => changing += 1,
                Err(error) => panic!("{error}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(read_some > 10, "{read_some} read, {changing} refused");
}

#[test]
fn read_of_constantly_changing_file_is_an_error() {
    let (_keep, workspace) = workspace();
    let file = workspace.root().join("log");
    fs::write(&file, "x".repeat(5_000_000)).unwrap();
    let stop = AtomicBool::new(false);
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = fs::File::options().write(true).open(&file).unwrap();
            while !stop.load(Ordering::Relaxed) {
                log.write_all(b"y").unwrap();
            }
        });
        let until = Instant::now() + Duration::from_secs(30);
        let error = loop {
            match read(&workspace, "log") {
                Err(error) => break Some(error),
                Ok(_) if Instant::now() > until => break None,
                Ok(_) => {}
            }
        };
        stop.store(true, Ordering::Relaxed);
        error
    });
    assert!(matches!(error, Some(ReadError::Changing { .. })), "{error:?}");
}

#[test]
fn read_of_proc_file_without_size_obeys_the_limit() {
    // Files of the proc file system report that they are empty.
    let read = |limit| Workspace::read_outside(Path::new("/proc/self/status"), limit);
    assert!(matches!(read(10), Err(ReadError::TooLarge { size: 11, limit: 10, .. })));
    assert!(read(100_000).unwrap().contains("Pid:"));
}

#[test]
fn read_outside_reads_library_files_and_refuses_special_ones() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lib.py");
    fs::write(&file, b"\xef\xbb\xbfdef f(): ...\n").unwrap();
    assert_eq!(Workspace::read_outside(&file, 100).unwrap(), "def f(): ...\n");
    let message = |path: &Path, limit| Workspace::read_outside(path, limit).unwrap_err().to_string();
    assert!(message(&file, 3).starts_with("`lib.py` has 16 bytes"));
    assert_eq!(message(&dir.path().join("no.py"), 9), "`no.py` does not exist");
    assert!(message(Path::new("/dev/zero"), 9).starts_with("`zero` is a device"));
    assert!(message(dir.path(), 9).contains("is a directory"));
}

/// Exchanging a directory for a link that leads out, however quickly, reveals nothing from outside.
#[test]
fn read_during_directory_symlink_swap_stays_inside_workspace() {
    let (keep, workspace) = workspace();
    let root = workspace.root();
    fs::create_dir(root.join("d")).unwrap();
    fs::write(root.join("d/a"), "inside").unwrap();
    fs::create_dir(keep.path().join("outside")).unwrap();
    fs::write(keep.path().join("outside/a"), "outside").unwrap();
    symlink("../outside", root.join("link")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut inside, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let swap = |from: &str, to: &str| fs::rename(root.join(from), root.join(to)).unwrap();
            while !stop.load(Ordering::Relaxed) {
                swap("d", "kept");
                swap("link", "d");
                swap("d", "link");
                swap("kept", "d");
            }
        });
        for _ in 0..5000 {
            match read(&workspace, "d/a") {
                Ok(file) => {
                    assert_eq!(file.text, "inside");
                    inside += 1;
                }
                Err(ReadError::Outside { .. } | ReadError::NotFound { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(inside > 0 && refused > 0, "{inside} read, {refused} refused: nothing was swapped");
}
