//! Unsolicited messages of a server that outdate its last findings.

use crate::lsp::session::live_session::Session;
use crate::workspace::WorkspacePath;

/// A mark of the server's news about a file at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerNewsMark {
    refreshes: u64,
    push_revision: u64,
}

impl Session {
    /// Returns a mark that changes when the server requests a refresh (LSP 3.17, *Diagnostics
    /// Refresh*) or pushes other findings in `path` than before.
    pub(crate) fn server_news_mark(&self, path: &WorkspacePath) -> ServerNewsMark {
        ServerNewsMark {
            refreshes: self.state.refreshes(),
            push_revision: self.state.findings_revision(path),
        }
    }

    /// Waits until [`server_news_mark`](Self::server_news_mark) differs from `known`, or the server
    /// has ended.
    pub(crate) async fn wait_for_new_findings(&self, path: &WorkspacePath, known: ServerNewsMark) {
        let mut changes = self.state.listen();
        while self.server_news_mark(path) == known {
            tokio::select! {
                outcome = changes.changed() => if outcome.is_err() { return },
                _ = self.connection.wait_closed() => return,
            }
        }
    }
}
