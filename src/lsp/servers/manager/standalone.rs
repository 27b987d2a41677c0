//! The start of a server that one program entry uses for itself, without files.

use std::ffi::OsString;
use std::sync::Arc;

use super::python::PythonLaunchSettings;
use super::{Manager, SessionUnavailable, launch};
use crate::process::{ServerProcess, Spawn};
use crate::rpc::RpcTrace;
use crate::workspace::WorkspacePath;

impl Manager {
    /// Starts the program of `server` in the workspace's root. The caller talks to it, and ends it.
    ///
    /// # Errors
    /// [`SessionUnavailable::Missing`] if it is not found, [`SessionUnavailable::Failed`] if the
    /// system does not start it.
    pub(crate) async fn spawn_alone(&self, server: &str) -> Result<ServerProcess, SessionUnavailable> {
        let setup = &self.shared.setup;
        if self.shared.stopping.is_cancelled() {
            return Err(SessionUnavailable::Stopping);
        }
        let root = WorkspacePath::root();
        let spec = self.shared.spec(server)?;
        let located = launch::find(setup, server, spec, &root)?;
        let spec = spec.expand(setup.workspace.root(), &located.program, None).server;
        let pins = launch::pins(setup, server, &spec, &located, setup.workspace.root());
        let pins = pins.map_err(|reason| SessionUnavailable::Disabled { reason })?;
        let spawn = Spawn {
            name: server.to_owned(),
            program: located.program.clone(),
            args: spec.command.iter().skip(1).map(OsString::from).collect(),
            env: launch::variables(setup, &spec, &located, &PythonLaunchSettings::default()),
            cwd: setup.workspace.root().to_owned(),
            pins,
        };
        let failed = |detail: String| SessionUnavailable::Failed { server: server.to_owned(), detail };
        setup.spawner.spawn(spawn).await.map_err(|error| failed(error.to_string()))
    }

    /// The record of all messages to and from servers, if there is one.
    pub(crate) fn trace(&self) -> Option<Arc<RpcTrace>> {
        self.shared.setup.trace.clone()
    }
}
