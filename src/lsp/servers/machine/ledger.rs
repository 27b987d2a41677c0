//! The ledger of language servers of all a user's processes: one held file for each, in a private
//! folder for each run of the machine.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::hold::{HoldCause, StartHold};
use super::limits::MachineLimits;
use super::snapshot::{
    LedgerRecord, LedgerServer, LedgerStart, MachineSnapshot, PassedOver, StartPhase, start_place,
};
use crate::config::{Folders, HeldFile, StateError, StateFolder, StateName};
use crate::platform::files::CAN_READ_LOCKED_FILES;
use crate::platform::machine;

/// The folder, below the user's state folder.
const FOLDER: &str = "machine";
/// The largest record that is read, in bytes; one of a hundred servers has 15,000.
const MAX_RECORD_BYTES: u64 = 64 << 10;
/// The maximum number of servers, and of starts, in a record.
const MAX_RECORD_ENTRIES: usize = 256;
/// The expected memory use of an unknown server, in bytes; at most a quarter of the budget.
const USUAL_SERVER_BYTES: u64 = 256 << 20;

/// The time after which the folder of a run counts as former. A running machine writes to its
/// folder at each start of a server.
const FORMER_RUN_TTL: Duration = Duration::from_secs(14 * 24 * 3_600);

static RECORDS: AtomicU64 = AtomicU64::new(1);

/// A process's part in the ledger, for one of its workspaces.
#[derive(Debug)]
pub(crate) struct MachineShare {
    folder: StateFolder,
    /// The folder that contains the folders of all runs of the machine.
    runs: PathBuf,
    name: StateName,
    limits: MachineLimits,
    own: Mutex<OwnRecord>,
    /// Notified when a start began to wait or has ended.
    pub(super) changed: Notify,
    /// True if it was logged that the ledger cannot be used.
    failed: AtomicBool,
}

#[derive(Debug, Default)]
struct OwnRecord {
    record: LedgerRecord,
    file: Option<HeldFile>,
    /// The content of the file.
    published: Vec<u8>,
    last_start: u64,
}

/// Returns the current time, in milliseconds of a clock that all processes of the machine share and
/// that cannot be set.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(machine::clock().as_millis()).unwrap_or(u64::MAX)
}

/// The ledger of this run of the machine: a state folder may outlive it, and several machines may
/// mount one.
fn folder(folders: &Folders) -> StateFolder {
    let boot = machine::run_id().as_deref().and_then(StateName::new);
    let run = boot.as_ref().map_or("this", StateName::as_str);
    StateFolder::new(folders, format!("{FOLDER}/{run}"), "the ledger of language servers")
}

/// Removes the folders of former runs of the machine, which have not been written for long.
fn forget_former_runs(runs: &Path) {
    let is_old = |path: &PathBuf| {
        let modified = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok();
        let age = modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        age.is_some_and(|age| age > FORMER_RUN_TTL)
    };
    let runs = std::fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
    for run in runs.filter(is_old) {
        // Another process may have been quicker.
        let _ignored = std::fs::remove_dir_all(run);
    }
}

fn read(folder: &StateFolder) -> Result<MachineSnapshot, StateError> {
    let mut snapshot = MachineSnapshot::default();
    for (name, content) in folder.held(MAX_RECORD_BYTES)? {
        match serde_json::from_slice::<LedgerRecord>(&content) {
            Ok(mut record) => {
                record.servers.truncate(MAX_RECORD_ENTRIES);
                record.starts.truncate(MAX_RECORD_ENTRIES);
                snapshot.records.insert(name.as_str().to_owned(), record);
            }
            // Another version of this program may write it differently.
            Err(error) => tracing::debug!(record = name.as_str(), "not understood: {error}"),
        }
    }
    Ok(snapshot)
}

/// Reads the records of all processes of the user, in a few small files.
///
/// # Errors
/// The folder cannot be trusted or read.
pub(crate) fn read_ledger(folders: &Folders) -> Result<MachineSnapshot, StateError> {
    read(&folder(folders))
}

