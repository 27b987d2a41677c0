//! The setup of a manager: its workspace, settings, folders and trust, and what it shares with others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::config::{Catalogue, FilePin, LaunchFields, Settings, TrustStore};
use crate::lsp::machine::MachineShare;
use crate::lsp::progress::Watchers;
use crate::lsp::python::UserWord;
use crate::process::Spawner;
use crate::rpc::RpcTrace;
use crate::workspace::Workspace;

/// What a manager works with.
#[derive(Debug)]
pub(crate) struct ManagerSetup {
    /// The workspace.
    pub(crate) workspace: Workspace,
    /// The catalogue in force.
    pub(crate) catalogue: Arc<Catalogue>,
    /// The settings in force.
    pub(crate) settings: Arc<Settings>,
    /// Where `lsp-tools install` puts servers.
    pub(crate) data: PathBuf,
    /// Where files are made that may be deleted at any time.
    pub(crate) cache: PathBuf,
    /// What the user's environment says of Python.
    pub(crate) python: UserWord,
    /// The user's own interpreter, once it was looked for.
    pub(crate) base_python: OnceCell<Option<PathBuf>>,
    /// Starts processes.
    pub(crate) spawner: Spawner,
    /// Its share of the machine.
    pub(crate) machine: Arc<MachineShare>,
    /// Whether the project's owner allowed what its files say and what servers run of it.
    pub(crate) trusted: bool,
    /// The root of the project that trust is written for: the workspace's, also for another tree of it.
    pub(crate) trusted_root: PathBuf,
    /// What the project said then of running programs.
    pub(crate) launch: LaunchFields,
    /// Where it is written which programs of the project may be run.
    pub(crate) trust: TrustStore,
    /// Where every message is recorded.
    pub(crate) trace: Option<Arc<RpcTrace>>,
    /// The watchers, which are told of slow starts.
    pub(crate) progress: Watchers,
}

impl ManagerSetup {
    /// What a program of the project must be when it runs: its owner allowed exactly this one. `None` where it may not run.
    pub(super) fn pin(&self, program: &Path) -> Option<FilePin> {
        let pin = self.trusted.then(|| self.trust.pin(&self.trusted_root, program));
        pin?.ok()?.ok()
    }
}
