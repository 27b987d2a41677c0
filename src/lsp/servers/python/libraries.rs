//! The import paths of a Python environment, read from its files. Nothing is run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::PythonEnvironment;
use crate::platform::canonicalize;
use crate::workspace::Workspace;

/// The largest file of an environment that is read, in bytes.
const MAX_ENVIRONMENT_FILE_BYTES: u64 = 64 << 10;
/// The maximum number of path files that are read, and of lines of each.
const MAX_PTH_FILES: usize = 500;
const MAX_PTH_FILE_LINES: usize = 1_000;

/// The libraries of an environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Libraries {
    /// The environment.
    pub(crate) environment: PathBuf,
    /// The folders, in the order of `sys.path`.
    pub(crate) folders: Vec<PathBuf>,
    /// The version of its Python, if known.
    pub(crate) version: Option<(u8, u8)>,
    /// The folders that path files name outside the workspace and the environment; they are left
    /// out.
    pub(crate) left_out: Vec<String>,
    /// The folders into which packages are installed.
    pub(crate) installed_in: Vec<PathBuf>,
}

impl Libraries {
    /// Finds the libraries of `environment`, as its own interpreter would report them, without
    /// those outside the bounds.
    pub(crate) fn discover(workspace: &Workspace, environment: &PythonEnvironment) -> Self {
        let rooms = LibraryBounds {
            workspace: workspace.root(),
            environment: canonicalize(&environment.folder).unwrap_or_else(|_| environment.folder.clone()),
        };
        let (mut version, site) = match is_bare(&environment.folder) {
            true => (version_in(&environment.folder), vec![environment.folder.join("lib")]),
            false => site_packages(&environment.folder),
        };
        if let Some(configured) = configured_version(&environment.folder) {
            version = Some(configured);
        }
        let mut libraries = Self { environment: environment.folder.clone(), version, ..Self::default() };
        for folder in site {
            if !rooms.contains(&folder) {
                libraries.left_out.push(folder.display().to_string());
                continue;
            }
            libraries.installed_in.push(folder.clone());
            libraries.folders.push(folder.clone());
            libraries.follow_path_files(&folder, &rooms);
        }
        libraries
    }

    /// Adds the folders that the path files in a folder of packages name. Their lines of code are
    /// ignored: those of tools only install hooks, which no server uses.
    fn follow_path_files(&mut self, folder: &Path, bounds: &LibraryBounds<'_>) {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let is_path_file = |name: &std::ffi::OsString| {
            Path::new(name).extension() == Some(OsStr::new("pth"))
                && !name.as_encoded_bytes().starts_with(b".")
        };
        let mut names: Vec<_> = names.filter(is_path_file).collect();
        names.sort();
        for name in names.into_iter().take(MAX_PTH_FILES) {
            let file = folder.join(name);
            let text = Some(&file).filter(|file| bounds.contains(file)).and_then(|file| small_text(file));
            for line in text.unwrap_or_default().lines().take(MAX_PTH_FILE_LINES) {
                let line = line.trim_end();
                if line.is_empty()
                    || line.starts_with('#')
                    || line.starts_with("import ")
                    || line.starts_with("import\t")
                {
                    continue;
                }
                let path = folder.join(line);
                if !path.is_dir() || self.folders.contains(&path) {
                    continue;
                }
                match bounds.contains(&path) {
                    true => self.folders.push(path),
                    false => self.left_out.push(line.to_owned()),
                }
            }
        }
    }
}

/// The folders that may contain libraries.
struct LibraryBounds<'a> {
    workspace: &'a Path,
    environment: PathBuf,
}

impl LibraryBounds<'_> {
    /// Returns true if `path` lies there, its links followed.
    fn contains(&self, path: &Path) -> bool {
        let real = canonicalize(path);
        real.is_ok_and(|real| real.starts_with(self.workspace) || real.starts_with(&self.environment))
    }
}

/// Returns true if `folder` is one of PEP 582: libraries and programs, for one version of Python.
pub(super) fn is_bare(folder: &Path) -> bool {
    folder.parent().and_then(Path::file_name) == Some(OsStr::new("__pypackages__"))
        && folder.join("lib").is_dir()
}

fn version_in(folder: &Path) -> Option<(u8, u8)> {
    version(folder.file_name()?.to_str()?)
}

fn version(text: &str) -> Option<(u8, u8)> {
    let mut parts = text.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Returns the version in `pyvenv.cfg`, for which each tool has its own key.
fn configured_version(folder: &Path) -> Option<(u8, u8)> {
    let text = small_text(&folder.join("pyvenv.cfg"))?;
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let mut pairs = pairs.map(|(key, value)| (key.trim(), value.trim()));
    pairs.find_map(|(key, value)| matches!(key, "version" | "version_info").then(|| version(value))?)
}

/// Finds `lib/python3.12/site-packages`, of the newest Python if there are several, and its
/// counterpart in `lib64` if that is another folder.
fn site_packages(folder: &Path) -> (Option<(u8, u8)>, Vec<PathBuf>) {
    let pythons = |lib: &str| {
        let entries = fs::read_dir(folder.join(lib)).into_iter().flatten().flatten();
        let named = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((version(name.strip_prefix("python")?)?, entry.path().join("site-packages")))
        });
        named.filter(|(_, site)| site.is_dir()).max()
    };
    let Some((newest, site)) = pythons("lib") else { return (None, Vec::new()) };
    let mut all = vec![site];
    let is_other = |other: &PathBuf| canonicalize(other).ok() != canonicalize(&all[0]).ok();
    let more = pythons("lib64").map(|(_, site)| site).filter(is_other);
    all.extend(more);
    (Some(newest), all)
}

/// Returns a regular file's text, if it is small enough.
fn small_text(path: &Path) -> Option<String> {
    Workspace::read_outside(path, MAX_ENVIRONMENT_FILE_BYTES).ok()
}
