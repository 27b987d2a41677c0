//! What `lsp_servers` answers: every language of the workspace and the servers that speak it.

use serde::Serialize;

/// What a server is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It runs, and its index is whole.
    Ready,
    /// It runs, and its index is still moving.
    Indexing,
    /// It is being started.
    Starting,
    /// It is installed and starts when it is needed.
    Installed,
    /// It ended, or could not be started.
    Crashed,
    /// It is not installed.
    Missing,
    /// Settings or missing trust keep it from being started.
    Disabled,
}

/// One server for one language and, where it runs, one root.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerRow {
    /// The language's key in the catalogue.
    pub language: String,
    /// How many files of the language the (bounded) look at the workspace met.
    pub files: usize,
    /// The server's key in the catalogue.
    pub server: String,
    /// What it is doing.
    pub state: RunState,
    /// The folder it serves, relative to the workspace; empty for the workspace itself. Only where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Resident memory of its process and their children, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Median time of its recent answers, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// More: progress, an exit status, what was left out for want of trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The command that installs it, where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

/// `lsp_servers`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServersOutput {
    /// Always true.
    pub ok: bool,
    /// Sorted by number of files, then by language; the server that navigates first.
    pub servers: Vec<ServerRow>,
}
