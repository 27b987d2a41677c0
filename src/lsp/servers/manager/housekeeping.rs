//! Periodic housekeeping: idle servers are stopped, memory is kept within its budget, old documents
//! are closed.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::private;
use super::slot::ServerSlot;
use super::{ManagerState, machine_budget};
use crate::lsp::servers::machine::MachineShare;

/// The interval of the housekeeping.
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_secs(5);

/// Runs until the manager is gone.
pub(super) async fn run(shared: Weak<ManagerState>, machine: Arc<MachineShare>) {
    tokio::join!(keep_workspace(shared.clone()), machine_budget::run(shared, machine));
}

async fn keep_workspace(shared: Weak<ManagerState>) {
    let mut rounds = tokio::time::interval(HOUSEKEEPING_INTERVAL);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        stop_idle(&shared).await;
        keep_budget(&shared).await;
        for session in shared.running_sessions() {
            session.close_beyond(shared.setup.settings.servers.max_open_documents).await;
        }
    }
}

async fn stop_idle(shared: &ManagerState) {
    let longest = shared.setup.settings.servers.idle_stop();
    for slot in shared.slots() {
        let is_private = slot.key.holder.is_some();
        let longest = if is_private { longest.min(private::PRIVATE_SERVER_IDLE_TIMEOUT) } else { longest };
        if let Some(session) = slot.take_idle(longest) {
            tracing::info!(server = session.server(), "stopped: idle for {} s", longest.as_secs());
            session.stop().await;
        }
        // Its holder may never come back. A server that is being started does not serve yet.
        if is_private && slot.is_at_rest() {
            shared.slots.remove_if(&slot.key, |_, slot| slot.is_at_rest());
        }
    }
}

/// The time after its last question for which a server is not stopped to free memory, unless a
/// tenth of `servers.idle-stop-s` is shorter.
const MEMORY_STOP_GRACE_PERIOD: Duration = Duration::from_secs(60);

/// One running server.
struct SlotUsage {
    slot: Arc<ServerSlot>,
    /// The time without a question; zero while it works on one.
    idle: Duration,
    /// The memory with its children.
    bytes: u64,
}

/// Stops servers, least recently used first, until the resident memory of all of them is within the
/// budget. The last used one, and any that was used lately, is never stopped: it would only be
/// restarted and read the project again.
async fn keep_budget(shared: &ManagerState) {
    let settings = &shared.setup.settings.servers;
    let (budget, kept) = (settings.memory_budget(), MEMORY_STOP_GRACE_PERIOD.min(settings.idle_stop() / 10));
    let mut sizes = Vec::new();
    for slot in shared.slots() {
        if let Some(session) = slot.running_session() {
            let bytes = session.resident_bytes().await.unwrap_or(0);
            sizes.push(SlotUsage { idle: session.idle_for(), bytes, slot });
        }
    }
    sizes.sort_by_key(|size| std::cmp::Reverse(size.idle));
    let mut total: u64 = sizes.iter().map(|size| size.bytes).sum();
    for size in sizes.iter().take(sizes.len().saturating_sub(1)) {
        if total <= budget {
            break;
        }
        if let Some(session) = size.slot.take_idle(kept) {
            tracing::info!(
                server = session.server(),
                "stopped: servers use {} MB, the budget is {} MB",
                total >> 20,
                budget >> 20
            );
            session.stop().await;
            total = total.saturating_sub(size.bytes);
        }
    }
    shared.memory_overrun.record_usage(total, budget);
}
