//! Paths from outside never leave the root, however long, deep or odd they are.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::OnceLock;

use crate::workspace::Workspace;

use super::draw::Draw;
use super::world::World;

const MOST: usize = 1 << 20;

struct Place {
    world: World,
    workspace: Workspace,
}

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let world = World::new([("a", "inside\n"), ("b/c", "inside\n")]);
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(to, world.root().join(name)).expect("a link");
        };
        link("../../outside", "out");
        link("/", "top");
        link("b", "in");
        link("round", "round");
        link("../..", "up");
        link("in/../a", "b/d");
        let workspace = Workspace::open(&world.root()).expect("a workspace");
        Place { world, workspace }
    })
}

pub fn run(bytes: &[u8]) {
    let Place { world, workspace } = place();
    let mut draw = Draw::new(bytes);
    let base = draw.byte();
    let text = draw.swollen(MOST);
    let given = Path::new(OsStr::from_bytes(&text));
    let from = if base.is_multiple_of(2) { world.beside("outside") } else { world.root().join("b") };
    for path in [workspace.path(given), workspace.path_from(&from, given)] {
        let path = match path {
            Ok(path) => path,
            Err(error) => {
                let told = error.to_string();
                assert!(told.len() < 1_500 && !told.contains(char::is_control), "{told:?}");
                continue;
            }
        };
        let normal = path.as_path().components().all(|part| matches!(part, Component::Normal(_)));
        assert!(normal && path.as_path().components().count() <= 256, "{path:?}");
        assert!(!path.display().contains(char::is_control), "{path:?}");
        assert_eq!(workspace.path(&workspace.absolute(&path)).as_ref(), Ok(&path));
        let exists = workspace.exists(&path);
        let real = workspace.resolve_links(&path);
        let kernel = std::fs::canonicalize(workspace.absolute(&path)).ok();
        let inside = kernel.as_ref().is_some_and(|kernel| kernel.starts_with(workspace.root()));
        if let Some(kernel) = &kernel {
            let own = real.as_ref().map(|real| workspace.absolute(real));
            assert_eq!(own.as_ref(), inside.then_some(kernel), "{path:?}");
        }
        assert!(!exists || inside || kernel.is_none(), "{path:?} is outside and exists");
        if let Ok(file) = workspace.read_text(&path) {
            assert_eq!(file.text, "inside\n", "{path:?}");
        }
    }
}
