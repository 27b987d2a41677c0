//! Unsolicited messages of a server that outdate its last findings.

use super::session::Session;
use crate::workspace::WorkspacePath;

/// How much a server had said of a file at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerNewsMark {
    refreshes: u64,
    push_revision: u64,
}

impl Session {
    /// How much the server has said by now that concerns its findings in `path`: another number once it asks to be asked again
    /// (LSP 3.17, *Diagnostics Refresh*) or pushes other findings than before.
    pub(crate) fn server_news_mark(&self, path: &WorkspacePath) -> ServerNewsMark {
        ServerNewsMark {
            refreshes: self.state.refreshes(),
            push_revision: self.state.findings_revision(path),
        }
    }

    /// Waits until [`server_news_mark`](Self::server_news_mark) is another one than `known`, or the server has ended.
    pub(crate) async fn wait_for_new_findings(&self, path: &WorkspacePath, known: ServerNewsMark) {
        let mut bell = self.state.listen();
        while self.server_news_mark(path) == known {
            tokio::select! {
                rung = bell.changed() => if rung.is_err() { return },
                _ = self.connection.wait_closed() => return,
            }
        }
    }
}
