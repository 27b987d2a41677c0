//! Paths as the system resolves them, and the names of programs.

use std::path::{Path, PathBuf};

/// Returns `path` absolute and without links, spelled as other programs spell it. The object must
/// exist.
///
/// # Errors
/// The system cannot resolve it.
pub(crate) fn canonicalize(path: impl AsRef<Path>) -> std::io::Result<PathBuf> {
    #[cfg(unix)]
    return std::fs::canonicalize(path);
    // `\\?\C:\a` is the same as `C:\a`, which all programs understand.
    #[cfg(windows)]
    return dunce::canonicalize(path);
}

/// Returns true if the file at `path`, links followed, is regular and may be run by some user.
#[cfg(unix)]
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns true if the file at `path`, links followed, is regular and has the name of a program or
/// of a script that the system's command interpreter runs.
#[cfg(windows)]
pub(crate) fn is_program(path: &Path) -> bool {
    let extension = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    ["exe", "com", "cmd", "bat"].iter().any(|program| program.eq_ignore_ascii_case(extension))
        && path.is_file()
}
