//! The state that the tools of a runtime keep between calls.

use std::sync::Arc;

use super::edit_scheduler::EditScheduler;
use super::overlays::HeldOverlays;
use crate::tools::shell::ShellCommands;

/// The state that tools share between calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolState {
    /// Orders edits of the same files.
    pub(crate) edit_scheduler: Arc<EditScheduler>,
    /// All commands that `bash` runs.
    pub(crate) shells: Arc<ShellCommands>,
    /// Unsaved texts of callers that name them by a handle.
    pub(crate) overlays: Arc<HeldOverlays>,
}
