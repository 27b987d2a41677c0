//! Ignore files: the selected files equal ripgrep's.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::workspace::{GlobOrder, GlobQuery, WorkDeadline, Workspace, WorkspacePath};
use ignore::WalkBuilder;

use super::draw::Draw;
use super::world::World;

const FOLDERS: [&str; 6] = ["", "a", "a/b", ".d", "a/.d", "b"];
const NAMES: [&str; 6] = ["x.rs", "y.log", "z", ".h", "x y", "#n"];
const FILES: [&str; 6] =
    [".gitignore", ".ignore", ".git/info/exclude", "a/.gitignore", "a/b/.ignore", "b/.gitignore"];

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let world = World::new([(".git/info/exclude", "")]);
        for folder in FOLDERS {
            for name in NAMES {
                world.write(format!("{folder}/{name}").trim_start_matches('/'), "");
            }
        }
        world
    })
}

pub fn run(bytes: &[u8]) {
    let world = world();
    let mut draw = Draw::new(bytes);
    let mut written = Vec::new();
    while !draw.is_empty() && written.len() < FILES.len() {
        let file = draw.one_of(&FILES);
        let content = draw.part();
        // Globs that cannot be parsed in bounded time are ignored by design; other line ends follow
        // the crate.
        let bomb = content.iter().filter(|byte| **byte == b'{').count() > 50;
        let limits = content.len() > 4_000 || bomb;
        if !limits {
            world.write(file, content);
            written.push(file);
        }
    }
    let (ours, theirs) = (ours(world), theirs(&world.root()));
    for file in written {
        let _written_twice = std::fs::remove_file(world.root().join(file));
    }
    assert_eq!(ours, theirs);
}

fn ours(world: &World) -> BTreeSet<PathBuf> {
    let workspace = Workspace::open(&world.root()).expect("a workspace");
    let query = GlobQuery {
        pattern: "**".to_owned(),
        under: WorkspacePath::root(),
        hidden: false,
        no_ignore: false,
        order: GlobOrder::Path,
        max: 10_000,
        deadline: WorkDeadline::new(Instant::now() + Duration::from_secs(60)),
    };
    let found = workspace.glob(&query).expect("files");
    found.paths.iter().map(|path| path.as_path().to_owned()).collect()
}

fn theirs(root: &Path) -> BTreeSet<PathBuf> {
    let mut walk = WalkBuilder::new(root);
    walk.filter_entry(|entry| {
        !entry.file_type().is_some_and(|kind| kind.is_dir()) || entry.file_name() != ".git"
    });
    let files = walk.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(|entry| entry.path().strip_prefix(root).expect("below the root").to_owned()).collect()
}
