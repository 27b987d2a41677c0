//! Installation of servers into a private prefix in the user's data folder; nothing of the system
//! is touched.
//!
//! Contents: [`recipes`] (a server's packages as commands of the package managers), [`deb`] (those
//! of Debian's packages), `locks` (the dependencies of pip and npm packages, with hashes), `report`
//! (the reports of package managers on fetched files), `known_failure` (causes and remedies of
//! their failures), `prefix` (the installation's folder and its activation), `manifest` (the mark
//! of a complete installation), `package_place` and `download` (packages in a folder, for machines
//! without a network), and the [`Installer`] over them. May use: `config`,
//! [`process`](crate::process), [`locate`](super::locate), [`health`].
//!
//! Data flow: the first of the catalogue's recipes that works is used. It becomes steps; each runs
//! under a supervisor in a new folder. When all are done and the server's program exists, the
//! manifest is written and the `current` link is switched. If interrupted at any moment, the
//! earlier installation stays in use.
//!
//! One recipe reaches outside the prefix: a component of the user's Rust toolchain is added to
//! that, as `rustup` does.

pub(crate) mod deb;
mod download;
mod error;
mod known_failure;
mod locks;
pub(super) mod manifest;
mod package_place;
mod prefix;
pub(crate) mod recipes;
mod report;
mod step;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

pub use self::error::InstallError;
pub(crate) use self::package_place::PackagePlace;
use self::prefix::{InstallPrefix, program_in};
use self::recipes::CheckedRecipe;
use self::report::FetchReport;
use self::step::{InstallStep, PrerequisiteTool, StepProgram};
use super::health;
use super::locate::{LocatedProgram, ProgramOrigin, program_folders};
use crate::config::spec::{RequiredProgram, ServerSpec};
use crate::platform::files::set_mode;
use crate::platform::paths::link_program;
use crate::platform::private;
use crate::process::{Exit, ProgramPath, RunError, Spawn, Spawner, is_program, run};
use crate::text::shell_word;
use crate::workspace::Workspace;

/// The time limit of a program that prints its version.
const INSTALL_VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// The folder of temporary files, inside the installation's own.
const TEMPORARY: &str = ".tmp";

/// Installs servers.
#[derive(Debug, Clone)]
pub struct Installer {
    data: PathBuf,
    spawner: Spawner,
    path: ProgramPath,
    place: PackagePlace,
}

/// An installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledServer {
    /// True if it existed before, made of the same packages.
    pub already: bool,
    /// The packages that it is made of, as the catalogue names them.
    pub packages: Vec<String>,
    /// Its program.
    pub program: PathBuf,
    /// The failed attempts before it, one line for each.
    pub in_vain: Vec<String>,
    /// The parts that are not locked, or were built from source: a sentence each.
    pub notes: Vec<String>,
}

