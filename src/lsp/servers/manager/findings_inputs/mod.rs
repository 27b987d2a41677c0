//! The inputs of a server's findings outside the workspace's files. Stored findings are keyed by
//! them, and by the files of the workspace that [`tree_rules`] selects.

pub(crate) mod error;
mod python_environment;
mod python_files;
pub(crate) mod tree_rules;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

use etcetera::BaseStrategy;

use self::error::InputsError;
use self::python_environment::PythonInputs;
use super::Manager;
use super::launch;
use super::launch_inputs::LaunchInputs;
use super::python;
use super::setup::ManagerSetup;
use crate::config::Catalogue;
use crate::config::spec::ServerSpec;
use crate::lsp::servers::install::manifest::InstallationManifest;
use crate::lsp::servers::locate::{self, ProgramOrigin};
use crate::platform::canonicalize;
use crate::process::environment;
use crate::text::{PartsHash, PartsHasher};
use crate::workspace::{DigestError, FileAspect, TreeDigest, WorkspacePath, folder_digest};

/// Inputs of the findings of one server for one root, beside the workspace's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FindingsInputs {
    /// The digest of what findings follow from on any machine.
    pub(crate) digest: TreeDigest,
    /// The digest of where and when it was installed here, which shows that it was changed by hand.
    pub(crate) machine: PartsHash,
    /// True if `digest` is the same on another machine: the installation is that of locks, whose
    /// packages have hashes.
    pub(crate) is_portable: bool,
    /// The folder of the Python environment, its links followed, whose files are part of the digest.
    pub(crate) environment: Option<PathBuf>,
}

impl Manager {
    /// Returns the inputs of the findings of `server` for `root`: its program, settings, trust,
    /// variables, Python environment, and the user's settings for it. Starts only the user's
    /// interpreter.
    ///
    /// # Errors
    /// The variants of [`InputsError`]; `Late` if not everything can be read by `until`.
    pub(crate) async fn findings_inputs(
        &self,
        server: &str,
        root: &WorkspacePath,
        until: Instant,
    ) -> Result<FindingsInputs, InputsError> {
        let setup = &self.shared.setup;
        let unknown = || InputsError::UnknownReads(server.to_owned());
        let spec = setup.catalogue.servers.get(server).ok_or_else(unknown)?;
        let usual = Catalogue::built_in().servers.get(server).ok_or_else(unknown)?;
        let is_usual = spec.reads_outside.is_some()
            && spec.settings == usual.settings
            && spec.initialization_options == usual.initialization_options
            && spec.command == usual.command
            && spec.env == usual.env
            // These decide which files are settings.
            && setup.catalogue.has_usual_files();
        if !is_usual {
            return Err(unknown());
        }
        let (shared, key, at) = (self.shared.clone(), server.to_owned(), root.clone());
        let inputs = tokio::task::spawn_blocking(move || {
            let spec = shared.setup.catalogue.servers.get(&key)?;
            Some(LaunchInputs::collect(&shared.setup, (&key, spec), &at))
        });
        let inputs = inputs.await.map_err(|_| InputsError::Panic)?.ok_or_else(unknown)?;
        let libraries = match python::wants_python(spec) {
            true => {
                let found = tokio::time::timeout_at(until.into(), PythonInputs::find(setup, &inputs)).await;
                Some(found.map_err(|_| DigestError::Late)??)
            }
            false => None,
        };
        let environment = libraries.as_ref().map(|python| python.environment.clone());
        let (shared, server, root) = (self.shared.clone(), server.to_owned(), root.clone());
        let digest = tokio::task::spawn_blocking(move || {
            digest_of(&shared.setup, (&server, &root), &inputs, libraries, until)
        });
        let (digest, machine, is_portable) = digest.await.map_err(|_| InputsError::Panic)??;
        Ok(FindingsInputs { digest, machine, is_portable, environment })
    }
}

