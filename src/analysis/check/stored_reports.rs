//! Reports on files that are kept in the user's cache, for checks of equal trees: of another
//! worktree, or after a restart. They are used before a server has been started.
//!
//! A complete report is stored with the digest of its inputs: the workspace's files, and each
//! server's other inputs (`lsp/servers/manager/findings_inputs.rs`). The digest is compared again
//! after the check. Stored reports are data: nothing in them is run, and unreadable ones count as
//! absent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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
use crate::text::words::file_count_text;
use crate::text::{PartsHash, PartsHasher, hex};
use crate::workspace::WorkspacePath;

/// The format version of entries.
const FORM: u32 = 2;
/// The languages in which settings of tools are written. Files of other languages than these and
/// the server's own are not read by it.
const SETTINGS_LANGUAGES: [&str; 4] = ["json", "jsonc", "toml", "yaml"];
/// The largest entry, in bytes.
const MAX_ENTRY_BYTES: u64 = 16 << 20;
/// The largest size of all entries together, in bytes; the oldest are removed first.
const MAX_STORE_BYTES: u64 = 256 << 20;
/// The longest wait for the disk of the store.
const STORE_TIMEOUT: Duration = Duration::from_millis(300);
/// The age from which on an entry counts as absent, in seconds.
const MAX_ENTRY_AGE: u64 = 365 * 86_400;
/// The longest time for the digests before a check, and again after it.
const DIGEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The servers that check a file, by their keys.
type CheckingServers<'a> = Vec<(&'a str, &'a ServerSpec)>;
/// A server and the root for which it checks files.
pub(super) type ServerAtRoot = (String, WorkspacePath);

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
    /// The states of everything in the name, which reveal reverted changes.
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

