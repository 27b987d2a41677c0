//! The folders that are searched for skills.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::analysis::context::Context;
use crate::platform::canonicalize;
use crate::workspace::{EntryKind, ListQuery, ReadError, TextFile, WorkDeadline, Workspace, WorkspacePath};

/// The workspace's own folders, in order.
const OF_WORKSPACE: [&str; 4] = [".lsp-tools/skills", ".github/skills", ".agents/skills", ".claude/skills"];
/// The folders in the user's home that other programs take skills from, in order. The folder of
/// this program comes after them and wins.
const OF_HOME: [&str; 3] = [".claude/skills", ".agents/skills", ".copilot/skills"];
/// The most skills of one folder.
const MAX_SKILLS_PER_FOLDER: usize = 200;
/// The largest file of a skill that is read, in bytes.
const MAX_SKILL_FILE_BYTES: u64 = 128 << 10;
/// The most files of one skill, and the greatest depth of its folders.
const MAX_FILES_PER_SKILL: usize = 200;
const MAX_SKILL_FOLDER_DEPTH: usize = 4;
/// The timeout for listing one folder.
const SKILL_FOLDER_LIST_TIMEOUT: Duration = Duration::from_secs(2);

/// The owner of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Whose {
    #[allow(missing_docs)] // a doc comment would turn the schema's short `enum` into a long `oneOf`
    User,
    #[allow(missing_docs)] // as above
    Workspace,
}

/// The folder of one skill.
#[derive(Debug, Clone)]
pub(crate) struct SkillFolder {
    /// The owner of the folder.
    pub whose: Whose,
    /// The folder's name, which must be the skill's.
    pub name: String,
    /// The jail for reads: the workspace, or the folder itself.
    root: Workspace,
    /// The folder within the jail.
    folder: WorkspacePath,
}

impl SkillFolder {
    /// The manifest, which makes a folder a skill beside or instead of `SKILL.md`.
    pub(crate) const MANIFEST: &str = "skill.json";

    /// Returns true if the skill has a manifest.
    pub(crate) fn has_manifest(&self) -> bool {
        self.path(Self::MANIFEST).is_some_and(|path| self.root.exists(&path))
    }

    /// The absolute path of one of its files; `None` if the path leaves the folder.
    pub(crate) fn absolute(&self, file: &str) -> Option<PathBuf> {
        Some(self.root.absolute(&self.path(file)?))
    }

    /// The display name: its path in the workspace, or for a skill of the user only its name.
    pub(crate) fn display_name(&self) -> String {
        match self.whose {
            Whose::User => self.name.escape_debug().to_string(),
            Whose::Workspace => self.folder.display(),
        }
    }

    /// The path of one of its files within the jail; `None` if the path leaves the folder.
    fn path(&self, file: &str) -> Option<WorkspacePath> {
        let path = self.folder.join(file).ok()?;
        path.as_path().starts_with(self.folder.as_path()).then_some(path)
    }

    /// The name of one of its files in the trust store; `None` if the path leaves the folder.
    pub(crate) fn trust_key(&self, file: &str) -> Option<String> {
        self.path(file)?.as_path().to_str().map(str::to_owned)
    }

    /// The text of one of its files, by its path in the folder.
    ///
    /// # Errors
    /// If it is missing, outside the folder, not text, or too large.
    pub(crate) fn read(&self, file: &str) -> Result<TextFile, ReadError> {
        let path =
            self.path(file).ok_or_else(|| ReadError::Outside { path: file.escape_debug().to_string() })?;
        self.root.read_text_up_to(&path, MAX_SKILL_FILE_BYTES)
    }

    /// Returns true if the folder has either form of a skill.
    fn is_skill(&self) -> bool {
        self.has_manifest() || self.path("SKILL.md").is_some_and(|path| self.root.exists(&path))
    }

    /// The paths of its files in the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![(String::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let Some(path) = self.path(&folder) else { continue };
            let Ok(entries) = names_in(&self.root, &path, MAX_FILES_PER_SKILL) else { continue };
            for (name, is_dir) in entries {
                let inner = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                match is_dir {
                    true if depth < MAX_SKILL_FOLDER_DEPTH => folders.push((inner, depth + 1)),
                    false if files.len() < MAX_FILES_PER_SKILL => files.push(inner),
                    _ => {}
                }
            }
        }
        files.sort();
        files
    }
}

