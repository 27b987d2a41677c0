//! The search for the file in which a project's builds record how sources are compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::config::spec::BuildFile;
use crate::platform::canonicalize;
use crate::workspace::{Workspace, WorkspacePath};

/// The largest file of presets that is read, in bytes.
const MAX_PRESETS_FILE_BYTES: u64 = 1 << 20;
/// The maximum number of folders that match one pattern.
const MAX_PATTERN_FOLDERS: usize = 100;

/// A project's build file, and the paths that determined it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BuildFileSearch {
    /// The file.
    pub(crate) file: Option<PathBuf>,
    /// The folder that the server needs; `None` if it finds the file by itself.
    pub(crate) folder_for_server: Option<PathBuf>,
    /// Files and folders, existing or not, whose change may lead to another build file.
    pub(crate) inspected_paths: BTreeSet<PathBuf>,
}

impl BuildFile {
    /// Searches the project at `root`: the server's own places first, then the folders of builds.
    /// Of several folders of one pattern the one with the newest file counts.
    pub(crate) fn search(&self, workspace: &Workspace, root: &WorkspacePath) -> BuildFileSearch {
        let absolute = workspace.absolute(root);
        let mut looked_at = BTreeSet::from([absolute.clone()]);
        let there = |folder: &Path| Some(folder.join(&self.name)).filter(|file| is_inside(workspace, file));
        for folder in &self.itself {
            let folder = absolute.join(folder);
            looked_at.insert(folder.join(&self.name));
            if let Some(file) = there(&folder) {
                return BuildFileSearch {
                    file: Some(file),
                    folder_for_server: None,
                    inspected_paths: looked_at,
                };
            }
        }
        let presets =
            self.presets.iter().flat_map(|file| preset_build_folders(workspace, root, file, &mut looked_at));
        let mut patterns: Vec<Vec<PathBuf>> = presets.map(|folder| vec![folder]).collect();
        patterns
            .extend(self.folders.iter().map(|pattern| matching_folders(&absolute, pattern, &mut looked_at)));
        for folders in patterns {
            looked_at.extend(folders.iter().map(|folder| folder.join(&self.name)));
            let found = folders.iter().filter_map(|folder| there(folder));
            let newest =
                found.max_by_key(|file| file.metadata().and_then(|metadata| metadata.modified()).ok());
            if let Some(file) = newest {
                let build_folder = file.parent().map(Path::to_owned);
                return BuildFileSearch {
                    file: Some(file),
                    folder_for_server: build_folder,
                    inspected_paths: looked_at,
                };
            }
        }
        looked_at.extend(self.instead.iter().map(|name| absolute.join(name)));
        let instead = self.instead.iter().map(|name| absolute.join(name));
        let file = instead.into_iter().find(|file| is_inside(workspace, file));
        BuildFileSearch { file, folder_for_server: None, inspected_paths: looked_at }
    }
}

/// Returns true if `file` is a file of the workspace, links followed.
fn is_inside(workspace: &Workspace, file: &Path) -> bool {
    file.is_file() && canonicalize(file).is_ok_and(|real| real.starts_with(workspace.root()))
}

/// The folders that match a pattern in which `*` stands for any part of one name.
fn matching_folders(root: &Path, pattern: &str, looked_at: &mut BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for part in pattern.split('/') {
        let Some((before, after)) = part.split_once('*') else {
            found.iter_mut().for_each(|folder| folder.push(part));
            continue;
        };
        let mut next = Vec::new();
        for folder in found {
            let names = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            let fits = |name: &String| {
                name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
            };
            let names = names.filter_map(|name| name.into_string().ok()).filter(fits);
            next.extend(
                names
                    .map(|name| folder.join(name))
                    .filter(|folder| folder.is_dir())
                    .take(MAX_PATTERN_FOLDERS),
            );
            looked_at.insert(folder);
        }
        next.sort();
        found = next;
    }
    found
}

/// The folders into which the presets of CMake build, as far as they are in the project
/// (cmake-presets(7)).
fn preset_build_folders(
    workspace: &Workspace,
    root: &WorkspacePath,
    file: &str,
    looked_at: &mut BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let Ok(path) = root.join(file) else { return Vec::new() };
    looked_at.insert(workspace.absolute(&path));
    let Ok(read) = workspace.read_text_up_to(&path, MAX_PRESETS_FILE_BYTES) else { return Vec::new() };
    let value: Value = serde_json::from_str(&read.text).unwrap_or_default();
    let all = value["configurePresets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let source = workspace.absolute(root);
    let folder = |preset: &Value| {
        let name = preset["name"].as_str()?;
        let template = binary_folder(all, preset, all.len())?;
        let template =
            template.replace("${sourceDir}", &source.to_string_lossy()).replace("${presetName}", name);
        let folder =
            source.join(template.replace("${sourceDirName}", &source.file_name()?.to_string_lossy()));
        let leaves = folder.components().any(|part| part == Component::ParentDir);
        (!leaves && !template.contains("${") && folder.starts_with(&source)).then_some(folder)
    };
    all.iter().filter_map(folder).collect()
}

/// Returns the folder that a preset, or one that it inherits from, names.
fn binary_folder(all: &[Value], preset: &Value, depth: usize) -> Option<String> {
    if let Some(binary_dir) = preset["binaryDir"].as_str() {
        return Some(binary_dir.to_owned());
    }
    let parents = match &preset["inherits"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let depth = depth.checked_sub(1)?;
    let parents = parents.into_iter().filter_map(|name| all.iter().find(|preset| preset["name"] == name));
    parents.into_iter().find_map(|parent| binary_folder(all, parent, depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Catalogue;
    use crate::platform::paths::with_slashes;

    #[test]
    fn compile_commands_is_found_in_build_folders_and_cmake_presets() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(temp.path()).unwrap();
        let rule = Catalogue::built_in().servers["clangd"].build_file.clone().unwrap();
        let put = |path: &str, text: &str| {
            let path = workspace.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let told = || {
            let found = rule.search(&workspace, &WorkspacePath::root());
            let below = |path: PathBuf| {
                let path = path.strip_prefix(workspace.root()).unwrap().to_owned();
                with_slashes(path).display().to_string()
            };
            (found.file.is_some(), found.folder_for_server.map(below))
        };
        assert_eq!(told(), (false, None));
        let presets = r#"{"configurePresets": [{"name": "base", "hidden": true, "binaryDir": "${sourceDir}/bin/${presetName}"},
            {"name": "dev", "inherits": ["base"]}, {"name": "away", "binaryDir": "${sourceDir}/../x"}, {"name": "me", "inherits": "me"}]}"#;
        put("CMakePresets.json", presets);
        for (folder, expected) in [
            ("_build/x", Some("_build/x")),
            ("cmake-build-debug", Some("cmake-build-debug")),
            ("out/linux/debug", Some("out/linux/debug")),
            ("builddir", Some("builddir")),
            ("bin/dev", Some("bin/dev")),
            ("build", None),
        ] {
            put(&format!("{folder}/compile_commands.json"), "[]");
            assert_eq!(told(), (true, expected.map(ToOwned::to_owned)), "{folder}");
        }
        fs::remove_dir_all(workspace.root().join("build")).unwrap();
        fs::remove_dir_all(workspace.root().join("bin")).unwrap();
        fs::remove_dir_all(workspace.root().join("builddir")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        put("out/newer/compile_commands.json", "[]");
        assert_eq!(told().1.as_deref(), Some("out/newer"));
    }
}
