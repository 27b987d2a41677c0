//! The runtime: workspace, language servers, policy and tools as one object, which every door
//! opens.
//!
//! Every call by name passes through [`Runtime::call`], whose path is in [`calls`]. The methods
//! beside it are typed questions for embedders and the command line (`questions`), under the same
//! rules. [`live`] replaces the runtime after its settings have changed, [`overlays`] keeps
//! clients' unsaved texts, and a door with a foreign protocol calls through a [`tool_backend`].

pub(crate) mod calls;
mod configuration_stamps;
mod installs;
pub(crate) mod live;
pub(crate) mod machine_status;
pub(crate) mod overlays;
pub(crate) mod overview;
mod questions;
mod reopen;
mod server_choice;
pub(crate) mod skills;
pub(crate) mod startup_hints;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tool_backend;
mod toolbox;
mod user_actions;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use self::calls::call_feed::CallFeed;
use self::calls::call_stats::Tally;
use self::configuration_stamps::ConfigurationStamps;
use self::installs::InstallRules;
use self::overlays::{KnownOverlays, Overlays, SharedOverlays};
use self::server_choice::StampedServerChoice;
use crate::analysis::ask::retry_advice::RetryAdvice;
use crate::analysis::check::files_with_server::files_with_server;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::path_limits::PathLimits;
use crate::config::{Catalogue, Folders, PresentLanguage, Settings, TrustStore};
use crate::lsp::documents::view::View;
use crate::lsp::servers::machine::{MachineLimits, MachineShare};
use crate::lsp::servers::manager::{Manager, ManagerSetup};
use crate::lsp::servers::python::UserWord;
use crate::lsp::session::progress::{ProgressEvent, ProgressWatchGuard, Watchers};
use crate::policy::audit::AuditLog;
use crate::policy::grants::Grants;
use crate::policy::hooks::Hooks;
use crate::policy::rules::{CallerPolicy, Policy};
use crate::process::Spawner;
use crate::rpc::RpcTrace;
use crate::tools::agent::chat;
use crate::tools::api::built_in;
use crate::tools::api::drop_in::DropIns;
use crate::tools::api::registry::Registry;
use crate::tools::api::source::ToolSource;
use crate::tools::api::tool::Caller;
use crate::tools::api::tool_state::ToolState;
use crate::tools::language::doctor::DoctorOutput;
use crate::tools::language::servers::ServersOutput;
use crate::tools::language::{doctor, lsp_overlay, servers};
use crate::workspace::edit::{EditOptions, TransactionManager};
use crate::workspace::{Workspace, WorkspacePath};

/// Options for opening a [`Runtime`].
#[derive(Debug, Default)]
pub struct RuntimeOptions {
    /// The workspace's root. Defaults to the nearest folder around `cwd` with `.git` or
    /// `.lsp-tools`, else to `cwd`.
    pub workspace: Option<PathBuf>,
    /// The folder that relative paths are resolved against.
    pub cwd: PathBuf,
    /// Ignores the project's own settings, for operations that must work even if these settings are
    /// invalid.
    pub without_project_settings: bool,
    /// The `lsp-tools` binary that supervises servers. Defaults to the running program, or the
    /// binary beside it.
    pub supervisor: Option<PathBuf>,
    /// Overrides the deadlines of the settings.
    pub timeout: Option<Duration>,
    /// Installs a missing server before the first question to it.
    pub install_missing: bool,
    /// Advice for the user on how to allow a longer wait.
    pub patience: RetryAdvice,
    /// A file that records every message to and from servers.
    pub trace: Option<PathBuf>,
    /// Receives progress events of slow work.
    pub progress: Option<UnboundedSender<ProgressEvent>>,
}

