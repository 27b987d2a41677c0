//! The user of this process, and the files that belong to it.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The id of the user whose rights this process has.
#[cfg(unix)]
pub(crate) fn own_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns true if `user` is another user and this process does not run as root.
pub(crate) fn is_foreign(user: u32) -> bool {
    #[cfg(unix)]
    return own_id() != 0 && user != own_id();
    #[cfg(windows)]
    {
        let _ = user;
        false
    }
}

/// Returns the folder for sockets that the system makes for each user at the login, if it does.
pub(crate) fn runtime_folder() -> Option<PathBuf> {
    #[cfg(unix)]
    return Some(PathBuf::from(format!("/run/user/{}", own_id())));
    #[cfg(windows)]
    None
}

/// Returns true if the file belongs to the user of this process.
#[cfg(unix)]
pub(crate) fn is_own(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == own_id()
}

/// Returns true: Windows lets no other user into the folders in question.
#[cfg(windows)]
pub(crate) fn is_own(_: &Metadata) -> bool {
    true
}

/// The content of a folder of the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrivateFolderKind {
    /// Content that is trusted later because it is the user's own. A folder that others can write
    /// is refused, unless it is empty.
    State,
    /// Content that can be created again.
    Cache,
    /// Programs. The administrator may have installed them for all users. Their own files keep the
    /// modes that package managers gave them: nothing in them is the user's, some must be
    /// executable, and they lie in a folder that only the user enters.
    Programs,
}

/// The folders in which programs of a user keep their files.
#[derive(Debug, Clone)]
pub(crate) struct UserFolders {
    /// Settings.
    pub(crate) config: PathBuf,
    /// Files of installations.
    pub(crate) data: PathBuf,
    /// Files that outlive a run.
    pub(crate) state: PathBuf,
    /// Files that may be deleted at any time.
    pub(crate) cache: PathBuf,
    /// The home.
    pub(crate) home: PathBuf,
}

/// Returns the folder in which programs with windows keep their settings: on macOS another one than
/// that of other programs, `config`.
pub(crate) fn application_settings(home: &Path, config: &Path) -> PathBuf {
    if cfg!(target_vendor = "apple") { home.join("Library/Application Support") } else { config.to_owned() }
}

/// Returns the folders of the program `name`; `None` without a home directory.
#[cfg(unix)]
pub(crate) fn folders_of(name: &str) -> Option<UserFolders> {
    use etcetera::BaseStrategy;
    let base = etcetera::base_strategy::Xdg::new().ok()?;
    Some(UserFolders {
        config: base.config_dir().join(name),
        data: base.data_dir().join(name),
        state: base.state_dir().unwrap_or_else(|| base.data_dir()).join(name),
        cache: base.cache_dir().join(name),
        home: base.home_dir().to_owned(),
    })
}

/// Returns the folders of the program `name`; `None` without a profile. Only its settings follow
/// the user to other machines.
#[cfg(windows)]
pub(crate) fn folders_of(name: &str) -> Option<UserFolders> {
    use etcetera::BaseStrategy;
    let base = etcetera::base_strategy::Windows::new().ok()?;
    let local = base.cache_dir().join(name);
    Some(UserFolders {
        config: base.config_dir().join(name),
        data: local.join("data"),
        state: local.join("state"),
        cache: local.join("cache"),
        home: base.home_dir().to_owned(),
    })
}
