//! The manager of all language servers of one workspace. Each is started on the first call that
//! needs it, once for all waiting callers; restarted after a crash; stopped when idle or when
//! memory runs short; notified of every change on disk.

mod change_recorder;
pub(crate) mod findings_inputs;
mod housekeeping;
mod inspected_files;
mod launch;
pub(crate) mod launch_inputs;
mod machine_budget;
mod memory_overrun;
mod private;
mod python;
mod recheck;
mod root_pins;
mod roots;
mod setup;
mod slot;
mod standalone;
mod tree_results;
mod untrusted;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dashmap::DashMap;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::judge;
use super::locate::LocatedProgram;
use super::machine::MachineShare;
use super::python::{PythonEnvironment, UserWord};
use super::server_choice::ChosenServers;
use crate::config::spec;
use crate::lsp::documents::view::ViewHolder;
use crate::lsp::session::live_session::Session;
use crate::process::Spawner;
use crate::workspace::{ChangeBatch, ChangeFeed, Workspace, WorkspacePath};

use change_recorder::Witnesses;
use memory_overrun::MemoryOverrun;
pub(crate) use memory_overrun::OverBudget;
use root_pins::RootPins;
use roots::RootCache;
pub(crate) use setup::ManagerSetup;
use slot::ServerSlot;
use tree_results::TreeResults;

/// The reasons why no session is available right now.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum SessionUnavailable {
    /// The catalogue has no such server.
    #[error("unknown server {server}")]
    Unknown {
        /// The given name.
        server: String,
    },
    /// The server is not installed.
    #[error("{server} is not installed ({searched})")]
    Missing {
        /// The server's key.
        server: String,
        /// The searched places.
        searched: String,
    },
    /// Settings or missing trust forbid it.
    #[error("{reason}")]
    Disabled {
        /// The reason, and the way to allow it.
        reason: String,
    },
    /// The server was still starting at the caller's deadline.
    #[error("{}", describe_start(server, *so_far, hold.as_deref()))]
    Starting {
        /// The server's key.
        server: String,
        /// The time since its start began.
        so_far: Duration,
        /// The reason for a delayed start.
        hold: Option<String>,
    },
    /// The server could not be started, or ended and may not be restarted yet.
    #[error("{server} failed: {detail}")]
    Failed {
        /// The server's key.
        server: String,
        /// Exit status, last output, and the time of the next attempt.
        detail: String,
    },
    /// The manager is shutting down.
    #[error("language servers are being stopped")]
    Stopping,
}

/// All language servers of one workspace.
#[derive(Debug)]
pub(crate) struct Manager {
    shared: Arc<ManagerState>,
    housekeeper: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct ManagerState {
    setup: ManagerSetup,
    slots: DashMap<SlotKey, Arc<ServerSlot>>,
    roots: RootCache,
    feed: OnceLock<ChangeFeed>,
    /// Held by the caller that distributes changes on disk; the others wait until their servers
    /// know.
    refreshing: Mutex<()>,
    /// The recorders of changes.
    witnesses: Witnesses,
    /// Results of reading the whole tree.
    tree_results: TreeResults,
    root_pins: RootPins,
    /// Memory beyond the budget.
    memory_overrun: MemoryOverrun,
    /// Cancelled when no server may be started any more; starts in progress end.
    stopping: CancellationToken,
}

/// One server for one root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct SlotKey {
    server: String,
    root: WorkspacePath,
    /// The only holder that it serves; `None` for the shared server.
    holder: Option<ViewHolder>,
}

/// The present state of one (server, root).
#[derive(Debug, Clone)]
pub(crate) struct SlotStatus {
    /// The server's key.
    pub(crate) server: String,
    /// The root.
    pub(crate) root: WorkspacePath,
    /// The activity of the server.
    pub(crate) run: SlotActivity,
    /// The number of restarts.
    pub(crate) restarts: u32,
}

/// The activity of one (server, root).
#[derive(Debug, Clone)]
pub(crate) enum SlotActivity {
    /// There is no server, and none is being started: none was needed yet, it was stopped, or it is
    /// not available.
    Resting,
    /// The server may not be started.
    Disabled {
        /// The reason, and the way to allow it.
        reason: String,
    },
    /// The server is being started.
    Starting {
        /// The time since the start began.
        so_far: Duration,
        /// The reason for a delayed start.
        hold: Option<String>,
    },
    /// The server runs.
    Running(Arc<Session>),
    /// The server ended, or failed to start.
    Failed {
        /// The exit or the failure.
        why: String,
        /// The session that ended, until it is replaced.
        last: Option<Arc<Session>>,
    },
}