impl MachineShare {
    /// Creates the share of the runtime on `workspace`. Nothing is written until it has a server to
    /// start.
    pub(crate) fn new(folders: &Folders, workspace: &Path, limits: MachineLimits) -> Self {
        let pid = std::process::id();
        // Processes of several containers may have the same number.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let name = format!("{pid}-{}-{now:x}", RECORDS.fetch_add(1, Ordering::Relaxed));
        let record =
            LedgerRecord { pid, workspace: workspace.display().to_string(), ..LedgerRecord::default() };
        Self {
            folder: folder(folders),
            runs: folders.state.join(FOLDER),
            name: StateName::new(&name).unwrap_or_else(|| unreachable!("{name}")),
            limits,
            own: Mutex::new(OwnRecord { record, ..OwnRecord::default() }),
            changed: Notify::new(),
            failed: AtomicBool::default(),
        }
    }

    /// The limits in force.
    pub(crate) fn limits(&self) -> MachineLimits {
        self.limits
    }

    /// The name of its record.
    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns true if it has anything in the ledger.
    pub(crate) fn is_in_ledger(&self) -> bool {
        self.own.lock().file.is_some()
    }

    /// Waits until a start began to wait or has ended.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Returns the records of all processes; empty if the ledger cannot be used.
    pub(crate) fn snapshot(&self) -> MachineSnapshot {
        read(&self.folder).unwrap_or_else(|error| {
            self.note_failure(&error);
            MachineSnapshot::default()
        })
    }

    /// The numbers of the starts that have ended.
    pub(crate) fn ended_starts(&self) -> Vec<u64> {
        let own = self.own.lock();
        let ended = own.record.starts.iter().filter(|start| start.phase == StartPhase::Ended);
        ended.map(|start| start.id).collect()
    }

    /// Publishes the memory use of this process's servers, and that of its starts in `starting`, by
    /// number. The starts in `ended`, which had ended before the measurement, are removed from the
    /// record.
    pub(crate) fn record_servers(&self, servers: Vec<LedgerServer>, starting: &[(u64, u64)], ended: &[u64]) {
        let mut own = self.own.lock();
        own.record.servers = servers;
        own.record.servers.truncate(MAX_RECORD_ENTRIES);
        own.record.starts.retain(|start| !ended.contains(&start.id));
        for start in &mut own.record.starts {
            if let Some((_, bytes)) = starting.iter().find(|(id, _)| *id == start.id) {
                start.bytes = *bytes;
            }
        }
        self.publish(&mut own);
    }

    /// Removes everything of this share from the ledger.
    pub(crate) fn withdraw(&self) {
        let mut own = self.own.lock();
        own.record.servers.clear();
        own.record.starts.clear();
        self.publish(&mut own);
    }

    /// Begins a start of `server` with the expected memory use `expected`, if there is room; else
    /// it waits in the queue. Returns its number, its expected memory use in bytes, and the reason
    /// for a delay.
    pub(super) fn enqueue(&self, server: &str, expected: Option<u64>) -> (u64, u64, Option<StartHold>) {
        let is_first = self.own.lock().last_start == 0;
        if is_first {
            forget_former_runs(&self.runs);
        }
        let locked = self.folder.lock();
        let snapshot = self.snapshot();
        let expected = expected
            .or_else(|| snapshot.usual_size(server))
            .unwrap_or(USUAL_SERVER_BYTES.min(self.limits.memory / 4));
        let id = {
            let mut own = self.own.lock();
            own.last_start += 1;
            let start = LedgerStart {
                id: own.last_start,
                server: server.to_owned(),
                bytes: 0,
                expected,
                since_ms: now_ms(),
                phase: StartPhase::Waiting,
            };
            own.record.starts.push(start);
            own.last_start
        };
        let hold = match locked {
            Ok(_locked) => self.begin_or_hold(id, &PassedOver::default(), snapshot),
            // Many start at the same moment; the next try comes soon.
            Err(StateError::Busy { .. }) => Some(StartHold { cause: HoldCause::Turn, before: 0 }),
            Err(error) => {
                self.begin_without_ledger(id, &error);
                None
            }
        };
        (id, expected, hold)
    }

