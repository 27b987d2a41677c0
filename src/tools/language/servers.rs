//! The report of `lsp_servers`: every language of the workspace with its servers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::analysis::context::{Context, LanguageFile, PresentServer};
use crate::config::PresentLanguage;
use crate::lsp::servers::install_advice;
use crate::lsp::servers::install_advice::SpokenLanguage;
use crate::lsp::servers::manager::{SessionUnavailable, SlotActivity, SlotStatus};

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerRunState {
    /// Running, with a complete index.
    Ready,
    /// Running, and its index is still being built.
    Indexing,
    /// Starting.
    Starting,
    /// Installed, and starts on demand.
    Installed,
    /// Ended, or failed to start.
    Crashed,
    /// Not installed.
    Missing,
    /// Not started because of settings or missing trust.
    Disabled,
}

/// One server and, if it runs, one root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRow {
    /// The catalogue keys of its languages in this workspace, those with the most files first.
    pub languages: Vec<String>,
    /// The number of files of these languages that the limited workspace scan found.
    pub files: usize,
    /// The server's key in the catalogue.
    pub server: String,
    /// The state.
    pub state: ServerRunState,
    /// The served folder, relative to the workspace; empty for the workspace itself. Only if it
    /// runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Resident memory of its processes, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Median time of recent answers, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// 99th percentile of these times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p99_ms: Option<f64>,
    /// The number of open documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_documents: Option<usize>,
    /// The number of restarts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// Details: progress, an exit status, settings ignored for lack of trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The command that installs it, if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The same installation with `lsp-tools install`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installer: Option<String>,
}

/// The output of `lsp_servers`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServersOutput {
    /// Always true.
    pub ok: bool,
    /// One row per server and root: servers of the language with the most files first, navigating
    /// servers before others.
    pub servers: Vec<ServerRow>,
    /// Notes on several servers: installed but not running, problems of running servers, excess
    /// over the memory budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Returns every language of the workspace with its servers.
pub(crate) async fn run(context: &Context) -> ServersOutput {
    let running = context.manager.status();
    let languages = context.present_languages();
    let mut servers = Vec::new();
    for server in context.servers_of(&languages) {
        let own: Vec<&SlotStatus> = running.iter().filter(|status| status.server == server.key).collect();
        if own.is_empty() {
            servers.push(idle_row(context, &server));
        }
        for status in own {
            let row = row(context, &server, status).await;
            // A server that runs for no root has the same row for all roots.
            if !servers.contains(&row) {
                servers.push(row);
            }
        }
    }
    ServersOutput { ok: true, servers, notes: notes(context, &languages) }
}

/// Notes on the servers of `languages`, beside their states.
pub(crate) fn notes(context: &Context, languages: &[PresentLanguage]) -> Vec<String> {
    let subjects = languages.iter().cloned().map(LanguageFile::from);
    let mut notes: Vec<String> = subjects.flat_map(|subject| context.server_notes(&subject)).collect();
    for server in context.servers_of(languages) {
        notes.extend(context.set_up_notes(server.key, &server.example().path));
    }
    notes.extend(context.manager.over_budget().map(|over| over.to_string()));
    notes
}

fn empty_row(server: &PresentServer<'_>, state: ServerRunState) -> ServerRow {
    ServerRow {
        languages: server.language_keys(),
        files: server.files(),
        server: server.key.to_owned(),
        state,
        root: None,
        pid: None,
        memory_bytes: None,
        latency_ms: None,
        latency_p99_ms: None,
        open_documents: None,
        restarts: None,
        detail: None,
        install: None,
        installer: None,
    }
}

/// The row of a server without a session.
fn idle_row(context: &Context, server: &PresentServer<'_>) -> ServerRow {
    match context.manager.locate(server.key, &server.example().path) {
        Ok(located) => {
            let mut row = empty_row(server, ServerRunState::Installed);
            row.detail = Some(format!("{} ({})", located.program.display(), located.origin));
            row
        }
        Err(reason) => {
            let missing = matches!(reason, SessionUnavailable::Missing { .. });
            let mut row =
                empty_row(server, if missing { ServerRunState::Missing } else { ServerRunState::Disabled });
            row.install = missing.then(|| context.install_command(server.key)).flatten();
            row.installer =
                missing.then(|| context.installer_command(server.key, server.first_language())).flatten();
            row.detail = Some(reason.to_string());
            row
        }
    }
}

async fn row(context: &Context, server: &PresentServer<'_>, status: &SlotStatus) -> ServerRow {
    let (state, detail) = match &status.run {
        SlotActivity::Resting => return idle_row(context, server),
        SlotActivity::Disabled { reason } => (ServerRunState::Disabled, Some(reason.clone())),
        SlotActivity::Failed { why, .. } => (ServerRunState::Crashed, Some(why.clone())),
        SlotActivity::Starting { so_far, hold } => {
            let so_far = format!("{} s so far", so_far.as_secs());
            let detail = match hold {
                None => so_far,
                Some(hold) => format!("it waits for its start, {so_far}: {hold}"),
            };
            (ServerRunState::Starting, Some(detail))
        }
        SlotActivity::Running(session) => match session.unfinished_work() {
            Some(busy) => (ServerRunState::Indexing, Some(busy.to_string())),
            None => (ServerRunState::Ready, session.health()),
        },
    };
    let mut row = empty_row(server, state);
    row.detail = detail;
    if state == ServerRunState::Disabled {
        return row;
    }
    row.root = Some(status.root.display());
    row.restarts = Some(status.restarts);
    if let SlotActivity::Running(session) = &status.run {
        row.pid = session.pid();
        row.memory_bytes = session.resident_bytes().await;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
        let latency = session.latency();
        row.latency_ms = latency.map(|(median, _)| milliseconds(median));
        row.latency_p99_ms = latency.map(|(_, p99)| milliseconds(p99));
        row.open_documents = Some(session.open_documents());
        row.detail = row.detail.or_else(|| session.shortfall_reason(&session.root));
        row.detail = row.detail.or_else(|| session.judge().map(str::to_owned));
    }
    row
}

/// A line for each primary language whose primary server is missing, and for each ignored setting
/// of the project.
pub(crate) fn startup_hints(
    context: &Context,
    languages: Vec<PresentLanguage>,
    locale: SpokenLanguage,
) -> Vec<String> {
    let mut lines = context.config.left_out.clone();
    let mut reported = Vec::new();
    for language in languages.into_iter().filter(|language| !language.is_secondary) {
        let subject =
            LanguageFile { path: language.example.clone(), language: Some(language.language.clone()) };
        if let Some((server, spec)) = context.servers_for(&subject, |_| true).first()
            && !reported.contains(server)
            && matches!(
                context.manager.locate(server, &language.example),
                Err(SessionUnavailable::Missing { .. })
            )
        {
            reported.push(*server);
            let ours = context.installer_command(server, Some(&language.language));
            lines.push(install_advice::startup_line(&language.language, server, spec, ours.as_ref(), locale));
        }
    }
    lines
}
