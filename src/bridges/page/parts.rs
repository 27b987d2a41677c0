//! The parts of the page's data, each as JSON.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value, json};

use super::setup::PageSetup;
use crate::platform::process_tree::{self, Process};
use crate::runtime::Runtime;
use crate::runtime::overview::{FileOverview, FilesOverview, HIDDEN, OverviewVeil, ServerOverview};
use crate::tools::language::servers::{ServerRow, ServerRunState, ServersOutput};

/// The interval between searches of the workspace for servers that do not run.
const IDLE_LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// The number of samples in one memory series.
const MAX_MEMORY_SAMPLES: usize = 240;
/// The number of memory series.
const MAX_MEMORY_SERIES: usize = 64;
/// The number of files remembered from before the last change on disk.
const MAX_REMEMBERED_FILES: usize = 1_000;
/// The name of the daemon's own memory series.
const DAEMON_SERIES: &str = "daemon";

/// Memory samples: seconds since 1970, and bytes.
type MemorySeries = VecDeque<(u64, u64)>;

/// The history kept while the page has a viewer.
#[derive(Debug, Default)]
pub(super) struct PageMemory {
    series: BTreeMap<String, MemorySeries>,
    files: BTreeMap<String, FileOverview>,
    /// Servers that do not run, found by the last search of the workspace.
    idle: Vec<ServerRow>,
    notes: Vec<String>,
    idle_at: Option<Instant>,
}

/// A file as shown: its findings are current, or from before its last change on disk.
#[derive(Serialize)]
struct ShownFile<'a> {
    #[serde(flatten)]
    file: &'a FileOverview,
    earlier: bool,
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl PageMemory {
    fn sample(&mut self, name: &str, bytes: Option<u64>) {
        let Some(bytes) = bytes else { return };
        if !self.series.contains_key(name) && self.series.len() >= MAX_MEMORY_SERIES {
            return;
        }
        let series = self.series.entry(name.to_owned()).or_default();
        if series.len() >= MAX_MEMORY_SAMPLES {
            series.pop_front();
        }
        series.push_back((now_s(), bytes));
    }

    /// Returns the servers, the daemon, and their memory so far.
    pub(super) async fn servers(
        &mut self,
        runtime: &Runtime,
        setup: &PageSetup,
        redactor: &OverviewVeil,
    ) -> Value {
        let due = self.idle_at.is_none_or(|at| at.elapsed() >= IDLE_LOOK_INTERVAL);
        if due {
            let ServersOutput { servers, notes, .. } = runtime.servers().await;
            (self.idle, self.notes, self.idle_at) = (servers, notes, Some(Instant::now()));
        }
        let running = runtime.servers_overview().await;
        let daemon = (setup.daemon)();
        self.sample(DAEMON_SERIES, daemon["memory_bytes"].as_u64());
        let name = |server: &ServerOverview| format!("{} {}", server.server, server.root);
        for server in &running {
            self.sample(&name(server), server.memory_bytes);
        }
        let alive: Vec<String> = running.iter().map(name).collect();
        self.series.retain(|series, _| series == DAEMON_SERIES || alive.contains(series));
        let rows: Vec<Value> = running
            .iter()
            .filter(|server| server.state != ServerRunState::Installed)
            .map(|server| {
                let mut row = serde_json::to_value(server).unwrap_or_default();
                row["memory"] = json!(self.series.get(&name(server)));
                row
            })
            .collect();
        let runs = |row: &ServerRow| rows.iter().any(|running| running["server"] == row.server.as_str());
        let idle: Vec<Value> = self
            .idle
            .iter()
            .filter(|row| !runs(row))
            .map(|row| {
                let is_idle = matches!(
                    row.state,
                    ServerRunState::Missing | ServerRunState::Disabled | ServerRunState::Installed
                );
                let state = if is_idle { row.state } else { ServerRunState::Installed };
                let install = row.installer.as_ref().or(row.install.as_ref());
                json!({"server": row.server, "languages": row.languages, "files": row.files, "state": state,
                       "install": install})
            })
            .collect();
        let mut part = json!({
            "servers": rows,
            "idle": idle,
            "notes": self.notes,
            "daemon": {
                "pid": daemon["pid"], "version": daemon["version"], "workspace": daemon["workspace"],
                "started_at": daemon["started_at"], "memory_bytes": daemon["memory_bytes"],
                "memory": self.series.get(DAEMON_SERIES),
            },
        });
        for key in ["servers", "notes"] {
            redactor.redact_all(&mut part[key]);
        }
        part
    }

    /// Returns the files with findings, including findings from before the last change on disk.
    pub(super) fn files(&mut self, found: FilesOverview) -> Value {
        let FilesOverview { files, known, left_out, .. } = found;
        let current: BTreeMap<String, FileOverview> =
            files.into_iter().map(|file| (file.path.clone(), file)).collect();
        self.files.retain(|path, _| !current.contains_key(path));
        let mut shown: Vec<ShownFile<'_>> =
            current.values().map(|file| ShownFile { file, earlier: false }).collect();
        shown.extend(self.files.values().map(|file| ShownFile { file, earlier: true }));
        shown.sort_by(|one, other| {
            other.file.counts.cmp(&one.file.counts).then_with(|| one.file.path.cmp(&other.file.path))
        });
        let part = json!({"files": shown, "known": known, "left_out": left_out});
        drop(shown);
        self.files.extend(current);
        while self.files.len() > MAX_REMEMBERED_FILES {
            self.files.pop_first();
        }
        part
    }

    /// Removes files that are now clean or gone.
    pub(super) fn forget_files(&mut self, is_outdated: impl Fn(&str) -> bool) {
        self.files.retain(|path, _| !is_outdated(path));
    }
}