/// Workspace, language servers and tools as one object.
///
/// Must be opened and used within a tokio runtime. [`shutdown`](Self::shutdown) ends servers and
/// commands gracefully; dropping the last handle kills them.
///
/// Clones are cheap and share the same workspace and servers. [`for_client`](Self::for_client)
/// returns a handle with the settings of another client.
#[derive(Debug, Clone)]
pub struct Runtime {
    context: Context,
    /// The state that tools keep between calls.
    state: ToolState,
    tools: Arc<Registry>,
    drop_ins: Arc<DropIns>,
    /// The sources of mounted tools.
    sources: Arc<Vec<Arc<dyn ToolSource>>>,
    /// Factories that create the sources again under new settings.
    makers: Arc<Vec<SourceMaker>>,
    policy: Arc<Policy>,
    hooks: Arc<Hooks>,
    grants: Arc<Grants>,
    audit: Option<Arc<AuditLog>>,
    /// Starts hooks and servers.
    spawner: Spawner,
    watchers: Watchers,
    /// The unsaved texts that all clients see.
    shared: Arc<SharedOverlays>,
    /// The overlays of clients with a session, for displays that list them.
    known_overlays: Arc<KnownOverlays>,
    tally: Tally,
    feed: CallFeed,
    /// The stamps of the configuration files when they were read.
    stamps: Arc<Mutex<ConfigurationStamps>>,
    /// The current choice of servers, with stamps of the installed programs it depends on.
    chosen: Arc<Mutex<StampedServerChoice>>,
    /// True if the servers were ended because the trust was withdrawn.
    withdrawn: Arc<AtomicBool>,
    handles: RuntimeHandleCounter,
    languages: PresentLanguageCache,
    /// Delivers progress events of slow servers to the client while this handle lives.
    _watching: Option<ProgressWatchGuard>,
}

/// Counts the handles of one runtime.
#[derive(Debug, Clone)]
struct RuntimeHandleCounter {
    all: TaskTracker,
    /// The token of the handle that contains this counter.
    _own: TaskTrackerToken,
}

impl Default for RuntimeHandleCounter {
    fn default() -> Self {
        let all = TaskTracker::new();
        Self { _own: all.token(), all }
    }
}

/// The languages of the workspace, with the time of their detection.
type PresentLanguageCache = Arc<Mutex<Option<(Instant, Vec<PresentLanguage>)>>>;

/// Creates a source of tools from the context that all tools share.
type MakesSource = dyn Fn(&Context) -> Arc<dyn ToolSource> + Send + Sync;

/// A factory for a source of tools.
#[derive(Clone)]
struct SourceMaker(Arc<MakesSource>);

impl std::fmt::Debug for SourceMaker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SourceMaker")
    }
}

/// The settings of one client of a shared runtime.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The folder that the client's relative paths are resolved against; defaults to the runtime's.
    pub cwd: Option<PathBuf>,
    /// Overrides the deadlines of the settings.
    pub timeout: Option<Duration>,
    /// Installs a missing server before the first question to it.
    pub install_missing: bool,
    /// Advice for the client's user on how to allow a longer wait.
    pub patience: RetryAdvice,
    /// Receives progress events of slow work.
    pub progress: Option<UnboundedSender<ProgressEvent>>,
    /// The client's view of the code: the disk, overlaid with the client's unsaved texts (kept by
    /// [`overlays`]).
    pub view: View,
}

impl Runtime {
    /// Opens the workspace and reads the configuration. Starts no server.
    pub fn open(options: RuntimeOptions) -> Result<Self, ToolError> {
        let folders = Folders::find().map_err(|error| invalid(&error))?;
        Self::open_with(options, folders)
    }

    /// Like [`open`](Self::open), with other folders for the user's settings, data and caches.
    pub fn open_with(options: RuntimeOptions, folders: Folders) -> Result<Self, ToolError> {
        let trace = match &options.trace {
            None => None,
            Some(path) => {
                let opened = RpcTrace::create(&options.cwd.join(path));
                let what = |error| format!("the trace file {} cannot be written: {error}", path.display());
                Some(Arc::new(opened.map_err(|error| ToolError::new(ErrorCode::InvalidArgs, what(error)))?))
            }
        };
        Self::open_with_trace(options, folders, trace)
    }

