//! Environments of Python projects: their location, and their use by servers that may not run their
//! programs.
//!
//! - [`search`]: the environments of a project, created by any tool; `tools.rs` knows the folders
//!   of Poetry, Pipenv, Hatch and PDM.
//! - [`Libraries`]: the folders that an interpreter of an environment would import from, derived
//!   from its files.
//! - [`ensure_wrapper()`]: an interpreter that answers for an environment, and runs nothing of it.
//!
//! Uses the workspace; starts nothing.

mod interpreter_wrapper;
mod libraries;
mod tools;

use crate::platform::canonicalize;
use crate::platform::paths::{ENVIRONMENT_PROGRAMS, PYTHON};
use std::collections::BTreeSet;
use std::path::PathBuf;

pub(crate) use interpreter_wrapper::ensure_wrapper;
pub(crate) use libraries::Libraries;
pub(crate) use tools::ToolFolders;

use crate::process::{ProgramPath, is_program};
use crate::workspace::{Workspace, WorkspacePath};

/// The origin of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvironmentOrigin {
    /// The user has activated it.
    Active,
    /// The environment lies in the workspace.
    Project,
    /// A tool keeps it for the project in a folder of the user's.
    Tool,
}

/// A Python environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PythonEnvironment {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// Its interpreter, if it has one that can be run.
    pub(crate) interpreter: Option<PathBuf>,
    /// The origin of the environment.
    pub(crate) origin: EnvironmentOrigin,
}

impl PythonEnvironment {
    fn from_folder(folder: PathBuf, origin: EnvironmentOrigin) -> Option<Self> {
        let interpreter =
            Some(folder.join(ENVIRONMENT_PROGRAMS).join(PYTHON[0])).filter(|program| is_program(program));
        let is_conda = folder.join("conda-meta").is_dir() && interpreter.is_some();
        let is_real = folder.join("pyvenv.cfg").is_file() || is_conda || libraries::is_bare(&folder);
        is_real.then_some(Self { folder, interpreter, origin })
    }

    /// Returns its folder in the form for people: the shortest unique name.
    pub(crate) fn display_name(&self, workspace: &Workspace) -> String {
        match workspace.workspace_path(&self.folder) {
            Some(path) => path.display().to_string(),
            None => self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }
}

/// The user's environment variables for Python.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserWord {
    /// `VIRTUAL_ENV`.
    pub(crate) active: Option<PathBuf>,
    /// `CONDA_PREFIX`.
    pub(crate) conda: Option<PathBuf>,
    /// `UV_PROJECT_ENVIRONMENT`, which may be relative to the project.
    pub(crate) uv: Option<PathBuf>,
    /// The folders in which tools keep environments.
    pub(crate) tools: ToolFolders,
    /// The environment of another tree of the same project, which is read and never run.
    pub(crate) lent: Option<PathBuf>,
}

impl UserWord {
    /// Reads the variables of this process's environment.
    pub(crate) fn of_process() -> Self {
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            active: path("VIRTUAL_ENV"),
            conda: path("CONDA_PREFIX"),
            uv: path("UV_PROJECT_ENVIRONMENT"),
            tools: ToolFolders::of_user(),
            lent: None,
        }
    }
}

/// The environment of a project, and the paths that determined it.
#[derive(Debug, Clone, Default)]
pub(crate) struct EnvironmentLookup {
    /// The environment; `None` if there is none.
    pub(crate) environment: Option<PythonEnvironment>,
    /// Files and folders, existing or not, whose change may lead to another one.
    pub(crate) inspected_paths: BTreeSet<PathBuf>,
}

/// Finds the environment for `root`: the one that is active in the user's shell, at any place; else
/// one in the workspace, or in a tool's folder, of the root or a folder above it; else conda's,
/// whose base environment is always active.
pub(crate) fn search(workspace: &Workspace, root: &WorkspacePath, user: &UserWord) -> EnvironmentLookup {
    let mut looked_at = BTreeSet::new();
    let active = user
        .active
        .clone()
        .and_then(|folder| PythonEnvironment::from_folder(folder, EnvironmentOrigin::Active));
    let mut folders = root.ancestors();
    let of_project = || folders.find_map(|folder| of_folder(workspace, &folder, user, &mut looked_at));
    let lent = || PythonEnvironment::from_folder(user.lent.clone()?, EnvironmentOrigin::Tool);
    let conda = || PythonEnvironment::from_folder(user.conda.clone()?, EnvironmentOrigin::Active);
    let environment = active.or_else(of_project).or_else(lent).or_else(conda);
    if let Some(found) = &environment {
        looked_at.extend([found.folder.clone(), found.folder.join("pyvenv.cfg")]);
    }
    EnvironmentLookup { environment, inspected_paths: looked_at }
}

fn of_folder(
    workspace: &Workspace,
    folder: &WorkspacePath,
    user: &UserWord,
    looked_at: &mut BTreeSet<PathBuf>,
) -> Option<PythonEnvironment> {
    let absolute = workspace.absolute(folder);
    looked_at.insert(absolute.clone());
    let inside = |folder: PathBuf| allowed_environment(workspace, &user.tools, folder);
    let named = user.uv.iter().map(|path| absolute.join(path));
    let usual = [".venv", "venv", "env"].map(|name| absolute.join(name));
    let mut in_place = named.chain(usual).filter_map(inside);
    in_place.next().or_else(|| {
        let kept = user.tools.tool_environments(workspace, folder, looked_at);
        kept.into_iter().find_map(|folder| allowed_environment(workspace, &user.tools, folder))
    })
}

/// Returns the environment in `folder`, unless that leads to a place where neither the project nor
/// a tool of the user keeps environments: a repository may contain a link to any place.
fn allowed_environment(
    workspace: &Workspace,
    tools: &ToolFolders,
    folder: PathBuf,
) -> Option<PythonEnvironment> {
    let real = canonicalize(&folder).ok()?;
    let origin = match real.starts_with(workspace.root()) {
        true => EnvironmentOrigin::Project,
        false if tools.contains_environment(&real) => EnvironmentOrigin::Tool,
        false => return None,
    };
    PythonEnvironment::from_folder(folder, origin)
}

/// The interpreter on the user's PATH, unless it is a program of the project.
pub(crate) fn base_interpreter(workspace: &Workspace) -> Option<PathBuf> {
    let path = ProgramPath::of_user(workspace);
    ["python3", "python"].into_iter().find_map(|name| path.find(name))
}

#[cfg(all(test, unix))]
mod tests;
