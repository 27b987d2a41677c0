//! The runtime that is currently open, replaced when the settings change.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::Runtime;
use crate::tools::error::ToolError;

/// How long calls that still run may go on using the servers of a project whose trust was taken back.
const REVOKED_TRUST_GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The runtime that is open now, and those that are being put away. Cheap to clone: all clones see the same.
#[derive(Debug, Clone)]
pub struct LiveRuntime(Arc<LiveRuntimeInner>);

#[derive(Debug)]
struct LiveRuntimeInner {
    current: watch::Sender<Runtime>,
    /// One at a time looks, and opens another one.
    looking: Mutex<()>,
    /// Former runtimes whose calls still run.
    former: TaskTracker,
}

impl LiveRuntime {
    /// Starts with `runtime`.
    pub fn new(runtime: Runtime) -> Self {
        let (current, looking, former) = (watch::Sender::new(runtime), Mutex::new(()), TaskTracker::new());
        Self(Arc::new(LiveRuntimeInner { current, looking, former }))
    }

    /// The runtime for a call that begins now; it stays usable to the call's end, also when another one takes its place. Where the store
    /// of trusted projects has changed, the settings are looked at first: what was granted to a project does not outlive its trust.
    pub fn current(&self) -> Runtime {
        let current = self.0.current.borrow().clone();
        if current.is_trust_current() && !current.is_withdrawn() {
            return current;
        }
        self.refresh().unwrap_or_else(|error| {
            tracing::warn!("the settings cannot be used, so the former ones stay in force: {error}");
            current.end_without_trust();
            current
        })
    }

    /// The root of the workspace, which all its runtimes have.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.current.borrow().workspace().root().to_owned()
    }

    /// The runtime under the settings as they are now, which costs a few stats where they are as before.
    ///
    /// # Errors
    /// The settings as they are now cannot be used. Who has been here before goes on under the former ones.
    pub fn refresh(&self) -> Result<Runtime, ToolError> {
        let _alone = self.0.looking.lock();
        let current = self.0.current.borrow().clone();
        let Some(other) = current.reopen_if_changed()? else { return Ok(current) };
        drop(current);
        tracing::info!("the settings have changed; from now on they are in force");
        let former = self.0.current.send_replace(other.clone());
        // What was granted is not waited for.
        let longest = match former.check_trust() {
            Ok(()) => former.settings().deadlines.tool,
            Err(_) => REVOKED_TRUST_GRACE_PERIOD,
        };
        self.0.former.spawn(former.retire(longest));
        Ok(other)
    }

    /// Hears when another runtime takes the place of the one before: tools, rules and servers may then differ.
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