/// The progress of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallProgress<'a> {
    /// Another process installs the same server; its end is awaited.
    Waiting,
    /// This command begins ("npm install pyright@1.1.414").
    Step(&'a str),
    /// The command printed this line; control characters are escaped.
    Line(&'a str),
    /// One way to install it failed, for this reason in one line; the next is tried.
    InVain(&'a str),
    /// A note on the installation ("a==1 is not locked: …").
    Note(&'a str),
}

impl Installer {
    /// Creates an installer into `<data>/servers`.
    ///
    /// Package managers are searched for on PATH, outside `workspace`: a repository must not choose
    /// the programs that run.
    pub fn new(data: PathBuf, workspace: &Workspace) -> Self {
        let path = ProgramPath::of_user(workspace);
        Self { data, spawner: Spawner::new(None), path, place: PackagePlace::Registries }
    }

    /// Sets the spawner of the commands.
    #[must_use]
    pub fn with_spawner(self, spawner: Spawner) -> Self {
        Self { spawner, ..self }
    }

    /// Sets the search path of package managers, instead of PATH.
    #[must_use]
    pub fn with_path(self, path: &OsStr, workspace: &Workspace) -> Self {
        Self { path: ProgramPath::new(workspace, path), ..self }
    }

    /// Sets the place that the packages come from, instead of the registries.
    #[must_use]
    pub(crate) fn with_packages(self, place: PackagePlace) -> Self {
        Self { place, ..self }
    }

    /// Installs `server` unless it exists already, made of the same packages, by the first of the
    /// catalogue's ways that works. Dropping the future ends the running commands; the earlier
    /// installation stays in use until all is done. Must be called within a tokio runtime.
    pub async fn install(
        &self,
        key: &str,
        server: &ServerSpec,
        progress: &(dyn Fn(InstallProgress<'_>) + Send + Sync),
    ) -> Result<InstalledServer, InstallError> {
        check_key(key)?;
        self.place.check()?;
        let ways = server.install.recipes().into_iter().map(|recipe| CheckedRecipe::new(key, recipe));
        let mut ways = ways.collect::<Result<Vec<_>, _>>()?;
        let Some(longest) = ways.iter().map(CheckedRecipe::max_duration).max() else {
            return Err(manual_install_error(key, server));
        };
        let job = InstallJob { key, server, progress, deadline: Instant::now() + longest, longest };
        if let Some(needs) = self.missing_prerequisite(&job).await {
            ways = ways.iter().map(|recipes| recipes.with_packages_of(needs)).collect();
        }
        let prefix =
            InstallPrefix::open(&self.data, key, job.deadline, || progress(InstallProgress::Waiting)).await?;
        for recipes in &ways {
            if let Some(program) = prefix.working_program(recipes, job.program()) {
                prefix.record_programs(self.programs_beside(server, recipes))?;
                let packages = recipes.recipe().packages().cloned().collect();
                return Ok(InstalledServer {
                    already: true,
                    packages,
                    program,
                    in_vain: Vec::new(),
                    notes: Vec::new(),
                });
            }
        }
        let mut in_vain = Vec::new();
        loop {
            let recipes = ways.remove(0);
            let error = match self.install_into_prefix(&job, &prefix, &recipes).await {
                Ok((program, notes)) => {
                    let packages = recipes.recipe().packages().cloned().collect();
                    return Ok(InstalledServer { already: false, packages, program, in_vain, notes });
                }
                Err(error) => error,
            };
            prefix.clean().await?;
            // If one package was tampered with, those of the other ways may be as well.
            if matches!(error, InstallError::Mismatch { .. }) {
                return Err(error);
            }
            if ways.is_empty() {
                in_vain.retain(|line: &String| !error.is_cause_of(line));
                return Err(match in_vain.is_empty() {
                    true => error,
                    false => {
                        in_vain.push(error.to_string());
                        InstallError::NoWay { server: key.to_owned(), tries: in_vain }
                    }
                });
            }
            let line = error.line();
            progress(InstallProgress::InVain(&line));
            in_vain.push(line);
        }
    }

    /// Fills a new folder according to `recipes` and activates it. Returns the server's program,
    /// and notes on the installation.
    async fn install_into_prefix(
        &self,
        job: &InstallJob<'_>,
        prefix: &InstallPrefix,
        recipes: &CheckedRecipe,
    ) -> Result<(PathBuf, Vec<String>), InstallError> {
        prefix.clean().await?;
        let folder = prefix.create_folder(recipes)?;
        let notes = self.run_steps(job, recipes, &folder, &self.place).await?;
        if !recipes.recipe().rustup.is_empty() {
            self.link_component(job, &folder).await?;
        }
        wrap_gems(&folder.join("gem")).map_err(InstallError::file("wrap the gems in", &folder))?;
        let lacking = || InstallError::NoProgram {
            server: job.key.to_owned(),
            program: job.program().to_owned(),
            packages: recipes.recipe().packages().cloned().collect(),
        };
        let program = program_in(&folder, job.program()).ok_or_else(lacking)?;
        remove_temporary(&folder).map_err(InstallError::file("clear", &folder))?;
        self.verify_program(job, &folder, program).await?;
        prefix.activate(&folder, recipes, self.programs_beside(job.server, recipes))?;
        Ok((program_in(&prefix.current(), job.program()).ok_or_else(lacking)?, notes))
    }

    /// Runs the commands of a recipe. Returns notes on packages that are not locked, or were built
    /// from source.
    async fn run_steps(
        &self,
        job: &InstallJob<'_>,
        recipes: &CheckedRecipe,
        folder: &Path,
        place: &PackagePlace,
    ) -> Result<Vec<String>, InstallError> {
        if let (PackagePlace::From(_), Some(manager)) = (place, recipes.online_manager()) {
            return Err(InstallError::Online { server: job.key.to_owned(), manager });
        }
        recipes.prepare(folder).map_err(InstallError::file("prepare", folder))?;
        let mut notes = recipes.locks().unlocked.clone();
        notes.iter().for_each(|note| (job.progress)(InstallProgress::Note(note)));
        for step in recipes.steps(folder, place) {
            (job.progress)(InstallProgress::Step(&step.words));
            let mut report = FetchReport::default();
            let done = self.run(job, step, folder, &mut report).await;
            if done.is_err()
                && let Some(mismatch) = report.mismatch(job.key, recipes.locks())
            {
                return Err(mismatch);
            }
            done?;
            let built = report.built_notes(recipes.recipe());
            built.iter().for_each(|note| (job.progress)(InstallProgress::Note(note)));
            notes.extend(built);
        }
        Ok(notes)
    }

    /// Links the component's program itself into the prefix. The proxy on PATH would search for it
    /// in the toolchain that a project names.
    async fn link_component(&self, job: &InstallJob<'_>, folder: &Path) -> Result<(), InstallError> {
        let step = recipes::which_component(job.program());
        let mut first_line = None;
        let note = |line: &str| first_line = first_line.take().or_else(|| Some(PathBuf::from(line.trim())));
        self.run_with_output(job, step, folder, note).await?;
        let Some(program) = first_line.filter(|program| is_program(program)) else { return Ok(()) };
        let links = folder.join("rustup/bin");
        let name = program.file_name().unwrap_or_default();
        let linked = fs::create_dir_all(&links).and_then(|()| link_program(&program, &links.join(name)));
        linked.map_err(InstallError::file("link into", &links))
    }

    /// Runs the new program with arguments on which it must succeed, according to the catalogue.
    async fn verify_program(
        &self,
        job: &InstallJob<'_>,
        folder: &Path,
        program: PathBuf,
    ) -> Result<(), InstallError> {
        let path_folders = program_folders(folder);
        let path = self.path.clone().after(path_folders.iter().cloned());
        let (origin, fallback_folders) = (ProgramOrigin::Prefix, Vec::new());
        let located = LocatedProgram { program, origin, path_folders, fallback_folders, pin: None };
        match health::probe_failure(&self.spawner, &path, job.server, &located).await {
            None => Ok(()),
            Some(trouble) => Err(InstallError::Broken { program: job.program().to_owned(), trouble }),
        }
    }

    /// Returns the programs that run the server, or that it runs, with their paths.
    fn programs_beside(&self, server: &ServerSpec, recipes: &CheckedRecipe) -> BTreeMap<String, PathBuf> {
        let hollow_programs = server.hollow.iter().filter_map(|hollow| hollow.program.as_deref());
        let names = recipes.interpreters().into_iter().chain(hollow_programs);
        names.filter_map(|name| Some((name.to_owned(), self.path.find(name)?))).collect()
    }

    /// Returns the program that the server needs beside itself, if PATH has none that is new
    /// enough.
    async fn missing_prerequisite<'a>(&self, job: &InstallJob<'a>) -> Option<&'a RequiredProgram> {
        let needs = job.server.install.needs.as_ref()?;
        let Some(program) = self.path.find(&needs.program) else { return Some(needs) };
        let spawn = Spawn {
            name: needs.program.clone(),
            program,
            args: needs.version.iter().map(OsString::from).collect(),
            env: self.environment(),
            cwd: "/".into(),
            pins: Vec::new(),
        };
        let mut found = None;
        let note = |line: &str| found = found.take().or_else(|| VersionNumbers::in_text(line));
        let finished = run(&self.spawner, spawn, Instant::now() + INSTALL_VERSION_TIMEOUT, note).await;
        let works = finished.is_ok_and(|finished| finished.exit == Exit::Code(0));
        let enough = found.is_some_and(|found| Some(found) >= VersionNumbers::in_text(&needs.at_least));
        (!works || !enough).then_some(needs)
    }

    /// Returns all variables. Unlike a server, a package manager gets them: its registry's
    /// credentials are among them, and the user has started it.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        env.insert("NO_COLOR".into(), "1".into());
        env.extend([self.path.variable()]);
        // Their messages are read, in English.
        env.insert("LC_ALL".into(), "C.UTF-8".into());
        env
    }

    async fn run(
        &self,
        job: &InstallJob<'_>,
        step: InstallStep,
        folder: &Path,
        report: &mut FetchReport,
    ) -> Result<(), InstallError> {
        let tell = |line: &str| {
            report.parse_line(line);
            (job.progress)(InstallProgress::Line(line));
        };
        let ran = self.run_with_output(job, step, folder, tell).await;
        ran.map_err(|error| report.with_causes(error))
    }

    async fn run_with_output(
        &self,
        job: &InstallJob<'_>,
        step: InstallStep,
        folder: &Path,
        tell: impl FnMut(&str),
    ) -> Result<(), InstallError> {
        // Programs of earlier steps come first: the server's own Go builds it, not one that is too
        // old.
        let made = program_folders(folder);
        let program = match &step.program {
            StepProgram::Made(path) => path.clone(),
            StepProgram::Tool(tool) => self.tool(job.key, *tool, &made)?,
        };
        let mut env = self.environment();
        env.extend([self.path.clone().after(made).variable()]);
        // Other users could change files unpacked and built in the system's folder for temporary
        // files.
        let temporary = folder.join(TEMPORARY);
        private::make_folder(&temporary).map_err(InstallError::file("make", &temporary))?;
        env.insert("TMPDIR".into(), temporary.into());
        env.extend(step.env);
        let spawn = Spawn {
            name: job.key.to_owned(),
            program,
            args: step.args,
            env,
            cwd: folder.to_owned(),
            pins: Vec::new(),
        };
        let finished = run(&self.spawner, spawn, job.deadline, tell).await;
        let finished = finished.map_err(|error| match error {
            RunError::Start(error) => InstallError::Start(error),
            RunError::TooLong { tail, .. } => InstallError::TooLong {
                command: step.words.clone(),
                minutes: job.longest.as_secs() / 60,
                output: tail,
            },
        })?;
        if finished.exit == Exit::Code(0) {
            return Ok(());
        }
        Err(InstallError::Failed { command: step.words, exit: finished.exit, output: finished.tail })
    }

    fn tool(&self, key: &str, tool: PrerequisiteTool, made: &[PathBuf]) -> Result<PathBuf, InstallError> {
        let found = self.path.clone().after(made.iter().cloned()).find(tool.name());
        found.ok_or(InstallError::NoTool {
            server: key.to_owned(),
            tool: tool.name(),
            mend: tool.install_hint(),
        })
    }
}

/// The installation of one server.
struct InstallJob<'a> {
    key: &'a str,
    server: &'a ServerSpec,
    progress: &'a (dyn Fn(InstallProgress<'_>) + Send + Sync),
    deadline: Instant,
    longest: Duration,
}

