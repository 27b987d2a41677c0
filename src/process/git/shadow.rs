//! A shadow git directory: a configuration of this crate, the repository's data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;

use super::GitError;
use super::repository::{GitHead, Repository};
use crate::platform::canonicalize;
use crate::platform::files::symlink;
use crate::platform::private;
use crate::process::{Exchange, ExchangeOutcome, Exit, ProgramPath, Spawn, Spawner, exchange};
use crate::workspace::Workspace;

/// The most bytes that are read from git's output.
const MAX_GIT_OUTPUT_BYTES: usize = 32 << 20;
/// The most parts of a split index.
const MAX_SPLIT_INDEX_PARTS: usize = 64;
/// The content of `HEAD` for a repository without a commit: a branch without a commit.
const UNBORN: &str = "ref: refs/heads/unborn\n";

/// The settings of a repository that affect the comparison of files and name no programs: key, and
/// accepted values.
const CARRIED: &[(&str, &[&str])] = &[
    ("core.filemode", FLAG),
    ("core.symlinks", FLAG),
    ("core.ignorecase", FLAG),
    ("core.precomposeunicode", FLAG),
    ("core.trustctime", FLAG),
    ("core.checkstat", &["default", "minimal"]),
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.sparsecheckout", FLAG),
    ("core.sparsecheckoutcone", FLAG),
    ("index.sparse", FLAG),
    ("extensions.objectformat", &["sha1", "sha256"]),
];
const FLAG: &[&str] = &["true", "false"];

/// Options that override even the user's configuration: this crate's git commands start no monitor,
/// hook or pager.
const ALWAYS: &[&str] = &[
    "--no-pager",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "protocol.allow=never",
];

/// The shadow directory, which is removed on drop.
#[derive(Debug)]
pub(crate) struct ShadowRepository {
    folder: TempDir,
    git: GitRunner,
    /// Environment variables of every git command.
    env: Vec<(&'static str, OsString)>,
}

/// The deadline of git commands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GitDeadline {
    /// All commands together end by this time.
    At(Instant),
    /// Each command has this timeout.
    Each(Duration),
}

impl From<Instant> for GitDeadline {
    fn from(deadline: Instant) -> Self {
        Self::At(deadline)
    }
}

impl GitDeadline {
    fn of_next_run(self) -> Instant {
        match self {
            Self::At(deadline) => deadline,
            Self::Each(timeout) => Instant::now() + timeout,
        }
    }
}

/// The way to run git.
#[derive(Debug, Clone)]
pub(crate) struct GitRunner {
    /// Starts the process.
    pub spawner: Spawner,
    /// The path of git.
    pub program: PathBuf,
    /// The folders in which git searches for programs.
    pub path: ProgramPath,
    /// The deadline.
    pub deadline: GitDeadline,
}

impl GitRunner {
    /// The git of the user's PATH, for a repository of `workspace`.
    ///
    /// # Errors
    /// [`GitError::NoGit`] if there is none outside the workspace.
    pub(crate) fn find(
        workspace: &Workspace,
        spawner: &Spawner,
        deadline: GitDeadline,
    ) -> Result<Self, GitError> {
        let path = ProgramPath::of_user(workspace);
        let program = path.find("git").ok_or(GitError::NoGit)?;
        Ok(Self { spawner: spawner.clone(), program, path, deadline })
    }

    async fn run(
        &self,
        args: Vec<OsString>,
        cwd: &Path,
        input: &[u8],
        extra_env: &[(&str, OsString)],
    ) -> Result<ExchangeOutcome, GitError> {
        let (done, said) = self.run_to_end(args, cwd, input, extra_env).await?;
        if done.exit == Exit::Code(0) { Ok(done) } else { Err(GitError::Failed { exit: done.exit, said }) }
    }