    /// Begins the start `id` if it is its turn, as it seems from `snapshot`; else returns the
    /// reason for the delay.
    pub(super) fn try_begin(
        &self,
        id: u64,
        passed: &PassedOver,
        snapshot: &MachineSnapshot,
    ) -> Option<StartHold> {
        // Only starts whose turn it seems to be take the lock.
        let hold = snapshot.hold_of(&start_place(self.name(), id), self.limits, passed);
        if hold.is_some() {
            return hold;
        }
        match self.folder.lock() {
            Ok(_locked) => self.begin_or_hold(id, passed, self.snapshot()),
            // A process that has held it for seconds is stuck, and must not block all other starts.
            Err(error) => {
                self.begin_without_ledger(id, &error);
                None
            }
        }
    }

    /// Begins the start, or returns the reason for its delay. The caller has the folder's lock, or
    /// no process can have it.
    fn begin_or_hold(
        &self,
        id: u64,
        passed: &PassedOver,
        mut snapshot: MachineSnapshot,
    ) -> Option<StartHold> {
        let mut own = self.own.lock();
        // The other processes' records are current; our own is the one about to be published.
        snapshot.records.insert(self.name().to_owned(), own.record.clone());
        let hold = snapshot.hold_of(&start_place(self.name(), id), self.limits, passed);
        if hold.is_none() {
            own.set_phase(id, StartPhase::UnderWay);
        }
        self.publish(&mut own);
        hold
    }

    /// Begins the start without the ledger. If the ledger cannot be used, as on a full disk,
    /// servers start as if they were alone.
    fn begin_without_ledger(&self, id: u64, error: &StateError) {
        self.note_failure(error);
        self.own.lock().set_phase(id, StartPhase::UnderWay);
    }

    /// Returns true if the budget has room for one more server of `bytes`, without ending another
    /// one. Reads files.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let snapshot = self.snapshot();
        snapshot.waiting() == 0 && snapshot.used().saturating_add(bytes) <= self.limits.memory
    }

    /// Records the end of the start `id`. It counts until its server was measured.
    pub(super) fn end_start(&self, id: u64) {
        self.own.lock().set_phase(id, StartPhase::Ended);
        self.changed.notify_one();
    }

    fn publish(&self, own: &mut OwnRecord) {
        if !CAN_READ_LOCKED_FILES {
            return;
        }
        if own.record.servers.is_empty() && own.record.starts.is_empty() {
            (own.file, own.published) = (None, Vec::new());
            return;
        }
        let content = serde_json::to_vec(&own.record).unwrap_or_default();
        if own.file.is_some() && content == own.published {
            return;
        }
        match self.folder.hold(&self.name, &content, own.file.take()) {
            Ok(file) => (own.file, own.published) = (Some(file), content),
            Err(error) => self.note_failure(&error),
        }
    }

    fn note_failure(&self, error: &StateError) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            tracing::warn!("{error}; the memory of language servers is limited per workspace only");
        }
    }
}

impl OwnRecord {
    fn set_phase(&mut self, id: u64, phase: StartPhase) {
        if let Some(start) = self.record.starts.iter_mut().find(|start| start.id == id) {
            start.phase = phase;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::platform::files::{MetadataExt, PermissionsExt};

    use super::*;

    const LIMITS: MachineLimits = MachineLimits { memory: 1_000, starts: 1 };

    fn folders(state: &Path) -> Folders {
        let none = PathBuf::from("/nowhere");
        Folders { config: none.clone(), data: none.clone(), state: state.into(), cache: none, home: None }
    }

    fn share(folders: &Folders) -> MachineShare {
        MachineShare::new(folders, Path::new("/w"), LIMITS)
    }

    #[test]
    fn share_writes_nothing_before_a_start_and_leaves_nothing_behind() {
        let state = tempfile::tempdir().unwrap();
        let folders = folders(state.path());
        let own = share(&folders);
        own.record_servers(Vec::new(), &[], &[]);
        assert!(own.snapshot().records.is_empty() && !state.path().join(FOLDER).exists());
        let (id, _, hold) = own.enqueue("s", Some(10));
        assert_eq!((hold, own.snapshot().starting()), (None, 1));
        for entry in std::fs::read_dir(state.path().join(FOLDER)).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o700);
        }
        own.end_start(id);
        own.record_servers(Vec::new(), &[], &own.ended_starts());
        assert!(read_ledger(&folders).unwrap().records.is_empty());
    }

