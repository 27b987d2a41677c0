//! The inputs of a server's findings outside the workspace's files. Stored findings are keyed by
//! them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

use etcetera::BaseStrategy;
use regex::Regex;
use serde_json::Value;

use super::Manager;
use super::launch;
use super::launch_inputs::LaunchInputs;
use super::python;
use super::setup::ManagerSetup;
use crate::config::spec::ServerSpec;
use crate::config::{Catalogue, settings_of};
use crate::lsp::servers::install::manifest::InstallationManifest;
use crate::lsp::servers::locate;
use crate::lsp::servers::locate::{LocatedProgram, ProgramOrigin};
use crate::platform::canonicalize;
use crate::platform::paths::ENVIRONMENT_PROGRAMS;
use crate::process::environment;
use crate::text::{PartsHash, PartsHasher};
use crate::workspace::{FileAspect, FileStamp, TreeDigest, Workspace, WorkspacePath, folder_digest};

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// Variables that name further folders of Python modules.
const PYTHON_PATHS: [&str; 2] = ["PYTHONPATH", "MYPYPATH"];
/// The modules that an interpreter runs when it starts, which may add folders.
const CUSTOM_MODULES: [&str; 2] = ["sitecustomize", "usercustomize"];
/// The lines of code in path files that only change how modules are loaded: of setuptools and
/// virtualenv.
const HARMLESS_CODE: [&str; 3] = [
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and __import__('_distutils_hack').add_shim()",
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'stdlib') == 'local'; enabled and __import__('_distutils_hack').add_shim()",
    "import _virtualenv",
];
/// The settings of an environment that say where its interpreter lies.
const PLACE_KEYS: [&str; 5] = ["home", "executable", "base-executable", "base-prefix", "base-exec-prefix"];
/// The settings of an environment that change nothing.
const IDLE_KEYS: [&str; 2] = ["command", "prompt"];
/// Settings of checkers of Python that name further files, folders and packages above the root,
/// without `-` and `_`.
const LEADING_KEYS: &str = "baselinefile extend extends extrapaths mypypath namespacepackages stubpath typeshed typeshedpath venv venvpath";

/// An import from a folder above, or the same words in a comment.
static IMPORT_FROM_ABOVE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"from([\s\\.]*\.)").expect("a constant pattern"));

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
    /// `None` if the catalogue does not say what the server reads outside of the workspace
    /// (`reads-outside`), `lsp-tools install` has not installed it, it reads an environment and there
    /// is none, there are settings of the user or of folders above the workspace for it, or not
    /// everything can be read by `until`.
    pub(crate) async fn findings_inputs(
        &self,
        server: &str,
        root: &WorkspacePath,
        until: Instant,
    ) -> Option<FindingsInputs> {
        let setup = &self.shared.setup;
        let spec = setup.catalogue.servers.get(server)?;
        spec.reads_outside.as_ref()?;
        let usual = Catalogue::built_in().servers.get(server)?;
        let is_usual = spec.settings == usual.settings
            && spec.initialization_options == usual.initialization_options
            && spec.command == usual.command
            && spec.env == usual.env
            // These decide which files are settings.
            && setup.catalogue.has_usual_files();
        if !is_usual {
            return None;
        }
        let (shared, key, at) = (self.shared.clone(), server.to_owned(), root.clone());
        let inputs = tokio::task::spawn_blocking(move || {
            let spec = shared.setup.catalogue.servers.get(&key)?;
            Some(LaunchInputs::collect(&shared.setup, (&key, spec), &at))
        });
        let inputs = inputs.await.ok()??;
        let libraries = match python::wants_python(spec) {
            true => Some(
                tokio::time::timeout_at(until.into(), PythonInputs::find(setup, &inputs)).await.ok()??,
            ),
            false => None,
        };
        let environment = libraries.as_ref().map(|python| python.environment.clone());
        let (shared, server, root) = (self.shared.clone(), server.to_owned(), root.clone());
        let digest = tokio::task::spawn_blocking(move || {
            digest_of(&shared.setup, (&server, &root), &inputs, libraries, until)
        });
        let (digest, machine, is_portable) = digest.await.ok()??;
        Some(FindingsInputs { digest, machine, is_portable, environment })
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
) -> Option<(TreeDigest, PartsHash, bool)> {
    let spec = setup.catalogue.servers.get(server)?;
    let located = launch::find(setup, server, spec, root).ok()?;
    (!has_outer_settings(setup, spec)?).then_some(())?;
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
        hasher.add_name(setup.workspace.root().file_name()?);
    }
    let prefix = locate::current_installation(&setup.data, server);
    let installed = installation_digest(&prefix, &located, until)?;
    machine.add(&installed.content);
    states.add(&installed.states);
    let locks = InstallationManifest::read(&canonicalize(&prefix).ok()?)
        .and_then(|manifest| Some(format!("{:?}", (manifest.recipe, manifest.locks?))));
    hasher.add(locks.as_deref().unwrap_or_default().as_bytes());
    if let Some(python) = python {
        hasher.add(python.state.as_bytes());
        machine.add(python.place.as_bytes());
        for digest in python.digests(setup.workspace.root(), until)? {
            hasher.add(&digest.content);
            states.add(&digest.states);
        }
    }
    let digest = TreeDigest { content: hasher.finish(), states: states.finish() };
    Some((digest, machine.finish(), locks.is_some()))
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

