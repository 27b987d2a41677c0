//! The store of trusted projects.
//!
//! Trust is given to one folder (its canonical path and its identity on the disk) and to exactly
//! the launch fields that it had then: `command`, `env`, `install`, `settings`,
//! `initialization-options`, `hollow` and the protections of every server, and the choice of
//! servers in the project's own files. It also covers the content of each program inside the
//! project that was resolved then. Code that such a program loads belongs to the trusted project
//! and is not recorded. The store lies in the user's state folder, never in the project. Every
//! question checks whether it has changed, so that one process sees the grants and revocations of
//! another.

pub(super) mod error;

use crate::platform::canonicalize;
use crate::platform::files::sync_folder;
use crate::platform::inode::InodeIdentity;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::catalogue::pin::FilePin;
use super::error::escape_unprintable;
use super::folders::{Folders, TRUST_STORE};
use super::launch::{LaunchFields, hash_file, hash_text, name_below, text_name};
use crate::platform::{private, user};
use crate::workspace::{FileStamp, normalise};

use error::TRUST_LOCK_TIMEOUT;
pub(crate) use error::TrustError;

const LOCK: &str = "trust.lock";
const TRUST_FORMAT_VERSION: u32 = 1;
/// The interval between attempts to take the lock: the kernel offers no wait with a timeout.
const TRUST_LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The store of trusted projects.
#[derive(Debug, Clone)]
pub(crate) struct TrustStore {
    folder: PathBuf,
    /// The content of the store, kept while the file is unchanged, because every call reads it.
    kept: Arc<Mutex<Option<KeptStore>>>,
}

/// The store as its file had it in the state `stamp`.
#[derive(Debug, Clone)]
struct KeptStore {
    stamp: FileStamp,
    store: Arc<TrustStoreContent>,
}

/// The store's record of one project.
pub(super) struct RecordedProject {
    store: Arc<TrustStoreContent>,
    key: String,
    /// The present identity of the project's folder.
    device: u64,
    inode: u64,
}

impl RecordedProject {
    fn record(&self) -> &TrustRecord {
        &self.store.projects[&self.key]
    }

    /// Returns the trusted texts whose paths begin with `start`, including those that no longer
    /// exist.
    fn texts_below(&self, start: &str) -> Vec<String> {
        self.record().texts.keys().filter(|path| path.starts_with(start)).cloned().collect()
    }

    /// Returns the changes `what`, and one more if another folder has replaced the trusted one.
    fn changes_since_trusted(&self, what: impl IntoIterator<Item = String>) -> Vec<String> {
        let record = self.record();
        let is_same = (record.device, record.inode) == (self.device, self.inode);
        let replaced = (!is_same).then(|| format!("the folder `{}` was replaced by another", self.key));
        what.into_iter().chain(replaced).collect()
    }
}

/// The hooks in a project's trust record.
#[derive(Debug, Default)]
pub(crate) struct RecordedHooks {
    /// The paths of hooks files, including those that no longer exist.
    pub(crate) texts: Vec<String>,
    /// True if there were hooks in its settings, and its launch fields, or the folder itself, are
    /// not those that were trusted.
    pub(crate) lost: bool,
}

/// The programs that a project was trusted with.
pub(super) enum RecordedPrograms {
    /// The project is not trusted.
    None,
    /// The record cannot be read.
    Unknown,
    /// These.
    Of(RecordedProject),
}

impl RecordedPrograms {
    /// Returns true if one of the programs is recorded for `path`, or if that cannot be determined.
    pub(super) fn has(&self, path: &Path) -> bool {
        match self {
            Self::None => false,
            Self::Unknown => true,
            Self::Of(found) => {
                // By the name that it was recorded by.
                let name = name_below(Path::new(&found.key), path).ok().or_else(|| {
                    let plain = normalise(path)?;
                    Some(plain.strip_prefix(&found.key).ok()?.to_str()?.to_owned())
                });
                name.is_some_and(|name| found.record().programs.contains_key(&name))
            }
        }
    }
}

impl TrustState {
    fn from_changes(changed: Vec<String>) -> Self {
        if changed.is_empty() { Self::Trusted } else { Self::Changed { what: changed } }
    }
}

