//! Globs that come from outside, compiled within limits. The glob crate follows braces within braces by recursion, and takes
//! for granted that what it has read can be compiled.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// The longest glob, in bytes: longer than any path that it could mean.
pub(super) const MAX_GLOB_BYTES: usize = 4_096;
/// How deep braces may stand within one another.
const MAX_GLOB_BRACE_DEPTH: usize = 100;

/// What keeps `glob` from being read.
pub(crate) fn glob_fault(glob: &str) -> Option<String> {
    if glob.len() > MAX_GLOB_BYTES {
        return Some(format!("it has {} bytes, more than {MAX_GLOB_BYTES}", glob.len()));
    }
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in glob.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    (deepest > MAX_GLOB_BRACE_DEPTH)
        .then(|| format!("its braces are {deepest} deep, more than {MAX_GLOB_BRACE_DEPTH}"))
}

/// `glob`, read as `set_up` says.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read_glob<'g>(
    glob: &'g str,
    set_up: impl FnOnce(&mut GlobBuilder<'g>),
) -> Result<Glob, String> {
    if let Some(fault) = glob_fault(glob) {
        return Err(fault);
    }
    let mut builder = GlobBuilder::new(glob);
    set_up(&mut builder);
    builder.build().map_err(|error| error.kind().to_string())
}

/// What matches any of `globs`.
///
/// # Errors
/// What is too large about them.
pub(crate) fn build_glob_set(globs: impl IntoIterator<Item = Glob>) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob);
    }
    set.build().map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(glob: &str) -> Result<GlobSet, String> {
        build_glob_set([read_glob(glob, |builder| {
            builder.literal_separator(true);
        })?])
    }

    #[test]
    fn glob_with_excessive_brace_nesting_is_refused() {
        let nested = |levels: usize| format!("{}a{}", "{".repeat(levels), "}".repeat(levels));
        assert!(tried(&nested(100)).unwrap().is_match("a"));
        assert!(tried(&nested(101)).unwrap_err().contains("101 deep"));
        assert!(tried(&nested(1_000_000)).unwrap_err().contains("bytes"));
        assert!(tried(&"[a-z]{a,b}".repeat(350)).is_ok());
        assert!(tried("a{b").is_err());
    }
}