/// Returns a digest of the files of a server that `lsp-tools install` has installed. Other programs
/// may be scripts that lead to files elsewhere, or select one of several.
fn installation_digest(prefix: &Path, located: &LocatedProgram, until: Instant) -> Option<TreeDigest> {
    let program = canonicalize(&located.program).ok()?;
    let prefix = canonicalize(prefix).ok()?;
    let is_ours = located.origin == ProgramOrigin::Prefix && program.starts_with(&prefix);
    is_ours.then(|| folder_digest(&prefix, |_| false, |_| Some(FileAspect::SizeAndTime), until))?
}

/// The inputs of a server of Python that it finds by a project's environment.
struct PythonInputs {
    /// The environment, its links followed.
    environment: PathBuf,
    /// The folders of the standard libraries of the interpreters.
    libraries: BTreeSet<PathBuf>,
    /// The settings of the environment, and its path below the workspace's root.
    state: String,
    /// The paths and states of the interpreters, and the settings that name places.
    place: String,
}

impl PythonInputs {
    /// `None` if there is no environment, or it leads to files that are not known.
    async fn find(setup: &ManagerSetup, inputs: &LaunchInputs) -> Option<Self> {
        let found = inputs.python.environment.as_ref()?;
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        (!PYTHON_PATHS.into_iter().any(is_set)).then_some(())?;
        let environment = canonicalize(&found.folder).ok()?;
        let settings = plain_settings(&environment)?;
        // An interpreter takes its library from the home that is named, or from where its links lead.
        let mut libraries = BTreeSet::from_iter(home_libraries(&settings)?);
        let (mut place, mut state) = split_settings(&settings);
        let own = found.interpreter.clone();
        state.push_str(&format!("{:?}", own.as_ref().map(|program| setup.pin(program).is_some())));
        // The environment of the project counts by its path there, also for another tree to which
        // it is lent.
        let mut projects = [setup.workspace.root(), &setup.trusted_root].into_iter();
        let below = projects.find_map(|root| found.folder.strip_prefix(root).ok());
        state.push_str(&format!("{:?}", below.unwrap_or(&environment)));
        for program in [python::base_interpreter(setup).await, own].into_iter().flatten() {
            let program = canonicalize(program).ok()?;
            // Its place, size and times; its version is in the name.
            place.push_str(&format!("{program:?} {:?}", FileStamp::from_path(&program)));
            state.push_str(&format!("{:?}", program.file_name()));
            libraries.extend(standard_libraries(&program)?);
        }
        Some(Self { environment, libraries, state, place })
    }

