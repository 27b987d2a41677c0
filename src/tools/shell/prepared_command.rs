//! The preparation of a command: folder, environment variables, sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::caches::{CachesWanted, CommandCaches, SHARED, expand};
use crate::analysis::confinement::enforced_confinement;
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::run_blocking;
use crate::config::{CacheSharing, NetworkAccess};
use crate::platform::OsStringExt;
use crate::platform::shell::{self, MAY_REPLACE_PATH};
use crate::process::sandbox::Enforced;
use crate::process::sandbox_arguments::{Confinement, arguments};
use crate::process::{Spawn, caller_path, inherited_variables, writable_paths};
use crate::text::shell_bytes;

/// The variable that passes the caller's `PATH` to the shell.
const CALLER_PATH: &str = "LSP_TOOLS_CALLER_PATH";
/// The prefix that puts the caller's `PATH` first again. A login shell reads profiles, and many of
/// them replace `PATH`, including the programs of an activated environment.
const CALLER_PATH_FIRST: &str =
    "PATH=\"$LSP_TOOLS_CALLER_PATH${PATH:+:$PATH}\"; unset LSP_TOOLS_CALLER_PATH; ";
/// The variable with the commands that set the variables of the caches.
const CACHES: &str = "LSP_TOOLS_COMMAND_CACHES";
/// The prefix that sets these variables again, in case a profile has set the user's own.
const CACHES_AGAIN: &str = "eval \"$LSP_TOOLS_COMMAND_CACHES\"; unset LSP_TOOLS_COMMAND_CACHES; ";
/// The longest command in bytes: Linux rejects an argument of 128 KiB, including its terminating
/// zero byte.
const MAX_SHELL_COMMAND_BYTES: usize = 128 * 1024 - CALLER_PATH_FIRST.len() - CACHES_AGAIN.len() - 1;

