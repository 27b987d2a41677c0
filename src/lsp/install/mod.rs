//! Installing servers into a private prefix in the user's data folder; nothing of the system is touched.
//!
//! What lives here: [`recipes`] (a server's packages as commands of the package managers), `prefix` (the folder they fill and
//! how it is put to use), `manifest` (the mark that it is whole), and the [`Installer`] over them. May use: `config`,
//! [`process`](super::process), [`locate`](super::locate).
//!
//! How data passes: the catalogue's recipes become steps; each runs under a supervisor in a new folder; when all are done and
//! the server's program is there, the manifest is written and the `current` link is switched. Interrupted at any moment,
//! the installation before it stays in use.

mod manifest;
mod prefix;
pub mod recipes;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use self::prefix::{Prefix, program_in};
use self::recipes::{Program, Recipes, Step, Tool};
use super::locate::search;
use super::process::{Exit, RunError, Spawn, SpawnError, Spawner, run};
use crate::config::spec::Server;

/// How long one server may take to be installed, waiting for others included.
pub const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Installs servers.
#[derive(Debug, Clone)]
pub struct Installer {
    data: PathBuf,
    spawner: Spawner,
    path: OsString,
    avoided: Option<PathBuf>,
}

/// A server that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// It was there before, made of the same packages.
    pub already: bool,
    /// What it is made of, as the catalogue names it.
    pub packages: Vec<String>,
    /// Its program.
    pub program: PathBuf,
}

/// What an installation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Another process installs the same server; it is waited for.
    Waiting,
    /// This command begins ("npm install pyright@1.1.414").
    Step(&'a str),
    /// The command said this line; control characters are escaped.
    Line(&'a str),
}

/// A server was not installed. What was installed before is still in use.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// It has no recipes.
    #[error("{server} has to be installed by hand: {manual}")]
    Manual {
        /// The server's key.
        server: String,
        /// What to do.
        manual: String,
    },
    /// The key cannot be the name of a folder.
    #[error(
        "`{key}` cannot be installed: a server's key may hold letters, digits, `-`, `_`, `+` and inner dots only"
    )]
    Key {
        /// The key.
        key: String,
    },
    /// A recipe is not a package.
    #[error("`{package}` in the install recipes of {server} is no pinned package; mend it in servers.toml")]
    Recipe {
        /// The server's key.
        server: String,
        /// The recipe.
        package: String,
    },
    /// The package manager is missing.
    #[error("{server} needs {tool} to be installed: {mend}")]
    NoTool {
        /// The server's key.
        server: String,
        /// What is missing.
        tool: &'static str,
        /// How to get it.
        mend: &'static str,
    },
    /// A command failed.
    #[error("`{command}` failed with {exit}:\n{}", output.join("\n"))]
    Failed {
        /// What ran.
        command: String,
        /// How it ended.
        exit: Exit,
        /// The last lines it said.
        output: Vec<String>,
    },
    /// A command did not end in time.
    #[error("`{command}` was ended: installing may take {} minutes; its last words:\n{}", LONGEST.as_secs() / 60, output.join("\n"))]
    TooLong {
        /// What ran.
        command: String,
        /// The last lines it said.
        output: Vec<String>,
    },
    /// Another process installs it and does not come to an end.
    #[error("another process has been installing {server} all the time; end it, or try again later")]
    Busy {
        /// The server's key.
        server: String,
    },
    /// The packages do not hold the program.
    #[error("{} brought no program `{program}`, which the catalogue names as the command of {server}", packages.join(", "))]
    NoProgram {
        /// The server's key.
        server: String,
        /// The program that was looked for.
        program: String,
        /// What was installed.
        packages: Vec<String>,
    },
    /// A file of the prefix could not be handled.
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A command could not be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
}

impl InstallError {
    fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }
}

