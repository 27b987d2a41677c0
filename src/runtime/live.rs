//! The runtime that is open now. A process that lives long opens another one when the settings change.

use std::sync::Arc;

use tokio::sync::watch;

use super::Runtime;

/// The runtime that is open now. Cheap to clone: all clones see the same.
#[derive(Debug, Clone)]
pub struct Live(Arc<watch::Sender<Runtime>>);

impl Live {
    /// Starts with `runtime`.
    pub fn new(runtime: Runtime) -> Self {
        Self(Arc::new(watch::Sender::new(runtime)))
    }

    /// The runtime for a call that begins now; it stays usable to the call's end, also when another one takes its place.
    pub fn current(&self) -> Runtime {
        self.0.borrow().clone()
    }

    /// Hears when another runtime takes the place of the one before: tools, rules and servers may then differ.
    pub fn changes(&self) -> watch::Receiver<Runtime> {
        self.0.subscribe()
    }

    /// From now on calls go to `runtime`. Returns the one before, for whoever shuts it down.
    pub fn replace(&self, runtime: Runtime) -> Runtime {
        self.0.send_replace(runtime)
    }
}
