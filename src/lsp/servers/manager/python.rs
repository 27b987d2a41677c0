//! The Python environment of a server, to run it or only to read it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::setup::ManagerSetup;
use super::untrusted::refusal_text;
use crate::config::spec::{PythonUnrun, ServerSpec};
use crate::lsp::servers::python;
use crate::lsp::servers::python::{EnvironmentLookup, EnvironmentOrigin, Libraries, PythonEnvironment};
use crate::platform::canonicalize;
use crate::platform::paths::ENVIRONMENT_PROGRAMS;
use crate::process::{Exit, Spawn, run};
use crate::workspace::WorkspacePath;

/// The time limit of an interpreter that prints its location.
const PYTHON_PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The prefix of the value that an interpreter prints.
const VALUE_MARK: &str = "lsp-tools: ";

/// The environment of a root, as its files show it.
#[derive(Debug, Default)]
pub(crate) struct RootEnvironment {
    /// The environment; `None` if there is none, and for servers that take none.
    pub(crate) environment: Option<PythonEnvironment>,
    /// Its libraries.
    pub(crate) libraries: Libraries,
    /// Files and folders, existing or not, whose change may lead to others.
    pub(crate) inspected_paths: BTreeSet<PathBuf>,
}

impl RootEnvironment {
    /// Finds the environment that `server` gets for `root`.
    pub(crate) fn detect(setup: &ManagerSetup, server: &ServerSpec, root: &WorkspacePath) -> Self {
        if !wants_python(server) || has_interpreter_setting(server) {
            return Self::default();
        }
        let EnvironmentLookup { environment, inspected_paths: mut looked_at } =
            python::search(&setup.workspace, root, &setup.python);
        let libraries = environment
            .as_ref()
            .map(|found| Libraries::discover(&setup.workspace, found))
            .unwrap_or_default();
        looked_at.extend(libraries.installed_in.iter().cloned());
        Self { environment, libraries, inspected_paths: looked_at }
    }
}

/// The Python settings that a server gets.
#[derive(Debug, Default)]
pub(super) struct PythonLaunchSettings {
    /// Its environment.
    environment: Option<PathBuf>,
    /// The interpreter that it gets.
    interpreter: Option<PathBuf>,
    /// True if programs of the environment may be run.
    runs: bool,
    /// The reason why it gets less than there is, in a sentence.
    pub(crate) lack: Option<String>,
}

impl PythonLaunchSettings {
    /// The variables of the server's process, and the folders that go before its PATH.
    pub(super) fn variables(
        &self,
        server: &ServerSpec,
        variables: &mut BTreeMap<OsString, OsString>,
    ) -> Option<PathBuf> {
        let environment = self.environment.as_ref()?;
        let reads = server.python_unrun == Some(PythonUnrun::Variable);
        if !(server.python_environment && (self.runs || reads)) {
            return None;
        }
        variables.insert("VIRTUAL_ENV".into(), environment.clone().into());
        self.runs.then(|| environment.join(ENVIRONMENT_PROGRAMS))
    }

    /// Sets the interpreter in the server's settings and initialization options.
    pub(super) fn apply_to(&self, server: &mut ServerSpec) {
        let Some(interpreter) = &self.interpreter else { return };
        let path = toml::Value::from(interpreter.to_string_lossy().into_owned());
        for (key, table) in [
            (&server.python_path_setting, &mut server.settings),
            (&server.python_path_option, &mut server.initialization_options),
        ] {
            if let Some(dotted) = key {
                set_dotted(table, dotted, path.clone());
            }
        }
    }
}

/// Returns true if `server` gets a Python environment.
pub(super) fn wants_python(server: &ServerSpec) -> bool {
    server.python_environment || server.python_path_setting.is_some() || server.python_path_option.is_some()
}

/// Returns true if settings name the interpreter already.
fn has_interpreter_setting(server: &ServerSpec) -> bool {
    let is_set = |key: &Option<String>, table: &toml::Table| {
        key.as_deref().is_some_and(|key| dotted_value(table, key).is_some())
    };
    is_set(&server.python_path_setting, &server.settings)
        || is_set(&server.python_path_option, &server.initialization_options)
}

/// The value of the key `dotted` in a table.
pub(super) fn dotted_value<'t>(table: &'t toml::Table, dotted: &str) -> Option<&'t toml::Value> {
    let mut keys = dotted.split('.');
    let first = table.get(keys.next()?)?;
    keys.try_fold(first, |at, key| at.get(key))
}

/// Returns the environment of a root. Two roots with different environments need servers of their
/// own.
pub(super) fn environment_of(setup: &ManagerSetup, root: &WorkspacePath) -> Option<PathBuf> {
    python::search(&setup.workspace, root, &setup.python).environment.map(|found| found.folder)
}

/// Returns the Python settings of `server` for the environment in `seen`. Errors: the reason why it
/// may not be started, in one sentence.
pub(super) async fn launch_settings(
    setup: &ManagerSetup,
    server: &ServerSpec,
    seen: &RootEnvironment,
) -> Result<PythonLaunchSettings, String> {
    let mut given = match &seen.environment {
        Some(environment) => of_environment(setup, server, environment, &seen.libraries).await,
        None => PythonLaunchSettings::default(),
    };
    if given.interpreter.is_none()
        && server.python_finds_own
        && !has_interpreter_setting(server)
        && !setup.trusted
    {
        given.interpreter = base_interpreter(setup).await;
        if given.interpreter.is_none() {
            return Err(refusal_text("it would run the project's own Python"));
        }
    }
    Ok(given)
}