    #[test]
    fn second_process_waits_until_first_has_started() {
        let state = tempfile::tempdir().unwrap();
        let folders = folders(state.path());
        let (one, other) = (share(&folders), share(&folders));
        let (first, _, hold) = one.enqueue("s", Some(10));
        assert_eq!(hold, None);
        let (second, _, hold) = other.enqueue("s", Some(10));
        assert_eq!(hold, Some(StartHold { cause: HoldCause::Starts { limit: 1 }, before: 0 }));
        assert_eq!(other.snapshot().waiting(), 1);
        one.end_start(first);
        let server = LedgerServer {
            server: "s".into(),
            pid: 7,
            bytes: 30,
            expected: 0,
            turn_ends_ms: 0,
            last_used_ms: None,
        };
        one.record_servers(vec![server], &[], &one.ended_starts());
        assert_eq!(other.try_begin(second, &PassedOver::default(), &other.snapshot()), None);
        let all = read_ledger(&folders).unwrap();
        assert_eq!((all.records.len(), all.running(), all.starting(), all.used()), (2, 1, 1, 30));
        assert_eq!(all.usual_size("s"), Some(30));
        drop(one);
        assert_eq!(read_ledger(&folders).unwrap().running(), 0);
    }

    #[test]
    fn folders_of_former_runs_are_removed() {
        let state = tempfile::tempdir().unwrap();
        let folders = folders(state.path());
        let (old, new) = (state.path().join(FOLDER).join("old"), state.path().join(FOLDER).join("new"));
        for run in [&old, &new] {
            std::fs::create_dir_all(run).unwrap();
        }
        let long_ago = SystemTime::now() - FORMER_RUN_TTL * 2;
        std::fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
        for entry in [state.path().join(FOLDER), new.clone()] {
            std::fs::set_permissions(entry, PermissionsExt::from_mode(0o700)).unwrap();
        }
        share(&folders).enqueue("s", Some(10));
        assert_eq!((old.exists(), new.exists()), (false, true));
    }

    #[test]
    fn unknown_and_huge_records_are_left_out() {
        let state = tempfile::tempdir().unwrap();
        let folders = folders(state.path());
        let own = share(&folders);
        own.enqueue("s", Some(10));
        let folder = folder(&folders);
        let name = |name| StateName::new(name).unwrap();
        let servers: Vec<_> = (0..400)
            .map(|pid| serde_json::json!({"server": "s", "pid": pid, "bytes": 1, "expected": 0, "turn_ends_ms": 0}))
            .collect();
        let many =
            serde_json::json!({"pid": 1, "workspace": "", "servers": servers, "starts": []}).to_string();
        let _many = folder.hold(&name("many"), many.as_bytes(), None).unwrap();
        let _words = folder.hold(&name("words"), b"{\"pid\": \"x\"", None).unwrap();
        let _deep = folder.hold(&name("deep"), "[".repeat(60_000).as_bytes(), None).unwrap();
        let _huge = folder.hold(&name("huge"), &vec![b' '; 100_000], None).unwrap();
        let all = own.snapshot();
        assert_eq!(all.records.len(), 2, "{:?}", all.records.keys());
        assert_eq!(all.running(), MAX_RECORD_ENTRIES);
    }

    #[test]
    fn servers_start_where_the_ledger_cannot_be_written() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join(FOLDER), "a file").unwrap();
        let own = share(&folders(state.path()));
        for _ in 0..3 {
            assert_eq!(own.enqueue("s", None), (own.own.lock().last_start, 250, None));
        }
    }
}
