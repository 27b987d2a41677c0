//! The manager's part in the machine's memory budget: it publishes its servers' use, and ends its
//! idle ones in their turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::ManagerState;
use super::slot::ServerSlot;
use crate::lsp::servers::machine::{
    LedgerServer, MIN_REST, MachineShare, MachineSnapshot, PassedOver, now_ms, turn_length,
};
use crate::lsp::session::live_session::Session;
use crate::platform::process_tree;

/// The pause between two reads of the ledger: while servers are to end, while most of the budget is
/// used, and otherwise. Without a server and a start of its own a manager does not read it.
const URGENT_LOOK_INTERVAL: Duration = Duration::from_millis(250);
const BRISK_LOOK_INTERVAL: Duration = Duration::from_millis(500);
const CALM_LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The time for a server's owner to end it, before the next server is chosen.
const OWNER_PATIENCE: Duration = Duration::from_secs(1);
/// The time after its start for which a server counts with its expected size.
const SETTLE_DURATION: Duration = Duration::from_secs(5);
/// The idle time after which a server is measured seldom, because it hardly grows.
const GROWTH_DURATION: Duration = Duration::from_secs(10);
const IDLE_MEASURE_INTERVAL: Duration = Duration::from_secs(5);
/// The unit of published sizes, in bytes. Rounding keeps the record of an idle server unchanged.
const SIZE_STEP_BYTES: u64 = 1 << 20;
/// The unit of published times, in milliseconds.
const TIME_STEP_MS: u64 = 10;

/// The state between two checks of the budget.
#[derive(Default)]
struct BudgetWatch {
    passed: PassedOver,
    /// The measured sizes of servers, with the time, by the process at the top of their tree.
    sizes: BTreeMap<i32, (u64, Instant)>,
    /// The published times of their turns' ends and of their last use.
    times: BTreeMap<i32, PublishedTimes>,
}

/// The times in milliseconds of the machine's clock.
#[derive(Clone, Copy)]
struct PublishedTimes {
    turn_ends: u64,
    last_used: u64,
}

/// Runs until the manager is gone.
pub(super) async fn run(shared: Weak<ManagerState>, machine: Arc<MachineShare>) {
    let mut watch = BudgetWatch::default();
    let mut pause = None;
    loop {
        match pause {
            None => machine.changed().await,
            // Either is a reason to look.
            Some(pause) => drop(tokio::time::timeout(pause, machine.changed()).await),
        }
        let Some(shared) = shared.upgrade() else { return };
        pause = watch.look(&shared, &machine).await;
    }
}

impl BudgetWatch {
    /// Publishes the memory use of the manager's servers, and ends those whose turn it is. Returns
    /// the pause until the next call; `None` if nothing is left to watch.
    async fn look(&mut self, shared: &ManagerState, machine: &Arc<MachineShare>) -> Option<Duration> {
        // Those that end later may lead to servers that are not measured now.
        let ended = machine.ended_starts();
        let mut servers = Vec::new();
        for slot in shared.slots() {
            servers.extend(self.measure(&slot).await.map(|server| (slot, server)));
        }
        let starting = measure_starts(shared).await;
        let reported: Vec<LedgerServer> = servers.iter().map(|(_, server)| server.clone()).collect();
        self.sizes.retain(|pid, _| reported.iter().any(|server| server.pid == *pid));
        self.times.retain(|pid, _| reported.iter().any(|server| server.pid == *pid));
        let snapshot = exchange(machine.clone(), reported, starting, ended).await;
        if !machine.is_in_ledger() && servers.is_empty() {
            return None;
        }
        let surplus = snapshot.surplus(machine.limits(), now_ms(), &self.passed);
        self.passed.note_due(&surplus, OWNER_PATIENCE);
        let own = |server: &LedgerServer| {
            surplus.iter().any(|(name, pid)| name == machine.name() && *pid == i64::from(server.pid))
        };
        let due = servers.iter().filter(|(_, server)| own(server));
        let ends = due.filter_map(|(slot, server)| {
            let session = slot.take_idle(MIN_REST)?;
            slot.set_size(server.bytes);
            Some(session)
        });
        let ends: Vec<_> = ends.map(|session| end(session, &snapshot, machine)).collect();
        if !ends.is_empty() {
            futures::future::join_all(ends).await;
            return Some(Duration::ZERO);
        }
        Some(pause_after(&snapshot, machine))
    }

