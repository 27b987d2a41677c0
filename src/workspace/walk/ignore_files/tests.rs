//! Equality of the files found with those of the library's own walk, which is ripgrep's, for any
//! ignore files.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::platform::files::symlink;
use crate::workspace::{GlobOrder, GlobQuery, ListQuery, Selection, WorkDeadline, WorkspacePath};

const FOLDERS: [&str; 7] = ["", "a", "a/b", "a/b/c", ".d", "a/.d", "b"];
const NAMES: [&str; 7] = ["x.rs", "y.log", "z", ".h", "x y", "#n", "!m"];

/// Lines of ignore files, odd ones among them.
const LINES: [&str; 42] = [
    "*.log",
    "*.rs",
    "/a",
    "a/",
    "a/b",
    "/a/b/",
    "a/b/c",
    "b/**",
    "**/c",
    "**/b/*.rs",
    "z",
    "!z",
    "!x.rs",
    "!*.log",
    ".h",
    "!.h",
    ".d",
    "!.d/",
    "!.d",
    ".*",
    "!.*",
    "*",
    "!*",
    "!*/",
    "{x,y}.*",
    "[xy].*",
    "[!x].rs",
    "[x",
    "{x",
    "x\\ y",
    "x y ",
    "x y\\ ",
    "\\#n",
    "#n",
    "\\!m",
    "!m",
    "",
    "# words",
    "/",
    "a/../b",
    "\u{feff}y.log",
    "**",
];

/// The places of ignore files: above the root, in it, below.
const FILES: [&str; 12] = [
    "../.gitignore",
    "../.ignore",
    ".gitignore",
    ".ignore",
    ".git/info/exclude",
    "a/.gitignore",
    "a/.ignore",
    "a/b/.gitignore",
    "a/b/.ignore",
    ".d/.gitignore",
    "b/.gitignore",
    "a/.git/info/exclude",
];

fn walk(from: &Path, inherited: bool) -> WalkBuilder {
    let mut builder = WalkBuilder::new(from);
    builder.require_git(false).parents(inherited);
    builder.filter_entry(|entry| {
        !entry.file_type().is_some_and(|kind| kind.is_dir()) || entry.file_name() != ".git"
    });
    builder
}

/// The files of the library's walk, relative to the root.
fn theirs(root: &Path, builder: &WalkBuilder) -> BTreeSet<PathBuf> {
    let files =
        builder.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(|entry| entry.path().strip_prefix(root).unwrap().to_owned()).collect()
}

fn until() -> WorkDeadline {
    WorkDeadline::new(Instant::now() + Duration::from_secs(60))
}

fn ours(workspace: &Workspace, under: &str, select: Selection) -> BTreeSet<PathBuf> {
    let under = workspace.path(Path::new(under)).unwrap();
    let selected = select.prepare_walk(workspace, &under).unwrap();
    let files = selected.walk.build().flatten();
    let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files
        .filter_map(|entry| selected.start.path_of(entry.path()))
        .map(|path| path.as_path().to_owned())
        .collect()
}

