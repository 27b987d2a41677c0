//! Reports on files from earlier checks of equal trees: of another worktree, before a restart, or on
//! another machine. They are used before a server has been started.
//!
//! A complete report is stored with the digest of its inputs: the workspace's files, and each
//! server's other inputs (`lsp/servers/manager/findings_inputs/`). The digest is compared again
//! after the check. Entries are kept by the [`answer_store`](super::answer_store).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::answer_store::entry::{ENTRY_FORM, ReportEntry};
use super::answer_store::folder::{is_empty, read_entry, write_entry};
use super::answer_store::shared::error::SharedStoreError;
use super::answer_store::shared::{REQUEST_TIMEOUT, SharedStore};
use super::answer_store::signature::WriterKey;
use super::file_report::FileReport;
use crate::analysis::context::{Context, LanguageFile};
use crate::analysis::error::ToolError;
use crate::config::StateName;
use crate::config::spec::ServerSpec;
use crate::lsp::servers::manager::findings_inputs::error::InputsError;
use crate::lsp::servers::manager::findings_inputs::tree_rules::TreeRules;
use crate::text::words::age::age;
use crate::text::words::file_count_text;
use crate::text::{PartsHash, PartsHasher, hex};
use crate::workspace::{DigestError, WorkspacePath};

/// The longest wait of a check for the shared store.
const SHARED_TIMEOUT: Duration = Duration::from_millis(300);
/// The longest time for the digests before a check, and again after it.
const DIGEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest time for the digests before a check that stores by default: at least, and for each
/// checked file in addition.
const DEFAULT_DIGEST_TIMEOUTS: [Duration; 2] = [Duration::from_secs(2), Duration::from_millis(2)];
/// The least time of a check that says why its findings are not stored.
const SLOW_CHECK: Duration = Duration::from_secs(10);
/// The longest time for the digests before an exchange with the shared store.
const EXCHANGE_DIGEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The servers that check a file, by their keys.
type CheckingServers<'a> = Vec<(&'a str, &'a ServerSpec)>;
/// A server and the root for which it checks files.
pub(super) type ServerAtRoot = (String, WorkspacePath);

/// The stored reports for the files of one check.
#[derive(Debug, Default)]
pub(crate) struct StoredReports {
    groups: Vec<ReportGroup>,
    /// The reason that a group of files is missing.
    key_fault: Option<InputsError>,
    /// The reason that the shared store was not used.
    shared_fault: Option<SharedStoreError>,
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
    /// The name of the entry in the user's own store.
    name: StateName,
    /// The key in a shared store; `None` if it would differ on another machine.
    shared: Option<PartsHash>,
    /// The states of everything in the name, which reveal reverted changes.
    states: PartsHash,
    /// The folders of the Python environments, which findings may name.
    environments: Vec<PathBuf>,
}

/// The result of an exchange with a shared store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SharedExchange {
    /// Always true.
    ok: bool,
    /// The number of files whose findings were exchanged.
    pub(crate) files: usize,
    /// The number of files whose findings the receiver had before.
    pub(crate) known: usize,
    /// The names of the trusted writers of received findings.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) writers: BTreeSet<String>,
    /// The reason that findings of the workspace, or of some of its files, cannot be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
}

impl ReportGroup {
    /// Stores an entry of this group in the user's own store, if its text does not depend on where
    /// the tree lies.
    ///
    /// # Errors
    /// The store cannot be written in time.
    async fn store(&self, context: &Context, entry: &ReportEntry) -> Result<(), ToolError> {
        let Some(text) = entry.text() else { return Ok(()) };
        let environments = self.key.environments.iter().map(PathBuf::as_path);
        match environments.chain([context.workspace.root()]).any(|place| names_tree(&text, place)) {
            true => Ok(()),
            false => write_entry(context, &self.key.name, text).await,
        }
    }

    /// Like [`store`](Self::store); a slow or full disk changes no check.
    async fn try_to_store(&self, context: &Context, entry: &ReportEntry) {
        if let Err(error) = self.store(context, entry).await {
            tracing::debug!("the reports of a check are not stored: {}", error.error);
        }
    }
}

