//! The launch of a server: from its entry in the catalogue to an initialized session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::launch_inputs::LaunchInputs;
use super::python::{self, PythonLaunchSettings, dotted_value, set_dotted};
use super::setup::ManagerSetup;
use super::{SessionUnavailable, untrusted};
use crate::config::spec::ServerSpec;
use crate::config::{Catalogue, ExpandedServer, FilePin, pins_among};
use crate::lsp::servers::judge;
use crate::lsp::servers::judge::{PinnedVersion, SessionJudge};
use crate::lsp::servers::locate;
use crate::lsp::servers::locate::{LocatedProgram, ProgramSearchPlaces};
use crate::lsp::servers::machine::StartTurn;
use crate::lsp::servers::server_choice::{ChosenServers, ServerChoice};
use crate::lsp::session::live_session::{Session, SessionLimits, SessionSetup};
use crate::lsp::session::progress::ProgressEvent;
use crate::lsp::session::server_cache::ServerCache;
use crate::lsp::session::state::SessionState;
use crate::process::{ProgramPath, Spawn, user_folders};
use crate::workspace::WorkspacePath;

/// Variables that name folders to load modules from, like PATH for programs.
const MODULE_PATHS: [&str; 2] = ["PYTHONPATH", "NODE_PATH"];

/// Finds, starts and initializes `server` for `root` when it is its `turn`; the start may take
/// `times` as long as usual. Ends it again if `stopping` is cancelled meanwhile.
///
/// `begin_watching` is called once the program is found, before anything of the project is read:
/// watches require a scan of every folder, which is useless if a server is missing.
pub(super) async fn launch(
    setup: &ManagerSetup,
    server: &str,
    root: &WorkspacePath,
    times: u32,
    turn: &Arc<StartTurn>,
    stopping: &CancellationToken,
    begin_watching: impl FnOnce(),
) -> Result<Session, SessionUnavailable> {
    let spec = setup.catalogue.servers.get(server);
    let spec = spec.ok_or_else(|| SessionUnavailable::Unknown { server: server.to_owned() })?;
    check_trust(setup)?;
    let mut located = find(setup, server, spec, root)?;
    located.complete_from_login_shell(&setup.spawner, (&setup.workspace, setup.trusted), spec).await;
    begin_watching();
    let folder = setup.workspace.absolute(root);
    let disabled = |reason: String| SessionUnavailable::Disabled { reason };
    let launch_inputs = LaunchInputs::collect(setup, (server, spec), root);
    let spec = match setup.trusted {
        // The remaining rule records the way in which a session was started.
        true => ServerSpec { untrusted: None, ..ServerSpec::clone(&launch_inputs.spec) },
        false => untrusted::restricted_spec(server, &launch_inputs.spec, &folder).map_err(disabled)?,
    };
    let cache = match spec.needs_cache() {
        true => Some(ServerCache::claim(&setup.cache, server, &folder, setup.trusted).map_err(|error| {
            let detail = format!("its cache folder cannot be created: {error}");
            SessionUnavailable::Failed { server: server.to_owned(), detail }
        })?),
        false => None,
    };
    let cache_path = cache.as_ref().map(ServerCache::path);
    let ExpandedServer { server: spec, missing } = spec.expand(&folder, &located.program, cache_path);
    let pins = pins(setup, server, &spec, &located, &folder).map_err(disabled)?;
    // Without its own copy of a module, a server uses the project's, and would run that.
    if !missing.is_empty() && !setup.trusted {
        let why = format!("{server} runs code of this project when it starts");
        return Err(disabled(untrusted::refusal_text(&why)));
    }
    let given = python::launch_settings(setup, &spec, &launch_inputs.python).await.map_err(disabled)?;
    let mut spec = spec;
    given.apply_to(&mut spec);
    if let (Some(rule), Some(build_folder)) = (&spec.build_file, &launch_inputs.build.folder_for_server) {
        let build_folder = build_folder.to_string_lossy().into_owned();
        set_dotted(&mut spec.initialization_options, &rule.option.clone(), build_folder.into());
    }
    let unsearched = add_source_roots(setup, &mut spec, root).await;
    let spec = Arc::new(spec);
    let failed = |detail: String| SessionUnavailable::Failed { server: server.to_owned(), detail };
    // A missing or forbidden server was refused above, without a wait.
    wait_for_turn(setup, server, turn, stopping).await?;
    notify_progress(setup, ProgressEvent::ServerStarting { server: server.to_owned() });
    let mut spawn = Spawn {
        name: server.to_owned(),
        program: located.program.clone(),
        args: spec.command.iter().skip(1).map(OsString::from).collect(),
        env: variables(setup, &spec, &located, &given),
        cwd: folder,
        pins,
    };
    let more = untrusted::variables(setup, &spec, &spawn).await;
    spawn.env.extend(more.map_err(|why| failed(format!("it was not started, because {why}")))?);
    let alike = spawn.clone();
    let shortfall_check = untrusted::shortfall(setup, &spec, &alike);
    if let Some(apart) = untrusted::separate_folder(&spec) {
        spawn.cwd = apart;
    }
    let process = setup.spawner.spawn(spawn).await.map_err(|error| failed(error.to_string()))?;
    turn.set_process(process.tree_root().unwrap_or(0));
    let settings = serde_json::to_value(&spec.settings).unwrap_or_default();
    let state = SessionState::new(
        server,
        spec.clone(),
        setup.workspace.clone(),
        settings,
        vec![root.clone()],
        setup.progress.clone(),
    );
    let session = SessionSetup {
        workspace: setup.workspace.clone(),
        catalogue: setup.catalogue.clone(),
        root: root.clone(),
        limits: SessionLimits { max_file_bytes: setup.settings.limits.max_file_bytes },
        trace: setup.trace.clone(),
        cache,
    };
    let longest = spec.start_timeout.map_or(setup.settings.deadlines.start, Duration::from_secs) * times;
    let start = Session::start(session, Arc::new(state), process, Instant::now() + longest, stopping);
    let (started, shortfall) = tokio::join!(start, shortfall_check);
    let session = started.map_err(|failure| failed(failure.to_string()))?;
    let shortfall = shortfall.or_reason(given.lack.or(unsearched)).or_else(launch_inputs.shortfall());
    session.set_shortfall(0, shortfall);
    if let Some(rule) = &session.state.spec.judge {
        let stated = session.stated_version().filter(|_| rule.in_server_info).map(str::to_owned);
        let beside = || {
            let path = ProgramPath::of_user(&setup.workspace).after(located.path_folders.iter().cloned());
            path.followed_by(located.fallback_folders.iter().cloned()).find(rule.program.as_deref()?)
        };
        let program = beside().unwrap_or_else(|| located.program.clone());
        // A server that is given the version by its settings has that one.
        let given = launch_inputs.pinned().filter(|_| rule.name.is_some() && rule.program.is_none());
        let given = given.and_then(PinnedVersion::oldest);
        let loaded = launch_inputs.pinned().and_then(|pinned| pinned.loaded_by(rule));
        let version = loaded.or_else(|| judge::judging_version(rule, &program)).or(stated).or(given);
        let (catalogue, pinned) = (&setup.catalogue, (server, launch_inputs.pinned()));
        let mut judge = SessionJudge::new(rule, version, catalogue, pinned);
        let companions = launch_inputs.companions();
        let differs = || judge::companion_difference(catalogue, (server, rule), &program, companions);
        judge.difference = judge.difference.or_else(differs);
        session.judge.get_or_init(|| judge);
    }
    session.launch_inputs.get_or_init(|| Mutex::new(launch_inputs));
    session.spawn.get_or_init(|| alike);
    notify_progress(setup, ProgressEvent::ServerReady { server: server.to_owned() });
    Ok(session)
}

