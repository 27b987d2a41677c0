//! Paths inside the workspace, checked so that they cannot leave it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::platform::OsStrExt;
use crate::platform::paths::{is_usable_path, with_slashes};
use crate::text::notebook::NOTEBOOK_EXTENSION;

/// A path relative to the workspace's root: normalised, without `..`, never absolute; empty for the
/// root itself.
///
/// The path denotes a place, not an existing file; the kernel decides whether symlinks on the way
/// lead out when the file is opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(Arc<Path>);

/// The reasons why a given path is not inside the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is absolute and elsewhere, or climbs above the root.
    #[error("`{given}` lies outside the workspace; give a path below the workspace's root")]
    Outside {
        /// The given path, made printable.
        given: String,
    },
    /// The path is a URI.
    #[error("`{given}` is a URI; give a path of the workspace")]
    Uri {
        /// The given URI, made printable.
        given: String,
    },
    /// No file name can contain a NUL character.
    #[error("`{given}` contains a NUL character; remove it")]
    Nul {
        /// The given path, made printable.
        given: String,
    },
    /// A name in the path is reserved by the system, such as that of a device.
    #[error("`{given}` contains a name that Windows does not allow for a file; give another")]
    Reserved {
        /// The given path, made printable.
        given: String,
    },
    /// The path is longer than any that can be opened.
    #[error(
        "`{given}` has {bytes} bytes, more than the limit of {MAX_PATH_BYTES} for a path; give a shorter one"
    )]
    TooLong {
        /// The beginning of the given path, made printable.
        given: String,
        /// Its length, or that of the resulting absolute path.
        bytes: usize,
    },
    /// One of its names is longer than any file system allows.
    #[error(
        "`{given}` contains a name of {bytes} bytes, more than the limit of {MOST_NAME_BYTES}; give a shorter one"
    )]
    LongName {
        /// The beginning of the given path, made printable.
        given: String,
        /// The length of the name.
        bytes: usize,
    },
    /// The path leads through too many folders.
    #[error(
        "`{given}` is {levels} levels deep, more than the limit of {MAX_PATH_DEPTH}; give a shallower path"
    )]
    TooDeep {
        /// The beginning of the given path, made printable.
        given: String,
        /// The number of its names.
        levels: usize,
    },
}

/// The maximum length of a path in bytes, as in Linux without the NUL at its end.
pub(super) const MAX_PATH_BYTES: usize = 4_095;
/// The maximum length of one name in bytes.
const MOST_NAME_BYTES: usize = 255;
/// The maximum depth below the root. A path of [`MAX_PATH_BYTES`] could have eight times as many
/// names, but real projects do not, and walks keep some memory for each level.
pub(super) const MAX_PATH_DEPTH: usize = 256;
/// The maximum number of bytes of the given path in an error.
const SHOWN_BYTES: usize = 160;

impl WorkspacePath {
    /// The root itself.
    pub fn root() -> Self {
        Self(Arc::from(Path::new("")))
    }

    pub(super) fn new(relative: PathBuf) -> Self {
        Self(Arc::from(with_slashes(relative)))
    }

    /// Converts `given`, itself relative, to a path beneath the root.
    pub(super) fn from_relative(given: &Path) -> Result<Self, PathError> {
        check_given(given)?;
        match normalise(given) {
            Some(path) if path.components().all(|part| matches!(part, Component::Normal(_))) => {
                Self::new_checked(path, given)
            }
            _ => Err(PathError::Outside { given: truncate_printable(given) }),
        }
    }

    /// Checks `path`, which is normal and relative, against the limits of file systems; `given` is
    /// the caller's form of it.
    pub(super) fn new_checked(path: PathBuf, given: &Path) -> Result<Self, PathError> {
        if !is_usable_path(&path) {
            return Err(PathError::Reserved { given: truncate_printable(given) });
        }
        let lengths = path.components().map(|name| name.as_os_str().len());
        let (levels, bytes) =
            lengths.fold((0, 0), |(levels, longest), bytes| (levels + 1, longest.max(bytes)));
        if bytes > MOST_NAME_BYTES {
            return Err(PathError::LongName { given: truncate_printable(given), bytes });
        }
        if levels > MAX_PATH_DEPTH {
            return Err(PathError::TooDeep { given: truncate_printable(given), levels });
        }
        Ok(Self::new(path))
    }

