//! The change of one configuration file: its current text, its new text, and the write.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::InitError;
use crate::analysis::context::from_path_error;
use crate::analysis::error::ToolError;
use crate::platform::canonicalize;
use crate::platform::files::{set_mode, sync_folder};
use crate::tools::edit::editing::from_edit_error;
use crate::workspace::edit::{ContentHash, EditPlan, PathPrecondition, TransactionManager};
use crate::workspace::{ReadError, Workspace, WorkspacePath};

/// The size limit of a host's settings, in bytes.
const MAX_HOST_SETTINGS_BYTES: u64 = 16 << 20;

/// Returns `text` with a line break after its last line.
pub(super) fn with_line_end(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InitFileChange {
    /// The file.
    pub(crate) path: PathBuf,
    /// The current text; `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// The new text; `None` if the file is deleted.
    pub(crate) after: Option<String>,
}

impl InitFileChange {
    /// Returns true if the file already has the new text.
    pub(crate) fn is_done(&self) -> bool {
        self.before == self.after
    }

    /// Returns our lines that the change adds to the file. Empty if the change removes our lines.
    pub(crate) fn added_lines(&self) -> String {
        let count =
            |text: &Option<String>| text.as_deref().map_or(0, |text| text.matches("lsp-tools").count());
        if count(&self.after) < count(&self.before) {
            return String::new();
        }
        let (before, after) =
            (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        new_lines(before, added_text(before, after))
    }

    /// Writes a file outside the workspace as a whole, with the mode of the old file, following a
    /// link.
    ///
    /// # Errors
    /// The write fails, or the file has changed meanwhile.
    pub(super) fn write(&self) -> Result<(), InitError> {
        if self.is_done() {
            return Ok(());
        }
        let failed = |error: io::Error| io_error(&self.path, "written", &error);
        if text_of(&self.path)? != self.before {
            return Err(InitError::Changed(self.path.display().to_string()));
        }
        let Some(after) = &self.after else { return fs::remove_file(&self.path).map_err(failed) };
        let place = canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let folder = place.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let mode = fs::metadata(&place).ok().map(|data| data.permissions());
        let mut file = tempfile::Builder::new().prefix(".lsp-tools-").tempfile_in(folder).map_err(failed)?;
        file.write_all(after.as_bytes()).map_err(failed)?;
        match mode {
            Some(mode) => file.as_file().set_permissions(mode),
            None => set_mode(file.as_file(), 0o644),
        }
        .map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&place).map_err(|error| failed(error.error))?;
        sync_folder(folder).map_err(failed)
    }
}

/// Writes all `changes`: those of workspace files in one transaction, then the others.
///
/// # Errors
/// A write fails, a file has changed meanwhile, or a link in the workspace leads to a control path.
pub(crate) fn write_changes(
    changes: &[InitFileChange],
    workspace: &Workspace,
    edits: &TransactionManager,
) -> Result<(), ToolError> {
    let mut plan = EditPlan::new("init").by_owner();
    let (mut others, mut is_empty) = (Vec::new(), true);
    for change in changes.iter().filter(|change| !change.is_done()) {
        let Ok(path) = change.path.strip_prefix(workspace.root()) else {
            others.push(change);
            continue;
        };
        change.add_to(&mut plan, &workspace.path(path).map_err(from_path_error)?);
        is_empty = false;
    }
    if !is_empty {
        edits.commit(&plan).map_err(from_edit_error)?;
    }
    Ok(others.into_iter().try_for_each(InitFileChange::write)?)
}

impl InitFileChange {
    fn add_to(&self, plan: &mut EditPlan, path: &WorkspacePath) {
        let mark = match &self.before {
            Some(_) if starts_with_bom(&self.path) => "\u{feff}",
            _ => "",
        };
        let bytes = |text: &String| format!("{mark}{text}").into_bytes();
        let expected = match &self.before {
            Some(before) => PathPrecondition::Hash(ContentHash::compute(&bytes(before))),
            None => PathPrecondition::Absent,
        };
        match &self.after {
            Some(after) => plan.write(path, bytes(after), expected),
            None => plan.delete(path, expected),
        };
    }
}

/// Returns the lines of `text` that are missing in `before`, each with a plus sign.
///
/// Files of hosts contain secrets, so lines that existed before are never shown, even if commas and
/// spaces around them changed.
pub(super) fn new_lines(before: &str, text: &str) -> String {
    let known = bare(before);
    let added = text.lines().filter(|line| !known.contains(&bare(line)));
    added.map(|line| format!("+{line}\n")).collect()
}

/// Returns true if the file at `path` begins with a byte order mark, which its text does not
/// contain.
fn starts_with_bom(path: &Path) -> bool {
    let mut first = Vec::new();
    let opened = Workspace::open_outside(path).map(|(file, _)| file.take(3).read_to_end(&mut first));
    opened.is_ok() && first == "\u{feff}".as_bytes()
}

/// Returns the part of `after` between its common prefix and suffix with `before`. If the start of
/// its first line is only a key, that start is included.
fn added_text<'a>(before: &str, after: &'a str) -> &'a str {
    let common = |one: &mut dyn Iterator<Item = (char, char)>| -> usize {
        one.take_while(|(old, new)| old == new).map(|(character, _)| character.len_utf8()).sum()
    };
    let start = common(&mut before.chars().zip(after.chars()));
    let (old, new) = (&before[start..], &after[start..]);
    let end = after.len() - common(&mut old.chars().rev().zip(new.chars().rev()));
    let line = after[..start].rfind('\n').map_or(0, |at| at + 1);
    let is_key = !after[line..start].contains([',', '{']);
    &after[if is_key { line } else { start }..end]
}

