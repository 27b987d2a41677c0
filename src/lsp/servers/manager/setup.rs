//! The setup of a manager: its workspace, settings, folders and trust, and the parts shared with
//! others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{Catalogue, FilePin, LaunchFields, Settings, TrustStore};
use crate::lsp::servers::machine::MachineShare;
use crate::lsp::servers::python::UserWord;
use crate::lsp::session::progress::Watchers;
use crate::process::Spawner;
use crate::rpc::RpcTrace;
use crate::workspace::Workspace;

/// The parameters of a manager.
#[derive(Debug)]
pub(crate) struct ManagerSetup {
    /// The workspace.
    pub(crate) workspace: Workspace,
    /// The catalogue in force.
    pub(crate) catalogue: Arc<Catalogue>,
    /// The settings in force.
    pub(crate) settings: Arc<Settings>,
    /// The folder of `lsp-tools install`.
    pub(crate) data: PathBuf,
    /// The folder of files that may be deleted at any time.
    pub(crate) cache: PathBuf,
    /// The Python settings of the user's environment.
    pub(crate) python: UserWord,
    /// Starts processes.
    pub(crate) spawner: Spawner,
    /// The manager's share of the machine.
    pub(crate) machine: Arc<MachineShare>,
    /// True if the project's owner allowed its files' settings and the code that servers run of it.
    pub(crate) trusted: bool,
    /// The root of the project in the trust store: the workspace's, also for another tree of it.
    pub(crate) trusted_root: PathBuf,
    /// The project's launch fields at that time.
    pub(crate) launch: LaunchFields,
    /// The store of the programs of the project that may be run.
    pub(crate) trust: TrustStore,
    /// The record of all messages.
    pub(crate) trace: Option<Arc<RpcTrace>>,
    /// The watchers, which are notified of slow starts.
    pub(crate) progress: Watchers,
}

impl ManagerSetup {
    /// Returns the pin of a program of the project; `None` if its present content is not trusted.
    pub(super) fn pin(&self, program: &Path) -> Option<FilePin> {
        let pin = self.trusted.then(|| self.trust.pin(&self.trusted_root, program));
        pin?.ok()?.ok()
    }
}
