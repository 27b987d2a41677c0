//! The user's folders for configuration, data, state and caches.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::platform::private;
use crate::platform::private::PrivateError;
use crate::platform::user::{PrivateFolderKind, UserFolders, folders_of};

const APPLICATION: &str = "lsp-tools";
/// The store of trusted projects, in the state folder.
pub(super) const TRUST_STORE: &str = "trust.json";

/// The user's folders for this program. Asking for its path creates no folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// `servers.toml` and `lsp-tools.toml`: `$XDG_CONFIG_HOME/lsp-tools` (on Windows
    /// `%APPDATA%\lsp-tools`), or the folder in `LSP_TOOLS_CONFIG_DIR`.
    pub config: PathBuf,
    /// Installed servers: `$XDG_DATA_HOME/lsp-tools` (on Windows, this and the following lie in
    /// `%LOCALAPPDATA%\lsp-tools`), or the folder in `LSP_TOOLS_DATA_DIR`.
    pub data: PathBuf,
    /// Logs and the trust store: `$XDG_STATE_HOME/lsp-tools`, or the folder in
    /// `LSP_TOOLS_STATE_DIR`.
    pub state: PathBuf,
    /// Files that may be deleted at any time: `$XDG_CACHE_HOME/lsp-tools`, or the folder in
    /// `LSP_TOOLS_CACHE_DIR`.
    pub cache: PathBuf,
    /// The user's home, where other programs keep files that are shared with us (skills). We write
    /// nothing there.
    pub home: Option<PathBuf>,
}

/// The user's folders cannot be determined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldersError {
    /// No home directory.
    #[error("there is no home directory; set HOME, or {0} to an absolute path")]
    Homeless(&'static str),
    /// A variable holds a path that depends on where the program was started.
    #[error("{variable} is `{value}`, which is not an absolute path; give one from `/`")]
    Relative {
        /// The environment variable.
        variable: &'static str,
        /// The value of the variable.
        value: String,
    },
}

impl Folders {
    /// Finds the folders that this process's environment names.
    ///
    /// # Errors
    /// There is no home directory and not all four variables are set, or one of them holds a
    /// relative path.
    pub fn find() -> Result<Self, FoldersError> {
        Self::from(|variable| std::env::var_os(variable), folders_of(APPLICATION))
    }

    /// Ensures that no other user can enter the existing folders, before anything in them is used.
    ///
    /// # Errors
    /// A folder belongs to another user, or others could have changed its trusted content.
    pub(crate) fn ensure_private(&self) -> Result<(), PrivateError> {
        private::ensure_folder_private(&self.state, PrivateFolderKind::State, "LSP_TOOLS_STATE_DIR")?;
        private::ensure_folder_private(&self.data, PrivateFolderKind::Programs, "LSP_TOOLS_DATA_DIR")?;
        private::ensure_folder_private(&self.cache, PrivateFolderKind::Cache, "LSP_TOOLS_CACHE_DIR")
    }

    /// The user's own files of servers and of settings.
    pub(crate) fn servers_file(&self) -> PathBuf {
        self.config.join("servers.toml")
    }

    /// The user's settings.
    pub(crate) fn settings_file(&self) -> PathBuf {
        self.config.join("lsp-tools.toml")
    }

    /// The store of trusted projects.
    pub(crate) fn trust_file(&self) -> PathBuf {
        self.state.join(TRUST_STORE)
    }

    fn from(
        variable: impl Fn(&str) -> Option<OsString>,
        base: Option<UserFolders>,
    ) -> Result<Self, FoldersError> {
        let folder = |name: &'static str, usual: fn(&UserFolders) -> &PathBuf| match variable(name) {
            Some(value) if !value.is_empty() => {
                let path = PathBuf::from(value);
                if path.is_absolute() {
                    return Ok(path);
                }
                Err(FoldersError::Relative { variable: name, value: path.display().to_string() })
            }
            _ => base.as_ref().map(usual).cloned().ok_or(FoldersError::Homeless(name)),
        };
        Ok(Self {
            config: folder("LSP_TOOLS_CONFIG_DIR", |base| &base.config)?,
            data: folder("LSP_TOOLS_DATA_DIR", |base| &base.data)?,
            state: folder("LSP_TOOLS_STATE_DIR", |base| &base.state)?,
            cache: folder("LSP_TOOLS_CACHE_DIR", |base| &base.cache)?,
            home: base.map(|base| base.home),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// An absolute path.
    const SET: &str = if cfg!(windows) { "C:/set" } else { "/set" };

    fn with(pairs: &'static [(&str, &str)], base: Option<UserFolders>) -> Result<Folders, FoldersError> {
        Folders::from(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()), base)
    }

    #[test]
    fn folder_variable_moves_only_its_folder() {
        let usual = with(&[], folders_of(APPLICATION)).unwrap();
        assert!(
            usual.config.ends_with("lsp-tools") && usual.config != usual.data && usual.state != usual.cache
        );
        let moved = with(&[("LSP_TOOLS_DATA_DIR", SET)], folders_of(APPLICATION)).unwrap();
        assert_eq!(moved, Folders { data: SET.into(), ..usual });
    }

    #[test]
    fn folders_from_all_four_variables_need_no_home_directory() {
        let pairs = &[
            ("LSP_TOOLS_CONFIG_DIR", SET),
            ("LSP_TOOLS_DATA_DIR", SET),
            ("LSP_TOOLS_STATE_DIR", SET),
            ("LSP_TOOLS_CACHE_DIR", SET),
        ];
        assert_eq!(with(pairs, None).unwrap().servers_file(), Path::new(SET).join("servers.toml"));
        assert_eq!(with(&pairs[..3], None), Err(FoldersError::Homeless("LSP_TOOLS_CACHE_DIR")));
    }

    #[test]
    fn relative_folder_variable_is_refused_by_name() {
        assert_eq!(
            with(&[("LSP_TOOLS_STATE_DIR", "state")], folders_of(APPLICATION)).unwrap_err().to_string(),
            "LSP_TOOLS_STATE_DIR is `state`, which is not an absolute path; give one from `/`"
        );
    }
}