/// Folders for temporary files, and devices that store nothing.
const ALWAYS_WRITABLE: [&str; 11] = [
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// A command line, ready to be started.
#[derive(Debug)]
pub(crate) struct PreparedCommand {
    /// The process to start.
    pub spawn: Spawn,
    /// The confinement of the command.
    pub enforced: Enforced,
    /// The reason that package managers cannot write a cache, if so.
    pub no_caches: Option<String>,
}

impl PreparedCommand {
    /// Prepares `command`, in the root of the workspace.
    pub(crate) async fn new(context: &Context, command: &str) -> Result<Self, ToolError> {
        check(command)?;
        let settings = &context.config.settings.bash;
        let spawner = context.manager.spawner();
        let enforced = enforced_confinement(settings, spawner)?;
        let mut env = listed_variables(&settings.env, std::env::vars_os());
        let mut confinement = (enforced == Enforced::Landlock).then(|| confinement(context));
        let mut no_caches = None;
        let mut first = "";
        // Without confinement, separate caches would protect nothing.
        if let Some(confinement) = confinement.as_mut().filter(|_| settings.caches == CacheSharing::Private) {
            match command_caches(context, &env, &confinement.writable).await? {
                Ok(caches) => {
                    env.insert(CACHES.into(), export_line(&caches.env));
                    env.extend(caches.env);
                    confinement.writable = sandbox_writable(context, Some(caches.folder));
                    first = CACHES_AGAIN;
                }
                Err(reason) => no_caches = Some(reason),
            }
        }
        let mut line = first.to_owned();
        if let Some(path) = caller_path().filter(|_| MAY_REPLACE_PATH) {
            env.insert(CALLER_PATH.into(), path);
            line.push_str(CALLER_PATH_FIRST);
        }
        line.push_str(command);
        let shell = shell::program().ok_or_else(no_shell_error)?;
        let line = [shell.as_os_str(), "-lc".as_ref(), line.as_ref()];
        let (program, args) = match spawner.supervisor() {
            Some(binary) => (binary.to_owned(), arguments(confinement.as_ref(), &line)),
            None => (shell.clone(), line[1..].iter().map(Into::into).collect()),
        };
        let spawn = Spawn {
            name: "bash".to_owned(),
            program,
            args,
            env,
            cwd: context.workspace.root().to_owned(),
            pins: Vec::new(),
        };
        Ok(Self { spawn, enforced, no_caches })
    }
}

/// The caches of a command that gets `env` beside the inherited variables, or the reason that it
/// has none.
async fn command_caches(
    context: &Context,
    env: &BTreeMap<OsString, OsString>,
    writable: &[PathBuf],
) -> Result<Result<CommandCaches, String>, ToolError> {
    let mut given: BTreeMap<_, _> = inherited_variables(std::env::vars_os()).into_iter().collect();
    given.extend(env.clone());
    let wanted = CachesWanted {
        cache: context.folders.cache.clone(),
        root: context.workspace.root().to_owned(),
        home: context.folders.home.clone(),
        writable: writable.to_vec(),
        environment: given,
    };
    let (made, wanted) = run_blocking(move || Ok((wanted.make(), wanted))).await?;
    if made.is_ok() {
        // The command does not wait for this; an interrupted removal is completed with the next
        // command.
        tokio::task::spawn_blocking(move || wanted.clear_others());
    }
    Ok(made.map_err(|reason| {
        tracing::warn!("{reason}");
        reason.to_string()
    }))
}

/// The shell command that sets these variables.
fn export_line(env: &BTreeMap<OsString, OsString>) -> OsString {
    let mut line = Vec::new();
    for (name, value) in env {
        // `export` without a name would print all variables.
        line.extend_from_slice(if line.is_empty() { b"export " } else { b" " });
        line.extend(name.as_encoded_bytes());
        line.push(b'=');
        line.extend_from_slice(&shell_bytes(value.as_encoded_bytes()));
    }
    OsString::from_vec(line)
}

fn no_shell_error() -> ToolError {
    ToolError::new(ErrorCode::Unsupported, "the command was not run: there is no POSIX shell")
        .with_hint("install Git for Windows (https://gitforwindows.org), whose shell is used")
}

fn check(command: &str) -> Result<(), ToolError> {
    let (what, hint) = if command.contains('\0') {
        ("`command` contains a zero byte", "write it as \\0 in a printf")
    } else if command.len() > MAX_SHELL_COMMAND_BYTES {
        (
            &*format!("`command` is longer than the system's limit of {MAX_SHELL_COMMAND_BYTES} bytes"),
            "write it into a file and run that",
        )
    } else {
        return Ok(());
    };
    Err(ToolError::new(ErrorCode::InvalidArgs, what).with_hint(hint))
}

fn confinement(context: &Context) -> Confinement {
    let no_tcp = context.config.settings.bash.network == NetworkAccess::NoTcp;
    Confinement { writable: sandbox_writable(context, None), no_tcp }
}

/// The paths that a command may write, including the folder of its `caches`.
fn sandbox_writable(context: &Context, caches: Option<PathBuf>) -> Vec<PathBuf> {
    let settings = &context.config.settings.bash;
    let home = context.folders.home.as_deref().map(|home| home.as_os_str());
    let shared = if settings.caches == CacheSharing::Shared { SHARED } else { &[] };
    let entries = settings.writable.iter().map(String::as_str).chain(shared.iter().copied());
    // A folder with an unset variable does not exist.
    let entries = entries.filter_map(|entry| expand(entry, home, |name| std::env::var_os(name)));
    let chosen = [context.workspace.root().to_owned(), std::env::temp_dir()].into_iter();
    writable_paths(&ALWAYS_WRITABLE, chosen.chain(caches).chain(entries))
}

/// The variables of `all` whose names the settings list.
fn listed_variables(
    listed: &[String],
    all: impl Iterator<Item = (OsString, OsString)>,
) -> BTreeMap<OsString, OsString> {
    let is_listed = |name: &str| {
        listed.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == known,
        })
    };
    all.filter(|(name, _)| name.to_str().is_some_and(is_listed)).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn writable_entry_expands_root_home_and_environment_variable() {
        let variable = |name: &str| (name == "CARGO_HOME").then(|| OsString::from("/c"));
        let expand = |entry| expand(entry, Some(OsStr::new("/home/u")), variable);
        assert_eq!(expand("/srv/x"), Some("/srv/x".into()));
        assert_eq!(expand("~/.cache"), Some("/home/u/.cache".into()));
        assert_eq!(expand("~"), Some("/home/u".into()));
        assert_eq!(expand("$CARGO_HOME/registry"), Some("/c/registry".into()));
        assert_eq!(expand("$CARGO_HOME"), Some("/c".into()));
        assert_eq!(expand("$GOPATH/pkg"), None);
    }

    #[test]
    #[cfg_attr(windows, ignore = "Windows has no /bin/sh")]
    fn exported_environment_values_round_trip_through_the_shell() {
        let value = OsString::from_vec(b"a 'b' \\ $HOME `c`\n\xff".to_vec());
        let line = export_line(&[("ONE".into(), value.clone()), ("TWO".into(), "2".into())].into());
        let mut shell = std::process::Command::new("/bin/sh");
        assert!(export_line(&BTreeMap::new()).is_empty());
        let output =
            shell.args(["-c", "eval \"$LINE\"; printf %s \"$ONE\"; test $TWO = 2"]).env("LINE", line);
        let output = output.output().unwrap();
        assert!(output.status.success());
        assert_eq!(OsString::from_vec(output.stdout), value);
    }

    #[test]
    fn environment_adds_only_listed_variables() {
        let all = [("CI", "1"), ("AWS_REGION", "x"), ("HOME", "/h")].map(|(a, b)| (a.into(), b.into()));
        let listed = ["CI".to_owned(), "AWS_*".to_owned()];
        let names: Vec<_> = listed_variables(&listed, all.into_iter()).into_keys().collect();
        assert_eq!(names, ["AWS_REGION", "CI"]);
    }
}
