//! Caches of package managers and build tools for commands, one set per workspace.
//!
//! Files that a command leaves in the user's caches would later run without a sandbox: npx runs
//! packages unpacked before, cargo runs build scripts of crates, pre-commit runs its hooks. So the
//! user's caches are read-only for commands, and variables redirect each tool of the [`table`] to a
//! folder for commands. The user's entries appear there as links ([`mirror`]), made before the
//! first command and again after the user's folders have changed. Unused caches are removed
//! ([`cleanup`]).
//!
//! The module may use the same modules as tools. Its functions block and are called off the async
//! threads.

mod cleanup;
mod mirror;
mod table;

use crate::platform::canonicalize;
use crate::platform::files::AsFd;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::mirror::{MirrorStamp, copy, mirror_folder, stat_stamp};
use self::table::{CachingTool, RedirectVariable, TOOLS, VariableCondition};
use crate::platform::private;
use crate::text::hex;
use crate::workspace::Workspace;

pub(super) use self::table::SHARED;

/// The folder for all workspaces, below the user's folder for caches.
const COMMANDS: &str = "commands";
/// The folder that commands write to, below the folder of their workspace. Commands cannot write to
/// the other files there, which hold its state.
const OWN: &str = "own";
const SHOWN: &str = "shown.json";
const MOST_SHOWN_BYTES: u64 = 1 << 20;
/// The timeout for mirroring the user's caches.
const CACHE_MIRROR_TIMEOUT: Duration = Duration::from_secs(10);

/// The inputs that determine the caches of a command.
#[derive(Debug)]
pub(crate) struct CachesWanted {
    /// The user's folder for this program's caches.
    pub cache: PathBuf,
    /// The root of the workspace.
    pub root: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folders that commands may write to in any case, without links. A tool whose cache is
    /// there is not redirected.
    pub writable: Vec<PathBuf>,
    /// The environment variables of commands.
    pub environment: BTreeMap<OsString, OsString>,
}

/// The caches of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandCaches {
    /// The folder that contains them all.
    pub folder: PathBuf,
    /// The variables that redirect tools there.
    pub env: BTreeMap<OsString, OsString>,
}

/// The error that commands have no caches.
#[derive(Debug, thiserror::Error)]
#[error("commands have no own caches here, and cannot write yours: {}: {source}", path.display())]
pub(crate) struct NoCaches {
    path: PathBuf,
    source: io::Error,
}

/// A tool that is redirected to a cache of the commands' own, with its two folders.
#[derive(Debug)]
struct RedirectedTool {
    tool: &'static CachingTool,
    user_folder: Option<PathBuf>,
    own_folder: PathBuf,
}

/// The record of a mirror, which shows when it is out of date.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct MirrorRecord {
    /// The version that made the mirror, and its redirections.
    by: String,
    looks: Vec<MirrorStamp>,
}

/// Serializes mirroring in this process: a second caller finds it done.
static SHOW: Mutex<()> = Mutex::new(());