async fn of_environment(
    setup: &ManagerSetup,
    server: &ServerSpec,
    environment: &PythonEnvironment,
    libraries: &Libraries,
) -> PythonLaunchSettings {
    let mut given = PythonLaunchSettings {
        environment: Some(environment.folder.clone()),
        ..PythonLaunchSettings::default()
    };
    let may_run = environment.interpreter.as_deref().is_some_and(|program| match environment.origin {
        EnvironmentOrigin::Active => true,
        EnvironmentOrigin::Project => setup.pin(program).is_some(),
        EnvironmentOrigin::Tool => setup.trusted,
    });
    if may_run {
        return PythonLaunchSettings { interpreter: environment.interpreter.clone(), runs: true, ..given };
    }
    let name = environment.display_name(&setup.workspace);
    let advice = match (setup.trusted, &environment.interpreter) {
        (true, None) => "its interpreter cannot be run",
        (true, Some(_)) => "its interpreter is not trusted; to use it, run: lsp-tools trust",
        (false, _) => "this project is not trusted; to use it, run: lsp-tools trust",
    };
    match server.python_unrun {
        Some(PythonUnrun::StandIn) => match interpreter_wrapper(setup, libraries).await {
            Ok(interpreter) => given.interpreter = Some(interpreter),
            Err(reason) => {
                given.lack =
                    Some(format!("the environment `{name}` is not used ({reason}), because {advice}"))
            }
        },
        Some(PythonUnrun::Variable) if environment.folder.join("pyvenv.cfg").is_file() => return given,
        Some(PythonUnrun::Variable) => {
            given.environment = None;
            given.lack = Some(format!(
                "the packages in `{name}` are not used, since it takes virtual environments only"
            ));
        }
        None => given.lack = Some(format!("the environment `{name}` is not used, because {advice}")),
    }
    if given.lack.is_none() && !libraries.left_out.is_empty() {
        let more = libraries.left_out.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        given.lack = Some(format!(
            "`{}`{more}, which the environment `{name}` leads to, lies outside of the project and is not read, because {advice}",
            libraries.left_out[0]
        ));
    }
    given
}

async fn interpreter_wrapper(setup: &ManagerSetup, libraries: &Libraries) -> Result<PathBuf, String> {
    let base = base_interpreter(setup).await.ok_or("there is no python3 on PATH that could read it")?;
    let path = python::ensure_wrapper(&setup.cache, &base, &setup.workspace, libraries);
    let path = path.map_err(|error| error.to_string())?;
    match evaluate(setup, &path, "-c", "sys.prefix").await {
        Some(prefix) if Path::new(&prefix) == libraries.environment => Ok(path),
        _ => Err(format!("{} did not read it", base.display())),
    }
}

/// Returns the interpreter that the user's `python3` runs now: the one on PATH may be a script that
/// selects another.
pub(super) async fn base_interpreter(setup: &ManagerSetup) -> Option<PathBuf> {
    let found = python::base_interpreter(&setup.workspace)?;
    let path = PathBuf::from(evaluate(setup, &found, "-ISBc", "sys.executable").await?);
    let real = canonicalize(&path).ok()?;
    (path.is_absolute() && !real.starts_with(setup.workspace.root())).then_some(path)
}

/// Returns the value of a text in Python, as an interpreter has it outside the project. It may print
/// lines of its own.
async fn evaluate(setup: &ManagerSetup, interpreter: &Path, flags: &str, value: &str) -> Option<String> {
    let code = format!("import sys; print('\\n{VALUE_MARK}' + {value})");
    let spawn = Spawn {
        name: "python".to_owned(),
        program: interpreter.to_owned(),
        args: vec![flags.into(), code.into()],
        env: BTreeMap::new(),
        cwd: PathBuf::from("/"),
        pins: Vec::new(),
    };
    let mut told = None;
    let note = |line: &str| told = line.strip_prefix(VALUE_MARK).map(str::to_owned).or(told.take());
    let finished = run(&setup.spawner, spawn, Instant::now() + PYTHON_PROBE_TIMEOUT, note).await.ok()?;
    told.filter(|_| finished.exit == Exit::Code(0))
}

/// Sets a dotted key to `value`, beside the existing ones.
pub(super) fn set_dotted(table: &mut toml::Table, dotted: &str, value: toml::Value) {
    let (first, rest) = dotted.split_once('.').map_or((dotted, None), |(first, rest)| (first, Some(rest)));
    let Some(rest) = rest else {
        table.insert(first.to_owned(), value);
        return;
    };
    let inner = table.entry(first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if !inner.is_table() {
        *inner = toml::Value::Table(toml::Table::new());
    }
    if let toml::Value::Table(inner) = inner {
        set_dotted(inner, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_setting_key_keeps_sibling_settings() {
        let mut settings: toml::Table = toml::from_str("[python.analysis]\nx = 1\n").unwrap();
        set_dotted(&mut settings, "python.pythonPath", "/v/bin/python".into());
        let wanted: toml::Table =
            toml::from_str("[python]\npythonPath = '/v/bin/python'\nanalysis = { x = 1 }").unwrap();
        assert_eq!(settings, wanted);
    }
}
