//! Everything beside the workspace's files that the findings of a server follow from. Findings that
//! are kept for later processes are kept together with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Instant;

use etcetera::BaseStrategy;
use regex::Regex;

use super::Manager;
use super::launch;
use super::launch_inputs::LaunchInputs;
use super::python;
use super::setup::ManagerSetup;
use crate::config::Catalogue;
use crate::config::spec::ServerSpec;
use crate::lsp::servers::locate;
use crate::lsp::servers::locate::{LocatedProgram, ProgramOrigin};
use crate::process::environment;
use crate::text::{PartsHash, PartsHasher};
use crate::workspace::{FileAspect, FileStamp, Workspace, WorkspacePath, folder_digest};

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// The first bytes of a program of Linux.
const ELF_MAGIC: &[u8] = b"\x7fELF";
/// Variables that name further folders of Python modules.
const PYTHON_PATHS: [&str; 2] = ["PYTHONPATH", "MYPYPATH"];

/// Settings with which a checker of Python reads files elsewhere, be it by further settings: keys,
/// a parent folder, and paths of the home folder or the root of the file system.
static READS_ELSEWHERE: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    let patterns = [
        r#"(?im)(?:^|[\s{,"'\[.])(?:extra-?paths|extends?|stub-?path|typeshed(?:-?path)?|venv(?:-?path)?|mypy_?path)["']?\s*[=:]"#,
        r#"(?m)(?:^|[\s{,"'\[.])python["']?\s*[=:]\s*["'][^\^~<>=!*\d"']"#,
        r"(?m)(?:^|[^.\w])\.\.(?:[^.\w]|$)",
        r#"(?m)(?:^|[\s"'=:,\[])(?:~/|\$\{|\$[A-Z_]{2,})"#,
    ];
    patterns.map(|pattern| Regex::new(pattern).expect("a constant pattern"))
});
/// An absolute path, or the beginning of a pattern.
static ABSOLUTE_PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?m)(?:^|[\s"'=:,\[])(/[^\s"',\]]+)"#).expect("a constant pattern"));
/// A line of Python that imports from folders above.
static IMPORT_FROM_ABOVE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)(?:^|[:;])\s*from\s+(\.[.\s]*\.)").expect("a constant pattern"));

/// Inputs of the findings of one server for one root, beside the workspace's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FindingsInputs {
    /// The digest of all of it.
    pub(crate) digest: PartsHash,
    /// The folder of the Python environment, whose files are part of the digest.
    pub(crate) environment: Option<PathBuf>,
}

impl Manager {
    /// Returns what the findings of `server` for `root` follow from: its program, settings, trust,
    /// variables, Python environment, and the user's settings for it. Nothing is started but an
    /// interpreter of the user's.
    ///
    /// `None` if the catalogue does not say what the server reads outside of the workspace
    /// (`reads-outside`), settings of the user or of folders above the workspace may lead it
    /// elsewhere, or not everything can be read by `until`.
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
            && spec.env == usual.env;
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
            true => tokio::time::timeout_at(until.into(), PythonLibraries::find(setup, &inputs))
                .await
                .ok()?
                .map(Some)?,
            false => None,
        };
        let environment = inputs.python.environment.as_ref().map(|found| found.folder.clone());
        let (shared, server, root) = (self.shared.clone(), server.to_owned(), root.clone());
        let digest = tokio::task::spawn_blocking(move || {
            digest_of(&shared.setup, (&server, &root), &inputs, libraries, until)
        });
        Some(FindingsInputs { digest: digest.await.ok()??, environment })
    }
}

/// Hashes what the findings of a server for a root follow from.
fn digest_of(
    setup: &ManagerSetup,
    (server, root): (&str, &WorkspacePath),
    inputs: &LaunchInputs,
    libraries: Option<PythonLibraries>,
    until: Instant,
) -> Option<PartsHash> {
    let spec = setup.catalogue.servers.get(server)?;
    let located = launch::find(setup, server, spec, root).ok()?;
    let mut hasher = PartsHasher::default();
    let settings = format!("{:?}", (setup.trusted, &inputs.spec, &inputs.lack, &setup.settings.limits));
    for text in [env!("CARGO_PKG_VERSION"), server, &root.display(), &settings] {
        hasher.add(text.as_bytes());
    }
    for (name, value) in environment::relevant_variables(std::env::vars_os()) {
        hasher.add_name(&name);
        hasher.add_name(&value);
    }
    hasher.add(&installation_digest(setup, server, &located, until)?);
    if let Some(libraries) = libraries {
        hasher.add(libraries.interpreter.as_bytes());
        for folder in &libraries.folders {
            hasher.add(&folder_digest(folder, |path| libraries.aspect(path), until)?);
        }
    }
    add_outer_settings(&mut hasher, setup, spec)?;
    Some(hasher.finish())
}

