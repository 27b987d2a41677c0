//! The present path of an open file, which shows what the name that it was opened by led to.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

#[cfg(target_vendor = "apple")]
use super::OsStringExt;

/// Returns the absolute path of the object that is open as `file`, without links, and in the case
/// in which the file system has it.
///
/// # Errors
/// The system does not tell it. The path of a deleted object is an error, or an odd one.
pub(crate) fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    return std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file.as_fd())));
    #[cfg(target_vendor = "apple")]
    return Ok(std::ffi::OsString::from_vec(rustix::fs::getpath(file)?.into_bytes()).into());
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    return Err(io::ErrorKind::Unsupported.into());
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
