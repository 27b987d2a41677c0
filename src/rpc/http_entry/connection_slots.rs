//! The limits on open HTTP connections, with separate slots for authenticated and unauthenticated
//! ones.
//!
//! Connections that have not sent the token cannot exhaust the slots of those that have.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The maximum number of open connections that have sent the token.
const MAX_AUTHENTICATED_CONNECTIONS: usize = 256;
/// The time for which the next connection waits until another ends.
const CONNECTION_SLOT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of open connections that have not sent it yet. With the next one, the oldest
/// is closed.
const MAX_UNAUTHENTICATED_CONNECTIONS: usize = 64;
/// The time within which a connection must send the token.
const CONNECTION_AUTH_TIMEOUT: Duration = Duration::from_secs(3);

/// The slots of all connections.
#[derive(Debug)]
pub(crate) struct ConnectionPlaces {
    authenticated: Arc<Semaphore>,
    /// The ends of connections that have not shown the token, the oldest first.
    unauthenticated: Mutex<VecDeque<Arc<CancellationToken>>>,
}

/// The slot of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    places: Arc<ConnectionPlaces>,
    end: Arc<CancellationToken>,
    has_shown: CancellationToken,
    permit: OnceCell<Option<OwnedSemaphorePermit>>,
}

impl ConnectionPlaces {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            authenticated: Arc::new(Semaphore::new(MAX_AUTHENTICATED_CONNECTIONS)),
            unauthenticated: Mutex::default(),
        })
    }

    /// Reserves a slot for a new, unauthenticated connection.
    pub(crate) fn reserve(self: &Arc<Self>) -> ConnectionPlace {
        let end = Arc::new(CancellationToken::new());
        let mut unshown = self.unauthenticated.lock();
        if unshown.len() >= MAX_UNAUTHENTICATED_CONNECTIONS
            && let Some(oldest) = unshown.pop_front()
        {
            oldest.cancel();
        }
        unshown.push_back(Arc::clone(&end));
        drop(unshown);
        ConnectionPlace {
            places: Arc::clone(self),
            end,
            has_shown: CancellationToken::new(),
            permit: OnceCell::new(),
        }
    }
}

impl ConnectionPlace {
    /// Marks the connection as authenticated, with each request that brings the token. Returns true
    /// if there is a slot for it.
    pub(crate) async fn authenticate(&self) -> bool {
        let take = || async {
            self.remove_pending();
            self.has_shown.cancel();
            timeout(CONNECTION_SLOT_TIMEOUT, Arc::clone(&self.places.authenticated).acquire_owned())
                .await
                .ok()?
                .ok()
        };
        self.permit.get_or_init(take).await.is_some()
    }

    /// Returns when the connection must be closed because it has not sent the token.
    pub(crate) async fn wait_for_eviction(&self) {
        tokio::select! {
            () = self.end.cancelled() => return,
            () = sleep(CONNECTION_AUTH_TIMEOUT) => return,
            () = self.has_shown.cancelled() => {}
        }
        pending().await
    }

    fn remove_pending(&self) {
        self.places.unauthenticated.lock().retain(|end| !Arc::ptr_eq(end, &self.end));
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.remove_pending();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn unauthenticated_connection_is_evicted_when_full_or_timed_out() {
        let places = ConnectionPlaces::new();
        let shown = places.reserve();
        assert!(shown.authenticate().await);
        let first = places.reserve();
        let others: Vec<ConnectionPlace> =
            (0..MAX_UNAUTHENTICATED_CONNECTIONS).map(|_| places.reserve()).collect();
        assert!(timeout(Duration::from_millis(1), first.wait_for_eviction()).await.is_ok());
        assert!(timeout(Duration::from_millis(1), others[0].wait_for_eviction()).await.is_err());
        assert!(
            timeout(CONNECTION_AUTH_TIMEOUT + Duration::from_millis(1), others[0].wait_for_eviction())
                .await
                .is_ok()
        );
        assert!(timeout(CONNECTION_AUTH_TIMEOUT * 100, shown.wait_for_eviction()).await.is_err());
        drop((first, others));
        assert!(places.unauthenticated.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn authenticated_connection_over_limit_waits_for_a_free_place() {
        let places = ConnectionPlaces::new();
        let mut shown = Vec::new();
        for _ in 0..MAX_AUTHENTICATED_CONNECTIONS {
            let place = places.reserve();
            assert!(place.authenticate().await);
            shown.push(place);
        }
        assert!(!places.reserve().authenticate().await);
        let next = places.reserve();
        let (there, ()) = tokio::join!(next.authenticate(), async { drop(shown.pop()) });
        assert!(there);
    }
}