    /// The relative path; empty for the root.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Returns true if this is the root itself.
    pub(crate) fn is_root(&self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// Formats the path for people and answers: `/` between names, `.` for the root.
    ///
    /// The result is always printable: control characters (`\n`), characters that turn the
    /// direction of writing (`\u{202e}`) and bytes that are not UTF-8 (`\xff`) are escaped, and in
    /// a name with any of these so is the backslash itself.
    pub fn display(&self) -> String {
        if self.is_root() {
            return ".".to_owned();
        }
        let mut shown = String::with_capacity(self.0.as_os_str().len());
        for component in self.0.components() {
            if !shown.is_empty() {
                shown.push('/');
            }
            shown.push_str(&escape_unprintable(component.as_os_str()));
        }
        shown
    }

    /// Returns true if [`display`](Self::display) changes the path.
    pub(crate) fn is_escaped(&self) -> bool {
        !is_printable(self.0.as_os_str())
    }

    /// Returns the part after the last dot of the name (`rs` of `lib.rs`); `None` without one, or
    /// if it is not UTF-8.
    pub(crate) fn extension(&self) -> Option<&str> {
        self.0.extension().and_then(OsStr::to_str)
    }

    /// Returns the last name; `None` for the root, or if it is not UTF-8.
    pub(crate) fn file_name(&self) -> Option<&str> {
        self.0.file_name().and_then(OsStr::to_str)
    }

    /// Returns the last name, with U+FFFD for bytes that are not UTF-8: enough to determine the
    /// language. Empty for the root.
    pub(crate) fn name_lossy(&self) -> Cow<'_, str> {
        self.0.file_name().map_or(Cow::Borrowed(""), OsStr::to_string_lossy)
    }

    /// Returns true if its extension is that of Jupyter notebooks.
    pub(crate) fn is_notebook(&self) -> bool {
        self.extension() == Some(NOTEBOOK_EXTENSION)
    }

    /// Returns true for the file name of a prose document: no other file depends on its text.
    pub(crate) fn is_prose(&self) -> bool {
        const PROSE: [&str; 6] = ["adoc", "markdown", "md", "mdx", "rst", "txt"];
        self.extension().is_some_and(|end| PROSE.contains(&end))
    }

    /// The folder it lies in; `None` for the root.
    pub(crate) fn parent(&self) -> Option<WorkspacePath> {
        self.0.parent().map(|parent| Self(Arc::from(parent)))
    }

    /// Returns the path and the folders above it, up to the root.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = WorkspacePath> + use<> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// Returns true if the path is `folder`, or below it.
    pub(crate) fn starts_with(&self, folder: &WorkspacePath) -> bool {
        self.0.starts_with(&folder.0)
    }

    /// The path after a move of the folder `from` to `to`; `None` if it is not in that folder.
    pub(crate) fn moved(&self, from: &WorkspacePath, to: &WorkspacePath) -> Option<WorkspacePath> {
        let rest = self.0.strip_prefix(&from.0).ok()?;
        if rest.as_os_str().is_empty() {
            return Some(to.clone());
        }
        Self::from_relative(&to.0.join(rest)).ok()
    }

    /// Joins `relative` to this path; `..` is resolved lexically and may not climb above the root.
    ///
    /// # Errors
    /// [`PathError`] if `relative` is absolute, climbs out or contains a NUL character.
    pub(crate) fn join(&self, relative: &str) -> Result<WorkspacePath, PathError> {
        Self::from_relative(&self.0.join(relative))
    }
}

/// Removes `.` from `path` and applies `..` to the name before it; `None` if the path climbs above
/// its start.
///
/// This is lexical on purpose: agents and editors write text, and the kernel decides when it is
/// opened.
pub(crate) fn normalise(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            other => normal.push(other),
        }
    }
    Some(normal)
}

/// Refuses an impossible path before any use of it.
pub(super) fn check_given(given: &Path) -> Result<(), PathError> {
    let bytes = given.as_os_str().as_encoded_bytes();
    if bytes.len() > MAX_PATH_BYTES {
        return Err(PathError::TooLong { given: truncate_printable(given), bytes: bytes.len() });
    }
    if bytes.contains(&0) {
        return Err(PathError::Nul { given: truncate_printable(given) });
    }
    if is_uri(bytes) {
        return Err(PathError::Uri { given: truncate_printable(given) });
    }
    Ok(())
}

/// Returns true if `text` begins with a scheme and an authority (RFC 3986, section 3).
fn is_uri(text: &[u8]) -> bool {
    let scheme = text.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    scheme.len() > 1 && scheme.iter().all(is_scheme) && text[scheme.len()..].starts_with(b"://")
}

/// The beginning of `given`, printable, for errors.
pub(super) fn truncate_printable(given: &Path) -> String {
    let bytes = given.as_os_str().as_encoded_bytes();
    if bytes.len() <= SHOWN_BYTES {
        return escape_unprintable(given.as_os_str());
    }
    // A character that is cut in two would be shown by its bytes.
    let starts = |at: &usize| bytes[*at] & 0b1100_0000 != 0b1000_0000;
    let end = (SHOWN_BYTES - 3..=SHOWN_BYTES).rev().find(starts).unwrap_or(SHOWN_BYTES);
    format!("{}…", escape_unprintable(OsStr::from_bytes(&bytes[..end])))
}