/// Describes a start that was not finished at the caller's deadline.
fn describe_start(server: &str, so_far: Duration, hold: Option<&str>) -> String {
    let seconds = so_far.as_secs();
    match hold {
        None => format!("{server} is still starting, {seconds} s so far"),
        Some(hold) => format!("{server} waits to be started, {seconds} s so far: {hold}"),
    }
}

impl Manager {
    /// The spawner of its processes, for others that are to end with us.
    pub(crate) fn spawner(&self) -> &Spawner {
        &self.shared.setup.spawner
    }

    /// Creates a manager without any server yet. Must be called within a tokio runtime.
    pub(crate) fn new(setup: ManagerSetup) -> Self {
        let shared = Arc::new(ManagerState {
            setup,
            slots: DashMap::new(),
            roots: RootCache::default(),
            feed: OnceLock::new(),
            refreshing: Mutex::new(()),
            witnesses: Witnesses::default(),
            tree_results: TreeResults::default(),
            root_pins: RootPins::default(),
            memory_overrun: MemoryOverrun::default(),
            stopping: CancellationToken::new(),
        });
        let machine = shared.setup.machine.clone();
        let housekeeper = tokio::spawn(housekeeping::run(Arc::downgrade(&shared), machine));
        Self { shared, housekeeper }
    }

    /// Creates a manager for another tree of the same project, such as an earlier commit. It may
    /// read the project's libraries. `inherits_trust`: the user has had the tree on disk, so it is
    /// trusted if the project is.
    pub(crate) fn for_other_tree(
        &self,
        workspace: Workspace,
        machine: Arc<MachineShare>,
        inherits_trust: bool,
    ) -> Self {
        let setup = &self.shared.setup;
        let lent = python::environment_of(setup, &WorkspacePath::root());
        Self::new(ManagerSetup {
            workspace,
            catalogue: setup.catalogue.clone(),
            settings: setup.settings.clone(),
            data: setup.data.clone(),
            cache: setup.cache.clone(),
            python: UserWord { lent, ..setup.python.clone() },
            spawner: setup.spawner.clone(),
            machine,
            trusted: setup.trusted && inherits_trust,
            trusted_root: setup.trusted_root.clone(),
            launch: setup.launch.clone(),
            trust: setup.trust.clone(),
            trace: setup.trace.clone(),
            progress: setup.progress.clone(),
        })
    }

    /// Returns the root that `server` has for `path`; `None` if it needs a marker that is missing.
    pub(crate) fn known_root(&self, server: &str, path: &WorkspacePath) -> Option<WorkspacePath> {
        self.shared.key(server, path).ok().map(|key| key.root)
    }

    /// Returns the session of `server` for `path`, started if needed; waits for the start at most
    /// until `deadline`.
    pub(crate) async fn session(
        &self,
        server: &str,
        path: &WorkspacePath,
        deadline: Instant,
    ) -> Result<Arc<Session>, SessionUnavailable> {
        self.session_of(self.shared.key(server, path)?, deadline).await
    }

    /// Returns the shared session of a server for a root.
    async fn session_of(&self, key: SlotKey, deadline: Instant) -> Result<Arc<Session>, SessionUnavailable> {
        let shared = &self.shared;
        if let Some(slot) = shared.slot_for_extra_folder(&key) {
            let session = slot.session(shared, deadline).await?;
            session.add_folder(&key.root);
            return Ok(session);
        }
        let slot = shared.slots.entry(key.clone()).or_insert_with(|| Arc::new(ServerSlot::new(key))).clone();
        slot.session(shared, deadline).await
    }

