//! The locks of pip and npm recipes: every dependency pinned with its hash. They are the files of
//! `locks/`, compiled in.
//!
//! A recipe's packages are locked if some recipe has a lock for exactly these versions. The lock
//! does not cover machines for which it lists no build.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::config::spec::Recipe;
use crate::text::hex;

/// The path and the text of each file, each ended by NUL; `build.rs` packs them.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/locks.gz"));
/// The line of a lock for pip that names its packages.
const PACKAGES: &str = "# packages: ";
const REQUIREMENTS: &str = "requirements.txt";
const MANIFEST: &str = "package.json";
const PACKAGE_LOCK: &str = "package-lock.json";
/// The path, in a `package-lock.json`, of the folder that packages are installed in.
const ROOT: &str = "";

/// The locks of one recipe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RecipeLocks {
    /// `requirements.txt`, with the hashes of every package.
    pip: Option<String>,
    npm: Option<NpmLock>,
    /// The parts that are not locked, one sentence for each package manager.
    pub(crate) unlocked: Vec<String>,
}

/// A `package-lock.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NpmLock {
    text: String,
    content: PackageLock,
}

/// A machine, in npm's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NodeMachine {
    os: &'static str,
    cpu: &'static str,
    libc: Option<&'static str>,
}

/// The parts of `package-lock.json` that are read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PackageLock {
    packages: BTreeMap<String, LockedPackage>,
    /// Builds for machines that the registry did not have when the lock was made, by the package
    /// that they belong to. `locks/renew.py` adds them; npm ignores them.
    #[serde(default)]
    not_in_lock: BTreeMap<String, Vec<String>>,
}

/// One package of it, under the path of its folder. The one under [`ROOT`] depends on the packages
/// of the recipe.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LockedPackage {
    version: String,
    integrity: Option<String>,
    dependencies: BTreeMap<String, String>,
    optional_dependencies: BTreeMap<String, String>,
    os: MachineWords,
    cpu: MachineWords,
    libc: MachineWords,
}

/// The machines of a package: any if the list is empty, all but one if that has a "!" before it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum MachineWords {
    One(String),
    Many(Vec<String>),
}

impl RecipeLocks {
    /// Finds the locks for exactly the packages of `recipe`, on this machine.
    pub(crate) fn for_recipe(recipe: &Recipe) -> Self {
        if recipe.pip.is_empty() && recipe.npm.is_empty() && recipe.gem.is_empty() {
            return Self::default();
        }
        Self::find_in(&unpack_locks(), recipe, NodeMachine::here())
    }

    fn find_in(files: &BTreeMap<PathBuf, String>, recipe: &Recipe, machine: NodeMachine) -> Self {
        let mut locks = Self::default();
        let chosen = |manager: &str, packages: &[String]| {
            let (names, several) = (packages.join(", "), packages.len() > 1);
            let (are, they) = if several { ("are", "they depend") } else { ("is", "it depends") };
            format!("{names} {are} not locked: {manager} chooses the versions of what {they} on")
        };
        if !recipe.pip.is_empty() {
            locks.pip = files.values().find(|text| is_for(text, &recipe.pip)).cloned();
            locks.unlocked.extend(locks.pip.is_none().then(|| chosen("pip", &recipe.pip)));
        }
        if !recipe.npm.is_empty() {
            match NpmLock::find_in(files, &recipe.npm) {
                None => locks.unlocked.push(chosen("npm", &recipe.npm)),
                Some(lock) => match lock.missing_build(machine) {
                    Some(package) => locks.unlocked.push(format!(
                        "{}, since the lock holds no build of {package} for {}-{}",
                        chosen("npm", &recipe.npm),
                        machine.os,
                        machine.cpu
                    )),
                    None => locks.npm = Some(lock),
                },
            }
        }
        if !recipe.gem.is_empty() {
            locks.unlocked.push(chosen("gem", &recipe.gem));
        }
        locks
    }

    /// Returns true if the packages of pip are locked.
    pub(crate) fn has_pip(&self) -> bool {
        self.pip.is_some()
    }

    /// Returns true if the packages of npm are locked.
    pub(crate) fn has_npm(&self) -> bool {
        self.npm.is_some()
    }

    /// The requirements file for pip.
    pub(crate) fn requirements(folder: &Path) -> PathBuf {
        folder.join(REQUIREMENTS)
    }

    /// The names of all packages that are locked for pip.
    pub(crate) fn pip_names(&self) -> impl Iterator<Item = &str> {
        self.pip.iter().flat_map(|text| text.lines()).filter_map(parse_pinned).map(|(name, _)| name)
    }

    /// The package of npm that has this hash.
    pub(crate) fn npm_package(&self, integrity: &str) -> Option<String> {
        let lock = &self.npm.as_ref()?.content;
        let found =
            lock.packages.iter().find(|(_, package)| package.integrity.as_deref() == Some(integrity))?;
        Some(format!("{}@{}", name_in(found.0), found.1.version))
    }

    /// Returns a hash that identifies these locks; `None` if nothing is locked.
    pub(crate) fn digest(&self) -> Option<String> {
        let mut texts = self.pip.iter().chain(self.npm.iter().map(|npm| &npm.text)).peekable();
        texts.peek()?;
        let hash = texts.fold(Sha256::new(), |hash, text| hash.chain_update(text.as_bytes()));
        Some(hex(&hash.finalize()))
    }