/// The trust in a project's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// The owner approved exactly this.
    Trusted,
    /// The owner was not asked, or withdrew the approval.
    Untrusted,
    /// The owner approved something else.
    Changed {
        /// The differences, one entry each ("`server.pylsp.command` of `servers.toml` was added").
        what: Vec<String>,
    },
}

impl TrustState {
    /// Returns true if the project may run the programs that it names.
    pub(crate) fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }
}

/// One trusted project.
#[cfg(any(all(test, unix), feature = "fuzzing"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedProject {
    /// Its canonical path when it was trusted.
    pub(crate) project: PathBuf,
    /// The trusted launch fields.
    pub(crate) fields: Vec<String>,
    /// The programs inside it that may run, relative to it.
    pub(crate) programs: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustStoreContent {
    version: u32,
    projects: BTreeMap<String, TrustRecord>,
    /// Projects whose owner was asked and declined.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    declined: BTreeMap<String, DeclinedProject>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclinedProject {
    device: u64,
    inode: u64,
    /// The hash of the items shown; `None` if the owner never wants to be asked about this project.
    shown: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustRecord {
    device: u64,
    inode: u64,
    /// Launch field → SHA-256 of its value, in hexadecimal digits.
    fields: BTreeMap<String, String>,
    /// Program, relative to the project → SHA-256 of its content.
    programs: BTreeMap<String, String>,
    /// Text for models to follow, relative to the project → SHA-256 of it.
    #[serde(default)]
    texts: BTreeMap<String, String>,
    /// The project's own tools: the SHA-256 of the parts for which each needs trust.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, String>,
}

impl TrustStore {
    /// Opens the store in the user's state folder, which need not exist yet.
    ///
    /// # Errors
    /// The store exists and cannot be read, or is damaged. A store that others can write is checked
    /// again, and rejected, at every question.
    pub(crate) fn open(folders: &Folders) -> Result<Self, TrustError> {
        let trust = Self { folder: folders.state.clone(), kept: Arc::default() };
        match trust.read() {
            Ok(_) | Err(TrustError::Foreign { .. } | TrustError::Open { .. }) => Ok(trust),
            Err(error) => Err(error),
        }
    }

    /// Compares the trust record of `project` with exactly these launch fields and the present
    /// content of each of their programs.
    ///
    /// # Errors
    /// The store or the project's folder cannot be read.
    pub(crate) fn is_trusted(&self, project: &Path, fields: &LaunchFields) -> Result<TrustState, TrustError> {
        let Some(found) = self.find(project)? else { return Ok(TrustState::Untrusted) };
        let record = found.record();
        let mut what = found.changes_since_trusted([]);
        what.extend(differences(&record.fields, &fields.fields));
        for (program, hash) in &fields.programs {
            what.extend(difference(
                record.programs.get(program),
                Some(hash),
                &format!("the program `{program}`"),
            ));
        }
        for (text, hash) in &fields.texts {
            what.extend(difference(record.texts.get(text), Some(hash), &text_name(text)));
        }
        Ok(TrustState::from_changes(what))
    }

    /// Checks that `project` is still trusted with its present launch fields, given as they were
    /// read with its settings.
    ///
    /// # Errors
    /// A sentence with the reason; also if the store or the project's folder cannot be read.
    pub(crate) fn check_kept(&self, project: &Path, fields: &LaunchFields) -> Result<(), String> {
        match self.is_trusted(project, fields).map_err(|error| error.to_string())? {
            TrustState::Trusted => Ok(()),
            TrustState::Untrusted | TrustState::Changed { .. } => {
                Err("the project is no longer trusted as it was when its settings were read".to_owned())
            }
        }
    }

    /// Returns the pin of a program that lies inside `project` (`.venv/bin/pylsp`,
    /// `node_modules/.bin/eslint`), or the reason why it may not run. The program may run only if
    /// the owner trusted the project with exactly this content.
    ///
    /// # Errors
    /// The store, the project's folder or the program cannot be read, or the program lies outside.
    pub(crate) fn pin(
        &self,
        project: &Path,
        program: &Path,
    ) -> Result<Result<FilePin, TrustState>, TrustError> {
        let Some(found) = self.find(project)? else { return Ok(Err(TrustState::Untrusted)) };
        let (name, hash) = hash_file(project, program)?;
        let then = found.record().programs.get(&name);
        let what =
            found.changes_since_trusted(difference(then, Some(&hash), &format!("the program `{name}`")));
        Ok(match TrustState::from_changes(what) {
            TrustState::Trusted => Ok(FilePin { path: program.to_owned(), sha256: hash }),
            state => Err(state),
        })
    }

    /// Decides whether a text of `project` may be given to models as instructions. This needs the
    /// owner's trust in the project with exactly this `content`. `path` is relative to the project.
    ///
    /// # Errors
    /// The store or the project's folder cannot be read.
    pub(crate) fn text_state(
        &self,
        project: &Path,
        path: &str,
        content: &[u8],
    ) -> Result<TrustState, TrustError> {
        let Some(found) = self.find(project)? else { return Ok(TrustState::Untrusted) };
        let hash = hash_text(content);
        let then = found.record().texts.get(path);
        Ok(TrustState::from_changes(found.changes_since_trusted(difference(
            then,
            Some(&hash),
            &text_name(path),
        ))))
    }

    /// The programs that `project` was trusted with, regardless of their present content.
    pub(super) fn recorded_programs(&self, project: &Path) -> RecordedPrograms {
        match self.find(project) {
            Err(_) => RecordedPrograms::Unknown,
            Ok(None) => RecordedPrograms::None,
            Ok(Some(found)) => RecordedPrograms::Of(found),
        }
    }

    /// Returns the hooks with which `project` was trusted: those of its settings, and the texts
    /// whose paths begin with `start`. `fields` are its present launch fields.
    ///
    /// # Errors
    /// The store or the project's folder cannot be read.
    pub(crate) fn recorded_hooks(
        &self,
        project: &Path,
        fields: &LaunchFields,
        start: &str,
    ) -> Result<RecordedHooks, TrustError> {
        let Some(found) = self.find(project)? else { return Ok(RecordedHooks::default()) };
        let recorded = &found.record().fields;
        let has_hooks = recorded.keys().any(|name| name.starts_with("`hooks"));
        let lost = has_hooks && (*recorded != fields.fields || !found.changes_since_trusted([]).is_empty());
        Ok(RecordedHooks { texts: found.texts_below(start), lost })
    }

    /// Returns the trusted texts of `project` whose paths begin with `start`, including those that
    /// no longer exist.
    ///
    /// # Errors
    /// The store or the project's folder cannot be read.
    pub(crate) fn texts_below(&self, project: &Path, start: &str) -> Result<Vec<String>, TrustError> {
        Ok(self.find(project)?.map_or_else(Vec::new, |found| found.texts_below(start)))
    }

    /// Decides whether a tool of the project's own may run. This needs the owner's trust in the
    /// project with exactly this tool (`pin`: all that decides its behaviour, as in
    /// [`LaunchFields::add_tool`]). Other tools of the project do not matter.
    ///
    /// # Errors
    /// The store or the project's folder cannot be read.
    pub(crate) fn tool_state(&self, project: &Path, tool: &str, pin: &str) -> Result<TrustState, TrustError> {
        let Some(found) = self.find(project)? else { return Ok(TrustState::Untrusted) };
        let hash = hash_text(pin.as_bytes());
        let then = found.record().tools.get(tool);
        Ok(TrustState::from_changes(found.changes_since_trusted(difference(
            then,
            Some(&hash),
            &format!("the tool `{tool}`"),
        ))))
    }

    /// Trusts `project` with exactly these launch fields, programs, texts and tools, in place of
    /// the earlier ones.
    ///
    /// # Errors
    /// The store cannot be read or written; it is then unchanged.
    pub(crate) fn grant(&self, project: &Path, fields: &LaunchFields) -> Result<(), TrustError> {
        let (key, device, inode) = project_identity(project)?;
        let LaunchFields { fields, programs, texts, tools, .. } = fields.clone();
        let record = TrustRecord { device, inode, fields, programs, texts, tools };
        self.update_store(|store| {
            store.declined.remove(&key);
            store.projects.insert(key, record);
        })
    }

    /// Records that the owner of `project` declined: the items `shown` (a hash of them), or,
    /// without a hash, every question about this project. The project can still be trusted.
    ///
    /// # Errors
    /// The store cannot be read or written; it is then unchanged.
    pub(crate) fn decline(&self, project: &Path, shown: Option<String>) -> Result<(), TrustError> {
        let (key, device, inode) = project_identity(project)?;
        self.update_store(|store| {
            store.declined.insert(key, DeclinedProject { device, inode, shown });
        })
    }

    /// Returns true if the owner of `project` declined the items in `shown`, and is not asked
    /// again.
    ///
    /// # Errors
    /// The store or the project's folder cannot be read.
    pub(crate) fn is_declined(&self, project: &Path, shown: &str) -> Result<bool, TrustError> {
        let (key, device, inode) = project_identity(project)?;
        let store = self.read()?;
        let declined = store.declined.get(&key);
        let declined = declined.filter(|declined| (declined.device, declined.inode) == (device, inode));
        Ok(declined.is_some_and(|declined| declined.shown.as_ref().is_none_or(|then| then == shown)))
    }

    /// Revokes trust; returns true if there was any. `project` need not exist any more.
    ///
    /// # Errors
    /// The store cannot be read or written; it is then unchanged.
    pub(crate) fn revoke(&self, project: &Path) -> Result<bool, TrustError> {
        let path = canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let key = path.to_str().ok_or_else(|| TrustError::NotUtf8(path.display().to_string()))?;
        self.update_store(|store| store.projects.remove(key).is_some())
    }

    /// Returns every trusted project, by path.
    ///
    /// # Errors
    /// The store is not reliable.
    #[cfg(any(all(test, unix), feature = "fuzzing"))]
    pub(crate) fn list(&self) -> Result<Vec<TrustedProject>, TrustError> {
        let store = self.read()?;
        let trusted = store.projects.iter().map(|(project, record)| TrustedProject {
            project: project.into(),
            fields: record.fields.keys().cloned().collect(),
            programs: record.programs.keys().cloned().collect(),
        });
        Ok(trusted.collect())
    }

    /// Returns the store's record of `project`; `None` if it was not trusted.
    fn find(&self, project: &Path) -> Result<Option<RecordedProject>, TrustError> {
        let store = self.read()?;
        // Most users trust nothing, and the folder need not be checked.
        if store.projects.is_empty() {
            return Ok(None);
        }
        let (key, device, inode) = project_identity(project)?;
        Ok(store.projects.contains_key(&key).then_some(RecordedProject { store, key, device, inode }))
    }

    /// Returns the present content of the store, from memory if the file is unchanged. The folder's
    /// permissions are checked each time.
    fn read(&self) -> Result<Arc<TrustStoreContent>, TrustError> {
        let path = self.folder.join(TRUST_STORE);
        let now = SystemTime::now();
        let kept = self.kept.lock().clone();
        if let Some(kept) = kept.filter(|kept| FileStamp::from_path(&path) == Some(kept.stamp)) {
            self.check_folder()?;
            return Ok(kept.store);
        }
        let (store, read) = self.read_file(&path)?;
        let store = Arc::new(store);
        // An unsettled stamp could not show a further change.
        let settled = read.filter(|stamp| stamp.is_settled(now));
        *self.kept.lock() = settled.map(|stamp| KeptStore { stamp, store: Arc::clone(&store) });
        Ok(store)
    }

    fn check_folder(&self) -> Result<(), TrustError> {
        let failed = |error| TrustError::io("read", &self.folder, &error);
        check_owner_and_mode(&self.folder, &fs::metadata(&self.folder).map_err(failed)?)
    }

    /// Reads the store's file; also returns the state of the file that was read.
    fn read_file(&self, path: &Path) -> Result<(TrustStoreContent, Option<FileStamp>), TrustError> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok((
                    TrustStoreContent { version: TRUST_FORMAT_VERSION, ..TrustStoreContent::default() },
                    None,
                ));
            }
            Err(error) => return Err(TrustError::io("read", path, &error)),
        };
        self.check_folder()?;
        check_owner_and_mode(path, &file.metadata().map_err(|error| TrustError::io("read", path, &error))?)?;
        let stamp = FileStamp::of_file(&file);
        let damaged = |reason: String| TrustError::Damaged { file: path.display().to_string(), reason };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| damaged(error.to_string()))?;
        let store: TrustStoreContent =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if store.version != TRUST_FORMAT_VERSION {
            return Err(damaged(format!(
                "its version is {}, this program supports {TRUST_FORMAT_VERSION}",
                store.version
            )));
        }
        Ok((store, stamp))
    }

    /// Reads, changes and writes the store while no other process does.
    fn update_store<T>(&self, change: impl FnOnce(&mut TrustStoreContent) -> T) -> Result<T, TrustError> {
        match fs::metadata(&self.folder) {
            Ok(metadata) => check_owner_and_mode(&self.folder, &metadata)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(TrustError::io("read", &self.folder, &error)),
        }
        private::make_folder(&self.folder).map_err(|error| TrustError::io("make", &self.folder, &error))?;
        let path = self.folder.join(LOCK);
        let lock = private::open(private::open_options().write(true).create(true).truncate(false), &path)
            .map_err(|error| TrustError::io("open", &path, &error))?;
        acquire_lock(&lock, &path)?;
        let (mut store, _) = self.read_file(&self.folder.join(TRUST_STORE))?;
        let result = change(&mut store);
        self.write(&store)?;
        Ok(result)
    }

    fn write(&self, store: &TrustStoreContent) -> Result<(), TrustError> {
        let (path, fresh) = (self.folder.join(TRUST_STORE), self.folder.join(format!("{TRUST_STORE}.new")));
        let text = serde_json::to_vec_pretty(store)
            .map_err(|error| TrustError::io("write", &path, &io::Error::other(error)))?;
        // Only the holder of the lock gets here, so an existing file was left by a process that
        // died.
        if let Err(error) = fs::remove_file(&fresh)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(TrustError::io("replace", &fresh, &error));
        }
        let mut file = private::open(private::open_options().write(true).create_new(true), &fresh)
            .map_err(|error| TrustError::io("open", &fresh, &error))?;
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&fresh, &path))
            .and_then(|()| sync_folder(&self.folder))
            .map_err(|error| TrustError::io("write", &path, &error))
    }
}