    /// Returns the session that serves `path` as `server`, if it runs already; starts none, and
    /// adds no folder to one.
    pub(crate) fn running_session(&self, server: &str, path: &WorkspacePath) -> Option<Arc<Session>> {
        let shared = &self.shared;
        let spec = shared.spec(server).ok()?;
        let root = shared.roots.root_for(&shared.setup, server, spec, path)?;
        let serves = |session: &Arc<Session>| session.server() == server && session.serves_root(&root);
        let slots = shared.slots.iter().filter(|slot| slot.key().holder.is_none());
        slots.filter_map(|slot| slot.running_session()).find(serves)
    }

    /// Returns true if `server` runs for any root.
    pub(crate) fn is_running(&self, server: &str) -> bool {
        self.shared.slots.iter().any(|slot| slot.key().server == server && slot.running_session().is_some())
    }

    /// Starts `server` for `path` if it is idle and the memory budget is not exceeded; with
    /// `opens`, it also opens the file. The caller does not wait. A server that failed or may not
    /// run is left to the next question, which reports the reason.
    pub(crate) fn start_in_background(&self, server: &str, path: &WorkspacePath, opens: bool) {
        let shared = &self.shared;
        let Ok(key) = shared.key(server, path) else { return };
        let known = shared.slots.get(&key).map(|slot| slot.status().run);
        let rests = known.is_none_or(|run| matches!(run, SlotActivity::Resting));
        if !rests || self.running_session(server, path).is_some() || self.over_budget().is_some() {
            return;
        }
        let slot = shared.slot_for_extra_folder(&key).unwrap_or_else(|| {
            shared.slots.entry(key.clone()).or_insert_with(|| Arc::new(ServerSlot::new(key.clone()))).clone()
        });
        // The start begins before the caller goes on, so that the next question waits for the same
        // start.
        slot.start_in_background(shared);
        if !opens {
            return;
        }
        let (shared, path) = (shared.clone(), path.clone());
        tokio::spawn(async move {
            let deadline = Instant::now() + shared.setup.settings.deadlines.start;
            let Ok(session) = slot.session(&shared, deadline).await else { return };
            session.add_folder(&key.root);
            session.sync_if_readable(&path).await;
        });
    }

    /// Notifies every running server of the changes on disk since the last call, by any program.
    pub(crate) async fn refresh(&self) {
        let _one_at_a_time = self.shared.refreshing.lock().await;
        self.shared.distribute_changes().await;
    }

