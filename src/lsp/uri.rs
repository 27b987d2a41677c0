//! Conversion between paths and the URIs of the protocol.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use url::Url;

use super::model::FileRef;
use crate::workspace::{Workspace, normalise};

/// The `file:` URI of an absolute path.
///
/// `[` and `]` are percent-encoded, which RFC 3986 demands and strict servers check; names that are not UTF-8 keep
/// their bytes, percent-encoded.
pub(crate) fn from_path(path: &Path) -> Url {
    // Only a relative path is refused, and none is passed; a URI that names nothing is the safe answer.
    let mut url = Url::from_file_path(path).unwrap_or_else(|()| NOWHERE.clone());
    if url.path().contains(['[', ']']) {
        let strict = url.path().replace('[', "%5B").replace(']', "%5D");
        url.set_path(&strict);
    }
    url
}

static NOWHERE: LazyLock<Url> = LazyLock::new(|| Url::parse("file:///").expect("this is a URL"));

/// The absolute path that a `file:` URI names, however the server escaped it, without `..`; `None` for other schemes and hosts.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok()?;
    let path = (url.scheme() == "file").then(|| url.to_file_path().ok()).flatten()?;
    // An escaped `/` makes names that the URI's own reading of `..` has not seen.
    normalise(&path)
}

/// The file a server means by `uri`.
pub(crate) fn file_ref(workspace: &Workspace, uri: &str) -> FileRef {
    match to_path(uri) {
        None => FileRef::Virtual(uri.to_owned()),
        Some(path) => match workspace.workspace_path(&path) {
            Some(inside) => FileRef::Inside(inside),
            None => FileRef::Outside(path),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_round_trips_through_uri_and_foreign_uri_is_none() {
        for path in ["/a/[id].py", "/a b/ü🦀.rs", "/x/a+b@c(1).py", "/c:d.py", "/100%.txt"] {
            let uri = from_path(Path::new(path));
            assert!(!uri.as_str().contains(['[', ']', ' ']), "{uri}");
            assert_eq!(to_path(uri.as_str()).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(to_path("file:///x/a%2Bb%40c%281%29.py").as_deref(), Some(Path::new("/x/a+b@c(1).py")));
        assert_eq!(to_path("file:///x/y/..%2f%2e%2e%2fetc").as_deref(), Some(Path::new("/etc")));
        assert_eq!(to_path("file:///..%2f..%2fetc"), None);
        assert_eq!(to_path("jdt://contents/java.base/x.class"), None);
        assert_eq!(to_path("file://host/share/x"), None);
        assert_eq!(to_path("not a uri"), None);
    }
}
