//! The health of an installed server: its version, and missing companions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::locate::{LocatedProgram, ProgramOrigin};
use crate::config::spec::{ServerPrerequisite, ServerSpec};
use crate::platform::canonicalize;
use crate::platform::paths::program_at;
use crate::process::{Exit, ProgramPath, RunError, Spawn, Spawner, run};
use crate::workspace::Workspace;

/// The time limit of a program that prints its version or checks itself.
const HEALTH_PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// A missing part of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthFinding {
    /// The missing part, and the loss without it.
    pub message: String,
    /// The command that installs it.
    pub install: String,
}

/// Returns the version of `server`, as its program prints it: the first line that contains a digit.
/// `None` if it fails, prints nothing, takes more than five seconds, or is an interpreter.
pub async fn version(
    spawner: &Spawner,
    workspace: &Workspace,
    server: &ServerSpec,
    located: &LocatedProgram,
) -> Option<String> {
    if server.version.is_empty() {
        return None;
    }
    let mut version = None;
    let tell = |line: &str| {
        if version.is_none() && line.contains(|character: char| character.is_ascii_digit()) {
            version = Some(line.trim().to_owned());
        }
    };
    let arguments: Vec<&str> = server.version.iter().map(String::as_str).collect();
    let spawn = spawn(&path_of(workspace, located), located, &located.program, &arguments);
    let finished = run(spawner, spawn, deadline(), tell).await;
    version.filter(|_| finished.is_ok_and(|finished| finished.exit == Exit::Code(0)))
}

/// Returns the prerequisites of `server`'s catalogue entry that the program at `located` lacks.
pub async fn prerequisite_findings(
    spawner: &Spawner,
    workspace: &Workspace,
    key: &str,
    server: &ServerSpec,
    located: &LocatedProgram,
) -> Vec<HealthFinding> {
    let path = path_of(workspace, located);
    let mut findings = Vec::new();
    for hollow in &server.hollow {
        let Some(message) = missing_prerequisite(spawner, &path, hollow, located).await else { continue };
        // Into an environment of the private prefix only our own command leads.
        let ours = located.origin == ProgramOrigin::Prefix && hollow.python_module.is_some();
        let install = if ours { format!("lsp-tools install {key}") } else { hollow.install.clone() };
        findings.push(HealthFinding { message, install });
    }
    findings
}

/// Returns true if the program passes the checks of its catalogue entry.
pub(crate) async fn is_working(
    spawner: &Spawner,
    workspace: &Workspace,
    server: &ServerSpec,
    located: &LocatedProgram,
) -> bool {
    probe_failure(spawner, &path_of(workspace, located), server, located).await.is_none()
}

/// Returns the reason why the program fails its catalogue entry's check; `None` if it passes.
pub(crate) async fn probe_failure(
    spawner: &Spawner,
    path: &ProgramPath,
    server: &ServerSpec,
    located: &LocatedProgram,
) -> Option<String> {
    for hollow in server.hollow.iter().filter(|hollow| !hollow.succeeds.is_empty()) {
        let args: Vec<&str> = hollow.succeeds.iter().map(String::as_str).collect();
        if let Some(trouble) = run_failure(spawner, spawn(path, located, &located.program, &args)).await {
            return Some(format_message(hollow, &trouble));
        }
    }
    None
}

/// Returns the most informative line of a failed program's output: the first error, else the last
/// line. A stack trace and advice often follow the error.
pub(crate) fn most_informative_line(output: &[String]) -> &str {
    let lower = |line: &&String| line.to_lowercase();
    let first = output.iter().find(|line| is_error_line(line));
    let first = first.or_else(|| output.iter().find(|line| lower(line).contains("error:")));
    first.or(output.last()).map_or("", |line| line.trim())
}

/// Returns true if a line begins like an error message. npm puts the code of an error first, and
/// empty lines.
pub(crate) fn is_error_line(line: &str) -> bool {
    let line = line.trim_start().to_lowercase();
    if let Some(message) = line.strip_prefix("npm error").or_else(|| line.strip_prefix("npm err!")) {
        let message = message.trim();
        return !message.is_empty()
            && !["code ", "errno ", "syscall "].iter().any(|word| message.starts_with(word));
    }
    let starts = ["error", "e:", "fatal", "panic", "exception", "can't locate"];
    starts.iter().any(|start| line.starts_with(start))
}

/// Describes the missing prerequisite; `None` if it is present.
async fn missing_prerequisite(
    spawner: &Spawner,
    path: &ProgramPath,
    hollow: &ServerPrerequisite,
    located: &LocatedProgram,
) -> Option<String> {
    if let Some(program) = &hollow.program
        && path.find(program).is_none()
    {
        return Some(hollow.message.clone());
    }
    if let Some(module) = &hollow.python_module {
        let Some(python) = interpreter(&located.program) else {
            return Some(format!(
                "{} (no Python interpreter beside {})",
                hollow.message,
                located.program.display()
            ));
        };
        let find = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";
        // Isolated: neither the working directory nor PYTHONPATH makes a module importable that the
        // server will not see.
        if let Some(trouble) =
            run_failure(spawner, spawn(path, located, &python, &["-I", "-c", find, module])).await
        {
            return Some(format_message(hollow, &trouble));
        }
    }
    if let Some(file) = &hollow.file
        && !has_below(spawner, path, located, (&hollow.below, file)).await
    {
        return Some(hollow.message.clone());
    }
    if !hollow.succeeds.is_empty() {
        let args: Vec<&str> = hollow.succeeds.iter().map(String::as_str).collect();
        if let Some(trouble) = run_failure(spawner, spawn(path, located, &located.program, &args)).await {
            return Some(format_message(hollow, &trouble));
        }
    }
    None
}

