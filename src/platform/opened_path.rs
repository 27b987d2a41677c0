//! The present path of an open file, which shows what the name that it was opened by led to.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Returns the absolute path of the object that is open as `file`, without links, and in the case
/// in which the file system has it.
///
/// # Errors
/// The system does not tell it. A deleted object may have an odd name.
#[cfg(target_os = "linux")]
pub(crate) fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}

/// Returns the absolute path of the object that is open as `file`, without links, and in the case
/// in which the file system has it.
///
/// # Errors
/// The object has no name any more, or the system does not tell it.
#[cfg(target_vendor = "apple")]
pub(crate) fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let path = rustix::fs::getpath(file)?;
    Ok(std::ffi::OsString::from_vec(path.into_bytes()).into())
}

/// Other systems do not tell it.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(crate) fn path_of(_: impl AsFd) -> io::Result<PathBuf> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn path_of_an_open_file_has_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink("file", root.join("link")).unwrap();
        let open = std::fs::File::open(root.join("link")).unwrap();
        assert_eq!(path_of(&open).unwrap(), root.join("file"));
        std::fs::rename(root.join("file"), root.join("moved")).unwrap();
        assert_eq!(path_of(&open).unwrap(), root.join("moved"));
    }
}
