//! A workspace with a journal, and access to its content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::platform::files::{MetadataExt, PermissionsExt};
use crate::workspace::edit::{EditError, EditOptions, EditPlan, PathPrecondition, TransactionManager};
use crate::workspace::{Workspace, WorkspacePath};

/// A workspace `w`, a state folder beside it, and edits of it.
pub(super) struct Bench {
    pub(super) outer: tempfile::TempDir,
    pub(super) workspace: Workspace,
    pub(super) edits: TransactionManager,
}

/// Everything below a folder: path → mode and content (a link's target, nothing for a folder).
pub(super) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Bench {
    pub(super) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// Creates the workspace in memory if the system has a place for that, so that many commits do
    /// not wait for a disk.
    pub(super) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        Self::at(if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap())
    }

    fn at(outer: tempfile::TempDir) -> Self {
        std::fs::create_dir(outer.path().join("w")).unwrap();
        let (workspace, edits) = open(outer.path());
        Self { outer, workspace, edits }
    }

    pub(super) fn root(&self) -> PathBuf {
        self.outer.path().join("w")
    }

    pub(super) fn path(&self, path: &str) -> WorkspacePath {
        self.workspace.path(path.as_ref()).unwrap()
    }

    /// Creates a file without the edit path.
    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.root().join(path)).unwrap()
    }

    pub(super) fn plan(&self) -> EditPlan {
        EditPlan::new("test")
    }

    /// Writes one file, against its present state.
    pub(super) fn write(&self, path: &str, content: &str) -> Result<(), EditError> {
        let mut plan = self.plan();
        plan.write(&self.path(path), content, PathPrecondition::Any);
        self.edits.commit(&plan).map(drop)
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        snapshot(&self.root())
    }

    /// Returns the names of temporary files that still exist.
    pub(super) fn leftovers(&self) -> Vec<PathBuf> {
        self.snapshot().into_keys().filter(|path| is_temporary(path)).collect()
    }
}

pub(super) fn open(outer: &Path) -> (Workspace, TransactionManager) {
    let workspace = Workspace::open(&outer.join("w")).unwrap();
    let edits = TransactionManager::new(workspace.clone(), EditOptions::new(outer.join("state")));
    (workspace, edits)
}

pub(super) fn is_temporary(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b".lsp-tools-tmp-"))
}

pub(super) fn snapshot(root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).unwrap()
            };
            let mode = metadata.permissions().mode();
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (mode, content));
        }
    }
    found
}

/// Runs the ignored test `role` of this very program as a process of its own, on the bench at
/// `outer`.
pub(super) fn child(role: &str, outer: &Path, word: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", role, "--ignored", "--nocapture", "--test-threads=1"])
        .env("EDIT_PATH_OUTER", outer)
        .env("EDIT_PATH_WORD", word)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the arguments of [`child`] in the child itself; `None` if a person runs the test.
pub(super) fn told() -> Option<(PathBuf, String)> {
    Some((std::env::var_os("EDIT_PATH_OUTER")?.into(), std::env::var("EDIT_PATH_WORD").ok()?))
}

pub(super) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Pseudo-random numbers.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(now.as_nanos() as u64 | 1)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