fn compare(root: &Path, in_git: bool) {
    let workspace = Workspace::open(root).unwrap();
    assert_eq!(workspace.in_git(), in_git);
    let all = theirs(root, &walk(root, in_git));
    let none = Selection::default();
    assert_eq!(ours(&workspace, ".", none.clone()), all, "everything");
    for under in ["a", "a/b", ".d", "b"] {
        let found = ours(&workspace, under, none.clone());
        if in_git {
            assert_eq!(found, theirs(root, &walk(&root.join(under), true)), "below {under}");
        } else if all.iter().any(|path| path.starts_with(under)) {
            let below = all.iter().filter(|path| path.starts_with(under)).cloned().collect();
            assert_eq!(found, below, "below {under}");
        }
    }
    let hidden = Selection { hidden: true, ..Selection::default() };
    assert_eq!(ours(&workspace, ".", hidden), theirs(root, walk(root, in_git).hidden(false)), "hidden");
    let everything = Selection { hidden: true, no_ignore: true, ..Selection::default() };
    let mut plain = walk(root, false);
    plain.standard_filters(false);
    assert_eq!(ours(&workspace, ".", everything), theirs(root, &plain), "all there is");
    for globs in [vec!["*.log"], vec!["!*.rs"], vec!["a/**", "!z"], vec![".h"]] {
        let mut builder = OverrideBuilder::new(root);
        for glob in &globs {
            builder.add(glob).unwrap();
        }
        let theirs = theirs(root, walk(root, in_git).overrides(builder.build().unwrap()));
        let globs = globs.into_iter().map(str::to_owned).collect();
        assert_eq!(ours(&workspace, ".", Selection { globs, ..Selection::default() }), theirs, "globs");
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select("rust");
    let theirs = theirs(root, walk(root, in_git).types(builder.build().unwrap()));
    let types = Selection { types: vec!["rust".to_owned()], ..Selection::default() };
    assert_eq!(ours(&workspace, ".", types), theirs, "types");
    one_by_one(&workspace, in_git);
}

/// The rules of single paths, as used for changed files.
fn one_by_one(workspace: &Workspace, in_git: bool) {
    let root = workspace.root();
    let rules = super::super::rules::WatchRules::new(workspace);
    let mut theirs = walk(root, in_git).hidden(false).current_dir(root).build_matchers().pop().unwrap();
    for folder in FOLDERS {
        for name in NAMES.iter().chain(&["new", "b"]) {
            for is_dir in [false, true] {
                let path = Path::new(folder).join(name);
                let wanted = theirs.matched(&path, is_dir).is_ignore();
                assert_eq!(rules.is_ignored(&path, is_dir), wanted, "{} {is_dir}", path.display());
            }
        }
    }
}

fn tree(folder: &Path) -> PathBuf {
    let root = folder.join("over/w");
    for below in FOLDERS {
        fs::create_dir_all(root.join(below)).unwrap();
        for name in NAMES {
            fs::write(root.join(below).join(name), "").unwrap();
        }
    }
    root
}

#[test]
fn random_ignore_files_select_the_same_files_as_ripgrep() {
    let line = proptest::sample::select(LINES.to_vec());
    let content = (proptest::collection::vec(line, 0..5), any::<bool>());
    let files = proptest::collection::vec((proptest::sample::select(FILES.to_vec()), content), 0..5);
    let config = Config { cases: 96, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(any::<bool>(), files), |(in_git, files)| {
            let folder = tempfile::tempdir().unwrap();
            let root = tree(folder.path()).canonicalize().unwrap();
            if in_git {
                fs::create_dir(root.join(".git")).unwrap();
            }
            for (file, (lines, returns)) in &files {
                if file.starts_with(".git/") && !in_git {
                    continue;
                }
                let file = root.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, lines.join(if *returns { "\r\n" } else { "\n" })).unwrap();
            }
            compare(&root, in_git);
            Ok(())
        })
        .unwrap();
}

#[test]
fn unusual_ignore_files_select_the_same_files_as_ripgrep() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path()).canonicalize().unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    // A byte order mark, and the lines behind one that is no text.
    fs::write(root.join(".gitignore"), b"\xef\xbb\xbf*.log\nz\n\xff\n*.rs\n").unwrap();
    // Links in the workspace.
    fs::write(root.join("rules"), "x.rs\n").unwrap();
    symlink("../rules", root.join("a/.gitignore")).unwrap();
    symlink("../../rules", root.join("a/b/.ignore")).unwrap();
    compare(&root, true);
    // A working tree of a repository that is elsewhere.
    let own = folder.path().join("main/.git/worktrees/w");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(folder.path().join("main/.git/info")).unwrap();
    fs::write(folder.path().join("main/.git/info/exclude"), "b\n!z\n").unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    fs::remove_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    compare(&root, true);
    fs::write(root.join(".git"), "gitdir: /nowhere\n").unwrap();
    compare(&root, true);
}

#[test]
fn glob_and_list_find_the_same_files_as_walk() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path()).canonicalize().unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".gitignore"), "*.log\n").unwrap();
    fs::write(root.join("a/.gitignore"), "!y.log\nb\n").unwrap();
    let workspace = Workspace::open(&root).unwrap();
    let all = theirs(&root, &walk(&root, true));
    let query = GlobQuery {
        pattern: "**".to_owned(),
        under: WorkspacePath::root(),
        hidden: false,
        no_ignore: false,
        order: GlobOrder::Path,
        max: 1_000,
        deadline: until(),
    };
    let globbed = workspace.glob(&query).unwrap();
    assert!(globbed.gaps.is_empty(), "{:?}", globbed.gaps);
    assert_eq!(globbed.paths.iter().map(|path| path.as_path().to_owned()).collect::<BTreeSet<_>>(), all);
    let query = ListQuery { under: WorkspacePath::root(), recursive: true, max: 1_000, deadline: until() };
    let listed = workspace.list(&query).unwrap().entries.into_iter();
    let listed = listed.filter(|entry| entry.kind == crate::workspace::EntryKind::File);
    assert_eq!(listed.map(|entry| entry.path.as_path().to_owned()).collect::<BTreeSet<_>>(), all);
}