impl CachesWanted {
    /// Creates missing caches.
    ///
    /// # Errors
    /// If the folder cannot be created or written.
    pub(crate) fn make(&self) -> Result<CommandCaches, NoCaches> {
        let base = self.base_folder();
        let folder = base.join(OWN);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| NoCaches { path, source }
        };
        private::make_folder(&folder).map_err(failed(&folder))?;
        let led: Vec<RedirectedTool> =
            TOOLS.iter().filter_map(|tool| self.redirect_tool(tool, &folder)).collect();
        self.mirror_user_files(&base, &folder, &led).map_err(failed(&base))?;
        Ok(CommandCaches { env: self.env(&led), folder })
    }

    /// Removes the caches of workspaces that were deleted or not used for long. The search runs
    /// once a day.
    pub(crate) fn clear_others(&self) {
        let base = self.base_folder();
        let to_look = cleanup::begins_a_day(&base, &self.root);
        cleanup::clear(&self.cache.join(COMMANDS), &base, to_look);
    }

    fn base_folder(&self) -> PathBuf {
        let digest = Sha256::digest(self.root.as_os_str().as_encoded_bytes());
        self.cache.join(COMMANDS).join(hex(&digest[..16]))
    }

    fn redirect_tool(&self, tool: &'static CachingTool, folder: &Path) -> Option<RedirectedTool> {
        let home = self.home.as_deref().map(Path::as_os_str);
        let theirs = tool.users.iter().find_map(|entry| {
            let whole = expand(entry, home, |name| {
                let given = self.environment.get(OsStr::new(name)).cloned();
                given.or_else(|| std::env::var_os(name))
            })?;
            // Go has a list of folders, of which the first is written.
            let bytes = whole.as_os_str().as_encoded_bytes();
            let first = match bytes.contains(&b':') && entry.starts_with('$') {
                true => PathBuf::from(whole.to_str()?.split(':').next()?),
                false => whole,
            };
            first.is_absolute().then_some(first)
        });
        let stays = theirs.as_ref().is_some_and(|theirs| {
            let written = if tool.writes.is_empty() { theirs.clone() } else { theirs.join(tool.writes) };
            let written = canonicalize(&written).unwrap_or(written);
            self.writable.iter().any(|open| written.starts_with(open))
        });
        let led = RedirectedTool { tool, user_folder: theirs, own_folder: folder.join(tool.folder) };
        (!stays && tool.leads.iter().any(|lead| self.is_set(&led, lead))).then_some(led)
    }

    /// Mirrors the user's files in `folder`, if that has not been done or the user's folders have
    /// changed.
    fn mirror_user_files(&self, base: &Path, folder: &Path, led: &[RedirectedTool]) -> io::Result<()> {
        let theirs: Vec<_> = led.iter().map(|one| (one.tool.folder, &one.user_folder)).collect();
        let by = format!("{} {theirs:?}", env!("CARGO_PKG_VERSION"));
        let path = base.join(SHOWN);
        let shown = || {
            let text = Workspace::read_outside(&path, MOST_SHOWN_BYTES).ok()?;
            serde_json::from_str::<MirrorRecord>(&text).ok().filter(|shown| shown.by == by)
        };
        let holds = |shown: &MirrorRecord| shown.looks.iter().all(|(at, was)| stat_stamp(at) == *was);
        if shown().as_ref().is_some_and(holds) {
            return Ok(());
        }
        // Any work left unfinished under this lock is repeated later.
        let _turn = SHOW.lock();
        let before = shown();
        if before.as_ref().is_some_and(holds) {
            return Ok(());
        }
        let until = Instant::now() + CACHE_MIRROR_TIMEOUT;
        let mut looks = Vec::new();
        for one in led {
            let own = mirror::open(folder, one.tool.folder)?;
            let Some(theirs) = &one.user_folder else { continue };
            for mirror in one.tool.mirrors {
                looks.extend(mirror_folder(mirror, theirs, own.as_fd(), until)?);
            }
            for file in one.tool.copies {
                let stamped = (theirs.join(file), stat_stamp(&theirs.join(file)));
                // The tool's changes to the previous copy are lost.
                if stamped.1.is_some() && !before.as_ref().is_some_and(|shown| shown.looks.contains(&stamped))
                {
                    copy(file, theirs, own.as_fd())?;
                }
                looks.push(stamped);
            }
        }
        // A path that is not text cannot be recorded; its changes are detected together with
        // others.
        looks.retain(|(path, _)| path.to_str().is_some());
        let text = serde_json::to_vec(&MirrorRecord { by, looks })?;
        let mut file = tempfile::NamedTempFile::new_in(base)?;
        io::Write::write_all(&mut file, &text)?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    }

    fn env(&self, led: &[RedirectedTool]) -> BTreeMap<OsString, OsString> {
        let set = led.iter().flat_map(|one| one.tool.leads.iter().map(move |lead| (one, lead)));
        set.filter_map(|(one, lead)| Some((lead.variable.into(), self.variable_value(one, lead)?))).collect()
    }

    fn given(&self, lead: &RedirectVariable) -> &OsStr {
        self.environment.get(OsStr::new(lead.variable)).map(OsString::as_os_str).unwrap_or_default()
    }

    fn is_set(&self, led: &RedirectedTool, lead: &RedirectVariable) -> bool {
        let has_blank = |path: &Path| path.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_whitespace);
        let theirs = led.user_folder.as_deref();
        match lead.when {
            VariableCondition::Always => true,
            VariableCondition::Given => !self.given(lead).is_empty(),
            VariableCondition::There(part) => theirs.is_some_and(|theirs| theirs.join(part).exists()),
            VariableCondition::Unbroken => {
                !has_blank(&led.own_folder) && theirs.is_some_and(|theirs| !has_blank(theirs))
            }
        }
    }

    /// The value of the variable, if it is set.
    fn variable_value(&self, led: &RedirectedTool, lead: &RedirectVariable) -> Option<OsString> {
        let given = self.given(lead);
        let others = given.to_str().and_then(|all| all.find(':').map(|at| &all[at..])).unwrap_or_default();
        let theirs = led.user_folder.as_deref().map(Path::as_os_str).unwrap_or_default();
        let parts = [
            ("{own}", led.own_folder.as_os_str()),
            ("{theirs}", theirs),
            ("{given}", given),
            ("{others}", OsStr::new(others)),
        ];
        self.is_set(led, lead).then(|| fill_template(lead.value, &parts))
    }
}

