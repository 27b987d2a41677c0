//! A shadow git directory: our configuration, the repository's data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;

use super::GitError;
use super::repository::{GitHead, Repository};
use crate::process::{Exchange, ExchangeOutcome, Exit, ProgramPath, Spawn, Spawner, exchange};
use crate::workspace::{Workspace, private};

/// The most of git's output that is read, in bytes.
const MAX_GIT_OUTPUT_BYTES: usize = 32 << 20;
/// The most parts of a split index.
const MAX_SPLIT_INDEX_PARTS: usize = 64;
/// What an object's id would be if there were no commit: the name of a branch that has none.
const UNBORN: &str = "ref: refs/heads/unborn\n";

/// What a repository says of how its files compare, and nothing of programs: key, and the values that pass.
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

/// Laid over the user's own configuration as well: nothing of ours starts a monitor, a hook, or a pager.
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

/// The directory; it is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct ShadowRepository {
    folder: TempDir,
    git: GitRunner,
    /// Variables of every run.
    env: Vec<(&'static str, OsString)>,
}

/// When a run of git is ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GitDeadline {
    /// All runs together have until then.
    At(Instant),
    /// Each run has so long.
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

/// How git is run.
#[derive(Debug, Clone)]
pub(crate) struct GitRunner {
    /// Who starts it.
    pub spawner: Spawner,
    /// Its path.
    pub program: PathBuf,
    /// The folders in which it looks for programs.
    pub path: ProgramPath,
    /// When it is ended.
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

    /// As [`run`](Self::run), also where git ends with a failure; with its last line on standard error.
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
        let mut said = String::new();
        let deadline = self.deadline.of_next_run();
        let with = Exchange { input, most_bytes: MAX_GIT_OUTPUT_BYTES, deadline };
        let done = exchange(&self.spawner, spawn, with, |line| line.clone_into(&mut said)).await?;
        Ok((done, said))
    }
}

impl ShadowRepository {
    /// Makes the directory in `cache`.
    ///
    /// # Errors
    /// Where the repository leads elsewhere or is of a kind that is not read here.
    pub(crate) async fn create(
        repository: &Repository,
        git: GitRunner,
        cache: &Path,
    ) -> Result<Self, GitError> {
        private::make_folder(cache).map_err(|error| GitError::io(cache, error))?;
        let folder = TempDir::with_prefix_in("git-", cache).map_err(|error| GitError::io(cache, error))?;
        let said = configuration(&git, folder.path(), &repository.configuration()?).await?;
        repository.is_work_tree(said.get("core.worktree").map(String::as_str))?;
        if said.get("extensions.refstorage").is_some_and(|storage| storage != "files") {
            return Err(GitError::Unsupported {
                why: "it keeps its references in another form than files".to_owned(),
            });
        }
        let shadow = Self { folder, git, env: Vec::new() };
        shadow.populate(repository, &said)?;
        Ok(shadow)
    }

    fn populate(&self, repository: &Repository, said: &BTreeMap<String, String>) -> Result<(), GitError> {
        let head = match repository.head()? {
            GitHead::Commit(id) => format!("{id}\n"),
            GitHead::Unborn => UNBORN.to_owned(),
        };
        self.write("HEAD", &head)?;
        self.write("config", &carried_configuration(said))?;
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

    /// Runs git on `repository` as this directory shows it, at the top of its work tree, and gives what it printed.
    ///
    /// # Errors
    /// Where git fails or takes too long.
    pub(crate) async fn run(
        &self,
        repository: &Repository,
        args: &[OsString],
    ) -> Result<ExchangeOutcome, GitError> {
        self.run_with(&repository.top, args, &[], &[]).await
    }

    /// As [`run`](Self::run), with `work_tree` in the place of the repository's, `input` for its standard input, and more variables of its
    /// environment.
    ///
    /// # Errors
    /// Where git fails or takes too long.
    pub(crate) async fn run_with(
        &self,
        work_tree: &Path,
        args: &[OsString],
        input: &[u8],
        env: &[(&str, OsString)],
    ) -> Result<ExchangeOutcome, GitError> {
        // A path that git is given or gives is relative to the top of the work tree.
        let env: Vec<_> = self.env.iter().chain(env).cloned().collect();
        self.git.run(self.command(work_tree, args), work_tree, input, &env).await
    }

    /// As [`run_with`](Self::run_with), also where git ends with a failure.
    ///
    /// # Errors
    /// Where git cannot be run or takes too long.
    pub(crate) async fn run_to_end(
        &self,
        repository: &Repository,
        args: &[OsString],
    ) -> Result<ExchangeOutcome, GitError> {
        let top = &repository.top;
        self.git.run_to_end(self.command(top, args), top, &[], &self.env).await.map(|(done, _)| done)
    }

    /// Puts another index in the place of the repository's: git names the one of a commit that is being made to its hooks
    /// (`GIT_INDEX_FILE`), and it lies beside the other.
    ///
    /// # Errors
    /// Where it lies elsewhere, or is no file.
    pub(crate) fn use_index(&self, repository: &Repository, file: &Path) -> Result<(), GitError> {
        let refused = || GitError::refused("GIT_INDEX_FILE names no index beside the repository's own");
        let absolute = repository.top.join(file);
        let folder = absolute.parent().and_then(|folder| fs::canonicalize(folder).ok());
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

    /// From now on the objects that git makes go into this directory, and not into the repository.
    ///
    /// # Errors
    /// Where the folder for them cannot be made.
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

    /// Whether the repository holds the latest commits only.
    pub(crate) fn is_shallow(&self) -> bool {
        self.folder.path().join("shallow").exists()
    }
}

/// The keys (in lower case) and values of a configuration, parsed by git outside of any repository, includes not followed.
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

fn carried_configuration(said: &BTreeMap<String, String>) -> String {
    let mut text = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n".to_owned();
    for (key, values) in CARRIED {
        let value = said.get(*key).map(|value| value.to_ascii_lowercase());
        let value = value.filter(|value| values.contains(&value.as_str()));
        if let (Some(value), Some((section, name))) = (value, key.split_once('.')) {
            // Writing to a String cannot fail.
            let _ = write!(text, "[{section}]\n\t{name} = {value}\n");
        }
    }
    text
}