/// Removes the characters that a new neighbour changes.
fn bare(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && *character != ',').collect()
}

/// Returns `after`, or `None` if the removal from `before` emptied it: an empty file is deleted.
pub(super) fn unless_emptied(before: &str, after: String) -> Option<String> {
    let bare: String = after.split_whitespace().collect();
    (after == before || !(bare.is_empty() || bare == "{}")).then_some(after)
}

/// Returns an error if a file of the project `root` resolves to a path outside of it.
pub(super) fn check_inside(path: &Path, root: &Path) -> Result<(), InitError> {
    // The nearest existing ancestor decides, since a missing path contains no link.
    let there = path.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(path);
    let real = canonicalize(there).map_err(|error| io_error(path, "found", &error))?;
    let root = canonicalize(root).map_err(|error| io_error(root, "found", &error))?;
    match real.starts_with(&root) {
        true => Ok(()),
        false => Err(InitError::Outside(path.display().to_string())),
    }
}

/// Reads the text of a file. Returns `None` if it does not exist.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, InitError> {
    let failed = |reason: &str| Err(io_error(path, "read", &io::Error::other(reason)));
    match Workspace::read_outside(path, MAX_HOST_SETTINGS_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::NotFound { .. }) => Ok(None),
        Err(ReadError::Special { .. } | ReadError::Directory { .. }) => failed("it is not a file"),
        Err(ReadError::TooLarge { .. }) => failed("it is too large"),
        Err(error) => failed(&error.reason()),
    }
}

fn io_error(path: &Path, action: &'static str, error: &io::Error) -> InitError {
    InitError::Io { file: path.display().to_string(), action, reason: error.to_string() }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{PermissionsExt, symlink};
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn host_file_write_is_atomic_and_keeps_mode_and_symlink() {
        let dir = tempfile::tempdir().unwrap();
        let root = canonicalize(dir.path()).unwrap();
        let path = root.join("a/b.json");
        let first = InitFileChange { path: path.clone(), before: None, after: Some("1\n".to_owned()) };
        assert_eq!(first.added_lines(), "+1\n");
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
        // The file has been changed meanwhile.
        assert!(matches!(second.write(), Err(InitError::Changed(_))));
        InitFileChange { path: path.clone(), before: Some("2\n".to_owned()), after: None }.write().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn host_file_behind_symlink_leading_outside_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = canonicalize(dir.path()).unwrap();
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
