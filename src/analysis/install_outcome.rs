//! The outcome of `install` for each server.

use serde::Serialize;

/// The result for one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallState {
    /// The server was installed.
    Installed,
    /// The server was already installed in the requested version.
    AlreadyInstalled,
    /// The server's packages were saved in a folder.
    Downloaded,
    /// The installation failed.
    Failed,
    /// There is no recipe for the server: `detail` has manual instructions.
    Manual,
}

/// The result of the installation of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallItem {
    /// The server's key in the catalogue.
    pub server: String,
    /// The state after the call.
    pub state: InstallState,
    /// The packages that were installed, pinned (`python-lsp-server[all]==1.15.0`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// The program, if it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The reason of the failure, or manual instructions. For an installed server, the failed
    /// attempts before it, one per line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Notes: unlocked dependencies, settings that keep the server from running, and programs
    /// that it cannot find.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The duration in milliseconds.
    pub took_ms: u64,
}

/// The answer of `install`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallOutput {
    /// Always true: failures are reported per server.
    pub ok: bool,
    /// The results, in the order of the request.
    pub items: Vec<InstallItem>,
}
