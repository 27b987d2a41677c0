//! Folders with dropped-in tools, and stamps that show when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::analysis::context::Context;
use crate::tools::agent::skills::sources::Whose;
use crate::tools::agent::skills::tools as skills;
use crate::tools::agent::skills::tools::ToolFile;
use crate::tools::api::source::OmittedTool;
use crate::workspace::{EntryKind, FileStamp, ListQuery, ReadError, WorkDeadline, Workspace};

const PROJECT: &str = ".lsp-tools/tools";
const USER: &str = "tools";
/// The limits for the size and number of tool files.
const MAX_DROP_IN_FILE_BYTES: u64 = 64 * 1024;
const MAX_DROP_IN_FILES: usize = 200;
/// The timeout of a scan; a call should not be slowed noticeably.
const DROP_IN_SCAN_TIMEOUT: Duration = Duration::from_secs(1);

/// The origin of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DropInOrigin {
    /// The user, whose files are trusted.
    User,
    /// The project, whose files need trust.
    Project,
}

/// The form of a tool file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DropInForm {
    /// A manifest that names a program.
    Manifest,
    /// A Python file that is both manifest and program.
    Python,
}

/// A tool file with its content.
#[derive(Debug, Clone)]
pub(super) struct DropInFile {
    pub(super) origin: DropInOrigin,
    /// The name shown to people.
    pub(super) display_name: String,
    /// The absolute path of its folder.
    pub(super) folder: PathBuf,
    /// The file name without its extension.
    pub(super) stem: String,
    /// The form of the file.
    pub(super) form: DropInForm,
    pub(super) text: String,
}

impl From<ToolFile> for DropInFile {
    fn from(file: ToolFile) -> Self {
        let ToolFile { whose, display_name: shown, folder, stem, text } = file;
        let origin = match whose {
            Whose::User => DropInOrigin::User,
            Whose::Workspace => DropInOrigin::Project,
        };
        Self { origin, display_name: shown, folder, stem, form: DropInForm::Manifest, text }
    }
}

/// Stamps that distinguish states of the folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DropInStamps(Vec<(String, [i64; 4])>);

/// The content of the folders.
#[derive(Debug, Clone, Default)]
pub(super) struct DropInContents {
    pub(super) stamps: DropInStamps,
    pub(super) files: Vec<DropInFile>,
    pub(super) left_out: Vec<OmittedTool>,
}

/// Every tool of the project, trusted or not.
pub(super) fn of_the_project(context: &Context) -> Vec<DropInFile> {
    let mut found = DropInContents::default();
    of_project(context, &mut found);
    found.files.extend(skills::of_workspace(context).into_iter().map(DropInFile::from));
    found.files
}

/// Scans both folders, the user's first, and the skills.
pub(super) fn scan_folders(context: &Context) -> DropInContents {
    let mut found = DropInContents::default();
    // The result depends on trust too.
    add_stamp(&mut found, "trust", &context.folders.state.join("trust.json"));
    of_user(&context.folders.config.join(USER), &mut found);
    of_project(context, &mut found);
    for file in skills::usable_tool_files(context).into_iter().map(DropInFile::from) {
        found.stamps.0.push((file.display_name.clone(), fingerprint(&file.text)));
        found.files.push(file);
    }
    // The first of several tools with the same name counts, the user's before the project's.
    found.files.sort_by_key(|file| file.origin == DropInOrigin::Project);
    found
}

/// A stamp from a text, for a source without a file stamp.
fn fingerprint(text: &str) -> [i64; 4] {
    let hash = Sha256::digest(text);
    let part = |at: usize| hash[at..].first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
    [0, 8, 16, 24].map(part)
}

fn add_stamp(found: &mut DropInContents, name: &str, path: &Path) {
    let stamp = FileStamp::from_path(path)
        .map(|seen| [seen.size.cast_signed(), seen.mtime_ns, seen.ctime_ns, seen.inode.cast_signed()]);
    found.stamps.0.push((name.to_owned(), stamp.unwrap_or_default()));
}

fn stem_of(name: &str) -> Option<(String, DropInForm)> {
    let (stem, form) = match (name.strip_suffix(".json"), name.strip_suffix(".py")) {
        (Some(stem), _) => (stem, DropInForm::Manifest),
        // By convention, a name that begins with `_` is a part of other modules.
        (None, Some(stem)) if !stem.starts_with('_') => (stem, DropInForm::Python),
        (None, _) => return None,
    };
    (!stem.is_empty() && !stem.starts_with('.')).then(|| (stem.to_owned(), form))
}

fn of_user(folder: &Path, found: &mut DropInContents) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    for name in names.into_iter().take(MAX_DROP_IN_FILES) {
        let Some((stem, form)) = stem_of(&name) else { continue };
        let path = folder.join(&name);
        let shown = path.display().to_string();
        add_stamp(found, &shown, &path);
        match text_of(&path) {
            Ok(text) => {
                let folder = folder.to_owned();
                found.files.push(DropInFile {
                    origin: DropInOrigin::User,
                    display_name: shown,
                    folder,
                    stem,
                    form,
                    text,
                });
            }
            Err(why) => found.left_out.push(OmittedTool { file: shown, why }),
        }
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    Workspace::read_outside(path, MAX_DROP_IN_FILE_BYTES).map_err(|error| match error {
        ReadError::Special { .. } | ReadError::Directory { .. } => "it is not a file".to_owned(),
        ReadError::TooLarge { .. } => format!("it has more than {MAX_DROP_IN_FILE_BYTES} bytes"),
        error => format!("it cannot be read: {}", error.reason()),
    })
}

fn of_project(context: &Context, found: &mut DropInContents) {
    let workspace = &context.workspace;
    let Ok(under) = workspace.path(Path::new(PROJECT)) else { return };
    let until = WorkDeadline::new(Instant::now() + DROP_IN_SCAN_TIMEOUT);
    let query = ListQuery { under: under.clone(), recursive: false, max: MAX_DROP_IN_FILES, deadline: until };
    let entries = match workspace.list(&query) {
        Ok(listing) => listing.entries,
        Err(ReadError::NotFound { .. }) => return,
        Err(error) => {
            found.left_out.push(OmittedTool { file: PROJECT.to_owned(), why: error.to_string() });
            return;
        }
    };
    for entry in entries {
        let Some((stem, form)) = entry.path.file_name().and_then(stem_of) else { continue };
        if entry.kind == EntryKind::Directory {
            continue;
        }
        let shown = entry.path.display();
        // A path of the workspace, opened so that no link can replace it.
        let read = workspace.read_text_up_to(&entry.path, MAX_DROP_IN_FILE_BYTES);
        if let Ok(stat) = workspace.stamp(&entry.path) {
            let stat = [stat.size as i64, stat.mtime_ns, stat.ctime_ns, stat.inode as i64];
            found.stamps.0.push((shown.clone(), stat));
        }
        match read {
            Ok(file) => {
                let folder = workspace.absolute(&under);
                let text = file.text;
                found.files.push(DropInFile {
                    origin: DropInOrigin::Project,
                    display_name: shown,
                    folder,
                    stem,
                    form,
                    text,
                });
            }
            Err(error) => {
                found.stamps.0.push((shown.clone(), Default::default()));
                found.left_out.push(OmittedTool { file: shown, why: error.to_string() });
            }
        }
    }
}
