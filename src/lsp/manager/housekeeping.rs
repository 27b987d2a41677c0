//! What is done now and then: idle servers are stopped, memory is kept within its budget, old documents are closed.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Shared;
use super::private;
use super::slot::Slot;

/// How often.
const ROUND: Duration = Duration::from_secs(5);

/// Runs until the manager is gone.
pub async fn run(shared: Weak<Shared>) {
    let mut rounds = tokio::time::interval(ROUND);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        let Some(shared) = shared.upgrade() else { return };
        stop_idle(&shared).await;
        keep_budget(&shared).await;
        for session in shared.running() {
            session.close_beyond(shared.setup.settings.servers.max_open_documents).await;
        }
    }
}

fn slots(shared: &Shared) -> Vec<Arc<Slot>> {
    shared.slots.iter().map(|entry| entry.value().clone()).collect()
}

async fn stop_idle(shared: &Shared) {
    let longest = shared.setup.settings.servers.idle_stop();
    for slot in slots(shared) {
        let is_private = slot.key.holder.is_some();
        let longest = if is_private { longest.min(private::IDLE) } else { longest };
        if let Some(session) = slot.take_idle(longest) {
            tracing::info!(server = session.server(), "stopped: idle for {} s", longest.as_secs());
            session.stop().await;
        }
        // Whom it served may never come back; one that is being started has not come to serve yet.
        if is_private && slot.is_at_rest() {
            shared.slots.remove_if(&slot.key, |_, slot| slot.is_at_rest());
        }
    }
}

/// Stops servers, least recently used first, until the resident memory of all of them is within the budget. One that
/// is in use is never stopped.
async fn keep_budget(shared: &Shared) {
    let budget = shared.setup.settings.servers.memory_budget();
    let mut sizes: Vec<(Duration, u64, Arc<Slot>)> = Vec::new();
    for slot in slots(shared) {
        if let Some(session) = slot.running() {
            sizes.push((session.idle_for(), session.resident_bytes().unwrap_or(0), slot));
        }
    }
    let mut total: u64 = sizes.iter().map(|(_, bytes, _)| bytes).sum();
    sizes.sort_by_key(|(idle, _, _)| std::cmp::Reverse(*idle));
    for (_, bytes, slot) in sizes {
        if total <= budget {
            return;
        }
        if let Some(session) = slot.take_idle(Duration::from_millis(1)) {
            tracing::info!(
                server = session.server(),
                "stopped: servers use {} MB, the budget is {} MB",
                total >> 20,
                budget >> 20
            );
            session.stop().await;
            total = total.saturating_sub(bytes);
        }
    }
}
