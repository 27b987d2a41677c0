//! Arbitrary bytes as a path: the answer comes soon, and reveals nothing outside the workspace.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{ListQuery, WorkDeadline, Workspace};
use crate::platform::canonicalize;
use crate::platform::files::symlink;
use crate::platform::{OsStrExt, OsStringExt};

/// The time limit of a refusal, for a slow machine; it normally takes milliseconds.
const SOON: Duration = Duration::from_secs(60);

/// A workspace with links of every kind, for queries about paths.
fn linked(folder: &Path) -> Workspace {
    let root = folder.join("w");
    std::fs::create_dir_all(root.join("a/a/a")).unwrap();
    std::fs::write(root.join("f.txt"), "text").unwrap();
    symlink("a", root.join("link")).unwrap();
    symlink("circle", root.join("circle")).unwrap();
    symlink("/etc", root.join("out")).unwrap();
    symlink("../w/a", root.join("around")).unwrap();
    Workspace::open(&root).unwrap()
}

/// Makes all queries about a path; none may reveal anything outside.
fn ask(workspace: &Workspace, given: &[u8]) {
    let given = Path::new(std::ffi::OsStr::from_bytes(given));
    let begun = Instant::now();
    let told = match workspace.path(given) {
        Err(error) => error.to_string(),
        Ok(path) => {
            let within = path.as_path().components().count();
            assert!(within <= 256 && path.as_path().as_os_str().len() <= 4_095, "{within} levels");
            assert!(path.as_path().is_relative() && !path.as_path().starts_with(".."));
            let real = workspace.resolve_links(&path);
            assert_eq!(
                real.as_ref().and_then(|real| workspace.resolve_links(real)),
                real,
                "what is real stays so"
            );
            let there = workspace.exists(&path);
            if there && let Ok(canonical) = canonicalize(workspace.absolute(&path)) {
                assert_eq!(real.map(|real| workspace.absolute(&real)), Some(canonical));
            }
            assert!(there || workspace.read_text(&path).is_err());
            let until = WorkDeadline::new(Instant::now() + SOON);
            let listed =
                workspace.list(&ListQuery { under: path.clone(), recursive: true, max: 9, deadline: until });
            assert!(there || listed.is_err());
            path.display()
        }
    };
    assert!(told.len() <= 4 * 4_096, "{} bytes are told", told.len());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
#[ignore = "slow: just slow"]
fn arbitrary_path_bytes_are_answered_soon_and_stay_in_workspace() {
    let folder = tempfile::TempDir::with_prefix("lsp-tools-test-").unwrap();
    let workspace = linked(folder.path());
    for line in include_str!("path_tests.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut given = Vec::new();
        for piece in line.split(' ') {
            let (times, text) = piece.split_once('*').expect("a count");
            let root: PathBuf = workspace.root().to_owned();
            let text =
                text.replace("SPACE", " ").replace("\\0", "\0").replace("ROOT", root.to_str().unwrap());
            let mut bytes = text.into_bytes();
            if let Some(at) = bytes.windows(4).position(|four| four == b"\\xff") {
                bytes.splice(at..at + 4, [0xff]);
            }
            given.extend(bytes.repeat(times.parse().expect("a count")));
        }
        ask(&workspace, &given);
    }
    let names: Vec<&[u8]> = vec![
        b"a", b"link", b"circle", b"out", b"around", b"f.txt", b"..", b".", b"", b"/", b"\0", b"\xff", b"new",
    ];
    let name = prop_oneof![
        8 => proptest::sample::select(names).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..300),
    ];
    let few = proptest::collection::vec(name.clone(), 0..12);
    let many = (proptest::collection::vec(name, 1..4), 1..100_000_usize)
        .prop_map(|(names, times)| names.into_iter().cycle().take(times).collect::<Vec<_>>());
    let bytes = prop_oneof![
        6 => few.prop_map(|names| names.join(&b'/')),
        2 => many.prop_map(|names| names.join(&b'/')),
        1 => proptest::collection::vec(any::<u8>(), 0..1 << 20),
    ];
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(any::<bool>(), bytes), |(absolute, bytes)| {
            let mut bytes: Vec<u8> = bytes;
            bytes.truncate(1 << 20);
            if absolute {
                let mut whole = workspace.root().as_os_str().to_owned().into_vec();
                whole.push(b'/');
                whole.append(&mut bytes);
                bytes = whole;
            }
            ask(&workspace, &bytes);
            Ok(())
        })
        .unwrap();
}
