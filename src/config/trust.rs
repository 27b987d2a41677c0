//! Whose word on what to run counts: the store of trusted projects.
//!
//! Trust is given to one folder (its canonical path and its identity on the disk) and to exactly the launch fields that
//! it had then: `command`, `env`, `install`, `settings`, `initialization-options`, `hollow` and the protections of every
//! server and the choice of servers in the project's own files, and to the content of each program inside the project
//! that was resolved then; what such a program loads in its turn belongs to the trusted project and is not recorded. The
//! store lies in the user's state folder, never in the project, and is read anew for every question, so that one
//! process sees what another one granted or revoked.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::printable;
use super::folders::Folders;
use super::launch::{LaunchFields, hash_file, hash_text, text_name};
use super::pin::Pin;
use crate::workspace::private;

pub(super) const STORE: &str = "trust.json";
const LOCK: &str = "trust.lock";
const VERSION: u32 = 1;

/// The store of trusted projects.
#[derive(Debug, Clone)]
pub struct Trust {
    folder: PathBuf,
}

/// Whether a project's word counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustState {
    /// Its owner said yes to exactly this.
    Trusted,
    /// Nobody was asked, or the answer was taken back.
    Untrusted,
    /// Its owner said yes to something else.
    Changed {
        /// What differs, one entry each ("`server.pylsp.command` of `servers.toml` was added").
        what: Vec<String>,
    },
}

impl TrustState {
    /// Whether it may run what it says.
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }
}

/// One trusted project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// Its canonical path when it was trusted.
    pub project: PathBuf,
    /// The launch fields that count.
    pub fields: Vec<String>,
    /// The programs inside it that may run, relative to it.
    pub programs: Vec<String>,
}

/// Trust cannot be asked or kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The store is there and says nothing that can be understood.
    #[error(
        "the trust store `{file}` is damaged ({reason}); nothing is trusted until it is mended, or deleted and every project trusted again by `lsp-tools trust`"
    )]
    Damaged {
        /// The store.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// Others can write it.
    #[error(
        "`{path}` can be changed by other users, so what it says cannot be believed; run: chmod go-w '{path}'"
    )]
    Open {
        /// The store or its folder.
        path: String,
    },
    /// It belongs to somebody else.
    #[error(
        "`{path}` belongs to another user, so what it says cannot be believed; set LSP_TOOLS_STATE_DIR to a folder of your own"
    )]
    Foreign {
        /// The store or its folder.
        path: String,
    },
    /// The file system refused.
    #[error("cannot {action} `{path}`: {reason}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The path has no exact spelling in the store.
    #[error("`{0}` is not UTF-8 and cannot be trusted; rename the folder or the file")]
    NotUtf8(String),
    /// A program that is to be trusted with a project is not part of it.
    #[error("`{0}` does not lie inside the project, so trust in the project says nothing of it")]
    Outside(String),
}

impl TrustError {
    pub(super) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Io { action, path: path.display().to_string(), reason: error.to_string() }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Store {
    version: u32,
    projects: BTreeMap<String, Record>,
    /// Projects whose owner was asked and said no.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    declined: BTreeMap<String, Declined>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declined {
    device: u64,
    inode: u64,
    /// The hash of what was shown; none where the owner never wants to be asked about this project.
    shown: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    device: u64,
    inode: u64,
    /// Launch field → SHA-256 of its value, in hexadecimal digits.
    fields: BTreeMap<String, String>,
    /// Program, relative to the project → SHA-256 of its content.
    programs: BTreeMap<String, String>,
    /// Text that models are to follow, relative to the project → SHA-256 of it.
    #[serde(default)]
    texts: BTreeMap<String, String>,
    /// Dropped-in tool → SHA-256 of what it needs trust for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, String>,
}

impl Trust {
    /// The store in the user's state folder, which need not be there yet.
    ///
    /// # Errors
    /// When the store is there and cannot be read, or is damaged. One that others can write is seen again, and not believed, by
    /// every question to it.
    pub fn open(folders: &Folders) -> Result<Self, TrustError> {
        let trust = Self { folder: folders.state.clone() };
        match trust.read() {
            Ok(_) | Err(TrustError::Foreign { .. } | TrustError::Open { .. }) => Ok(trust),
            Err(error) => Err(error),
        }
    }

    /// Whether `project` was trusted with exactly these launch fields, and each of their programs as it is now.
    ///
    /// # Errors
    /// When the store or the project's folder cannot be read.
    pub fn is_trusted(&self, project: &Path, fields: &LaunchFields) -> Result<TrustState, TrustError> {
        let (key, device, inode) = identity(project)?;
        let Some(record) = self.read()?.projects.remove(&key) else { return Ok(TrustState::Untrusted) };
        let mut what = Vec::new();
        if (record.device, record.inode) != (device, inode) {
            what.push(format!("the folder `{key}` was replaced by another"));
        }
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
        Ok(if what.is_empty() { TrustState::Trusted } else { TrustState::Changed { what } })
    }

