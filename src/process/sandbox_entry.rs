//! The entry of our binary into the [`sandbox`](super::sandbox), in which it becomes another
//! program.

use std::ffi::OsString;
use std::process::Command;

use super::sandbox_arguments::{ENTER, SandboxArguments};
use super::supervisor;
use crate::platform::files::Errno;
use crate::platform::processes::{CommandExt, getpid, setsid};
use crate::platform::{file_sandbox, namespace, parent_watch};

/// The exit status if the program was not started because it could not be confined.
const EXIT_NOT_CONFINED: i32 = 126;
/// The exit status if the program was not found, as in shells.
const EXIT_COMMAND_NOT_STARTED: i32 = 127;

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
        let shown = if getpid().is_init() { namespace::show() } else { Err(Errno::PERM) };
        if let Err(error) = shown {
            eprintln!("lsp-tools: the command was not run, because its own /proc cannot be mounted: {error}");
            return EXIT_NOT_CONFINED;
        }
    }
    if let Some(confinement) = confinement
        && let Err(error) = file_sandbox::confine(&confinement.writable, confinement.no_tcp)
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
    if let Err(error) = setsid() {
        eprintln!("lsp-tools: the command keeps its terminal: {error}");
    }
    if let Err(error) = parent_watch::die_with_parent() {
        eprintln!("lsp-tools: the command would outlive its supervisor: {error}");
    }
}