/// Returns a project's key in the store, and its identity on the disk. `project` must contain no
/// links: if one has replaced a folder, the path leads to another project, about which nothing is
/// recorded.
fn project_identity(project: &Path) -> Result<(String, u64, u64), TrustError> {
    let path = canonicalize(project).map_err(|error| TrustError::io("find", project, &error))?;
    if path != project {
        let (path, now) = (project.display().to_string(), path.display().to_string());
        return Err(TrustError::Moved { path, now });
    }
    let identity = InodeIdentity::read(&path).map_err(|error| TrustError::io("read", &path, &error))?;
    let key = path.to_str().ok_or_else(|| TrustError::NotUtf8(path.display().to_string()))?;
    Ok((key.to_owned(), identity.device, identity.inode))
}

/// Takes the lock within a few seconds. Any process that may read the file can hold the lock
/// without end, so the wait is limited.
fn acquire_lock(lock: &File, path: &Path) -> Result<(), TrustError> {
    let until = Instant::now() + TRUST_LOCK_TIMEOUT;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                thread::sleep(TRUST_LOCK_RETRY_INTERVAL)
            }
            Err(TryLockError::WouldBlock) => {
                return Err(TrustError::Busy { lock: path.display().to_string() });
            }
            Err(TryLockError::Error(error)) => return Err(TrustError::io("lock", path, &error)),
        }
    }
}

fn check_owner_and_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), TrustError> {
    let name = || path.display().to_string();
    if !user::is_own(metadata) {
        return Err(TrustError::Foreign { path: name() });
    }
    if private::is_writable_by_others(metadata) {
        return Err(TrustError::Open { path: name() });
    }
    Ok(())
}

fn differences(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names = then.keys().chain(now.keys().filter(|name| !then.contains_key(*name)));
    names.filter_map(|name| difference(then.get(name), now.get(name), name)).collect()
}

fn difference(then: Option<&String>, now: Option<&String>, name: &str) -> Option<String> {
    match (then, now) {
        (Some(then), Some(now)) if then == now => None,
        (Some(_), Some(_)) => Some(escape_unprintable(&format!("{name} was changed"))),
        (None, Some(_)) => Some(escape_unprintable(&format!("{name} was added"))),
        (Some(_), None) => Some(escape_unprintable(&format!("{name} was removed"))),
        (None, None) => None,
    }
}

#[cfg(all(test, unix))]
mod tests;
