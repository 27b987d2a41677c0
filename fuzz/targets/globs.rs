//! Globs and patterns of settings, rules and watchers: parsed and matched in bounded time, equal to
//! the underlying crates.

use std::path::Path;
use std::time::Duration;

use crate::policy::name;
use crate::policy::path::{PathCaseSensitivity, PathPattern};
use crate::text::{build_glob_set, read_glob};
use crate::workspace::WorkspacePath;
use globset::GlobBuilder;
use ignore::gitignore::GitignoreBuilder;

use super::draw::Draw;
use super::{peak_of, thread_time};

const TIME: Duration = Duration::from_secs(3);
const MEMORY: usize = 256 << 20;

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let path = String::from_utf8_lossy(draw.part()).into_owned();
    let pattern = draw.swollen(1 << 16);
    let pattern = String::from_utf8_lossy(&pattern);
    let begun = thread_time();
    let ((), peak) = peak_of(|| judge(&pattern, &path));
    let took = thread_time() - begun;
    assert!(took < TIME, "{pattern:?} {path:?}: {:?}", took);
    assert!(peak < MEMORY, "{pattern:?} takes {peak} bytes");
}

fn judge(pattern: &str, path: &str) {
    let by_name = name::matches(pattern, path);
    if !pattern.contains('*') {
        assert_eq!(by_name, pattern == path, "{pattern:?} {path:?}");
    }
    let ours = read_glob(pattern, |glob| {
        glob.literal_separator(true);
    });
    if let Ok(set) = ours.and_then(|glob| build_glob_set([glob])) {
        let theirs =
            GlobBuilder::new(pattern).literal_separator(true).build().expect("a glob").compile_matcher();
        assert_eq!(set.is_match(path), theirs.is_match(path), "{pattern:?} {path:?}");
    }
    let Ok(place) = WorkspacePath::root().join(path) else { return };
    let exact = PathPattern::new(pattern, PathCaseSensitivity::Exact);
    let folded = PathPattern::new(pattern, PathCaseSensitivity::Folded);
    let (Ok(exact), Ok(folded)) = (exact, folded) else { return };
    if exact.matches(&place) {
        assert!(folded.matches(&place), "{pattern:?} {path:?}");
        for above in place.as_path().ancestors().skip(1) {
            let above = WorkspacePath::root().join(above.to_str().expect("a text")).expect("a path");
            let below = exact.may_lie_beneath(&above) || exact.matches(&above);
            // The meaning of a pattern with a star depends on the files.
            let plain =
                pattern.trim_end_matches('/').contains('/') && !pattern.contains(['*', '?', '[', '{', '\\']);
            assert!(below || !plain, "{pattern:?} {path:?} below {above:?}");
        }
    }
    let plain = |character: char| character.is_ascii_lowercase() || "/*.-_".contains(character);
    let odd = ["//", "./", "***"].iter().any(|odd| pattern.contains(odd)) || pattern.ends_with(['/', '.']);
    if pattern.chars().all(plain) && !odd && !pattern.is_empty() && !place.is_root() {
        let mut builder = GitignoreBuilder::new("/");
        if builder.add_line(None, pattern).is_ok() {
            let git = builder.build().expect("rules");
            let theirs = git.matched_path_or_any_parents(Path::new(place.as_path()), false).is_ignore();
            assert_eq!(exact.matches(&place), theirs, "{pattern:?} {:?}", place.as_path());
        }
    }
}
