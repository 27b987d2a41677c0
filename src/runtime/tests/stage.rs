//! A workspace in a temporary folder, with a user's folders beside it.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::config::Folders;
use crate::platform::private;
use crate::runtime::{Runtime, RuntimeOptions};

/// A temporary workspace, deleted when this is dropped.
pub(crate) struct RuntimeStage(TempDir);

impl RuntimeStage {
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix("lsp-tools-test-").expect("a temporary folder");
        for name in ["code", "config", "data", "state", "cache", "home"] {
            private::create_folder(&folder.path().join(name)).expect("a folder");
        }
        Self(folder)
    }

    /// The workspace.
    pub(crate) fn root(&self) -> PathBuf {
        self.beside("code")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn folders(&self) -> Folders {
        Folders {
            config: self.beside("config"),
            data: self.beside("data"),
            state: self.beside("state"),
            cache: self.beside("cache"),
            home: Some(self.beside("home")),
        }
    }

    pub(crate) fn open(&self) -> Runtime {
        let options =
            RuntimeOptions { workspace: Some(self.root()), cwd: self.root(), ..RuntimeOptions::default() };
        Runtime::open_with(options, self.folders()).expect("a runtime")
    }
}
