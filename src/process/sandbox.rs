//! The sandbox of a command: readable and writable paths, enforced by Landlock.
//!
//! `lsp-tools __sandbox [--first] [--landlock [--no-tcp] FOLDER…] -- PROGRAM ARGS…` moves into a
//! session of its own (so that there is no terminal to ask a person at), confines itself, and
//! becomes the program. The kernel keeps the restrictions for the program and all its descendants,
//! without end:
//!
//! - files and folders are made, changed, moved and deleted only beneath the folders given. The
//!   real location of a file decides, not the link by which it is reached;
//! - no device is made;
//! - no process outside can be traced or inspected (`/proc/PID/environ`), nor, from Linux 6.12 on,
//!   signalled: neither the supervisor above it nor the process that started it. If the command can
//!   kill its supervisor, it dies with it, but processes that it moved to another session live on.
//!   From the same version on it reaches no abstract Unix socket outside;
//! - no privilege is gained (`no_new_privs`): `sudo` and the like do not work; of root's
//!   capabilities, only those remain that builds need;
//! - if the kernel allows it, its processes have a process namespace of their own ([`namespace`]);
//!   the supervisor creates it before this process starts, and passes `--first` to its first
//!   process;
//! - with `--no-tcp`, no TCP connection is made or accepted. Other protocols stay open.
//!
//! The sandbox does not restrict reading, nor Unix sockets (a container engine's socket is a way
//! out), nor changes of the mode, owner, times or attributes of files outside that their user may
//! make: Landlock has no rule for these. A folder inside a writable one cannot be excluded from it.
//! Changes that a command makes to the project's own `.lsp-tools` have no effect because of
//! [trust](crate::config::TrustStore), which holds for the content that its owner has seen.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use schemars::JsonSchema;
use serde::Serialize;

use super::sandbox_arguments::{Confinement, ENTER, SandboxArguments, arguments};
use super::{Exit, Spawn, Spawner, supervisor};
use crate::platform::namespace;

/// The exit status if the program was not started because it could not be confined.
const EXIT_NOT_CONFINED: i32 = 126;
/// The exit status if the program was not found, as in shells.
const EXIT_COMMAND_NOT_STARTED: i32 = 127;

/// The time limit of a command that does nothing.
const SANDBOX_PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The mechanism that limits a command to its folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Enforced {
    /// The kernel's Landlock.
    Landlock,
    /// Nothing.
    None,
}

/// The restrictions that this machine can enforce on commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The mechanism that restricts commands to their folders, or the reason why there is none.
    pub files: Result<(), SandboxUnavailable>,
    /// True if TCP can be blocked.
    pub tcp: bool,
    /// True if signals to processes outside and abstract Unix sockets can be blocked.
    pub signals: bool,
}

/// The reasons why commands cannot be restricted to their folders here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxUnavailable {
    /// The kernel does not support it.
    #[error(
        "the kernel has no Landlock of version 3 or newer (Linux 6.2, and `landlock` among its security modules)"
    )]
    Kernel,
    /// Our own binary, which confines itself before it becomes the command, was not found.
    #[error("the lsp-tools binary was not found beside the running program")]
    NoBinary,
}

/// Runs a confined command to find out whether confined commands get a process namespace here.
pub async fn supports_pid_namespace(spawner: &Spawner) -> bool {
    let Some(binary) = spawner.supervisor() else { return false };
    let confinement = Confinement { writable: vec!["/dev/null".into()], no_tcp: false };
    let is_child_of_the_first = ["/bin/sh", "-c", "test $PPID -eq 1"].map(OsStr::new);
    let args = arguments(Some(&confinement), &is_child_of_the_first);
    let (name, cwd) = ("bash".to_owned(), PathBuf::from("/"));
    let spawn = Spawn { name, program: binary.to_owned(), args, env: BTreeMap::new(), cwd, pins: Vec::new() };
    let Ok(process) = spawner.spawn_command(spawn).await else { return false };
    tokio::time::timeout(SANDBOX_PROBE_TIMEOUT, process.wait()).await == Ok(Exit::Code(0))
}

