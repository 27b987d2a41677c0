//! The daemon's runtime, which follows the settings: looked at whenever somebody comes, since that costs a few stats.

use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use crate::runtime::Runtime;
use crate::runtime::live::Live;
use crate::tools::error::ToolError;

/// The runtime that is open now, and those that are being put away.
#[derive(Debug)]
pub struct Current {
    live: Live,
    /// One at a time looks, and opens another one.
    looking: Mutex<()>,
    /// Former runtimes whose calls still run.
    former: TaskTracker,
}

impl Current {
    /// Starts with `runtime`.
    pub fn new(runtime: Runtime) -> Self {
        Self { live: Live::new(runtime), looking: Mutex::new(()), former: TaskTracker::new() }
    }

    /// The runtime, as those have it who stay for longer than a call.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// The runtime under the settings as they are now.
    ///
    /// # Errors
    /// The settings as they are now cannot be used. Who has been here before goes on under the former ones.
    pub async fn runtime(&self) -> Result<Runtime, ToolError> {
        let _alone = self.looking.lock().await;
        let current = self.live.current();
        let Some(other) = current.reopened()? else { return Ok(current) };
        drop(current);
        tracing::info!("the settings have changed; from now on they are in force");
        let former = self.live.replace(other.clone());
        let longest = former.settings().deadlines.tool;
        self.former.spawn(former.retire(longest));
        Ok(other)
    }

    /// Ends all servers and commands.
    pub async fn shutdown(&self) {
        self.former.close();
        self.live.current().shutdown().await;
    }
}