/// The folders of all skills in ascending order of precedence, and a sentence for each unusable
/// folder.
pub(crate) fn skill_folders(context: &Context) -> (Vec<SkillFolder>, Vec<String>) {
    let (mut places, mut left_out) = (Vec::new(), Vec::new());
    let mut take = |found: Result<Vec<SkillFolder>, String>| match found {
        Ok(found) => places.extend(found),
        Err(reason) => left_out.push(reason),
    };
    for below in OF_HOME {
        let folder = context.folders.home.as_ref().map(|home| home.join(below));
        // If the home itself is the workspace, these folders are part of the workspace.
        if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
            take(match context.workspace.workspace_path(&folder) {
                Some(inside) => of_workspace(context, &inside),
                None => of_user(&folder, &format!("~/{below}")),
            });
        }
    }
    take(of_user(&context.folders.config.join("skills"), "the user's skills"));
    for given in &context.config.settings.skills.directories {
        let shown = format!("`directories` names {:?}, which", given);
        take(match configured_folder(context, given) {
            None => Err(format!("{shown} is neither absolute nor in the workspace nor in a home directory")),
            Some(ConfiguredSkillFolder::Inside(folder)) => of_workspace(context, &folder),
            Some(ConfiguredSkillFolder::Elsewhere(folder)) if folder.is_dir() => of_user(&folder, &shown),
            Some(ConfiguredSkillFolder::Elsewhere(_)) => Err(format!("{shown} is not a directory")),
        });
    }
    for folder in OF_WORKSPACE {
        if let Ok(folder) = context.workspace.path(Path::new(folder)) {
            take(of_workspace(context, &folder));
        }
    }
    (places, left_out)
}

enum ConfiguredSkillFolder {
    Inside(WorkspacePath),
    Elsewhere(PathBuf),
}

fn configured_folder(context: &Context, given: &str) -> Option<ConfiguredSkillFolder> {
    let path = match given.strip_prefix("~/") {
        Some(below) => etcetera::home_dir().ok()?.join(below),
        None => PathBuf::from(given),
    };
    // A folder that a link leads to in the workspace is part of the workspace.
    let real = canonicalize(&path).unwrap_or_else(|_| path.clone());
    let inside = if path.is_absolute() {
        context.workspace.workspace_path(&real)
    } else {
        context.workspace.path(&path).ok()
    };
    match inside {
        Some(inside) => Some(ConfiguredSkillFolder::Inside(inside)),
        None if path.is_absolute() => Some(ConfiguredSkillFolder::Elsewhere(path)),
        None => None,
    }
}

/// The skills in a folder outside of the workspace, or the folder itself if it is a skill.
fn of_user(folder: &Path, shown: &str) -> Result<Vec<SkillFolder>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let place = |folder: &Path| {
        let name = folder.file_name()?.to_str()?.to_owned();
        let root = Workspace::open(folder).ok()?;
        Some(SkillFolder { whose: Whose::User, name, root, folder: WorkspacePath::root() })
            .filter(SkillFolder::is_skill)
    };
    if let Some(itself) = place(folder) {
        return Ok(vec![itself]);
    }
    let root = Workspace::open(folder).map_err(|_| format!("{shown} cannot be opened"))?;
    let names = names_in(&root, &WorkspacePath::root(), MAX_SKILLS_PER_FOLDER);
    let names = names.map_err(|_| format!("{shown} cannot be read"))?;
    Ok(names.iter().filter_map(|(name, _)| place(&folder.join(name))).collect())
}

/// The names in a folder, including hidden ones. The flag is true for a directory.
fn names_in(root: &Workspace, folder: &WorkspacePath, most: usize) -> Result<Vec<(String, bool)>, ReadError> {
    let until = WorkDeadline::new(Instant::now() + SKILL_FOLDER_LIST_TIMEOUT);
    let found =
        root.list(&ListQuery { under: folder.clone(), recursive: false, max: most, deadline: until })?;
    let names = found.entries.into_iter().filter_map(|entry| {
        let name = entry.path.file_name()?.to_owned();
        Some((name, entry.kind == EntryKind::Directory))
    });
    Ok(names.collect())
}

/// The skills in a folder of the workspace, or the folder itself if it is a skill.
fn of_workspace(context: &Context, folder: &WorkspacePath) -> Result<Vec<SkillFolder>, String> {
    let place = |folder: WorkspacePath| {
        let name = folder.file_name()?.to_owned();
        let root = context.workspace.clone();
        Some(SkillFolder { whose: Whose::Workspace, name, root, folder }).filter(SkillFolder::is_skill)
    };
    if let Some(itself) = place(folder.clone()) {
        return Ok(vec![itself]);
    }
    match names_in(&context.workspace, folder, MAX_SKILLS_PER_FOLDER) {
        Ok(found) => Ok(found.iter().filter_map(|(name, _)| place(folder.join(name).ok()?)).collect()),
        Err(ReadError::NotFound { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}