impl InstallJob<'_> {
    /// The name of the program that must exist in the end.
    fn program(&self) -> &str {
        self.server.command.first().map(String::as_str).unwrap_or_default()
    }
}

/// The numbers of a version, in their order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VersionNumbers(Vec<u64>);

impl VersionNumbers {
    /// Parses the first version in a text ("go version go1.27.3 linux/amd64").
    fn in_text(text: &str) -> Option<Self> {
        let start = text.find(|letter: char| letter.is_ascii_digit())?;
        let rest = &text[start..];
        let end = rest.find(|letter: char| letter != '.' && !letter.is_ascii_digit()).unwrap_or(rest.len());
        Some(Self(rest[..end].split('.').map_while(|number| number.parse().ok()).collect()))
    }
}

fn check_key(key: &str) -> Result<(), InstallError> {
    let plain = |character: char| character.is_alphanumeric() || "-_+.@".contains(character);
    if key.is_empty() || key.starts_with('.') || !key.chars().all(plain) {
        return Err(InstallError::Key { key: key.to_owned() });
    }
    Ok(())
}

fn manual_install_error(key: &str, server: &ServerSpec) -> InstallError {
    let install = &server.install;
    let advice =
        install.manual.clone().or_else(|| install.advice.clone()).or_else(|| server.homepage.clone());
    let manual = advice.unwrap_or_else(|| "the catalogue knows no way; see its documentation".to_owned());
    InstallError::Manual { server: key.to_owned(), manual }
}

/// Removes the temporary files of the steps in their folder.
fn remove_temporary(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(TEMPORARY)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // A step's own child may still write there. The rest is private and unused.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        done => done,
    }
}

/// Wraps programs of gems, which search for their gems in Ruby's own folders: a script in front of
/// each sets the right folder.
fn wrap_gems(folder: &Path) -> io::Result<()> {
    let stubs = folder.join("stubs");
    if !stubs.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder.join("bin"))?;
    for entry in fs::read_dir(&stubs)? {
        let stub = entry?;
        let script = folder.join("bin").join(stub.file_name());
        let stub = stub.path();
        let (home, program) = (folder.to_string_lossy(), stub.to_string_lossy());
        let (home, program) = (shell_word(&home), shell_word(&program));
        let text = format!("#!/bin/sh\nGEM_PATH={home}${{GEM_PATH:+:$GEM_PATH}} exec {program} \"$@\"\n");
        let mut file = File::create(&script)?;
        file.write_all(text.as_bytes())?;
        set_mode(&file, 0o755)?;
    }
    Ok(())
}
