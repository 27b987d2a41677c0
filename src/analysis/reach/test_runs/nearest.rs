//! The nearest folder above a file whose files determine the test command.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{ProjectFolder, ProjectPython, TestRunPlan, TestSelection, plans};
use crate::analysis::context::Context;
use crate::lsp::servers::python::PythonEnvironment;
use crate::text::shell_word;
use crate::workspace::{ListQuery, WorkDeadline, Workspace, WorkspacePath};

/// The most entries of a folder that are examined for signs of a runner.
const MAX_TEST_FOLDER_ENTRIES: usize = 5_000;
/// The timeout for one folder.
const LOOK: Duration = Duration::from_secs(2);

/// Reads the projects of a workspace.
pub(crate) struct ProjectReader<'a> {
    /// The workspace.
    pub(crate) workspace: &'a Workspace,
    /// Reads a file with the rights of the caller.
    pub(crate) read: &'a dyn Fn(&WorkspacePath) -> Option<String>,
    /// Finds the Python environment of a folder.
    pub(crate) python: &'a dyn Fn(&WorkspacePath) -> Option<PythonEnvironment>,
}

impl ProjectReader<'_> {
    /// Calls `plan` with a reader for the caller of `context`.
    pub(crate) fn with<T>(context: &Context, plan: impl FnOnce(&ProjectReader<'_>) -> T) -> T {
        let read = |path: &WorkspacePath| context.saved_text(path).ok();
        let python = |folder: &WorkspacePath| context.manager.python_environment(folder);
        plan(&ProjectReader { workspace: &context.workspace, read: &read, python: &python })
    }

    /// The interpreter of the environment of `folder`, for a shell there.
    fn python_of(&self, folder: &WorkspacePath) -> Option<ProjectPython> {
        let PythonEnvironment { folder: environment, interpreter, .. } = (self.python)(folder)?;
        let interpreter = interpreter?;
        let program = match interpreter.strip_prefix(self.workspace.root()) {
            Ok(below) => {
                let depth = folder.as_path().components().count();
                std::iter::repeat_n("..", depth).collect::<PathBuf>().join(below)
            }
            Err(_) => interpreter,
        };
        let has_pip = environment.join("bin/pip").exists();
        Some(ProjectPython { program: program.to_str()?.to_owned(), has_pip })
    }
}

/// The test commands of a folder.
#[derive(Debug)]
pub(crate) struct ProjectPlans {
    /// The folder.
    pub(crate) folder: WorkspacePath,
    /// The commands, the best first, for a shell at the root; at least one.
    pub(crate) plans: Vec<TestRunPlan>,
}

/// The plans of the nearest folder, from `start` upwards, that has a test command; `select` returns
/// the selection in it. Weak signs, such as a file of tests, count if no folder has a strong one.
pub(crate) fn nearest_plans(
    projects: &ProjectReader<'_>,
    start: &WorkspacePath,
    select: &dyn Fn(&WorkspacePath) -> TestSelection,
) -> Option<ProjectPlans> {
    let above = |folder: &WorkspacePath| {
        (!folder.is_root()).then(|| folder.parent().unwrap_or_else(WorkspacePath::root))
    };
    let folders: Vec<WorkspacePath> = std::iter::successors(Some(start.clone()), above).collect();
    [false, true].into_iter().find_map(|last_resort| {
        folders.iter().find_map(|folder| {
            // A name that is not UTF-8 cannot be in a command.
            let shown = folder.as_path().to_str()?;
            let looked = FolderInWorkspace::new(projects, folder, last_resort);
            let mut found = plans(&looked, &select(folder));
            if !folder.is_root() {
                // With `./`, the name is not an option, not `-`, and not searched along CDPATH.
                let word = shell_word(&format!("./{shown}")).into_owned();
                let into = |plan: &mut TestRunPlan| {
                    let commands = std::iter::once(&mut plan.command).chain(&mut plan.set_up);
                    commands.for_each(|command| *command = format!("cd {word} && {command}"));
                };
                found.iter_mut().for_each(into);
            }
            (!found.is_empty()).then(|| ProjectPlans { folder: folder.clone(), plans: found })
        })
    })
}

/// A path below `folder` as a word of a command. A name that begins with `-` would be an option.
pub(crate) fn word_below(folder: &WorkspacePath, path: &WorkspacePath) -> Option<String> {
    let below = path.as_path().strip_prefix(folder.as_path()).ok()?.to_str()?;
    Some(if below.starts_with('-') { format!("./{below}") } else { below.to_owned() })
}

/// A folder of the workspace.
struct FolderInWorkspace<'a> {
    projects: &'a ProjectReader<'a>,
    folder: &'a WorkspacePath,
    names: Vec<String>,
    last_resort: bool,
}

impl<'a> FolderInWorkspace<'a> {
    fn new(projects: &'a ProjectReader<'a>, folder: &'a WorkspacePath, last_resort: bool) -> Self {
        let query = ListQuery {
            under: folder.clone(),
            recursive: false,
            max: MAX_TEST_FOLDER_ENTRIES,
            deadline: WorkDeadline::new(Instant::now() + LOOK),
        };
        let entries = projects.workspace.list(&query).map(|listing| listing.entries).unwrap_or_default();
        let names = entries.iter().map(|entry| entry.path.name_lossy().into_owned()).collect();
        Self { projects, folder, names, last_resort }
    }
}

impl ProjectFolder for FolderInWorkspace<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn has(&self, path: &str) -> bool {
        self.folder.join(path).is_ok_and(|path| self.projects.workspace.exists(&path))
    }

    fn text(&self, path: &str) -> Option<String> {
        (self.projects.read)(&self.folder.join(path).ok()?)
    }

    fn python(&self) -> Option<ProjectPython> {
        self.projects.python_of(self.folder)
    }

    fn is_last_resort(&self) -> bool {
        self.last_resort
    }
}
