//! Conversion of paths to URIs and back; no URI leads a path out of the workspace undetected.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::OnceLock;

use crate::lsp::model::FileRef;
use crate::lsp::uri::{file_ref, from_path, to_path};
use crate::workspace::Workspace;

use super::world::World;

fn workspace() -> &'static (World, Workspace) {
    static PLACE: OnceLock<(World, Workspace)> = OnceLock::new();
    PLACE.get_or_init(|| {
        let world = World::new([("a", "")]);
        let workspace = Workspace::open(&world.root()).expect("a workspace");
        (world, workspace)
    })
}

pub fn run(bytes: &[u8]) {
    let (_world, workspace) = workspace();
    // As a path.
    if !bytes.contains(&0) {
        let path = Path::new("/").join(OsStr::from_bytes(bytes));
        let normal = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if normal {
            let uri = from_path(&path);
            assert!(
                uri.as_str().is_ascii() && !uri.as_str().contains(['[', ']', ' ', '\n', '"']),
                "{path:?}: {uri}"
            );
            assert_eq!(to_path(uri.as_str()).as_deref(), Some(path.as_path()), "{uri}");
        }
    }
    // As a URI, alone and below the root.
    let text = String::from_utf8_lossy(bytes);
    for uri in [text.clone().into_owned(), format!("{}/{text}", from_path(workspace.root()))] {
        if let Some(path) = to_path(uri.as_str()) {
            assert!(path.is_absolute(), "{uri:?}: {path:?}");
            let again = from_path(&path);
            assert_eq!(to_path(again.as_str()), Some(path), "{uri:?}: {again}");
        }
        match file_ref(workspace, &uri) {
            FileRef::Inside(path) => {
                let normal = path.as_path().components().all(|part| matches!(part, Component::Normal(_)));
                assert!(normal, "{uri:?}: {path:?}");
            }
            FileRef::Outside(path) => assert!(workspace.workspace_path(&path).is_none(), "{uri:?}: {path:?}"),
            FileRef::Virtual(name) => assert_eq!(name, uri),
        }
    }
}