    /// Writes the files that the package managers read below `folder`, npm's into `npm`.
    pub(crate) fn write(&self, folder: &Path, npm: &Path) -> io::Result<()> {
        if let Some(text) = &self.pip {
            fs::write(Self::requirements(folder), text)?;
        }
        if let Some(lock) = &self.npm {
            fs::create_dir_all(npm)?;
            fs::write(npm.join(MANIFEST), lock.manifest()?)?;
            fs::write(npm.join(PACKAGE_LOCK), &lock.text)?;
        }
        Ok(())
    }
}

impl NpmLock {
    fn find_in(files: &BTreeMap<PathBuf, String>, packages: &[String]) -> Option<Self> {
        let split = |package: &String| {
            package.rsplit_once('@').map(|(name, version)| (name.to_owned(), version.to_owned()))
        };
        let wanted: BTreeMap<String, String> = packages.iter().map(split).collect::<Option<_>>()?;
        // Parsing takes longer than finding a name, and most locks are for packages of other names.
        let locks = files.iter().filter(|(path, text)| {
            path.ends_with(PACKAGE_LOCK) && wanted.keys().all(|name| text.contains(name))
        });
        locks
            .filter_map(|(_, text)| Self::parse(text))
            .find(|lock| lock.content.packages.get(ROOT).is_some_and(|root| root.dependencies == wanted))
    }

    fn parse(text: &str) -> Option<Self> {
        Some(Self { text: text.to_owned(), content: serde_json::from_str(text).ok()? })
    }

    /// The text of the `package.json` that npm requires beside the lock: the entry of [`ROOT`].
    fn manifest(&self) -> serde_json::Result<String> {
        let lock: Value = serde_json::from_str(&self.text)?;
        Ok(lock["packages"][ROOT].to_string())
    }

    /// Returns a package with builds for single machines, if the lock has none for `machine`.
    fn missing_build(&self, machine: NodeMachine) -> Option<String> {
        let lock = &self.content;
        let has_build = |package: &str| {
            let keys = lock.packages.iter().filter(|(key, _)| name_in(key) == package);
            let builds = keys.flat_map(|(key, entry)| {
                entry.optional_dependencies.keys().filter_map(|name| lock.resolved(key, name))
            });
            builds.into_iter().any(|build| build.is_for_some() && build.fits(machine))
        };
        lock.not_in_lock.keys().find(|package| !has_build(package)).cloned()
    }
}

impl PackageLock {
    /// Returns the package that `name` resolves to in the folder `key`: the nearest one.
    fn resolved(&self, key: &str, name: &str) -> Option<&LockedPackage> {
        let mut folder = key;
        loop {
            let slash = if folder.is_empty() { "" } else { "/" };
            if let Some(found) = self.packages.get(&format!("{folder}{slash}node_modules/{name}")) {
                return Some(found);
            }
            if folder.is_empty() {
                return None;
            }
            folder = folder.rfind("/node_modules/").map_or("", |end| &folder[..end]);
        }
    }
}

impl LockedPackage {
    /// Returns true if the package is limited to some machines.
    fn is_for_some(&self) -> bool {
        !self.os.list().is_empty() || !self.cpu.list().is_empty()
    }

    fn fits(&self, machine: NodeMachine) -> bool {
        let libc = machine.libc.is_none_or(|libc| self.libc.allow(libc));
        self.os.allow(machine.os) && self.cpu.allow(machine.cpu) && libc
    }
}

impl Default for MachineWords {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl MachineWords {
    fn list(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Many(words) => words,
        }
    }

    fn allow(&self, word: &str) -> bool {
        let (not, only): (Vec<_>, Vec<_>) = self.list().iter().partition(|word| word.starts_with('!'));
        let forbidden = not.iter().any(|one| one[1..] == *word);
        !forbidden && (only.is_empty() || only.iter().any(|one| *one == word))
    }
}

impl NodeMachine {
    fn here() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let cpu = match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            "x86" => "ia32",
            other => other,
        };
        Self { os, cpu, libc: (os == "linux").then(libc) }
    }
}

/// Returns the C library that programs of this machine are linked with. Its loader reveals it,
/// regardless of the library of this program.
fn libc() -> &'static str {
    let loads = |folder: &str, start: &str| {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with(start))
    };
    let glibc = ["/lib64", "/lib"].iter().any(|folder| loads(folder, "ld-linux"));
    if !glibc && loads("/lib", "ld-musl-") { "musl" } else { "glibc" }
}

/// Unpacks every lock, by its path in the repository. The compiled-in data is always valid, or no
/// test passes.
fn unpack_locks() -> BTreeMap<PathBuf, String> {
    let mut text = String::new();
    if let Err(error) = GzDecoder::new(PACKED).read_to_string(&mut text) {
        tracing::error!("the locks cannot be unpacked: {error}");
    }
    let mut words = text.split('\0').map(str::to_owned);
    std::iter::from_fn(|| Some((PathBuf::from(words.next()?), words.next()?))).collect()
}

/// Returns true if a lock for pip is for these packages.
fn is_for(text: &str, packages: &[String]) -> bool {
    let named = text.lines().next().and_then(|line| line.strip_prefix(PACKAGES));
    named.is_some_and(|named| named.split(' ').eq(packages.iter().map(String::as_str)))
}

/// The name and version on a line of a lock for pip ("ruff==0.17.6 \").
fn parse_pinned(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once("==").filter(|(name, _)| !name.starts_with([' ', '#']))?;
    let name = name.split('[').next().unwrap_or(name);
    Some((name, rest.split([' ', ';']).next().unwrap_or(rest)))
}

/// The package in a folder of node_modules.
fn name_in(key: &str) -> &str {
    key.rsplit_once("node_modules/").map_or(key, |(_, name)| name)
}

#[cfg(test)]
mod tests;
