//! The Python environment among the inputs of findings: its packages, and the standard libraries of
//! its interpreters.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::error::InputsError;
use crate::lsp::servers::manager::launch_inputs::LaunchInputs;
use crate::lsp::servers::manager::python;
use crate::lsp::servers::manager::setup::ManagerSetup;
use crate::lsp::servers::python::PythonEnvironment;
use crate::platform::canonicalize;
use crate::platform::paths::ENVIRONMENT_PROGRAMS;
use crate::workspace::{DigestError, FileAspect, FileStamp, TreeDigest, Workspace, folder_digest};

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// Variables that name further folders of Python modules.
const PYTHON_PATHS: [&str; 2] = ["PYTHONPATH", "MYPYPATH"];
/// The lines of code in path files that only change how modules are loaded: of setuptools and
/// virtualenv.
const HARMLESS_CODE: [&str; 3] = [
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and __import__('_distutils_hack').add_shim()",
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'stdlib') == 'local'; enabled and __import__('_distutils_hack').add_shim()",
    "import _virtualenv",
];
/// The modules that an interpreter runs when it starts, which may add folders.
const CUSTOM_MODULES: [&str; 2] = ["sitecustomize", "usercustomize"];
/// The settings of an environment that say where its interpreter lies.
const PLACE_KEYS: [&str; 5] = ["home", "executable", "base-executable", "base-prefix", "base-exec-prefix"];
/// The settings of an environment that change nothing.
const IDLE_KEYS: [&str; 2] = ["command", "prompt"];

/// The inputs of a server of Python that it finds by a project's environment.
pub(super) struct PythonInputs {
    /// The environment, its links followed.
    pub(super) environment: PathBuf,
    /// The folders of the standard libraries of the interpreters.
    libraries: BTreeSet<PathBuf>,
    /// The settings of the environment, and its path below the workspace's root.
    pub(super) state: String,
    /// The paths and states of the interpreters, and the settings that name places.
    pub(super) place: String,
}

impl PythonInputs {
    /// The inputs of the project's environment.
    ///
    /// # Errors
    /// There is no environment, or it leads to files that are not known.
    pub(super) async fn find(setup: &ManagerSetup, inputs: &LaunchInputs) -> Result<Self, InputsError> {
        let found = inputs.python.environment.as_ref().ok_or(InputsError::NoEnvironment)?;
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = PYTHON_PATHS.into_iter().find(is_set) {
            return Err(InputsError::Variable(name));
        }
        let inputs = Self::of_environment(setup, found).await;
        inputs.ok_or_else(|| InputsError::OpenEnvironment(found.folder.clone()))
    }

    /// The inputs of an environment; `None` if it leads to files that are not known.
    async fn of_environment(setup: &ManagerSetup, found: &PythonEnvironment) -> Option<Self> {
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
            // Its version is in the name.
            let stamp = FileStamp::from_path(&program)?;
            place.push_str(&format!("{program:?} {} {}", stamp.size, stamp.mtime_ns));
            state.push_str(&format!("{:?}", program.file_name()));
            libraries.extend(standard_libraries(&program)?);
        }
        Some(Self { environment, libraries, state, place })
    }

    /// The digests of the environment and the standard libraries. Checkers have declarations of
    /// their own for these, so that only names and sizes count here.
    pub(super) fn digests(&self, root: &Path, until: Instant) -> Result<Vec<TreeDigest>, DigestError> {
        let [programs, lib, lib64] = ["bin", "lib", "lib64"].map(|name| self.environment.join(name));
        let is_copied = canonicalize(&lib64).ok() == canonicalize(lib).ok();
        let is_unread = move |folder: &Path| folder == programs || is_copied && folder == lib64;
        let environment = folder_digest(&self.environment, is_unread, |path| self.aspect(path, root), until);
        std::iter::once(environment).chain(self.library_digests(FileAspect::Size, until)).collect()
    }

    /// The digests of the standard libraries by an aspect of their files.
    pub(super) fn library_digests(
        &self,
        aspect: FileAspect,
        until: Instant,
    ) -> impl Iterator<Item = Result<TreeDigest, DigestError>> {
        let is_other = |folder: &Path| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
        self.libraries.iter().map(move |folder| folder_digest(folder, is_other, |_| Some(aspect), until))
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
                let is_known = is_read(&path, &self.environment) || is_read(&path, root);
                is_known && has_no_custom_module(&path)
            });
            !leads_up && leads_in
        };
        // Python also ends lines at these.
        let odd_ends = ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
        !text.contains(odd_ends) && text.split(['\n', '\r']).all(is_plain)
    }
}

/// Returns true if an interpreter that has the file at `path` (absolute) on its path as a module
/// runs it at its start. A module of a package has another name.
fn is_custom_module(path: &Path) -> bool {
    let is_alone = || !path.with_file_name("__init__.py").exists();
    is_custom(path) && is_alone() || path.ends_with("__init__.py") && path.parent().is_some_and(is_custom)
}

/// Returns true if `folder` can be read and has no module that interpreters run at their start.
fn has_no_custom_module(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    entries.is_ok_and(|entries| !entries.iter().any(|entry| is_custom(&entry.path())))
}

/// Returns true for the name of a module that may add folders to an interpreter's path.
fn is_custom(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let module = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    CUSTOM_MODULES.iter().any(|known| known.as_bytes() == module)
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

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(environment: &Path, library: Option<PathBuf>) -> PythonInputs {
        let libraries = library.into_iter().collect();
        let (state, place) = Default::default();
        PythonInputs { environment: environment.to_owned(), libraries, state, place }
    }

    fn digests(inputs: &PythonInputs) -> Result<Vec<TreeDigest>, DigestError> {
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
        let digest = || digests(&inputs).ok().map(|found| found[0].content);
        let plain = "# x\n\npack\nnot/there\nimport _virtualenv\n\
                     import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; \
                     enabled and __import__('_distutils_hack').add_shim();\n";
        write(&site.join("a.pth"), plain);
        write(&site.join("pack/__init__.py"), "");
        write(&site.join("kit/__init__.py"), "");
        write(&site.join("kit/sitecustomize.py"), "a module of a package, unless the package is on the path");
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
            ("x.pth", "kit"),
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
        let second = || digests(&inputs).map(|found| found[1].content);
        let first = second();
        write(&library.join("site-packages/a.py"), "");
        assert_eq!(second(), first);
        assert_eq!(
            home_libraries(&format!("home = {}\n", program.parent().unwrap().display())),
            Some(vec![library.clone()])
        );
        write(&library.with_extension("zip"), "");
        assert_eq!(standard_libraries(&program), None, "modules in an archive are not read");
        write(&library.join("idlelib/zzz.py"), "");
        assert_ne!(second(), first);
    }
}
