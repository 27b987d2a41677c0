//! Changes of real files, made outside the feed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::ChangeKind::{Changed, Created, Deleted};
use super::*;
use crate::platform::files::symlink;

fn workspace(files: &[&str]) -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    for file in files {
        put(&workspace, file, "old");
    }
    // By the clock of the file system, a file just written could have been written after the start.
    std::thread::sleep(crate::workspace::read::MAX_TIMESTAMP_GRANULARITY * 2);
    (dir, workspace)
}

/// Knows modules of Python.
#[derive(Debug)]
struct Modules;

impl SourceNames for Modules {
    fn has(&self, name: &str) -> bool {
        name.ends_with(".py")
    }
}

fn sources() -> Arc<dyn SourceNames> {
    Arc::new(Modules)
}

fn put(workspace: &Workspace, path: &str, text: &str) {
    let file = workspace.root().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn rename(workspace: &Workspace, from: &str, to: &str) {
    fs::rename(workspace.root().join(from), workspace.root().join(to)).unwrap();
}

fn drained(feed: &ChangeFeed) -> Vec<(String, ChangeKind)> {
    let changes = feed.drain();
    assert!(!changes.overflowed);
    changes.changes.into_iter().map(|(path, kind)| (path.display(), kind)).collect()
}

fn expect(feed: &ChangeFeed, expected: &[(&str, ChangeKind)]) {
    let expected: Vec<_> = expected.iter().map(|(path, kind)| ((*path).to_owned(), *kind)).collect();
    assert_eq!(drained(feed), expected);
    assert_eq!(drained(feed), [], "told once");
}

/// Runs a test with the feed in all its modes: every directory watched, some, none.
fn each_way(test: impl Fn(&dyn Fn(&Workspace) -> ChangeFeed)) {
    for watches in [usize::MAX, 1, 0] {
        test(&|workspace| {
            let feed = ChangeFeed::start_with(workspace, sources(), ChangeFeedLimits { watches, ..LIMITS });
            expect(&feed, &[]);
            feed
        });
    }
}

#[cfg(linux_kernel)]
#[test]
fn revision_tells_of_changes_and_leaves_them_to_the_drain() {
    let (_keep, workspace) = workspace(&["a", "d/b"]);
    let feed = ChangeFeed::start(&workspace, sources());
    expect(&feed, &[]);
    let first = feed.revision();
    assert!(first.is_some() && feed.revision() == first);
    put(&workspace, "d/b", "new");
    let second = feed.revision();
    assert_ne!(second, first);
    put(&workspace, "a", "new");
    assert_ne!(feed.revision(), second);
    expect(&feed, &[("a", Changed), ("d/b", Changed)]);
    let unwatched = ChangeFeed::start_with(&workspace, sources(), ChangeFeedLimits { watches: 1, ..LIMITS });
    drop(unwatched.drain());
    assert_eq!(unwatched.revision(), None);
}

#[test]
fn change_feed_reports_one_change_per_file() {
    each_way(|start| {
        let (_keep, workspace) = workspace(&["a", "d/b", "c", "gone", "back", "x.log"]);
        put(&workspace, ".gitignore", "*.log\n");
        std::thread::sleep(crate::workspace::read::MAX_TIMESTAMP_GRANULARITY * 2);
        let feed = start(&workspace);
        let root = workspace.root();
        put(&workspace, "a", "new");
        put(&workspace, "a", "newer");
        put(&workspace, "d/b", "now");
        put(&workspace, "new", "");
        put(&workspace, "new", "1");
        put(&workspace, "brief", "1");
        fs::remove_file(root.join("brief")).unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        fs::remove_file(root.join("back")).unwrap();
        put(&workspace, "back", "again");
        put(&workspace, "x.log", "noise");
        put(&workspace, "new.log", "noise");
        expect(
            &feed,
            &[("a", Changed), ("back", Changed), ("d/b", Changed), ("gone", Deleted), ("new", Created)],
        );
        // An atomic save: the file is changed, its temporary never was.
        put(&workspace, "c.tmp", "saved");
        rename(&workspace, "c.tmp", "c");
        expect(&feed, &[("c", Changed)]);
        rename(&workspace, "c", "d/moved");
        expect(&feed, &[("c", Deleted), ("d/moved", Created)]);
        fs::File::options().write(true).open(root.join("a")).unwrap().set_len(1).unwrap();
        expect(&feed, &[("a", Changed)]);
    });
}

#[test]
fn change_feed_reports_files_of_created_moved_and_deleted_directories() {
    each_way(|start| {
        let (keep, workspace) = workspace(&["a/1", "a/b/2", "a/b/c/3"]);
        let elsewhere = tempfile::tempdir_in(keep.path().parent().unwrap()).unwrap();
        let feed = start(&workspace);
        put(&workspace, "new/x/y/z", "at once");
        put(&workspace, "new/w", "at once");
        expect(&feed, &[("new/w", Created), ("new/x/y/z", Created)]);
        put(&workspace, "new/x/y/z", "later");
        expect(&feed, &[("new/x/y/z", Changed)]);
        rename(&workspace, "a/b", "B");
        put(&workspace, "B/c/3", "in its new place");
        expect(&feed, &[("B/2", Created), ("B/c/3", Created), ("a/b/2", Deleted), ("a/b/c/3", Deleted)]);
        put(&workspace, "B/c/3", "still noticed");
        put(&workspace, "B/2", "still noticed");
        expect(&feed, &[("B/2", Changed), ("B/c/3", Changed)]);
        fs::rename(workspace.root().join("B"), elsewhere.path().join("B")).unwrap();
        expect(&feed, &[("B/2", Deleted), ("B/c/3", Deleted)]);
        fs::write(elsewhere.path().join("B/2"), "outside").unwrap();
        expect(&feed, &[]);
        fs::rename(elsewhere.path().join("B"), workspace.root().join("a/back")).unwrap();
        expect(&feed, &[("a/back/2", Created), ("a/back/c/3", Created)]);
        fs::remove_dir_all(workspace.root().join("a")).unwrap();
        expect(&feed, &[("a/1", Deleted), ("a/back/2", Deleted), ("a/back/c/3", Deleted)]);
        put(&workspace, "a", "a file now");
        expect(&feed, &[("a", Created)]);
        fs::remove_file(workspace.root().join("a")).unwrap();
        put(&workspace, "a/1", "a directory again");
        expect(&feed, &[("a", Deleted), ("a/1", Created)]);
    });
}

#[test]
fn change_feed_skips_ignored_files_and_follows_gitignore_changes() {
    each_way(|start| {
        let (_keep, workspace) = workspace(&[
            "src/a",
            "build/o",
            "node_modules/m",
            ".git/index",
            ".hidden/h",
            ".github/ci.yml",
            ".clangd",
        ]);
        put(&workspace, ".gitignore", "build/\n");
        std::thread::sleep(crate::workspace::read::MAX_TIMESTAMP_GRANULARITY * 2);
        let feed = start(&workspace);
        for noise in ["build/o", "build/new/x", "node_modules/m", ".git/index", ".hidden/h"] {
            put(&workspace, noise, "noise");
        }
        symlink("src/a", workspace.root().join("link")).unwrap();
        expect(&feed, &[]);
        put(&workspace, ".clangd", "settings");
        put(&workspace, ".github/ci.yml", "people's");
        expect(&feed, &[(".clangd", Changed), (".github/ci.yml", Changed)]);
        put(&workspace, ".gitignore", "src/\n");
        expect(&feed, &[(".gitignore", Changed), ("build/new/x", Created), ("build/o", Created)]);
        put(&workspace, "src/a", "ignored now");
        put(&workspace, "build/o", "noticed now");
        expect(&feed, &[("build/o", Changed)]);
    });
}

fn aside(feed: &ChangeFeed) -> Vec<(String, ChangeKind)> {
    let batch = feed.drain();
    assert_eq!((batch.changes, batch.overflowed), (Vec::new(), false));
    batch.aside.into_iter().map(|(path, kind)| (path.display(), kind)).collect()
}

#[test]
fn change_feed_reports_sources_that_are_hidden_or_ignored() {
    each_way(|start| {
        let files = ["gen_pb2.py", "gen/deep/a.py", "gen/a.o", ".tools/t.py", ".env/pyvenv.cfg", ".env/x.py"];
        let (_keep, workspace) = workspace(&files);
        put(&workspace, ".gitignore", "gen/\n*_pb2.py\nout\n");
        put(&workspace, "out/CACHEDIR.TAG", "");
        put(&workspace, "out/c.py", "");
        std::thread::sleep(crate::workspace::read::MAX_TIMESTAMP_GRANULARITY * 2);
        let feed = start(&workspace);
        for file in files.iter().chain(&["out/c.py", "gen/new/b.py"]) {
            put(&workspace, file, "changed");
        }
        let changed = |path: &str, kind| (path.to_owned(), kind);
        let expected = [
            changed(".tools/t.py", Changed),
            changed("gen/deep/a.py", Changed),
            changed("gen/new/b.py", Created),
            changed("gen_pb2.py", Changed),
        ];
        assert_eq!(aside(&feed), expected);
        fs::remove_dir_all(workspace.root().join("gen")).unwrap();
        assert_eq!(aside(&feed), [changed("gen/deep/a.py", Deleted), changed("gen/new/b.py", Deleted)]);
    });
}

#[test]
fn hidden_or_ignored_sources_beyond_their_limits_change_nothing_else() {
    let (_keep, workspace) = workspace(&["a", "gen/1/a.py", "gen/2/b.py", "gen/2/c.py"]);
    put(&workspace, ".gitignore", "gen\n");
    for limits in
        [ChangeFeedLimits { aside: 1, ..LIMITS }, ChangeFeedLimits { aside_files: 1, files: 2, ..LIMITS }]
    {
        let feed = ChangeFeed::start_with(&workspace, sources(), limits);
        assert!(!feed.drain().overflowed);
        put(&workspace, "a", "changed");
        expect(&feed, &[("a", Changed)]);
    }
}

#[test]
fn ignore_file_outside_a_workspace_without_git_does_not_concern_it() {
    let (keep, _) = workspace(&["inner/notes.xyz"]);
    fs::write(keep.path().join(".gitignore"), "*\n").unwrap();
    let inner = Workspace::open(&keep.path().join("inner")).unwrap();
    let feed = ChangeFeed::start(&inner, sources());
    expect(&feed, &[]);
    put(&inner, "notes.xyz", "changed");
    expect(&feed, &[("notes.xyz", Changed)]);
}

#[test]
fn change_feed_reports_created_and_deleted_folders() {
    each_way(|start| {
        let (_keep, workspace) = workspace(&["old/in/a", "kept/a"]);
        let feed = start(&workspace);
        put(&workspace, "new/in/a", "");
        put(&workspace, "kept/b", "");
        rename(&workspace, "old", "other");
        let folders = feed.drain().folders.into_iter().map(|(path, kind)| (path.display(), kind));
        let expected = [
            ("new", Created),
            ("new/in", Created),
            ("old", Deleted),
            ("old/in", Deleted),
            ("other", Created),
            ("other/in", Created),
        ];
        assert_eq!(folders.collect::<Vec<_>>(), expected.map(|(path, kind)| (path.to_owned(), kind)));
        assert_eq!(feed.drain().folders, [], "told once");
    });
}

#[test]
fn change_feed_reports_every_file_of_a_large_git_checkout() {
    each_way(|start| {
        let names: Vec<String> = (0..1000).map(|n| format!("d{}/e{}/f{n}", n % 10, n % 30)).collect();
        let (_keep, workspace) = workspace(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let feed = start(&workspace);
        let mut expected = BTreeMap::new();
        for (number, name) in names.iter().enumerate() {
            // Git rewrites a file: it removes the old one first.
            fs::remove_file(workspace.root().join(name)).unwrap();
            if number % 3 != 0 {
                put(&workspace, name, "other branch");
            }
            expected.insert(PathBuf::from(name), if number % 3 == 0 { Deleted } else { Changed });
        }
        for number in 0..100 {
            let name = format!("only-there/g{number}");
            put(&workspace, &name, "other branch");
            expected.insert(PathBuf::from(name), Created);
        }
        let changes = feed.drain();
        assert!(!changes.overflowed);
        let told: BTreeMap<PathBuf, ChangeKind> =
            changes.changes.into_iter().map(|(path, kind)| (path.as_path().to_owned(), kind)).collect();
        assert_eq!(told, expected);
    });
}

/// With more events than the kernel queues (`fs.inotify.max_queued_events`), nothing is missed, and
/// the overflow is reported.
#[cfg(linux_kernel)]
#[test]
fn inotify_queue_overflow_rescans_the_tree() {
    let (_keep, workspace) = workspace(&["a", "b", "d/e/f"]);
    let feed = ChangeFeed::start(&workspace, sources());
    expect(&feed, &[]);
    rename(&workspace, "d/e", "d/moved");
    let queue: usize =
        fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    for round in 0..queue / 2 + 10 {
        fs::write(workspace.root().join("a"), round.to_string()).unwrap();
        // The kernel joins equal events that follow each other.
        fs::write(workspace.root().join("noise"), "").unwrap();
    }
    fs::remove_file(workspace.root().join("b")).unwrap();
    let changes = feed.drain();
    assert!(changes.overflowed);
    let told: Vec<_> = changes.changes.into_iter().map(|(path, kind)| (path.display(), kind)).collect();
    let expected =
        [("a", Changed), ("b", Deleted), ("d/e/f", Deleted), ("d/moved/f", Created), ("noise", Created)];
    assert_eq!(told, expected.map(|(path, kind)| (path.to_owned(), kind)));
    put(&workspace, "d/moved/f", "noticed through new watches");
    expect(&feed, &[("d/moved/f", Changed)]);
}

#[test]
fn change_feed_over_file_limit_reports_overflow() {
    let (_keep, workspace) = workspace(&["a", "b", "c"]);
    let feed = ChangeFeed::start_with(&workspace, sources(), ChangeFeedLimits { files: 2, ..LIMITS });
    assert!(feed.drain().overflowed);
    assert!(feed.drain().overflowed);
}

#[test]
#[cfg_attr(windows, ignore = "Wine takes longer than the time limit for 200 folders")]
fn change_feed_reports_changes_made_during_setup() {
    for round in 0..5 {
        let names: Vec<String> = (0..200).map(|n| format!("d{n}/f")).collect();
        let (_keep, workspace) = workspace(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let feed = ChangeFeed::start(&workspace, sources());
        put(&workspace, "d199/f", "new");
        put(&workspace, "d0/f", "new");
        put(&workspace, "d100/g", "new");
        std::thread::sleep(Duration::from_micros(500 * round));
        put(&workspace, "late", "new");
        expect(&feed, &[("d0/f", Changed), ("d100/g", Created), ("d199/f", Changed), ("late", Created)]);
        assert!(feed.is_ready());
    }
}

#[test]
fn change_feed_drain_waits_for_slow_setup_only_once() {
    let (_keep, workspace) = workspace(&["d/a", "b"]);
    let wait = Duration::from_millis(300);
    // A feed whose setup never ends.
    let shared =
        ChangeFeedState { tree: Mutex::new(None), ready: Condvar::new(), stop: AtomicBool::new(false) };
    let limits = ChangeFeedLimits { setup: wait, ..LIMITS };
    let feed = ChangeFeed { shared: Arc::new(shared), setup: None, started: Instant::now(), limits };
    let unknown = ChangeBatch { overflowed: true, ..ChangeBatch::default() };
    let began = Instant::now();
    assert_eq!(feed.drain(), unknown);
    assert!(began.elapsed() >= wait - Duration::from_millis(1) && began.elapsed() < wait * 100);
    let began = Instant::now();
    assert_eq!(feed.drain(), unknown);
    assert!(began.elapsed() < wait, "waited twice");
    assert!(!feed.is_ready());
    // A feed that is dropped stops its setup at the next file.
    let tree = WatchedTree::new(&workspace, sources(), LIMITS, SystemTime::now(), &AtomicBool::new(true));
    assert_eq!(tree.known_files(), 0);
    assert_eq!(
        WatchedTree::new(&workspace, sources(), LIMITS, SystemTime::now(), &AtomicBool::new(false))
            .known_files(),
        2
    );
}

#[test]
#[cfg_attr(windows, ignore = "Windows removes no folder that is open")]
fn change_feed_survives_deleted_and_recreated_root() {
    let (keep, workspace) = workspace(&["w/a", "w/d/b"]);
    let inner = Workspace::open(&keep.path().join("w")).unwrap();
    let feed = ChangeFeed::start(&inner, sources());
    expect(&feed, &[]);
    fs::remove_dir_all(keep.path().join("w")).unwrap();
    expect(&feed, &[("a", Deleted), ("d/b", Deleted)]);
    put(&workspace, "w/a", "new");
    expect(&feed, &[("a", Created)]);
    put(&workspace, "w/a", "newer");
    expect(&feed, &[("a", Changed)]);
}

#[test]
fn merge_of_change_kinds_gives_the_net_change() {
    assert_eq!(merge_kinds(Created, Changed), Some(Created));
    assert_eq!(merge_kinds(Created, Deleted), None);
    assert_eq!(merge_kinds(Deleted, Created), Some(Changed));
    assert_eq!(merge_kinds(Changed, Deleted), Some(Deleted));
    assert_eq!(merge_kinds(Changed, Changed), Some(Changed));
}

/// Pseudo-random numbers, equal in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn path(&mut self, depth: u64) -> PathBuf {
        (0..=self.roll(depth)).map(|_| ["a", "b", "c"][self.roll(3) as usize]).collect()
    }
}

/// Every regular file below `dir` with its content.
fn contents(root: &Path, dir: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            contents(root, &entry.path(), into);
        } else {
            into.insert(entry.path().strip_prefix(root).unwrap().to_owned(), fs::read(entry.path()).unwrap());
        }
    }
}

