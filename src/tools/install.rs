//! The report of `install`: the outcome for each server.

use std::fmt;

use futures::future::BoxFuture;
use serde::Serialize;
use tokio::time::Instant;

use super::context::Context;
use super::error::{ErrorCode, ToolError};
use super::server_notes::InstalledServerUse;
use crate::config::Catalogue;
use crate::config::spec::Language;
use crate::lsp::install::{InstallError, InstallProgress, Installer};
use crate::lsp::progress::ProgressEvent;
use crate::text::nearest_word;

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

/// Installs what a question is missing, where the rules allow that, and puts it on record.
pub(crate) trait InstallGate: fmt::Debug + Send + Sync {
    /// Installs `server`.
    ///
    /// # Errors
    /// `denied` by a rule. That it could not be installed is an item.
    fn install<'a>(
        &'a self,
        context: &'a Context,
        server: &'a str,
    ) -> BoxFuture<'a, Result<InstallItem, ToolError>>;
}

/// Installs each of `names`: a server's key, or a language's, which means the servers that run for it.
pub(crate) async fn run(context: &Context, names: &[String]) -> Result<InstallOutput, ToolError> {
    let mut keys: Vec<String> = Vec::new();
    for name in names {
        for key in keys_of(context, name)? {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let mut items = Vec::new();
    for key in &keys {
        items.push(install_one(context, key).await);
    }
    // Only once all are there: which of them run depends on the others.
    for item in &mut items {
        item.notes.extend(notes(context, item));
    }
    Ok(InstallOutput { ok: true, items })
}

fn notes(context: &Context, item: &InstallItem) -> Vec<String> {
    if !matches!(item.state, InstallState::Installed | InstallState::AlreadyInstalled) {
        return Vec::new();
    }
    let used = context.installed_server_use(&item.server).map(|used| match used {
        InstalledServerUse::Running(languages) => format!("used for {}", languages.join(", ")),
        InstalledServerUse::Resting(why) => why,
    });
    used.into_iter().chain(context.advice_after(&item.server)).collect()
}

fn keys_of(context: &Context, name: &str) -> Result<Vec<String>, ToolError> {
    let catalogue = context.catalogue();
    if catalogue.servers.contains_key(name) {
        return Ok(vec![name.to_owned()]);
    }
    if let Some(name) = language_called(catalogue, name) {
        let servers: Vec<String> =
            catalogue.servers_for(name).into_iter().map(|(key, _)| key.to_owned()).collect();
        if !servers.is_empty() {
            return Ok(servers);
        }
    }
    let known = catalogue.servers.keys().chain(catalogue.languages.keys());
    let error = ToolError::new(
        ErrorCode::NotFound,
        format!("no server and no language with a server is called `{name}`"),
    );
    Err(match nearest_word(name, known.map(String::as_str)) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error,
    })
}

/// The key of the language that is called `name` by its key, its own name, its LSP id or an extension of its files.
fn language_called<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let called = |(key, language): &(&String, &Language)| {
        **key == lower
            || language.name.to_lowercase() == lower
            || language.language_id.as_ref().is_some_and(|id| *id == lower)
            || language.extensions.contains(&lower)
    };
    let exact = catalogue.languages.get_key_value(&lower);
    exact.or_else(|| catalogue.languages.iter().find(called)).map(|(key, _)| key.as_str())
}

/// Installs one server of the catalogue.
pub(crate) async fn install_one(context: &Context, key: &str) -> InstallItem {
    let started = Instant::now();
    let item = |state, packages, program, detail, notes| InstallItem {
        server: key.to_owned(),
        state,
        packages,
        program,
        detail,
        notes,
        took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    let Some(server) = context.catalogue().servers.get(key) else {
        let detail = format!("no server is called {key}");
        return item(InstallState::Failed, Vec::new(), None, Some(detail), Vec::new());
    };
    let tell = |progress: InstallProgress<'_>| {
        let step = match progress {
            InstallProgress::Waiting => "waiting for another process that installs it",
            InstallProgress::Step(text) | InstallProgress::InVain(text) | InstallProgress::Note(text) => text,
            InstallProgress::Line(_) => return,
        };
        context.send_progress(ProgressEvent::Installing { server: key.to_owned(), step: step.to_owned() });
    };
    let installer = Installer::new(context.folders.data.clone())
        .with_spawner(context.manager.spawner().clone())
        .avoiding_folder(context.workspace.root().to_owned());
    match installer.install(key, server, &tell).await {
        Ok(done) => {
            let state = if done.already { InstallState::AlreadyInstalled } else { InstallState::Installed };
            let in_vain = (!done.in_vain.is_empty()).then(|| done.in_vain.join("\n"));
            item(state, done.packages, Some(done.program.display().to_string()), in_vain, done.notes)
        }
        Err(error) => {
            let manual = matches!(error, InstallError::Manual { .. });
            let state = if manual { InstallState::Manual } else { InstallState::Failed };
            item(state, Vec::new(), None, Some(error.to_string()), Vec::new())
        }
    }
}
