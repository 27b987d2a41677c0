//! What `doctor` answers: per language, whether questions will be answered well, and what to do where not.

use serde::Serialize;

/// Something that makes a server less than useful.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// What is missing or wrong, and what is lost by it.
    pub message: String,
    /// The command that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// How a real query to a server went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorProbe {
    /// What was asked, as a person would put it ("hover src/app.py:3:5").
    pub query: String,
    /// Whether the server answered it.
    pub answered: bool,
    /// What it answered, or why it did not, in one line.
    pub detail: String,
    /// How long it took, the server's start included, in milliseconds.
    pub took_ms: u64,
}

/// One server of one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorServer {
    /// The language's key in the catalogue.
    pub language: String,
    /// How many files of it the (bounded) look at the workspace met.
    pub files: usize,
    /// The server's key in the catalogue; empty where no server is known for the language.
    pub server: String,
    /// The program that would be started; absent where it is not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Where it was found, in words ("PATH", "project environment", "private prefix").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Its version, as it says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What is wrong or missing beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<DoctorFinding>,
    /// How a real query went; absent where none could be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<DoctorProbe>,
    /// The command that installs it, where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

impl DoctorServer {
    /// Whether it is there, whole, and answered.
    pub fn is_well(&self) -> bool {
        self.found.is_some()
            && self.findings.is_empty()
            && self.probe.as_ref().is_some_and(|probe| probe.answered)
    }
}

/// `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorOutput {
    /// Always true: the look itself succeeded.
    pub ok: bool,
    /// Whether every server is there, whole, and answered.
    pub well: bool,
    /// The folder looked at.
    pub workspace: String,
    /// Sorted by number of files, then by language; the server that navigates first.
    pub servers: Vec<DoctorServer>,
    /// What concerns no server: settings left out for want of trust, a folder that cannot be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<DoctorFinding>,
}

impl DoctorOutput {
    /// The answer for these servers and findings.
    pub fn new(workspace: String, servers: Vec<DoctorServer>, findings: Vec<DoctorFinding>) -> Self {
        let well = findings.is_empty() && servers.iter().all(DoctorServer::is_well);
        Self { ok: true, well, workspace, servers, findings }
    }
}