/// For any edits of the tree, the reported changes turn the old tree into the new one.
#[test]
fn change_feed_reports_the_difference_after_random_edits() {
    for (seed, watches) in [(1, usize::MAX), (2, usize::MAX), (3, 4), (4, 0)] {
        let (_keep, workspace) = workspace(&["a/a", "b/b/b", "c"]);
        let root = workspace.root();
        let feed = ChangeFeed::start_with(&workspace, sources(), ChangeFeedLimits { watches, ..LIMITS });
        expect(&feed, &[]);
        let mut dice = Dice(seed);
        let mut before = BTreeMap::new();
        contents(root, root, &mut before);
        for round in 0..600 {
            for step in 0..dice.roll(6) {
                let (one, other) = (root.join(dice.path(4)), root.join(dice.path(4)));
                // Many of these are impossible at the moment; then they change nothing.
                let _ = match dice.roll(7) {
                    0 | 1 => fs::write(&one, format!("{round} {step}")),
                    2 => fs::create_dir_all(&one).and_then(|()| fs::write(one.join("c"), "in a new one")),
                    3 => fs::remove_file(&one),
                    4 => fs::remove_dir_all(&one),
                    _ => fs::rename(&one, &other),
                };
            }
            let changes = feed.drain();
            assert!(!changes.overflowed);
            let mut after = BTreeMap::new();
            contents(root, root, &mut after);
            for (path, kind) in &changes.changes {
                let (was, is) = (before.get(path.as_path()), after.get(path.as_path()));
                let right = match kind {
                    Created => was.is_none() && is.is_some(),
                    Changed => was.is_some() && is.is_some(),
                    Deleted => was.is_some() && is.is_none(),
                };
                assert!(right, "seed {seed}, round {round}: {} {kind:?}", path.display());
            }
            let told = |path: &Path| changes.changes.iter().any(|(changed, _)| changed.as_path() == path);
            for path in before.keys().chain(after.keys()) {
                let same = before.get(path) == after.get(path);
                assert!(same || told(path), "seed {seed}, round {round}: nothing told of {}", path.display());
            }
            before = after;
        }
    }
}

#[test]
fn change_batch_absorb_merges_changes_and_keeps_overflow() {
    let path = |name: &str| WorkspacePath::new(PathBuf::from(name));
    let changes = |list: &[(&str, ChangeKind)]| ChangeBatch {
        changes: list.iter().map(|(name, kind)| (path(name), *kind)).collect(),
        ..ChangeBatch::default()
    };
    let mut both = changes(&[("came", Created), ("gone", Deleted), ("kept", Changed)]);
    both.absorb(&changes(&[("came", Deleted), ("gone", Created), ("a-new", Created)]));
    assert_eq!(both, changes(&[("a-new", Created), ("gone", Changed), ("kept", Changed)]));
    both.absorb(&ChangeBatch { overflowed: true, ..ChangeBatch::default() });
    assert!(both.overflowed);
    both.absorb(&ChangeBatch::default());
    assert!(both.overflowed, "what may have been missed stays so");
}