impl ReportGroup {
    fn report(&self, path: &WorkspacePath) -> Option<&StoredReport> {
        self.entry.as_ref()?.files.get(path.as_path().to_str()?)
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
            let locked = folder.lock().map_err(from_state_error)?;
            for name in folder.names().map_err(from_state_error)? {
                locked.remove(&name).map_err(from_state_error)?;
            }
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
        subjects: impl Iterator<Item = (&LanguageFile, CheckingServers<'_>)>,
        stores: bool,
        until: Option<Instant>,
    ) -> Self {
        let until = digest_deadline(until);
        let mut files: BTreeMap<BTreeSet<ServerAtRoot>, BTreeSet<WorkspacePath>> = BTreeMap::new();
        // Stored reports may contain files that a rule hides from this caller.
        let is_on = context.config.settings.answer_store == Some(true) && !context.limits.may_hide();
        if !is_on || !stores && is_empty(context).await {
            return Self::default();
        }
        for (subject, servers) in subjects {
            let path = &subject.path;
            let is_left_out = path.is_notebook() || context.workspace.is_built(path.as_path());
            if let Some(servers) = idle_servers(context, subject, &servers).filter(|_| !is_left_out) {
                files.entry(servers).or_default().insert(path.clone());
            }
        }
        let mut groups = Vec::new();
        for (servers, files) in files {
            let Some(key) = report_key(context, &servers, until).await else { continue };
            let entry = read_entry(context, &key.name).await;
            groups.push(ReportGroup { servers, files, key, entry });
        }
        Self { groups }
    }

    fn stored(&self, path: &WorkspacePath) -> Option<&StoredReport> {
        self.groups.iter().find(|group| group.files.contains(path))?.report(path)
    }

    /// The stored report on a file.
    pub(crate) fn report(&self, path: &WorkspacePath) -> Option<FileReport> {
        let stored = self.stored(path)?;
        Some(FileReport {
            items: stored.items.clone(),
            statuses: stored.statuses.clone(),
            ..FileReport::new(path.clone())
        })
    }

    /// The servers of the stored reports.
    pub(super) fn servers(&self) -> impl Iterator<Item = &ServerAtRoot> {
        self.groups.iter().filter(|group| group.entry.is_some()).flat_map(|group| &group.servers)
    }

    /// Returns true if there is a report on the file.
    pub(crate) fn has(&self, path: &WorkspacePath) -> bool {
        self.stored(path).is_some()
    }

    /// A note on the stored reports.
    pub(crate) fn note(&self) -> Option<String> {
        let oldest = self.groups.iter().filter_map(|group| Some(group.entry.as_ref()?.written)).min()?;
        let files = self.groups.iter().flat_map(|group| &group.files).filter(|path| self.has(path)).count();
        (files > 0).then(|| {
            format!(
                "the findings of {} are from a check {} ago of the same sources, settings and packages",
                file_count_text(files),
                age(now_seconds().saturating_sub(oldest))
            )
        })
    }

    /// Stores complete reports of groups that have none yet, if nothing that they follow from has
    /// changed since [`find`](Self::find).
    pub(crate) async fn save(&self, context: &Context, reports: &[FileReport]) {
        let until = digest_deadline(None);
        let lacks = |group: &&ReportGroup| group.files.iter().any(|path| group.report(path).is_none());
        let lacking = self.groups.iter().filter(lacks);
        for group in lacking {
            let Some(content) = self.content(context, group, reports) else { continue };
            if report_key(context, &group.servers, until).await.as_ref() == Some(&group.key) {
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
        let written = now_seconds();
        let content = serde_json::to_string(&ReportEntry { form: FORM, written, files }).ok()?;
        let is_short = content.len() as u64 <= MAX_ENTRY_BYTES;
        (is_short && !names_tree(&content, context.workspace.root())).then(|| content.into_bytes())
    }
}

/// Returns true if a JSON text contains the tree's path or URI, which differ in an equal tree. A
/// match may also be a text of the sources, which is the same there.
fn names_tree(content: &str, root: &Path) -> bool {
    // Paths are compared as on Windows: a needless refusal costs one check.
    let plain = |text: &str| text.replace("\\\\", "/").replace("%3A", ":").to_lowercase();
    let (content, uri) = (plain(content), url::Url::from_file_path(root));
    json_text(root).is_none_or(|root| content.contains(&plain(&root)))
        || uri.is_ok_and(|uri| content.contains(&plain(uri.path())))
}

/// The time now, in seconds since 1970.
fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A path in the spelling of a JSON string, without the quotes.
fn json_text(path: &Path) -> Option<String> {
    let quoted = serde_json::to_string(path.to_str()?).ok()?;
    Some(quoted[1..quoted.len() - 1].to_owned())
}

/// A report in its stored form, if it is complete.
fn stored(report: &FileReport) -> Option<StoredReport> {
    let is_ready = |status: &ServerStatus| status.state == ServerState::Ready && status.detail.is_none();
    let is_whole = report.verdict == Verdict::Complete
        && report.statuses.iter().all(is_ready)
        && report.background.is_empty()
        // A note may be about a server's run.
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

/// The key of the reports of `servers` on the present tree.
async fn report_key(
    context: &Context,
    servers: &BTreeSet<ServerAtRoot>,
    until: Instant,
) -> Option<ReportKey> {
    let (mut hasher, mut states) = (PartsHasher::default(), PartsHasher::default());
    hasher.add(&FORM.to_le_bytes());
    let mut environments = Vec::new();
    for (server, root) in servers {
        let inputs = context.manager.findings_inputs(server, root, until).await?;
        hasher.add(&inputs.digest.content);
        states.add(&inputs.digest.states);
        environments.extend(inputs.environment);
    }
    let (context, servers) = (context.clone(), servers.clone());
    let tree = tokio::task::spawn_blocking(move || {
        let catalogue = context.catalogue();
        let specs: Vec<_> = servers.iter().filter_map(|(server, _)| catalogue.servers.get(server)).collect();
        let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let configures = |name: &str| specs.iter().any(|spec| spec.is_configuration_file(name));
        let is_own =
            |language: &str| specs.iter().any(|spec| spec.languages.iter().any(|own| own == language));
        // The first line of a file without an extension may name the language.
        let is_module = |name: &str| {
            catalogue.language_of(name, None).is_some_and(is_own) || catalogue.needs_first_line(name)
        };
        let is_read = |language: &str| SETTINGS_LANGUAGES.contains(&language) || is_own(language);
        let counts = |path: &Path, is_built: bool| {
            let name = name_of(path);
            match is_built {
                true => is_module(&name),
                false => catalogue.language_of(&name, None).is_none_or(is_read) || configures(&name),
            }
        };
        let is_whole = |path: &Path, content: &[u8]| {
            let name = name_of(path);
            let place = (context.workspace.root(), path);
            !leads_elsewhere(place, content, configures(&name), is_module(&name))
        };
        // The name of a package is that of its folder, after those of the packages above it.
        let packages = context.workspace.root().ancestors();
        let packages = packages.take_while(|folder| folder.join("__init__.py").exists());
        let name: PathBuf = packages.filter_map(Path::file_name).collect();
        let digest = context.workspace.tree_digest(&environments, counts, is_whole, until)?;
        Some((digest, name))
    });
    let (tree, name) = tree.await.ok()??;
    hasher.add_name(name.as_os_str());
    hasher.add(&tree.content);
    states.add(&tree.states);
    let name = StateName::new(&hex(&hasher.finish()))?;
    Some(ReportKey { name, states: states.finish() })
}

/// The time until which the digests of all groups of a check must be known.
fn digest_deadline(until: Option<Instant>) -> Instant {
    let usual = Instant::now() + DIGEST_TIMEOUT;
    until.map_or(usual, |until| until.min(usual))
}

/// Returns true if nothing is stored, or the store does not answer.
async fn is_empty(context: &Context) -> bool {
    let folder = report_folder(context);
    let names = run_blocking(move || folder.names().map_err(from_state_error));
    let names = tokio::time::timeout(STORE_TIMEOUT, names).await;
    !names.is_ok_and(|names| names.is_ok_and(|names| !names.is_empty()))
}

async fn read_entry(context: &Context, name: &StateName) -> Option<ReportEntry> {
    let (folder, name) = (report_folder(context), name.clone());
    let read = run_blocking(move || {
        let content = folder.read(&name, MAX_ENTRY_BYTES).map_err(from_state_error)?;
        let content = content.and_then(|content| String::from_utf8(content).ok());
        Ok(content.and_then(|content| serde_json::from_str(&content).ok()))
    });
    let entry: Option<ReportEntry> = tokio::time::timeout(STORE_TIMEOUT, read).await.ok()?.ok()?;
    let age = |entry: &ReportEntry| now_seconds().checked_sub(entry.written);
    entry.filter(|entry| entry.form == FORM && age(entry).is_some_and(|age| age < MAX_ENTRY_AGE))
}

/// Writes an entry. A slow disk is not waited for; the entry may be missing then.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_the_path_of_the_tree_is_recognised() {
        let root = Path::new("/w/a \"b\"");
        for text in [r#"in /w/a \"b\"/c.py"#, r#"Literal[\"/w/a \"b\"2\"]"#, "file:///w/a%20%22b%22/c.py"] {
            assert!(names_tree(text, root), "{text}");
        }
        assert!(!names_tree("shop/a.py: /w/other", root));
    }
}
