//! The outcome of `install` for each server.

use serde::Serialize;

/// What became of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallState {
    /// It is now there.
    Installed,
    /// It was there already, in the version wanted.
    AlreadyInstalled,
    /// It could not be installed.
    Failed,
    /// It has no recipe: `detail` says what to do by hand.
    Manual,
}

/// One server that was to be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallItem {
    /// The server's key in the catalogue.
    pub server: String,
    /// What became of it.
    pub state: InstallState,
    /// What was installed, pinned (`python-lsp-server[all]==1.15.0`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// The program, where it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Why it failed, or what to do by hand; where it was installed, what was tried before in vain, a line each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What of it is not locked; whether it runs from now on, and what changes that; what it does not find.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// `install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallOutput {
    /// Always true: what failed is told per server.
    pub ok: bool,
    /// In the order asked for.
    pub items: Vec<InstallItem>,
}
