//! Reports on files that are kept in the user's cache, for checks of equal trees: of another
//! worktree, or after a restart. They are used before a server has been started.
//!
//! A report is stored if it is complete, together with the digest of everything that it follows
//! from: the workspace's files, and per server what it reads beside them
//! (`lsp/servers/manager/findings_inputs.rs`). The digest is compared again after the check.
//! Stored reports are data: nothing in them is run, and what cannot be read counts as absent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::file_report::FileReport;
use crate::analysis::answer::{DiagnosticItem, ServerState, ServerStatus, Verdict};
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::analysis::state_files::{from_state_error, run_blocking};
use crate::config::spec::ServerSpec;
use crate::config::{StateError, StateFolder, StateName};
use crate::lsp::servers::manager::findings_inputs::leads_elsewhere;
use crate::text::words::age::age;
use crate::text::{PartsHash, PartsHasher, hex};
use crate::workspace::WorkspacePath;

/// The version of the form of the entries.
const FORM: u32 = 1;
/// The languages in which settings of tools are written. Files of other languages than these and the
/// server's own are not read by it.
const SETTINGS_LANGUAGES: [&str; 4] = ["json", "jsonc", "toml", "yaml"];
/// The largest entry, in bytes.
const MAX_ENTRY_BYTES: u64 = 16 << 20;
/// The largest size of all entries together, in bytes; the oldest are removed first.
const MAX_STORE_BYTES: u64 = 256 << 20;
/// The longest wait for the disk of the store.
const STORE_TIMEOUT: Duration = Duration::from_millis(300);
/// The longest time for the digests of a check.
const DIGEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The servers that check a file, by their keys.
type CheckingServers<'a> = Vec<(&'a str, &'a ServerSpec)>;
/// A server and the root for which it checks files.
type ServerAtRoot = (String, WorkspacePath);

/// The stored reports for the files of one check.
#[derive(Debug, Default)]
pub(crate) struct StoredReports {
    groups: Vec<ReportGroup>,
}

/// The files that the same servers check.
#[derive(Debug)]
struct ReportGroup {
    servers: BTreeSet<ServerAtRoot>,
    files: BTreeSet<WorkspacePath>,
    key: ReportKey,
    entry: Option<ReportEntry>,
}

/// The state of a tree for a group of files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReportKey {
    /// The name of the entry.
    name: StateName,
    /// The states of the files, which tell of changes that were taken back.
    states: PartsHash,
}

/// The reports of a group as they are stored.
#[derive(Debug, Serialize, Deserialize)]
struct ReportEntry {
    form: u32,
    /// Seconds since 1970.
    written: u64,
    /// By path.
    files: BTreeMap<String, StoredReport>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredReport {
    items: Vec<DiagnosticItem>,
    statuses: Vec<ServerStatus>,
}

impl ReportEntry {
    fn report(&self, path: &WorkspacePath) -> Option<&StoredReport> {
        self.files.get(path.as_path().to_str()?)
    }
}

/// The content of the answer store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AnswerStoreStatus {
    /// Always true.
    ok: bool,
    /// The folder, absolute.
    pub(crate) folder: String,
    /// The number of checks whose reports are stored.
    pub(crate) checks: usize,
    /// The size of all of them, in bytes.
    pub(crate) bytes: u64,
    /// The age of the oldest, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_seconds: Option<u64>,
}

/// Returns the content of the answer store.
///
/// # Errors
/// Its folder cannot be read.
pub(crate) async fn status(context: &Context) -> Result<AnswerStoreStatus, ToolError> {
    let folder = report_folder(context);
    run_blocking(move || status_of(&folder).map_err(from_state_error)).await
}

/// Empties the answer store, and returns its content before.
///
/// # Errors
/// Its files cannot be removed.
pub(crate) async fn forget(context: &Context) -> Result<AnswerStoreStatus, ToolError> {
    let folder = report_folder(context);
    run_blocking(move || {
        let status = status_of(&folder).map_err(from_state_error)?;
        if status.checks > 0 {
            folder.lock().and_then(|locked| locked.remove_oldest(0)).map_err(from_state_error)?;
        }
        Ok(status)
    })
    .await
}