/// Confines this process and becomes the program that `args` name. Returns, with an exit status,
/// only if that fails, or for the first process of a namespace when it has ended.
pub(crate) fn enter_sandbox(args: impl Iterator<Item = OsString>) -> i32 {
    let mut args = args;
    let SandboxArguments { confinement, is_first } = SandboxArguments::read(&mut args);
    let Some(program) = args.next() else {
        eprintln!("lsp-tools: {ENTER} was given no program");
        return EXIT_COMMAND_NOT_STARTED;
    };
    start_new_session();
    if is_first {
        // Outside a namespace, `/proc` belongs to all processes.
        let shown = if rustix::process::getpid().is_init() { namespace::show() } else { Err(Errno::PERM) };
        if let Err(error) = shown {
            eprintln!("lsp-tools: the command was not run, because its own /proc cannot be mounted: {error}");
            return EXIT_NOT_CONFINED;
        }
    }
    if let Some(confinement) = confinement
        && let Err(error) = kernel::apply_confinement(&confinement)
    {
        eprintln!(
            "lsp-tools: the command was not run, because it cannot be restricted to its folders: {error}"
        );
        return EXIT_NOT_CONFINED;
    }
    if is_first {
        return supervisor::run_as_first(program, args.collect());
    }
    let error = Command::new(&program).args(args).exec();
    eprintln!("{} cannot be started: {error}", program.display());
    EXIT_COMMAND_NOT_STARTED
}

/// Detaches from the terminal, and requests to be ended when the supervisor is killed.
fn start_new_session() {
    // The call fails only for the leader of a group, which a supervised process is not.
    if let Err(error) = rustix::process::setsid() {
        eprintln!("lsp-tools: the command keeps its terminal: {error}");
    }
    #[cfg(linux_kernel)]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
    {
        eprintln!("lsp-tools: the command would outlive its supervisor: {error}");
    }
}

/// The restrictions that this machine can enforce on commands.
pub fn status() -> SandboxSupport {
    kernel::status()
}