    fn open_with_trace(
        options: RuntimeOptions,
        folders: Folders,
        trace: Option<Arc<RpcTrace>>,
    ) -> Result<Self, ToolError> {
        folders.ensure_private().map_err(|error| invalid(&error))?;
        let workspace = find_workspace(options.workspace.as_deref(), &options.cwd)?;
        let trust = TrustStore::open(&folders).map_err(|error| invalid(&error))?;
        let read =
            configuration_stamps::read(&folders, workspace.root(), !options.without_project_settings, &trust);
        let (mut config, stamps) = read.map_err(|error| invalid(&error))?;
        let chosen = StampedServerChoice::detect(&config, &workspace, &folders, &trust);
        chosen.apply(&mut config);
        let config = Arc::new(config);
        let settings = &config.settings;
        let tools = built_in::registry()?;
        let mut policy = Policy::new(&settings.access).map_err(|error| invalid(&error))?;
        toolbox::place_in_profiles(&mut policy, &tools);
        let policy = Arc::new(match settings.chats.enabled {
            true => policy,
            false => policy.without_tools(&chat::NAMES, chat::SWITCHED_OFF),
        });
        let hooks = Hooks::new(&settings.access).map_err(|error| invalid(&error))?;
        let audit =
            settings.audit.enabled.then(|| Arc::new(AuditLog::new(&folders.state, settings.audit.max_bytes)));
        let spawner = Spawner::new(options.supervisor);
        let watchers = Watchers::default();
        let manager = Manager::new(ManagerSetup {
            workspace: workspace.clone(),
            catalogue: config.catalogue.clone(),
            settings: Arc::new(config.settings.clone()),
            data: folders.data.clone(),
            cache: folders.cache.clone(),
            python: UserWord::of_process(),
            spawner: spawner.clone(),
            machine: Arc::new(MachineShare::new(
                &folders,
                workspace.root(),
                MachineLimits::new(&settings.servers),
            )),
            trusted: config.trust.is_trusted(),
            trusted_root: workspace.root().to_owned(),
            launch: config.launch.clone(),
            trust: trust.clone(),
            trace,
            progress: watchers.clone(),
        });
        let mut options_of_edits = EditOptions::new(&folders.state);
        options_of_edits.protected = vec![folders.config.clone(), folders.data.clone()];
        let edits = TransactionManager::new(workspace.clone(), options_of_edits);
        let context = Context {
            workspace,
            edits,
            cwd: options.cwd,
            config,
            manager: Arc::new(manager),
            limits: PathLimits::default(),
            outlines: Arc::default(),
            trust,
            folders,
            timeout: options.timeout,
            install_missing: options.install_missing,
            installs: Arc::new(InstallRules::new(&policy, audit.as_ref())),
            patience: options.patience,
            progress: options.progress,
            view: View::disk(),
        };
        let watching = context.progress.clone().map(|progress| watchers.watch(progress));
        Ok(Self {
            context,
            state: ToolState::default(),
            tools: Arc::new(tools),
            drop_ins: Arc::default(),
            sources: Arc::default(),
            makers: Arc::default(),
            policy,
            hooks: Arc::new(hooks),
            grants: Arc::default(),
            audit,
            spawner,
            watchers,
            shared: Arc::default(),
            known_overlays: Arc::default(),
            tally: Tally::default(),
            feed: CallFeed::default(),
            stamps: Arc::new(Mutex::new(stamps)),
            chosen: Arc::new(Mutex::new(chosen)),
            withdrawn: Arc::default(),
            handles: RuntimeHandleCounter::default(),
            languages: PresentLanguageCache::default(),
            _watching: watching,
        })
    }

    /// Returns a handle on the same workspace and servers for one of several clients.
    pub fn for_client(&self, client: Client) -> Self {
        let Client { cwd, timeout, install_missing, patience, progress, view } = client;
        let mut own = self.clone();
        own._watching = progress.clone().map(|progress| self.watchers.watch(progress));
        let context = &mut own.context;
        if let Some(cwd) = cwd {
            context.cwd = cwd;
        }
        (context.timeout, context.install_missing) = (timeout, install_missing);
        (context.patience, context.progress, context.view) = (patience, progress, view);
        own
    }

    /// Returns a handle for calls of tools by name. If the working folder is outside of the
    /// workspace, relative paths start at the workspace root, since they could not reach into it
    /// otherwise.
    pub(crate) fn called_by_name(&self) -> Self {
        let mut own = self.clone();
        if own.context.workspace.workspace_path(&own.context.cwd).is_none() {
            own.context.cwd = own.context.workspace.root().to_owned();
        }
        own
    }

    /// Shows `overlays` to all clients that have no text of their own for a file, while `overlays`
    /// live.
    pub fn share_overlays(&self, overlays: &Arc<Overlays>) {
        self.shared.add(overlays);
    }

    /// Returns the view of the holder of the `lsp_overlay` handle `overlay`, for [`Client::view`].
    ///
    /// # Errors
    /// `not_found`.
    pub(crate) fn overlay_view(&self, overlay: &str) -> Result<View, ToolError> {
        self.state.overlays.view(overlay).map_err(lsp_overlay::overlay_error)
    }