/// Adds the folders in which packages start to the server's settings, if it has a rule for them and
/// the user sets none. Returns the reason why no answer is complete then: the files show the usual
/// folders, and a build may use others.
async fn add_source_roots(
    setup: &ManagerSetup,
    spec: &mut ServerSpec,
    root: &WorkspacePath,
) -> Option<String> {
    let rule = spec.source_roots.clone()?;
    if dotted_value(&spec.settings, &rule.setting).is_some() {
        return None;
    }
    let (workspace, catalogue, root) = (setup.workspace.clone(), setup.catalogue.clone(), root.clone());
    let (languages, setting) = (spec.languages.clone(), rule.setting.clone());
    let search = move || rule.search(&workspace, &catalogue, &languages, &root);
    let found = tokio::task::spawn_blocking(search).await.ok()??;
    let folders: Vec<String> = found.folders.into_iter().collect();
    set_dotted(&mut spec.settings, &setting, folders.into());
    Some(match found.is_cut {
        true => "not all files were searched for the folders in which packages start".to_owned(),
        false => {
            "without a build file, its source folders were taken from the files' package lines".to_owned()
        }
    })
}

/// Waits until the machine has room for one more server.
async fn wait_for_turn(
    setup: &ManagerSetup,
    server: &str,
    turn: &Arc<StartTurn>,
    stopping: &CancellationToken,
) -> Result<(), SessionUnavailable> {
    let begun = Instant::now();
    if turn.wait(stopping).await {
        // Meanwhile trust may have been taken back.
        return check_trust(setup);
    }
    Err(match turn.hold().filter(|_| !stopping.is_cancelled()) {
        Some(hold) => {
            let so_far = begun.elapsed();
            SessionUnavailable::Starting { server: server.to_owned(), so_far, hold: Some(hold) }
        }
        None => SessionUnavailable::Stopping,
    })
}

