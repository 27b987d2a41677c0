//! What `trust` asks and answers: what a project's own settings would run, and whether they may.

use serde::Serialize;

/// What to do about a project's trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustRequest {
    /// Say what there is to trust; change nothing.
    Show,
    /// Trust exactly what was shown.
    Grant {
        /// [`TrustOutput::fingerprint`] of what was shown; where something else is there by now, that is a conflict.
        fingerprint: String,
    },
    /// Trust nothing of it any more.
    Revoke,
}

/// One thing that a project's settings would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustItem {
    /// What it is ("`server.pylsp.command` of `servers.toml`").
    pub name: String,
    /// What it says, as TOML; of a program, the SHA-256 of its content.
    pub value: String,
}

/// `trust`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustOutput {
    /// Always true.
    pub ok: bool,
    /// The project's folder.
    pub workspace: String,
    /// Everything that needs trust, in the order of the files.
    pub items: Vec<TrustItem>,
    /// Whether all of it is trusted as it stands now (also where there is nothing to trust).
    pub trusted: bool,
    /// What differs from what was trusted before, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// A hash of all items: what [`TrustRequest::Grant`] must name.
    pub fingerprint: String,
}
