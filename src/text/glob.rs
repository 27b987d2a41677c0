//! Globs that come from outside, compiled within limits. The glob crate parses nested braces by
//! recursion, and assumes that every parsed glob can be compiled.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// The longest glob, in bytes: longer than any path that it could mean.
pub(super) const MAX_GLOB_BYTES: usize = 4_096;
/// The maximum nesting depth of braces.
const MAX_GLOB_BRACE_DEPTH: usize = 100;
/// The maximum number of globs that one with braces is expanded to.
const MAX_EXPANDED_GLOBS: usize = 200;

/// Returns the reason why `glob` cannot be read, if there is one.
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

/// Parses `glob` with the options of `set_up`.
///
/// # Errors
/// The fault of the glob.
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

/// Builds a set that matches if any of `globs` does.
///
/// # Errors
/// The limit that the globs exceed.
pub(crate) fn build_glob_set(globs: impl IntoIterator<Item = Glob>) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob);
    }
    set.build().map_err(|error| error.kind().to_string())
}

/// Expands `glob` into globs without braces; braces remain if there would be more than
/// [`MAX_EXPANDED_GLOBS`].
pub(crate) fn expand_braces(glob: &str) -> Vec<String> {
    let (mut expanded, mut open) = (Vec::new(), vec![glob.to_owned()]);
    while let Some(next) = open.pop() {
        let cuts = first_braces(&next).filter(|_| expanded.len() + open.len() < MAX_EXPANDED_GLOBS);
        match cuts.as_deref() {
            Some([first, .., last]) => {
                let (before, after) = (&next[..*first], &next[last + 1..]);
                let cuts = cuts.iter().flatten().copied();
                let parts = cuts.clone().zip(cuts.skip(1)).map(|(from, to)| &next[from + 1..to]);
                open.extend(parts.map(|part| format!("{before}{part}{after}")));
            }
            _ => expanded.push(next),
        }
    }
    expanded
}

/// The offsets of the first pair of braces in `glob` and of the commas between its alternatives.
fn first_braces(glob: &str) -> Option<Vec<usize>> {
    let (mut cuts, mut depth, mut is_escaped) = (Vec::new(), 0_usize, false);
    for (at, byte) in glob.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            b'{' => {
                depth += 1;
                if depth == 1 {
                    cuts.push(at);
                }
            }
            b',' if depth == 1 => cuts.push(at),
            b'}' if depth == 1 => {
                cuts.push(at);
                return Some(cuts);
            }
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
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

    #[test]
    fn braces_are_expanded_to_each_alternative() {
        let expanded = |glob: &str| {
            let mut all = expand_braces(glob);
            all.sort();
            all
        };
        assert_eq!(expanded("a/{.b,c{d,e}}/*.{x,y}").len(), 6);
        assert_eq!(expanded("{.a,b/.c}*"), [".a*", "b/.c*"]);
        assert_eq!(expanded(r"\{a,b}"), [r"\{a,b}"]);
        assert_eq!(expanded("{a"), ["{a"]);
        assert!(expanded(&"{a,b}".repeat(600)).len() <= MAX_EXPANDED_GLOBS + 1);
    }
}
