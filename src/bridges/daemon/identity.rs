//! The identity of a daemon: workspace, binary, and part of the environment.
//!
//! Two commands share a daemon if they agree in all three. The part of the environment consists of
//! the variables that language servers and our own folders depend on.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::config::Folders;
use crate::platform::OsStrExt;
use crate::platform::files::stat;
use crate::platform::inode::InodeIdentity;
use crate::process::environment;
use crate::text::{PartsHasher, hex};
use crate::workspace::FileStamp;

/// The bytes of the hash in a daemon's file names. They keep a socket's path far below the limit of
/// 108 bytes.
const KEY_BYTES: usize = 10;

/// Our own variables that affect one command only, not the shared state.
const OF_ONE_COMMAND: &[&str] = &[NO_DAEMON, "LSP_TOOLS_LOG"];

/// If this variable is set and not empty, commands use no daemon.
pub(crate) const NO_DAEMON: &str = "LSP_TOOLS_NO_DAEMON";

/// Returns true if the environment disables the daemon.
pub(crate) fn is_daemon_disabled() -> bool {
    std::env::var_os(NO_DAEMON).is_some_and(|value| !value.is_empty())
}

/// The identity of a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DaemonIdentity {
    root: PathBuf,
    binary: BinaryFingerprint,
    key: String,
}

/// The identity of a program file at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BinaryFingerprint {
    path: PathBuf,
    identity: InodeIdentity,
    size: u64,
    modified_ns: i64,
}

impl DaemonIdentity {
    /// Computes the identity for the workspace at `root` (canonical), this process's environment,
    /// and the program at `binary`.
    ///
    /// # Errors
    /// The program's file is gone.
    pub(crate) fn find(root: &Path, folders: &Folders, binary: &Path) -> io::Result<Self> {
        Ok(Self::new(root, folders, BinaryFingerprint::from_file(binary)?, std::env::vars_os()))
    }

    fn new(
        root: &Path,
        folders: &Folders,
        binary: BinaryFingerprint,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Self {
        let mut hasher = PartsHasher::default();
        let mut add = |bytes: &[u8]| hasher.add(bytes);
        add(env!("CARGO_PKG_VERSION").as_bytes());
        add(root.as_os_str().as_bytes());
        for folder in [&folders.config, &folders.data, &folders.state, &folders.cache] {
            add(folder.as_os_str().as_bytes());
        }
        add(binary.path.as_os_str().as_bytes());
        for number in
            [binary.identity.device, binary.identity.inode, binary.size, binary.modified_ns.cast_unsigned()]
        {
            add(&number.to_le_bytes());
        }
        for (name, value) in relevant_variables(variables) {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        let key = hex(&hasher.finish()[..KEY_BYTES]);
        Self { root: root.to_owned(), binary, key }
    }

    /// The root of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The program file.
    pub(crate) fn binary(&self) -> &BinaryFingerprint {
        &self.binary
    }

    /// The base name of the daemon's files, without suffixes.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }
}

/// The variables that are part of the identity, sorted by name.
fn relevant_variables(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let all: Vec<_> = variables.collect();
    let own = all.iter().filter(|(name, _)| {
        name.as_bytes().starts_with(b"LSP_TOOLS_") && !OF_ONE_COMMAND.iter().any(|known| name == known)
    });
    let own: Vec<_> = own.cloned().collect();
    let passed = environment::relevant_variables(all.into_iter());
    let mut chosen: Vec<_> = passed.into_iter().chain(own).collect();
    // The daemon is started through a shell, and some shells drop variables with invalid names.
    chosen.retain(|(name, _)| is_shell_name(name));
    chosen.sort();
    chosen.dedup();
    chosen
}

fn is_shell_name(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && bytes.first().is_some_and(|first| !first.is_ascii_digit())
}

impl BinaryFingerprint {
    /// Reads the current identity of the file at `path`.
    ///
    /// # Errors
    /// The file cannot be found or inspected.
    pub(crate) fn from_file(path: &Path) -> io::Result<Self> {
        let stat = stat(path)?;
        let (identity, seen) = (InodeIdentity::from_stat(&stat), FileStamp::from_stat(&stat));
        Ok(Self { path: path.to_owned(), identity, size: seen.size, modified_ns: seen.mtime_ns })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the path now refers to another file, or to none.
    pub(crate) fn is_replaced(&self) -> bool {
        !Self::from_file(&self.path).is_ok_and(|now| now == *self)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn key(root: &str, variables: &[(&str, &str)]) -> String {
        let folders = Folders {
            config: "/c".into(),
            data: "/d".into(),
            state: "/s".into(),
            cache: "/e".into(),
            home: None,
        };
        let binary = BinaryFingerprint {
            path: "/bin/x".into(),
            identity: InodeIdentity { device: 1, inode: 2 },
            size: 3,
            modified_ns: 4,
        };
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        DaemonIdentity::new(Path::new(root), &folders, binary, variables).key
    }

    #[test]
    fn daemon_key_depends_only_on_relevant_environment_variables() {
        let usual = key("/w", &[("PATH", "/bin"), ("HOME", "/h")]);
        assert_eq!(usual.len(), 2 * KEY_BYTES);
        let same = [
            &[("HOME", "/h"), ("PATH", "/bin")][..],
            &[("PATH", "/bin"), ("HOME", "/h"), ("TERM", "dumb"), ("LC_ALL", "C"), ("XDG_SESSION_ID", "9")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("AWS_SECRET_KEY", "x"), ("ANYTHING", "y")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("CARGO_BIN_EXE_lsp-tools", "x")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("PYENV_DIR", "/elsewhere"), ("RBENV_HOOK_PATH", "x")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("LSP_TOOLS_LOG", "debug"), (NO_DAEMON, "1")],
        ];
        for variables in same {
            assert_eq!(key("/w", variables), usual, "{variables:?}");
        }
        let other = [
            &[("PATH", "/usr/bin"), ("HOME", "/h")][..],
            &[("PATH", "/bin"), ("HOME", "/h"), ("VIRTUAL_ENV", "/v")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("CONDA_PREFIX", "/v")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("PYENV_VERSION", "3.12.1")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("XDG_CONFIG_HOME", "/v")],
            &[("PATH", "/bin"), ("HOME", "/h"), ("LSP_TOOLS_AGENT", "researcher")],
        ];
        for variables in other {
            assert_ne!(key("/w", variables), usual, "{variables:?}");
        }
        assert_ne!(key("/v", &[("PATH", "/bin"), ("HOME", "/h")]), usual);
    }

    #[test]
    fn daemon_key_separates_variable_name_and_value() {
        assert_ne!(key("/w", &[("CARGO_X", "YZ")]), key("/w", &[("CARGO_XY", "Z")]));
    }

    #[test]
    fn binary_fingerprint_detects_replaced_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("program"), folder.path().join("other"));
        fs::write(&path, "one").unwrap();
        let binary = BinaryFingerprint::from_file(&path).unwrap();
        assert!(!binary.is_replaced());
        fs::write(&other, "one").unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(binary.is_replaced());
        fs::remove_file(&path).unwrap();
        assert!(binary.is_replaced());
    }
}
