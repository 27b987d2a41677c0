//! Patterns for paths of the workspace.

use globset::{Glob, GlobSet};

use crate::text::{build_glob_set, read_glob};
use crate::workspace::WorkspacePath;

/// A glob in the syntax of `.gitignore`. A pattern with a `/` starts at the workspace's root,
/// others match at any depth. `*` stays within one name, `**` does not. A path below a matching
/// path matches too.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    globs: GlobSet,
    /// The folders in which a match may lie, if the pattern starts at the root.
    above: Option<GlobSet>,
}

/// The case sensitivity of path patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathCaseSensitivity {
    /// Case matters.
    Exact,
    /// Upper and lower case are equal, as in case-insensitive file systems.
    Folded,
}

impl PathPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The problem of the pattern, in words.
    pub(crate) fn new(text: &str, letters: PathCaseSensitivity) -> Result<Self, String> {
        let anchored = text.trim_end_matches('/').contains('/');
        let inner = text.trim_start_matches("./").trim_matches('/');
        if inner.split('/').any(|name| name == "..") {
            return Err("a pattern cannot contain `..`; give it relative to the workspace's root".to_owned());
        }
        let whole = matches!(inner, "" | ".");
        let base = match (whole, anchored) {
            (true, _) => "**".to_owned(),
            (false, true) => inner.to_owned(),
            (false, false) => format!("**/{inner}"),
        };
        let globs = build_glob_set([glob(&base, letters)?, glob(&format!("{base}/**"), letters)?])?;
        let above = (anchored || whole).then(|| folders_above(&base, letters)).transpose()?;
        Ok(Self { globs, above })
    }

    /// Returns true if the pattern matches `path` or a folder that contains it.
    pub(crate) fn matches(&self, path: &WorkspacePath) -> bool {
        self.globs.is_match(path.as_path())
    }

    /// Returns true if a matching path may lie below the folder `path`, so that moving or deleting
    /// the folder affects it.
    pub(crate) fn may_lie_beneath(&self, path: &WorkspacePath) -> bool {
        path.is_root() || self.above.as_ref().is_some_and(|above| above.is_match(path.as_path()))
    }
}

/// The folders in which a match of `pattern` may lie: those that match its first names, and from
/// the first `**`, or the first alternatives with a `/` in them, all.
fn folders_above(pattern: &str, letters: PathCaseSensitivity) -> Result<GlobSet, String> {
    let names: Vec<&str> = pattern.split('/').collect();
    let is_cut = |name: &str| {
        [('{', '}'), ('[', ']')]
            .iter()
            .any(|(open, close)| name.matches(*open).count() != name.matches(*close).count())
    };
    let depth = names.iter().position(|name| *name == "**" || is_cut(name)).unwrap_or(names.len());
    let ends = (1..=depth.min(names.len() - 1)).map(|count| names[..count].join("/"));
    let deep = (depth < names.len()).then(|| [&names[..depth], &["**"]].concat().join("/"));
    build_glob_set(ends.chain(deep).map(|text| glob(&text, letters)).collect::<Result<Vec<_>, _>>()?)
}

fn glob(text: &str, letters: PathCaseSensitivity) -> Result<Glob, String> {
    read_glob(text, |builder| {
        builder.literal_separator(true).case_insensitive(letters == PathCaseSensitivity::Folded);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::root().join(text).unwrap()
    }

    #[test]
    fn path_pattern_matches_like_gitignore() {
        for (pattern, given, meant) in [
            (".env", ".env", true),
            (".env", "deep/er/.env", true),
            (".env", ".env/inner", true),
            (".env", ".envrc", false),
            ("/.env", "deep/.env", false),
            ("/.env", ".env", true),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "other/src/a.rs", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src", "src/deep/a.rs", true),
            ("src/", "lib/src/a.rs", true),
            ("./src/a", "src/a", true),
            ("**/*.{key,pem}", "a/b.pem", true),
            (".", "anything/at/all", true),
            ("**", "anything", true),
        ] {
            let pattern_read = PathPattern::new(pattern, PathCaseSensitivity::Exact).unwrap();
            assert_eq!(pattern_read.matches(&path(given)), meant, "{pattern} {given}");
        }
    }

    #[test]
    fn path_pattern_with_folded_case_matches_uppercase() {
        let exact = PathPattern::new(".env", PathCaseSensitivity::Exact).unwrap();
        let folded = PathPattern::new(".env", PathCaseSensitivity::Folded).unwrap();
        assert_eq!((exact.matches(&path(".ENV")), folded.matches(&path(".ENV"))), (false, true));
    }

    #[test]
    fn path_pattern_may_lie_beneath_its_parent_folders() {
        for (pattern, folder, above) in [
            ("src/secret/*.key", "src", true),
            ("src/secret/*.key", "SRC", true),
            ("src/secret/*.key", "src/secret", true),
            ("src/secret/*.key", "src/secret/deep", false),
            ("src/secret/*.key", "lib", false),
            ("src/secret/*.key", "src/secretive", false),
            ("src/*/key", "src/any", true),
            ("src/*/key", "src/any/deep", false),
            ("src/**/key", "src/any/deep", true),
            ("src/{a,b/c}/key", "src/b/c", true),
            ("{src,lib}/key", "lib", true),
            ("{src,lib}/key", "bin", false),
        ] {
            let read = PathPattern::new(pattern, PathCaseSensitivity::Folded).unwrap();
            assert_eq!(read.may_lie_beneath(&path(folder)), above, "{pattern} {folder}");
        }
        assert!(
            PathPattern::new(".env", PathCaseSensitivity::Folded)
                .unwrap()
                .may_lie_beneath(&WorkspacePath::root())
        );
    }

    #[test]
    fn path_pattern_leading_outside_or_invalid_is_refused() {
        for text in ["../x", "a/../b", "a[", "a{b"] {
            assert!(PathPattern::new(text, PathCaseSensitivity::Exact).is_err(), "{text}");
        }
    }
}
