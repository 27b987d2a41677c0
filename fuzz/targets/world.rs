//! A workspace in a temporary folder, with a user's folders beside it, and a runtime on it.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::{
    Approval, ApprovalRequest, Approver, CallRequest, Caller, Folders, Runtime, RuntimeOptions, ToolResult,
};
use serde_json::Value;
use tempfile::TempDir;

/// The runtime of async code.
pub fn tokio() -> &'static tokio::runtime::Runtime {
    static TOKIO: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    TOKIO.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().expect("a runtime of tokio")
    })
}

/// A temporary workspace, which is deleted on drop.
pub struct World {
    folder: TempDir,
}

impl World {
    /// A workspace of these files.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        // A file system in memory, if available.
        let memory = Path::new("/dev/shm");
        let builder = || tempfile::Builder::new().prefix("lsp-tools-fuzz-").to_owned();
        let folder =
            builder().tempdir_in(memory).or_else(|_| builder().tempdir()).expect("a temporary folder");
        let world = Self { folder };
        for name in ["config", "data", "state", "cache", "home", "outside", "code"] {
            DirBuilder::new().mode(0o700).create(world.beside(name)).expect("a folder");
        }
        fs::create_dir(world.root()).expect("a folder");
        fs::write(world.beside("outside/kept.txt"), "kept\n").expect("a file");
        for (path, content) in files {
            world.write(path, content);
        }
        world
    }

    pub fn root(&self) -> PathBuf {
        self.beside("code/project")
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// Writes a file in the user's folders.
    pub fn write_beside(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.beside(name), content).expect("a file");
    }

    pub fn folders(&self) -> Folders {
        Folders {
            config: self.beside("config"),
            data: self.beside("data"),
            state: self.beside("state"),
            cache: self.beside("cache"),
            home: Some(self.beside("home")),
        }
    }

    pub fn runtime(&self) -> Runtime {
        let options = RuntimeOptions {
            workspace: Some(self.root()),
            cwd: self.root(),
            timeout: Some(Duration::from_secs(3)),
            ..RuntimeOptions::default()
        };
        let _inside = tokio().enter();
        Runtime::open_with(options, self.folders()).expect("a runtime")
    }

    /// Every file of the workspace by path.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_below(&self.root())
    }

    /// # Panics
    /// If something beside the workspace has changed.
    pub fn check_outside(&self) {
        let kept = BTreeMap::from([(self.beside("outside/kept.txt"), b"kept\n".to_vec())]);
        assert_eq!(
            files_below(&self.beside("outside")),
            kept,
            "something outside of the workspace has changed"
        );
        let names = |folder: &str| {
            fs::read_dir(self.beside(folder))
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name())
        };
        assert_eq!(names("code").collect::<Vec<_>>(), ["project"], "something is beside the workspace");
        assert_eq!(names("").count(), 7, "something is beside the folders of the user");
    }

    /// Restores the workspace's files.
    pub fn restore(&self, files: &BTreeMap<PathBuf, Vec<u8>>) {
        if self.files() == *files {
            return;
        }
        fs::remove_dir_all(self.root()).expect("an empty place");
        fs::create_dir(self.root()).expect("a folder");
        for (path, content) in files {
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, content).expect("a file");
        }
    }
}

/// Every file below `folder` by path. Links are not followed.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else {
                let content =
                    if kind.is_file() { fs::read(entry.path()).expect("a file") } else { Vec::new() };
                found.insert(entry.path(), content);
            }
        }
    }
    found
}

/// Approves everything.
struct Yes;

impl Approver for Yes {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> futures::future::BoxFuture<'a, Approval> {
        Box::pin(std::future::ready(Approval::Once))
    }
}

/// Calls a tool with every approval, and checks the rules for all results.
pub fn call(runtime: &Runtime, name: &str, arguments: Value) -> ToolResult {
    let caller = Caller::default();
    let shown = arguments.to_string();
    let request = CallRequest::new(name, arguments, &caller).approved_by(&Yes);
    let result = tokio().block_on(runtime.call(request));
    assert_eq!(result.value["ok"].as_bool(), Some(result.ok()), "{name} {shown}: {}", result.value);
    if !result.ok() {
        let told = result.value["code"].is_string() && result.value["error"].is_string();
        assert!(told, "{name} {shown}: {}", result.value);
        assert_ne!(result.value["code"], "internal", "{name} {shown}: {} {:?}", result.value, result.error);
    }
    result
}