/// Returns a digest of the files of an installed server; `None` if they are not known.
fn installation_digest(
    setup: &ManagerSetup,
    server: &str,
    located: &LocatedProgram,
    until: Instant,
) -> Option<PartsHash> {
    let program = fs::canonicalize(&located.program).ok()?;
    if located.origin == ProgramOrigin::Prefix {
        let prefix = fs::canonicalize(locate::prefix(&setup.data, server)).ok()?;
        return program
            .starts_with(&prefix)
            .then(|| folder_digest(&prefix, |_| FileAspect::SizeAndTime, until))?;
    }
    // A script leads to files elsewhere, which other packages may be added to.
    is_native(&program).then(|| folder_digest(&program, |_| FileAspect::SizeAndTime, until))?
}

fn is_native(program: &Path) -> bool {
    use std::io::Read;
    let mut first = [0; ELF_MAGIC.len()];
    Workspace::open_outside(program).is_ok_and(|(mut file, _)| file.read_exact(&mut first).is_ok())
        && first == ELF_MAGIC
}

/// The folders that a project's modules are imported from.
struct PythonLibraries {
    /// In order; none within another.
    folders: Vec<PathBuf>,
    /// The states of the interpreters, and the settings of the environment.
    interpreter: String,
    /// True if they are those of the project's environment, and not of the interpreter on PATH.
    is_environment: bool,
}

impl PythonLibraries {
    /// `None` if some are not known.
    async fn find(setup: &ManagerSetup, inputs: &LaunchInputs) -> Option<Self> {
        let known = &inputs.python.libraries;
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !known.left_out.is_empty() || PYTHON_PATHS.into_iter().any(is_set) {
            return None;
        }
        let base = python::base_interpreter(setup).await;
        let mut state = interpreter_state(base.as_deref());
        let all = match &inputs.python.environment {
            Some(environment) => {
                state.push_str(&plain_environment(&environment.folder, &known.installed_in)?);
                let interpreter = environment.interpreter.as_deref();
                state.push_str(&interpreter_state(interpreter));
                state.push_str(&format!("{:?}", interpreter.map(|program| setup.pin(program).is_some())));
                // Findings name the paths of environments; those of the workspace differ with it.
                let folder = fs::canonicalize(&environment.folder).ok()?;
                if !folder.starts_with(setup.workspace.root()) {
                    state.push_str(&folder.to_string_lossy());
                }
                known.folders.iter().chain(&known.installed_in).cloned().collect()
            }
            // A trusted project's own folder can choose another interpreter.
            None if setup.trusted => return None,
            None => python::base_import_folders(setup).await?,
        };
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in &all {
            let is_within = all.iter().any(|other| folder != other && folder.starts_with(other));
            if folder.is_dir() && !is_within && !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }
        Some(Self { folders, interpreter: state, is_environment: inputs.python.environment.is_some() })
    }

    /// Environments of several worktrees are equal if their sources are. Those of an interpreter
    /// are the same files for all of them, and more.
    fn aspect(&self, path: &Path) -> FileAspect {
        match self.is_environment {
            true if has_extension(path, &["py", "pyi", "pth", "typed"]) => FileAspect::Content,
            true => FileAspect::Size,
            false => FileAspect::SizeAndTime,
        }
    }
}

/// Describes the program that a path leads to: its place, size and times.
fn interpreter_state(program: Option<&Path>) -> String {
    let program = program.and_then(|program| fs::canonicalize(program).ok());
    let stamp = program.as_deref().and_then(FileStamp::from_path);
    format!("{program:?} {stamp:?}")
}

/// Returns the settings of an environment. `None` if it shares packages with its interpreter, or
/// its path files run code that adds folders.
fn plain_environment(environment: &Path, installed_in: &[PathBuf]) -> Option<String> {
    let read = |file: &Path| Workspace::read_outside(file, MAX_SETTINGS_BYTES);
    let settings = read(&environment.join("pyvenv.cfg")).ok()?;
    let shares = |line: &str| {
        let Some((key, value)) = line.split_once('=') else { return false };
        key.trim() == "include-system-site-packages" && !value.trim().eq_ignore_ascii_case("false")
    };
    let files = installed_in.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let path_files = files.map(|entry| entry.path()).filter(|path| has_extension(path, &["pth"]));
    let adds_folders = |file: PathBuf| {
        let is_code = |line: &str| line.starts_with("import ") || line.starts_with("import\t");
        let adds =
            |line: &str| ["sys.path", "addsitedir", "exec", "open("].iter().any(|word| line.contains(word));
        read(&file).map_or(true, |text| text.lines().any(|line| is_code(line) && adds(line)))
    };
    (!settings.lines().any(shares) && !path_files.into_iter().any(adds_folders)).then_some(settings)
}

