//! The recheck of running servers after changes on disk: the permission to start, and the inputs of
//! the start.

use std::sync::Arc;

use super::launch_inputs::LaunchInputs;
use super::{ManagerState, untrusted};
use crate::config::spec::ShortfallRule;
use crate::lsp::session::live_session::Session;
use crate::workspace::{ChangeBatch, WorkspacePath};

impl ManagerState {
    /// Ends the servers whose launch inputs have changed; the next question starts them again.
    pub(super) async fn restart_where_inputs_differ(&self) {
        for slot in self.slots() {
            let Some(session) = slot.running_session() else { continue };
            let Some(known) = session.launch_inputs.get() else { continue };
            if known.lock().are_unchanged() {
                continue;
            }
            let Some(server) = self.setup.catalogue.servers.get(session.server()) else { continue };
            let found = {
                let server = (session.server(), server);
                LaunchInputs::collect(&self.setup, server, &session.root)
            };
            let same = {
                let mut known = known.lock();
                let same = known.start_alike(&found);
                *known = found;
                same
            };
            if !same {
                tracing::info!(server = session.server(), "stopped: inputs of its start have changed");
                slot.stop().await;
            }
        }
    }

    /// Handles `changes` for servers that were started without trust, before they are notified. If
    /// a new file would have prevented a server's start, the server is ended. If its shortfall may
    /// have changed, the worst is assumed until it is examined.
    pub(super) async fn recheck_untrusted(self: &Arc<Self>, changes: &ChangeBatch) {
        if self.setup.trusted {
            return;
        }
        for slot in self.slots() {
            let Some(session) = slot.running_session() else { continue };
            let folder = self.setup.workspace.absolute(&session.root);
            if let Some(reason) = untrusted::start_refusal(session.server(), &session.state.spec, &folder) {
                tracing::info!(server = session.server(), "stopped: {reason}");
                slot.stop().await;
                continue;
            }
            let rule =
                session.state.spec.untrusted.as_ref().and_then(|untrusted| untrusted.shortfall.as_ref());
            if let Some(rule) = rule.filter(|rule| is_affected_by(rule, changes)) {
                let turn = session.assume_shortfall(untrusted::to_shortfall(rule, true));
                tokio::spawn(recheck_shortfall(self.clone(), session, turn));
            }
        }
    }
}

fn is_affected_by(rule: &ShortfallRule, changes: &ChangeBatch) -> bool {
    let named = |path: &WorkspacePath| rule.depends_on.contains(&path.name_lossy().into_owned());
    changes.overflowed || changes.changes.iter().any(|(path, _)| named(path))
}

async fn recheck_shortfall(shared: Arc<ManagerState>, session: Arc<Session>, turn: u64) {
    let Some(spawn) = session.spawn.get() else { return };
    let shortfall = untrusted::shortfall(&shared.setup, &session.state.spec, spawn).await;
    session.set_shortfall(turn, shortfall);
}