/// Returns true if `file` is in the folder that a program prints. If there is no such program,
/// another check reports that.
async fn has_below(
    spawner: &Spawner,
    path: &ProgramPath,
    located: &LocatedProgram,
    (program, file): (&[String], &str),
) -> bool {
    let Some((name, args)) = program.split_first() else { return true };
    let Some(program) = path.find(name) else { return true };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut folder = None;
    let note = |line: &str| folder = folder.take().or_else(|| Some(PathBuf::from(line.trim())));
    let finished = run(spawner, spawn(path, located, &program, &args), deadline(), note).await;
    let worked = finished.is_ok_and(|finished| finished.exit == Exit::Code(0));
    !worked || folder.is_none_or(|folder| folder.join(file).exists())
}

fn format_message(hollow: &ServerPrerequisite, trouble: &str) -> String {
    if trouble.is_empty() { hollow.message.clone() } else { format!("{} ({trouble})", hollow.message) }
}

/// Returns the program's most informative error line, which may be empty; `None` if it succeeded.
async fn run_failure(spawner: &Spawner, spawn: Spawn) -> Option<String> {
    match run(spawner, spawn, deadline(), |_| {}).await {
        Ok(finished) if finished.exit == Exit::Code(0) => None,
        Ok(finished) => Some(most_informative_line(&finished.tail).to_owned()),
        Err(error @ (RunError::Start(_) | RunError::TooLong { .. })) => Some(error.to_string()),
    }
}

/// Returns the Python that runs `program`: the one its first line names, else the one beside it.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let real = canonicalize(program).ok()?;
    let beside = [program, &real].into_iter().filter_map(Path::parent);
    let beside = beside.flat_map(|folder| ["python", "python3"].map(|name| folder.join(name)));
    named_by(&real).into_iter().chain(beside).find_map(program_at)
}

/// Returns the interpreter in `#!/path/python`, or in the second line if pip found the path too
/// long for the first: `'''exec' "/path/python" "$0" "$@"`.
fn named_by(script: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    Workspace::open_outside(script).ok()?.0.take(2048).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let mut lines = start.lines();
    let first = lines.next()?.strip_prefix("#!")?.trim();
    let name = match lines.next().and_then(|line| line.strip_prefix("'''exec' ")) {
        Some(rest) if first == "/bin/sh" => rest.trim_end_matches("\"$0\" \"$@\"").trim().trim_matches('"'),
        _ => first,
    };
    let path = PathBuf::from(name);
    let python = path.file_name()?.to_str()?.starts_with("python");
    (python && path.is_absolute()).then_some(path)
}

fn deadline() -> Instant {
    Instant::now() + HEALTH_PROBE_TIMEOUT
}

/// Prepares the start of a program in its own folder, so that nothing of a project is read.
fn spawn(path: &ProgramPath, located: &LocatedProgram, program: &Path, args: &[&str]) -> Spawn {
    Spawn {
        name: program.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        program: program.to_owned(),
        args: args.iter().map(OsString::from).collect(),
        env: BTreeMap::from([path.variable()]),
        cwd: program.parent().unwrap_or(Path::new("/")).to_owned(),
        pins: located.pin.iter().cloned().collect(),
    }
}

/// The search path of a server that was found at `located`, for work on `workspace`.
fn path_of(workspace: &Workspace, located: &LocatedProgram) -> ProgramPath {
    ProgramPath::of_user(workspace)
        .after(located.path_folders.iter().cloned())
        .followed_by(located.fallback_folders.iter().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_informative_line_is_the_first_that_says_what_is_wrong() {
        let said = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            most_informative_line(&lines).to_owned()
        };
        let perl = ["Can't locate Perl/LanguageServer.pm in @INC", "BEGIN failed--compilation aborted."];
        assert_eq!(said(&perl), perl[0]);
        let backtrace = ["error: the component is not there", "  15: <unknown>"];
        assert_eq!(said(&backtrace), backtrace[0]);
        let npm = [
            "npm error code EUSAGE",
            "npm error",
            "npm error `npm ci` can only install what the lock has",
            "npm error Usage:",
        ];
        assert_eq!(said(&npm), npm[2]);
        assert_eq!(said(&["one", "two "]), "two");
        assert_eq!(said(&[]), "");
    }

    #[test]
    #[cfg_attr(windows, ignore = "scripts name no interpreter on Windows")]
    fn python_interpreter_is_read_from_shebang_of_script() {
        let temp = tempfile::tempdir().unwrap();
        let script = temp.path().join("server");
        let named = |text: &str| {
            std::fs::write(&script, text).unwrap();
            named_by(&script)
        };
        assert_eq!(named("#!/v/bin/python3.11\nimport x"), Some("/v/bin/python3.11".into()));
        let long = "#!/bin/sh\n'''exec' \"/a long/bin/python\" \"$0\" \"$@\"\n' '''\nimport x";
        assert_eq!(named(long), Some("/a long/bin/python".into()));
        assert_eq!(named("#!/bin/sh\nexec /v/bin/python"), None);
        assert_eq!(named("#!/usr/bin/env python3\n"), None);
        assert_eq!(named("\x7fELF"), None);
    }
}
