//! What `trust` asks and answers: what a project's own settings would run, and whether they may.

use serde::Serialize;

/// What to do about a project's trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustRequest {
    /// Say what there is to trust; change nothing.
    Show,
    /// Trust exactly what was shown.
    Grant {
        /// [`TrustOutput::fingerprint`] of what was shown; something else there by now is a conflict.
        fingerprint: String,
    },
    /// Trust nothing of it any more.
    Revoke,
}

/// One thing that a project's settings would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustItem {
    /// The file that says so, relative to the workspace.
    pub path: String,
    /// The dotted key in it ("servers.pylsp.command").
    pub key: String,
    /// What it says.
    pub value: String,
    /// The program that this comes to on this machine, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Whether it is trusted as it stands now.
    pub trusted: bool,
}

/// `trust`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustOutput {
    /// Always true.
    pub ok: bool,
    /// The project's folder.
    pub workspace: String,
    /// Everything that needs trust, sorted by file and key.
    pub items: Vec<TrustItem>,
    /// Whether all of it is trusted as it stands now.
    pub trusted: bool,
    /// A hash of all items and of the programs they come to.
    pub fingerprint: String,
}
