//! The report of `install --list`: languages, their servers, and those that are installed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use crate::analysis::context::Context;
use crate::config::spec::ServerSpec;
use crate::lsp::servers::health;
use crate::workspace::WorkspacePath;

/// The number of programs that are probed for their version concurrently.
const MAX_CONCURRENT_VERSION_PROBES: usize = 4;

/// The time for all probes, unless the caller sets another.
const MAX_INSTALL_LIST_TIME: Duration = Duration::from_secs(300);

/// A language, and the servers that `install` installs for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InstallableLanguage {
    /// The language's key in the catalogue, as an argument of `install`.
    pub(crate) language: String,
    /// The display name.
    pub(crate) name: String,
    /// The keys of the servers that `install` installs for the language.
    pub(crate) installs: Vec<String>,
}

/// A server, with its installed version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InstallableServer {
    /// The server's key in the catalogue, as an argument of `install`.
    pub(crate) server: String,
    /// The keys of the supported languages.
    pub(crate) languages: Vec<String>,
    /// True if the program was found and works.
    pub(crate) installed: bool,
    /// The version that the program prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The path of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// The kind of location ("PATH", "project environment", "private prefix").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
    /// The pinned packages that `install` installs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) packages: Vec<String>,
    /// Instructions for a manual installation, if the server has no packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_hand: Option<String>,
}

/// The answer of `install --list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InstallListOutput {
    /// Always true.
    pub(crate) ok: bool,
    /// Every language of the catalogue.
    pub(crate) languages: Vec<InstallableLanguage>,
    /// Every server of the catalogue.
    pub(crate) servers: Vec<InstallableServer>,
    /// Notes on omissions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// Lists the catalogue, and probes the installed servers for their versions.
pub(crate) async fn run(context: &Context) -> InstallListOutput {
    let catalogue = context.catalogue();
    let languages = catalogue.languages.iter().map(|(key, language)| InstallableLanguage {
        language: key.clone(),
        name: language.name.clone(),
        installs: catalogue.servers_to_install(key).into_iter().map(str::to_owned).collect(),
    });
    let specs: Vec<(&String, &ServerSpec)> = catalogue.servers.iter().collect();
    let (deadline, unasked) = (context.deadline(MAX_INSTALL_LIST_TIME), AtomicUsize::new(0));
    let mut servers = Vec::new();
    for some in specs.chunks(MAX_CONCURRENT_VERSION_PROBES) {
        let rows = some.iter().map(|(key, spec)| row(context, key, spec, deadline, &unasked));
        servers.extend(join_all(rows).await);
    }
    let note = |count| format!("the time limit was reached before {count} programs were tested");
    let notes = Some(unasked.into_inner()).filter(|count| *count > 0).map(note);
    InstallListOutput {
        ok: true,
        languages: languages.collect(),
        servers,
        notes: notes.into_iter().collect(),
    }
}

async fn row(
    context: &Context,
    key: &str,
    spec: &ServerSpec,
    deadline: Instant,
    unasked: &AtomicUsize,
) -> InstallableServer {
    let (spawner, workspace) = (context.manager.spawner(), &context.workspace);
    let (mut located, mut version) = (context.manager.locate(key, &WorkspacePath::root()).ok(), None);
    if let Some(found) = &located {
        let working = timeout_at(deadline, async {
            let works = health::is_working(spawner, workspace, spec, found).await;
            if works {
                version = health::version(spawner, workspace, spec, found).await;
            }
            works
        });
        match working.await {
            Ok(true) => {}
            // An interpreter may exist without the server that it would run.
            Ok(false) => located = None,
            Err(_) => {
                unasked.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    let recipes = spec.install.recipes();
    let manual = spec.install.manual.as_ref().or(spec.homepage.as_ref()).filter(|_| recipes.is_empty());
    InstallableServer {
        server: key.to_owned(),
        languages: spec.languages.clone(),
        installed: located.is_some(),
        version,
        program: located.as_ref().map(|located| located.program.display().to_string()),
        origin: located.map(|located| located.origin.to_string()),
        packages: recipes.first().map(|recipe| recipe.packages().cloned().collect()).unwrap_or_default(),
        by_hand: manual.cloned(),
    }
}