    /// The files that running servers have open, by path.
    pub(crate) fn open_paths(&self) -> Vec<WorkspacePath> {
        let mut paths: Vec<_> =
            self.shared.running_sessions().iter().flat_map(|session| session.open_paths()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Returns true if a running server has `path` open.
    pub(crate) fn has_open(&self, path: &WorkspacePath) -> bool {
        self.shared.running_sessions().iter().any(|session| session.has_open(path))
    }

    /// Notifies every running server that files were moved (old and new name), if it wants that.
    pub(crate) fn files_moved(&self, moves: &[(WorkspacePath, WorkspacePath)]) {
        for session in self.shared.running_sessions() {
            session.did_rename(moves);
        }
    }

    /// Closes documents, the least recently used first, until each server has room for `room` more
    /// within the limit of the settings.
    pub(crate) async fn close_surplus_documents(&self, room: usize) {
        let most = self.shared.setup.settings.servers.max_open_documents.saturating_sub(room);
        for session in self.shared.running_sessions() {
            session.close_beyond(most).await;
        }
    }

    /// Returns the program that would be started as `server` for `path`.
    pub(crate) fn locate(
        &self,
        server: &str,
        path: &WorkspacePath,
    ) -> Result<LocatedProgram, SessionUnavailable> {
        let spec = self.shared.spec(server)?;
        launch::find(&self.shared.setup, server, spec, &self.root(server, path))
    }

    /// Returns the installation that `lsp-tools install` would make for the version that the
    /// project of `path` pins; `None` if that version runs already, or is not available.
    pub(crate) fn pinned_installation(&self, server: &str, path: &WorkspacePath) -> Option<String> {
        let setup = &self.shared.setup;
        let spec = setup.catalogue.servers.get(server)?;
        let root = self.root(server, path);
        let pinned = judge::pinned_version(&setup.workspace, &root, spec).pinned?;
        let found = launch::find(setup, server, spec, &root).ok();
        let runs = found.and_then(|found| judge::judging_version(spec.judge.as_ref()?, &found.program));
        pinned.missing_installation(&setup.catalogue, server, runs.as_deref())
    }

    /// Returns the keys of the servers that run for each language that is open to the installed
    /// ones, including those installed a moment ago.
    pub(crate) fn chosen_servers(&self) -> ChosenServers {
        launch::chosen_servers(&self.shared.setup)
    }

    /// Returns the root that `server` has, or would have, for `path`.
    pub(crate) fn root(&self, server: &str, path: &WorkspacePath) -> WorkspacePath {
        self.found_root(server, path).unwrap_or_else(WorkspacePath::root)
    }

    /// Returns true if there is a root of `server` for `path`. A server that needs a marker may
    /// have none.
    pub(crate) fn finds_root(&self, server: &str, path: &WorkspacePath) -> bool {
        self.found_root(server, path).is_some()
    }

    fn found_root(&self, server: &str, path: &WorkspacePath) -> Option<WorkspacePath> {
        let shared = &self.shared;
        let spec = shared.setup.catalogue.servers.get(server)?;
        shared.roots.root_for(&shared.setup, server, spec, path)
    }

    /// Returns the folder of the project that `path` is in; a server whose root is a project of
    /// projects has several.
    pub(crate) fn project(&self, server: &str, path: &WorkspacePath) -> WorkspacePath {
        match self.shared.setup.catalogue.servers.get(server) {
            Some(spec) if !spec.root_workspaces.is_empty() => {
                roots::project_of(&self.shared.setup.workspace, spec, path)
            }
            _ => self.root(server, path),
        }
    }

    /// Returns the folder of the project that `path` is in, if `server`'s root lists the projects
    /// that belong to it without this one.
    pub(crate) fn unlisted_project(&self, server: &str, path: &WorkspacePath) -> Option<WorkspacePath> {
        let spec = self.shared.setup.catalogue.servers.get(server)?;
        roots::unlisted_project(&self.shared.setup.workspace, spec, path, &self.root(server, path))
    }

    /// The Python environment for `root`, used or not.
    pub(crate) fn python_environment(&self, root: &WorkspacePath) -> Option<PythonEnvironment> {
        let setup = &self.shared.setup;
        super::python::search(&setup.workspace, root, &setup.python).environment
    }

    /// Returns a number that changes when a running server reports news on the diagnostics of
    /// `path`, or on their dependencies, and when another server runs.
    pub(crate) fn diagnostics_mark(&self, path: &WorkspacePath) -> u64 {
        let running = self.shared.running_sessions();
        let counts = running.iter().map(|session| session.state.push_count(path) + session.state.epoch());
        counts.sum::<u64>() + ((running.len() as u64) << 48)
    }

    /// Returns a number that changes when a running server has pushed other diagnostics of `path`
    /// than before, and when another server runs.
    pub(crate) fn findings_mark(&self, path: &WorkspacePath) -> u64 {
        let running = self.shared.running_sessions();
        let found = running.iter().map(|session| session.state.findings_revision(path));
        found.sum::<u64>() + ((running.len() as u64) << 48)
    }

    /// Returns receivers that wake at every message of the running servers.
    pub(crate) fn change_receivers(&self) -> Vec<watch::Receiver<u64>> {
        self.shared.running_sessions().iter().map(|session| session.state.listen()).collect()
    }

    /// Returns the excess of the servers over the memory budget, if none of them may be stopped for
    /// it.
    pub(crate) fn over_budget(&self) -> Option<OverBudget> {
        self.shared.memory_overrun.state(self.shared.setup.settings.servers.memory_budget())
    }

    /// Like `over_budget`, but only for the first answer after the budget was exceeded.
    pub(crate) fn over_budget_news(&self) -> Option<OverBudget> {
        self.shared.memory_overrun.report_once(self.shared.setup.settings.servers.memory_budget())
    }

    /// Returns the state of each server that was used.
    pub(crate) fn status(&self) -> Vec<SlotStatus> {
        let slots = self.shared.slots();
        let ordered: BTreeMap<SlotKey, SlotStatus> =
            slots.iter().map(|slot| (slot.key.clone(), slot.status())).collect();
        ordered.into_values().collect()
    }

    /// Ends every server, all at once; returns when they have ended.
    pub(crate) async fn shutdown(&self) {
        self.shared.stopping.cancel();
        self.housekeeper.abort();
        let slots = self.shared.slots();
        futures::future::join_all(slots.iter().map(|slot| slot.stop())).await;
        self.shared.setup.machine.withdraw();
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        self.shared.stopping.cancel();
        self.housekeeper.abort();
    }
}

impl ManagerState {
    fn spec(&self, server: &str) -> Result<&spec::ServerSpec, SessionUnavailable> {
        let known = self.setup.catalogue.servers.get(server);
        let spec = known.ok_or_else(|| SessionUnavailable::Unknown { server: server.to_owned() })?;
        if spec.disabled && self.setup.settings.disabled.iter().any(|key| key == server) {
            let reason = format!("{server} is disabled in the settings (`disabled`)");
            return Err(SessionUnavailable::Disabled { reason });
        }
        Ok(spec)
    }

    /// Returns the key of the shared session of `server` for `path`.
    fn key(&self, server: &str, path: &WorkspacePath) -> Result<SlotKey, SessionUnavailable> {
        if self.stopping.is_cancelled() {
            return Err(SessionUnavailable::Stopping);
        }
        let spec = self.spec(server)?;
        let root = self.roots.root_for(&self.setup, server, spec, path);
        let root = root.ok_or_else(|| SessionUnavailable::Disabled {
            reason: format!(
                "{server} needs a project with {}; no folder above {} has one",
                spec.named_root_markers(),
                path.display()
            ),
        })?;
        Ok(SlotKey { server: server.to_owned(), root, holder: None })
    }

    /// Returns the root of the files directly in `folder`.
    fn root_of_folder(&self, server: &str, folder: &WorkspacePath) -> Option<WorkspacePath> {
        self.roots.root_for(&self.setup, server, self.spec(server).ok()?, &folder.join("_").ok()?)
    }

    /// Returns all present slots: the map is not locked while they are used.
    fn slots(&self) -> Vec<Arc<ServerSlot>> {
        self.slots.iter().map(|entry| entry.value().clone()).collect()
    }

    fn running_sessions(&self) -> Vec<Arc<Session>> {
        self.slots.iter().filter_map(|slot| slot.running_session()).collect()
    }

    /// Returns the slot of a server that runs for another root and can take `wanted`'s as one more
    /// workspace folder. If it has crashed since, it is restarted for all its roots, not once more
    /// for each of them.
    fn slot_for_extra_folder(&self, wanted: &SlotKey) -> Option<Arc<ServerSlot>> {
        if self.slots.contains_key(wanted) {
            return None;
        }
        let of_server =
            |slot: &Arc<ServerSlot>| slot.key.server == wanted.server && slot.key.holder.is_none();
        let mut others = self.slots().into_iter().filter(of_server);
        let (slot, session) = others.find_map(|slot| Some((slot.clone(), slot.session_taking_folders()?)))?;
        // Without this, a folder that is no longer a root would be served twice.
        let is_root =
            |root: &WorkspacePath| self.root_of_folder(&wanted.server, root).is_none_or(|now| now == *root);
        if !session.served_roots().iter().all(is_root) {
            return None;
        }
        // A Python server works with one environment; another root may have another.
        let environment = |root| python::environment_of(&self.setup, root);
        // And a judge has one version.
        let spec = &session.state.spec;
        let pinned = |key| self.root_pins.find(&self.setup.workspace, key, spec);
        let is_alike = environment(&slot.key.root) == environment(&wanted.root)
            && (spec.judge.is_none() || pinned(&slot.key) == pinned(wanted));
        is_alike.then_some(slot)
    }

    /// Starts watching the disk for changes.
    fn begin_watching(&self) {
        let catalogue = self.setup.catalogue.clone();
        self.feed.get_or_init(|| ChangeFeed::start(&self.setup.workspace, catalogue));
    }

    /// Returns the changes on disk since the last call; `None` while nothing is watched.
    async fn drain_changes(self: &Arc<Self>) -> Option<ChangeBatch> {
        let feed = self.feed.get()?;
        if feed.is_ready() {
            return Some(feed.drain());
        }
        // Waits for the watches to be in place, off the async threads.
        let shared = self.clone();
        let drained = tokio::task::spawn_blocking(move || shared.feed.get().map(ChangeFeed::drain)).await;
        drained.unwrap_or(None)
    }
}
