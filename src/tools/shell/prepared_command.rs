//! The preparation of a command: folder, environment variables, sandbox.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::caches::{CachesWanted, CommandCaches, SHARED, expand};
use crate::analysis::context::Context;
use crate::analysis::error::{ErrorCode, ToolError};
use crate::analysis::state_files::run_blocking;
use crate::config::{BashSettings, CacheSharing, NetworkAccess, SandboxMode};
use crate::process::sandbox::{self, Enforced, SandboxUnavailable};
use crate::process::sandbox_arguments::{Confinement, arguments};
use crate::process::{Spawn, Spawner, caller_path, inherited_variables, writable_paths};
use crate::text::shell_bytes;

const SHELL: &str = "/bin/sh";
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

/// The confinement of commands under the settings in force, for reports on the installation.
pub(crate) fn enforced_confinement(
    settings: &BashSettings,
    spawner: &Spawner,
) -> Result<Enforced, ToolError> {
    let status = sandbox::status();
    let able = match spawner.supervisor() {
        Some(_) => status.files,
        None => Err(SandboxUnavailable::NoBinary),
    };
    decide_confinement(settings, able, status.tcp)
}

/// The actions that are not prevented here although other machines prevent them, one sentence each.
pub(crate) async fn confinement_gaps(settings: &BashSettings, spawner: &Spawner) -> Vec<String> {
    if !matches!(enforced_confinement(settings, spawner), Ok(Enforced::Landlock)) {
        let what = "commands can stop, read and impersonate all your processes, lsp-tools included, so no rule for agents is enforced; they can also write your caches, including programs there";
        return vec![what.to_owned()];
    }
    let status = sandbox::status();
    let own_processes = sandbox::supports_pid_namespace(spawner).await;
    gaps_of(settings.caches, &status, own_processes)
}

fn gaps_of(caches: CacheSharing, status: &sandbox::SandboxSupport, own_processes: bool) -> Vec<String> {
    let mut gaps = Vec::new();
    if caches == CacheSharing::Shared {
        gaps.push(
            "commands write your package caches (`bash.caches` is `shared`), and your other programs run code from there"
                .to_owned(),
        );
    }
    if !status.tcp {
        gaps.push(
            "commands cannot be denied TCP (`bash.network`): this requires Linux 6.7 (Landlock 4)".to_owned(),
        );
    }
    if !status.signals {
        gaps.push(
            "commands can connect to abstract Unix sockets and signal your processes outside, including their supervisor, without which they count as your own processes: Linux 6.12 (Landlock 6) prevents this"
                .to_owned(),
        );
    }
    if !own_processes {
        gaps.push(
            "commands see your processes outside and can change their priorities and limits, and endless forks are ended in rounds, not at once: separate processes require the capability to mount (CAP_SYS_ADMIN)"
                .to_owned(),
        );
    }
    gaps
}

/// The confinement that the settings select, given the abilities of this machine: `able` for files,
/// and `tcp` for connections.
fn decide_confinement(
    settings: &BashSettings,
    able: Result<(), SandboxUnavailable>,
    tcp: bool,
) -> Result<Enforced, ToolError> {
    let no_tcp = settings.network == NetworkAccess::NoTcp;
    match (settings.sandbox, able) {
        (SandboxMode::Off, _) if no_tcp => Err(refused_error(
            "`network = \"no-tcp\"` requires the sandbox, which `sandbox = \"off\"` disables",
            "change one of the two under [bash] in lsp-tools.toml",
        )),
        (SandboxMode::Off, _) => Ok(Enforced::None),
        (_, Ok(())) if no_tcp && !tcp => Err(refused_error(
            "the settings deny TCP to commands, but this kernel cannot enforce it (Linux 6.7 can)",
            "put `network = \"open\"` under [bash] in lsp-tools.toml to run commands without that",
        )),
        (_, Ok(())) => Ok(Enforced::Landlock),
        (SandboxMode::Auto, Err(_)) if !no_tcp => Ok(Enforced::None),
        (_, Err(reason)) => Err(refused_error(
            &format!("the settings require the sandbox, which is not available: {reason}"),
            "put `sandbox = \"auto\"` and `network = \"open\"` under [bash] in lsp-tools.toml to run commands without it",
        )),
    }
}