impl Installer {
    /// An installer into `<data>/servers`.
    pub fn new(data: PathBuf) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self { data, spawner: Spawner::new(None), path, avoided: None }
    }

    /// The same, with commands run by `spawner`.
    #[must_use]
    pub fn with_spawner(self, spawner: Spawner) -> Self {
        Self { spawner, ..self }
    }

    /// The same, with package managers looked for on `path` instead of PATH.
    #[must_use]
    pub fn with_path(self, path: OsString) -> Self {
        Self { path, ..self }
    }

    /// The same, with no package manager taken from below `folder`: a repository must not choose what is run.
    #[must_use]
    pub fn avoiding(self, folder: PathBuf) -> Self {
        Self { avoided: Some(folder), ..self }
    }

    /// Installs `server` unless it is there already, made of the same packages. Dropping the future ends what runs; what was
    /// installed before stays in use until all is done. Must be called within a tokio runtime.
    pub async fn install(
        &self,
        key: &str,
        server: &Server,
        progress: &(dyn Fn(Progress<'_>) + Send + Sync),
    ) -> Result<Installed, InstallError> {
        check_key(key)?;
        let recipes = Recipes::of(key, &server.install)?;
        if recipes.is_empty() {
            return Err(manual(key, server));
        }
        let program = server.command.first().map(String::as_str).unwrap_or_default();
        let packages: Vec<String> = recipes.packages().cloned().collect();
        let deadline = Instant::now() + LONGEST;
        let prefix = Prefix::open(&self.data, key, deadline, || progress(Progress::Waiting)).await?;
        if let Some(program) = prefix.working(&recipes, program) {
            return Ok(Installed { already: true, packages, program });
        }
        prefix.clean().await?;
        let folder = prefix.begin(&recipes)?;
        let filled = self.fill(key, &recipes, &folder, deadline, progress).await;
        let lacking = || InstallError::NoProgram {
            server: key.to_owned(),
            program: program.to_owned(),
            packages: packages.clone(),
        };
        let whole = filled.and_then(|()| {
            program_in(&folder, program).ok_or_else(lacking)?;
            prefix.switch(&folder, recipes)?;
            program_in(&prefix.current(), program).ok_or_else(lacking)
        });
        match whole {
            Ok(program) => Ok(Installed { already: false, packages, program }),
            Err(error) => {
                prefix.clean().await?;
                Err(error)
            }
        }
    }

    async fn fill(
        &self,
        key: &str,
        recipes: &Recipes,
        folder: &Path,
        deadline: Instant,
        progress: &(dyn Fn(Progress<'_>) + Send + Sync),
    ) -> Result<(), InstallError> {
        for step in recipes.steps(folder) {
            progress(Progress::Step(&step.words));
            self.run(key, step, folder, deadline, progress).await?;
        }
        wrap_gems(&folder.join("gem")).map_err(InstallError::file("wrap the gems in", folder))
    }

    async fn run(
        &self,
        key: &str,
        step: Step,
        folder: &Path,
        deadline: Instant,
        progress: &(dyn Fn(Progress<'_>) + Send + Sync),
    ) -> Result<(), InstallError> {
        let program = match &step.program {
            Program::Made(path) => path.clone(),
            Program::Tool(tool) => self.tool(key, *tool)?,
        };
        // Unlike a server, a package manager gets all variables: its registry's credentials are among them, and it was
        // the user who asked for it.
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        env.insert("NO_COLOR".into(), "1".into());
        env.insert("PATH".into(), self.tool_path());
        env.extend(step.env);
        let spawn = Spawn { name: key.to_owned(), program, args: step.args, env, cwd: folder.to_owned() };
        let finished = run(&self.spawner, spawn, deadline, |line| progress(Progress::Line(line))).await;
        let finished = finished.map_err(|error| match error {
            RunError::Start(error) => InstallError::Start(error),
            RunError::TooLong { tail, .. } => {
                InstallError::TooLong { command: step.words.clone(), output: tail }
            }
        })?;
        if finished.exit == Exit::Code(0) {
            return Ok(());
        }
        if step.program == Program::Tool(Tool::Python) && lacks_venv(&finished.tail) {
            let mend = "Debian, Ubuntu: apt install python3-venv";
            return Err(InstallError::NoTool { server: key.to_owned(), tool: "Python's venv module", mend });
        }
        Err(InstallError::Failed { command: step.words, exit: finished.exit, output: finished.tail })
    }

    fn tool(&self, key: &str, tool: Tool) -> Result<PathBuf, InstallError> {
        let found = search(tool.name(), self.tool_folders());
        found.ok_or(InstallError::NoTool { server: key.to_owned(), tool: tool.name(), mend: tool.mend() })
    }

    fn tool_path(&self) -> OsString {
        std::env::join_paths(self.tool_folders()).unwrap_or_default()
    }

    /// The folders of PATH without relative ones and those to be avoided.
    fn tool_folders(&self) -> impl Iterator<Item = PathBuf> {
        let avoided =
            |folder: &Path| self.avoided.as_ref().is_some_and(|avoided| folder.starts_with(avoided));
        std::env::split_paths(&self.path).filter(move |folder| folder.is_absolute() && !avoided(folder))
    }
}

fn check_key(key: &str) -> Result<(), InstallError> {
    let plain = |character: char| character.is_alphanumeric() || "-_+.".contains(character);
    if key.is_empty() || key.starts_with('.') || !key.chars().all(plain) {
        return Err(InstallError::Key { key: key.to_owned() });
    }
    Ok(())
}

fn manual(key: &str, server: &Server) -> InstallError {
    let install = &server.install;
    let told = install.manual.clone().or_else(|| install.advice.clone()).or_else(|| server.homepage.clone());
    let manual = told.unwrap_or_else(|| "the catalogue knows no way; see its documentation".to_owned());
    InstallError::Manual { server: key.to_owned(), manual }
}

/// Debian's Python comes without the part of `venv` that brings pip.
fn lacks_venv(said: &[String]) -> bool {
    let signs = ["ensurepip is not available", "No module named venv", "No module named ensurepip"];
    said.iter().any(|line| signs.iter().any(|sign| line.contains(sign)))
}

/// Programs of gems look for their gems where Ruby has them; a script in front of each tells where these are.
fn wrap_gems(folder: &Path) -> io::Result<()> {
    let stubs = folder.join("stubs");
    if !stubs.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder.join("bin"))?;
    for entry in fs::read_dir(&stubs)? {
        let stub = entry?;
        let script = folder.join("bin").join(stub.file_name());
        let (home, program) = (quoted(folder.as_os_str()), quoted(stub.path().as_os_str()));
        let text = format!("#!/bin/sh\nGEM_PATH={home}${{GEM_PATH:+:$GEM_PATH}} exec {program} \"$@\"\n");
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// As one word of a shell script.
fn quoted(text: &OsStr) -> String {
    format!("'{}'", text.to_string_lossy().replace('\'', r"'\''"))
}