    /// Returns the context for this client's calls. Its view stays constant for the duration of one
    /// call.
    pub(crate) fn context(&self) -> Cow<'_, Context> {
        let shared = self.shared.view(&self.context.workspace);
        if shared.is_disk() {
            return Cow::Borrowed(&self.context);
        }
        let view = self.context.view.layered_on(&shared);
        Cow::Owned(Context { view, ..self.context.clone() })
    }

    /// Messages about ignored settings of mounted MCP servers.
    pub(crate) fn mounts_left_out(&self) -> &[String] {
        &self.context.config.settings.mounts.left_out
    }

    /// Waits until the tools of all sources are known, or their own deadlines pass. For callers
    /// that list tools only once.
    pub(crate) async fn wait_for_sources(&self) {
        futures::future::join_all(self.sources.iter().map(|source| source.wait_until_known(None))).await;
    }

    /// The rules in force, and the agents of the settings.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the rules for `caller`.
    fn policy_of<'a>(&'a self, caller: &'a Caller) -> CallerPolicy<'a> {
        self.policy.for_caller(&caller.access, caller.agent.as_deref())
    }

    /// The catalogue of languages and servers in force.
    pub(crate) fn catalogue(&self) -> &Catalogue {
        self.context.catalogue()
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.context.workspace
    }

    /// Statistics of finished calls, and the number of running ones.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The feed of running and finished calls.
    pub(crate) fn call_feed(&self) -> &CallFeed {
        &self.feed
    }

    /// Lists `overlays` as the unsaved texts of `session` while they live.
    pub(crate) fn note_overlays(&self, session: &str, overlays: &Arc<Overlays>) {
        self.known_overlays.add(session, overlays);
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> &Settings {
        &self.context.config.settings
    }

    /// The log level from the settings: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub(crate) fn log_level(&self) -> &str {
        &self.context.config.settings.log.level
    }

    /// Lists the files in a folder that an installed server can format.
    ///
    /// # Errors
    /// `outside_workspace`, `too_large`.
    pub(crate) fn files_to_format(&self, folder: &Path) -> Result<Vec<WorkspacePath>, ToolError> {
        let context = self.context();
        let files = files_with_server(&context, &context.path(folder)?, |features| features.format)?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    /// Lists every language of the workspace and its servers, for the status of the daemon and the
    /// page. No rule applies here; other callers use the tool `lsp_servers`.
    pub async fn servers(&self) -> ServersOutput {
        servers::run(&self.context).await
    }

    /// Diagnoses the setup and finishes with a real query to each server.
    pub async fn doctor(&self) -> DoctorOutput {
        Box::pin(doctor::run(&self.context)).await
    }

    /// Reads the 0-based `line` of a file to display an answer; `path` is spelled as in answers.
    pub(crate) fn read_line(&self, path: &str, line: u32) -> Option<String> {
        let path = self.context.workspace.path(Path::new(path)).ok()?;
        let text = self.context.text(&path).ok()?;
        text.line(line).map(|line| line.into_owned())
    }

    /// Ends the background commands of a caller's session once the session can no longer query
    /// them.
    pub(crate) fn end_background_commands(&self, session: &str) {
        self.state.shells.end_session(session);
    }

    /// Ends every server and every command. Returns when they have exited.
    pub async fn shutdown(&self) {
        let sources = futures::future::join_all(self.sources.iter().map(|source| source.shutdown()));
        tokio::join!(self.context.manager.shutdown(), self.state.shells.shutdown(), sources);
    }
}

/// Opens the workspace with the root `root`, relative to `cwd`; if absent, the workspace around
/// `cwd`.
///
/// # Errors
/// `not_found`.
pub(crate) fn find_workspace(root: Option<&Path>, cwd: &Path) -> Result<Workspace, ToolError> {
    let workspace = match root {
        Some(root) => Workspace::open(&cwd.join(root)),
        None => Workspace::discover(cwd),
    };
    workspace.map_err(|error| ToolError::new(ErrorCode::NotFound, error.to_string()))
}

/// The error for an invalid configuration.
fn invalid(error: &dyn std::error::Error) -> ToolError {
    ToolError::new(ErrorCode::InvalidArgs, error.to_string())
}
