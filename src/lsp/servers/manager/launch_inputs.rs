//! Inputs of a server's start from files of the project: an environment with its packages, a build
//! file, and settings. When one changes, a server that would not notice is restarted
//! ([`recheck`](super::recheck)).

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inspected_files::InspectedFiles;
use super::python::RootEnvironment;
use super::setup::ManagerSetup;
use crate::config::BuildFileSearch;
use crate::config::spec::{RegexPattern, ServerSpec};
use crate::lsp::servers::judge;
use crate::lsp::servers::judge::PinnedVersion;
use crate::lsp::servers::locate;
use crate::lsp::servers::project::shortfall::Shortfall;
use crate::platform::inode;
use crate::workspace::{FileStamp, Workspace, WorkspacePath};

/// The largest build file that is hashed, in bytes; of others only the stamp counts.
const MAX_HASHED_FILE_BYTES: u64 = 64 << 20;

/// The inputs of a launch that were found for a server and a root.
#[derive(Debug)]
pub(crate) struct LaunchInputs {
    /// The environment.
    pub(crate) python: RootEnvironment,
    /// The build file.
    pub(crate) build: BuildFileSearch,
    /// The missing set-up of the project, as far as it makes diagnostics incomplete.
    pub(crate) lack: Option<String>,
    /// The server's table with the settings that depend on the root's files.
    pub(crate) spec: Arc<ServerSpec>,
    decisive: RestartInputs,
    inspected: InspectedFiles,
}

/// The inputs whose change restarts a server, beside the table of settings.
#[derive(Debug, PartialEq)]
struct RestartInputs {
    environment: Option<PathBuf>,
    libraries: Vec<PathBuf>,
    installed: u64,
    build: Option<PathBuf>,
    built: u64,
    configured: Vec<Option<u64>>,
    settings: toml::Table,
    left_out: Vec<RegexPattern>,
    pinned: Option<PinnedVersion>,
    companions: Vec<PinnedVersion>,
    /// True if the pinned version is installed beside the usual one.
    is_version_installed: bool,
}

impl LaunchInputs {
    /// Inspects the files for the server called `key` in the catalogue.
    pub(crate) fn collect(
        setup: &ManagerSetup,
        (key, server): (&str, &ServerSpec),
        root: &WorkspacePath,
    ) -> Self {
        let workspace = &setup.workspace;
        let python = RootEnvironment::detect(setup, server, root);
        let build = server.build_file.as_ref().map(|rule| rule.search(workspace, root)).unwrap_or_default();
        let pin = judge::pinned_version(workspace, root, server);
        let versioned = pin.versioned_key(key);
        let installation = versioned.as_ref().map(|key| locate::prefix(&setup.data, key));
        let mut looked_at: BTreeSet<PathBuf> =
            python.inspected_paths.iter().chain(&build.inspected_paths).cloned().collect();
        looked_at.extend(pin.inspected_paths.into_iter().chain(installation.clone()));
        let packages = package_folders(setup, server, root);
        looked_at.extend(packages.iter().cloned());
        let signs = server.restarts_with.iter();
        let unless = server.settings_unless.iter().flat_map(|unless| &unless.configured_by);
        let shown_where = server.diagnostics.left_out.iter().flat_map(|rule| &rule.unless);
        let lacking = server.set_up.iter().filter(|needed| needed.lowers);
        let needed = lacking.flat_map(|needed| needed.of.iter().chain(&needed.unless));
        let absolute = workspace.absolute(root);
        let named =
            signs.chain(unless).chain(shown_where).chain(needed).map(|sign| absolute.join(sign.file()));
        looked_at.extend(named);
        // Taken before anything is read, so that a change during the reading is noticed the next
        // time.
        let inspected = InspectedFiles::new(looked_at);
        let version = pin.pinned.as_ref().and_then(PinnedVersion::oldest);
        let spec = server.resolve_for_root(workspace, root, version.as_deref());
        let decisive = RestartInputs {
            environment: python.environment.as_ref().map(|found| found.folder.clone()),
            libraries: python.libraries.folders.clone(),
            installed: packages_hash(python.libraries.installed_in.iter().chain(&packages)),
            built: build.file.as_deref().map_or(0, content_hash),
            build: build.file.clone(),
            configured: server.restarts_with.iter().map(|sign| sign.content(workspace, root)).collect(),
            settings: spec.settings.clone(),
            left_out: spec.diagnostics.left_out.iter().map(|rule| rule.matches.clone()).collect(),
            pinned: pin.pinned,
            companions: pin.companions,
            is_version_installed: versioned
                .is_some_and(|key| locate::current_installation(&setup.data, &key).is_dir()),
        };
        let shortfall = server.missing_set_up(workspace, root).find(|needed| needed.lowers);
        let shortfall = shortfall.map(|needed| needed.message.clone());
        Self { python, build, lack: shortfall, spec: Arc::new(spec), decisive, inspected }
    }

    /// Returns true if all files are unchanged since they were inspected.
    pub(super) fn are_unchanged(&mut self) -> bool {
        self.inspected.are_unchanged()
    }

    /// The version of its judge that the root pins.
    pub(super) fn pinned(&self) -> Option<&PinnedVersion> {
        self.decisive.pinned.as_ref()
    }

    /// The versions that the root pins of the judge's companions.
    pub(super) fn companions(&self) -> &[PinnedVersion] {
        &self.decisive.companions
    }

    /// Returns true if `other` starts the server in the same way.
    pub(super) fn start_alike(&self, other: &Self) -> bool {
        self.decisive == other.decisive && self.lack == other.lack
    }

    /// The gaps in diagnostics for want of a set-up.
    pub(crate) fn shortfall(&self) -> Shortfall {
        Shortfall { answers: None, diagnostics: self.lack.clone() }
    }
}

/// Returns the folders of packages of a root and of the folders above it, existing or not, and
/// those in them that hold packages of one owner.
fn package_folders(setup: &ManagerSetup, server: &ServerSpec, root: &WorkspacePath) -> Vec<PathBuf> {
    let above = root.ancestors();
    let above = above.map(|folder| setup.workspace.absolute(&folder));
    let folders = above.flat_map(|folder| server.packages_in.iter().map(move |name| folder.join(name)));
    let with_owners = |folder: PathBuf| {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let owners = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"@"));
        let owners: Vec<PathBuf> = owners.map(|entry| entry.path()).collect();
        std::iter::once(folder).chain(owners)
    };
    folders.flat_map(with_owners).collect()
}

/// Hashes the installed packages in the folders: names and identities of their entries. A package
/// is added or removed as a whole.
fn packages_hash<'a>(folders: impl Iterator<Item = &'a PathBuf>) -> u64 {
    let mut all = BTreeSet::new();
    for (number, folder) in folders.enumerate() {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let entries = entries.map(|entry| (number, entry.file_name(), inode::number_of(&entry)));
        // Files that tools leave there while they run.
        all.extend(entries.filter(|(_, name, _)| name != "__pycache__" && name != ".cache"));
    }
    hash_of(&all)
}

/// Hashes the content of a build file.
fn content_hash(file: &Path) -> u64 {
    match Workspace::read_bytes_outside(file, MAX_HASHED_FILE_BYTES) {
        Ok(bytes) => hash_of(&bytes),
        Err(_) => hash_of(&FileStamp::from_path(file)),
    }
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
