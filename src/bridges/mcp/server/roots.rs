//! Roots of clients with a handshake, which 2026-07-28 deprecates. They are a convenience that never widens anything.
//!
//! The workspace is what it is from the start. Where the client names a folder inside of it, its relative paths begin there;
//! folders elsewhere are passed over, and that is in the log. Until it has answered, they begin where the server was started.

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

/// How long the client may take to tell them.
const LIST_ROOTS_TIMEOUT: Duration = Duration::from_secs(10);
/// So many are looked at.
const MAX_CLIENT_ROOTS: usize = 64;

/// What one client says of its folders.
#[derive(Default)]
pub(super) struct ClientRoots {
    folder: Arc<Mutex<Option<PathBuf>>>,
    asking: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl ClientRoots {
    /// Asks the client, if it has declared that it can tell; what it says counts from then on.
    pub(super) fn ask(&self, runtime: Runtime, peer: Peer<RoleServer>) {
        if peer.peer_info().is_none_or(|info| info.capabilities.roots.is_none()) {
            return;
        }
        let folder = Arc::clone(&self.folder);
        let task = tokio::spawn(async move {
            let told = tokio::time::timeout(LIST_ROOTS_TIMEOUT, peer.list_roots()).await;
            let roots = match told {
                Ok(Ok(result)) => result.roots,
                Ok(Err(error)) => return tracing::info!("an MCP client does not tell its roots: {error}"),
                Err(_) => return tracing::info!("an MCP client does not tell its roots in time"),
            };
            let uris = roots.iter().take(MAX_CLIENT_ROOTS).map(|root| root.uri.as_str());
            *folder.lock() = first_inside(&runtime, uris);
        });
        // Of two questions the later counts.
        *self.asking.lock() = Some(AbortOnDropHandle::new(task));
    }

    /// Where the client's relative paths begin, if it has said so.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.folder.lock().clone()
    }
}

/// The first of the folders that lies in the workspace.
fn first_inside<'a>(runtime: &Runtime, uris: impl Iterator<Item = &'a str>) -> Option<PathBuf> {
    let mut inside = uris.filter_map(|uri| {
        let folder = runtime.path_of_uri(uri).ok().map(|path| runtime.workspace().absolute(&path));
        let folder = folder.filter(|folder| folder.is_dir());
        if folder.is_none() {
            tracing::info!(
                "a root of an MCP client is passed over, being no folder of the workspace: {uri:?}"
            );
        }
        folder
    });
    inside.next()
}