/// `form` with each of these placeholders replaced.
fn fill_template(form: &str, parts: &[(&str, &OsStr)]) -> OsString {
    let mut out = OsString::new();
    let mut rest = form;
    while let Some((at, (word, value))) =
        parts.iter().filter_map(|part| Some((rest.find(part.0)?, part))).min_by_key(|(at, _)| *at)
    {
        out.push(&rest[..at]);
        out.push(value);
        rest = &rest[at + word.len()..];
    }
    out.push(rest);
    out
}

/// Expands a leading `~` or variable in `entry`; `None` if the variable is not set.
pub(super) fn expand(
    entry: &str,
    home: Option<&OsStr>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<PathBuf> {
    let (first, rest) = entry.split_once('/').unwrap_or((entry, ""));
    let base = match first.strip_prefix('$') {
        Some(name) => variable(name).filter(|value| !value.is_empty())?,
        None if first == "~" => home?.to_owned(),
        None => return Some(PathBuf::from(entry)),
    };
    let base = PathBuf::from(base);
    Some(if rest.is_empty() { base } else { base.join(rest) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Component;

    use super::*;

    fn wanted(base: &Path, given: &[(&str, &str)]) -> CachesWanted {
        // Independent of the variables of this process.
        let users = TOOLS.iter().flat_map(|tool| tool.users).filter_map(|entry| entry.strip_prefix('$'));
        let unset = users.map(|name| (name.into(), OsString::new()));
        let given = given.iter().map(|(name, value)| (name.into(), value.into()));
        CachesWanted {
            cache: base.join("cache"),
            root: base.join("code"),
            home: Some(base.join("home")),
            writable: vec![base.join("code")],
            environment: unset.chain(given).collect(),
        }
    }

    #[test]
    fn cache_folder_and_variables_are_unique_per_tool() {
        let folders: BTreeSet<_> = TOOLS.iter().map(|tool| tool.folder).collect();
        assert_eq!(folders.len(), TOOLS.len());
        let mut variables = BTreeSet::new();
        for tool in TOOLS {
            let own: BTreeSet<_> = tool.leads.iter().map(|lead| lead.variable).collect();
            for variable in own {
                assert!(variables.insert(variable), "{variable}");
            }
            for path in tool.mirrors.iter().map(|mirror| mirror.of).chain(tool.copies.iter().copied()) {
                assert!(
                    Path::new(path).components().all(|part| matches!(part, Component::Normal(_))),
                    "{path}"
                );
            }
        }
        let temp = tempfile::tempdir().unwrap();
        let caches =
            wanted(temp.path(), &[("UV_CACHE_DIR", "/u"), ("NPM_CONFIG_CACHE", "/n")]).make().unwrap();
        for (variable, value) in &caches.env {
            let value = value.to_str().unwrap();
            assert!(
                value.contains(caches.folder.to_str().unwrap()) && !value.contains('{'),
                "{variable:?} {value}"
            );
        }
        assert_eq!(caches.env[OsStr::new("NPM_CONFIG_CACHE")], caches.env[OsStr::new("npm_config_cache")]);
        assert!(!caches.env.contains_key(OsStr::new("PIP_CACHE_DIR")), "it follows XDG_CACHE_HOME");
    }

    #[test]
    #[cfg_attr(windows, ignore = "commands have no sandbox on Windows, and no caches of their own")]
    fn cache_variable_keeps_its_other_entries() {
        let temp = tempfile::tempdir().unwrap();
        let inside = temp.path().join("code/.npm");
        let given = [
            ("GOPATH", "/one:/two"),
            ("MAVEN_OPTS", "-Xmx1g"),
            ("npm_config_cache", inside.to_str().unwrap()),
        ];
        let caches = wanted(temp.path(), &given).make().unwrap();
        let value = |name: &str| caches.env.get(OsStr::new(name)).map(|value| value.to_str().unwrap());
        assert!(value("GOPATH").unwrap().ends_with("/own/go:/two"), "{caches:?}");
        assert!(value("MAVEN_OPTS").unwrap().starts_with("-Xmx1g -Dmaven.repo.local=/"), "{caches:?}");
        assert_eq!(value("npm_config_cache"), None, "commands write it anyway");
        // Maven would treat the text after a blank as another option.
        let blank = temp.path().join("a b");
        let caches = wanted(&blank, &given).make().unwrap();
        assert!(
            !caches.env.contains_key(OsStr::new("MAVEN_OPTS"))
                && caches.env.contains_key(OsStr::new("GOPATH"))
        );
    }
}
