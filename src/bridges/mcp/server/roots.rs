//! Roots of clients with a handshake, which 2026-07-28 deprecates. They never extend the accessible
//! files.
//!
//! The workspace is fixed from the start. If the client names a folder inside of it, the client's
//! relative paths start there; other folders are ignored with a log message. Until the client has
//! answered, they start in the folder where the server was started.

#![expect(
    deprecated,
    reason = "clients of the revisions before the newest tell their folders by roots alone"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::service::Peer;
use tokio_util::task::AbortOnDropHandle;

use crate::runtime::Runtime;

/// The time limit for the client's list of roots.
const LIST_ROOTS_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of roots that are examined.
const MAX_CLIENT_ROOTS: usize = 64;

/// The folders of one client.
#[derive(Default)]
pub(super) struct ClientRoots {
    folder: Arc<Mutex<Option<PathBuf>>>,
    asking: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl ClientRoots {
    /// Requests the client's roots if it declared the capability. The answer applies from then on.
    pub(super) fn ask(&self, runtime: Runtime, peer: Peer<RoleServer>) {
        if peer.peer_info().is_none_or(|info| info.capabilities.roots.is_none()) {
            return;
        }
        let folder = Arc::clone(&self.folder);
        let task = tokio::spawn(async move {
            let response = tokio::time::timeout(LIST_ROOTS_TIMEOUT, peer.list_roots()).await;
            let roots = match response {
                Ok(Ok(result)) => result.roots,
                Ok(Err(error)) => return tracing::info!("an MCP client returned no roots: {error}"),
                Err(_) => return tracing::info!("an MCP client returned no roots in time"),
            };
            let uris = roots.iter().take(MAX_CLIENT_ROOTS).map(|root| root.uri.as_str());
            *folder.lock() = first_inside(&runtime, uris);
        });
        // The later one of two requests counts.
        *self.asking.lock() = Some(AbortOnDropHandle::new(task));
    }

    /// The folder for the client's relative paths, if it named one.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.folder.lock().clone()
    }
}

/// Returns the first folder inside the workspace.
fn first_inside<'a>(runtime: &Runtime, uris: impl Iterator<Item = &'a str>) -> Option<PathBuf> {
    let mut inside = uris.filter_map(|uri| {
        let folder = runtime.path_of_uri(uri).ok().map(|path| runtime.workspace().absolute(&path));
        let folder = folder.filter(|folder| folder.is_dir());
        if folder.is_none() {
            tracing::info!("ignored a root of an MCP client that is not a folder of the workspace: {uri:?}");
        }
        folder
    });
    inside.next()
}