    /// Like [`run`](Self::run), but a failure of git is not an error. Returns its last line on
    /// standard error too.
    async fn run_to_end(
        &self,
        args: Vec<OsString>,
        cwd: &Path,
        input: &[u8],
        extra_env: &[(&str, OsString)],
    ) -> Result<(ExchangeOutcome, String), GitError> {
        let env = [
            ("GIT_OPTIONAL_LOCKS", OsString::from("0")),
            ("GIT_NO_LAZY_FETCH", "1".into()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
            ("GIT_ALLOW_PROTOCOL", "".into()),
            ("GIT_CEILING_DIRECTORIES", cwd.parent().unwrap_or(cwd).into()),
            ("LC_ALL", "C".into()),
        ];
        let spawn = Spawn {
            name: "git".to_owned(),
            program: self.program.clone(),
            args,
            env: env
                .into_iter()
                .chain(extra_env.iter().cloned())
                .map(|(name, value)| (name.into(), value))
                .chain([self.path.variable()])
                .collect(),
            cwd: cwd.to_owned(),
            pins: Vec::new(),
        };
        let mut message = String::new();
        let deadline = self.deadline.of_next_run();
        let with = Exchange { input, most_bytes: MAX_GIT_OUTPUT_BYTES, deadline };
        let done = exchange(&self.spawner, spawn, with, |line| line.clone_into(&mut message)).await?;
        Ok((done, message))
    }
}

impl ShadowRepository {
    /// Creates the directory in `cache`.
    ///
    /// # Errors
    /// If the repository leads elsewhere or is of an unsupported kind.
    pub(crate) async fn create(
        repository: &Repository,
        git: GitRunner,
        cache: &Path,
    ) -> Result<Self, GitError> {
        private::make_folder(cache).map_err(|error| GitError::io(cache, error))?;
        let folder = TempDir::with_prefix_in("git-", cache).map_err(|error| GitError::io(cache, error))?;
        let config = configuration(&git, folder.path(), &repository.configuration()?).await?;
        repository.is_work_tree(config.get("core.worktree").map(String::as_str))?;
        if config.get("extensions.refstorage").is_some_and(|storage| storage != "files") {
            return Err(GitError::Unsupported {
                why: "it does not store its references as files".to_owned(),
            });
        }
        let shadow = Self { folder, git, env: Vec::new() };
        shadow.populate(repository, &config)?;
        Ok(shadow)
    }