/// Hashes the inputs of a server's findings for a root: on any machine, and here; and returns true
/// if the first hash is the same elsewhere.
fn digest_of(
    setup: &ManagerSetup,
    (server, root): (&str, &WorkspacePath),
    inputs: &LaunchInputs,
    python: Option<PythonInputs>,
    until: Instant,
) -> Result<(TreeDigest, PartsHash, bool), InputsError> {
    let not_installed = || InputsError::NotInstalled(server.to_owned());
    let spec = setup.catalogue.servers.get(server).ok_or_else(not_installed)?;
    let located = launch::find(setup, server, spec, root).map_err(|_| not_installed())?;
    if has_outer_settings(setup, spec).unwrap_or(true) {
        return Err(InputsError::OuterSettings(server.to_owned()));
    }
    let (mut hasher, mut states, mut machine) = <(PartsHasher, PartsHasher, PartsHasher)>::default();
    // Answers mention a version that the project pins, and a server that it contains.
    let has_own_program = locate::project_program(&setup.workspace, root, spec).is_some();
    let facts = (setup.trusted, &inputs.spec, &inputs.lack, inputs.pinned(), has_own_program);
    let settings = format!("{:?}", (facts, &setup.settings.limits));
    let system = [std::env::consts::OS, std::env::consts::ARCH, env!("CARGO_PKG_VERSION")];
    for text in system.into_iter().chain([server, &*root.display(), &settings]) {
        hasher.add(text.as_bytes());
    }
    let environment = python.as_ref().map(|python| python.environment.as_path());
    for (name, value) in environment::relevant_variables(std::env::vars_os()) {
        if let Some(value) = findings_variable(&name, &value, environment) {
            hasher.add_name(&name);
            hasher.add_name(&value);
        }
        machine.add_name(&name);
        machine.add_name(&value);
    }
    if spec.ignores_root_name != Some(true) {
        hasher.add_name(setup.workspace.root().file_name().unwrap_or_default());
    }
    let prefix = locate::current_installation(&setup.data, server);
    let prefix = canonicalize(&prefix).map_err(|_| not_installed())?;
    if located.origin != ProgramOrigin::Prefix
        || !canonicalize(&located.program).is_ok_and(|path| path.starts_with(&prefix))
    {
        // Other programs may be scripts that lead to files elsewhere, or select one of several.
        return Err(not_installed());
    }
    let installed = folder_digest(&prefix, |_| false, |_| Some(FileAspect::SizeAndTime), until)?;
    machine.add(&installed.content);
    states.add(&installed.states);
    let locks = InstallationManifest::read(&prefix)
        .and_then(|manifest| Some(format!("{:?}", (manifest.recipe, manifest.locks?))));
    hasher.add(locks.as_deref().unwrap_or_default().as_bytes());
    if let Some(python) = python {
        hasher.add(python.state.as_bytes());
        machine.add(python.place.as_bytes());
        for digest in python.library_digests(FileAspect::SizeAndTime, until) {
            machine.add(&digest?.content);
        }
        for digest in python.digests(setup.workspace.root(), until)? {
            hasher.add(&digest.content);
            states.add(&digest.states);
        }
    }
    let digest = TreeDigest { content: hasher.finish(), states: states.finish() };
    Ok((digest, machine.finish(), locks.is_some()))
}

/// The value of a variable as far as it changes the findings of checkers of Python; `None` if it
/// does not. It names the environment, or is one that the interpreters of Python and JavaScript
/// read.
fn findings_variable(name: &OsStr, value: &OsStr, environment: Option<&Path>) -> Option<OsString> {
    let name = name.to_string_lossy();
    let is_read = |prefix: &str| name.starts_with(prefix);
    if ["VIRTUAL_ENV", "CONDA_PREFIX"].contains(&&*name) {
        let is_same = environment.is_some_and(|found| canonicalize(value).is_ok_and(|path| path == found));
        return Some(if is_same { OsString::new() } else { value.to_owned() });
    }
    ["PYTHON", "NODE_", "CONDA_", "PYENV_"].into_iter().any(is_read).then(|| value.to_owned())
}

/// Returns true if the user, or a folder above the workspace, has settings for a server.
fn has_outer_settings(setup: &ManagerSetup, spec: &ServerSpec) -> Option<bool> {
    let names: BTreeSet<&str> = spec.configuration_files().collect();
    let mut above = setup.workspace.root().ancestors().skip(1);
    let (home, xdg) = (etcetera::home_dir().ok()?, etcetera::base_strategy::Xdg::new().ok()?.config_dir());
    let file = |path: &String| path.strip_prefix(".config/").map_or(home.join(path), |path| xdg.join(path));
    Some(
        above.any(|folder| names.iter().any(|name| folder.join(name).is_file()))
            || spec.reads_outside.iter().flatten().any(|path| file(path).symlink_metadata().is_ok()),
    )
}
