//! The report of `doctor`: the health of each server, and remedies.

use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use super::servers;
use crate::analysis::confinement;
use crate::analysis::context::{Context, LanguageFile, PresentServer};
use crate::config::CacheSharing;
use crate::config::spec::ServerSpec;
use crate::lsp::diagnostics::findings::DiagnosticsCompleteness;
use crate::lsp::documents::view::View;
use crate::lsp::servers::install_advice;
use crate::lsp::servers::locate::LocatedProgram;
use crate::lsp::servers::manager::SessionUnavailable;
use crate::lsp::servers::{health, judge};
use crate::lsp::session::ask::AskError;
use crate::platform;
use crate::process::sandbox::{self, Enforced};

/// A problem of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// The problem and its consequence.
    pub message: String,
    /// The command that fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The outcome of a real request to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorProbe {
    /// The request in words ("hover src/app.py:3:5").
    pub query: String,
    /// True if the server responded.
    pub answered: bool,
    /// The response, or the reason for its absence, in one line.
    pub detail: String,
    /// The duration in milliseconds, including the server's start.
    pub took_ms: u64,
}

/// The report on one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorServer {
    /// The catalogue keys of the languages here that the server supports, those with the most files
    /// first.
    pub languages: Vec<String>,
    /// The number of files of those languages found by the (bounded) scan of the workspace.
    pub files: usize,
    /// True if the project is written in other languages, so that the server may be missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub secondary: bool,
    /// The server's key in the catalogue.
    pub server: String,
    /// The program that would be started; absent if it is not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// The origin of the program, in words ("PATH", "project environment", "private prefix").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The version that the program reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Further problems of the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<DoctorFinding>,
    /// The outcome of a real request; absent if none could be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<DoctorProbe>,
    /// The command that installs the server, if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The `lsp-tools install` command: the version is pinned and the system is left unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installer: Option<String>,
}

impl DoctorServer {
    /// Returns true if the server is missing and the project does not need it.
    pub(crate) fn is_dispensable(&self) -> bool {
        self.secondary && self.found.is_none()
    }

    /// Returns true if the server is installed, has no findings, and responded.
    pub(crate) fn is_healthy(&self) -> bool {
        self.found.is_some()
            && self.findings.is_empty()
            && self.probe.as_ref().is_some_and(|probe| probe.answered)
    }
}

/// The answer of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorOutput {
    /// Always true: the check itself succeeded.
    pub ok: bool,
    /// True if all servers of primary languages are installed, and all installed servers work.
    pub well: bool,
    /// The folder that was checked.
    pub workspace: String,
    /// The servers, each once: those of the language with the most files first, and within a
    /// language the server that navigates first.
    pub servers: Vec<DoctorServer>,
    /// Findings about no single server: ignored settings of an untrusted project, a folder that is
    /// not writable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<DoctorFinding>,
    /// Notes on installed servers that do not run, and on programs that running servers cannot
    /// find.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The confinement of commands that tools run, in one sentence.
    pub commands: String,
    /// Actions that the sandbox does not prevent because of the kernel or the settings, one
    /// sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands_may: Vec<String>,
    /// The guarantees of Linux that this system does not give, one sentence each; empty on Linux.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system_gaps: Vec<String>,
}

impl DoctorOutput {
    /// The answer for these servers and findings.
    pub(crate) fn new(
        workspace: String,
        servers: Vec<DoctorServer>,
        findings: Vec<DoctorFinding>,
        commands: String,
    ) -> Self {
        let well = findings.is_empty()
            && servers.iter().all(|server| server.is_healthy() || server.is_dispensable());
        Self {
            ok: true,
            well,
            workspace,
            servers,
            findings,
            notes: Vec::new(),
            commands,
            commands_may: Vec::new(),
            system_gaps: Vec::new(),
        }
    }
}

/// The timeout of a probe, beyond the server's own start.
const SERVER_PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// The time for all servers, unless the caller sets another.
const MAX_DOCTOR_TIME: Duration = Duration::from_secs(900);

/// Checks every language of the workspace, and sends a real request to each of its servers. The
/// caller's timeout covers the whole check. A server that it does not suffice for gets a finding
/// that says so.
pub(crate) async fn run(context: &Context) -> DoctorOutput {
    let limit = context.timeout.unwrap_or(MAX_DOCTOR_TIME);
    let deadline = Instant::now() + limit;
    let languages = context.present_languages();
    let mut servers = Vec::new();
    for server in context.servers_of(&languages) {
        let (mut report, located) = locate(context, &server);
        if let Some(located) = located
            && timeout_at(deadline, examine(context, &server, located, &mut report)).await.is_err()
        {
            let message = format!("not checked within {} s; raise --timeout", limit.as_secs_f32());
            report.findings.push(DoctorFinding { message, fix: None });
        }
        servers.push(report);
    }
    let left_out = context
        .config
        .left_out
        .iter()
        .map(|sentence| DoctorFinding { message: sentence.clone(), fix: Some("lsp-tools trust".to_owned()) });
    let workspace = context.workspace.root().display().to_string();
    let output = DoctorOutput::new(workspace, servers, left_out.collect(), sandbox_status(context));
    let settings = &context.config.settings.bash;
    let commands_may = confinement::confinement_gaps(settings, context.manager.spawner()).await;
    let system_gaps = platform::GAPS.iter().copied().map(str::to_owned).collect();
    DoctorOutput { notes: servers::notes(context, &languages), commands_may, system_gaps, ..output }
}

