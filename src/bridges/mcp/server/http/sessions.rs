//! The limit on open sessions of clients with a handshake.
//!
//! A session beyond the limit ends the least recently used one. That session's client receives 404
//! and must open a new session, as the protocol specifies.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderMap;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use tokio::time::Instant;

/// The limit on open sessions.
const MAX_HTTP_SESSIONS: usize = 256;
/// The header with the session id.
const HEADER: &str = "mcp-session-id";

/// All sessions, with their usage.
#[derive(Debug, Default)]
pub(super) struct HttpSessions {
    pub(super) manager: Arc<LocalSessionManager>,
    uses: Mutex<HttpSessionTable>,
}

#[derive(Debug, Default)]
struct HttpSessionTable {
    /// The usage, by session id.
    of: HashMap<SessionId, HttpSessionUsage>,
    /// The number of sessions being opened.
    opening: usize,
}

#[derive(Debug)]
struct HttpSessionUsage {
    /// The number of running calls.
    running: usize,
    last: Instant,
    /// True for the revision with batches.
    takes_batches: bool,
}

/// A running call of a session. Until it is dropped, the session is not ended for another one.
#[derive(Debug)]
pub(super) struct RunningCall {
    sessions: Arc<HttpSessions>,
    session: SessionId,
}

/// A session being opened.
#[derive(Debug)]
pub(super) struct HttpSessionOpening(Arc<HttpSessions>);

impl HttpSessions {
    /// Records a message for the session in `headers`, if they name one.
    pub(super) fn note_use(self: &Arc<Self>, headers: &HeaderMap) -> Option<RunningCall> {
        let session: SessionId = headers.get(HEADER)?.to_str().ok()?.into();
        let mut uses = self.uses.lock();
        let known = uses.of.get_mut(&session)?;
        known.running += 1;
        drop(uses);
        Some(RunningCall { sessions: Arc::clone(self), session })
    }

    /// Returns true if the session in `headers` accepts batches.
    pub(super) fn takes_batches(&self, headers: &HeaderMap) -> bool {
        let session = headers.get(HEADER).and_then(|session| session.to_str().ok());
        session.is_some_and(|session| self.uses.lock().of.get(session).is_some_and(|used| used.takes_batches))
    }

    /// Makes room for a session. Returns `None` if all open ones are in use.
    pub(super) async fn open(self: &Arc<Self>) -> Option<HttpSessionOpening> {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        let ended = {
            let mut uses = self.uses.lock();
            uses.of.retain(|session, _| open.contains(session));
            let mut ended = Vec::new();
            while uses.of.len() + uses.opening >= MAX_HTTP_SESSIONS {
                let idle = uses.of.iter().filter(|(_, used)| used.running == 0);
                let longest = idle.min_by_key(|(_, used)| used.last).map(|(session, _)| session.clone())?;
                uses.of.remove(&longest);
                ended.push(longest);
            }
            uses.opening += 1;
            ended
        };
        let opening = HttpSessionOpening(Arc::clone(self));
        for session in ended {
            tracing::info!("an MCP session was ended, since {MAX_HTTP_SESSIONS} are open and one more came");
            if let Err(error) = self.manager.close_session(&session).await {
                tracing::debug!("it had ended: {error}");
            }
        }
        Some(opening)
    }
}

impl HttpSessionOpening {
    /// Records the session named in the answer's `headers`.
    pub(super) fn record_session(self, headers: &HeaderMap, takes_batches: bool) {
        if let Some(session) = headers.get(HEADER).and_then(|session| session.to_str().ok()) {
            let used = HttpSessionUsage { running: 0, last: Instant::now(), takes_batches };
            self.0.uses.lock().of.insert(session.into(), used);
        }
    }
}

impl Drop for HttpSessionOpening {
    fn drop(&mut self) {
        self.0.uses.lock().opening -= 1;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if let Some(used) = self.sessions.uses.lock().of.get_mut(&self.session) {
            used.running -= 1;
            used.last = Instant::now();
        }
    }
}