    /// Measures the server in `slot`, if one runs.
    async fn measure(&mut self, slot: &ServerSlot) -> Option<LedgerServer> {
        let session = slot.running_session()?;
        let pid = session.tree_root()?;
        let idle = session.idle_for();
        let may_grow = idle < GROWTH_DURATION || session.is_younger_than(SETTLE_DURATION);
        let fresh = |measured: &Instant| !may_grow && measured.elapsed() < IDLE_MEASURE_INTERVAL;
        let bytes = match self.sizes.get(&pid).filter(|(_, measured)| fresh(measured)) {
            Some((bytes, _)) => *bytes,
            None => {
                let bytes = session.resident_bytes().await?.next_multiple_of(SIZE_STEP_BYTES);
                self.sizes.insert(pid, (bytes, Instant::now()));
                bytes
            }
        };
        let settles = session.is_younger_than(SETTLE_DURATION);
        if !settles {
            slot.set_size(bytes);
        }
        let expected = if settles { slot.size() } else { 0 };
        let turn = turn_length(slot.start_duration()).saturating_sub(session.age());
        let PublishedTimes { turn_ends: turn_ends_ms, last_used } = self.times(pid, turn, idle);
        let last_used_ms = (idle > Duration::ZERO).then_some(last_used);
        let server = session.server().to_owned();
        Some(LedgerServer { server, pid, bytes, expected, turn_ends_ms, last_used_ms })
    }

    /// Returns the times of a server whose turn lasts for `turn` from now on; unchanged numbers if
    /// it was not used since.
    fn times(&mut self, pid: i32, turn: Duration, idle: Duration) -> PublishedTimes {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let now = now_ms();
        let last_used = now.saturating_sub(milliseconds(idle));
        let first = PublishedTimes { turn_ends: now.saturating_add(milliseconds(turn)), last_used };
        let known = self.times.entry(pid).or_insert(first);
        if known.last_used.abs_diff(last_used) > TIME_STEP_MS {
            known.last_used = last_used;
        }
        *known
    }
}

/// Measures the servers that are being started, in bytes, by the number of their start.
async fn measure_starts(shared: &ManagerState) -> Vec<(u64, u64)> {
    let turns = shared.slots().into_iter().filter_map(|slot| slot.start_turn()?.process());
    let processes: Vec<(u64, i32)> = turns.collect();
    if processes.is_empty() {
        return Vec::new();
    }
    let measured = tokio::task::spawn_blocking(move || {
        let size = |pid| process_tree::resident_bytes(pid).next_multiple_of(SIZE_STEP_BYTES);
        processes.into_iter().map(|(id, pid)| (id, size(pid))).collect()
    });
    measured.await.unwrap_or_default()
}

/// Publishes the measurements, and reads those of the others.
async fn exchange(
    machine: Arc<MachineShare>,
    servers: Vec<LedgerServer>,
    starting: Vec<(u64, u64)>,
    ended: Vec<u64>,
) -> MachineSnapshot {
    let exchanged = tokio::task::spawn_blocking(move || {
        machine.record_servers(servers, &starting, &ended);
        if machine.is_in_ledger() { machine.snapshot() } else { MachineSnapshot::default() }
    });
    exchanged.await.unwrap_or_default()
}

async fn end(session: Arc<Session>, snapshot: &MachineSnapshot, machine: &MachineShare) {
    tracing::info!(
        server = session.server(),
        "stopped: servers of all workspaces use {} MB, the machine's budget is {} MB, {} more wait to be started",
        snapshot.used() >> 20,
        machine.limits().memory >> 20,
        snapshot.waiting()
    );
    session.stop_for_memory().await;
}

fn pause_after(snapshot: &MachineSnapshot, machine: &MachineShare) -> Duration {
    let (used, budget) = (snapshot.used(), machine.limits().memory);
    if used > budget || snapshot.waiting() > 0 {
        URGENT_LOOK_INTERVAL
    } else if used > budget / 4 * 3 {
        BRISK_LOOK_INTERVAL
    } else {
        CALM_LOOK_INTERVAL
    }
}