/// Fails if the project's owner has revoked the trust with which the catalogue was read.
fn check_trust(setup: &ManagerSetup) -> Result<(), SessionUnavailable> {
    if !setup.trusted {
        return Ok(());
    }
    let kept = setup.trust.check_kept(&setup.trusted_root, &setup.launch);
    kept.map_err(|reason| SessionUnavailable::Disabled { reason })
}

/// Returns the location of the server's program for `root`.
pub(super) fn find(
    setup: &ManagerSetup,
    server: &str,
    spec: &ServerSpec,
    root: &WorkspacePath,
) -> Result<LocatedProgram, SessionUnavailable> {
    let pin = |program: &Path| setup.pin(program);
    let path = ProgramPath::of_user(&setup.workspace);
    let places = ProgramSearchPlaces::new(&setup.workspace, root, &setup.data, &pin, path);
    locate::locate(server, spec, &places).map_err(|error| SessionUnavailable::Missing {
        server: server.to_owned(),
        searched: error.to_string(),
    })
}

/// Returns the pins of the server's program, and of the project files that its command names. The
/// catalogue's own commands name none: a file with the name of one of their words is unrelated.
///
/// # Errors
/// A sentence, if the present content of a file is not trusted.
pub(super) fn pins(
    setup: &ManagerSetup,
    server: &str,
    spec: &ServerSpec,
    located: &LocatedProgram,
    folder: &Path,
) -> Result<Vec<FilePin>, String> {
    let mut pins = Vec::from_iter(located.pin.clone());
    let command = |catalogue: &Catalogue| catalogue.servers.get(server).map(|server| server.command.clone());
    if command(&setup.catalogue) != command(Catalogue::built_in()) {
        let words = spec.command.iter().skip(1).map(String::as_str);
        let bases = [setup.workspace.root(), folder];
        let program = spec.command.first().map_or("", String::as_str);
        let named =
            pins_among(program, words, &bases, &setup.workspace, &setup.trust, |file| setup.pin(file));
        pins.extend(named.map_err(|file| {
            format!(
                "`{file}`, used by the command of {server}, is not trusted in its current state; review it, then run: lsp-tools trust"
            )
        })?);
    }
    Ok(pins)
}

/// Returns the servers that run for each language that is open to the installed ones.
pub(super) fn chosen_servers(setup: &ManagerSetup) -> ChosenServers {
    let (root, pin) = (WorkspacePath::root(), |program: &Path| setup.pin(program));
    let path = ProgramPath::of_user(&setup.workspace);
    let places = ProgramSearchPlaces::new(&setup.workspace, &root, &setup.data, &pin, path);
    ServerChoice::new(&setup.catalogue, places, setup.trusted).chosen_servers()
}

fn notify_progress(setup: &ManagerSetup, event: ProgressEvent) {
    setup.progress.notify(&event);
}

/// Returns PATH with the server's own folders in front, the catalogue's variables, and the virtual
/// environment's.
///
/// If a server takes the first `python3` on PATH for the project's, its own folders come last: the
/// `python3` in them runs the server, not the project.
pub(super) fn variables(
    setup: &ManagerSetup,
    spec: &ServerSpec,
    located: &LocatedProgram,
    python: &PythonLaunchSettings,
) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> =
        spec.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let given = python.variables(spec, &mut variables).into_iter();
    let users = user_folders(&setup.workspace, setup.trusted, "PATH").unwrap_or_default();
    let own = located.path_folders.iter().cloned();
    let others = located.fallback_folders.iter().cloned();
    let folders: Vec<PathBuf> = match spec.python_on_path {
        true => given.chain(users).chain(own).chain(others).collect(),
        false => own.chain(given).chain(users).chain(others).collect(),
    };
    if let Ok(path) = std::env::join_paths(folders) {
        variables.insert("PATH".into(), path);
    }
    for name in MODULE_PATHS {
        // An empty one counts as none.
        let Some(given) = user_folders(&setup.workspace, false, name).filter(|_| !setup.trusted) else {
            continue;
        };
        if let Ok(path) = std::env::join_paths(given) {
            variables.entry(name.into()).or_insert(path);
        }
    }
    variables
}