    /// The digests of the environment and the standard libraries.
    fn digests(&self, root: &Path, until: Instant) -> Option<Vec<TreeDigest>> {
        let [programs, lib, lib64] = ["bin", "lib", "lib64"].map(|name| self.environment.join(name));
        let is_copied = canonicalize(&lib64).ok() == canonicalize(lib).ok();
        let is_unread = move |folder: &Path| folder == programs || is_copied && folder == lib64;
        let environment = folder_digest(&self.environment, is_unread, |path| self.aspect(path, root), until);
        let is_other = |folder: &Path| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
        let aspect_in_library = |path: &Path| match is_source(path) {
            true => Some(FileAspect::Content),
            false => Some(FileAspect::Size),
        };
        let of_library = |folder: &PathBuf| folder_digest(folder, is_other, aspect_in_library, until);
        std::iter::once(environment).chain(self.libraries.iter().map(of_library)).collect()
    }

    /// The aspect of a file of the environment. Environments of several worktrees are equal if their
    /// sources are; their programs name their paths. `None` for one that may add other folders.
    fn aspect(&self, path: &Path, root: &Path) -> Option<FileAspect> {
        // It counts by its settings.
        if path == self.environment.join("pyvenv.cfg") {
            return Some(FileAspect::Path);
        }
        let is_path_file = path.to_string_lossy().ends_with(".pth");
        if is_custom_module(path) || is_path_file && !self.is_plain_path_file(path, root) {
            return None;
        }
        Some(if is_path_file || is_source(path) { FileAspect::Content } else { FileAspect::Size })
    }

    /// Returns true if a path file names only folders of the environment and the workspace.
    fn is_plain_path_file(&self, file: &Path, root: &Path) -> bool {
        let Ok(text) = Workspace::read_outside(file, MAX_SETTINGS_BYTES) else { return false };
        let is_plain = |line: &str| {
            let line = line.trim();
            if line.starts_with("import ") || line.starts_with("import\t") {
                return HARMLESS_CODE.contains(&line.trim_end_matches(';'));
            }
            // Python takes `..` for the folder above by name, which that of a link is not.
            let names = line.split(['/', '\\']).skip_while(|name| *name == "..");
            let leads_up = !line.starts_with('#') && names.into_iter().any(|name| name == "..");
            // A comment names no folder, and an empty line the folder of the file.
            let leads_in = canonicalize(file.with_file_name(".").join(line)).map_or(true, |path| {
                path.is_dir() && (is_read(&path, &self.environment) || is_read(&path, root))
            });
            !leads_up && leads_in
        };
        // Python also ends lines at these.
        let odd_ends = ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
        !text.contains(odd_ends) && text.split(['\n', '\r']).all(is_plain)
    }
}

/// Returns true if `folder` lies below `root`, and its files are part of the digest of that.
fn is_read(folder: &Path, root: &Path) -> bool {
    let is_left_out =
        |name: &OsStr| name == "bin" || name == "__pycache__" || name.as_encoded_bytes().starts_with(b".");
    folder.strip_prefix(root).is_ok_and(|below| !below.iter().any(is_left_out))
}

/// Returns true for a file of modules, or one that says that a package has types.
fn is_source(path: &Path) -> bool {
    has_extension(path, &["py", "pyi", "typed", "egg", "zip"])
}

/// Returns true if an interpreter that has the folder of the file at the absolute `path` on its
/// path runs it at its start. A module of a package has another name.
fn is_custom_module(path: &Path) -> bool {
    let is_alone = || !path.with_file_name("__init__.py").exists();
    let is_named = |name: &str| path.file_stem().is_some_and(|stem| stem == name) && is_alone();
    CUSTOM_MODULES.iter().any(|name| is_named(name) || path.ends_with(format!("{name}/__init__.py")))
}

/// Returns the folders of the standard libraries beside an interpreter, which is no link; `None` if
/// there is none.
fn standard_libraries(interpreter: &Path) -> Option<Vec<PathBuf>> {
    let programs = interpreter.parent()?;
    let folders = ["lib", "lib64"].into_iter().flat_map(|lib| fs::read_dir(programs.with_file_name(lib)));
    let entries: Vec<PathBuf> = folders.flatten().flatten().map(|entry| entry.path()).collect();
    // An archive of modules, such as python311.zip, is searched first.
    let is_python = |name: &OsStr| name.as_encoded_bytes().starts_with(b"python");
    let is_archive =
        |path: &PathBuf| has_extension(path, &["zip"]) && path.file_stem().is_some_and(is_python);
    let has_archive = entries.iter().any(is_archive);
    let found: Vec<PathBuf> = entries.into_iter().filter(|path| path.join("os.py").is_file()).collect();
    (!found.is_empty() && !has_archive).then_some(found)
}