/// Escapes everything in `text` that a terminal could interpret.
pub(crate) fn escape_unprintable(text: &OsStr) -> String {
    let mut shown = String::with_capacity(text.len());
    let escapes = !is_printable(text);
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            // If something is escaped, a backslash of the name itself is too, so that the escaping
            // is reversible.
            if character.is_control() || is_invisible_control(character) || (escapes && character == '\\') {
                shown.extend(character.escape_default());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// Returns true if [`escape_unprintable`] does not change `text`.
fn is_printable(text: &OsStr) -> bool {
    text.to_str().is_some_and(|text| {
        !text.chars().any(|character| character.is_control() || is_invisible_control(character))
    })
}

/// Characters that break lines or turn the direction of writing without being `char::is_control`.
fn is_invisible_control(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(given: &str) -> Result<WorkspacePath, PathError> {
        WorkspacePath::from_relative(Path::new(given))
    }

    #[test]
    fn relative_path_is_normalised() {
        for (given, expected) in [
            ("a/b.rs", "a/b.rs"),
            ("./a//./b.rs", "a/b.rs"),
            ("a/../b.rs", "b.rs"),
            ("", "."),
            ("a/..", "."),
            ("a/", "a"),
        ] {
            assert_eq!(relative(given).map(|path| path.display()), Ok(expected.to_owned()), "{given}");
        }
    }

    #[test]
    fn relative_path_leading_outside_is_refused() {
        for given in ["..", "../a", "a/../../b", "a/../..", "/etc/passwd"] {
            assert!(matches!(relative(given), Err(PathError::Outside { .. })), "{given}");
        }
        assert!(matches!(relative("a\0b"), Err(PathError::Nul { .. })));
    }

    #[test]
    fn path_too_long_or_too_deep_is_refused_with_limit() {
        let error = |given: &str| relative(given).unwrap_err().to_string();
        let deep = "a/".repeat(257);
        assert!(
            error(&deep).ends_with("is 257 levels deep, more than the limit of 256; give a shallower path")
        );
        assert!(error(&"x".repeat(256)).contains("a name of 256 bytes, more than the limit of 255"));
        let long = error(&"a/".repeat(500_000));
        assert!(
            long.contains("has 1000000 bytes, more than the limit of 4095") && long.len() < 300,
            "{long}"
        );
        let cut = error(&format!("{}é{}", "x".repeat(SHOWN_BYTES - 1), "x".repeat(200)));
        assert!(cut.starts_with(&format!("`{}…` contains", "x".repeat(SHOWN_BYTES - 1))), "{cut}");
        assert!(error(&format!("../{}", "é".repeat(500))).len() < 300);
        // The result after resolving `..` decides, as long as the whole is a path.
        assert!(relative(&"a/../".repeat(800)).is_ok());
        assert!(relative(&"a/".repeat(256)).is_ok() && relative(&"x".repeat(255)).is_ok());
    }

    #[test]
    #[cfg_attr(windows, ignore = "names are no bytes on Windows")]
    fn path_display_escapes_control_and_invalid_bytes() {
        let path =
            WorkspacePath::new(PathBuf::from(OsStr::from_bytes(b"d/a\nb\x1b[31m\xff\xe2\x80\xaex\xc3\xa9")));
        assert_eq!(path.display(), "d/a\\nb\\u{1b}[31m\\xff\\u{202e}xé");
        let name = |name: &[u8]| WorkspacePath::new(PathBuf::from(OsStr::from_bytes(name)));
        assert_eq!(name(b"a\\xff").display(), "a\\xff", "nothing to escape");
        assert_eq!(name(b"a\\\xff").display(), "a\\\\\\xff");
        assert!(name(b"a\xff").is_escaped() && !name(b"a\\xff").is_escaped());
        let odd = name(b"d/\xff.py");
        assert_eq!((odd.file_name(), odd.name_lossy().as_ref()), (None, "\u{fffd}.py"));
    }

    #[test]
    fn path_parts_are_split_and_join_outside_is_refused() {
        let path = relative("src/a.tar.gz").unwrap();
        assert_eq!(path.extension(), Some("gz"));
        assert_eq!(path.file_name(), Some("a.tar.gz"));
        let parent = path.parent().unwrap();
        assert_eq!(parent.display(), "src");
        assert!(parent.parent().unwrap().is_root());
        assert_eq!(WorkspacePath::root().parent(), None);
        assert_eq!(parent.join("../x.rs").unwrap().display(), "x.rs");
        assert!(parent.join("/etc").is_err());
        assert!(parent.join("../../x").is_err());
    }
}
