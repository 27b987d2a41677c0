//! The change of one configuration file: its text now, its new text, and the write.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::InitError;
use crate::text::diff::{DiffOptions, unified_diff};
use crate::workspace::{ReadError, Workspace};

/// A host's settings are smaller.
const MAX_HOST_SETTINGS_BYTES: u64 = 16 << 20;

/// `text` with a line end behind its last line.
pub(super) fn with_line_end(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// What would become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InitFileChange {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its text now; `None` where it is not there.
    pub(crate) before: Option<String>,
    /// Its text then; `None` where it goes away.
    pub(crate) after: Option<String>,
}

impl InitFileChange {
    /// Whether it is there already, word by word.
    pub(crate) fn is_done(&self) -> bool {
        self.before == self.after
    }

    /// The difference, as a unified diff; empty where there is none.
    pub(crate) fn diff(&self) -> String {
        let name = self.path.display().to_string();
        let name = name.trim_start_matches('/');
        let before = self.before.as_deref();
        unified_diff(
            before.map(|_| name),
            before.unwrap_or_default(),
            self.after.as_ref().map(|_| name),
            self.after.as_deref().unwrap_or_default(),
            // What stands beside ours is not ours to show: files of hosts hold keys.
            DiffOptions { context: 0, ..DiffOptions::default() },
        )
        .text
    }

    /// Puts the new text in the place of the old one, whole; with the mode of the old file, and through a link where it is one.
    ///
    /// # Errors
    /// Where the system refuses, or the file is not what it was.
    pub(crate) fn write(&self) -> Result<(), InitError> {
        if self.is_done() {
            return Ok(());
        }
        let failed = |error: io::Error| io_error(&self.path, "written", &error);
        if text_of(&self.path)? != self.before {
            return Err(InitError::Changed(self.path.display().to_string()));
        }
        let Some(after) = &self.after else { return fs::remove_file(&self.path).map_err(failed) };
        let place = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = place.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let mode = fs::metadata(&place).ok().map(|data| data.permissions());
        let mut file = tempfile::Builder::new().prefix(".lsp-tools-").tempfile_in(folder).map_err(failed)?;
        file.write_all(after.as_bytes()).map_err(failed)?;
        let mode = mode.unwrap_or_else(|| std::os::unix::fs::PermissionsExt::from_mode(0o644));
        file.as_file().set_permissions(mode).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&place).map_err(|error| failed(error.error))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

/// `after`, unless what was taken out of `before` left nothing in it: no file is better than an empty one.
pub(super) fn unless_emptied(before: &str, after: String) -> Option<String> {
    let bare: String = after.split_whitespace().collect();
    (after == before || !(bare.is_empty() || bare == "{}")).then_some(after)
}

/// Fails where a file of the project `root` leads out of it.
pub(super) fn check_inside(path: &Path, root: &Path) -> Result<(), InitError> {
    // The nearest part of it that is there decides: what is not there leads nowhere else.
    let there = path.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(path);
    let real = fs::canonicalize(there).map_err(|error| io_error(path, "found", &error))?;
    let root = fs::canonicalize(root).map_err(|error| io_error(root, "found", &error))?;
    match real.starts_with(&root) {
        true => Ok(()),
        false => Err(InitError::Outside(path.display().to_string())),
    }
}

/// The text of a file; `None` where there is none.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, InitError> {
    let failed = |why: &str| Err(io_error(path, "read", &io::Error::other(why)));
    match Workspace::read_outside(path, MAX_HOST_SETTINGS_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(ReadError::Special { .. } | ReadError::Directory { .. }) => failed("it is no file"),
        Err(ReadError::TooLarge { .. }) => failed("it is too large"),
        Err(error) => failed(&error.reason()),
    }
}

fn io_error(path: &Path, action: &'static str, error: &io::Error) -> InitError {
    InitError::Io { file: path.display().to_string(), action, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn host_file_write_is_atomic_and_keeps_mode_and_symlink() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let path = root.join("a/b.json");
        let first = InitFileChange { path: path.clone(), before: None, after: Some("1\n".to_owned()) };
        assert!(first.diff().contains("+++ b/") && first.diff().contains("+1"));
        first.write().unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let link = root.join("link.json");
        symlink(&path, &link).unwrap();
        let second = InitFileChange {
            path: link.clone(),
            before: Some("1\n".to_owned()),
            after: Some("2\n".to_owned()),
        };
        second.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "2\n");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(root.join("a")).unwrap().count(), 1);
        // Somebody was quicker.
        assert!(matches!(second.write(), Err(InitError::Changed(_))));
        InitFileChange { path: path.clone(), before: Some("2\n".to_owned()), after: None }.write().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn host_file_behind_symlink_leading_outside_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("p/.vscode")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        symlink(root.join("out"), root.join("p/.cursor")).unwrap();
        symlink(root.join("nowhere"), root.join("p/.mcp.json")).unwrap();
        let project = root.join("p");
        assert!(check_inside(&project.join(".vscode/mcp.json"), &project).is_ok());
        assert!(check_inside(&project.join(".gemini/settings.json"), &project).is_ok());
        assert!(matches!(
            check_inside(&project.join(".cursor/mcp.json"), &project),
            Err(InitError::Outside(_))
        ));
        assert!(check_inside(&project.join(".mcp.json"), &project).is_err());
    }
}