fn refused_error(what: &str, hint: &str) -> ToolError {
    ToolError::new(ErrorCode::Denied, format!("the command was not run: {what}")).with_hint(hint)
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
        if let Some(path) = caller_path() {
            env.insert(CALLER_PATH.into(), path);
            line.push_str(CALLER_PATH_FIRST);
        }
        line.push_str(command);
        let line = [SHELL, "-lc", &line].map(OsStr::new);
        let (program, args) = match spawner.supervisor() {
            Some(binary) => (binary.to_owned(), arguments(confinement.as_ref(), &line)),
            None => (PathBuf::from(SHELL), line[1..].iter().map(Into::into).collect()),
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

    /// A required but unavailable confinement is an error, never silently omitted.
    #[test]
    fn sandbox_settings_decide_enforcement_or_refusal() {
        use Enforced::{Landlock, None as Nothing};
        let kernel = || Err(SandboxUnavailable::Kernel);
        for (sandbox, network, able, tcp, wanted) in [
            (SandboxMode::Auto, NetworkAccess::Open, Ok(()), true, Some(Landlock)),
            (SandboxMode::Auto, NetworkAccess::Open, kernel(), false, Some(Nothing)),
            (SandboxMode::Auto, NetworkAccess::NoTcp, Ok(()), true, Some(Landlock)),
            (SandboxMode::Auto, NetworkAccess::NoTcp, Ok(()), false, None),
            (SandboxMode::Auto, NetworkAccess::NoTcp, kernel(), false, None),
            (SandboxMode::Required, NetworkAccess::Open, Ok(()), false, Some(Landlock)),
            (SandboxMode::Required, NetworkAccess::Open, kernel(), false, None),
            (SandboxMode::Required, NetworkAccess::Open, Err(SandboxUnavailable::NoBinary), true, None),
            (SandboxMode::Off, NetworkAccess::Open, Ok(()), true, Some(Nothing)),
            (SandboxMode::Off, NetworkAccess::NoTcp, Ok(()), true, None),
        ] {
            let settings = BashSettings { sandbox, network, ..BashSettings::default() };
            let what = format!("{sandbox:?} {network:?} {able:?} {tcp}");
            match (decide_confinement(&settings, able, tcp), wanted) {
                (Ok(enforced), Some(wanted)) => assert_eq!(enforced, wanted, "{what}"),
                (Err(error), None) => {
                    assert!(error.code == ErrorCode::Denied && error.hint.is_some(), "{what}");
                }
                (other, _) => panic!("{what}: {other:?}"),
            }
        }
    }

    #[test]
    fn sandbox_gaps_name_each_missing_kernel_feature() {
        let status = |tcp, signals| sandbox::SandboxSupport { files: Ok(()), tcp, signals };
        assert!(gaps_of(CacheSharing::Private, &status(true, true), true).is_empty());
        assert!(gaps_of(CacheSharing::Private, &status(false, true), true)[0].contains("TCP"));
        assert!(gaps_of(CacheSharing::Private, &status(true, false), true)[0].contains("signal"));
        assert!(gaps_of(CacheSharing::Private, &status(true, true), false)[0].contains("CAP_SYS_ADMIN"));
        assert!(gaps_of(CacheSharing::Shared, &status(true, true), true)[0].contains("bash.caches"));
        assert_eq!(gaps_of(CacheSharing::Private, &status(false, false), false).len(), 3);
    }

    #[test]
    fn exported_environment_values_round_trip_through_the_shell() {
        let value = OsString::from_vec(b"a 'b' \\ $HOME `c`\n\xff".to_vec());
        let line = export_line(&[("ONE".into(), value.clone()), ("TWO".into(), "2".into())].into());
        let mut shell = std::process::Command::new(SHELL);
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