    fn populate(&self, repository: &Repository, config: &BTreeMap<String, String>) -> Result<(), GitError> {
        let head = match repository.head()? {
            GitHead::Commit(id) => format!("{id}\n"),
            GitHead::Unborn => UNBORN.to_owned(),
        };
        self.write("HEAD", &head)?;
        self.write("config", &carried_configuration(config))?;
        for folder in ["refs", "info"] {
            let path = self.folder.path().join(folder);
            private::make_folder(&path).map_err(|error| GitError::io(path, error))?;
        }
        let (own, common) = (&repository.git_dir, &repository.common_dir);
        self.link(repository, common, "objects")?;
        self.link(repository, own, "index")?;
        self.link(repository, common, "shallow")?;
        self.link(repository, own, "info/sparse-checkout")?;
        self.link(repository, common, "info/exclude")?;
        self.link(repository, common, "info/attributes")?;
        let entries = fs::read_dir(own).map_err(|error| GitError::io(own, error))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        for part in names.filter(|name| name.starts_with("sharedindex.")).take(MAX_SPLIT_INDEX_PARTS) {
            self.link(repository, own, &part)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), GitError> {
        let path = self.folder.path().join(name);
        private::write(&path, text.as_bytes()).map_err(|error| GitError::io(path, error))
    }

    fn link(&self, repository: &Repository, folder: &Path, name: &str) -> Result<(), GitError> {
        let Some(target) = repository.data_path(folder, name)? else { return Ok(()) };
        let path = self.folder.path().join(name);
        symlink(target, &path).map_err(|error| GitError::io(path, error))
    }

    /// Runs git on `repository` through this directory, at the top of its work tree, and returns
    /// its output.
    ///
    /// # Errors
    /// If git fails or takes too long.
    pub(crate) async fn run(
        &self,
        repository: &Repository,
        args: &[OsString],
    ) -> Result<ExchangeOutcome, GitError> {
        self.run_with(&repository.top, args, &[], &[]).await
    }

    /// Like [`run`](Self::run), with `work_tree` in place of the repository's, `input` as standard
    /// input, and additional environment variables.
    ///
    /// # Errors
    /// If git fails or takes too long.
    pub(crate) async fn run_with(
        &self,
        work_tree: &Path,
        args: &[OsString],
        input: &[u8],
        env: &[(&str, OsString)],
    ) -> Result<ExchangeOutcome, GitError> {
        // Paths in arguments and output are relative to the top of the work tree.
        let env: Vec<_> = self.env.iter().chain(env).cloned().collect();
        self.git.run(self.command(work_tree, args), work_tree, input, &env).await
    }

    /// Like [`run_with`](Self::run_with), but a failure of git is not an error.
    ///
    /// # Errors
    /// If git cannot be run or takes too long.
    pub(crate) async fn run_to_end(
        &self,
        repository: &Repository,
        args: &[OsString],
    ) -> Result<ExchangeOutcome, GitError> {
        let top = &repository.top;
        self.git.run_to_end(self.command(top, args), top, &[], &self.env).await.map(|(done, _)| done)
    }

    /// Uses another index in place of the repository's: git passes the index of a commit in
    /// progress to its hooks (`GIT_INDEX_FILE`), and it is in the same folder.
    ///
    /// # Errors
    /// If it is in another folder, or not a file.
    pub(crate) fn use_index(&self, repository: &Repository, file: &Path) -> Result<(), GitError> {
        let refused = || GitError::refused("GIT_INDEX_FILE names no index beside the repository's own");
        let absolute = repository.top.join(file);
        let folder = absolute.parent().and_then(|folder| canonicalize(folder).ok());
        let name = absolute.file_name().and_then(|name| name.to_str()).ok_or_else(refused)?;
        let path = repository.git_dir.join(name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        if folder.as_deref() != Some(&repository.git_dir) || !is_file {
            return Err(refused());
        }
        let link = self.scratch("index");
        let _absent = fs::remove_file(&link);
        symlink(path, &link).map_err(|error| GitError::io(link, error))
    }

    /// Redirects new objects of git into this directory instead of the repository.
    ///
    /// # Errors
    /// If the folder for them cannot be created.
    pub(crate) fn keep_objects_apart(&mut self) -> Result<(), GitError> {
        let objects = self.scratch("new-objects");
        private::make_folder(&objects).map_err(|error| GitError::io(&objects, error))?;
        self.env = vec![
            ("GIT_OBJECT_DIRECTORY", objects.into()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.scratch("objects").into()),
        ];
        Ok(())
    }

    fn command(&self, work_tree: &Path, args: &[OsString]) -> Vec<OsString> {
        let mut all: Vec<OsString> = ALWAYS.iter().map(Into::into).collect();
        let mut option = |name: &str, path: &Path| {
            let mut word = OsString::from(name);
            word.push(path);
            all.push(word);
        };
        option("--git-dir=", self.folder.path());
        option("--work-tree=", work_tree);
        all.extend_from_slice(args);
        all
    }

    /// A path in this directory, which is removed with it.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns true if the repository is a shallow clone.
    pub(crate) fn is_shallow(&self) -> bool {
        self.folder.path().join("shallow").exists()
    }
}

/// The keys (in lower case) and values of a configuration, parsed by git outside of any repository,
/// without includes.
async fn configuration(
    git: &GitRunner,
    cwd: &Path,
    text: &str,
) -> Result<BTreeMap<String, String>, GitError> {
    let args = ["--no-pager", "config", "--file", "-", "--no-includes", "--list", "-z"];
    let listed = git.run(args.map(OsString::from).to_vec(), cwd, text.as_bytes(), &[]).await?;
    let listed = String::from_utf8_lossy(&listed.output).into_owned();
    // A key without a value means `true`.
    let entries = listed.split('\0').filter(|entry| !entry.is_empty());
    let pairs = entries.map(|entry| entry.split_once('\n').unwrap_or((entry, "true")));
    Ok(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

fn carried_configuration(config: &BTreeMap<String, String>) -> String {
    let mut text = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n".to_owned();
    for (key, values) in CARRIED {
        let value = config.get(*key).map(|value| value.to_ascii_lowercase());
        let value = value.filter(|value| values.contains(&value.as_str()));
        if let (Some(value), Some((section, name))) = (value, key.split_once('.')) {
            // Writing to a String cannot fail.
            let _ = write!(text, "[{section}]\n\t{name} = {value}\n");
        }
    }
    text
}