    /// What a program that lies inside `project` (`.venv/bin/pylsp`, `node_modules/.bin/eslint`) must be when it runs, or why it
    /// may not: it runs only where its owner trusted the project when the program was this one.
    ///
    /// # Errors
    /// When the store, the project's folder or the program cannot be read, or the program lies outside.
    pub fn pin(&self, project: &Path, program: &Path) -> Result<Result<Pin, TrustState>, TrustError> {
        let (key, device, inode) = identity(project)?;
        let Some(record) = self.read()?.projects.remove(&key) else { return Ok(Err(TrustState::Untrusted)) };
        let (name, hash) = hash_file(project, program)?;
        let mut what = difference(record.programs.get(&name), Some(&hash), &format!("the program `{name}`"))
            .into_iter()
            .collect::<Vec<_>>();
        if (record.device, record.inode) != (device, inode) {
            what.push(format!("the folder `{key}` was replaced by another"));
        }
        Ok(match what.is_empty() {
            true => Ok(Pin { path: program.to_owned(), sha256: hash }),
            false => Err(TrustState::Changed { what }),
        })
    }

    /// Whether a text of `project` may be given to models to follow: only where its owner trusted the project when it said
    /// exactly `content`. `path` is relative to the project.
    ///
    /// # Errors
    /// When the store or the project's folder cannot be read.
    pub fn text_state(&self, project: &Path, path: &str, content: &[u8]) -> Result<TrustState, TrustError> {
        let (key, device, inode) = identity(project)?;
        let Some(record) = self.read()?.projects.remove(&key) else { return Ok(TrustState::Untrusted) };
        let hash = hash_text(content);
        let mut what =
            difference(record.texts.get(path), Some(&hash), &text_name(path)).into_iter().collect::<Vec<_>>();
        if (record.device, record.inode) != (device, inode) {
            what.push(format!("the folder `{key}` was replaced by another"));
        }
        Ok(if what.is_empty() { TrustState::Trusted } else { TrustState::Changed { what } })
    }

    /// The texts of `project` that were trusted and whose paths begin with `start`, also those that are gone since.
    ///
    /// # Errors
    /// When the store or the project's folder cannot be read.
    pub fn texts_below(&self, project: &Path, start: &str) -> Result<Vec<String>, TrustError> {
        let (key, _, _) = identity(project)?;
        let Some(record) = self.read()?.projects.remove(&key) else { return Ok(Vec::new()) };
        Ok(record.texts.into_keys().filter(|path| path.starts_with(start)).collect())
    }

    /// Whether a tool that the project drops in may run: only where its owner trusted the project when the tool was this one
    /// (`pin`: all that decides what it does, as in [`LaunchFields::add_tool`]). Other tools of the project do not matter.
    ///
    /// # Errors
    /// When the store or the project's folder cannot be read.
    pub fn tool_state(&self, project: &Path, tool: &str, pin: &str) -> Result<TrustState, TrustError> {
        let (key, device, inode) = identity(project)?;
        let Some(record) = self.read()?.projects.remove(&key) else { return Ok(TrustState::Untrusted) };
        let hash = super::launch::hash_text(pin.as_bytes());
        let what = format!("the tool `{tool}`");
        let mut what = difference(record.tools.get(tool), Some(&hash), &what).into_iter().collect::<Vec<_>>();
        if (record.device, record.inode) != (device, inode) {
            what.push(format!("the folder `{key}` was replaced by another"));
        }
        Ok(if what.is_empty() { TrustState::Trusted } else { TrustState::Changed { what } })
    }

    /// Trusts `project` with exactly these launch fields, programs, texts and tools, in place of what it was trusted with before.
    ///
    /// # Errors
    /// When the store cannot be read or written; it is then as it was.
    pub fn grant(&self, project: &Path, fields: &LaunchFields) -> Result<(), TrustError> {
        let (key, device, inode) = identity(project)?;
        let LaunchFields { fields, programs, texts, tools, .. } = fields.clone();
        let record = Record { device, inode, fields, programs, texts, tools };
        self.change(|store| {
            store.declined.remove(&key);
            store.projects.insert(key, record);
        })
    }

    /// Notes that the owner of `project` was asked and said no: to what was `shown` (a hash of it), or, without one, to ever
    /// being asked about this project. The project can be trusted all the same.
    ///
    /// # Errors
    /// When the store cannot be read or written; it is then as it was.
    pub fn decline(&self, project: &Path, shown: Option<String>) -> Result<(), TrustError> {
        let (key, device, inode) = identity(project)?;
        self.change(|store| {
            store.declined.insert(key, Declined { device, inode, shown });
        })
    }

