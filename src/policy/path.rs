//! Patterns for paths of the workspace.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet};

use crate::text::{build_glob_set, read_glob};
use crate::workspace::WorkspacePath;

/// A glob in the syntax of `.gitignore`. A pattern with a `/` starts at the workspace's root,
/// others match at any depth. `*` stays within one name, `**` does not. A path below a matching
/// path matches too.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    globs: GlobSet,
    /// The leading names of the pattern that contain no wildcard.
    fixed: PathBuf,
    /// True if the pattern starts at the root.
    anchored: bool,
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
        let plain = |name: &&str| !name.contains(['*', '?', '[', '{']);
        let fixed = base.split('/').take_while(plain).collect();
        Ok(Self { globs, fixed, anchored: anchored || whole })
    }

    /// Returns true if the pattern matches `path` or a folder that contains it.
    pub(crate) fn matches(&self, path: &WorkspacePath) -> bool {
        self.globs.is_match(path.as_path())
    }

    /// Returns true if a matching path may lie below the folder `path`, so that moving or deleting
    /// the folder affects it.
    pub(crate) fn may_lie_beneath(&self, path: &WorkspacePath) -> bool {
        path.is_root() || (self.anchored && is_above(path.as_path(), &self.fixed))
    }
}

fn is_above(folder: &Path, below: &Path) -> bool {
    below.starts_with(folder)
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
        let pattern = PathPattern::new("src/secret/*.key", PathCaseSensitivity::Folded).unwrap();
        for (folder, above) in [("src", true), ("src/secret", true), ("lib", false), ("src/secretive", false)]
        {
            assert_eq!(pattern.may_lie_beneath(&path(folder)), above, "{folder}");
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
