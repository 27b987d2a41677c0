//! `install`: servers and languages by name, installed one after the other.

use tokio::time::Instant;

use crate::analysis::ask::server_notes::InstalledServerUse;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::install_outcome::{InstallItem, InstallOutput, InstallState};
use crate::lsp::servers::install::{InstallError, InstallProgress, Installer, PackagePlace};
use crate::lsp::servers::judge;
use crate::lsp::session::progress::ProgressEvent;
use crate::text::nearest_word;
use crate::workspace::WorkspacePath;

/// Installs each of `names`: a server's key, or a language's key for the servers that run for it.
/// Paths of `place` are relative to the caller's folder.
pub(crate) async fn run(
    context: &Context,
    names: &[String],
    place: PackagePlace,
) -> Result<InstallOutput, ToolError> {
    let place = match place {
        PackagePlace::Registries => place,
        PackagePlace::From(folder) => PackagePlace::From(context.cwd.join(folder)),
        PackagePlace::Download(folder) => PackagePlace::Download(context.cwd.join(folder)),
    };
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
        items.push(install_one(context, key, place.clone()).await);
    }
    // Determined after all installations: servers may replace each other.
    for item in &mut items {
        item.notes.extend(notes(context, item));
    }
    Ok(InstallOutput { ok: true, items })
}

fn notes(context: &Context, item: &InstallItem) -> Vec<String> {
    if !matches!(item.state, InstallState::Installed | InstallState::AlreadyInstalled) {
        return Vec::new();
    }
    let (server, _) = judge::split_versioned_key(&item.server);
    let used = context.installed_server_use(server).map(|used| match used {
        InstalledServerUse::Running(languages) => {
            let languages = languages.join(", ");
            let other = context.preceding_program_note(server, item.program.as_deref(), &languages);
            other.unwrap_or_else(|| format!("used for {languages}"))
        }
        InstalledServerUse::Resting(reason) => reason,
    });
    used.into_iter().chain(context.advice_after(server)).collect()
}

fn keys_of(context: &Context, name: &str) -> Result<Vec<String>, ToolError> {
    let catalogue = context.catalogue();
    if let (base, Some(version)) = judge::split_versioned_key(name) {
        let key = judge::installation_of(catalogue, base, version);
        return key.map(|key| vec![key]).ok_or_else(|| {
            let what = format!("no server that can be installed runs `{base}` in version `{version}`");
            ToolError::new(ErrorCode::NotFound, what).with_hint(
                "give the version of a compiler, checker or linter, like ruff@0.12.0 or typescript@5.9.3",
            )
        });
    }
    let servers = catalogue.servers_to_install(name);
    if !servers.is_empty() {
        // The version that this project pins, beside the default version.
        let pinned =
            servers.iter().filter_map(|key| context.manager.pinned_installation(key, &WorkspacePath::root()));
        // A name of one server means no other.
        let is_other = |key: &String| servers.contains(&judge::split_versioned_key(key).0);
        return Ok(servers.iter().map(|key| (*key).to_owned()).chain(pinned.filter(is_other)).collect());
    }
    let known = catalogue.servers.keys().chain(catalogue.languages.keys());
    let error = ToolError::new(ErrorCode::NotFound, format!("unknown server or language `{name}`"));
    Err(match nearest_word(name, known.map(String::as_str)) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error,
    })
}

/// Installs one server of the catalogue, or saves its packages.
pub(crate) async fn install_one(context: &Context, key: &str, place: PackagePlace) -> InstallItem {
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
    let failure = |error: InstallError| {
        let manual = matches!(error, InstallError::Manual { .. });
        let state = if manual { InstallState::Manual } else { InstallState::Failed };
        item(state, Vec::new(), None, Some(error.to_string()), Vec::new())
    };
    let Some(server) = judge::server_at_version(context.catalogue(), key) else {
        let detail = format!("unknown server {key}");
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
    let installer = Installer::new(context.folders.data.clone(), &context.workspace)
        .with_spawner(context.manager.spawner().clone());
    if let PackagePlace::Download(folder) = &place {
        return match installer.download(key, &server, folder, &tell).await {
            Ok((packages, notes)) => item(InstallState::Downloaded, packages, None, None, notes),
            Err(error) => failure(error),
        };
    }
    match installer.with_packages(place).install(key, &server, &tell).await {
        Ok(done) => {
            let state = if done.already { InstallState::AlreadyInstalled } else { InstallState::Installed };
            let in_vain = (!done.in_vain.is_empty()).then(|| done.in_vain.join("\n"));
            item(state, done.packages, Some(done.program.display().to_string()), in_vain, done.notes)
        }
        Err(error) => failure(error),
    }
}
