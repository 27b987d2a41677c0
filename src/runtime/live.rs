//! The runtime that is currently open, replaced when the settings change.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::Runtime;
use crate::analysis::error::ToolError;

/// The time that running calls may still use the servers of a project whose trust was withdrawn.
const REVOKED_TRUST_GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The current runtime, and former ones that are shutting down. Clones are cheap and share the same
/// state.
#[derive(Debug, Clone)]
pub struct LiveRuntime(Arc<LiveRuntimeInner>);

#[derive(Debug)]
struct LiveRuntimeInner {
    current: watch::Sender<Runtime>,
    /// Serializes the checks for changes and the opening of a new runtime.
    looking: Mutex<()>,
    /// Former runtimes with running calls.
    former: TaskTracker,
}

impl LiveRuntime {
    /// Creates the handle with `runtime` as the current one.
    pub fn new(runtime: Runtime) -> Self {
        let (current, looking, former) = (watch::Sender::new(runtime), Mutex::new(()), TaskTracker::new());
        Self(Arc::new(LiveRuntimeInner { current, looking, former }))
    }

    /// Returns the runtime for a call that begins now. It stays usable until the call ends, even if
    /// a newer runtime replaces it.
    ///
    /// If the trust store has changed, the settings are checked first, so that grants do not
    /// outlive the project's trust.
    pub fn current(&self) -> Runtime {
        let current = self.0.current.borrow().clone();
        if current.is_trust_current() && !current.is_withdrawn() {
            return current;
        }
        self.refresh().unwrap_or_else(|error| {
            tracing::warn!("the new settings are invalid, so the old ones stay in effect: {error}");
            current.end_without_trust();
            current
        })
    }

    /// The root of the workspace, common to all its runtimes.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.current.borrow().workspace().root().to_owned()
    }

    /// Returns the runtime under the current settings. If nothing has changed, this costs a few
    /// `stat` calls.
    ///
    /// # Errors
    /// The current settings cannot be used. Existing clients continue under the former settings.
    pub fn refresh(&self) -> Result<Runtime, ToolError> {
        let _alone = self.0.looking.lock();
        let current = self.0.current.borrow().clone();
        let Some(other) = current.reopen_if_changed()? else { return Ok(current) };
        drop(current);
        tracing::info!("the changed settings are in effect");
        let former = self.0.current.send_replace(other.clone());
        // Calls of a project whose trust was withdrawn get only the short grace period.
        let longest = match former.check_trust() {
            Ok(()) => former.settings().deadlines.tool,
            Err(_) => REVOKED_TRUST_GRACE_PERIOD,
        };
        self.0.former.spawn(former.retire(longest));
        Ok(other)
    }

    /// Reports each replacement of the runtime. Tools, rules and servers may differ afterwards.
    pub(crate) fn changes(&self) -> watch::Receiver<Runtime> {
        self.0.current.subscribe()
    }

    /// Ends all servers and commands.
    pub async fn shutdown(&self) {
        self.0.former.close();
        let current = self.0.current.borrow().clone();
        current.shutdown().await;
    }
}