/// Returns the folders of the standard libraries of the home that the settings of an environment
/// name; `None` if they name none with a library.
fn home_libraries(settings: &str) -> Option<Vec<PathBuf>> {
    let home = settings.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim().eq_ignore_ascii_case("home").then(|| value.trim())
    });
    standard_libraries(&canonicalize(home?).ok()?.join("python"))
}

/// Returns the settings of an environment. `None` if it has packages of another one, or is no
/// virtual environment.
fn plain_settings(environment: &Path) -> Option<String> {
    let settings = Workspace::read_outside(&environment.join("pyvenv.cfg"), MAX_SETTINGS_BYTES).ok()?;
    let shares = |line: &str| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        match key.trim().to_ascii_lowercase().as_str() {
            "include-system-site-packages" => !value.trim().eq_ignore_ascii_case("false"),
            key => key == "extends-environment",
        }
    };
    // An interpreter prefers the settings beside itself.
    let has_others = environment.join(ENVIRONMENT_PROGRAMS).join("pyvenv.cfg").exists();
    (!has_others && !settings.split(['\n', '\r']).any(shares)).then_some(settings)
}

/// The settings of an environment that name places, and the others.
fn split_settings(settings: &str) -> (String, String) {
    let has_key = |line: &str, keys: &[&str]| {
        let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        keys.contains(&&*key)
    };
    let counted = settings.lines().filter(|line| !has_key(line, &IDLE_KEYS));
    let (places, others): (Vec<&str>, Vec<&str>) = counted.partition(|line| has_key(line, &PLACE_KEYS));
    (places.join("\n"), others.join("\n"))
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

/// Returns true if a file of the workspace at `path` (relative) leads a checker to files elsewhere:
/// settings (`is_settings`) by their values, a module of Python (`is_module`) by an import from above
/// the root, or because an interpreter may run it.
pub(crate) fn leads_elsewhere(
    (root, path): (&Path, &Path),
    content: &[u8],
    is_settings: bool,
    is_module: bool,
) -> bool {
    let text = || String::from_utf8_lossy(content);
    let most_dots = path.components().count();
    is_custom_module(&root.join(path))
        || is_settings && reads_elsewhere(&path.to_string_lossy(), &text())
        || is_module
            && IMPORT_FROM_ABOVE.captures_iter(&text()).any(|found| found[1].matches('.').count() > most_dots)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

/// Returns true if the settings in a file of JSON or TOML lead to files elsewhere, or are malformed.
fn reads_elsewhere(file: &str, text: &str) -> bool {
    let is_table = file.ends_with(".json") || file.ends_with(".toml");
    is_table && settings_of(file, text.trim_start_matches('\u{feff}')).is_none_or(|all| leads_out("", &all))
}

/// Returns true if a value of settings, which is that of the key `above`, leads to files elsewhere.
fn leads_out(above: &str, settings: &Value) -> bool {
    match settings {
        Value::String(text) => names_elsewhere(text),
        Value::Array(values) => values.iter().any(|value| leads_out(above, value)),
        Value::Object(table) => table.iter().any(|(key, value)| {
            is_leading_key(above, key) || key != "$schema" && names_elsewhere(key) || leads_out(key, value)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_leading_key(above: &str, key: &str) -> bool {
    let plain = key.trim().replace(['-', '_'], "").to_ascii_lowercase();
    LEADING_KEYS.split(' ').any(|known| known == plain) || (above, key) == ("environment", "python")
}

/// Returns true if a text of settings may name a place outside of the project: by a variable, the
/// home folder, a parent folder, or an absolute path whose first folder exists.
fn names_elsewhere(text: &str) -> bool {
    let is_variable = |after: &str| after.starts_with(['{', '_']) || after.starts_with(char::is_alphabetic);
    let is_version =
        |rest: &str| rest.starts_with('=') || rest.starts_with(|next: char| next.is_ascii_digit());
    let is_absolute = |word: &str| {
        let first = word.strip_prefix('/').and_then(|path| path.split('/').find(|name| !name.is_empty()));
        first.is_some_and(|name| name.contains(['*', '?']) || Path::new("/").join(name).exists())
    };
    let is_elsewhere = |word: &str| {
        word.strip_prefix('~').is_some_and(|rest| !is_version(rest))
            || word.split(['/', '\\']).any(|name| name == "..")
            || is_absolute(word)
    };
    let separates = |letter: char| letter.is_whitespace() || "\"'`,;:()[]{}".contains(letter);
    // The name of a folder may have letters that otherwise end a word.
    text == "/"
        || is_absolute(text)
        || text.split('$').skip(1).any(is_variable)
        || text.split(separates).any(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_lead_to_files_elsewhere_are_recognised() {
        for (file, text) in [
            ("ruff.toml", "extend = 'base.toml'"),
            ("ruff.toml", "src = ['..']"),
            ("ruff.toml", "src = ['x/../..']"),
            ("ruff.toml", "src = ['~']"),
            ("ruff.toml", "cache-dir = '~/cache'"),
            ("ruff.toml", "builtins = ['/usr']"),
            ("ruff.toml", "src = ['/u*/share']"),
            ("ruff.toml", "namespace-packages = ['.']"),
            ("ruff.toml", "src = ["),
            ("ty.toml", "environment.python = '311env'"),
            ("ty.toml", "[environment]\nextra-paths = ['lib']"),
            ("pyproject.toml", "[tool.ty.environment]\npython = 'myenv'"),
            ("pyrightconfig.json", "{\"extra\\u0050aths\": [\"\\/tmp\\/out\"]}"),
            ("pyrightconfig.json", "{\"extraPaths\"/* c */: [\"lib\"]}"),
            ("pyrightconfig.json", "\u{feff}{\"stubPath\": \"typings\"}"),
            ("pyrightconfig.json", "{\"baselineFile\": \"node_modules/b.json\"}"),
            ("pyrightconfig.json", "{\"include\": [\"..\\/lib\"]}"),
            ("pyrightconfig.json", "{\"executionEnvironments\": [{\"root\": \"${HOME}/x\"}]}"),
            ("pyrightconfig.json", "{\"strict\": [\"src\""),
        ] {
            assert!(reads_elsewhere(file, text), "{file}: {text}");
        }
        let plain = "# See /usr and ../x, $HOME\n[project]\nrequires-python = '~=3.8'\nversion = '1...2'\n\
                     dependencies = ['x~=2', 'y ~= 3']\nurls.home = 'https://example.com/usr'\n\
                     [tool.poetry.dependencies]\npython = '^3.8'\nz = '~2.1'\n\
                     [tool.ruff]\nexclude = ['/not-here/', '*.py..']\nextend-select = ['I']\n\
                     lint.extend-ignore = []\n\
                     [tool.black]\nexclude = '''\n/(\n  \\.git\n | build\n)/$'''\n";
        assert!(!reads_elsewhere("pyproject.toml", plain));
        let plain = "{// ../x\n\"$schema\": \"https://example.com/a\", \"pythonVersion\": \"3.9\",}";
        assert!(!reads_elsewhere("pyrightconfig.json", plain));
    }

    #[test]
    fn import_from_above_the_workspace_leads_elsewhere() {
        let leads = |path: &str, text: &str| {
            leads_elsewhere((Path::new("/"), Path::new(path)), text.as_bytes(), false, true)
        };
        for (path, text) in [
            ("a.py", "if x: from .. import y"),
            ("a.py", "from . .a import b"),
            ("a.py", "from..sibling import y"),
            ("a.py", "from \\\n ..sibling import y"),
            ("a.py", "\u{feff}from ..sibling import y"),
            ("a.py", "import os\rfrom ..sibling import y"),
            ("in/a.py", "  from ... import y"),
            ("sitecustomize.py", ""),
        ] {
            assert!(leads(path, text), "{text}");
        }
        assert!(!leads("a.py", "from .sibling import y") && !leads("in/a.pyi", "from ..sibling import y"));
    }

    fn inputs(environment: &Path, library: Option<PathBuf>) -> PythonInputs {
        let libraries = library.into_iter().collect();
        let (state, place) = Default::default();
        PythonInputs { environment: environment.to_owned(), libraries, state, place }
    }

    fn digests(inputs: &PythonInputs) -> Option<Vec<TreeDigest>> {
        inputs.digests(Path::new("/workspace"), Instant::now() + std::time::Duration::from_secs(60))
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn environment_that_may_lead_elsewhere_has_no_digest() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let environment = canonicalize(folder.path()).unwrap();
        let site = environment.join("lib/python3.11/site-packages");
        let inputs = inputs(&environment, None);
        let digest = || digests(&inputs).map(|found| found[0].content);
        let plain = "# x\n\npack\nnot/there\nimport _virtualenv\n\
                     import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; \
                     enabled and __import__('_distutils_hack').add_shim();\n";
        write(&site.join("a.pth"), plain);
        write(&site.join("pack/__init__.py"), "");
        write(&site.join("pack/sitecustomize.py"), "a module of a package");
        write(&environment.join("bin/activate"), "");
        let first = digest();
        assert!(first.is_some(), "a plain environment");
        let outside = other.path().display().to_string();
        let (egg, late) = (other.path().join("l.egg"), format!("{}{outside}\n", "# x\n".repeat(2_000)));
        write(&egg, "");
        for (name, text) in [
            ("x.pth", outside.as_str()),
            ("x.pth", &format!("#\r{outside}")),
            ("x.pth", &late),
            (".hidden.pth", &outside),
            ("x.pth", &egg.display().to_string()),
            ("x.pth", "missing/../../../../../outside"),
            ("x.pth", "../../../bin"),
            ("x.pth", "import _mypaths"),
            ("sitecustomize.py", ""),
            ("usercustomize.pyc", ""),
        ] {
            write(&site.join(name), text);
            assert_eq!(digest(), None, "{name}: {text:.40}");
            fs::remove_file(site.join(name)).unwrap();
        }
        assert_eq!(digest(), first);
        assert!(is_custom_module(&site.join("sitecustomize/__init__.py")));
        for name in ["lib/python3.12/site-packages/lib.py", "lib/python3.13t/site-packages/lib.py", "lib.py"]
        {
            write(&environment.join(name), "x = 1");
            let before = digest();
            write(&environment.join(name), "x = 2");
            assert_ne!(digest(), before, "{name}");
        }
        for (text, is_plain) in [
            ("home = /usr/bin\ninclude-system-site-packages = false\n", true),
            ("Include-System-Site-Packages = true\n", false),
            ("uv = 0.9\nextends-environment = /parent\n", false),
        ] {
            write(&environment.join("pyvenv.cfg"), text);
            assert_eq!(plain_settings(&environment).is_some(), is_plain, "{text}");
        }
    }

    #[test]
    fn standard_library_of_the_base_interpreter_has_a_digest() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonicalize(folder.path()).unwrap();
        let (program, library) = (root.join("base/bin/python3"), root.join("base/lib/python3.11"));
        write(&program, "");
        assert_eq!(standard_libraries(&program), None);
        write(&library.join("os.py"), "");
        assert_eq!(standard_libraries(&program), Some(vec![library.clone()]));
        write(&root.join("env/pyvenv.cfg"), "");
        let inputs = inputs(&root.join("env"), Some(library.clone()));
        let first = digests(&inputs);
        write(&library.join("site-packages/a.py"), "");
        assert_eq!(
            digests(&inputs).map(|found| found[1].content),
            first.as_ref().map(|found| found[1].content)
        );
        assert_eq!(
            home_libraries(&format!("home = {}\n", program.parent().unwrap().display())),
            Some(vec![library.clone()])
        );
        write(&library.with_extension("zip"), "");
        assert_eq!(standard_libraries(&program), None, "modules in an archive are not read");
        write(&library.join("idlelib/zzz.py"), "");
        assert_ne!(digests(&inputs).map(|found| found[1].content), first.map(|found| found[1].content));
    }
}