/// Returns the calls, and their statistics since the daemon was started.
pub(super) fn calls(runtime: &Runtime, redactor: &OverviewVeil) -> Value {
    let feed = runtime.call_feed().calls();
    let mut part = json!({
        "calls": feed,
        "statistics": runtime.tally().statistics(),
        "running": runtime.tally().running(),
    });
    redactor.redact_all(&mut part["calls"]);
    for call in part["calls"].as_array_mut().into_iter().flatten() {
        // A server's message about a hidden file may quote it.
        if let Some(findings) = call.pointer_mut("/delta/first").and_then(Value::as_array_mut) {
            findings.retain(|finding| finding["path"] != HIDDEN);
        }
    }
    part
}

/// Returns the newest edits.
pub(super) fn edits(runtime: &Runtime, redactor: &OverviewVeil) -> Value {
    match runtime.edits_overview(redactor) {
        Ok(edits) => json!({"edits": edits}),
        Err(error) => json!({"edits": [], "error": error.error}),
    }
}

/// Returns the connected clients and their unsaved texts.
pub(super) fn clients(runtime: &Runtime, setup: &PageSetup, redactor: &OverviewVeil) -> Value {
    let mut daemon = (setup.daemon)();
    for client in daemon["clients"].as_array_mut().into_iter().flatten() {
        client["started_by"] = json!(client["pid"].as_i64().and_then(parent_name));
    }
    json!({"clients": daemon["clients"], "unsaved": runtime.unsaved_overview(redactor)})
}

/// Returns the name of the parent of the process `pid`: the host or the shell.
fn parent_name(pid: i64) -> Option<String> {
    let process = Process::living(i32::try_from(pid).ok()?)?;
    process_tree::name_of(process.parent)
}

/// Returns the end of the daemon's log.
pub(super) fn log(setup: &PageSetup, redactor: &OverviewVeil) -> Value {
    let lines: Vec<String> = (setup.log)().iter().map(|line| redactor.redact(line)).collect();
    json!({"lines": lines})
}