impl StoredReports {
    /// Finds the reports for those of `subjects`, each with the servers that check it, for which no
    /// server runs yet. Reports that are missing are stored later if `stores`.
    pub(crate) async fn find(
        context: &Context,
        subjects: impl ExactSizeIterator<Item = (&LanguageFile, CheckingServers<'_>)>,
        stores: bool,
        until: Option<Instant>,
    ) -> Self {
        let settings = &context.config.settings;
        let is_alone = settings.shared_answers.url.is_none();
        if settings.answer_store == Some(false) || !stores && is_alone && is_empty(context).await {
            return Self::default();
        }
        let [once, each] = DEFAULT_DIGEST_TIMEOUTS;
        let limit = match settings.answer_store {
            None => DIGEST_TIMEOUT.min(once + each * u32::try_from(subjects.len()).unwrap_or(u32::MAX)),
            Some(_) => DIGEST_TIMEOUT,
        };
        let usual = Instant::now() + limit;
        let until = until.map_or(usual, |until| until.min(usual));
        let (groups, key_fault) = groups_of(context, subjects, until).await;
        let mut found = Self { groups, key_fault, shared_fault: None };
        found.shared_fault = found.read_shared(context).await.err();
        found
    }

    /// Reads the entries that are missing in the user's own store from the shared one, for a short
    /// time. Returns the last fault.
    async fn read_shared(&mut self, context: &Context) -> Result<(), SharedStoreError> {
        let settings = &context.config.settings.shared_answers;
        let Some(shared) = SharedStore::of(settings)? else { return Ok(()) };
        let (begun, mut result) = (Instant::now(), Ok(()));
        for group in &mut self.groups {
            let left = SHARED_TIMEOUT.saturating_sub(begun.elapsed());
            let Some(key) = group.key.shared.filter(|_| group.entry.is_none() && !left.is_zero()) else {
                continue;
            };
            match shared.read(settings, &key, left).await {
                Ok(entry) => group.entry = entry,
                Err(fault) => result = Err(fault),
            }
            if let Some(entry) = &group.entry {
                group.try_to_store(context, entry).await;
            }
        }
        result
    }

    /// The reports of the workspace that are in the user's own store, if no server runs.
    pub(super) async fn of_workspace(
        context: &Context,
        subjects: impl Iterator<Item = (&LanguageFile, CheckingServers<'_>)>,
    ) -> Self {
        let until = Instant::now() + EXCHANGE_DIGEST_TIMEOUT;
        let (groups, key_fault) = groups_of(context, subjects, until).await;
        Self { groups, key_fault, shared_fault: None }
    }

    /// An exchange of nothing yet.
    fn empty_exchange(&self) -> SharedExchange {
        let fault = self.key_fault.as_ref().map(ToString::to_string);
        SharedExchange { ok: true, files: 0, known: 0, writers: BTreeSet::new(), fault }
    }

    /// Reads the reports that are missing in the user's own store from `shared`.
    ///
    /// # Errors
    /// The store fails or is late, or the user's own cannot be written.
    pub(super) async fn pull(
        &self,
        context: &Context,
        shared: &SharedStore,
    ) -> Result<SharedExchange, ToolError> {
        let (mut pulled, settings) = (self.empty_exchange(), &context.config.settings.shared_answers);
        for group in &self.groups {
            pulled.known += group.entry.as_ref().map_or(0, ReportEntry::len);
            let Some(key) = group.key.shared.filter(|_| group.entry.is_none()) else { continue };
            if let Some(entry) = shared.read(settings, &key, REQUEST_TIMEOUT).await? {
                group.store(context, &entry).await?;
                pulled.files += entry.len();
                pulled.writers.extend(entry.writer);
            }
        }
        Ok(pulled)
    }

    /// Writes the reports that this user's checks stored to `shared`, signed by `writer`.
    ///
    /// # Errors
    /// The store fails, refuses, or is late.
    pub(super) async fn push(
        &self,
        shared: &SharedStore,
        writer: &WriterKey,
    ) -> Result<SharedExchange, SharedStoreError> {
        let mut pushed = self.empty_exchange();
        for group in &self.groups {
            if let (Some(entry), Some(key)) = (&group.entry, &group.key.shared) {
                let is_new = entry.writer.is_none() && shared.write(writer, key, entry).await?;
                *(if is_new { &mut pushed.files } else { &mut pushed.known }) += entry.len();
            }
        }
        Ok(pushed)
    }

    fn entry_with(&self, path: &WorkspacePath) -> Option<&ReportEntry> {
        self.groups.iter().find(|group| group.files.contains(path))?.entry.as_ref()
    }

    /// The stored report on a file.
    pub(crate) fn report(&self, path: &WorkspacePath) -> Option<FileReport> {
        self.entry_with(path)?.report(path)
    }

    /// The servers of the stored reports.
    pub(super) fn servers(&self) -> impl Iterator<Item = &ServerAtRoot> {
        self.groups.iter().filter(|group| group.entry.is_some()).flat_map(|group| &group.servers)
    }

    /// Returns true if there is a report on the file.
    pub(crate) fn has(&self, path: &WorkspacePath) -> bool {
        self.entry_with(path).is_some_and(|entry| entry.has(path))
    }

    /// Notes on the stored reports, on reports that are not stored after a check that took `time`, and
    /// on a shared store that was not used.
    pub(crate) fn notes(&self, time: Duration) -> impl Iterator<Item = String> {
        let entries = || self.groups.iter().filter_map(|group| group.entry.as_ref());
        let files = self.groups.iter().flat_map(|group| &group.files).filter(|path| self.has(path)).count();
        let writers: BTreeSet<String> =
            entries().filter_map(|entry| Some(format!(" by {}", entry.writer.as_ref()?))).collect();
        let writers = Vec::from_iter(writers).join(" and");
        let used = entries().filter_map(ReportEntry::age).max().filter(|_| files > 0).map(|oldest| {
            format!(
                "the findings of {} are from a check {} ago{writers} of the same sources, settings and packages",
                file_count_text(files),
                age(oldest)
            )
        });
        let fault = self.key_fault.as_ref().filter(|_| time >= SLOW_CHECK);
        let unstored = fault.map(|fault| {
            format!("later checks will take as long, because findings cannot be stored here: {fault}")
        });
        used.into_iter().chain(unstored).chain(self.shared_fault.as_ref().map(ToString::to_string))
    }

    /// Stores complete reports of groups that have none yet, if nothing that they follow from has
    /// changed since [`find`](Self::find).
    pub(crate) async fn save(&self, context: &Context, reports: &[FileReport]) {
        let until = Instant::now() + DIGEST_TIMEOUT;
        let lacks = |group: &&ReportGroup| group.files.iter().any(|path| !self.has(path));
        for group in self.groups.iter().filter(lacks) {
            let own = reports.iter().filter(|report| group.files.contains(&report.path));
            let entry = ReportEntry::new(own).filter(|entry| entry.len() == group.files.len());
            let Some(entry) = entry else { continue };
            if report_key(context, &group.servers, until).await.as_ref() == Ok(&group.key) {
                group.try_to_store(context, &entry).await;
            }
        }
    }
}

/// The groups of those `subjects` for which no server runs, with the entries of the user's own
/// store, and the reason that one is missing.
async fn groups_of(
    context: &Context,
    subjects: impl Iterator<Item = (&LanguageFile, CheckingServers<'_>)>,
    until: Instant,
) -> (Vec<ReportGroup>, Option<InputsError>) {
    let mut files: BTreeMap<BTreeSet<ServerAtRoot>, BTreeSet<WorkspacePath>> = BTreeMap::new();
    // Stored reports may contain files that a rule hides from this caller.
    let is_shown = !context.limits.may_hide();
    for (subject, servers) in subjects.filter(|_| is_shown) {
        let path = &subject.path;
        let is_left_out = path.is_notebook() || context.workspace.is_built(path.as_path());
        if let Some(servers) = idle_servers(context, subject, &servers).filter(|_| !is_left_out) {
            files.entry(servers).or_default().insert(path.clone());
        }
    }
    let (mut groups, mut fault) = (Vec::new(), None);
    for (servers, files) in files {
        match report_key(context, &servers, until).await {
            Ok(key) => {
                let entry = read_entry(context, &key.name).await;
                groups.push(ReportGroup { servers, files, key, entry });
            }
            Err(error) => fault = Some(error),
        }
    }
    (groups, fault)
}

/// Returns true if a JSON text contains the path or the URI of a folder, which differ in an equal
/// tree. A match may also be a text of the sources, which is the same there.
fn names_tree(content: &str, root: &Path) -> bool {
    // Paths are compared as on Windows: a needless refusal costs one check.
    let plain = |text: &str| text.replace("\\\\", "/").replace("%3A", ":").to_lowercase();
    let (content, uri) = (plain(content), url::Url::from_file_path(root));
    let quoted = root.to_str().and_then(|root| serde_json::to_string(root).ok());
    quoted.is_none_or(|quoted| content.contains(&plain(quoted.trim_matches('"'))))
        || uri.is_ok_and(|uri| content.contains(&plain(uri.path())))
}

/// The servers that check `subject`, if reports of all of them may be stored and none runs. Unless
/// the settings say more, one of them must be slow: a digest takes as long as a fast check.
fn idle_servers(
    context: &Context,
    subject: &LanguageFile,
    servers: &[(&str, &ServerSpec)],
) -> Option<BTreeSet<ServerAtRoot>> {
    let is_worthwhile = context.config.settings.answer_store.is_some()
        || servers.iter().any(|(_, spec)| spec.checks_slowly == Some(true));
    let found = servers.iter().map(|(server, spec)| {
        let is_idle = context.manager.running_session(server, &subject.path).is_none();
        let root = context.manager.known_root(server, &subject.path)?;
        (spec.reads_outside.is_some() && is_idle).then(|| ((*server).to_owned(), root))
    });
    found.collect::<Option<BTreeSet<ServerAtRoot>>>().filter(|found| is_worthwhile && !found.is_empty())
}

/// The key of the reports of `servers` on the present tree.
async fn report_key(
    context: &Context,
    servers: &BTreeSet<ServerAtRoot>,
    until: Instant,
) -> Result<ReportKey, InputsError> {
    let (mut hasher, mut states, mut machine) = <(PartsHasher, PartsHasher, PartsHasher)>::default();
    hasher.add(&ENTRY_FORM.to_le_bytes());
    let (mut environments, mut is_portable) = (Vec::new(), true);
    for (server, root) in servers {
        let inputs = context.manager.findings_inputs(server, root, until).await?;
        hasher.add(&inputs.digest.content);
        states.add(&inputs.digest.states);
        machine.add(&inputs.machine);
        environments.extend(inputs.environment);
        is_portable &= inputs.is_portable;
    }
    let (context, servers, apart) = (context.clone(), servers.clone(), environments.clone());
    let tree = tokio::task::spawn_blocking(move || {
        let keys = servers.iter().map(|(server, _)| server.as_str());
        let rules = TreeRules::new(context.catalogue(), keys);
        let counts = |path: &Path, is_built: bool| rules.counts(path, is_built);
        let is_whole = |path: &Path, content: Option<&[u8]>| !rules.leads_elsewhere(path, content);
        // The name of a package is that of its folder, after those of the packages above it.
        let packages = context.workspace.root().ancestors();
        let packages = packages.take_while(|folder| folder.join("__init__.py").exists());
        let name: PathBuf = packages.filter_map(Path::file_name).collect();
        let digest = context.workspace.tree_digest(&apart, counts, is_whole, until)?;
        Ok::<_, DigestError>((digest, name))
    });
    let (tree, name) = tree.await.map_err(|_| InputsError::Panic)??;
    hasher.add_name(name.as_os_str());
    hasher.add(&tree.content);
    states.add(&tree.states);
    let content = hasher.finish();
    machine.add(&content);
    let name = StateName::new(&hex(&machine.finish())).expect("a hash in hexadecimal is a name");
    Ok(ReportKey { name, shared: is_portable.then_some(content), states: states.finish(), environments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(windows, ignore = "the paths are those of other systems")]
    fn text_with_the_path_of_the_tree_is_recognised() {
        let root = Path::new("/w/a \"b\"");
        for text in [r#"in /w/a \"b\"/c.py"#, r#"Literal[\"/w/a \"b\"2\"]"#, "file:///w/a%20%22b%22/c.py"] {
            assert!(names_tree(text, root), "{text}");
        }
        assert!(!names_tree("shop/a.py: /w/other", root));
    }
}
