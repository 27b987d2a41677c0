//! The present path of an open file, with links resolved.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::files::AsFd;

#[cfg(target_vendor = "apple")]
use super::OsStringExt;

/// Returns the absolute path of the object that is open as `file`, without links, and in the case
/// in which the file system has it.
///
/// # Errors
/// The system does not report the path. A deleted object has no path, or an odd one.
pub(crate) fn path_of(file: impl AsFd) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    return std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file.as_fd())));
    #[cfg(target_vendor = "apple")]
    return Ok(std::ffi::OsString::from_vec(rustix::fs::getpath(file)?.into_bytes()).into());
    #[cfg(windows)]
    {
        use io_lifetimes::AsFilelike;
        let file = file.as_fd();
        let path = winx::file::get_file_path(&file.as_filelike_view::<std::fs::File>())?;
        Ok(dunce::simplified(&path).to_owned())
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple", windows)))]
    return Err(io::ErrorKind::Unsupported.into());
}

/// Returns the command that runs the open `file`, even if another file has replaced it at its path.
/// Its first argument is `name`.
#[cfg(linux_kernel)]
pub(crate) fn command(file: &File, name: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)));
    command.arg0(name);
    command
}

/// Other systems run a file by its path.
#[cfg(not(linux_kernel))]
pub(crate) fn command(_: &File, name: &Path) -> Command {
    Command::new(name)
}

#[cfg(all(test, unix))]
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
