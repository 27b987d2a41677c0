//! The POSIX shell that runs a command line.

use std::path::PathBuf;

/// True if a login shell may replace PATH by another one.
pub(crate) const MAY_REPLACE_PATH: bool = cfg!(unix);

/// Returns the absolute path of the shell; `None` if no shell is found.
#[cfg(unix)]
pub(crate) fn program() -> Option<PathBuf> {
    Some("/bin/sh".into())
}

/// Returns the absolute path of the shell that Git for Windows brings; `None` if it is not where
/// its installer puts it. A `bash.exe` on the search path may be that of another system (WSL), and
/// the rules about commands are not about lines of `cmd.exe`.
#[cfg(windows)]
pub(crate) fn program() -> Option<PathBuf> {
    let folders = ["ProgramFiles", "ProgramW6432", "LOCALAPPDATA"].into_iter().filter_map(std::env::var_os);
    let mut places = folders.flat_map(|folder| {
        let folder = PathBuf::from(folder);
        [folder.join(r"Git\bin\bash.exe"), folder.join(r"Programs\Git\bin\bash.exe")]
    });
    places.find(|shell| shell.is_file())
}
