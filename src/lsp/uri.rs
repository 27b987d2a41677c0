//! Conversion between paths and the URIs of the protocol.

use crate::platform::OsStrExt;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use percent_encoding::percent_decode;
use url::Url;

use super::model::FileRef;
use crate::workspace::{Workspace, WorkspacePath, normalise};

/// The `file:` URI of an absolute path.
///
/// `[` and `]` are percent-encoded, which RFC 3986 demands and strict servers check; names that are
/// not UTF-8 keep their bytes, percent-encoded.
pub(crate) fn from_path(path: &Path) -> Url {
    // Only a relative path is refused, and none is passed; a URI that names nothing is the safe
    // answer.
    let mut url = Url::from_file_path(path).unwrap_or_else(|()| NOWHERE.clone());
    if url.path().contains(['[', ']']) {
        let strict = url.path().replace('[', "%5B").replace(']', "%5D");
        url.set_path(&strict);
    }
    url
}

/// The URI of a notebook's cell, in the only scheme that Python servers accept for cells.
pub(crate) fn of_cell(notebook: &Path, cell: &str) -> Url {
    let file = from_path(notebook);
    let uri = format!("{CELL_SCHEME}{}#{cell}", &file.as_str()[file.scheme().len()..]);
    Url::parse(&uri).unwrap_or(file)
}

/// The path under which the state of an open notebook cell is kept: the notebook's path with the
/// cell's name below it. `None` if `uri` is not the URI of a cell.
pub(crate) fn cell_path(workspace: &Workspace, uri: &str) -> Option<WorkspacePath> {
    let (notebook, cell) = uri.strip_prefix(CELL_SCHEME)?.rsplit_once('#')?;
    let notebook = to_path(&format!("file{notebook}"))?;
    workspace.workspace_path(&notebook)?.join(cell).ok()
}

const CELL_SCHEME: &str = "vscode-notebook-cell";

static NOWHERE: LazyLock<Url> = LazyLock::new(|| Url::parse("file:///").expect("this is a URL"));

/// Returns the absolute path of a `file:` URI, for any escaping by the server, without `..`; `None`
/// for other schemes and hosts.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok()?;
    let path = (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten()?;
    // An escaped `/` makes names that the URI's own reading of `..` has not seen.
    normalise(&path)
}

/// Returns the file that a server means by `uri`.
pub(crate) fn file_ref(workspace: &Workspace, uri: &str) -> FileRef {
    match to_path(uri).map(undo_double_escape) {
        None => FileRef::Virtual(uri.to_owned()),
        Some(path) => match workspace.workspace_path(&path) {
            Some(inside) => FileRef::Inside(inside),
            None => FileRef::Outside(path),
        },
    }
}

/// Returns the existing file for a path in which a server has read the escaped bytes of a non-UTF-8
/// name as characters.
fn undo_double_escape(path: PathBuf) -> PathBuf {
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes.contains(&b'%') {
        return path;
    }
    let name = Cow::from(percent_decode(bytes));
    let is_text = std::str::from_utf8(&name).is_ok();
    let named = Path::new(OsStr::from_bytes(&name));
    if is_text || path.exists() || !named.exists() { path } else { named.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(windows, ignore = "names are no bytes on Windows")]
    fn name_that_is_not_utf8_is_known_again_though_escaped_twice() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let real = workspace.root().join(OsStr::from_bytes(b"bad\xff.py"));
        std::fs::write(&real, "").unwrap();
        let inside = |uri: &str| match file_ref(&workspace, uri) {
            FileRef::Inside(path) => path.display(),
            other => panic!("{other:?}"),
        };
        let uri = from_path(&real);
        assert_eq!(inside(uri.as_str()), "bad\\xff.py");
        assert_eq!(inside(&uri.as_str().replace("%FF", "%25FF")), "bad\\xff.py");
        std::fs::write(workspace.root().join("bad%FF.py"), "").unwrap();
        assert_eq!(inside(&uri.as_str().replace("%FF", "%25FF")), "bad%FF.py", "a file of this name");
    }

    #[test]
    fn cell_of_a_notebook_is_known_again_by_its_uri() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let cell = |name: &str| {
            let uri = of_cell(&workspace.root().join(name), "2.7");
            assert_eq!(to_path(uri.as_str()), None, "it is no file");
            cell_path(&workspace, uri.as_str()).map(|path| path.display())
        };
        assert_eq!(cell("a b/[n] #1.ipynb").as_deref(), Some("a b/[n] #1.ipynb/2.7"));
        assert_eq!(cell_path(&workspace, from_path(&workspace.root().join("n.ipynb")).as_str()), None);
        assert_eq!(cell_path(&workspace, "vscode-notebook-cell:///elsewhere/n.ipynb#2.7"), None);
    }

    #[test]
    fn path_round_trips_through_uri_and_foreign_uri_is_none() {
        let top = if cfg!(windows) { "C:" } else { "" };
        for path in ["/a/[id].py", "/a b/ü🦀.rs", "/x/a+b@c(1).py", "/c:d.py", "/100%.txt"] {
            if cfg!(windows) && path.contains(':') {
                continue; // Windows has no such name.
            }
            let path = PathBuf::from(format!("{top}{path}"));
            let uri = from_path(&path);
            assert!(!uri.as_str().contains(['[', ']', ' ']), "{uri}");
            assert_eq!(to_path(uri.as_str()), Some(path));
        }
        let path = |path: &str| to_path(&format!("file:///{}{path}", top.replace(':', "%3A")));
        let expected = |path: &str| Some(PathBuf::from(format!("{top}{path}")));
        assert_eq!(path("/x/a%2Bb%40c%281%29.py"), expected("/x/a+b@c(1).py"));
        assert_eq!(path("/x/y/..%2f%2e%2e%2fetc"), expected("/etc"));
        assert_eq!(path("/..%2f..%2fetc"), None);
        assert_eq!(to_path("jdt://contents/java.base/x.class"), None);
        assert_eq!(to_path("file://host/share/x").is_some(), cfg!(windows), "a file of another machine");
        assert_eq!(to_path("not a uri"), None);
    }
}