#[cfg(linux_kernel)]
mod kernel {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
        RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    };

    use std::path::PathBuf;

    use rustix::fs::FileType;
    use rustix::io::Errno;
    use rustix::thread::{self, CapabilitySet, CapabilitySets};

    use super::{Confinement, SandboxSupport, SandboxUnavailable};
    use crate::workspace::Workspace;

    /// The first version that keeps files outside from being emptied (`truncate`).
    const FILES: ABI = ABI::V3;
    const TCP: ABI = ABI::V4;
    const SIGNALS: ABI = ABI::V6;

    pub(super) fn status() -> SandboxSupport {
        let files =
            handling_files().and_then(Ruleset::create).map(drop).map_err(|_| SandboxUnavailable::Kernel);
        let required = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let tcp = required().handle_access(AccessNet::from_all(TCP)).and_then(Ruleset::create).is_ok();
        let signals = required().scope(Scope::from_all(SIGNALS)).and_then(Ruleset::create).is_ok();
        SandboxSupport { files, tcp, signals }
    }

    /// Creates a ruleset that refuses every change on disk unless a rule allows it.
    fn handling_files() -> Result<Ruleset, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(FILES))
    }

    /// The write rights that a command keeps. The right to make devices is never among them,
    /// because a device bypasses all rules about files.
    fn allowed_rights() -> BitFlags<AccessFs> {
        AccessFs::from_write(FILES) & !(AccessFs::MakeBlock | AccessFs::MakeChar)
    }

    /// The reasons why a process could not be confined.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum ConfinementError {
        #[error(transparent)]
        Rules(#[from] RulesetError),
        #[error("{} cannot be opened, or a link was put in its place: {}", .0.display(), .1)]
        Writable(PathBuf, Errno),
        #[error("root privileges cannot be dropped: {0}")]
        Powers(Errno),
    }

    pub(super) fn apply_confinement(confinement: &Confinement) -> Result<(), ConfinementError> {
        let mut rules = handling_files()?;
        if confinement.no_tcp {
            rules = rules.handle_access(AccessNet::from_all(TCP))?;
        }
        // Older kernels do not support the scope; the mandatory restrictions are about files.
        rules = rules.set_compatibility(CompatLevel::BestEffort).scope(Scope::from_all(SIGNALS))?;
        let mut rules = rules.create()?;
        for path in &confinement.writable {
            let handle = match Workspace::locate_unlinked(path) {
                Err(Errno::NOENT) => continue,
                handle => handle.map_err(|errno| ConfinementError::Writable(path.clone(), errno))?,
            };
            let stat = rustix::fs::fstat(&handle)
                .map_err(|errno| ConfinementError::Writable(path.clone(), errno))?;
            let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let allowed =
                if is_folder { allowed_rights() } else { allowed_rights() & AccessFs::from_file(FILES) };
            rules = rules.add_rule(PathBeneath::new(handle, allowed))?;
        }
        rules.restrict_self()?;
        drop_capabilities().map_err(ConfinementError::Powers)
    }

    /// The capabilities of root that a confined command keeps: those over files, users and
    /// processes that installing, building and testing need, and that reach no further than the
    /// rules above.
    ///
    /// A list of removed capabilities would miss the ones that a later kernel adds. Not kept are,
    /// for example, those to mount, to trace, to set the clock, to raise priorities and limits, to
    /// configure and capture networks, to open files by their inode, and to mark files as immutable
    /// or as privileged programs.
    const KEPT: CapabilitySet = CapabilitySet::CHOWN // archives are unpacked with their owners
        .union(CapabilitySet::DAC_OVERRIDE) // a workspace in a container belongs to the user outside
        .union(CapabilitySet::FOWNER) // and so do the files whose mode or time a build sets
        .union(CapabilitySet::FSETID) // `install -m 2755`, folders shared by a group
        .union(CapabilitySet::KILL) // what was started as another user is ended again
        .union(CapabilitySet::SETUID) // a database under test refuses to run as root
        .union(CapabilitySet::SETGID) // `apt-get` and `su` change both
        .union(CapabilitySet::NET_BIND_SERVICE); // a server under development on port 80

    /// Drops the other capabilities of this process and, since they leave the bounding set, of
    /// root's programs as well.
    fn drop_capabilities() -> rustix::io::Result<()> {
        let held = thread::capabilities(None)?;
        let holds_some = !(held.permitted | held.inheritable).is_empty();
        for power in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
            if !holds_some || KEPT.contains(power) {
                continue;
            }
            match thread::capability_is_in_bounding_set(power) {
                // This happens in a sandbox within another one.
                Ok(false) => {}
                Ok(true) => match thread::remove_capability_from_bounding_set(power) {
                    // In a container that may not drop it, it stays in the set, but `no_new_privs`
                    // keeps it unused.
                    Ok(()) | Err(Errno::PERM) => {}
                    Err(error) => return Err(error),
                },
                // The kernel knows no more of them.
                Err(Errno::INVAL) => break,
                Err(error) => return Err(error),
            }
        }
        let sets = CapabilitySets {
            effective: held.effective & KEPT,
            permitted: held.permitted & KEPT,
            inheritable: held.inheritable & KEPT,
        };
        thread::set_capabilities(None, sets)
    }
}

#[cfg(not(linux_kernel))]
mod kernel {
    use super::{Confinement, SandboxSupport, SandboxUnavailable};

    pub(super) fn status() -> SandboxSupport {
        SandboxSupport { files: Err(SandboxUnavailable::Kernel), tcp: false, signals: false }
    }

    pub(super) fn apply_confinement(_: &Confinement) -> Result<(), SandboxUnavailable> {
        Err(SandboxUnavailable::Kernel)
    }
}