fn status_of(folder: &StateFolder) -> Result<AnswerStoreStatus, StateError> {
    let files = folder.usage()?;
    Ok(AnswerStoreStatus {
        ok: true,
        folder: folder.path().display().to_string(),
        checks: files.len(),
        bytes: files.iter().map(|file| file.bytes).sum(),
        oldest_seconds: files.first().and_then(|file| file.changed.elapsed().ok()).map(|age| age.as_secs()),
    })
}

/// The folder of the entries.
fn report_folder(context: &Context) -> StateFolder {
    StateFolder::in_cache(&context.folders, "reports", "stored reports")
}

impl StoredReports {
    /// Finds the reports for those of `subjects`, each with the servers that check it, for which no
    /// server runs yet. Reports that are missing are stored later if `stores`.
    pub(crate) async fn find(
        context: &Context,
        subjects: Vec<(&LanguageFile, CheckingServers<'_>)>,
        stores: bool,
    ) -> Self {
        let mut files: BTreeMap<BTreeSet<ServerAtRoot>, BTreeSet<WorkspacePath>> = BTreeMap::new();
        // What a rule hides from this caller may be part of stored reports.
        let is_on = context.config.settings.answer_store == Some(true) && !context.limits.may_hide();
        let is_empty = || report_folder(context).names().is_ok_and(|names| names.is_empty());
        if !is_on || !stores && is_empty() {
            return Self::default();
        }
        for (subject, servers) in subjects {
            if let Some(servers) =
                idle_servers(context, subject, &servers).filter(|_| !subject.path.is_notebook())
            {
                files.entry(servers).or_default().insert(subject.path.clone());
            }
        }
        let mut groups = Vec::new();
        for (servers, files) in files {
            let Some(key) = report_key(context, &servers).await else { continue };
            let entry = read_entry(context, &key.name).await;
            groups.push(ReportGroup { servers, files, key, entry });
        }
        Self { groups }
    }

    /// The stored report on a file.
    pub(crate) fn report(&self, path: &WorkspacePath) -> Option<FileReport> {
        let group = self.groups.iter().find(|group| group.files.contains(path))?;
        let stored = group.entry.as_ref()?.report(path)?;
        Some(FileReport {
            items: stored.items.clone(),
            statuses: stored.statuses.clone(),
            ..FileReport::new(path.clone())
        })
    }

    /// A note on the stored reports.
    pub(crate) fn note(&self) -> Option<String> {
        let stored = self.groups.iter().filter_map(|group| Some((&group.files, group.entry.as_ref()?)));
        let oldest = stored.clone().map(|(_, entry)| entry.written).min()?;
        let files: usize = stored
            .map(|(files, entry)| files.iter().filter(|path| entry.report(path).is_some()).count())
            .sum();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let files = match files {
            0 => return None,
            1 => "1 file".to_owned(),
            several => format!("{several} files"),
        };
        Some(format!(
            "the findings of {files} are from a check {} ago: neither the files nor what their findings follow from have changed",
            age(now.saturating_sub(oldest))
        ))
    }

    /// Stores complete reports of groups that have none yet, if nothing that they follow from has
    /// changed since [`find`](Self::find).
    pub(crate) async fn save(&self, context: &Context, reports: &[FileReport]) {
        let lacking = self.groups.iter().filter(|group| group.entry.is_none());
        for group in lacking {
            let Some(content) = self.content(context, group, reports) else { continue };
            if report_key(context, &group.servers).await.as_ref() == Some(&group.key) {
                write_entry(context, &group.key.name, content).await;
            }
        }
    }

    fn content(&self, context: &Context, group: &ReportGroup, reports: &[FileReport]) -> Option<Vec<u8>> {
        let mut files = BTreeMap::new();
        for report in reports.iter().filter(|report| group.files.contains(&report.path)) {
            files.insert(report.path.as_path().to_str()?.to_owned(), stored(report)?);
        }
        if files.len() != group.files.len() {
            return None;
        }
        let written = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        let content = serde_json::to_string(&ReportEntry { form: FORM, written, files }).ok()?;
        // Places in this tree, or in packages, would be wrong in another.
        let is_local = |place: &str| content.contains(place);
        let root = context.workspace.root().to_str()?;
        let fits = content.len() as u64 <= MAX_ENTRY_BYTES
            && ![root, "site-packages/", "dist-packages/"].into_iter().any(is_local);
        fits.then(|| content.into_bytes())
    }
}

/// A report in its stored form, if it is complete.
fn stored(report: &FileReport) -> Option<StoredReport> {
    let is_ready = |status: &ServerStatus| status.state == ServerState::Ready && status.detail.is_none();
    let is_whole = report.verdict == Verdict::Complete
        && report.statuses.iter().all(is_ready)
        && report.background.is_empty()
        // A note may tell of the run of a server.
        && report.notes.is_empty()
        && !(report.secondary || report.unchecked || report.lacks_background);
    let statuses = report.statuses.iter().map(|status| ServerStatus { waited_ms: 0, ..status.clone() });
    is_whole.then(|| StoredReport { items: report.items.clone(), statuses: statuses.collect() })
}

/// The servers that check `subject`, if reports of all of them may be stored and none runs.
fn idle_servers(
    context: &Context,
    subject: &LanguageFile,
    servers: &[(&str, &ServerSpec)],
) -> Option<BTreeSet<ServerAtRoot>> {
    let found = servers.iter().map(|(server, spec)| {
        let is_idle = context.manager.running_session(server, &subject.path).is_none();
        let root = context.manager.known_root(server, &subject.path)?;
        (spec.reads_outside.is_some() && is_idle).then(|| ((*server).to_owned(), root))
    });
    let found: Option<BTreeSet<ServerAtRoot>> = found.collect();
    found.filter(|found| !found.is_empty())
}

/// The key of the reports of `servers` on the tree as it is now.
async fn report_key(context: &Context, servers: &BTreeSet<ServerAtRoot>) -> Option<ReportKey> {
    let until = Instant::now() + DIGEST_TIMEOUT;
    let mut hasher = PartsHasher::default();
    hasher.add(&FORM.to_le_bytes());
    let mut environments = Vec::new();
    for (server, root) in servers {
        let inputs = context.manager.findings_inputs(server, root, until).await?;
        hasher.add(&inputs.digest);
        environments.extend(inputs.environment);
    }
    let (context, servers) = (context.clone(), servers.clone());
    let tree = tokio::task::spawn_blocking(move || {
        let catalogue = context.catalogue();
        let specs: Vec<_> = servers.iter().filter_map(|(server, _)| catalogue.servers.get(server)).collect();
        let is_read = |language: &str| {
            SETTINGS_LANGUAGES.contains(&language)
                || specs.iter().any(|spec| spec.languages.iter().any(|own| own == language))
        };
        let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let configures = |name: &str| specs.iter().any(|spec| spec.is_configuration_file(name));
        let counts = |path: &Path| {
            let name = name_of(path);
            catalogue.language_of(&name, None).is_none_or(is_read) || configures(&name)
        };
        let is_whole =
            |path: &Path, content: &[u8]| !leads_elsewhere(path, content, configures(&name_of(path)));
        let root = context.workspace.root();
        // The name of a package follows from its folder.
        let name = root.join("__init__.py").exists().then(|| root.file_name()).flatten();
        let digest = context.workspace.tree_digest(&environments, counts, is_whole, until)?;
        Some((digest, name.map(ToOwned::to_owned).unwrap_or_default()))
    });
    let (tree, name) = tree.await.ok()??;
    hasher.add_name(&name);
    hasher.add(&tree.content);
    let name = StateName::new(&hex(&hasher.finish()))?;
    Some(ReportKey { name, states: tree.states })
}

async fn read_entry(context: &Context, name: &StateName) -> Option<ReportEntry> {
    let (folder, name) = (report_folder(context), name.clone());
    let read = run_blocking(move || {
        let content = folder.read(&name, MAX_ENTRY_BYTES).map_err(from_state_error)?;
        Ok(content.and_then(|content| serde_json::from_slice(&content).ok()))
    });
    let entry: Option<ReportEntry> = tokio::time::timeout(STORE_TIMEOUT, read).await.ok()?.ok()?;
    entry.filter(|entry| entry.form == FORM)
}

/// Writes an entry. The write goes on if the disk is slow, but is not waited for.
async fn write_entry(context: &Context, name: &StateName, content: Vec<u8>) {
    let (folder, name) = (report_folder(context), name.clone());
    let write = run_blocking(move || {
        let locked = folder.lock().map_err(from_state_error)?;
        locked
            .write(&name, &content)
            .and_then(|()| locked.remove_oldest(MAX_STORE_BYTES))
            .map_err(from_state_error)
    });
    if let Ok(Err(error)) = tokio::time::timeout(STORE_TIMEOUT, write).await {
        tracing::debug!("the reports of a check are not stored: {}", error.error);
    }
}
