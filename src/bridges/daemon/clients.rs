//! The registry of clients connected to the daemon.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::preamble::{DoorName, Preamble};

/// The prefix length of a session id in the status: long enough to tell sessions apart, too short
/// to impersonate one.
const MAX_SESSION_NAME_CHARS: usize = 8;

/// All connected clients. Clones are cheap.
#[derive(Debug, Clone)]
pub(crate) struct Clients(Arc<Mutex<DaemonClientTable>>);

#[derive(Debug)]
struct DaemonClientTable {
    next: u64,
    connected: BTreeMap<u64, DaemonClientRecord>,
    /// The time since when no client has been connected.
    alone_since: Instant,
}

#[derive(Debug)]
struct DaemonClientRecord {
    door: DoorName,
    session: String,
    client: Option<String>,
    pid: Option<i32>,
    since: Instant,
    calls: Arc<AtomicU64>,
}

/// The registration of a connected client, removed when dropped.
#[derive(Debug)]
pub(crate) struct ConnectedClient {
    clients: Clients,
    number: u64,
    calls: Arc<AtomicU64>,
}

/// The status of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientStatus {
    /// The client's protocol.
    pub(crate) door: DoorName,
    /// The prefix of the client's session id.
    pub(crate) session: String,
    /// The client's description of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// The client's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pid: Option<i32>,
    /// The time since the client connected, in seconds.
    pub(crate) since_s: u64,
    /// The number of the client's calls.
    pub(crate) calls: u64,
}

impl Default for Clients {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(DaemonClientTable {
            next: 0,
            connected: BTreeMap::new(),
            alone_since: Instant::now(),
        })))
    }
}

impl Clients {
    /// Registers a client until the returned value is dropped.
    pub(crate) fn register(&self, preamble: &Preamble, session: &str, pid: Option<i32>) -> ConnectedClient {
        let calls = Arc::new(AtomicU64::new(0));
        let entry = DaemonClientRecord {
            door: preamble.door,
            session: session.chars().take(MAX_SESSION_NAME_CHARS).collect(),
            client: preamble.client.clone(),
            pid,
            since: Instant::now(),
            calls: calls.clone(),
        };
        let mut register = self.0.lock();
        let number = register.next;
        register.next += 1;
        register.connected.insert(number, entry);
        ConnectedClient { clients: self.clone(), number, calls }
    }

    /// The time since the last client disconnected; `None` while a client is connected.
    pub(crate) fn idle_time(&self) -> Option<Duration> {
        let register = self.0.lock();
        register.connected.is_empty().then(|| register.alone_since.elapsed())
    }

    /// The number of clients of `door`.
    pub(crate) fn count(&self, door: DoorName) -> usize {
        self.0.lock().connected.values().filter(|entry| entry.door == door).count()
    }

    /// The status of all clients, the longest connected first.
    pub(crate) fn status(&self) -> Vec<ClientStatus> {
        let to_status = |entry: &DaemonClientRecord| ClientStatus {
            door: entry.door,
            session: entry.session.clone(),
            client: entry.client.clone(),
            pid: entry.pid,
            since_s: entry.since.elapsed().as_secs(),
            calls: entry.calls.load(Ordering::Relaxed),
        };
        self.0.lock().connected.values().map(to_status).collect()
    }
}

impl ConnectedClient {
    /// Counts a call of this client.
    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// The counter of the client's calls, for a door that counts them elsewhere.
    pub(crate) fn calls(&self) -> Arc<AtomicU64> {
        self.calls.clone()
    }
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        let mut register = self.clients.0.lock();
        register.connected.remove(&self.number);
        if register.connected.is_empty() {
            register.alone_since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemon_status_lists_clients_while_connected() {
        let clients = Clients::default();
        let preamble = Preamble { client: Some("hover".into()), ..Preamble::new(DoorName::Command) };
        let one = clients.register(&preamble, "0123456789abcdef", Some(7));
        assert_eq!(clients.idle_time(), None);
        one.count_call();
        let status = clients.status();
        assert_eq!(status.len(), 1);
        assert_eq!((status[0].session.as_str(), status[0].calls, status[0].pid), ("01234567", 1, Some(7)));
        assert_eq!((clients.count(DoorName::Command), clients.count(DoorName::Mcp)), (1, 0));
        drop(one);
        assert!(clients.idle_time().is_some() && clients.status().is_empty());
    }
}