    /// Whether the owner of `project` said no to what is `shown`, and is not to be asked again.
    ///
    /// # Errors
    /// When the store or the project's folder cannot be read.
    pub fn is_declined(&self, project: &Path, shown: &str) -> Result<bool, TrustError> {
        let (key, device, inode) = identity(project)?;
        let declined = self.read()?.declined.remove(&key);
        let declined = declined.filter(|declined| (declined.device, declined.inode) == (device, inode));
        Ok(declined.is_some_and(|declined| declined.shown.is_none_or(|then| then == shown)))
    }

    /// Takes trust back; tells whether there was any. `project` need not exist any more.
    ///
    /// # Errors
    /// When the store cannot be read or written; it is then as it was.
    pub fn revoke(&self, project: &Path) -> Result<bool, TrustError> {
        let path = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let key = path.to_str().ok_or_else(|| TrustError::NotUtf8(path.display().to_string()))?;
        self.change(|store| store.projects.remove(key).is_some())
    }

    /// Every trusted project, by path.
    ///
    /// # Errors
    /// When the store cannot be believed.
    pub fn list(&self) -> Result<Vec<Trusted>, TrustError> {
        let trusted = self.read()?.projects.into_iter().map(|(project, record)| Trusted {
            project: project.into(),
            fields: record.fields.into_keys().collect(),
            programs: record.programs.into_keys().collect(),
        });
        Ok(trusted.collect())
    }

    fn read(&self) -> Result<Store, TrustError> {
        let path = self.folder.join(STORE);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Store { version: VERSION, ..Store::default() });
            }
            Err(error) => return Err(TrustError::io("read", &path, &error)),
        };
        believable(
            &self.folder,
            &fs::metadata(&self.folder).map_err(|error| TrustError::io("read", &self.folder, &error))?,
        )?;
        believable(&path, &file.metadata().map_err(|error| TrustError::io("read", &path, &error))?)?;
        let damaged = |reason: String| TrustError::Damaged { file: path.display().to_string(), reason };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| damaged(error.to_string()))?;
        let store: Store = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if store.version != VERSION {
            return Err(damaged(format!("its version is {}, this program knows {VERSION}", store.version)));
        }
        Ok(store)
    }

    /// Reads, changes and writes the store while no other process does.
    fn change<T>(&self, change: impl FnOnce(&mut Store) -> T) -> Result<T, TrustError> {
        match fs::metadata(&self.folder) {
            Ok(metadata) => believable(&self.folder, &metadata)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(TrustError::io("read", &self.folder, &error)),
        }
        private::make_folder(&self.folder).map_err(|error| TrustError::io("make", &self.folder, &error))?;
        let path = self.folder.join(LOCK);
        let lock = private::open(private::options().write(true).create(true).truncate(false), &path)
            .map_err(|error| TrustError::io("open", &path, &error))?;
        lock.lock().map_err(|error| TrustError::io("lock", &path, &error))?;
        let mut store = self.read()?;
        let result = change(&mut store);
        self.write(&store)?;
        Ok(result)
    }

    fn write(&self, store: &Store) -> Result<(), TrustError> {
        let (path, fresh) = (self.folder.join(STORE), self.folder.join(format!("{STORE}.new")));
        let text = serde_json::to_vec_pretty(store)
            .map_err(|error| TrustError::io("write", &path, &io::Error::other(error)))?;
        // Only the holder of the lock gets here, so what lies there was left by a process that died.
        if let Err(error) = fs::remove_file(&fresh)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(TrustError::io("replace", &fresh, &error));
        }
        let mut file = private::open(private::options().write(true).create_new(true), &fresh)
            .map_err(|error| TrustError::io("open", &fresh, &error))?;
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&fresh, &path))
            .and_then(|()| File::open(&self.folder)?.sync_all())
            .map_err(|error| TrustError::io("write", &path, &error))
    }
}

/// A project's key in the store, and its identity on the disk.
fn identity(project: &Path) -> Result<(String, u64, u64), TrustError> {
    let path = fs::canonicalize(project).map_err(|error| TrustError::io("find", project, &error))?;
    let metadata = fs::metadata(&path).map_err(|error| TrustError::io("read", &path, &error))?;
    let key = path.to_str().ok_or_else(|| TrustError::NotUtf8(path.display().to_string()))?;
    Ok((key.to_owned(), metadata.dev(), metadata.ino()))
}

fn believable(path: &Path, metadata: &fs::Metadata) -> Result<(), TrustError> {
    let name = || path.display().to_string();
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(TrustError::Foreign { path: name() });
    }
    if metadata.mode() & 0o022 != 0 {
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
        (Some(_), Some(_)) => Some(printable(&format!("{name} was changed"))),
        (None, Some(_)) => Some(printable(&format!("{name} was added"))),
        (Some(_), None) => Some(printable(&format!("{name} was removed"))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