fn sandbox_status(context: &Context) -> String {
    match confinement::enforced_confinement(&context.config.settings.bash, context.manager.spawner()) {
        Ok(Enforced::Landlock) => {
            let caches = match context.config.settings.bash.caches {
                CacheSharing::Private => "caches of their own",
                CacheSharing::Shared => "your caches",
            };
            format!("sandbox: on (Landlock); writable: the workspace, temporary folders and {caches}")
        }
        Ok(Enforced::None) => match sandbox::status().files {
            Ok(()) => "sandbox: off (`bash.sandbox`)".to_owned(),
            Err(reason) => format!("sandbox: not available: {reason}"),
        },
        Err(error) => format!("commands do not run: {error}"),
    }
}

/// The report on a server before anything is run, and the path of its program.
fn locate(context: &Context, server: &PresentServer<'_>) -> (DoctorServer, Option<LocatedProgram>) {
    let PresentServer { key, spec, .. } = *server;
    let mut report = DoctorServer {
        languages: server.language_keys(),
        files: server.files(),
        secondary: server.is_secondary(),
        server: key.to_owned(),
        found: None,
        origin: None,
        version: None,
        findings: Vec::new(),
        probe: None,
        install: None,
        installer: None,
    };
    match context.manager.locate(key, &server.example().path) {
        Ok(located) => {
            report.found = Some(located.program.display().to_string());
            report.origin = Some(located.origin.to_string());
            (report, Some(located))
        }
        Err(reason) => {
            // The absent program already shows that it is not installed. The reason that the
            // project's own server is not used needs a finding.
            if !matches!(&reason, SessionUnavailable::Missing { searched, .. } if !searched.contains("lsp-tools trust"))
            {
                report.findings.push(DoctorFinding { message: reason.to_string(), fix: None });
            }
            report.install = context.install_command(key);
            report.installer = context.installer_command(key, server.first_language());
            if report.install.is_none() && !report.secondary {
                let message = install_advice::advice(key, spec).sentence;
                report.findings.push(DoctorFinding { message, fix: None });
            }
            (report, None)
        }
    }
}

/// Runs the server at `located`, and adds the result to `report`.
async fn examine(
    context: &Context,
    server: &PresentServer<'_>,
    mut located: LocatedProgram,
    report: &mut DoctorServer,
) {
    let PresentServer { key, spec, .. } = *server;
    let (spawner, trusted) = (context.manager.spawner(), context.config.trust.is_trusted());
    located.complete_from_login_shell(spawner, (&context.workspace, trusted), spec).await;
    report.version = health::version(spawner, &context.workspace, spec, &located).await;
    if let Some(judge) = judge::judge_of(spec, &located.program) {
        let version = report.version.get_or_insert_default();
        if !judge.rsplit(' ').next().is_some_and(|number| version.contains(number)) {
            let stop = if version.is_empty() { "" } else { ", " };
            version.push_str(&format!("{stop}{judge}"));
        }
    }
    let findings =
        health::prerequisite_findings(spawner, &context.workspace, key, spec, &located).await.into_iter();
    report
        .findings
        .extend(findings.map(|one| DoctorFinding { message: one.message, fix: Some(one.install) }));
    report.probe = Some(probe(context, &server.example(), key, spec).await);
}

/// A real query: the outline of an example file, or its diagnostics if the server does not
/// navigate. For a server without outlines, it is enough that it was initialized: a missing feature
/// is no fault.
async fn probe(context: &Context, subject: &LanguageFile, key: &str, server: &ServerSpec) -> DoctorProbe {
    let started = Instant::now();
    let start = server.start_timeout.map_or(context.config.settings.deadlines.start, Duration::from_secs);
    let deadline = started + start + SERVER_PROBE_TIMEOUT;
    let path = subject.path.display();
    let outcome = match context.session(key, subject, deadline).await {
        Err(status) => Err(status.detail.unwrap_or_default()),
        Ok(session) if server.features.navigation => {
            let _view_guard = session.enter_view(&View::disk(), deadline).await;
            match session.document_symbols(&subject.path, deadline).await {
                Ok(answer) => Ok((format!("symbols {path}"), format!("{} symbols", answer.value.len()))),
                Err(AskError::Request(error)) if error.is_unsupported() => {
                    Ok((format!("start {path}"), "it does not list symbols".to_owned()))
                }
                Err(error) => Err(error.to_string()),
            }
        }
        Ok(session) => match session.diagnostics(&subject.path, deadline).await {
            Ok(fresh) => match fresh.known {
                DiagnosticsCompleteness::NoData(reason) => Err(reason),
                _ => Ok((format!("check {path}"), format!("{} diagnostics", fresh.items.len()))),
            },
            Err(error) => Err(error.to_string()),
        },
    };
    let what = if server.features.navigation { "symbols" } else { "check" };
    let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match outcome {
        Ok((query, detail)) => DoctorProbe { query, answered: true, detail, took_ms },
        Err(detail) => DoctorProbe { query: format!("{what} {path}"), answered: false, detail, took_ms },
    }
}