/// Adds the user's settings of a server. `None` if they, or settings in a folder above the
/// workspace, may lead to further files.
fn add_outer_settings(hasher: &mut PartsHasher, setup: &ManagerSetup, spec: &ServerSpec) -> Option<()> {
    let names: BTreeSet<&str> = spec.configuration_files().collect();
    let mut above = setup.workspace.root().ancestors().skip(1);
    if above.any(|folder| names.iter().any(|name| folder.join(name).is_file())) {
        return None;
    }
    let home = etcetera::home_dir().ok()?;
    let config = etcetera::base_strategy::Xdg::new().ok()?.config_dir();
    for path in spec.reads_outside.iter().flatten() {
        let file = path.strip_prefix(".config/").map_or_else(|| home.join(path), |path| config.join(path));
        match Workspace::read_outside(&file, MAX_SETTINGS_BYTES) {
            Ok(text) if reads_elsewhere(&text) => return None,
            Ok(text) => {
                hasher.add(path.as_bytes());
                hasher.add(text.as_bytes());
            }
            Err(_) if file.symlink_metadata().is_err() => {}
            Err(_) => return None,
        }
    }
    Some(())
}

/// Returns true if a file of the workspace at `path` (relative) leads a checker to files elsewhere:
/// settings (`is_settings`) by their text, a module of Python by an import from above the root.
pub(crate) fn leads_elsewhere(path: &Path, content: &[u8], is_settings: bool) -> bool {
    let is_module = has_extension(path, &["py", "pyi", "pyw"]);
    if !is_settings && !is_module {
        return false;
    }
    let text = String::from_utf8_lossy(content);
    let folders = path.components().count() - 1;
    (is_settings && reads_elsewhere(&text))
        || (is_module
            && IMPORT_FROM_ABOVE
                .captures_iter(&text)
                .any(|found| found[1].matches('.').count() > folders + 1))
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

fn reads_elsewhere(settings: &str) -> bool {
    READS_ELSEWHERE.iter().any(|pattern| pattern.is_match(settings))
        || ABSOLUTE_PATH.captures_iter(settings).any(|found| Path::new(&found[1]).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_lead_to_files_elsewhere_are_recognised() {
        for text in [
            "extraPaths = [\"lib\"]",
            "{\"extraPaths\":[\"lib\"]}",
            "extra-paths=[]",
            "extend = \"base.toml\"",
            "\"extends\": \"./base.json\"",
            "\"stubPath\": \"typings\"",
            "\"venv\": \"myenv\"",
            "environment.python = \"myenv\"",
            "src = [\"..\"]",
            "src = [\"./..\"]",
            "src = [\"x/../..\"]",
            "\"include\": [\"..\\/lib\"]",
            "mypy_path = stubs",
            "cache-dir = '~/cache'",
            "\"root\": \"${HOME}/x\"",
            "builtins = '/usr'",
        ] {
            assert!(reads_elsewhere(text), "{text}");
        }
        let plain = "# See https://example.com/usr ... costs $5\n\"$schema\": \"https://example.com/a\"\n[tool.ruff]\n\
                     exclude = ['/build/', '*.py..']\nextend-select = ['I']\nlint.extend-ignore = []\n\
                     requires-python = '>=3.8'\npython = '^3.8'\npythonVersion = '3.9'\nversion = '1...2'\n";
        assert!(!reads_elsewhere(plain));
    }

    #[test]
    fn import_from_above_the_workspace_leads_elsewhere() {
        let leads = |path: &str, text: &str| leads_elsewhere(Path::new(path), text.as_bytes(), false);
        assert!(
            leads("a.py", "if x: from .. import y")
                && leads("a.py", "from . .a import b")
                && leads("a.py", "from ..sibling import y")
                && leads("in/a.py", "  from ... import y")
        );
        assert!(!leads("a.py", "from .sibling import y") && !leads("in/a.pyi", "from ..sibling import y"));
    }
}
